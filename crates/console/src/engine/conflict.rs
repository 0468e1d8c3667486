//! Two administrators change one record: the second sees what the first has changed, and nothing of
//! either is lost.
//!
//! The form carries what was read. If the record was changed meanwhile, the form comes back with
//! the present revision: a field that the second did not touch has the first's value, one that they
//! touched has theirs, and what the first has changed is listed.

use serde_json::Value;

use super::fields::Field;

/// A field that somebody else has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) name: String,
    pub(crate) before: String,
    pub(crate) now: String,
    /// What was typed here, where that is a change, too.
    pub(crate) typed: Option<String>,
}

/// What a field shows after the conflict, and what is said of it.
pub(crate) fn settle(
    field: &Field,
    (read, now): (&Value, &Value),
    typed: &str,
) -> (String, Option<Changed>) {
    let (before, present) = (field.text(read), field.text(now));
    let is_own = typed.trim() != before.trim();
    let shown = match is_own {
        true => typed.to_owned(),
        false => present.clone(),
    };
    let changed = (before != present).then(|| Changed {
        name: field.name.clone(),
        typed: (is_own && typed.trim() != present.trim()).then(|| typed.to_owned()),
        before,
        now: present,
    });
    (shown, changed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fields::Input;
    use serde_json::json;

    #[test]
    fn what_was_not_touched_is_the_others_and_what_was_is_ones_own() {
        let field = |name: &str| Field {
            name: name.to_owned(),
            input: Input::Text,
            about: String::new(),
            required: false,
            default: None,
        };
        let read = json!({ "a": "1", "b": "1", "c": "1" });
        let now = json!({ "a": "2", "b": "2", "c": "1" });
        let both = (&read, &now);
        let (shown, changed) = settle(&field("a"), both, "1");
        assert_eq!((shown.as_str(), changed.unwrap().typed), ("2", None));
        let (shown, changed) = settle(&field("b"), both, "3");
        assert_eq!(
            (shown.as_str(), changed.unwrap().typed.as_deref()),
            ("3", Some("3"))
        );
        let (shown, changed) = settle(&field("c"), both, "3");
        assert_eq!((shown.as_str(), changed), ("3", None));
    }
}
