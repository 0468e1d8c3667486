//! Configuration as code: a directory of files declares what a server has.
//!
//! The kinds of objects, their members and their order are the table of the admin API
//! ([`signet_admin::DECLARED`]); nothing here names a member by hand. A directory is read with the
//! line of everything in it ([`read`]), and checked against the table ([`check`]) and against what
//! there is to refer to ([`references`]). The server plans and applies: it tries the declarations
//! by its own rules, says what would change, and makes all of the changes or none. So a plan after
//! an apply is empty, whatever the rules make of a value. [`commands`] are what people call.
//!
//! Who watches ([`watch`]) applies a directory again when it changes, and each minute. The same
//! declarations may be custom resources of a namespace of Kubernetes ([`kubernetes`]).
//!
//! Secrets are never in a directory, in a plan, or in what a server shows ([`secrets`]).
#![forbid(unsafe_code)]

mod applying;
mod check;
pub mod commands;
mod directory;
mod export;
mod json;
mod kubernetes;
#[cfg(test)]
mod laws;
mod mistake;
mod node;
mod notices;
mod read;
mod references;
mod schema;
mod secrets;
mod toml_text;
mod watch;
mod words;

pub use check::MAX_FILES;
pub use commands::{Apply, Diff, Export, Plan, check_directory, kubernetes_schema, schema};
