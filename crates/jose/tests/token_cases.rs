//! `vectors/jose/tokens.json` and `dpop.json`: each refused case is one change to an accepted
//! token, so that nothing but the change can be the reason. Where the change is inside what is
//! signed, the token is signed again: the signature holds, and the rule alone refuses.
//!
//! The files are for every implementation; they are written from the tables in `cases/`. With
//! `SIGNET_WRITE_VECTORS=1` in the environment the first test writes them, otherwise it holds that
//! they are current (Ed25519 is deterministic).

use crate::cases::{Case, DpopCase, dpop, tokens};
use signet_encoding::json::{Limits, Object, Value, Writer, parse_object};
use signet_jose::dpop::{DpopError, verify};
use signet_jose::jwk::Jwk;
use signet_jose::jws::{JwsError, split, typ_is};
use signet_jose::jwt::Claims;

const TOKENS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../vectors/jose/tokens.json"
);
const DPOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../vectors/jose/dpop.json");

#[test]
fn the_vector_files_are_current() {
    current(
        TOKENS,
        "Access tokens (typ at+jwt) and the key that a verifier was given; result is accept, or what refuses.",
        tokens::all(),
        |case: &Case, w| {
            w.member("jwk").string(&case.jwk);
            w.member("token").string(&case.token);
            w.member("result").string(case.result);
        },
        |case| (case.group, case.name),
    );
    current(
        DPOP,
        "DPoP proofs for a request (htm, htu) at now (seconds), max age 300, leeway 10; result is accept, or what refuses.",
        dpop::all(),
        |case: &DpopCase, w| {
            w.member("proof").string(&case.proof);
            w.member("htm").string(case.htm);
            w.member("htu").string(case.htu);
            w.member("now").number(case.now);
            w.member("result").string(case.result);
        },
        |case| (case.group, case.name),
    );
}

fn current<C>(
    path: &str,
    about: &str,
    cases: Vec<C>,
    members: impl Fn(&C, &mut Writer<'_>),
    name: impl Fn(&C) -> (&'static str, &'static str),
) {
    let mut text = Vec::new();
    Writer::new(&mut text).object(|w| {
        w.member("about").string(about);
        w.member("vectors").array(|w| {
            for case in &cases {
                w.raw(b"\n"); // one case a line: a difference in review is a case
                let mut line = Vec::new();
                Writer::new(&mut line).object(|w| {
                    let (group, name) = name(case);
                    w.member("group").string(group);
                    w.member("name").string(name);
                    members(case, w);
                });
                w.raw(&line);
            }
        });
    });
    // The line breaks above were written as values; a comma behind each is one too many.
    let text = String::from_utf8(text)
        .unwrap()
        .replace(",\n,", ",\n")
        .replace("[\n,", "[\n")
        + "\n";
    if std::env::var_os("SIGNET_WRITE_VECTORS").is_some() {
        std::fs::write(path, text).unwrap();
    } else {
        assert!(
            std::fs::read_to_string(path).unwrap() == text,
            "{path} is not what tests/cases writes"
        );
    }
}

fn read(path: &str) -> Vec<Object<'static>> {
    let text = std::fs::read(path).unwrap();
    let limits = Limits {
        bytes: 1 << 22,
        depth: 8,
        members: 100_000,
    };
    let mut document = parse_object(&text, &limits).unwrap().into_owned();
    let Some(Value::Array(vectors)) = document.remove("vectors") else {
        panic!("no vectors")
    };
    let object = |vector| match vector {
        Value::Object(object) => object,
        other => panic!("{other:?}"),
    };
    vectors.into_iter().map(object).collect()
}

fn text<'o>(object: &'o Object<'_>, name: &str) -> &'o str {
    object.string(name).unwrap().expect(name)
}

/// What a verifier of access tokens does at this layer.
fn judge(jwk: &str, token: &str) -> &'static str {
    let outcome = || -> Result<(), &'static str> {
        let reason = |error| match error {
            JwsError::Algorithm => "algorithm",
            JwsError::Critical => "critical",
            JwsError::Extension => "extension",
            JwsError::KeyMismatch => "key_mismatch",
            JwsError::Signature => "signature",
            JwsError::TooLarge => "too_large",
            _ => "malformed",
        };
        let jwk = Jwk::parse(jwk.as_bytes()).map_err(|_| "key")?;
        let compact = split(token.as_bytes(), 8 * 1024).map_err(reason)?;
        let header = compact.decode_header().map_err(reason)?;
        // The algorithm is this verifier's configuration.
        let key = jwk
            .verifying_key(signet_crypto::Algorithm::EdDsa)
            .map_err(|_| "key")?;
        let payload = compact.verify(&header, &key).map_err(reason)?;
        if !typ_is(header.typ.as_deref(), "at+jwt") {
            return Err("type");
        }
        Claims::parse(&payload).map_err(|_| "claims")?;
        Ok(())
    };
    match outcome() {
        Ok(()) => "accept",
        Err(reason) => reason,
    }
}

#[test]
fn tokens_are_judged_as_the_vectors_say() {
    let vectors = read(TOKENS);
    assert!(
        vectors
            .iter()
            .filter(|vector| text(vector, "result") == "accept")
            .count()
            >= 15
    );
    assert!(
        vectors
            .iter()
            .filter(|vector| text(vector, "result") != "accept")
            .count()
            >= 90
    );
    let mut wrong = Vec::new();
    for vector in &vectors {
        let judged = judge(text(vector, "jwk"), text(vector, "token"));
        if judged != text(vector, "result") {
            wrong.push((text(vector, "name"), judged, text(vector, "result")));
        }
    }
    assert!(wrong.is_empty(), "(name, judged, expected): {wrong:#?}");
}

#[test]
fn proofs_are_judged_as_the_vectors_say() {
    let vectors = read(DPOP);
    assert!(vectors.len() >= 40);
    let mut wrong = Vec::new();
    for vector in &vectors {
        let now = vector.u64("now").unwrap().unwrap();
        let proof = verify(
            text(vector, "proof"),
            text(vector, "htm"),
            text(vector, "htu"),
            now,
            300,
            10,
        );
        let judged = match proof {
            Ok(_) => "accept",
            Err(DpopError::Malformed) => "malformed",
            Err(DpopError::Algorithm) => "algorithm",
            Err(DpopError::Key) => "key",
            Err(DpopError::Signature) => "signature",
            Err(DpopError::Method) => "method",
            Err(DpopError::Url) => "url",
            Err(DpopError::Time) => "time",
            Err(other) => panic!("{other}"),
        };
        if judged != text(vector, "result") {
            wrong.push((text(vector, "name"), judged, text(vector, "result")));
        }
    }
    assert!(wrong.is_empty(), "(name, judged, expected): {wrong:#?}");
}

#[test]
fn a_case_is_named_once() {
    let mut names: Vec<_> = tokens::all()
        .iter()
        .map(|case| case.name)
        .chain(dpop::all().iter().map(|case| case.name))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}
