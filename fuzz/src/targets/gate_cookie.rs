//! `Cookie` fields that a gate with a login reads. Rules: a name and a value hold no separator, a
//! single cookie is one of all, and nothing is a session that the gate's key did not seal for this
//! application.

use http::{HeaderMap, HeaderValue, header};
use signet_crypto::{
    Secret,
    seal::{Keyring, Purpose, SealingKey},
};
use signet_encoding::base64url;
use signet_gate_login::{Application, Session, cookie};

/// The input as fields, one a line; and sealed, as what a session may hold.
pub fn run(data: &[u8]) {
    let mut headers = HeaderMap::new();
    for line in data.split(|byte| *byte == b'\n') {
        if let Ok(value) = HeaderValue::from_bytes(line) {
            headers.append(header::COOKIE, value);
        }
    }
    let named: Vec<(&str, &str)> = cookie::all(&headers).collect();
    for (name, value) in &named {
        assert!(!name.contains(['=', ';']) && !value.contains(';'));
    }
    let key = SealingKey {
        id: [7; 4],
        key: Secret::new([9; 32]),
        opens: signet_crypto::seal::Opens::All,
    };
    let keys = Keyring::new(key, Vec::new());
    let here = Application::new("https://a.example").expect("an origin");
    if let Some(text) = cookie::single(&headers, cookie::SESSION) {
        let of_name = named.iter().filter(|(name, _)| *name == cookie::SESSION);
        assert_eq!(of_name.map(|(_, value)| *value).collect::<Vec<_>>(), [text]);
        assert!(Session::open(&keys, &here, text).is_none());
    }
    // What is sealed is read strictly, too: it opens only as the claims that it is.
    let sealed = keys.seal_with(Purpose::SessionCookie, here.origin().as_bytes(), data);
    let text = base64url::encode(&sealed.expect("sealed"));
    if let Some(session) = Session::open(&keys, &here, &text) {
        assert_eq!(session.claims().json().as_bytes(), &data[8..]);
        assert_eq!(session.seen().to_be_bytes(), data[..8]);
        let there = Application::new("https://b.example").expect("an origin");
        assert!(Session::open(&keys, &there, &text).is_none());
    }
}
