//! A session: what the issuer said about a person, sealed into a cookie.
//!
//! Sealed are the second in which the session was last seen and the claims, as JSON; bound to the
//! application's origin, so that the cookie of one opens for no other.

use crate::Application;
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::{
    base64url,
    json::{Object, Writer},
};
use signet_verify::{Claims, cache::Kept};
use std::sync::Arc;

/// Longest value of the session's cookie, in bytes: browsers keep 4,096 with name and attributes.
pub(crate) const MAX_SESSION_BYTES: usize = 3_800;

/// A person's session with one application, as its cookie said.
#[derive(Debug)]
pub struct Session {
    text: String,
    claims: Claims,
    seen: u64,
}

impl Session {
    /// Who it is. `exp` is the session's end, `iat` when the issuer said so.
    pub fn claims(&self) -> &Claims {
        &self.claims
    }

    /// When it was last seen, Unix seconds, within a quarter of the idle time.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Opens a cookie's value. Nothing else than what this gate sealed for this application is a
    /// session.
    pub fn open(keys: &Keyring, application: &Application, text: &str) -> Option<Session> {
        if text.len() > MAX_SESSION_BYTES {
            return None;
        }
        let sealed = base64url::decode(text.as_bytes()).ok()?;
        let origin = application.origin().as_bytes();
        let mut opened = keys
            .open_with(Purpose::SessionCookie, origin, &sealed)
            .ok()?;
        let seen = u64::from_be_bytes(*opened.first_chunk()?);
        opened.drain(..8);
        Some(Session {
            text: text.to_owned(),
            claims: Claims::vouched(opened).ok()?,
            seen,
        })
    }

    /// The cookie's value for the same session, seen now.
    pub(crate) fn seen_at(
        &self,
        keys: &Keyring,
        application: &Application,
        now: u64,
    ) -> Option<String> {
        seal(keys, application, self.claims.json().as_bytes(), now)
    }
}

/// Shared by the cache and whoever answers.
pub(crate) struct KeptSession(pub(crate) Arc<Session>);

impl Kept for KeptSession {
    fn token(&self) -> &str {
        &self.0.text
    }

    fn weight(&self) -> usize {
        size_of::<Session>() + self.0.text.len() + 2 * self.0.claims.json().len()
    }

    fn is_dead(&self, now: u64) -> bool {
        self.0.claims.exp().is_none_or(|exp| now >= exp)
    }
}

fn seal(keys: &Keyring, application: &Application, claims: &[u8], now: u64) -> Option<String> {
    let mut plain = Vec::with_capacity(8 + claims.len());
    plain.extend_from_slice(&now.to_be_bytes());
    plain.extend_from_slice(claims);
    let origin = application.origin().as_bytes();
    let sealed = keys
        .seal_with(Purpose::SessionCookie, origin, &plain)
        .ok()?;
    Some(base64url::encode(&sealed))
}

/// What a session is made of.
pub(crate) struct Facts<'a> {
    pub(crate) client_id: &'a str,
    /// of the ID token
    pub(crate) id_token: &'a Object<'a>,
    /// of the userinfo endpoint, where it was asked
    pub(crate) userinfo: Option<&'a Object<'a>>,
    /// what was granted
    pub(crate) scope: &'a str,
    /// of the access token, where that can be read
    pub(crate) access: Option<&'a Claims>,
    /// further claims that header fields or rules read
    pub(crate) claims: &'a [String],
    /// Unix seconds
    pub(crate) end: u64,
}

/// Claims that every session has, where the issuer says them.
const OF_ID_TOKEN: [&str; 5] = ["iss", "sub", "sid", "acr", "auth_time"];
/// Claims that are written here, whatever a token says under their names.
const OURS: [&str; 6] = ["iat", "jti", "client_id", "scope", "grant_id", "exp"];

/// Whether a session has this claim in any case.
pub(crate) fn is_built_in(claim: &str) -> bool {
    OF_ID_TOKEN.contains(&claim) || OURS.contains(&claim) || claim == "azp"
}

/// A session does not fit into a cookie.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge {
    /// bytes of the cookie
    pub(crate) bytes: usize,
    /// the claim that takes most of them
    pub(crate) claim: String,
}

