//! The logins that the command line keeps: which server, who, and the tokens that were issued.
//!
//! They lie in one file of the user's configuration folder ([`Folder`]). Whoever reads it is the
//! administrator, so it is for its owner alone: a folder of mode 0700, a file of mode 0600 that is
//! replaced whole, and a file that anybody else could have read or written is refused. Who changes
//! it holds the folder's lock ([`Locked`]): a refresh token works once, and two commands that sent
//! it at the same moment would end the session.
//!
//! Nothing here speaks to a server.
#![forbid(unsafe_code)]

mod file;
mod folder;

pub use file::{Context, Contexts, MAX_CONTEXTS, MAX_NAME, Tokens, name_of};
pub use folder::{ContextError, Folder, Locked, MAX_FILE};
