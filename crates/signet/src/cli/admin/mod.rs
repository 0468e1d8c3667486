//! Administration: the commands over the admin API, and the first administrator without a server.

mod fields;
mod noun;
mod user;

pub use noun::{
    ClientCommand, GrantCommand, KeyCommand, ResourceCommand, ScopeCommand, SessionCommand, client,
    grant, key, resource, scope, session,
};
pub use user::{UserCommand, run as user};
