//! Token exchange (RFC 8693) of a mix: 70 % good subject tokens, a fifth of them with an actor; 10
//! % that have expired, 10 % forged, 10 % revoked.

use std::sync::Arc;

use super::{
    Chance, Scenario, Site, authorization,
    oracle::{Claims, Expected, Seen, Witness},
    post,
};
use crate::client::Failure;
use crate::load::arrivals::{Actor, Answer, Verdict};

const GRANT: &str = "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Atoken-exchange";
const ACCESS_TOKEN: &str = "urn%3Aietf%3Aparams%3Aoauth%3Atoken-type%3Aaccess_token";

/// A request's form.
pub(super) fn form(subject: &str, actor: Option<&str>) -> String {
    let mut form =
        format!("grant_type={GRANT}&subject_token={subject}&subject_token_type={ACCESS_TOKEN}");
    if let Some(actor) = actor {
        form += &format!("&actor_token={actor}&actor_token_type={ACCESS_TOKEN}");
    }
    form
}

struct Asked {
    body: String,
    /// None: it must be refused.
    expected: Option<Expected>,
}

struct Mix {
    asked: Arc<Vec<Asked>>,
    hosts: Vec<String>,
    caller: String,
    seen: Arc<Seen>,
}

pub(super) fn prepare(site: &Site, _: u64) -> Result<Box<dyn Scenario>, Failure> {
    let service = site.provider.known_client("service")?;
    let expired = site.expired_tokens(30)?;
    let tokens = site.person_access_tokens(30 + 31 + 210)?;
    let (revoked, rest) = tokens.split_at(30);
    site.revoke(revoked)?;
    let (forged, good) = rest.split_at(31);
    // A token's claims with another one's signature.
    let forged: Vec<String> = forged
        .windows(2)
        .filter_map(|pair| {
            let (claims, _) = pair[0].rsplit_once('.')?;
            let (_, signature) = pair[1].rsplit_once('.')?;
            Some(format!("{claims}.{signature}"))
        })
        .collect();
    let actor = site.own_tokens(&service, 1)?.pop().ok_or("no actor")?;
    let actor_end = Claims::of(&actor)?.exp;

    let mut asked = Vec::new();
    for (at, token) in good.iter().enumerate() {
        let claims = Claims::of(token)?;
        let actor = at.is_multiple_of(5).then_some(&*actor);
        let until = match actor {
            Some(_) => claims.exp.min(actor_end),
            None => claims.exp,
        };
        asked.push(Asked {
            body: form(token, actor),
            expected: Some(Expected {
                issuer: site.provider.issuer.clone(),
                client_id: service.client_id().to_owned(),
                sub: claims.sub,
                actor: actor.map(|_| service.client_id().to_owned()),
                until,
            }),
        });
    }
    let refused = expired.iter().chain(revoked).chain(&forged);
    asked.extend(refused.map(|token| Asked {
        body: form(token, None),
        expected: None,
    }));
    Ok(Box::new(Mix {
        asked: Arc::new(asked),
        hosts: site.hosts()?,
        caller: authorization(&site.basic(&service)?),
        seen: Seen::new(site.keys()?.2),
    }))
}

impl Scenario for Mix {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        Box::new(MixActor {
            asked: self.asked.clone(),
            host: self.hosts[number % self.hosts.len()].clone(),
            caller: self.caller.clone(),
            witness: Witness::new(&self.seen),
            chance: Chance::of(number),
            at: 0,
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        self.seen.settle()
    }
}

struct MixActor {
    asked: Arc<Vec<Asked>>,
    host: String,
    caller: String,
    witness: Witness,
    chance: Chance,
    at: usize,
}

impl Actor for MixActor {
    fn begin(&mut self) -> Vec<u8> {
        self.at = self.chance.below(self.asked.len());
        post(
            &self.host,
            "/token",
            &self.caller,
            &self.asked[self.at].body,
        )
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        if answer.is_shed() {
            return Verdict::Shed;
        }
        match (&self.asked[self.at].expected, answer.status) {
            (Some(expected), 200) => match self.witness.token(answer.body, expected) {
                Ok(token)
                    if token
                        .issued_token_type
                        .is_some_and(|kind| kind.ends_with("access_token")) =>
                {
                    Verdict::Right
                }
                Ok(_) => Verdict::Wrong(format!("no issued_token_type: {}", answer.shown())),
                Err(why) => Verdict::Wrong(why),
            },
            // RFC 8693 section 2.2.2.
            (None, 400) if answer.body.starts_with(br#"{"error":"invalid_request""#) => {
                Verdict::Right
            }
            (expected, _) => {
                let good = expected.is_some();
                Verdict::Wrong(format!(
                    "the subject token is good: {good}; {}",
                    answer.shown()
                ))
            }
        }
    }
}
