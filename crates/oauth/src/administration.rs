//! Administration: roles that a realm makes of its own, and reasons.
use crate::issued::names::wire_names;

/// The role that may do everything, of those that every realm has.
pub const OWNER: &str = "owner";

/// Most roles of administrators that an account has
pub const MAX_ROLES_OF_ADMINISTRATOR: usize = 16;

/// Most roles of administrators that a realm makes
pub const MAX_ADMINISTRATOR_ROLES: usize = 100;

/// Most operations and areas that such a role names
pub const MAX_ROLE_OPERATIONS: usize = 200;

/// Longest name of such a role in bytes
pub const MAX_ADMINISTRATOR_ROLE_BYTES: usize = 64;

/// Longest description of such a role in bytes
pub const MAX_ADMINISTRATOR_ROLE_DESCRIPTION_BYTES: usize = 512;

/// A role of administrators: a name, and what it may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdministratorRole {
    /// What accounts name it by.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// Names of operations (`removeClient`), of areas (`clients`), and of what is done in one
    /// (`clients:read`).
    pub operations: Vec<String>,
    /// Grows at every write.
    pub revision: u64,
}

/// Whether a text can be such a role's name: small letters, digits and hyphens.
pub fn is_administrator_role(name: &str) -> bool {
    let fits = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=MAX_ADMINISTRATOR_ROLE_BYTES).contains(&name.len())
        && name.bytes().all(fits)
        && !name.starts_with('-')
}

/// Longest reason for an act of administration, in bytes
pub const MAX_REASON_BYTES: usize = 500;

/// Which acts of administration need a reason.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum ReasonWanted {
    /// None; one that is given is recorded.
    #[default]
    Optional,
    /// Those that end something for good, or reveal what people log in with.
    Dangerous,
    /// All that change something.
    Required,
}
wire_names!(ReasonWanted { Optional = "optional", Dangerous = "dangerous", Required = "required" });
