//! DPoP proofs (RFC 9449). Rule: a proof that verifies under the fixed Ed25519 key is, byte for
//! byte, what that key signs.

use std::sync::LazyLock;

use signet_crypto::{Algorithm, SigningKey};
use signet_encoding::{base64url, json::Writer};
use signet_jose::{dpop, jwk::Jwk, jws};

use super::compact_jws::sign_with;

/// PKCS#8 (RFC 8410 section 7) around a seed of 32 sevens.
const PKCS8: [u8; 48] = {
    let mut der = [7; 48];
    let prefix = [
        0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04,
        0x20,
    ];
    let mut i = 0;
    while i < prefix.len() {
        der[i] = prefix[i];
        i += 1;
    }
    der
};

struct Prover {
    key: SigningKey,
    header: Vec<u8>,
    jkt: String,
}

static PROVER: LazyLock<Prover> = LazyLock::new(|| {
    let key = SigningKey::from_private(Algorithm::EdDsa, &PKCS8).expect("a fixed key");
    let jwk = Jwk::new(key.public().expect("Ed25519 has a public half").clone());
    let mut text = Vec::new();
    jwk.write(&mut Writer::new(&mut text));
    let text = String::from_utf8(text).expect("JSON is UTF-8");
    Prover {
        key,
        header: format!(r#"{{"typ":"dpop+jwt","alg":"EdDSA","jwk":{text}}}"#).into_bytes(),
        jkt: jwk.thumbprint_text(),
    }
});

const NOW: u64 = 1_562_262_618;
const HTU: &str = "https://server.example.com/token";

/// The input as a proof, as the header of a signed one, and as the claims of one.
pub fn run(data: &[u8]) {
    if let Ok(proof) = std::str::from_utf8(data) {
        check(proof);
    }
    for token in [
        sign_with(&PROVER.key, data, br#"{"jti":"a","htm":"POST","htu":"https://server.example.com/token","iat":1562262616}"#),
        sign_with(&PROVER.key, &PROVER.header, data),
    ] {
        check(std::str::from_utf8(&token).expect("base64url"));
    }
}

fn check(proof: &str) {
    let Ok(verified) = dpop::verify(proof, "POST", HTU, NOW, 60, 10) else {
        return;
    };
    assert!(!verified.alg.is_symmetric());
    assert!(!verified.jti.is_empty() && verified.jti.len() <= dpop::MAX_JTI_BYTES);
    assert!(verified.iat.abs_diff(NOW) <= 70);
    // The spelling of an unused `ath` is the client's business; no token has two.
    assert!(!(verified.covers("a") && verified.covers("b")));
    if verified.jkt == PROVER.jkt {
        let compact = jws::split(proof.as_bytes(), dpop::MAX_PROOF_BYTES).expect("verified");
        let header = base64url::decode(compact.header).expect("verified");
        let payload = compact.unverified_payload().expect("verified");
        let again = sign_with(&PROVER.key, &header, &payload);
        assert_eq!(again, proof.as_bytes(), "a second spelling of a proof");
    }
}
