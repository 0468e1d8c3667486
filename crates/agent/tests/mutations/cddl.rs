//! `agent.cddl` says what the objects are: the keys of each map, and which may be left out.

use signet_agent::Refusal;
use signet_agent::object::Type;

use super::fields::{fields, number, with_fields};
use super::objects::{all, cast, verify};

const CDDL: &str = include_str!("../../agent.cddl");

/// The keys of a map's rule, each with whether it is optional.
fn keys(rule: &str) -> Vec<(u64, bool)> {
    let text: String = CDDL
        .lines()
        .map(|line| line.split(';').next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n");
    let begin = format!("\n{rule} = {{");
    let start = text
        .find(&begin)
        .unwrap_or_else(|| panic!("no rule {rule}"))
        + begin.len();
    let (mut depth, mut entry, mut entries) = (1, String::new(), Vec::new());
    for c in text[start..].chars() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 1 => entries.push(std::mem::take(&mut entry)),
            _ => {}
        }
        if depth == 0 {
            break;
        }
        if c != ',' || depth > 1 {
            entry.push(c);
        }
    }
    entries.push(entry);
    let mut keys = Vec::new();
    for entry in entries {
        let entry = entry.trim();
        if entry == "by" {
            // by = ( 1 => agent-id, ? 2 => uint )
            keys.extend([(1, false), (2, true)]);
            continue;
        }
        let optional = entry.starts_with('?');
        let key = entry
            .trim_start_matches('?')
            .split("=>")
            .next()
            .unwrap_or_default();
        keys.push((
            key.trim()
                .parse()
                .unwrap_or_else(|_| panic!("{rule}: {entry}")),
            optional,
        ));
    }
    keys
}

#[test]
fn the_cddl_names_every_key_of_every_object_and_which_may_be_left_out() {
    let cast = cast();
    let all = all(&cast);
    assert_eq!(all.len(), Type::ALL.len());
    for file in &all {
        let rule = file.kind.name().replace('_', "-");
        let expected = keys(&rule);
        let found: Vec<u64> = fields(&file.message)
            .iter()
            .map(|(key, _)| number(key))
            .collect();
        // The objects of the cast are full; the number of the inception key alone is left out.
        let full: Vec<u64> = expected
            .iter()
            .map(|(key, _)| *key)
            .filter(|key| *key != 2 || found.contains(key))
            .collect();
        assert_eq!(found, full, "{rule}");
        for (key, optional) in expected.iter().filter(|(key, _)| found.contains(key)) {
            let mut without = fields(&file.message);
            without.retain(|(own, _)| number(own) != *key);
            let refused = verify(
                file.kind,
                &with_fields(&file.message, &without),
                &cast.alice.document,
            );
            let missing = refused == Err(Refusal::Malformed);
            assert_eq!(missing, !optional, "{rule} {key}: {refused:?}");
        }
    }
}

#[test]
fn the_cddl_has_the_types_that_exist_and_their_numbers() {
    for kind in Type::ALL {
        let rule = format!(
            "\n{} = {{ 0 => {},",
            kind.name().replace('_', "-"),
            kind.number()
        );
        assert!(CDDL.contains(&rule), "{rule}");
    }
}
