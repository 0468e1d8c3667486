//! JWKs and key sets. Rules: an accepted key is written and read as itself, keeps its thumbprint,
//! and never carries a private part. A set that the strict reader accepts has the same keys for the
//! lenient one, and what the lenient one makes of a document is a set for the strict one.

use signet_crypto::Algorithm;
use signet_encoding::json::Writer;
use signet_jose::jwk::{Jwk, JwkSet};

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
        let published = JwkSet::parse_published(data).expect("a strict set is a published one");
        let published = published.set.keys;
        assert!(published.iter().all(|key| set.keys.contains(key)));
        // An entry may not be as long as a set.
        if data.len() <= 64 * 1024 {
            assert!(set.keys.iter().all(|key| published.contains(key)));
        }
    }
    if let Ok(published) = JwkSet::parse_published(data) {
        let mut written = Vec::new();
        published.set.write(&mut written);
        assert_eq!(JwkSet::parse(&written), Ok(published.set));
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
