//! Administration: the commands over the admin API, and the first administrator without a server.

mod account;
mod add;
mod agents;
mod client;
mod connect;
mod credentials;
mod delete;
mod fields;
mod invite;
mod node;
mod noun;
mod of_user;
mod people;
mod provider;
mod realm;
mod revoke;
mod rule;
mod user;

pub use account::find as user_id;
pub use agents::{AgentsCommand, run as agents};
pub use client::{ClientCommand, run as client};
pub use node::{NodeCommand, node};
pub use noun::{KeyCommand, ResourceCommand, ScopeCommand, key, resource, scope};
pub use of_user::{GrantCommand, SessionCommand, grant, session};
pub use people::{AttributeCommand, GroupCommand, RoleCommand, attribute, group, role};
pub use provider::{ProviderCommand, provider};
pub use realm::{RealmCommand, realm};
pub use revoke::{Revoke, revoke};
pub use rule::{RuleCommand, rule};
pub use user::{UserCommand, run as user};
