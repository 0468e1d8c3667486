//! A server that answers by a script, and what a question makes of it.

use std::sync::{Arc, Mutex};

use tokio::io::DuplexStream;

use super::*;

/// BER: a tag, a length of four bytes, a value.
fn ber(tag: u8, value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap().to_be_bytes();
    [&[tag, 0x84], &length[..], value].concat()
}

fn all(parts: &[Vec<u8>]) -> Vec<u8> {
    parts.concat()
}

/// An operation of a message (RFC 4511 section 4.1.1).
fn message(id: u8, operation: Vec<u8>) -> Vec<u8> {
    ber(0x30, &all(&[ber(0x02, &[id]), operation]))
}

/// A result (section 4.1.9) under this tag.
fn result(tag: u8, code: u8) -> Vec<u8> {
    ber(tag, &all(&[ber(0x0a, &[code]), ber(4, b""), ber(4, b"")]))
}

/// An entry (section 4.5.2).
fn entry(dn: &str, attributes: &[(&str, &[&[u8]])]) -> Vec<u8> {
    let attributes = attributes.iter().map(|(name, values)| {
        let values: Vec<u8> = values.iter().flat_map(|value| ber(4, value)).collect();
        ber(0x30, &all(&[ber(4, name.as_bytes()), ber(0x31, &values)]))
    });
    let attributes: Vec<u8> = attributes.flatten().collect();
    ber(0x64, &all(&[ber(4, dn.as_bytes()), ber(0x30, &attributes)]))
}

const BIND: u8 = 0x61;
const DONE: u8 = 0x65;

/// What the server answers a request with: operations, for the number of the request.
type Script = fn(usize) -> Vec<Vec<u8>>;

/// A server by a script. What it was sent is in the list.
fn server(script: Script) -> (DuplexStream, Arc<Mutex<Vec<Vec<u8>>>>) {
    let (here, mut there) = tokio::io::duplex(64 * 1024);
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hears = Arc::clone(&heard);
    tokio::spawn(async move {
        for turn in 0.. {
            let mut head = [0; 2];
            if there.read_exact(&mut head).await.is_err() {
                return;
            }
            let length = match head[1] {
                short @ 0..=0x7f => usize::from(short),
                0x81 => usize::from(there.read_u8().await.unwrap()),
                _ => usize::from(there.read_u16().await.unwrap()),
            };
            let mut body = vec![0; length];
            there.read_exact(&mut body).await.unwrap();
            let id = body[2];
            hears.lock().unwrap().push(body);
            for operation in script(turn) {
                if there.write_all(&message(id, operation)).await.is_err() {
                    return;
                }
            }
        }
    });
    (here, heard)
}

fn question(login: &str, password: &str) -> Question {
    Question {
        bind: Some(("cn=signet".into(), Secret::new("service".into()))),
        base: "ou=people".into(),
        filter: "(uid={login})".into(),
        login: login.into(),
        password: Secret::new(password.into()),
    }
}

async fn asked(script: Script, question: Question) -> Result<Option<Entry>, LdapError> {
    let (stream, _) = server(script);
    over(stream, question).await
}

fn alice() -> Vec<u8> {
    let values: &[(&str, &[&[u8]])] = &[
        ("uid", &[b"alice"]),
        ("mail", &[b"alice@x.example", b"a@x.example"]),
        ("objectGUID", &[&[0xff; 16]]),
        ("jpegPhoto", &[&[b'x'; MAX_VALUE_BYTES + 1]]),
    ];
    entry("uid=alice,ou=people", values)
}

fn right(turn: usize) -> Vec<Vec<u8>> {
    match turn {
        1 => vec![alice(), result(DONE, 0)],
        _ => vec![result(BIND, 0)],
    }
}

