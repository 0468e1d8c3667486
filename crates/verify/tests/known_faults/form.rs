use crate::support::*;
use signet_verify::Refusal;

#[test]
fn v05_crit_and_b64_are_never_passed_over() {
    let (v, good) = (verifier(), access());
    for member in [
        // Unknown, empty, naming a registered header, a string, of another type.
        r#""crit":["http://example.com/x"],"http://example.com/x":true"#,
        r#""crit":[]"#,
        r#""crit":["alg"]"#,
        r#""crit":"b64""#,
        r#""crit":null"#,
        r#""crit":[1]"#,
        r#""crit":["b64"],"b64":true"#,
        r#""b64":false"#,
        r#""b64":false,"crit":["b64"]"#,
    ] {
        let token = good.and_header(member).signed();
        let reasons = [Refusal::Critical, Refusal::Extension];
        refused(&v, &good.signed(), &token, &reasons);
    }
}

#[test]
fn v06_a_token_has_one_spelling() {
    let (v, token) = (verifier(), access().signed());
    let (header, payload, signature) = parts(&token);
    for other in [
        format!("{token}="),
        format!("{token}=="),
        format!("{token}."),
        format!("{token}.."),
        format!("{token}\n"),
        format!("{token} "),
        format!("{header}.{payload}.{signature}."),
        format!("{header}=.{payload}.{signature}"),
        format!("{header}.{payload}=.{signature}"),
        format!("{header}..{payload}.{signature}"),
        format!("{header}.{payload}.{}", signature.replace('-', "+")),
    ] {
        if other != token {
            refused(&v, &token, &other, &[Refusal::Malformed]);
        }
    }
    // 64 bytes are 85 characters and two bits: the last character has four spare bits, and fifteen
    // other spellings.
    let last = signature.chars().last().unwrap();
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut spellings = 0;
    for character in alphabet.chars().filter(|c| *c != last) {
        let other = format!("{}{character}", &token[..token.len() - 1]);
        let canonical = alphabet.find(character).unwrap() % 16 == 0;
        let reason = match canonical {
            true => Refusal::Signature,
            false => Refusal::Malformed,
        };
        refused(&v, &token, &other, &[reason]);
        spellings += usize::from(!canonical);
    }
    assert_eq!(spellings, 60);
}

#[test]
fn v08_only_strict_json_in_utf_8_is_read() {
    let (v, good) = (verifier(), access());
    let bytes = good.payload.as_bytes();
    let key = key(signet_crypto::Algorithm::Es256);
    let splice = |at: &str, with: &[u8]| {
        let start = good.payload.find(at).unwrap();
        [&bytes[..start], with, &bytes[start + at.len()..]].concat()
    };
    for (what, payload) in [
        ("bytes behind the object", [bytes, b"x"].concat()),
        ("a second object", [bytes, b"{}"].concat()),
        ("NUL behind the object", [bytes, b"\0"].concat()),
        ("an overlong slash", splice("alice", b"a\xc0\xaflice")),
        ("an overlong NUL", splice("alice", b"a\xc0\x80lice")),
        ("an overlong quote", splice("alice", b"a\xe0\x80\xa2lice")),
        (
            "a surrogate in UTF-8",
            splice("alice", b"a\xed\xa0\x80lice"),
        ),
        ("beyond Unicode", splice("alice", b"a\xf4\x90\x80\x80lice")),
        ("a lone high surrogate", splice("alice", br"a\ud83dlice")),
        ("a lone low surrogate", splice("alice", br"a\ude00lice")),
        (
            "surrogates the wrong way round",
            splice("alice", br"\ude00\ud83d"),
        ),
        (
            "a member twice, the last wins",
            splice("}", br#","sub":"admin"}"#),
        ),
        (
            "a member twice, once escaped",
            splice("}", br#","s\u0075b":"admin"}"#),
        ),
    ] {
        let token = sign_with(key, &good.header, &payload);
        assert_eq!(verify(&v, &token).unwrap_err(), Refusal::Claims, "{what}");
    }
    for (what, header) in [
        ("bytes behind the object", format!("{}x", good.header)),
        ("alg twice", good.and_header(r#""alg":"ES256""#).header),
        ("kid twice", good.and_header(r#""kid":"key-EdDSA""#).header),
        (
            "a lone surrogate",
            good.and_header(r#""x":"\ud800""#).header,
        ),
    ] {
        let token = sign(&header, &good.payload);
        assert_eq!(
            verify(&v, &token).unwrap_err(),
            Refusal::Malformed,
            "{what}"
        );
    }
    assert!(verify(&v, &good.signed()).is_ok());
}

#[test]
fn v09_a_claim_of_another_type_is_not_made_to_fit() {
    let (v, good) = (verifier(), access());
    let aud = format!(r#""{AUDIENCE}""#);
    for (from, to) in [
        (r#""alice""#, "1"),
        (r#""alice""#, "1.0"),
        (r#""alice""#, r#"{"id":"alice"}"#),
        (r#""alice""#, r#"["alice"]"#),
        (r#""alice""#, "true"),
        (r#""alice""#, "null"),
        (r#""web""#, "7"),
        (r#""t-1""#, "1"),
        (aud.as_str(), "1"),
        (aud.as_str(), "{}"),
    ] {
        let token = good.with(from, to).signed();
        refused(&v, &good.signed(), &token, &[Refusal::Claims]);
    }
    for mixed in [
        format!("[{aud},1]"),
        format!("[1,{aud}]"),
        format!("[{aud},null]"),
        format!("[{aud},[{aud}]]"),
        format!("[{aud},{{}}]"),
    ] {
        let token = good.with(&aud, &mixed).signed();
        refused(&v, &good.signed(), &token, &[Refusal::Claims]);
    }
}
