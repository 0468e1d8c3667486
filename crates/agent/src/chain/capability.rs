//! Capabilities: `action:resource`, and when one covers another.
//!
//! The text is split at its first colon; everything is compared byte by byte, nothing is
//! normalised.
//! - **action**: letters, digits, `.`, `_`, `-`; or `*` alone, which covers every action.
//! - **resource**: visible text without spaces; `/` separates segments, of which none is `.` or
//!   `..`, and none is empty but at the beginning, at the end and after a scheme. `%`, `\` and `;`
//!   are refused: what they hide (`%2e%2e`, `..\x`, `..;/x`) some server unfolds. Such a server is
//!   to be asked about what it has unfolded, byte by byte, and never the other way round.
//!   - `*` alone covers every resource;
//!   - `P/*` covers exactly the resources that begin with `P/` and go on: `files/*` covers
//!     `files/a`, `files/a/b` and
//!     `files/a/*`, and neither `files` nor `files-2/a`;
//!   - everything else covers itself alone. A `*` at any other place is refused.

use std::fmt;
use std::str::FromStr;

use crate::error::{Refusal, Result, ensure};
use crate::text::is_seen;

/// Longest capability in bytes.
pub const MAX_CAPABILITY: usize = 512;

/// One capability, well-formed.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Capability {
    text: String,
    /// Where the colon is.
    colon: usize,
}

impl Capability {
    /// What may be done; `*` is everything.
    pub fn action(&self) -> &str {
        &self.text[..self.colon]
    }

    /// To what; see the module.
    pub fn resource(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// The whole.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether whoever has this may do all that `other` names.
    pub fn covers(&self, other: &Capability) -> bool {
        let action = self.action() == "*" || self.action() == other.action();
        let (own, asked) = (self.resource(), other.resource());
        let resource = own == "*"
            || own == asked
            || own.strip_suffix('*').is_some_and(|prefix| {
                // A well-formed resource ends in `*` only after a `/` or alone; what is alone was
                // answered.
                prefix.ends_with('/') && asked.len() > prefix.len() && asked.starts_with(prefix)
            });
        action && resource
    }

    /// Whether something that both cover exists.
    pub fn overlaps(&self, other: &Capability) -> bool {
        self.common(other).is_some()
    }

    /// What both cover; `None` if there is nothing.
    pub fn common(&self, other: &Capability) -> Option<Capability> {
        let action = match (self.action(), other.action()) {
            ("*", action) | (action, "*") => action,
            (own, others) => (own == others).then_some(own)?,
        };
        let of = |resource: &str| Capability {
            text: format!("{action}:{resource}"),
            colon: action.len(),
        };
        let (own, others) = (of(self.resource()), of(other.resource()));
        match (own.covers(&others), others.covers(&own)) {
            (true, _) => Some(others),
            (false, true) => Some(own),
            (false, false) => None,
        }
    }
}

/// Whether no segment is `.` or `..`, and none is empty where a server that normalises paths would
/// leave it out: at the beginning, at the end and after a scheme (`https://`) it would not.
fn segments_are_plain(resource: &str) -> bool {
    let segments: Vec<&str> = resource.split('/').collect();
    let last = segments.len() - 1;
    (0..)
        .zip(&segments)
        .all(|(at, segment): (usize, _)| match *segment {
            "." | ".." => false,
            "" => at == 0 || at == last || (at == 1 && segments[0].ends_with(':')),
            _ => true,
        })
}

impl FromStr for Capability {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Capability> {
        ensure(text.len() <= MAX_CAPABILITY, Refusal::TooLarge)?;
        let colon = text.find(':').ok_or(Refusal::InvalidValue)?;
        let capability = Capability {
            text: text.to_owned(),
            colon,
        };
        let (action, resource) = (capability.action(), capability.resource());
        let word = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
        let good_action = action == "*" || (!action.is_empty() && action.chars().all(word));
        let fixed =
            resource
                .strip_suffix("/*")
                .unwrap_or(if resource == "*" { "" } else { resource });
        let good_resource = !resource.is_empty()
            && fixed
                .chars()
                .all(|c| is_seen(c) && !c.is_whitespace() && !"*%\\;".contains(c))
            && segments_are_plain(resource);
        ensure(good_action && good_resource, Refusal::InvalidValue)?;
        Ok(capability)
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn capability(text: &str) -> Capability {
        text.parse().expect(text)
    }

