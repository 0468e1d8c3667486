//! Asks an issuer about a token (RFC 7662): the question, what is believed of the answer, and for
//! how long.
//!
//! - The answer is believed for as long as was configured and never beyond its `exp`; it is found
//!   by a keyed hash and the whole token.
//! - An answer that the token is not active is never kept, so nobody can fill a memory with tokens
//!   that he made up.
//! - However many requests bring one token at once, the issuer is asked once. How many different
//!   tokens may be asked about at the same time is bounded; beyond, and when the issuer does not
//!   answer in time, the token is refused as `introspection_unavailable`.
//! - The issuer's word replaces a signature, and nothing else: audience, time, scopes, binding and
//!   revocation are checked like a JWT's. An answer without `exp` is refused.

use crate::{
    Claims, PolicyId, Refusal, Verified,
    cache::{Kept, TokenCache},
    compact_keys::CompactKeys,
    keys::PreparedKey,
    outbound::{Credentials, Outbound, Outgoing, credentials, metadata},
};
use arc_swap::ArcSwapOption;
use signet_encoding::json::{self, Limits};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::OnceCell;

/// Different tokens that are asked about at the same time.
const MAX_UNDER_WAY: usize = 1024;

/// Asks one issuer. Shared by the policies that name it.
pub struct Introspector {
    issuer: String,
    url: Option<String>,
    /// what the metadata said last
    found: ArcSwapOption<String>,
    credentials: Credentials,
    outbound: Arc<Outbound>,
    max_age: u64,
    cache: TokenCache<Known>,
    under_way: Mutex<HashMap<Box<str>, Arc<Flight>>>,
    failure: Mutex<Option<String>>,
}

/// One question and everybody who waits for its answer.
type Flight = OnceCell<Result<Arc<Claims>, Refusal>>;

/// A token whose issuer called it active.
struct Known {
    verified: Verified,
    /// which signed it, where it was signed as well
    key: Option<Arc<PreparedKey>>,
    compact: Option<Arc<CompactKeys>>,
    until: u64,
}

impl Kept for Known {
    fn token(&self) -> &str {
        self.verified.text()
    }

    fn weight(&self) -> usize {
        self.verified.text().len() + self.verified.claims().weight()
    }

    fn is_dead(&self, now: u64) -> bool {
        now >= self.until
            || self.key.as_ref().is_some_and(|key| key.is_withdrawn())
            || self
                .compact
                .as_ref()
                .is_some_and(|keys| keys.is_withdrawn())
    }
}

impl Introspector {
    /// `issuer`: whose metadata names the `introspection_endpoint`, and whom an answer's `iss` must
    /// name if it is there. `max_age`: seconds that an answer is believed; 0: never twice.
    /// `entries` and `bytes` bound what is kept.
    pub fn new(
        issuer: impl Into<String>,
        credentials: Credentials,
        outbound: Arc<Outbound>,
        max_age: u64,
        entries: usize,
        bytes: usize,
    ) -> Introspector {
        Introspector {
            issuer: issuer.into(),
            url: None,
            found: ArcSwapOption::empty(),
            credentials,
            outbound,
            max_age,
            cache: TokenCache::new(entries, bytes),
            under_way: Mutex::default(),
            failure: Mutex::default(),
        }
    }

    /// Where to ask, if the metadata does not say so.
    #[must_use]
    pub fn at(mut self, url: impl Into<String>) -> Introspector {
        self.url = Some(url.into());
        self
    }

    /// Whom it asks.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Why the last question had no answer; None where it had one.
    pub fn failure(&self) -> Option<String> {
        self.failure_slot().clone()
    }

