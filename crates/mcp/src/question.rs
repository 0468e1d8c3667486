//! What the person is asked.
//!
//! One fact a line, what can do most harm first: what, for how long, how far, to whom. Every text
//! that somebody else wrote is quoted as a JSON string in ASCII, so it ends no line, turns no
//! direction and looks like nothing that it is not; what the grantee calls himself comes last.
//! Nothing is signed that stands in no line.

use signet_agent::capability::Capability;
use signet_agent::grant::Grant;
use signet_agent::identity::VerifiedDocument;
use signet_agent::object::Signed;
use signet_agent::receipt::{Outcome, Receipt};
use signet_agent::{AgentId, Hash};

use signet_terminal::output::date;

/// Capabilities that are shown; of more, the number is.
const MAX_SHOWN: usize = 8;

/// Characters of content that are shown.
const MAX_CONTENT: usize = 500;

/// A text as a JSON string of printable ASCII; what is beyond `most` characters is left out and
/// counted.
fn quoted(text: &str, most: usize) -> String {
    use std::fmt::Write;
    let mut out = String::from("\"");
    for c in text.chars().take(most) {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a string cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
    let left = text.chars().count().saturating_sub(most);
    if left > 0 {
        let _ = write!(out, " and {left} further characters");
    }
    out
}

/// Seconds, and the largest unit that they fill.
fn lasting(seconds: u64) -> String {
    let units = [(86_400, "days"), (3_600, "hours"), (60, "minutes")];
    match units.into_iter().find(|(unit, _)| seconds >= *unit) {
        Some((unit, name)) if seconds.is_multiple_of(unit) => {
            format!("{seconds} seconds ({} {name})", seconds / unit)
        }
        Some((unit, name)) => format!("{seconds} seconds (over {} {name})", seconds / unit),
        None => format!("{seconds} seconds"),
    }
}

/// How much a capability leaves open: less is wider.
fn width(capability: &Capability) -> (bool, bool, bool) {
    (
        capability.resource() != "*",
        capability.action() != "*",
        !capability.resource().ends_with('*'),
    )
}

/// The question before a grant is signed. `now`: Unix seconds.
pub fn of_grant(
    signer: &VerifiedDocument,
    body: &Grant,
    to: &VerifiedDocument,
    parent: Option<&Signed<Grant>>,
    now: u64,
) -> String {
    let mut lines = vec![format!(
        "Sign a grant as {}?",
        quoted(&signer.body().name, usize::MAX)
    )];
    let mut capabilities: Vec<&Capability> = body.capabilities.iter().collect();
    capabilities.sort_by_key(|capability| width(capability));
    let count = capabilities.len();
    lines.push(format!("capabilities granted: {count}"));
    for capability in capabilities.iter().take(MAX_SHOWN) {
        lines.push(format!("- {}", quoted(capability.as_str(), usize::MAX)));
    }
    if count > MAX_SHOWN {
        lines.push(format!(
            "- and {} more that are not shown",
            count - MAX_SHOWN
        ));
    }
    lines.push(format!(
        "counts for: {}, until {}",
        lasting(body.not_after.saturating_sub(now)),
        date(body.not_after)
    ));
    lines.push(match body.not_before {
        0 => "counts from: now on".to_owned(),
        from => format!("counts from: {}", date(from)),
    });
    lines.push(format!("further delegations: {}", body.max_depth));
    lines.push(format!("to: {}", to.id()));
    lines.extend(constraints(body));
    lines.push(match parent {
        None => "delegates: no other grant; this gives what is the signer's own".to_owned(),
        Some(parent) => format!(
            "delegates: the grant {} from {}",
            parent.id(),
            parent.body().by.agent
        ),
    });
    let revokers = &body.revocation.delegates;
    if !revokers.is_empty() {
        let ids: Vec<String> = revokers.iter().map(AgentId::to_string).collect();
        lines.push(format!("may also be revoked by: {}", ids.join(", ")));
    }
    lines.push(format!(
        "the grantee calls itself: {}",
        quoted(&to.body().name, usize::MAX)
    ));
    lines.join("\n")
}

fn constraints(body: &Grant) -> Vec<String> {
    let of = &body.constraints;
    let mut lines = Vec::new();
    let all = |texts: Vec<String>| texts.join(", ");
    if !of.audience.is_empty() {
        let names = of.audience.iter().map(|name| quoted(name, usize::MAX));
        lines.push(format!("only for the audience: {}", all(names.collect())));
    }
    if let Some(uses) = of.max_uses {
        lines.push(format!("only so many uses: {uses}"));
    }
    if let Some(budget) = &of.budget {
        let unit = quoted(&budget.unit, usize::MAX);
        lines.push(format!("only within the budget: {} {unit}", budget.amount));
    }
    if !of.networks.is_empty() {
        let networks = of.networks.iter().map(ToString::to_string);
        lines.push(format!(
            "only from the network: {}",
            all(networks.collect())
        ));
    }
    for (name, value) in of.custom.iter() {
        let (name, value) = (quoted(name, usize::MAX), quoted(value, usize::MAX));
        lines.push(format!("only where {name} is {value}"));
    }
    if lines.is_empty() {
        lines
            .push("constraints: none; any audience, network, number of uses and amount".to_owned());
    } else if of.audience.is_empty() {
        lines.push("for any audience".to_owned());
    }
    lines
}

/// The question before a receipt is signed.
pub fn of_receipt(
    signer: &VerifiedDocument,
    body: &Receipt,
    content: &str,
    input: Option<&str>,
) -> String {
    let bytes = |text: &str| {
        format!(
            "{} bytes, SHA-256 {}: {}",
            text.len(),
            Hash::of(text.as_bytes()),
            quoted(text, MAX_CONTENT)
        )
    };
    let hash = |hash: &Option<Hash>| hash.as_ref().map_or("none".to_owned(), Hash::to_string);
    [
        format!(
            "Sign a receipt as {}?",
            quoted(&signer.body().name, usize::MAX)
        ),
        format!("content, {}", bytes(content)),
        format!("action: {}", quoted(&body.action, usize::MAX)),
        format!(
            "outcome: {}",
            match body.outcome {
                Outcome::Unknown => "not said",
                Outcome::Success => "success",
                Outcome::Failure => "failure",
            }
        ),
        match input {
            Some(input) => format!("input, {}", bytes(input)),
            None => "input: none".to_owned(),
        },
        format!("done under the grant: {}", hash(&body.grant)),
        format!(
            "follows the receipt: {}, as number {}",
            hash(&body.previous),
            body.index
        ),
    ]
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_agent::Suite;
    use signet_agent::identity::{Created, create};

    fn agent(name: &str) -> Created {
        create(name, Suite::Ed25519, 1).expect("created")
    }

    #[test]
    fn foreign_text_is_quoted_in_ascii() {
        assert_eq!(quoted("plain text", 99), "\"plain text\"");
        assert_eq!(
            quoted("a\" ?\n\u{2028}\u{202e}\u{3164}", 99),
            "\"a\\\" ?\\u000a\\u2028\\u202e\\u3164\""
        );
        assert_eq!(quoted("\u{1f600}\\", 99), "\"\\ud83d\\ude00\\\\\"");
        assert_eq!(quoted("abcdef", 2), "\"ab\" and 4 further characters");
    }

    #[test]
    fn a_grant_is_asked_for_one_fact_a_line_and_the_grantees_own_words_come_last() {
        let (alice, bob) = (
            agent("alice"),
            agent("Bob: read:calendar, for 600 seconds? to agent:Q2zGm4"),
        );
        let capabilities = ["read:calendar", "*:*", "pay:rent"].map(|c| c.parse().expect(c));
        let mut body = Grant::new(
            alice.document.by(),
            &bob.document,
            capabilities.into(),
            1_000,
            365 * 86_400,
        );
        body.max_depth = 5;
        let asked = of_grant(&alice.document, &body, &bob.document, None, 1_000);
        let lines: Vec<&str> = asked.lines().collect();
        assert_eq!(lines[0], "Sign a grant as \"alice\"?");
        assert_eq!(lines[1], "capabilities granted: 3");
        assert_eq!(lines[2], "- \"*:*\"", "the widest first");
        assert!(lines[5].starts_with("counts for: 31536000 seconds (365 days), until "));
        assert_eq!(lines[6], "counts from: now on");
        assert_eq!(lines[7], "further delegations: 5");
        assert_eq!(lines[8], format!("to: {}", bob.document.id()));
        assert!(lines[9].starts_with("constraints: none"));
        assert!(lines[10].starts_with("delegates: no other grant"));
        assert_eq!(
            lines[11],
            "the grantee calls itself: \"Bob: read:calendar, for 600 seconds? to agent:Q2zGm4\""
        );
        assert_eq!(lines.len(), 12);
    }

    #[test]
    fn what_binds_a_grant_is_shown_and_many_capabilities_are_counted() {
        let (alice, bob) = (agent("alice"), agent("bob"));
        let capabilities = (0..64).map(|n| format!("read:{n:02}").parse().expect("capability"));
        let mut body = Grant::new(
            alice.document.by(),
            &bob.document,
            capabilities.collect(),
            1_000,
            90,
        );
        body.max_depth = 1;
        body.not_before = 1_030;
        body.constraints.audience = vec!["https://api.example".into()];
        body.constraints.max_uses = Some(3);
        let parent = Signed::sign(&body, &alice.document.signer(&alice.keys)).expect("signed");
        let asked = of_grant(&alice.document, &body, &bob.document, Some(&parent), 1_000);
        assert!(asked.contains("\n- and 56 more that are not shown\n"));
        assert!(asked.contains("\ncounts for: 90 seconds (over 1 minutes), until "));
        assert!(asked.contains("\ncounts from: 1970-01-01"));
        assert!(asked.contains("\nonly for the audience: \"https://api.example\"\n"));
        assert!(asked.contains("\nonly so many uses: 3\n"));
        assert!(asked.contains(&format!("\ndelegates: the grant {} from ", parent.id())));
        assert!(!asked.contains("constraints: none"));
    }

    #[test]
    fn a_receipts_content_is_shown_and_so_is_all_that_is_signed_with_it() {
        let alice = agent("alice");
        let content = "I, Alice, transfer 1,000,000 EUR";
        let mut body = Receipt::new(alice.document.by(), "note\", 0 bytes", 1)
            .with_content(content.as_bytes());
        body.outcome = Outcome::Success;
        body.grant = Some(Hash([7; 32]));
        let asked = of_receipt(&alice.document, &body, content, Some("in\n"));
        let lines: Vec<&str> = asked.lines().collect();
        assert_eq!(lines.len(), 7);
        assert!(lines[1].starts_with("content, 32 bytes, SHA-256 "));
        assert!(lines[1].ends_with(": \"I, Alice, transfer 1,000,000 EUR\""));
        assert_eq!(lines[2], "action: \"note\\\", 0 bytes\"");
        assert_eq!(lines[3], "outcome: success");
        assert!(lines[4].ends_with(": \"in\\u000a\""));
        assert_eq!(lines[5], format!("done under the grant: {}", Hash([7; 32])));
        assert_eq!(lines[6], "follows the receipt: none, as number 0");
        let long = "x".repeat(600);
        let asked = of_receipt(&alice.document, &body, &long, None);
        assert!(asked.contains(" and 100 further characters\n"));
    }
}
