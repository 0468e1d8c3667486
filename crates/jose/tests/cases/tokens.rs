//! Access tokens. [`HEADER`], [`PAYLOAD`] and [`JWK`] make the accepted one; a row changes one
//! thing.

use super::{Case, replaced};
use crate::support::{D, X, sign, sign_with};
use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::base64url;

const HEADER: &str = r#"{"typ":"at+jwt","alg":"EdDSA","kid":"k1"}"#;
const PAYLOAD: &str = r#"{"iss":"https://as.example","sub":"alice","aud":"https://api.example","exp":1795000000,"nbf":1794996400,"iat":1794996400,"jti":"id1","scope":"read"}"#;

fn jwk() -> String {
    format!(r#"{{"kty":"OKP","crv":"Ed25519","x":"{X}","kid":"k1"}}"#)
}

#[rustfmt::skip] // a table: one case a line
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |group, name, jwk, token, result| {
        cases.push(Case {
            group,
            name,
            jwk,
            token,
            result,
        });
    };
    let base = || sign(HEADER.as_bytes(), PAYLOAD.as_bytes());
    add("base", "the accepted token", jwk(), base(), "accept");

    // The header's JSON, changed and signed: (name, from, to, result).
    for (name, from, to, result) in [
        ("typ in another case", "at+jwt", "AT+JWT", "accept"),
        ("typ as a full media type", "at+jwt", "application/at+jwt", "accept"),
        ("an unknown header member with an object", "\"kid\"", r#""x":{"y":[1,{"z":null}]},"kid""#, "accept"),
        ("white space in the header", "{", "\r\n {\t ", "accept"),
        ("a header name written with an escape", "\"alg\"", r#""\u0061lg""#, "accept"),
        ("a header value written with an escape", "EdDSA", r"Ed\u0044SA", "accept"),
        ("a kid of another spelling, which the caller looks up", "k1", "a/b= c\u{e9}", "accept"),
        ("no kid", r#","kid":"k1""#, "", "accept"),
        ("an embedded key, passed over", "\"kid\"", r#""jwk":{"kty":"oct","k":"AAAA"},"kid""#, "accept"),
        ("an address of keys, passed over", "\"kid\"", r#""jku":"https://evil.example/jwks","x5u":"http://evil.example","kid""#, "accept"),
        ("crit names an unknown extension", "\"kid\"", r#""crit":["x"],"x":1,"kid""#, "critical"),
        ("crit is empty", "\"kid\"", r#""crit":[],"kid""#, "critical"),
        ("crit names a registered header", "\"kid\"", r#""crit":["kid"],"kid""#, "critical"),
        ("crit names a member that is absent", "\"kid\"", r#""crit":["x"],"kid""#, "critical"),
        ("crit names one member twice", "\"kid\"", r#""crit":["x","x"],"x":1,"kid""#, "critical"),
        ("crit is a string", "\"kid\"", r#""crit":"x","kid""#, "critical"),
        ("crit is null", "\"kid\"", r#""crit":null,"kid""#, "critical"),
        ("crit written with an escape", "\"kid\"", r#""c\u0072it":["x"],"kid""#, "critical"),
        ("b64 is false, in crit", "\"kid\"", r#""b64":false,"crit":["b64"],"kid""#, "extension"),
        ("b64 is false, not in crit", "\"kid\"", r#""b64":false,"kid""#, "extension"),
        ("b64 is true", "\"kid\"", r#""b64":true,"kid""#, "extension"),
        ("zip", "\"kid\"", r#""zip":"DEF","kid""#, "extension"),
        ("alg is none", "EdDSA", "none", "algorithm"),
        ("alg is None", "EdDSA", "NonE", "algorithm"),
        ("alg is empty", "EdDSA", "", "algorithm"),
        ("alg in another case", "EdDSA", "EDDSA", "algorithm"),
        ("alg with a space", "EdDSA", "EdDSA ", "algorithm"),
        ("alg of an encryption", "EdDSA", "dir", "algorithm"),
        ("alg is missing", r#""alg":"EdDSA","#, "", "malformed"),
        ("alg is a number", r#""EdDSA""#, "1", "malformed"),
        ("alg is an array", r#""EdDSA""#, r#"["EdDSA"]"#, "malformed"),
        ("alg of another key type", "EdDSA", "ES256", "key_mismatch"),
        ("alg is HMAC", "EdDSA", "HS256", "key_mismatch"),
        ("alg is the other name of the key's algorithm", "EdDSA", "Ed25519", "key_mismatch"),
        ("alg twice", "\"kid\"", r#""alg":"EdDSA","kid""#, "malformed"),
        ("alg twice, once with an escape", "\"kid\"", r#""\u0061lg":"none","kid""#, "malformed"),
        ("an unknown header member twice", "\"kid\"", r#""x":1,"x":1,"kid""#, "malformed"),
        ("a header member twice inside an unknown one", "\"kid\"", r#""x":{"y":1,"y":1},"kid""#, "malformed"),
        ("kid is a number", r#""k1""#, "1", "malformed"),
        ("kid is null", r#""k1""#, "null", "malformed"),
        ("typ is an array", r#""at+jwt""#, r#"["at+jwt"]"#, "malformed"),
        ("a header that is an array", HEADER, r#"["EdDSA"]"#, "malformed"),
        ("bytes after the header object", r#""kid":"k1"}"#, r#""kid":"k1"}x"#, "malformed"),
        ("a second object after the header", r#""kid":"k1"}"#, r#""kid":"k1"}{}"#, "malformed"),
        ("a NUL after the header object", r#""kid":"k1"}"#, "\"kid\":\"k1\"}\0", "malformed"),
        ("a byte order mark before the header", "{", "\u{feff}{", "malformed"),
        ("a trailing comma in the header", r#""k1"}"#, r#""k1",}"#, "malformed"),
        ("a lone surrogate in the header", "k1", r"\ud800", "malformed"),
        ("a raw control character in the header", "k1", "k\u{1}", "malformed"),
        ("no typ", r#""typ":"at+jwt","#, "", "type"),
        ("the typ of an ID token", "at+jwt", "JWT", "type"),
        ("the typ of a logout token", "at+jwt", "logout+jwt", "type"),
        ("the typ of a DPoP proof", "at+jwt", "dpop+jwt", "type"),
        ("a typ with a space", "at+jwt", "at+jwt ", "type"),
        ("a typ of another tree", "at+jwt", "x/at+jwt", "type"),
    ] {
        let header = replaced(HEADER, from, to);
        add("header", name, jwk(), sign(header.as_bytes(), PAYLOAD.as_bytes()), result);
    }
    let deep = replaced(
        HEADER,
        "\"kid\"",
        &format!("\"x\":{}{},\"kid\"", "[".repeat(30), "]".repeat(30)),
    );
    add("header", "a header nested beyond its bound", jwk(), sign(deep.as_bytes(), PAYLOAD.as_bytes()), "too_large");
    for (name, bytes) in [
        ("overlong UTF-8 in the header", &b"k\xc1\xa1"[..]),
        ("an encoded surrogate in the header", b"k\xed\xa0\x80"),
        ("a truncated character in the header", b"k\xe2\x82"),
    ] {
        let (before, behind) = HEADER.split_once("k1").unwrap();
        let header = [before.as_bytes(), bytes, behind.as_bytes()].concat();
        add("header", name, jwk(), sign(&header, PAYLOAD.as_bytes()), "malformed");
    }

    // The payload's JSON, changed and signed.
    let api = r#""https://api.example""#;
    for (name, from, to, result) in [
        ("aud is an array of three", api, r#"["a","https://api.example","b"]"#, "accept"),
        ("a fractional exp", "1795000000", "1795000000.5", "accept"),
        ("exp with an exponent", "1795000000", "1.795e9", "accept"),
        ("white space and another order", r#"{"iss":"https://as.example","#, "{ \"z\" : [ ] ,\n\"iss\":\"https://as.example\",", "accept"),
        ("a subject beyond the basic plane", "alice", r"\ud83d\ude00 \u00e9 漢", "accept"),
        ("claims as deep as allowed", r#""read""#, "[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]", "accept"),
        ("sub is a number", r#""alice""#, "1", "claims"),
        ("sub is an object", r#""alice""#, r#"{"id":"alice"}"#, "claims"),
        ("sub is null", r#""alice""#, "null", "claims"),
        ("sub is a boolean", r#""alice""#, "true", "claims"),
        ("iss is an array", r#""https://as.example""#, r#"["https://as.example"]"#, "claims"),
        ("jti is a number", r#""id1""#, "7", "claims"),
        ("aud is a number", api, "1", "claims"),
        ("aud is an object", api, "{}", "claims"),
        ("aud is null", api, "null", "claims"),
        ("aud mixes strings and numbers", api, r#"["https://api.example",1]"#, "claims"),
        ("aud mixes strings and arrays", api, r#"["https://api.example",["b"]]"#, "claims"),
        ("aud holds null", api, r#"["https://api.example",null]"#, "claims"),
        ("exp is a string", "1795000000", r#""1795000000""#, "claims"),
        ("exp is negative", "1795000000", "-1", "claims"),
        ("exp is infinite to a double", "1795000000", "1e309", "claims"),
        ("exp is null", "1795000000", "null", "claims"),
        ("exp is beyond 64 bits", "1795000000", "18446744073709551616", "claims"),
        ("exp has a leading zero", "1795000000", "01795000000", "claims"),
        ("exp is hexadecimal", "1795000000", "0x6AFD3CC0", "claims"),
        ("nbf is a boolean", r#""nbf":1794996400"#, r#""nbf":false"#, "claims"),
        ("iat is a string", r#""iat":1794996400"#, r#""iat":"now""#, "claims"),
        ("sub twice", r#""scope""#, r#""sub":"mallory","scope""#, "claims"),
        ("sub twice, once with an escape", r#""scope""#, r#""s\u0075b":"mallory","scope""#, "claims"),
        ("an unknown claim twice", r#""scope""#, r#""scope":"admin","scope""#, "claims"),
        ("a member twice inside a claim", r#""read""#, r#"{"a":1,"a":2}"#, "claims"),
        ("bytes after the claims", r#""read"}"#, r#""read"} x"#, "claims"),
        ("a second object after the claims", r#""read"}"#, r#""read"}{"sub":"mallory"}"#, "claims"),
        ("claims that are an array", PAYLOAD, "[]", "claims"),
        ("claims that are a string", PAYLOAD, "\"alice\"", "claims"),
        ("no claims at all", PAYLOAD, "", "claims"),
        ("a lone surrogate in a claim", "alice", r"\udc00", "claims"),
        ("a raw NUL in a claim", "alice", "alice\0", "claims"),
        ("a raw line feed in a claim", "alice", "ali\nce", "claims"),
        ("claims deeper than allowed", r#""read""#, "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]", "claims"),
        ("a comment in the claims", r#""scope""#, r#"/**/"scope""#, "claims"),
        ("NaN in the claims", r#""read""#, "NaN", "claims"),
    ] {
        let payload = replaced(PAYLOAD, from, to);
        add("claims", name, jwk(), sign(HEADER.as_bytes(), payload.as_bytes()), result);
    }
    for (name, bytes) in [
        ("overlong UTF-8 in a claim", &b"\xc0\x80"[..]),
        ("an encoded surrogate in a claim", b"\xed\xb0\x80"),
        ("Latin-1 in a claim", b"\xe9"),
    ] {
        let (before, behind) = PAYLOAD.split_once("alice").unwrap();
        let payload = [before.as_bytes(), bytes, behind.as_bytes()].concat();
        add("claims", name, jwk(), sign(HEADER.as_bytes(), &payload), "claims");
    }

    // The text, changed after signing.
    let token = base();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let (header, payload) = signed.split_once('.').unwrap();
    let bytes = base64url::decode(signature.as_bytes()).unwrap();
    let encoded = |bytes: &[u8]| format!("{signed}.{}", base64url::encode(bytes));
    for (name, token, result) in [
        ("a padded signature", format!("{token}=="), "malformed"),
        ("a padded header", format!("{header}=.{payload}.{signature}"), "malformed"),
        ("a trailing dot", format!("{token}."), "malformed"),
        ("a leading dot", format!(".{token}"), "malformed"),
        ("a fourth part", format!("{token}.AA"), "malformed"),
        ("five parts, as an encryption has", format!("{token}.AA.AA"), "malformed"),
        ("two parts", signed.to_owned(), "malformed"),
        ("an empty signature", format!("{signed}."), "malformed"),
        ("an empty header", format!(".{payload}.{signature}"), "malformed"),
        ("an empty text", String::new(), "malformed"),
        ("a trailing line feed", format!("{token}\n"), "malformed"),
        ("a leading space", format!(" {token}"), "malformed"),
        ("a line break inside the signature", format!("{signed}.{}\n{}", &signature[..40], &signature[40..]), "malformed"),
        ("unused bits set in the last character", noncanonical(&token), "malformed"),
        ("the alphabet of plain base64", standard_alphabet(&token), "malformed"),
        ("a NUL behind the signature", format!("{token}\0"), "malformed"),
        ("JSON serialization", format!(r#"{{"protected":"{header}","payload":"{payload}","signature":"{signature}"}}"#), "malformed"),
        ("an empty payload under the old signature", format!("{header}..{signature}"), "signature"),
        ("header and payload exchanged", format!("{payload}.{header}.{signature}"), "malformed"),
        ("a signature without its last byte", encoded(&bytes[..63]), "signature"),
        ("a signature with one byte more", encoded(&[&bytes[..], b"\0"].concat()), "signature"),
        ("a signature of zeros", encoded(&[0; 64]), "signature"),
        ("one bit of R changed", encoded(&flipped(&bytes, 0)), "signature"),
        ("one bit of S changed", encoded(&flipped(&bytes, 32)), "signature"),
        ("S plus the group order", encoded(&plus_order(&bytes)), "signature"),
        ("a token of another key", foreign(), "signature"),
    ] {
        add("text", name, jwk(), token, result);
    }
    // The oldest confusion: HMAC with the public key as the secret.
    let public = base64url::decode(X.as_bytes()).unwrap();
    let hmac = SigningKey::from_private(Algorithm::Hs256, &public).unwrap();
    let header = replaced(HEADER, "EdDSA", "HS256");
    add("text", "HMAC under the public key", jwk(), sign_with(&hmac, header.as_bytes(), PAYLOAD.as_bytes()), "key_mismatch");
    let padded = replaced(PAYLOAD, "read", &"r".repeat(9000));
    add("text", "a token beyond its bound", jwk(), sign(HEADER.as_bytes(), padded.as_bytes()), "too_large");

    // The key, changed; the token is the accepted one.
    let with = |member: &str| replaced(&jwk(), "}", &format!(",{member}}}"));
    let x = |x: &str| replaced(&jwk(), X, x);
    for (name, jwk, result) in [
        ("a key for signatures", with(r#""use":"sig""#), "accept"),
        ("a key that may verify", with(r#""key_ops":["verify"]"#), "accept"),
        ("a key with its algorithm", with(r#""alg":"EdDSA""#), "accept"),
        ("a key with unknown members", with(r#""x5t":"AA","ext":true"#), "accept"),
        ("a key for encryption", with(r#""use":"enc""#), "key"),
        ("a key of unknown use", with(r#""use":"SIG""#), "key"),
        ("a key that may sign only", with(r#""key_ops":["sign"]"#), "key"),
        ("a key that may do nothing", with(r#""key_ops":[]"#), "key"),
        ("a key with an operation twice", with(r#""key_ops":["verify","verify"]"#), "key"),
        ("a key with operations as a string", with(r#""key_ops":"verify""#), "key"),
        ("a key for another algorithm", with(r#""alg":"RS256""#), "key"),
        ("a key for the other name of its algorithm", with(r#""alg":"Ed25519""#), "key"),
        ("a key for an unknown algorithm", with(r#""alg":"XY512""#), "key"),
        ("a key with its private part", with(&format!(r#""d":"{D}""#)), "key"),
        ("a key with an empty private part", with(r#""d":"""#), "key"),
        ("a key with a member twice", with(r#""kid":"k1""#), "key"),
        ("a symmetric key", format!(r#"{{"kty":"oct","k":"{X}","kid":"k1"}}"#), "key"),
        ("a key of another curve", replaced(&jwk(), "Ed25519", "X25519"), "key"),
        ("a key of unknown type", replaced(&jwk(), "OKP", "okp"), "key"),
        ("a key without type", replaced(&jwk(), r#""kty":"OKP","#, ""), "key"),
        ("a key that is padded", x(&format!("{X}=")), "key"),
        ("a key that is a byte short", x(&X[..42]), "key"),
        ("a key that is a byte long", x(&format!("{X}A")), "key"),
        ("a key that is not canonical", x(&replaced(X, "URo", "URp")), "key"),
        ("a key of small order", x("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "key"),
        ("the neutral element as key", x("AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"), "key"),
        ("bytes after the key", format!("{}x", jwk()), "key"),
    ] {
        add("key", name, jwk, base(), result);
    }
    cases
}

fn foreign() -> String {
    let mut der = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
    der.extend_from_slice(&[7; 32]);
    let key = SigningKey::from_private(Algorithm::EdDsa, &der).unwrap();
    sign_with(&key, HEADER.as_bytes(), PAYLOAD.as_bytes())
}

/// 64 bytes are 86 characters, and the last one carries 2 bits that count and 4 that must be zero.
fn noncanonical(token: &str) -> String {
    let (text, last) = token.split_at(token.len() - 1);
    let next = match last {
        "A" => "B",
        "Q" => "R",
        "g" => "h",
        "w" => "x",
        other => panic!("{other} is not the end of a signature"),
    };
    format!("{text}{next}")
}

fn standard_alphabet(token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let signature = signature.replace('-', "+").replace('_', "/");
    assert!(signature.contains(['+', '/']));
    format!("{signed}.{signature}")
}

fn flipped(bytes: &[u8], at: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= 1;
    bytes
}

/// RFC 8032 section 5.1.7: S is below the order of the group, or one signature has two encodings.
fn plus_order(bytes: &[u8]) -> Vec<u8> {
    const ORDER: [u8; 32] = [
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde,
        0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ];
    let mut bytes = bytes.to_vec();
    let mut carry = 0;
    for (byte, order) in bytes[32..].iter_mut().zip(ORDER) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        *byte = sum as u8;
        carry = sum >> 8;
    }
    assert_eq!(carry, 0);
    bytes
}
