//! Scope tokens and sets (RFC 6749 section 3.3): bounded, in order of request, no doubles.
//!
//! A set never grows by an operation here: what a request may have is always an intersection with
//! what was allowed before.
use crate::error::{ErrorCode, OAuthError};
use std::fmt;

/// The longest scope token, in bytes.
pub const MAX_SCOPE_BYTES: usize = 128;
/// The most scope tokens in one set.
pub const MAX_SCOPES: usize = 64;

/// `openid`: the request is an OpenID Connect one (Core section 3.1.2.1).
pub const OPENID: &str = "openid";
/// `offline_access`: a refresh token that outlives the session (OpenID Connect Core section 11).
pub const OFFLINE_ACCESS: &str = "offline_access";
/// The admin API's scope; only users with the admin flag, and clients whose record has it, can get
/// it.
pub const ADMIN: &str = "signet:admin";
/// What the admin API shows, and no change of it; given to those who may have [`ADMIN`] and to
/// clients whose record has it.
pub const ADMIN_READ: &str = "signet:admin.read";
/// Reading the stream of revocations; only clients whose record has it may. No client can register
/// itself with it.
pub const REVOCATIONS: &str = "signet:revocations";

/// Provisioning accounts and groups (RFC 7644).
pub const SCIM: &str = "signet:scim";

/// Scopes that give power over the server itself: never by default, only to a request that names
/// them, of a client whose own record has them.
pub const PRIVILEGED: [&str; 4] = [ADMIN, ADMIN_READ, REVOCATIONS, SCIM];
/// Scopes that a person gets only with the admin flag.
const OF_ADMINISTRATORS: [&str; 3] = [ADMIN, ADMIN_READ, SCIM];

/// One scope token (RFC 6749 section 3.3 characters, bounded).
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Scope(String);

impl Scope {
    /// Refuses anything but 1 to [`MAX_SCOPE_BYTES`] characters of `%x21 / %x23-5B / %x5D-7E`.
    ///
    /// # Errors
    /// `invalid_scope`.
    pub fn parse(text: &str) -> Result<Scope, OAuthError> {
        let ok = !text.is_empty()
            && text.len() <= MAX_SCOPE_BYTES
            && text
                .bytes()
                .all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e));
        if ok {
            Ok(Scope(text.to_owned()))
        } else {
            Err(malformed())
        }
    }
    /// The token's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A set in order of request, no doubles; `Display` joins with single spaces, as on the wire.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScopeSet(Vec<Scope>);

impl ScopeSet {
    /// The empty set.
    pub const EMPTY: ScopeSet = ScopeSet(Vec::new());

    /// Space-separated tokens; doubles count once. The empty text is the empty set.
    ///
    /// # Errors
    /// `invalid_scope` for other characters, a token that is too long, or too many tokens.
    pub fn parse(text: &str) -> Result<ScopeSet, OAuthError> {
        let mut set = ScopeSet::default();
        for token in text.split(' ').filter(|t| !t.is_empty()) {
            set.insert(Scope::parse(token)?);
            if set.0.len() > MAX_SCOPES {
                return Err(malformed());
            }
        }
        Ok(set)
    }
    /// Is `scope` in the set?
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|s| s.0 == scope)
    }
    /// Is every token of this set in `of`?
    pub fn is_subset(&self, of: &ScopeSet) -> bool {
        self.iter().all(|s| of.contains(s))
    }
    /// What both have, in this set's order.
    pub fn intersection(&self, with: &ScopeSet) -> ScopeSet {
        self.filter(|s| with.contains(s))
    }
    /// What this set has and `without` has not, in this set's order.
    pub fn difference(&self, without: &ScopeSet) -> ScopeSet {
        self.filter(|s| !without.contains(s))
    }
    /// Both, this set's tokens first.
    pub fn union(&self, with: &ScopeSet) -> ScopeSet {
        let mut set = self.clone();
        for scope in &with.0 {
            set.insert(scope.clone());
        }
        set
    }
    /// The tokens for which `keep` says yes, in order.
    pub fn filter(&self, keep: impl Fn(&str) -> bool) -> ScopeSet {
        ScopeSet(self.0.iter().filter(|s| keep(&s.0)).cloned().collect())
    }
    /// What of these a person may grant to a client, whatever the client may ask for.
    pub fn of_person(&self, is_admin: bool) -> ScopeSet {
        self.filter(|s| is_admin || !OF_ADMINISTRATORS.contains(&s))
    }
    /// Adds one token at the end, if it is not there.
    pub fn insert(&mut self, scope: Scope) {
        if !self.contains(&scope.0) {
            self.0.push(scope);
        }
    }
    /// The tokens, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|s| s.0.as_str())
    }
    /// Has it no token?
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// How many tokens.
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Display for ScopeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, scope) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            f.write_str(&scope.0)?;
        }
        Ok(())
    }
}

fn malformed() -> OAuthError {
    OAuthError::new(
        ErrorCode::InvalidScope,
        "scope is malformed, or has too many values",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn set(text: &str) -> ScopeSet {
        ScopeSet::parse(text).expect("a well-formed scope")
    }

    #[test]
    fn order_is_kept_and_doubles_count_once() {
        assert_eq!(
            set("openid  email openid profile").to_string(),
            "openid email profile"
        );
        assert!(set("").is_empty());
    }

    #[test]
    fn characters_outside_rfc_6749_section_3_3_are_refused() {
        for bad in ["a\"b", "a\\b", "a\tb", "a\nb", "é", "a\u{7f}"] {
            assert!(ScopeSet::parse(bad).is_err(), "{bad:?}");
        }
        assert!(ScopeSet::parse(&"x".repeat(MAX_SCOPE_BYTES + 1)).is_err());
        let many: Vec<String> = (0..=MAX_SCOPES).map(|i| format!("s{i}")).collect();
        assert!(ScopeSet::parse(&many.join(" ")).is_err());
    }

    #[test]
    fn set_operations_never_invent_a_scope() {
        let (a, b) = (set("x y z"), set("z x w"));
        assert_eq!(a.intersection(&b), set("x z"));
        assert_eq!(a.difference(&b), set("y"));
        assert_eq!(a.union(&b), set("x y z w"));
        assert!(set("x z").is_subset(&a) && !b.is_subset(&a));
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_what_parses_prints_back(text in ".{0,200}") {
            if let Ok(parsed) = ScopeSet::parse(&text) {
                prop_assert_eq!(ScopeSet::parse(&parsed.to_string()).unwrap(), parsed);
            }
        }
    }
}
