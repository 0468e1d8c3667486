//! A stored record (one JSON object) as a [`Record`] that merges, and back.
//!
//! A member with one value is a register that holds its JSON text; a list is a set of its elements'
//! JSON texts, with a register beside it that says that there is a list, and in which order it was
//! written. What merges to the same record reads back as the same text, on every node.
use crate::kinds::{RecordKind, Rule};
use serde_json::{Map, Value};
use signet_merge::crdt::Record;
use signet_merge::hlc::Stamp;

/// The text is not a stored record, or what merged is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a record of the registry cannot be read")]
pub struct Unreadable;

/// The register beside a list: the order in which it was written, or an empty list where that is
/// the order of its bytes.
fn order(member: &str) -> String {
    format!("order:{member}")
}

const ORDER: &str = "order:";

fn object(text: &[u8]) -> Result<Map<String, Value>, Unreadable> {
    serde_json::from_slice(text).map_err(|_| Unreadable)
}

fn text(value: &Value) -> Result<Vec<u8>, Unreadable> {
    serde_json::to_vec(value).map_err(|_| Unreadable)
}

/// `after`, with what `before` has and this version does not know. `known`: `before` as this
/// version reads and writes it. So a change here does not undo what a later version wrote.
///
/// # Errors
/// [`Unreadable`].
pub fn carry(before: &[u8], known: &[u8], after: Vec<u8>) -> Result<Vec<u8>, Unreadable> {
    let (known, mut wanted) = (object(known)?, object(&after)?);
    let mut unknown = object(before)?;
    unknown.retain(|member, _| !known.contains_key(member) && !wanted.contains_key(member));
    if unknown.is_empty() {
        return Ok(after);
    }
    wanted.extend(unknown);
    text(&Value::Object(wanted))
}

/// How a member's changes come together. A list that this version does not know is of the rule by
/// which a later version keeps it in the state.
fn rule_of(state: &Record, kind: RecordKind, member: &str) -> Rule {
    match kind.rule(member) {
        Rule::LastWriter if state.register(&order(member)).is_some() => {
            let mut allowed = state.allowed(member).peekable();
            if state.elements(member).next().is_some() || allowed.peek().is_none() {
                Rule::AddWins
            } else if allowed.all(|element| serde_json::from_slice::<Value>(element).is_ok()) {
                Rule::RemoveWins
            } else {
                Rule::Words
            }
        }
        known => known,
    }
}

