//! Introspection of a mix: 60 % that the caller may see and that live, 5 % that were exchanged, 12
//! % that have expired, 12 % that are revoked, 6 % that are meant for others, and 5 % that are
//! asked for by a client that may not see them.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;

use super::{Chance, Scenario, Site, authorization, exchange, oracle::Claims, post, site};
use crate::client::Failure;
use crate::load::arrivals::{Actor, Answer, Verdict};
use signet_crypto::Algorithm;

/// What an answer says.
#[derive(Deserialize)]
struct Said<'a> {
    active: bool,
    iss: Option<&'a str>,
    client_id: Option<&'a str>,
    sub: Option<&'a str>,
    exp: Option<u64>,
}

/// A token, who asks, and what the right answer says of it.
struct Asked {
    body: String,
    /// Whether the client that may not see it asks.
    stranger: bool,
    active: Option<Claims>,
}

struct Mix {
    asked: Arc<Vec<Asked>>,
    /// Of each node: the head of the caller's request, and of another client's.
    hosts: Vec<String>,
    callers: [String; 2],
    issuer: String,
}

pub(super) fn prepare(site: &Site, _: u64) -> Result<Box<dyn Scenario>, Failure> {
    let service = site.provider.known_client("service")?;
    let register = site.provider.register(
        "client_secret_basic",
        Algorithm::Es256,
        serde_json::json!({}),
    );
    let stranger = site.block_on(register)?;
    let mut asked = Vec::new();
    let mut add = |tokens: Vec<String>, active: bool, stranger: bool| -> Result<(), Failure> {
        for token in tokens {
            let active = active.then(|| Claims::of(&token)).transpose()?;
            asked.push(Asked {
                body: format!("token={token}"),
                stranger,
                active,
            });
        }
        Ok(())
    };
    // Four of each hundredth.
    let expired = site.expired_tokens(48)?;
    add(expired, false, false)?;
    let subjects = site.person_access_tokens(20 + 48 + 20 + 60)?;
    let (exchanged, rest) = subjects.split_at(20);
    add(exchanged_from(site, exchanged)?, true, false)?;
    let (revoked, rest) = rest.split_at(48);
    site.revoke(revoked)?;
    add(revoked.to_vec(), false, false)?;
    let (unseen, seen) = rest.split_at(20);
    add(unseen.to_vec(), false, true)?;
    add(seen.to_vec(), true, false)?;
    add(site.own_tokens(&service, 180)?, true, false)?;
    add(site.own_tokens(&stranger, 24)?, false, false)?;
    debug_assert_eq!(asked.len(), 400);
    Ok(Box::new(Mix {
        asked: Arc::new(asked),
        hosts: site.hosts()?,
        callers: [
            authorization(&site.basic(&service)?),
            authorization(&site.basic(&stranger)?),
        ],
        issuer: site.provider.issuer.clone(),
    }))
}

/// What the service client gets for these.
fn exchanged_from(site: &Site, subjects: &[String]) -> Result<Vec<String>, Failure> {
    let service = site.provider.known_client("service")?;
    let caller = site.basic(&service)?;
    site.block_on(async {
        let mut connection = site.connect().await?;
        let mut tokens = Vec::with_capacity(subjects.len());
        for subject in subjects {
            let body = Bytes::from(exchange::form(subject, None));
            let answer = connection.form("/token", Some(&caller), body).await?;
            tokens.push(site::member(&answer, "access_token")?);
        }
        Ok(tokens)
    })
}

impl Scenario for Mix {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        Box::new(MixActor {
            asked: self.asked.clone(),
            host: self.hosts[number % self.hosts.len()].clone(),
            callers: self.callers.clone(),
            issuer: self.issuer.clone(),
            chance: Chance::of(number),
            at: 0,
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        Ok(())
    }
}

struct MixActor {
    asked: Arc<Vec<Asked>>,
    host: String,
    callers: [String; 2],
    issuer: String,
    chance: Chance,
    at: usize,
}

impl Actor for MixActor {
    fn begin(&mut self) -> Vec<u8> {
        self.at = self.chance.below(self.asked.len());
        let asked = &self.asked[self.at];
        let caller = &self.callers[usize::from(asked.stranger)];
        post(&self.host, "/introspect", caller, &asked.body)
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        if answer.is_shed() {
            return Verdict::Shed;
        }
        let said: Option<Said<'_>> = serde_json::from_slice(answer.body).ok();
        let asked = &self.asked[self.at];
        let right = answer.status == 200
            && match (&asked.active, said) {
                (_, None) => false,
                // RFC 7662 section 2.2: nothing more is said of a token that is not active.
                (None, Some(_)) => answer.body == br#"{"active":false}"#,
                (Some(claims), Some(said)) => {
                    said.active
                        && said.iss == Some(&self.issuer)
                        && said.client_id == Some(&claims.client_id)
                        && said.sub == Some(&claims.sub)
                        && said.exp == Some(claims.exp)
                }
            };
        match right {
            true => Verdict::Right,
            false => {
                let active = asked.active.is_some();
                Verdict::Wrong(format!("active is {active}: {}", answer.shown()))
            }
        }
    }
}
