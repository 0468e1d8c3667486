//! What a browser and an authenticator send. Rules: a key is read again as what it is and has one
//! writing, and no registration is accepted whose parts do not say the same.

use signet_webauthn::{
    Assertion, AuthenticatorData, CoseKey, Known, Registration, RelyingParty, authenticate,
    register,
};

/// One input, as each of the messages.
pub fn run(data: &[u8]) {
    if let Ok(parsed) = AuthenticatorData::parse(data)
        && let Some(attested) = parsed.attested
    {
        let again = CoseKey::parse(attested.key_bytes);
        assert_eq!(again.as_ref(), Ok(&attested.key), "a key is read as itself");
        let at = data.len() - attested.key_bytes.len();
        assert!(at >= 37 + 18 + attested.credential_id.len());
    }
    let _ = CoseKey::parse(data);
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Some(party) = RelyingParty::of_issuer("https://id.example", &[]) else {
        return;
    };
    if let Ok(answer) = Registration::parse(text)
        && let Ok(made) = register(&party, &[1; 32], true, &answer)
    {
        assert_eq!(made.id, answer.id);
        assert!(made.user_verified && (made.backup_eligible || !made.backed_up));
        assert!(CoseKey::parse(&made.key).is_ok());
    }
    if let Ok(answer) = Assertion::parse(text) {
        let known = Known {
            id: &answer.id,
            key: &[],
            sign_count: 0,
            backup_eligible: true,
        };
        let used = authenticate(&party, &[1; 32], true, &known, &answer);
        assert!(used.is_err(), "nothing is signed by no key");
    }
}
