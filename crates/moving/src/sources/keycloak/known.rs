//! What the realm of an export says that its people name.

use std::collections::BTreeMap;

use super::realm::Roles;

/// What the realm says that its people name.
pub(super) struct Known<'a> {
    pub(super) roles: &'a Roles,
    /// What groups are called here, by their paths.
    pub(super) groups: &'a BTreeMap<String, String>,
    /// What providers are called here, by their aliases.
    pub(super) providers: &'a BTreeMap<String, String>,
    /// Of second factors, and of passwordless credentials.
    pub(super) relying_party: [Option<String>; 2],
    /// Whether second factors can be asked for without naming them.
    pub(super) discoverable: bool,
}
