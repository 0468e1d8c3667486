//! Signet itself: the JSON Lines that `signet export DIR --people` writes (docs/moving-out.md).

use serde_json::{Map, Value};

use crate::moved::Moved;
use crate::out::signet::VERSION;
use crate::read::{Part, ReadError};
use crate::report::{Fate, Row};
use crate::sources::{Options, Source};

pub(super) const SOURCE: Source = Source {
    name: "signet",
    title: "Signet",
    takes: "What `signet export DIR --people` writes: `people.jsonl`, or `people.jsonl.age`, which `--passphrase-file` or `--identity` opens. `signet apply DIR` comes before it: it makes the groups, roles and attributes that people have. [moving-out.md](moving-out.md) has the form.",
    endings: &["people.jsonl"],
    folders: &[],
    rows: ROWS,
    read,
};

#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { what: "Accounts, with everything that the file has of them", fate: Fate::Comes, note: "With their ids, so `sub` stays the same." },
    OUTSIDE,
    ERASED,
    Row { what: "Recovery codes, remembered browsers, sessions, grants", fate: Fate::Stays, note: "They are not in the file." },
];
#[rustfmt::skip]
const OUTSIDE: Row = Row { what: "Accounts of a directory outside", fate: Fate::Stays, note: "Their directory keeps them: they are made at their first login." };
#[rustfmt::skip]
const ERASED: Row = Row { what: "Accounts that are to be erased", fate: Fate::Stays, note: "They were on their way out." };

/// How many lines stand in a file beside the accounts, at the least: its first, and its last.
const FRAME: usize = 2;

fn read(parts: &[Part], _: &Options) -> Result<Moved, ReadError> {
    let mut moved = Moved {
        from: "an export of Signet".to_owned(),
        ..Moved::default()
    };
    for part in parts {
        let lines: Vec<Map<String, Value>> = part.lines()?;
        let first = lines.first();
        let is_first = first.is_some_and(|first| first.get("signet") == Some(&"people".into()));
        if !is_first {
            return Err(part.error(
                "its first line does not say \"signet\":\"people\": is it what signet export --people wrote? (signet user import takes accounts without it)",
            ));
        }
        let version = first.and_then(|first| first.get("version")?.as_u64());
        if version != Some(VERSION) {
            return Err(part.error(format!(
                "it is of another version than {VERSION}: import it with the Signet that wrote it, or a later one"
            )));
        }
        let count = lines.last().and_then(|last| last.get("count")?.as_u64());
        let is_end = lines
            .last()
            .is_some_and(|last| last.get("end") == Some(&"people".into()));
        if lines.len() < FRAME || !is_end || count != Some((lines.len() - FRAME) as u64) {
            return Err(part.error("it is cut off: its last line does not count its accounts"));
        }
        let accounts = lines.len() - FRAME;
        for (at, account) in lines.into_iter().skip(1).take(accounts).enumerate() {
            let Some(name) = account.get("username").and_then(Value::as_str) else {
                return Err(ReadError {
                    place: format!("{}:{}", part.name, at + FRAME),
                    why: "username: expected a string".to_owned(),
                });
            };
            if account.contains_key("directory") {
                moved.report.add(&OUTSIDE, name, "");
            } else if account.contains_key("deletion") {
                moved.report.add(&ERASED, name, "");
            } else {
                moved.accounts.push(account);
            }
        }
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::out::{About, FORMS};
    use crate::report::Report;
    use proptest::prelude::*;
    use serde_json::json;

    fn written(accounts: &[Value]) -> Vec<u8> {
        let about = About {
            credentials: true,
            groups: Vec::new(),
            roles: Vec::new(),
        };
        let mut form = (FORMS[0].begin)(about);
        let (mut out, mut report) = (Vec::new(), Report::default());
        form.head(&mut out).unwrap();
        for account in accounts {
            form.person(account, &mut report, &mut out).unwrap();
        }
        form.end(&mut out).unwrap();
        out
    }

    fn read_back(bytes: Vec<u8>) -> Result<Moved, String> {
        let name = "people.jsonl".to_owned();
        read(&[Part { name, bytes }], &Options::default()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_that_was_cut_off_or_is_another_is_refused_with_the_reason() {
        let whole = String::from_utf8(written(&[json!({ "username": "a" })])).unwrap();
        let lines: Vec<&str> = whole.lines().collect();
        for (text, why) in [
            (lines[..2].join("\n"), "cut off"),
            (lines[1..].join("\n"), "its first line"),
            ([lines[0], lines[2]].join("\n"), "cut off"),
            (String::new(), "its first line"),
            (
                whole.replace("\"version\":1", "\"version\":2"),
                "another version",
            ),
            (whole.replace("\"a\"", "7"), "people.jsonl:2: username"),
            (
                whole.replace("{\"username\"", "{username"),
                "people.jsonl:2:",
            ),
        ] {
            let error = read_back(text.into_bytes()).err().expect(why);
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn who_is_of_a_directory_or_on_the_way_out_stays_behind_and_is_named() {
        let accounts = [
            json!({ "username": "here" }),
            json!({ "username": "outside", "directory": "ldap" }),
            json!({ "username": "leaving", "deletion": { "asked_at": 1, "erase_at": 2 } }),
        ];
        let moved = read_back(written(&accounts)).unwrap();
        assert_eq!(moved.counts()["people"], 1);
        let text = moved.report.to_text(ROWS);
        assert!(
            text.contains("outside") && text.contains("leaving"),
            "{text}"
        );
    }

    fn account() -> impl Strategy<Value = Value> {
        let text = "[ -~\u{e4}\u{4e00}\"\\\\]{0,20}";
        (
            text,
            text,
            proptest::option::of(text),
            proptest::collection::vec(text, 0..3),
        )
            .prop_map(|(username, name, hash, groups)| {
                let mut account = json!({
                    "username": username, "profile": { "name": name }, "groups": groups,
                });
                if let Some(hash) = hash {
                    account["password_hash"] = hash.into();
                }
                account
            })
    }

    proptest! {
        /// What was written is read back whole, and written again it is the same file.
        #[test]
        fn an_export_that_is_read_and_written_again_is_the_same(accounts in proptest::collection::vec(account(), 0..8)) {
            let file = written(&accounts);
            let moved = read_back(file.clone()).unwrap();
            let read: Vec<Value> = moved.accounts.into_iter().map(Value::Object).collect();
            prop_assert_eq!(&read, &accounts);
            prop_assert_eq!(written(&read), file);
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let head = br#"{"signet":"people","version":1}"#;
            let _ = read_back([&head[..], b"\n", &bytes].concat());
        }
    }
}
