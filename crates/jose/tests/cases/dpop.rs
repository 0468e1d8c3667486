//! DPoP proofs. [`HEADER`] and [`PAYLOAD`] make the accepted one; a row changes one thing.

use super::{DpopCase, replaced};
use crate::support::{D, X, sign, sign_with};
use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::base64url;

const PAYLOAD: &str =
    r#"{"jti":"e1j3V_bKic8","htm":"POST","htu":"https://as.example/token","iat":1795000000}"#;
const NOW: u64 = 1_795_000_005;
const HTU: &str = "https://as.example/token";

fn header() -> String {
    format!(r#"{{"typ":"dpop+jwt","alg":"EdDSA","jwk":{{"kty":"OKP","crv":"Ed25519","x":"{X}"}}}}"#)
}

#[rustfmt::skip] // a table: one case a line
pub fn all() -> Vec<DpopCase> {
    let mut cases = Vec::new();
    let mut add = |group, name, proof, (htm, htu, now), result| {
        cases.push(DpopCase {
            group,
            name,
            proof,
            htm,
            htu,
            now,
            result,
        });
    };
    let request = ("POST", HTU, NOW);
    let base = || sign(header().as_bytes(), PAYLOAD.as_bytes());
    add("base", "the accepted proof", base(), request, "accept");

    let x_member = format!(r#""x":"{X}""#);
    for (name, from, to, result) in [
        ("a kid beside the jwk", "\"jwk\"", r#""kid":"k1","jwk""#.to_owned(), "accept"),
        ("a jwk that names its algorithm and use", &*x_member, format!(r#"{x_member},"alg":"EdDSA","use":"sig""#), "accept"),
        ("a proof typ in another case", "dpop+jwt", "DPoP+jwt".into(), "malformed"),
        ("a proof typ as a full media type", "dpop+jwt", "application/dpop+jwt".into(), "malformed"),
        ("an access token as proof", "dpop+jwt", "at+jwt".into(), "malformed"),
        ("an ID token as proof", "dpop+jwt", "JWT".into(), "malformed"),
        ("a proof without typ", r#""typ":"dpop+jwt","#, String::new(), "malformed"),
        ("a proof with alg none", "EdDSA", "none".into(), "algorithm"),
        ("a proof with an HMAC alg", "EdDSA", "HS256".into(), "algorithm"),
        ("a proof with an alg of another key type", "EdDSA", "ES256".into(), "key"),
        ("a proof with crit", "\"jwk\"", r#""crit":["x"],"jwk""#.into(), "malformed"),
        ("a proof without jwk", "\"jwk\"", "\"jwK\"".into(), "malformed"),
        ("a proof with a jwk that is a string", &*header() .split_once("\"jwk\":") .unwrap() .1 .replace("}}", "}"), "\"x\"".into(), "malformed"),
        ("a proof with a private jwk", &*x_member, format!(r#"{x_member},"d":"{D}""#), "key"),
        ("a proof with a jwk that holds k", &*x_member, format!(r#"{x_member},"k":"AA""#), "key"),
        ("a proof with a jwk for encryption", &*x_member, format!(r#"{x_member},"use":"enc""#), "key"),
        ("a proof with a jwk that may sign only", &*x_member, format!(r#"{x_member},"key_ops":["sign"]"#), "key"),
        ("a proof with a jwk for another algorithm", &*x_member, format!(r#"{x_member},"alg":"Ed25519""#), "key"),
        ("a proof with a short jwk", X, X[..42].to_owned(), "key"),
        ("a proof with a jwk of small order", X, "A".repeat(43), "key"),
        ("a proof with another key in its jwk", X, "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw".into(), "signature"),
        ("a proof with two jwk", "\"typ\"", format!(r#""jwk":{{"kty":"OKP","crv":"Ed25519",{x_member}}},"typ""#), "malformed"),
    ] {
        let header = replaced(&header(), from, &to);
        add("header", name, sign(header.as_bytes(), PAYLOAD.as_bytes()), request, result);
    }
    let public = base64url::decode(X.as_bytes()).unwrap();
    let hmac = SigningKey::from_private(Algorithm::Hs256, &public).unwrap();
    let symmetric =
        format!(r#"{{"typ":"dpop+jwt","alg":"HS256","jwk":{{"kty":"oct","k":"{X}"}}}}"#);
    add("header", "a proof with a symmetric key", sign_with(&hmac, symmetric.as_bytes(), PAYLOAD.as_bytes()), request, "algorithm");

    let long = "j".repeat(257);
    let longest = "j".repeat(256);
    for (name, from, to, result) in [
        ("a proof with nonce and ath", "\"iat\"", r#""nonce":"n-1","ath":"fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo","iat""#, "accept"),
        ("a fractional iat", "1795000000", "1795000000.25", "accept"),
        ("unknown claims in a proof", "\"iat\"", r#""x":{"y":[]},"iat""#, "accept"),
        ("the longest jti", "e1j3V_bKic8", &*longest, "accept"),
        ("a jti beyond its bound", "e1j3V_bKic8", &*long, "malformed"),
        ("an empty jti", "e1j3V_bKic8", "", "malformed"),
        ("no jti", r#""jti":"e1j3V_bKic8","#, "", "malformed"),
        ("a jti that is a number", r#""e1j3V_bKic8""#, "7", "malformed"),
        ("no htm", r#""htm":"POST","#, "", "malformed"),
        ("no htu", r#""htu":"https://as.example/token","#, "", "malformed"),
        ("no iat", r#","iat":1795000000"#, "", "malformed"),
        ("an iat that is a string", "1795000000", "\"1795000000\"", "malformed"),
        ("a nonce that is a number", "\"iat\"", r#""nonce":1,"iat""#, "malformed"),
        ("an ath that is null", "\"iat\"", r#""ath":null,"iat""#, "malformed"),
        ("a jti twice", "\"htm\"", r#""jti":"other","htm""#, "malformed"),
        ("bytes after the proof's claims", "1795000000}", "1795000000}x", "malformed"),
        ("another method", "POST", "GET", "method"),
        ("the method in another case", "POST", "post", "method"),
        ("another path", "example/token", "example/introspect", "url"),
        ("another host", "as.example", "as.example.evil", "url"),
        ("another scheme", "https:", "http:", "url"),
        ("user information in htu", "as.example", "as.example@evil.example", "url"),
        ("an htu that is no URL", "https://as.example/token", "/token", "url"),
        ("an htu in another spelling", "https://as.example/token", "HTTPS://AS.example:443/./%74oken?x=1#y", "accept"),
    ] {
        let payload = replaced(PAYLOAD, from, to);
        add("claims", name, sign(header().as_bytes(), payload.as_bytes()), request, result);
    }
    let proof = base();
    for (name, proof, result) in [
        ("a proof with a padded signature", format!("{proof}=="), "malformed"),
        ("a proof with a trailing dot", format!("{proof}."), "malformed"),
        ("two proofs", format!("{proof},{proof}"), "malformed"),
        ("a proof with its signature cut", proof[..proof.len() - 6].to_owned(), "signature"),
        ("an empty proof", String::new(), "malformed"),
    ] {
        add("text", name, proof, request, result);
    }
    for (name, request, result) in [
        ("a request with a query", ("POST", "https://as.example/token?a=b", NOW), "accept"),
        ("as old as allowed", ("POST", HTU, 1_795_000_310), "accept"),
        ("a second too old", ("POST", HTU, 1_795_000_311), "time"),
        ("as early as allowed", ("POST", HTU, 1_794_999_990), "accept"),
        ("a second too early", ("POST", HTU, 1_794_999_989), "time"),
        ("a request with another method", ("GET", HTU, NOW), "method"),
        ("a request to another port", ("POST", "https://as.example:8443/token", NOW), "url"),
    ] {
        add("request", name, base(), request, result);
    }
    cases
}