/// The claims of a new session, and the value of its cookie.
///
/// # Errors
/// [`TooLarge`] where the value is longer than [`MAX_SESSION_BYTES`].
pub(crate) fn make(
    keys: &Keyring,
    application: &Application,
    facts: &Facts<'_>,
    now: u64,
) -> Result<(Claims, String), TooLarge> {
    let mut json = Vec::with_capacity(512);
    let mut largest = (0, "sub");
    Writer::new(&mut json).object(|w| {
        for name in OF_ID_TOKEN {
            if let Some(value) = facts.id_token.get(name) {
                w.member(name).value(value);
            }
        }
        // The access token came in the same answer, and its `jti` may tell the millisecond: what is
        // revoked at a moment then ends the sessions of before, and none that is begun after it.
        let issued = facts
            .access
            .and_then(|access| access.iat().zip(access.jti()));
        match issued {
            Some((iat, jti)) => {
                w.member("iat").number(iat);
                w.member("jti").string(jti);
            }
            None => {
                if let Some(iat) = facts.id_token.get("iat") {
                    w.member("iat").value(iat);
                }
                // A name of its own: a logout ends the session by it.
                let jti = signet_crypto::random::bytes::<16>();
                w.member("jti").base64url(&jti);
            }
        }
        w.member("client_id").string(facts.client_id);
        w.member("scope").string(facts.scope);
        if let Some(grant_id) = facts.access.and_then(Claims::grant_id) {
            w.member("grant_id").string(grant_id);
        }
        w.member("exp").number(facts.end);
        for name in facts.claims.iter().filter(|name| !is_built_in(name)) {
            let of_userinfo = || facts.userinfo.and_then(|object| object.get(name));
            let Some(value) = facts.id_token.get(name).or_else(of_userinfo) else {
                continue;
            };
            let mut text = Vec::new();
            Writer::new(&mut text).value(value);
            if text.len() > largest.0 {
                largest = (text.len(), name);
            }
            w.member(name).raw(&text);
        }
    });
    let too_large = |bytes| TooLarge {
        bytes,
        claim: largest.1.to_owned(),
    };
    let text = seal(keys, application, &json, now).ok_or_else(|| too_large(json.len()))?;
    if text.len() > MAX_SESSION_BYTES {
        return Err(too_large(text.len()));
    }
    // Invariant: what a strict reader gave is written so that it reads it again, within the
    // default limits, for the cookie is far shorter than those.
    let claims = Claims::vouched(json).map_err(|_| too_large(text.len()))?;
    Ok((claims, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use signet_crypto::seal::SealingKey;
    use signet_encoding::json::{Limits, parse_object};

    fn keys() -> Keyring {
        Keyring::new(SealingKey::generate(), Vec::new())
    }

    fn application(host: &str) -> Application {
        Application::new(&format!("https://{host}")).unwrap()
    }

    fn made(keys: &Keyring, groups: usize) -> Result<(Claims, String), TooLarge> {
        let names: Vec<String> = (0..groups)
            .map(|n| format!("\"group-number-{n:04}\""))
            .collect();
        let id_token = format!(
            r#"{{"iss":"https://id","sub":"alice","sid":"s","iat":90,"exp":1,"scope":"forged","grant_id":"forged","email":"a@b","groups":[{}]}}"#,
            names.join(",")
        );
        let id_token = parse_object(id_token.as_bytes(), &Limits::default()).unwrap();
        let claims = ["groups".to_owned(), "email".to_owned(), "phone".to_owned()];
        let facts = Facts {
            client_id: "web",
            id_token: &id_token,
            userinfo: None,
            scope: "openid groups",
            access: None,
            claims: &claims,
            end: 1000,
        };
        make(keys, &application("a"), &facts, 100)
    }

    #[test]
    fn a_session_opens_for_its_own_application_and_says_what_was_sealed() {
        let keys = keys();
        let (claims, text) = made(&keys, 2).unwrap();
        assert_eq!(claims.scopes().collect::<Vec<_>>(), ["openid", "groups"]);
        assert_eq!(claims.grant_id(), None);
        let session = Session::open(&keys, &application("a"), &text).unwrap();
        assert_eq!(session.claims().json(), claims.json());
        assert_eq!((session.seen(), session.claims().exp()), (100, Some(1000)));
        assert_eq!(session.claims().client_id(), Some("web"));
        let later = session.seen_at(&keys, &application("a"), 200).unwrap();
        let later = Session::open(&keys, &application("a"), &later).unwrap();
        assert_eq!((later.seen(), later.claims().json()), (200, claims.json()));
        assert!(Session::open(&keys, &application("b"), &text).is_none());
        assert!(Session::open(&super::tests::keys(), &application("a"), &text).is_none());
    }

    #[test]
    fn two_hundred_groups_are_too_large_and_the_claim_is_named() {
        let keys = keys();
        assert!(made(&keys, 50).is_ok());
        let refused = made(&keys, 200).unwrap_err();
        assert_eq!(refused.claim, "groups");
        assert!(refused.bytes > MAX_SESSION_BYTES);
    }

    proptest! {
        #[test]
        fn no_other_text_is_a_session(text in "[A-Za-z0-9_-]{0,300}", flip in 0_usize..400, other in "[A-Za-z0-9_-]") {
            let keys = keys();
            prop_assert!(Session::open(&keys, &application("a"), &text).is_none());
            let (_, good) = made(&keys, 1).unwrap();
            let at = flip % good.len();
            let mut changed = good.clone();
            changed.replace_range(at..=at, &other);
            prop_assume!(changed != good);
            prop_assert!(Session::open(&keys, &application("a"), &changed).is_none());
            prop_assert!(Session::open(&keys, &application("a"), &good[..at]).is_none());
        }
    }
}