#[tokio::test]
async fn whose_bind_is_accepted_is_the_entry_that_was_found() {
    let (stream, heard) = server(right);
    let found = over(stream, question("alice", "hers")).await;
    let found = found.unwrap().unwrap();
    assert_eq!(found.dn, "uid=alice,ou=people");
    assert_eq!(found.text("MAIL"), Some("alice@x.example"));
    assert_eq!(found.bytes["objectGUID"], [vec![0xff; 16]]);
    assert_eq!(found.texts["jpegPhoto"].len(), 0, "a photo is left out");
    let heard = heard.lock().unwrap();
    let says = |turn: usize, text: &str| {
        let bytes: &[u8] = &heard[turn];
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(says(0, "cn=signet") && says(0, "service"));
    assert!(says(1, "alice") && !says(1, "hers"));
    assert!(says(2, "uid=alice,ou=people") && says(2, "hers"));
}

#[tokio::test]
async fn nobody_a_wrong_password_and_several_are_told_apart() {
    let nobody = |turn| match turn {
        1 => vec![result(DONE, 0)],
        _ => vec![result(BIND, 0)],
    };
    assert_eq!(asked(nobody, question("bob", "x")).await.unwrap(), None);
    let nowhere = |turn| match turn {
        1 => vec![result(DONE, 32)],
        _ => vec![result(BIND, 0)],
    };
    assert_eq!(asked(nowhere, question("bob", "x")).await.unwrap(), None);
    let wrong = |turn| match turn {
        1 => vec![alice(), result(DONE, 0)],
        2 => vec![result(BIND, 49)],
        _ => vec![result(BIND, 0)],
    };
    assert_eq!(asked(wrong, question("alice", "x")).await.unwrap(), None);
    let several: Script = |turn| match turn {
        1 => vec![alice(), alice(), result(DONE, 0)],
        _ => vec![result(BIND, 0)],
    };
    let more: Script = |turn| match turn {
        1 => vec![alice(), alice(), result(DONE, 4)],
        _ => vec![result(BIND, 0)],
    };
    for script in [several, more] {
        let refused = asked(script, question("alice", "x")).await;
        assert!(matches!(refused, Err(LdapError::Several)), "{refused:?}");
    }
    let locked = |turn| match turn {
        1 => vec![alice(), result(DONE, 0)],
        2 => vec![result(BIND, 53)],
        _ => vec![result(BIND, 0)],
    };
    let refused = asked(locked, question("alice", "x")).await;
    assert!(matches!(refused, Err(LdapError::Refused(53))));
    let refused = asked(|_| vec![result(BIND, 49)], question("alice", "x")).await;
    assert!(matches!(refused, Err(LdapError::Bind(49))));
}

// RFC 4513 section 5.1.2: a bind without a password succeeds for everybody.
#[tokio::test]
async fn without_a_password_or_a_name_nobody_is_asked() {
    for (login, password) in [("alice", ""), ("", "x")] {
        let (stream, heard) = server(right);
        let answer = over(stream, question(login, password)).await;
        assert_eq!(answer.unwrap(), None);
        assert!(heard.lock().unwrap().is_empty());
    }
    let nameless = |turn| match turn {
        1 => vec![entry("", &[]), result(DONE, 0)],
        _ => vec![result(BIND, 0)],
    };
    assert_eq!(asked(nameless, question("alice", "x")).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_typed_cannot_change_the_filter() {
    let (stream, heard) = server(right);
    let typed = "a*)(uid=*\\\0";
    over(stream, question(typed, "x")).await.unwrap();
    let heard = heard.lock().unwrap().clone();
    // An equality (0xa3) with the attribute, and the value as it was typed.
    let wanted = [&b"uid\x04\x0b"[..], typed.as_bytes()].concat();
    let bytes: &[u8] = &heard[1];
    assert!(
        bytes.windows(wanted.len()).any(|part| part == wanted),
        "{bytes:x?}"
    );
    let broken = Question {
        filter: "(uid={login}".into(),
        ..question("alice", "x")
    };
    let (stream, _) = server(right);
    assert!(matches!(over(stream, broken).await, Err(LdapError::Filter)));
}

#[tokio::test]
async fn a_server_that_sends_too_much_or_nonsense_is_an_error() {
    let flood = |turn| match turn {
        1 => std::iter::repeat_with(|| entry("uid=x", &[("cn", &[&[b'x'; 4096]])]))
            .take(400)
            .collect(),
        _ => vec![result(BIND, 0)],
    };
    let refused = asked(flood, question("alice", "x")).await;
    assert!(matches!(refused, Err(LdapError::TooLarge)), "{refused:?}");
    let nonsense: [Script; 5] = [
        |_| vec![ber(0x48, b"x")],
        |_| vec![ber(BIND, b"")],
        |_| vec![ber(BIND, &ber(4, b"x"))],
        |turn| match turn {
            1 => vec![ber(0x64, b""), result(DONE, 0)],
            _ => vec![result(BIND, 0)],
        },
        |turn| match turn {
            1 => vec![ber(0x64, &ber(4, &[0xff])), result(DONE, 0)],
            _ => vec![result(BIND, 0)],
        },
    ];
    for (n, script) in nonsense.into_iter().enumerate() {
        let asked = asked(script, question("alice", "x"));
        let answer = tokio::time::timeout(std::time::Duration::from_secs(20), asked).await;
        let refused = answer.unwrap_or_else(|_| panic!("{n} has no end"));
        assert!(
            matches!(refused, Err(LdapError::Connection(_))),
            "{n}: {refused:?}"
        );
    }
}