/// Whether two texts say the same, in whatever order of members.
pub fn same(one: &[u8], other: &[u8]) -> bool {
    match (object(one), object(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// Makes `state` say what the stored record says, by writes at `stamp`; `None`: there is no record.
/// `stamp` is later than all that is in the state.
///
/// # Errors
/// [`Unreadable`], where the text is no JSON object; then some of it may have been written.
pub fn write(
    state: &mut Record,
    kind: RecordKind,
    stored: Option<&[u8]>,
    stamp: &Stamp,
) -> Result<(), Unreadable> {
    let Some(stored) = stored else {
        if state.lives() {
            state.delete(stamp);
        }
        return Ok(());
    };
    let stored = object(stored)?;
    if !state.lives() {
        state.create(stamp);
    }
    let mut registers = Vec::with_capacity(stored.len());
    for (member, value) in &stored {
        let rule = rule_of(state, kind, member);
        let elements = match (rule, value) {
            (Rule::AddWins | Rule::RemoveWins, Value::Array(list)) => {
                list.iter().map(text).collect::<Result<Vec<_>, _>>()?
            }
            (Rule::Words, Value::String(words)) => words
                .split_ascii_whitespace()
                .map(|word| word.as_bytes().to_vec())
                .collect(),
            (Rule::LastWriter | Rule::AddWins | Rule::RemoveWins | Rule::Words, value) => {
                registers.push((member.clone(), text(value)?));
                continue;
            }
        };
        write_set(state, rule, member, &elements, stamp);
        registers.push((order(member), order_of(&elements)?));
    }
    for (member, value) in &registers {
        if state.register(member) != Some(value) {
            state.set(member, Some(value.clone()), stamp);
        }
    }
    let gone: Vec<String> = state
        .registers()
        .map(|(member, _)| member)
        .filter(|member| !registers.iter().any(|(kept, _)| kept == member))
        .map(str::to_owned)
        .collect();
    for member in gone {
        if let Some(list) = member.strip_prefix(ORDER) {
            write_set(state, rule_of(state, kind, list), list, &[], stamp);
        }
        state.set(&member, None, stamp);
    }
    Ok(())
}

fn order_of(elements: &[Vec<u8>]) -> Result<Vec<u8>, Unreadable> {
    let listed = if elements.is_sorted() { &[] } else { elements };
    let listed = listed.iter().map(|element| {
        let element = std::str::from_utf8(element).map_err(|_| Unreadable)?;
        Ok(Value::String(element.to_owned()))
    });
    text(&Value::Array(listed.collect::<Result<_, _>>()?))
}

fn write_set(state: &mut Record, rule: Rule, member: &str, wanted: &[Vec<u8>], stamp: &Stamp) {
    let known: Vec<Vec<u8>> = members(state, rule, member);
    for element in known.iter().filter(|element| !wanted.contains(element)) {
        match rule {
            Rule::AddWins => drop(state.remove(member, element)),
            Rule::RemoveWins | Rule::Words => state.deny(member, element, stamp),
            Rule::LastWriter => {}
        }
    }
    for element in wanted.iter().filter(|element| !known.contains(element)) {
        match rule {
            Rule::AddWins => state.add(member, element, stamp),
            Rule::RemoveWins | Rule::Words => state.allow(member, element, stamp),
            Rule::LastWriter => {}
        }
    }
}

fn members(state: &Record, rule: Rule, member: &str) -> Vec<Vec<u8>> {
    match rule {
        Rule::AddWins => state.elements(member).map(<[u8]>::to_vec).collect(),
        Rule::RemoveWins | Rule::Words => state.allowed(member).map(<[u8]>::to_vec).collect(),
        Rule::LastWriter => Vec::new(),
    }
}

/// The stored form of a state; `None`: there is no record.
///
/// # Errors
/// [`Unreadable`].
pub fn read(state: &Record, kind: RecordKind) -> Result<Option<Vec<u8>>, Unreadable> {
    if !state.lives() {
        return Ok(None);
    }
    let parse = |text: &[u8]| serde_json::from_slice::<Value>(text).map_err(|_| Unreadable);
    let mut stored = Map::new();
    for (member, value) in state.registers() {
        let Some(list) = member.strip_prefix(ORDER) else {
            stored.insert(member.to_owned(), parse(value)?);
            continue;
        };
        let rule = rule_of(state, kind, list);
        let mut elements = members(state, rule, list);
        let Value::Array(order) = parse(value)? else {
            return Err(Unreadable);
        };
        let place = |element: &[u8]| {
            let listed = |text: &Value| text.as_str().is_some_and(|t| t.as_bytes() == element);
            order.iter().position(listed).unwrap_or(usize::MAX)
        };
        // Stable: what nobody gave a place follows, in the order of its bytes.
        elements.sort_by_key(|element| place(element));
        let value = if rule == Rule::Words {
            let words = elements.iter().map(|word| std::str::from_utf8(word));
            let words: Vec<&str> = words.collect::<Result<_, _>>().map_err(|_| Unreadable)?;
            Value::String(words.join(" "))
        } else {
            let elements = elements.iter().map(|element| parse(element));
            Value::Array(elements.collect::<Result<_, _>>()?)
        };
        stored.insert(list.to_owned(), value);
    }
    text(&Value::Object(stored)).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_oauth::authorize::redirect_uri::RedirectUri;
    use signet_oauth::client::{Client, ClientSecret};
    use signet_oauth::scope::ScopeSet;
    use signet_store::NodeId;

    fn stamp(ms: u64, node: &str) -> Stamp {
        Stamp {
            ms,
            seq: 0,
            node: NodeId::parse(node).expect("a name"),
        }
    }

    fn web() -> Client {
        let mut client = Client::new("web", 7);
        client.revision = 1;
        client.client_name = Some("Shop".into());
        client.scope = ScopeSet::parse("write openid read").expect("scopes");
        let uri = |text| RedirectUri::parse(text, false).expect("a redirect");
        client.redirect_uris = vec![uri("https://b.example/cb"), uri("https://a.example/cb")];
        client.secrets = vec![
            ClientSecret::Sha256 {
                hash: [9; 32],
                expires_at: None,
            },
            ClientSecret::Sealed {
                sealed: vec![1; 40],
                expires_at: Some(9),
            },
        ];
        client.registration_token_hash = Some([3; 32]);
        client
    }

    fn client_of(state: &Record) -> Client {
        let stored = read(state, RecordKind::Client).expect("reads");
        Client::from_json(&stored.expect("lives")).expect("is a client")
    }

    fn written(state: &mut Record, client: &Client, stamp: &Stamp) {
        let stored = client.to_json();
        write(state, RecordKind::Client, Some(&stored), stamp).expect("writes");
    }

    #[test]
    fn a_client_comes_back_whole_with_its_lists_in_their_order() {
        let mut client = web();
        let mut state = Record::new();
        written(&mut state, &client, &stamp(1, "a"));
        assert_eq!(client_of(&state), client);
        // Members that go, lists that become empty, others that come.
        client.client_name = None;
        client.redirect_uris.remove(0);
        client.grant_types.clear();
        client.secrets.remove(0);
        client.contacts = vec!["z@example".into(), "a@example".into()];
        client.revision = 2;
        written(&mut state, &client, &stamp(2, "a"));
        assert_eq!(client_of(&state), client);
        write(&mut state, RecordKind::Client, None, &stamp(3, "a")).expect("writes");
        assert_eq!(read(&state, RecordKind::Client), Ok(None));
        let anew = Client::new("web", 9);
        written(&mut state, &anew, &stamp(4, "b"));
        assert_eq!(client_of(&state), anew);
        let travelled = Record::from_bytes(&state.to_bytes()).expect("reads");
        assert_eq!(client_of(&travelled), anew);
    }

    #[test]
    fn two_writers_that_add_a_redirect_uri_each_both_win() {
        let mut one = Record::new();
        written(&mut one, &web(), &stamp(1, "a"));
        let mut other = one.clone();
        let with = |uri: &str, revision: u64| {
            let mut client = web();
            client.revision = revision;
            let uri = RedirectUri::parse(uri, false).expect("a redirect");
            client.redirect_uris.push(uri);
            client
        };
        written(&mut one, &with("https://c.example/cb", 2), &stamp(2, "a"));
        written(&mut other, &with("https://d.example/cb", 2), &stamp(2, "b"));
        let (first, second) = (one.clone(), other.clone());
        one.merge(&second);
        other.merge(&first);
        assert_eq!(client_of(&one), client_of(&other));
        let uris = client_of(&one).redirect_uris;
        let uris: Vec<&str> = uris.iter().map(RedirectUri::as_str).collect();
        assert_eq!(uris.len(), 4, "{uris:?}");
        assert!(uris.contains(&"https://c.example/cb") && uris.contains(&"https://d.example/cb"));
    }

    #[test]
    fn of_a_scope_that_one_adds_and_another_removes_removing_wins() {
        let mut one = Record::new();
        written(&mut one, &web(), &stamp(1, "a"));
        let mut other = one.clone();
        let with = |scope: &str| Client {
            scope: ScopeSet::parse(scope).expect("scopes"),
            ..web()
        };
        // Who writes it again has not seen the denial.
        written(&mut one, &with("openid read"), &stamp(2, "a"));
        written(&mut other, &with("openid read write admin"), &stamp(3, "b"));
        one.merge(&other);
        let merged = client_of(&one).scope;
        assert!(merged.contains("admin") && !merged.contains("write"));
    }
    // Its table of rules names them, and this version's does not.
    #[test]
    fn lists_of_a_later_version_stay_what_they_are_there() {
        let mut state = Record::new();
        let kind = RecordKind::Scope;
        let stored = br#"{"name":"read","description":"d","published":true}"#;
        write(&mut state, kind, Some(stored), &stamp(1, "a")).expect("writes");
        let later = stamp(2, "b");
        state.add("added", br#""x""#, &later);
        state.set("order:added", Some(b"[]".to_vec()), &later);
        state.allow("granted", br#""y""#, &later);
        state.set("order:granted", Some(b"[]".to_vec()), &later);
        let before = state.clone();
        let text = read(&state, kind).expect("reads").expect("lives");
        let said: Value = serde_json::from_slice(&text).expect("is JSON");
        assert_eq!(said["added"], serde_json::json!(["x"]));
        assert_eq!(said["granted"], serde_json::json!(["y"]));
        write(&mut state, kind, Some(&text), &stamp(3, "a")).expect("writes");
        assert_eq!(state.to_bytes(), before.to_bytes(), "nothing was changed");
        // What knows them can still take them away.
        write(&mut state, kind, Some(stored), &stamp(4, "a")).expect("writes");
        let text = read(&state, kind).expect("reads").expect("lives");
        assert!(same(&text, stored));
        assert_eq!(state.elements("added").count(), 0);
        assert_eq!(state.allowed("granted").count(), 0);
    }
}