    #[test]
    fn the_match_is_the_documented_one() {
        for (own, asked, covers) in [
            ("read:calendar", "read:calendar", true),
            ("read:calendar", "read:calendar/x", false),
            ("read:calendar", "write:calendar", false),
            ("read:calendar", "Read:calendar", false),
            ("*:calendar", "write:calendar", true),
            ("read:calendar", "*:calendar", false),
            ("read:*", "read:anything/at/all", true),
            ("read:*", "read:*", true),
            ("read:files/*", "read:*", false),
            ("read:files/*", "read:files/a", true),
            ("read:files/*", "read:files/a/b", true),
            ("read:files/*", "read:files/a/*", true),
            ("read:files/*", "read:files/*", true),
            ("read:files/*", "read:files", false),
            ("read:files/*", "read:files/", false),
            ("read:/srv/*", "read:/srv/a", true),
            ("read:files/*", "read:files-2/a", false),
            ("read:files/a/*", "read:files/*", false),
            ("read:files/a", "read:files/*", false),
            ("*:*", "delete:everything", true),
            (
                "get:https://api.example.com/v1/*",
                "get:https://api.example.com/v1/users",
                true,
            ),
            (
                "get:https://api.example.com/v1/*",
                "get:https://api.example.com.evil/v1/users",
                false,
            ),
        ] {
            assert_eq!(
                capability(own).covers(&capability(asked)),
                covers,
                "{own} {asked}"
            );
        }
    }

    #[test]
    fn malformed_capabilities_are_refused() {
        for bad in [
            "",
            "*",
            "read",
            "read:",
            ":files",
            "re ad:files",
            "read:fi les",
            "r*:files",
            "read:*/x",
            "read:fi*",
            "read:files*",
            "read:files/**",
            "read:files/../etc",
            "read:..",
            "read:./a",
            "read:../*",
            "read:a\nb",
            "read:\u{a0}",
            "read:files//etc/passwd",
            "read://etc",
            "read:files//",
            "read:files//*",
            "read:files/%2e%2e/x",
            "read:files/..\\x",
            "read:files/..;/x",
            "read:files/\u{202e}cod.exe",
            "read:files/a\u{200b}/b",
            "read:files/\u{3164}",
            "get:https:///v1",
            "**:x",
        ] {
            assert!(bad.parse::<Capability>().is_err(), "{bad:?}");
        }
        assert_eq!(
            "a".repeat(600).parse::<Capability>(),
            Err(Refusal::TooLarge)
        );
    }

    fn any_capability() -> impl Strategy<Value = Capability> {
        ("(\\*|a|b)", "(\\*|(x|y)(/(x|y)){0,2}(/\\*)?)")
            .prop_map(|(action, resource)| capability(&format!("{action}:{resource}")))
    }

    proptest! {
        #[test]
        fn covering_is_an_order(a in any_capability(), b in any_capability(), c in any_capability()) {
            prop_assert!(a.covers(&a));
            prop_assert!(!(a.covers(&b) && b.covers(&c)) || a.covers(&c));
            prop_assert!(!(a.covers(&b) && b.covers(&a)) || a == b);
            prop_assert_eq!(a.overlaps(&b), b.overlaps(&a));
            prop_assert!(!a.covers(&b) || a.overlaps(&b));
            prop_assert!(!(a.covers(&c) && b.covers(&c)) || a.overlaps(&b));
        }
    }
}
