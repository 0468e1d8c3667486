//! Verification of a JWT by someone who is not the issuer: what `signet token verify` decides.
//!
//! The checks are signet-verify's. The key set is handed in, as is the time. A token is taken for
//! one thing only: its `typ` says what it is, the caller says what it expects (RFC 8725 section
//! 3.11). Binding (`cnf`) is reported, not proven: there is no request here to prove it.

use signet_jose::{
    jwk::JwkSet,
    jws::{self, Header, typ_is},
};
use signet_verify::{Issuer, KeySource, Policy, Presented, Verifier, WithoutKid};

/// Largest token, in bytes: an ML-DSA-87 signature and generous claims fit.
pub const MAX_TOKEN: usize = 64 * 1024;

/// What the token is expected to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// RFC 9068 access token.
    Access,
    /// OpenID Connect ID token.
    Id,
    /// OpenID Connect Back-Channel logout token.
    Logout,
    /// Any of them.
    Any,
}

/// What is asked of the token.
#[derive(Debug)]
pub struct Expectation<'a> {
    pub issuer: &'a str,
    pub audience: Option<&'a str>,
    pub kind: Kind,
    /// Unix seconds
    pub now: u64,
}

/// A token that verified: its payload's text.
#[derive(Debug)]
pub struct Verified {
    pub header: Header,
    pub payload: Vec<u8>,
}

/// Checks signature, type, issuer, times, audience, and the claims its kind requires. The error is
/// a sentence.
pub fn verify(token: &str, keys: &JwkSet, want: &Expectation<'_>) -> Result<Verified, String> {
    if token.is_empty() {
        return Err("the token is empty".into());
    }
    let compact = jws::split(token.as_bytes(), MAX_TOKEN).map_err(|e| e.to_string())?;
    let header = compact.decode_header().map_err(|e| e.to_string())?;
    let policy = policy(&header, want)
        .max_bytes(MAX_TOKEN)
        .without_kid(WithoutKid::TryEach);
    let verifier = Verifier::builder()
        .issuer(Issuer::new(want.issuer, KeySource::Memory(keys.clone())))
        .policy(policy)
        .cache(0, 0)
        .build()
        .map_err(|e| e.to_string())?;
    let presented = Presented::token(token).binding_is_checked_elsewhere();
    let verified = verifier
        .verify(&presented, want.now)
        .map_err(|refusal| refusal.to_string())?;
    Ok(Verified {
        header,
        payload: verified.claims().json().as_bytes().to_vec(),
    })
}

/// Where anything will do, the token's `typ` decides what it has to be good as.
fn policy(header: &Header, want: &Expectation<'_>) -> Policy {
    let typ = header.typ.as_deref();
    let kind = match want.kind {
        Kind::Any if typ_is(typ, "at+jwt") => Kind::Access,
        Kind::Any if typ_is(typ, "logout+jwt") => Kind::Logout,
        Kind::Any => Kind::Id,
        named @ (Kind::Access | Kind::Id | Kind::Logout) => named,
    };
    let audience = want.audience.unwrap_or("");
    let policy = match kind {
        Kind::Access => Policy::access_token(audience),
        Kind::Logout => Policy::logout_token(audience).once(false),
        Kind::Id | Kind::Any => Policy::id_token(audience).any_nonce(),
    };
    match want.audience {
        Some(_) => policy,
        None => policy.any_audience(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};
    use signet_crypto::{Algorithm, SigningKey};
    use signet_jose::{
        jwk::Jwk,
        jwt::{JwtSigner, Typ},
    };

    const NOW: u64 = 1_800_000_000;
    const ISSUER: &str = "https://id.example";

    struct Issuer {
        signer: JwtSigner,
        keys: JwkSet,
    }

    fn issuer() -> Issuer {
        let key = SigningKey::generate(Algorithm::Es256).expect("a key");
        let public = key.public().expect("not symmetric").clone();
        let jwk = Jwk::for_signatures(public, Algorithm::Es256, "k");
        Issuer {
            signer: JwtSigner::new(key, "k"),
            keys: JwkSet { keys: vec![jwk] },
        }
    }

    fn access() -> Json {
        json!({ "iss": ISSUER, "sub": "alice", "aud": "api", "client_id": "web", "jti": "1",
                "iat": NOW - 10, "exp": NOW + 300 })
    }

    fn logout() -> Json {
        json!({ "iss": ISSUER, "sub": "alice", "aud": "web", "jti": "1", "iat": NOW, "exp": NOW + 60,
                "events": { "http://schemas.openid.net/event/backchannel-logout": {} } })
    }

    fn verified(issuer: &Issuer, typ: Typ, claims: &Json, kind: Kind) -> bool {
        let mut token = Vec::new();
        issuer
            .signer
            .sign_into(typ, claims.to_string().as_bytes(), &mut token)
            .expect("signs");
        let token = String::from_utf8(token).expect("ASCII");
        let want = Expectation {
            issuer: ISSUER,
            audience: None,
            kind,
            now: NOW,
        };
        verify(&token, &issuer.keys, &want).is_ok()
    }

    #[test]
    fn a_token_is_taken_for_what_its_typ_says_only() {
        let issuer = issuer();
        for (typ, claims, kind) in [
            (Typ::AccessToken, access(), Kind::Access),
            (Typ::Jwt, access(), Kind::Id),
            (Typ::LogoutToken, logout(), Kind::Logout),
        ] {
            for asked in [Kind::Access, Kind::Id, Kind::Logout] {
                assert_eq!(
                    verified(&issuer, typ, &claims, asked),
                    asked == kind,
                    "{typ:?} {asked:?}"
                );
            }
            assert!(verified(&issuer, typ, &claims, Kind::Any));
        }
        assert!(!verified(&issuer, Typ::DpopProof, &access(), Kind::Any));
    }

    #[test]
    fn a_missing_or_wrong_claim_is_refused() {
        let issuer = issuer();
        for (claim, value) in [
            ("iss", json!("https://other.example")),
            ("iss", Json::Null),
            ("sub", Json::Null),
            ("aud", Json::Null),
            ("client_id", Json::Null),
            ("jti", Json::Null),
            ("iat", Json::Null),
            ("iat", json!(NOW + 120)),
            ("exp", Json::Null),
            ("exp", json!(NOW - 61)),
            ("nbf", json!(NOW + 120)),
        ] {
            let mut claims = access();
            let members = claims.as_object_mut().expect("an object");
            match &value {
                Json::Null => members.remove(claim),
                other => members.insert(claim.to_owned(), other.clone()),
            };
            assert!(
                !verified(&issuer, Typ::AccessToken, &claims, Kind::Access),
                "{claim} {value}"
            );
        }
        let mut claims = logout();
        claims["nonce"] = "n".into();
        assert!(!verified(&issuer, Typ::LogoutToken, &claims, Kind::Logout));
    }

    #[test]
    fn another_issuers_key_does_not_verify() {
        let (one, other) = (issuer(), issuer());
        let mixed = Issuer {
            signer: one.signer,
            keys: other.keys,
        };
        assert!(!verified(&mixed, Typ::AccessToken, &access(), Kind::Access));
    }
}
