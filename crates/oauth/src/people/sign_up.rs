//! Accounts that people make for themselves, and what they agree to: the realm's choice.

/// The most domains of one list.
pub const MAX_DOMAINS: usize = 1_000;
/// The longest domain (RFC 1035 section 2.3.4), in bytes.
const MAX_DOMAIN_BYTES: usize = 253;
/// The longest name of a version of the terms, in bytes.
pub const MAX_TERMS_VERSION_BYTES: usize = 64;

/// Who may make an account for themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SignUpSettings {
    /// Whether people may; nobody by default.
    pub enabled: bool,
    /// The domains that an address may be of, in lower case; empty: every one that is not denied.
    pub domains: Vec<String>,
    /// The domains that no address may be of, in lower case.
    pub denied_domains: Vec<String>,
    /// What has to be accepted, also by who is invited; none: nothing.
    pub terms: Option<Terms>,
}

/// Terms of service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Where they can be read.
    pub url: String,
    /// Names them where their acceptance is kept.
    pub version: String,
}

impl SignUpSettings {
    /// Whether an address is of a domain that may sign up. A domain is itself alone: its subdomains
    /// are listed where they are meant. It is compared as IDNA writes it, so that no other spelling
    /// of a denied domain passes.
    pub fn admits(&self, email: &str) -> bool {
        let domain = email.rsplit_once('@').map(|(_, domain)| domain);
        let Some(domain) = domain.and_then(folded_domain) else {
            return false;
        };
        let domain = domain.trim_end_matches('.');
        let named = |list: &[String]| list.iter().any(|one| one.eq_ignore_ascii_case(domain));
        (self.domains.is_empty() || named(&self.domains)) && !named(&self.denied_domains)
    }
}

/// A domain in its one spelling: its A-labels (RFC 5890), in lower case, after the mapping of UTS
/// 46 section 4. None: it is no domain.
pub fn folded_domain(domain: &str) -> Option<String> {
    idna::domain_to_ascii(domain).ok()
}

/// Whether this is a domain as the lists have it.
///
/// # Errors
/// What is wrong with it.
pub fn check_domain(domain: &str) -> Result<(), &'static str> {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    match domain.len() <= MAX_DOMAIN_BYTES && domain.split('.').all(label) {
        true => Ok(()),
        false => Err("no domain: labels of a-z, 0-9 and - with dots between, as example.com"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn a_domain_is_itself_and_not_what_ends_like_it() {
        let only = SignUpSettings {
            domains: list(&["example.com"]),
            ..SignUpSettings::default()
        };
        assert!(only.admits("a@example.com"));
        assert!(only.admits("a@EXAMPLE.com"));
        for other in [
            "a@sub.example.com",
            "a@notexample.com",
            "a@example.com.evil.test",
            "example.com",
            "a@example.com@evil.test",
        ] {
            assert!(!only.admits(other), "{other}");
        }
    }

    #[test]
    fn a_denied_domain_is_denied_also_where_it_is_listed() {
        let both = SignUpSettings {
            domains: list(&["example.com", "example.net"]),
            denied_domains: list(&["example.net"]),
            ..SignUpSettings::default()
        };
        assert!(both.admits("a@example.com"));
        assert!(!both.admits("a@example.net"));
        let denied = SignUpSettings {
            denied_domains: list(&["example.net"]),
            ..SignUpSettings::default()
        };
        assert!(denied.admits("a@anything.test"));
        assert!(!denied.admits("a@Example.NET"));
    }

    // LP3: x@evil.example with full-width letters was admitted, and stored.
    #[test]
    fn a_denied_domain_is_denied_in_every_spelling() {
        let denied = SignUpSettings {
            denied_domains: list(&["evil.example", "xn--mnchen-3ya.example"]),
            ..SignUpSettings::default()
        };
        for spelled in [
            "x@\u{ff45}vil.example",
            "x@EVIL\u{ff0e}example",
            "x@evil\u{3002}example",
            "x@ev\u{ad}il.example",
            "x@\u{1d41e}vil.example",
            "x@evil.example.",
            "x@m\u{fc}nchen.example",
            "x@mu\u{308}nchen.example",
            "x@XN--MNCHEN-3YA.example",
            "x@xn--a.example",
        ] {
            assert!(!denied.admits(spelled), "{spelled}");
        }
        assert!(denied.admits("x@n\u{f6}rdlich.example"));
    }

    #[test]
    fn what_is_no_domain_is_refused() {
        for good in ["example.com", "a", "xn--mnchen-3ya.de", "1.2"] {
            assert_eq!(check_domain(good), Ok(()), "{good}");
        }
        let long = format!("{}.com", "a".repeat(64));
        for bad in [
            "",
            "Example.com",
            "*.example.com",
            "a..b",
            "-a.com",
            "a-.com",
            "a b",
            "@a",
            &long,
        ] {
            assert!(check_domain(bad).is_err(), "{bad}");
        }
    }
}
