//! Form bodies and query strings. Rule: what is accepted reads the same after it was written, and
//! stays within the bounds.

use signet_oauth::params::{MAX_COUNT, MAX_NAME_BYTES, MAX_VALUE_BYTES, Params};

/// The input as a body.
pub fn run(data: &[u8]) {
    let Ok(params) = Params::parse(data) else {
        return;
    };
    let again = Params::parse(params.to_form().as_bytes()).expect("what was written is a form");
    assert!(again.iter().eq(params.iter()));
    assert!(params.iter().count() <= MAX_COUNT);
    for (name, value) in params.iter() {
        assert!(!name.is_empty() && name.len() <= MAX_NAME_BYTES);
        assert!(value.len() <= MAX_VALUE_BYTES);
        assert!(params.all(name).contains(&value));
    }
}
