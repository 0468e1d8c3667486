//! What a token must be. Claims are compared answer by answer; signatures of a sample after the
//! hold, for a check costs more than the server's work; identifiers of all, after the hold, for one
//! that was given twice.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use serde::Deserialize;
use signet_crypto::Algorithm;
use signet_encoding::base64url;
use signet_jose::{jwk::JwkSet, jws};

use crate::client::Failure;

/// One of so many tokens is kept, and its signature checked.
const SAMPLED: usize = 64;
/// A sample of one actor.
const KEPT: usize = 40;
/// Longest token that is read.
const MAX: usize = 1 << 14;

/// What the token endpoint answers.
#[derive(Deserialize)]
pub(super) struct TokenAnswer<'a> {
    pub(super) access_token: &'a str,
    pub(super) token_type: &'a str,
    pub(super) expires_in: u64,
    pub(super) refresh_token: Option<&'a str>,
    pub(super) issued_token_type: Option<&'a str>,
}

/// The claims that are looked at.
#[derive(Deserialize)]
pub(super) struct Claims {
    pub(super) iss: String,
    pub(super) sub: String,
    pub(super) client_id: String,
    pub(super) jti: String,
    pub(super) iat: u64,
    pub(super) exp: u64,
    pub(super) act: Option<Act>,
}

#[derive(Deserialize)]
pub(super) struct Act {
    pub(super) sub: String,
}

impl Claims {
    /// Of a JWT, without looking at its signature.
    pub(super) fn of(token: &str) -> Result<Claims, String> {
        let compact =
            jws::split(token.as_bytes(), MAX).map_err(|error| format!("{error:?}: {token}"))?;
        let payload =
            base64url::decode(compact.payload).map_err(|error| format!("{error:?}: {token}"))?;
        serde_json::from_slice(&payload).map_err(|error| format!("{error}: {token}"))
    }
}

/// What is expected of a token.
#[derive(Clone)]
pub(super) struct Expected {
    pub(super) issuer: String,
    pub(super) client_id: String,
    pub(super) sub: String,
    /// The actor (RFC 8693 section 4.1).
    pub(super) actor: Option<String>,
    /// It does not outlive this.
    pub(super) until: u64,
}

/// What all actors of a scenario have seen.
pub(super) struct Seen {
    keys: JwkSet,
    samples: Mutex<Vec<String>>,
    ids: Mutex<Vec<u64>>,
}

impl Seen {
    pub(super) fn new(keys: JwkSet) -> Arc<Seen> {
        Arc::new(Seen {
            keys,
            samples: Mutex::default(),
            ids: Mutex::default(),
        })
    }

    /// Checks the samples and that every identifier was given once; then forgets them.
    pub(super) fn settle(&self) -> Result<(), Failure> {
        let samples =
            std::mem::take(&mut *self.samples.lock().unwrap_or_else(PoisonError::into_inner));
        let mut ids = std::mem::take(&mut *self.ids.lock().unwrap_or_else(PoisonError::into_inner));
        for token in &samples {
            self.verify(token)?;
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        if ids.len() < count {
            return Err(format!("{} values were given twice", count - ids.len()).into());
        }
        Ok(())
    }

    fn verify(&self, token: &str) -> Result<(), Failure> {
        let wrong = |why: &str| -> Failure { format!("{why}: {token}").into() };
        let compact = jws::split(token.as_bytes(), MAX).map_err(|_| wrong("no JWS"))?;
        let header = base64url::decode(compact.header).map_err(|_| wrong("no header"))?;
        let header: serde_json::Value = serde_json::from_slice(&header)?;
        let name = header["alg"].as_str().unwrap_or_default();
        let algorithm = Algorithm::from_name(name).ok_or_else(|| wrong("an unknown alg"))?;
        let key = self.keys.select(header["kid"].as_str(), algorithm);
        let key = key.ok_or_else(|| wrong("a key that is not published"))?;
        let key = key
            .verifying_key(algorithm)
            .map_err(|_| wrong("no verifying key"))?;
        let signature = base64url::decode(compact.signature).map_err(|_| wrong("no signature"))?;
        let verified = key.verify(compact.signing_input, &signature);
        verified.map_err(|_| wrong("the signature does not verify"))?;
        Ok(())
    }
}

/// One actor's part of [`Seen`], handed over at its end.
pub(super) struct Witness {
    seen: Arc<Seen>,
    count: usize,
    samples: Vec<String>,
    ids: Vec<u64>,
}

impl Witness {
    pub(super) fn new(seen: &Arc<Seen>) -> Witness {
        Witness {
            seen: seen.clone(),
            count: 0,
            samples: Vec::new(),
            ids: Vec::new(),
        }
    }

