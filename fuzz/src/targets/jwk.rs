//! JWKs and key sets. Rules: an accepted key is written and read as itself, keeps its thumbprint,
//! and never carries a private part.

use signet_crypto::Algorithm;
use signet_jose::{
    json::Writer,
    jwk::{Jwk, JwkSet},
};

/// The input as one key and as a set.
pub fn run(data: &[u8]) {
    if let Ok(jwk) = Jwk::parse(data) {
        check(&jwk);
    }
    if let Ok(set) = JwkSet::parse(data) {
        set.keys.iter().for_each(check);
        let mut written = Vec::new();
        set.write(&mut written);
        assert_eq!(JwkSet::parse(&written).as_ref(), Ok(&set));
        for algorithm in Algorithm::ALL {
            if let Some(jwk) = set.select(None, *algorithm) {
                assert!(jwk.verifies(*algorithm));
            }
        }
    }
}

fn check(jwk: &Jwk) {
    let mut written = Vec::new();
    jwk.write(&mut Writer::new(&mut written));
    let again = Jwk::parse(&written).expect("what was written is a JWK");
    assert_eq!(&again, jwk);
    assert_eq!(again.thumbprint(), jwk.thumbprint());
    for algorithm in Algorithm::ALL {
        if let Ok(key) = jwk.verifying_key(*algorithm) {
            assert!(!algorithm.is_symmetric());
            assert_eq!(key.algorithm(), *algorithm);
            assert!(key.verify(b"message", &[0; 64]).is_err());
        }
    }
}
