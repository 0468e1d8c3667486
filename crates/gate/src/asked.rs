//! What a reverse proxy asks about.
use signet_verify::PolicyId;

/// The request that the proxy asks about.
pub(crate) struct Asked<'a> {
    /// whether the caller is a proxy, so that what it says is accepted
    pub(crate) by_proxy: bool,
    pub(crate) method: &'a str,
    pub(crate) url: Option<String>,
    pub(crate) policy: PolicyId,
    pub(crate) scope: Option<&'a str>,
}

/// The scopes of a list.
pub(crate) fn scopes(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|scope| !scope.is_empty())
}
