use crate::support::*;
use signet_verify::{Policy, Refusal};

#[test]
fn json_serialization_nested_tokens_and_encrypted_ones() {
    let (v, good) = (verifier(), access().signed());
    let (header, payload, signature) = parts(&good);
    let json =
        format!(r#"{{"protected":"{header}","payload":"{payload}","signature":"{signature}"}}"#);
    let general = format!(
        r#"{{"payload":"{payload}","signatures":[{{"protected":"{header}","signature":"{signature}"}}]}}"#
    );
    for token in [
        json,
        general,
        format!("{good}.AA"),
        format!("{good}.AA.AA"),
        format!("..{good}"),
    ] {
        refused(&v, &good, &token, &[Refusal::Malformed]);
    }
    // A JWS whose payload is a token.
    let made = access();
    let nested = sign(&made.and_header(r#""cty":"JWT""#).header, &good);
    refused(&v, &good, &nested, &[Refusal::Claims]);
    // A JWE's header where a JWS is due.
    let jwe = sign(
        r#"{"alg":"RSA-OAEP-256","enc":"A256GCM","typ":"at+jwt"}"#,
        &made.payload,
    );
    refused(&v, &good, &jwe, &[Refusal::Algorithm]);
}

#[test]
fn compression_and_iteration_bombs() {
    let (v, good) = (verifier(), access().signed());
    let pbes2 =
        encode(r#"{"alg":"PBES2-HS512+A256KW","enc":"A256GCM","p2c":2147483647,"p2s":"AAAA"}"#);
    refused(
        &v,
        &good,
        &format!("{pbes2}.AA.AA.AA.AA"),
        &[Refusal::Malformed],
    );
    refused(&v, &good, &format!("{pbes2}.AA.AA"), &[Refusal::Algorithm]);
    let zipped = encode(r#"{"alg":"dir","enc":"A256GCM","zip":"DEF"}"#);
    refused(
        &v,
        &good,
        &format!("{zipped}..AA.AA.AA"),
        &[Refusal::Malformed],
    );
}

#[test]
fn non_canonical_base64() {
    let (v, good) = (verifier(), access().signed());
    let (header, payload, signature) = parts(&good);
    for token in [
        format!("{header}=.{payload}.{signature}"),
        format!("{header}.{payload}=.{signature}"),
        format!("{header}.{payload}.{signature}="),
        format!("{header}.{payload}.{signature}=="),
        format!("{header}.{payload}.{signature}."),
        format!("{header}.{payload}.{signature}\n"),
        format!(" {header}.{payload}.{signature}"),
        format!("{header}.{payload}.{signature}%3D"),
        format!("{header}.{payload}.+/{}", &signature[2..]),
        format!(
            "{header}.{payload}.{}",
            signature.replace(|c: char| c.is_ascii_lowercase(), " ")
        ),
    ] {
        refused(&v, &good, &token, &[Refusal::Malformed]);
    }
    // The last character of a signature of 64 bytes has four bits that no byte uses (known fault
    // V6).
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let last = alphabet.find(signature.chars().last().unwrap()).unwrap();
    for spare in 1..16 {
        let other = alphabet.as_bytes()[last | spare] as char;
        let token = format!(
            "{header}.{payload}.{}{other}",
            &signature[..signature.len() - 1]
        );
        refused(&v, &good, &token, &[Refusal::Malformed]);
    }
}

#[test]
fn invalid_utf8_nul_and_lone_surrogates() {
    let (v, good) = (verifier(), access());
    let token = good.signed();
    let swap = |with: &[u8]| {
        let at = good.payload.find("alice").unwrap();
        let bytes = [
            &good.payload.as_bytes()[..at],
            with,
            &good.payload.as_bytes()[at + 5..],
        ]
        .concat();
        sign_with(key(signet_crypto::Algorithm::Es256), &good.header, &bytes)
    };
    for bytes in [
        &b"\xff"[..],
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\0",
        b"\n",
        b"\\ud800",
        b"\\udc00x",
        b"\\ud83d\\u0041",
        b"\\x41",
        b"\\",
    ] {
        refused(&v, &token, &swap(bytes), &[Refusal::Claims]);
    }
    // A NUL that is escaped is a character as any other, and makes another subject.
    assert_eq!(
        verify(&v, &swap(b"alice\\u0000")).unwrap().claims().sub(),
        Some("alice\0")
    );
}

#[test]
fn trailing_bytes_marks_and_comments() {
    let (v, good) = (verifier(), access());
    for payload in [
        format!("{}{{}}", good.payload),
        format!("{} x", good.payload),
        format!("\u{feff}{}", good.payload),
        format!("{}\0", good.payload),
        format!("/**/{}", good.payload),
        format!("[{}]", good.payload),
        good.payload.replace('"', "'"),
        good.payload.replace('}', ",}"),
        good.payload[..good.payload.len() - 1].to_owned(),
        String::new(),
        "null".to_owned(),
    ] {
        refused(
            &v,
            &good.signed(),
            &sign(&good.header, &payload),
            &[Refusal::Claims],
        );
    }
    for header in [
        format!("{}{{}}", good.header),
        format!("{}x", good.header),
        format!("\u{feff}{}", good.header),
        good.header.replace('}', ",}"),
    ] {
        refused(
            &v,
            &good.signed(),
            &sign(&header, &good.payload),
            &[Refusal::Malformed],
        );
    }
}

#[test]
fn duplicate_claims() {
    let (v, good) = (verifier(), access());
    for member in [
        r#""sub":"bob""#,
        r#""sub":"alice""#,
        r#""exp":9999999999"#,
        r#""s\u0075b":"bob""#,
        r#""aud":"x""#,
        r#""x":1,"x":2"#,
        r#""x":{"y":1,"y":2}"#,
    ] {
        refused(
            &v,
            &good.signed(),
            &good.and(member).signed(),
            &[Refusal::Claims],
        );
    }
}

#[test]
fn depth_length_and_count_bombs() {
    let v = verifier_of(Policy::access_token(AUDIENCE).max_bytes(200_000));
    let good = access();
    let deep = format!(r#""x":{}{}"#, "[".repeat(20_000), "]".repeat(20_000));
    let wide = format!(r#""x":[{}1]"#, "1,".repeat(20_000));
    let many: String = (0..2_000)
        .map(|n| format!(r#""n{n}":1,"#))
        .collect::<String>()
        + r#""z":1"#;
    let long = format!(r#""x":"{}""#, "a".repeat(70_000));
    for bomb in [&deep, &wide, &many, &long] {
        refused(
            &v,
            &good.signed(),
            &good.and(bomb).signed(),
            &[Refusal::Claims],
        );
    }
    for bomb in [&deep, &wide, &many] {
        refused(
            &v,
            &good.signed(),
            &good.and_header(bomb).signed(),
            &[Refusal::TooLarge],
        );
    }
    let small = verifier();
    refused(
        &small,
        &good.signed(),
        &good.and(&long).signed(),
        &[Refusal::TooLarge],
    );
    refused(
        &small,
        &good.signed(),
        &".".repeat(16_000),
        &[Refusal::Malformed],
    );
}
