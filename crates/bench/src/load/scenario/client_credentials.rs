//! A token for an authenticated client, and the issuer's keys.

use std::sync::Arc;

use bytes::Bytes;
use signet_jose::jwk::JwkSet;

use super::{
    Scenario, Site, authorization, get,
    oracle::{Expected, Seen, Witness},
    post,
};
use crate::client::Failure;
use crate::load::arrivals::{Actor, Answer, Verdict};
use crate::load::flow::base64;

struct Tokens {
    requests: Vec<Vec<u8>>,
    expected: Expected,
    seen: Arc<Seen>,
}

/// `client_credentials` with `client_secret_basic`, ES256.
pub(super) fn tokens(site: &Site, _: u64) -> Result<Box<dyn Scenario>, Failure> {
    let service = site.provider.known_client("service")?;
    let headers = authorization(&site.basic(&service)?);
    let hosts = site.hosts()?;
    let requests = hosts
        .iter()
        .map(|host| post(host, "/token", &headers, "grant_type=client_credentials"));
    Ok(Box::new(Tokens {
        requests: requests.collect(),
        expected: Expected {
            issuer: site.provider.issuer.clone(),
            client_id: service.client_id().to_owned(),
            sub: service.client_id().to_owned(),
            actor: None,
            until: u64::MAX,
        },
        seen: Seen::new(site.keys()?.2),
    }))
}

/// The same of any server with this issuer, whose nodes listen at these ports and have their token
/// endpoint at `path`: for peers. Client and secret are form-encoded already (RFC 6749 section
/// 2.3.1).
#[must_use]
pub fn of(
    ports: &[u16],
    path: &str,
    issuer: &str,
    client_id: &str,
    secret: &str,
    keys: JwkSet,
) -> Box<dyn Scenario> {
    let pair = base64(format!("{client_id}:{secret}").as_bytes());
    let headers = authorization(&format!("Basic {pair}"));
    let requests = ports.iter().map(|port| {
        let host = format!("localhost:{port}");
        post(&host, path, &headers, "grant_type=client_credentials")
    });
    Box::new(Tokens {
        requests: requests.collect(),
        expected: Expected {
            issuer: issuer.to_owned(),
            client_id: client_id.to_owned(),
            sub: client_id.to_owned(),
            actor: None,
            until: u64::MAX,
        },
        seen: Seen::new(keys),
    })
}

impl Scenario for Tokens {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        Box::new(TokenActor {
            request: self.requests[number % self.requests.len()].clone(),
            expected: self.expected.clone(),
            witness: Witness::new(&self.seen),
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        self.seen.settle()
    }
}

struct TokenActor {
    request: Vec<u8>,
    expected: Expected,
    witness: Witness,
}

impl Actor for TokenActor {
    fn begin(&mut self) -> Vec<u8> {
        self.request.clone()
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        if answer.is_shed() {
            return Verdict::Shed;
        }
        if answer.status != 200 {
            return Verdict::Wrong(answer.shown());
        }
        match self.witness.token(answer.body, &self.expected) {
            Ok(_) => Verdict::Right,
            Err(why) => Verdict::Wrong(why),
        }
    }
}

struct Keys {
    requests: Vec<Vec<u8>>,
    body: Bytes,
}

/// The keys, byte for byte as they were before.
pub(super) fn jwks(site: &Site, _: u64) -> Result<Box<dyn Scenario>, Failure> {
    // A moment after the start the next keys are made and published.
    site.block_on(site.provider.settled())?;
    let (path, body, _) = site.keys()?;
    let hosts = site.hosts()?;
    let requests = hosts.iter().map(|host| get(host, &path, ""));
    Ok(Box::new(Keys {
        requests: requests.collect(),
        body,
    }))
}

impl Scenario for Keys {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        Box::new(KeysActor {
            request: self.requests[number % self.requests.len()].clone(),
            body: self.body.clone(),
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        Ok(())
    }
}

struct KeysActor {
    request: Vec<u8>,
    body: Bytes,
}

impl Actor for KeysActor {
    fn begin(&mut self) -> Vec<u8> {
        self.request.clone()
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        match answer.status {
            200 if answer.body == self.body => Verdict::Right,
            _ if answer.is_shed() => Verdict::Shed,
            _ => Verdict::Wrong(answer.shown()),
        }
    }
}