    fn failure_slot(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn known(&self, policy: PolicyId, token: &str, now: u64) -> Option<Verified> {
        let live = |known: &Known| (!known.is_dead(now)).then(|| known.verified.clone());
        self.cache.find(token, policy.number(), live)?
    }

    /// Until the token's end or the answer's, whichever is first.
    pub(crate) fn keep(
        &self,
        policy: PolicyId,
        verified: &Verified,
        signed: (Option<Arc<PreparedKey>>, Option<Arc<CompactKeys>>),
        exp: u64,
        now: u64,
    ) {
        let until = exp.min(now.saturating_add(self.max_age));
        if until > now {
            let known = Known {
                verified: verified.clone(),
                key: signed.0,
                compact: signed.1,
                until,
            };
            self.cache.insert(policy.number(), known, now);
        }
    }

    /// The claims of an active token.
    pub(crate) async fn ask(&self, token: &str) -> Result<Arc<Claims>, Refusal> {
        let seat = Seat::take(self, token).ok_or(Refusal::IntrospectionUnavailable)?;
        let answer = seat.flight.get_or_init(|| self.ask_now(token)).await;
        answer.clone()
    }

    async fn ask_now(&self, token: &str) -> Result<Arc<Claims>, Refusal> {
        match self.exchange(token).await {
            Ok(answer) => {
                *self.failure_slot() = None;
                answer.map(Arc::new)
            }
            Err(error) => {
                // Wherever it was, it may be elsewhere now.
                self.found.store(None);
                let before = self.failure_slot().replace(error.clone());
                if before.is_none() {
                    tracing::warn!(issuer = self.issuer, error, "failed to introspect tokens");
                }
                Err(Refusal::IntrospectionUnavailable)
            }
        }
    }

    /// The outer error is the issuer's, or the way to it; the inner one is the token's.
    async fn exchange(&self, token: &str) -> Result<Result<Claims, Refusal>, String> {
        let url = match (&self.url, self.found.load_full()) {
            (Some(url), _) => url.clone(),
            (None, Some(found)) => String::clone(&found),
            (None, None) => {
                let name = "introspection_endpoint";
                let found = metadata::url_of(&self.issuer, name, &self.outbound).await?;
                self.found.store(Some(Arc::new(found.clone())));
                found
            }
        };
        let mut form = String::from("token_type_hint=access_token&token=");
        credentials::encode(token, &mut form);
        let outgoing = Outgoing {
            url: &url,
            accept: "application/json",
            authorization: Some(self.credentials.authorization()),
            form: Some(form.into()),
        };
        let answer = self.outbound.send(&outgoing).await;
        let (body, _) = answer.map_err(|error| format!("{url}: {error}"))?;
        read(&body).map_err(|error| format!("{url}: {error}"))
    }
}

/// RFC 7662 section 2.2. Only the JSON value `true` is an active token.
fn read(body: &[u8]) -> Result<Result<Claims, Refusal>, String> {
    let limits = Limits::default();
    let object = json::parse_object(body, &limits).map_err(|error| error.to_string())?;
    match object.bool("active") {
        Ok(Some(true)) => {}
        Ok(Some(false)) => return Ok(Err(Refusal::Inactive)),
        _ => return Err("the answer does not say whether the token is active".to_owned()),
    }
    let is_dpop = object
        .string("token_type")
        .ok()
        .flatten()
        .is_some_and(|name| name.eq_ignore_ascii_case("DPoP"));
    let claims = match Claims::parse(body.to_vec(), &limits) {
        Ok(claims) => claims,
        Err(_) => return Ok(Err(Refusal::Claims)),
    };
    // RFC 9449 section 6.2: a bound token's key is in the answer. Without it nothing could be
    // proven.
    match is_dpop && claims.jkt().is_none() {
        true => Ok(Err(Refusal::UnknownConfirmation)),
        false => Ok(Ok(claims)),
    }
}

/// A place in a flight. When the last one is left, so is the flight.
struct Seat<'a> {
    introspector: &'a Introspector,
    token: &'a str,
    flight: Arc<Flight>,
}

impl<'a> Seat<'a> {
    fn take(introspector: &'a Introspector, token: &'a str) -> Option<Seat<'a>> {
        let mut under_way = introspector.flights();
        let flight = match under_way.get(token) {
            Some(flight) => flight.clone(),
            None if under_way.len() >= MAX_UNDER_WAY => return None,
            None => under_way.entry(token.into()).or_default().clone(),
        };
        Some(Seat {
            introspector,
            token,
            flight,
        })
    }
}

impl Introspector {
    fn flights(&self) -> MutexGuard<'_, HashMap<Box<str>, Arc<Flight>>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let mut under_way = self.introspector.flights();
        // A flight that has landed takes nobody new; one that everybody left is over. All clones
        // are made under the lock.
        let ours = under_way
            .get(self.token)
            .is_some_and(|flight| Arc::ptr_eq(flight, &self.flight));
        if ours && (self.flight.initialized() || Arc::strong_count(&self.flight) == 2) {
            under_way.remove(self.token);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_value_true_is_an_active_token() {
        assert!(read(br#"{"active":true,"sub":"a"}"#).unwrap().is_ok());
        assert_eq!(
            read(br#"{"active":false}"#).unwrap().unwrap_err(),
            Refusal::Inactive
        );
        for bad in [
            &b"{}"[..],
            br#"{"active":"true"}"#,
            br#"{"active":1}"#,
            br#"{"active":null}"#,
            br#"[true]"#,
            br#"{"active":true,"active":true}"#,
            b"true",
            b"",
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_bound_token_whose_key_is_not_in_the_answer_is_refused() {
        for bad in [
            r#"{"active":true,"token_type":"DPoP"}"#,
            r#"{"active":true,"token_type":"dpop","cnf":{}}"#,
        ] {
            let answer = read(bad.as_bytes()).unwrap();
            assert_eq!(answer.unwrap_err(), Refusal::UnknownConfirmation, "{bad}");
        }
        let good = br#"{"active":true,"token_type":"DPoP","cnf":{"jkt":"x"}}"#;
        assert!(read(good).unwrap().is_ok());
    }
}
