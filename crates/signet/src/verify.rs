//! Verification of a JWT by someone who is not the issuer: what `signet token verify` decides.
//!
//! The key set is handed in, as is the time. A token is taken for one thing only: its `typ` says what it is, the caller says
//! what it expects (RFC 8725 section 3.11). Binding (`cnf`) is reported, not proven: there is no request here to prove it.

use signet_crypto::VerifyingKey;
use signet_jose::{
    json::{Object, Value},
    jwk::JwkSet,
    jws::{self, Header, typ_is},
    jwt::Claims,
};

/// Largest token, in bytes: an ML-DSA-87 signature and generous claims fit.
pub const MAX_TOKEN: usize = 64 * 1024;
/// How far clocks may be apart, in seconds.
const LEEWAY: u64 = 60;

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

/// Checks signature, type, issuer, times, audience, and the claims its kind requires. The error is a sentence.
pub fn verify(token: &str, keys: &JwkSet, want: &Expectation<'_>) -> Result<Verified, String> {
    if token.is_empty() {
        return Err("the token is empty".into());
    }
    let compact = jws::split(token.as_bytes(), MAX_TOKEN).map_err(|e| e.to_string())?;
    let header = compact.decode_header().map_err(|e| e.to_string())?;
    let kind = kind_of(&header, want.kind)?;
    let candidates = candidates(&header, keys)?;
    let payload = candidates
        .iter()
        .find_map(|key| compact.verify(&header, key).ok())
        .ok_or("the signature is not valid")?;
    let claims = Claims::parse(&payload).map_err(|e| format!("the claims cannot be read: {e}"))?;
    check(&claims, kind, want)?;
    Ok(Verified { header, payload })
}

/// `typ` decides; an ID token may have none or `JWT` (OpenID Connect Core does not set it).
fn kind_of(header: &Header, expected: Kind) -> Result<Kind, String> {
    let typ = header.typ.as_deref();
    let found = if typ_is(typ, "at+jwt") {
        Kind::Access
    } else if typ_is(typ, "logout+jwt") {
        Kind::Logout
    } else if typ.is_none() || typ_is(typ, "JWT") {
        Kind::Id
    } else {
        return Err("the token's typ is none that is verified here".into());
    };
    if expected == Kind::Any || expected == found {
        return Ok(found);
    }
    Err(match expected {
        Kind::Access => {
            "not an access token: its typ is not at+jwt (--type says what is expected)".into()
        }
        Kind::Id => "not an ID token: its typ says something else".into(),
        Kind::Logout | Kind::Any => "not a logout token: its typ is not logout+jwt".into(),
    })
}

/// The keys that may have signed: by `kid` where there is one, else every key of the algorithm.
fn candidates(header: &Header, keys: &JwkSet) -> Result<Vec<VerifyingKey>, String> {
    let named = |kid: &Option<String>| header.kid.is_none() || *kid == header.kid;
    let fitting: Vec<VerifyingKey> = keys
        .keys
        .iter()
        .filter(|k| named(&k.kid))
        .filter_map(|k| k.verifying_key(header.alg).ok())
        .collect();
    if fitting.is_empty() {
        return Err("no key of the key set fits the token's kid and algorithm".into());
    }
    Ok(fitting)
}

fn check(claims: &Claims<'_>, kind: Kind, want: &Expectation<'_>) -> Result<(), String> {
    if claims.iss.as_deref() != Some(want.issuer) {
        return Err("the token is of another issuer".into());
    }
    // A logout token's `exp` came late to the specification; where it is missing, `iat` bounds its age instead.
    let exp = claims.exp;
    match exp {
        Some(exp) if want.now >= exp.saturating_add(LEEWAY) => {
            return Err("the token has expired".into());
        }
        None if kind != Kind::Logout => return Err("the token has no exp".into()),
        _ => {}
    }
    if claims
        .nbf
        .is_some_and(|nbf| nbf > want.now.saturating_add(LEEWAY))
    {
        return Err("the token is not valid yet (nbf)".into());
    }
    let iat = claims.iat.ok_or("the token has no iat")?;
    if iat > want.now.saturating_add(LEEWAY) {
        return Err("the token was issued in the future (iat)".into());
    }
    if exp.is_none() && want.now > iat.saturating_add(300) {
        return Err("the token is too old (iat)".into());
    }
    if claims.aud.is_empty() {
        return Err("the token has no aud".into());
    }
    if let Some(audience) = want.audience
        && !claims.aud.iter().any(|a| a == audience)
    {
        return Err("the token is for another audience".into());
    }
    let other = &claims.other;
    let text = |name: &str| {
        other
            .get(name)
            .and_then(Value::as_str)
            .is_some_and(|s| !s.is_empty())
    };
    let subject = claims.sub.as_deref().is_some_and(|s| !s.is_empty());
    match kind {
        // RFC 9068 section 2.2.
        Kind::Access => {
            require(subject, "sub")?;
            require(text("client_id"), "client_id")?;
            require(claims.jti.is_some(), "jti")
        }
        // OpenID Connect Core section 2.
        Kind::Id | Kind::Any => require(subject, "sub"),
        // OpenID Connect Back-Channel Logout section 2.6.
        Kind::Logout => {
            require(subject || text("sid"), "sub or sid")?;
            require(claims.jti.is_some(), "jti")?;
            require(is_logout_event(other), "backchannel-logout event")?;
            if other.get("nonce").is_some() {
                return Err("a logout token must not have a nonce".into());
            }
            Ok(())
        }
    }
}

fn is_logout_event(claims: &Object<'_>) -> bool {
    claims
        .get("events")
        .and_then(Value::as_object)
        .and_then(|e| e.get("http://schemas.openid.net/event/backchannel-logout"))
        .and_then(Value::as_object)
        .is_some()
}

fn require(there: bool, claim: &str) -> Result<(), String> {
    if there {
        Ok(())
    } else {
        Err(format!("the token has no {claim}"))
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