    /// Something that is given once: an identifier, a code.
    pub(super) fn once(&mut self, value: &str) {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        self.ids.push(hasher.finish());
    }

    /// Whether a body is the right answer of the token endpoint.
    pub(super) fn token<'a>(
        &mut self,
        body: &'a [u8],
        expected: &Expected,
    ) -> Result<TokenAnswer<'a>, String> {
        let shown = || String::from_utf8_lossy(body).into_owned();
        let answer: TokenAnswer<'a> =
            serde_json::from_slice(body).map_err(|error| format!("{error}: {}", shown()))?;
        let claims = Claims::of(answer.access_token)?;
        self.once(&claims.jti);
        let actor = claims.act.as_ref().map(|act| &act.sub);
        let right = answer.token_type == "Bearer"
            && claims.iss == expected.issuer
            && claims.client_id == expected.client_id
            && claims.sub == expected.sub
            && actor == expected.actor.as_ref()
            && claims.exp <= expected.until
            // Rounded by the second that may have gone by within the answer.
            && claims.exp.saturating_sub(claims.iat).abs_diff(answer.expires_in) <= 1;
        if !right {
            return Err(format!("another token than the right one: {}", shown()));
        }
        self.count += 1;
        if self.count % SAMPLED == 1 && self.samples.len() < KEPT {
            self.samples.push(answer.access_token.to_owned());
        }
        Ok(answer)
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        self.seen
            .samples
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut self.samples);
        self.seen
            .ids
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut self.ids);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_crypto::SigningKey;
    use signet_jose::{
        jwk::Jwk,
        jwt::{JwtSigner, Typ},
    };

    const ISSUER: &str = "https://localhost:1";

    fn key() -> (JwtSigner, JwkSet) {
        let key = SigningKey::generate(Algorithm::Es256).expect("a key");
        let public = key.public().expect("a public half").clone();
        let set = JwkSet {
            keys: vec![Jwk::for_signatures(public, Algorithm::Es256, "k")],
        };
        (JwtSigner::new(key, "k"), set)
    }

    fn answer(signer: &JwtSigner, sub: &str, jti: &str) -> String {
        let token = signer.sign(Typ::AccessToken, |w| {
            w.member("iss").string(ISSUER);
            w.member("sub").string(sub);
            w.member("client_id").string("c");
            w.member("jti").string(jti);
            w.member("iat").number(1000);
            w.member("exp").number(1300);
        });
        let token = token.expect("signed");
        format!(r#"{{"access_token":"{token}","token_type":"Bearer","expires_in":300}}"#)
    }

    fn expected() -> Expected {
        Expected {
            issuer: ISSUER.into(),
            client_id: "c".into(),
            sub: "c".into(),
            actor: None,
            until: 1300,
        }
    }

    #[test]
    fn the_oracle_refuses_a_token_of_somebody_else_and_one_that_lives_too_long() {
        let (signer, keys) = key();
        let seen = Seen::new(keys);
        let mut witness = Witness::new(&seen);
        let right = answer(&signer, "c", "1");
        assert!(witness.token(right.as_bytes(), &expected()).is_ok());
        let other = answer(&signer, "mallory", "2");
        assert!(witness.token(other.as_bytes(), &expected()).is_err());
        let earlier = Expected {
            until: 1299,
            ..expected()
        };
        assert!(witness.token(right.as_bytes(), &earlier).is_err());
        assert!(
            witness
                .token(br#"{"error":"server_error"}"#, &expected())
                .is_err()
        );
    }

    #[test]
    fn the_oracle_finds_a_forged_signature_and_an_identifier_that_was_given_twice() {
        let (signer, keys) = key();
        let (stranger, _) = key();
        let seen = Seen::new(keys);
        let mut witness = Witness::new(&seen);
        for jti in ["1", "2"] {
            let right = answer(&signer, "c", jti);
            assert!(witness.token(right.as_bytes(), &expected()).is_ok());
        }
        drop(witness);
        assert!(seen.settle().is_ok());

        let mut witness = Witness::new(&seen);
        let forged = answer(&stranger, "c", "3");
        assert!(
            witness.token(forged.as_bytes(), &expected()).is_ok(),
            "its claims are right"
        );
        drop(witness);
        assert!(seen.settle().is_err(), "its signature is not");

        let mut witness = Witness::new(&seen);
        for _ in 0..2 {
            let again = answer(&signer, "c", "4");
            assert!(witness.token(again.as_bytes(), &expected()).is_ok());
        }
        drop(witness);
        let failure = seen.settle().expect_err("given twice").to_string();
        assert!(failure.contains("1 values were given twice"), "{failure}");
    }
}
