//! Sealed codes and refresh tokens. Rule: nothing opens that this server did not seal, and what was
//! sealed and is not what it claims to be does not panic.

use std::sync::LazyLock;

use signet_crypto::{
    Secret,
    seal::{Keyring, Purpose, SealingKey},
};
use signet_encoding::base64url;
use signet_oauth::issued::sealed::{AuthorizationCode, RefreshToken};

static KEYRING: LazyLock<Keyring> = LazyLock::new(|| {
    let key = SealingKey {
        id: [7; 4],
        key: Secret::new([7; 32]),
        opens: signet_crypto::seal::Opens::All,
    };
    Keyring::new(key, Vec::new())
});

/// The input as what an unauthenticated caller sends, and as the plaintext of what was sealed.
pub fn run(data: &[u8]) {
    if let Ok(wire) = std::str::from_utf8(data) {
        assert!(AuthorizationCode::open(&KEYRING, wire).is_err());
        assert!(RefreshToken::open(&KEYRING, wire).is_err());
    }
    let sealed = |purpose| {
        let sealed = KEYRING
            .seal(purpose, data)
            .expect("short plaintexts are sealed");
        base64url::encode(&sealed)
    };
    if let Ok(code) = AuthorizationCode::open(&KEYRING, &sealed(Purpose::AuthorizationCode)) {
        let again = code.seal(&KEYRING).expect("sealed");
        assert_eq!(
            AuthorizationCode::open(&KEYRING, &again).ok().as_ref(),
            Some(&code)
        );
    }
    if let Ok(token) = RefreshToken::open(&KEYRING, &sealed(Purpose::RefreshToken)) {
        let again = token.seal(&KEYRING).expect("sealed");
        assert_eq!(
            RefreshToken::open(&KEYRING, &again).ok().as_ref(),
            Some(&token)
        );
    }
    assert!(AuthorizationCode::open(&KEYRING, &sealed(Purpose::RefreshToken)).is_err());
}
