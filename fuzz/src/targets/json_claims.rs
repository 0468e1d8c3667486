//! JSON and claims. Rules: what is accepted reads the same after it was written; both readers agree
//! on what is JSON.

use signet_encoding::json::{Limits, parse, parse_object};
use signet_jose::jwt::Claims;

/// The input as any value, as an object and as claims.
pub fn run(data: &[u8]) {
    let limits = Limits::default();
    let value = parse(data, &limits);
    if let Ok(value) = &value {
        let mut written = Vec::new();
        value.write(&mut written);
        let again = parse(&written, &limits).expect("what was written is JSON within the limits");
        assert_eq!(&again, value);
    }
    let object = parse_object(data, &limits);
    assert_eq!(
        object.is_ok(),
        value
            .as_ref()
            .is_ok_and(|value| value.as_object().is_some())
    );
    if let Ok(claims) = Claims::parse(data) {
        let object = object.expect("claims are an object");
        for aud in &claims.aud {
            assert!(claims.has_audience(aud));
        }
        // The streaming reader and the tree see the same members.
        assert_eq!(
            object.string("iss").expect("a string"),
            claims.iss.as_deref()
        );
        assert_eq!(
            object.string("sub").expect("a string"),
            claims.sub.as_deref()
        );
        assert_eq!(
            object.string("jti").expect("a string"),
            claims.jti.as_deref()
        );
        assert_eq!(
            object
                .get("aud")
                .is_some_and(|aud| aud.as_array().is_some()),
            claims.aud_is_array
        );
        let registered = ["iss", "sub", "aud", "exp", "nbf", "iat", "jti"]
            .iter()
            .filter(|name| object.get(name).is_some())
            .count();
        assert_eq!(object.len(), registered + claims.other.len());
    }
}
