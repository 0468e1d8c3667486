//! Names as Signet has them, of names as other servers have them.

use std::collections::HashSet;

use signet_oauth::people::{MAX_NAME_BYTES, check_group_name, check_role_name};

/// An attribute's name: lower-case letters, digits and underscores. `costCentre` is `cost_centre`.
pub(crate) fn attribute(name: &str) -> Option<String> {
    let mut folded = String::new();
    let mut after_lower = false;
    for c in name.chars() {
        match c {
            'A'..='Z' => {
                if after_lower {
                    folded.push('_');
                }
                folded.push(c.to_ascii_lowercase());
            }
            'a'..='z' | '0'..='9' => folded.push(c),
            _ if !folded.is_empty() && !folded.ends_with('_') => folded.push('_'),
            _ => {}
        }
        after_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    let folded = folded.trim_end_matches('_').to_owned();
    (1..=MAX_NAME_BYTES)
        .contains(&folded.len())
        .then_some(folded)
}

/// A text without the characters that a group's or role's name cannot have, and not longer than
/// one.
fn plain(text: &str) -> String {
    let replaced = text.chars().map(|c| match c {
        '"' | '\\' | '/' | '=' => '-',
        c if c.is_control() => '-',
        c => c,
    });
    let text: String = replaced.collect();
    let mut end = text.len().min(MAX_NAME_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].trim().to_owned()
}

/// A name for the group at this path, which no other has: its own, with those of its parents before
/// it where that is taken. None: nothing is left of it.
pub(crate) fn group(path: &[&str], taken: &mut HashSet<String>) -> Option<String> {
    for from in (0..path.len()).rev() {
        let name = plain(&path[from..].join(": "));
        if check_group_name(&name).is_ok() && taken.insert(name.clone()) {
            return Some(name);
        }
    }
    let name = plain(path.last()?);
    (2..1000).find_map(|number| {
        let suffix = format!(" {number}");
        let mut end = name.len().min(MAX_NAME_BYTES - suffix.len());
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let name = format!("{}{suffix}", name[..end].trim());
        (check_group_name(&name).is_ok() && taken.insert(name.clone())).then_some(name)
    })
}

/// The whole name of a role, of the realm or of a client; None: it can have none.
pub(crate) fn role(client: Option<&str>, name: &str) -> Option<String> {
    let short = plain(name);
    let whole = match client {
        Some(client) => format!("{client}/{short}"),
        None => short,
    };
    check_role_name(&whole).is_ok().then_some(whole)
}

/// A provider's name: lower-case letters, digits and hyphens. None: nothing is left of it.
pub(crate) fn provider(name: &str) -> Option<String> {
    let mut folded = String::new();
    for c in name.chars().map(|c| c.to_ascii_lowercase()) {
        match c {
            'a'..='z' | '0'..='9' => folded.push(c),
            _ if !folded.is_empty() && !folded.ends_with('-') => folded.push('-'),
            _ => {}
        }
    }
    folded.truncate(signet_oauth::people::provider::MAX_PROVIDER_NAME);
    let folded = folded.trim_end_matches('-').to_owned();
    (!folded.is_empty()).then_some(folded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_is_called_as_the_schema_can_call_it() {
        for (name, folded) in [
            ("costCentre", Some("cost_centre")),
            ("LDAP_ID", Some("ldap_id")),
            ("Employee number", Some("employee_number")),
            ("phone_number", Some("phone_number")),
            ("äöü", None),
            ("", None),
        ] {
            assert_eq!(attribute(name).as_deref(), folded, "{name}");
        }
        assert_eq!(attribute(&"a".repeat(65)), None);
    }

    #[test]
    fn groups_of_one_name_have_their_parents_names_before_it() {
        let mut taken = HashSet::new();
        let mut name = |path: &[&str]| group(path, &mut taken).unwrap();
        assert_eq!(name(&["engineering"]), "engineering");
        assert_eq!(name(&["engineering", "backend"]), "backend");
        assert_eq!(name(&["sales", "backend"]), "sales: backend");
        assert_eq!(name(&["a/b"]), "a-b");
        assert_eq!(name(&["a=b"]), "a-b 2");
        assert_eq!(name(&[&"x".repeat(100)]).len(), 64);
        assert_eq!(name(&[&"x".repeat(100)]).len(), 64);
        assert_eq!(group(&[""], &mut taken), None);
    }

    #[test]
    fn roles_and_providers_have_names_that_can_be_written() {
        assert_eq!(role(Some("shop"), "refund").as_deref(), Some("shop/refund"));
        assert_eq!(role(None, "a/b").as_deref(), Some("a-b"));
        assert_eq!(role(None, " "), None);
        assert_eq!(
            provider("Corporate Login!").as_deref(),
            Some("corporate-login")
        );
        assert_eq!(provider("!"), None);
    }
}
