//! Compact tokens. Rules: what parses re-encodes to the same bytes; what verifies is what the key
//! signed, byte for byte.

use std::sync::LazyLock;

use signet_compact::{Algorithm, Confirmation, KeySet, Policy, SigningKey, Token};

struct Keys {
    signing: Vec<SigningKey>,
    verifying: KeySet,
}

/// The seeds of ML-DSA, whose signatures are not deterministic: no other of its tokens may verify.
const ML_DSA: [&[u8]; 3] = [
    include_bytes!("../../corpus/compact_token/ml-dsa-44-0"),
    include_bytes!("../../corpus/compact_token/ml-dsa-44-1"),
    include_bytes!("../../corpus/compact_token/ml-dsa-44-named"),
];

static KEYS: LazyLock<Keys> = LazyLock::new(|| {
    let files: [&[u8]; 3] = [
        include_bytes!("../../corpus/compact_key/hmac-sha256"),
        include_bytes!("../../corpus/compact_key/ed25519"),
        include_bytes!("../../corpus/compact_key/ml-dsa-44"),
    ];
    let signing: Vec<SigningKey> = files
        .iter()
        .map(|file| SigningKey::from_bytes(file).expect("a key"))
        .collect();
    let verifying = signing
        .iter()
        .map(|key| key.verifying_key().expect("its own"));
    let verifying = KeySet::new(verifying).expect("different keys");
    Keys { signing, verifying }
});

/// One input, alone and in a batch.
pub fn run(data: &[u8]) {
    let policy = Policy {
        confirmation: Some(Confirmation::Jkt(&[7; 32])),
        ..Policy::any_audience(2_000_000)
    };
    let alone = KEYS.verifying.verify(data, &policy);
    let batch = KEYS.verifying.verify_batch(&[data, data], &policy);
    assert!(
        batch
            .iter()
            .all(|answer| answer.as_ref().map(drop) == alone.as_ref().map(drop))
    );
    let Ok(token) = Token::parse(data) else {
        assert!(alone.is_err());
        return;
    };
    let mut again = Vec::new();
    token.encode(&mut again);
    assert_eq!(again, data, "one token, one encoding");
    let payload = token.unverified_payload();
    assert_eq!(payload.scopes.iter().count(), payload.scopes.len());
    assert_eq!(payload.claims.iter().count(), payload.claims.len());
    if alone.is_err() {
        return;
    }
    if token.algorithm() == Algorithm::MlDsa44 {
        assert!(ML_DSA.contains(&data), "nobody signed this");
        return;
    }
    let key = &KEYS.signing[token.algorithm().number() as usize - 1];
    let file = key.to_bytes().expect("written");
    let key = SigningKey::from_bytes(file.expose()).expect("read");
    let key = key
        .with_key_id_type(token.key_id().0)
        .expect("as the token has it");
    let mut signed = Vec::new();
    key.sign_into(token.version(), payload, &mut signed)
        .expect("what verifies can be signed");
    assert_eq!(signed, data, "what verifies is what the key signs");
}
