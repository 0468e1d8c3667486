//! Administration: the commands over the admin API, and the first administrator without a server.

mod fields;
mod noun;
mod of_user;
mod user;

pub use noun::{
    ClientCommand, KeyCommand, ResourceCommand, ScopeCommand, client, key, resource, scope,
};
pub use of_user::{GrantCommand, SessionCommand, grant, session};
pub use user::{UserCommand, run as user};
