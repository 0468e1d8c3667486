//! The published vectors: every algorithm, what is accepted and what is refused, and why.

use std::path::Path;

use crate::common::read_key;
use serde_json::Value;
use signet_compact::{Algorithm, Policy, SigningKey};
use signet_encoding::base64url;

#[test]
fn every_vector_is_answered_as_it_says() {
    for algorithm in Algorithm::ALL {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../vectors/compact")
            .join(format!("{}.json", algorithm.name()));
        let file: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let bytes = |value: &Value| base64url::decode(value.as_str().unwrap().as_bytes()).unwrap();
        let key = bytes(&file["key"]);
        let key = match algorithm {
            Algorithm::HmacSha256 => SigningKey::from_bytes(&key).unwrap().verifying_key(),
            _ => read_key(&key),
        }
        .unwrap();
        let policy = Policy::for_audience(
            file["audience"].as_str().unwrap(),
            file["now"].as_u64().unwrap(),
        );
        let (mut accepted, mut refused) = (0, 0);
        for vector in file["vectors"].as_array().unwrap() {
            let token = bytes(&vector["token"]);
            let result = match key.verify(&token, &policy) {
                Ok(_) => {
                    accepted += 1;
                    "accept".to_owned()
                }
                Err(refusal) => {
                    refused += 1;
                    format!("{refusal:?}")
                }
            };
            assert_eq!(
                result,
                vector["result"].as_str().unwrap(),
                "{}: {}",
                algorithm.name(),
                vector["about"]
            );
        }
        assert!(accepted >= 3 && refused >= 10, "{}", algorithm.name());
    }
}
