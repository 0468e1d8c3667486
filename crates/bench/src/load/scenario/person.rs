//! What applications ask on behalf of somebody who is logged in: a silent login, and userinfo.

use std::sync::Arc;

use super::{
    Chance, Scenario, Site, authorization, get,
    oracle::{Claims, Seen, Witness},
};
use crate::client::Failure;
use crate::load::arrivals::{Actor, Answer, Verdict};
use crate::load::flow;

/// Sessions that are logged in.
const SESSIONS: usize = 8;
/// Access tokens that userinfo is asked with.
const TOKENS: usize = 200;

struct SilentLogin {
    /// Of each node and session.
    requests: Vec<Vec<Vec<u8>>>,
    redirect: String,
    seen: Arc<Seen>,
}

/// `prompt=none`, with the cookies of a session, for a client that was consented to: a code.
pub(super) fn silent_login(site: &Site, _: u64) -> Result<Box<dyn Scenario>, Failure> {
    let web = site.provider.known_client("web")?;
    let redirect = site.redirect()?;
    let cookies = site.block_on(async {
        let mut cookies = Vec::with_capacity(SESSIONS);
        for _ in 0..SESSIONS {
            let mut connection = site.connect().await?;
            let cookie = site
                .provider
                .log_in(&mut connection, web.client_id(), &redirect);
            cookies.push(cookie.await?);
        }
        Ok(cookies)
    })?;
    let path = flow::authorization_path(web.client_id(), &redirect, "&prompt=none");
    let hosts = site.hosts()?;
    let requests = hosts.iter().map(|host| {
        let cookies = cookies.iter();
        let sessions = cookies.map(|cookie| get(host, &path, &format!("cookie: {cookie}\r\n")));
        sessions.collect()
    });
    Ok(Box::new(SilentLogin {
        requests: requests.collect(),
        redirect,
        seen: Seen::new(site.keys()?.2),
    }))
}

impl Scenario for SilentLogin {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        Box::new(SilentActor {
            requests: self.requests[number % self.requests.len()].clone(),
            redirect: format!("{}?", self.redirect),
            witness: Witness::new(&self.seen),
            chance: Chance::of(number),
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        self.seen.settle()
    }
}

struct SilentActor {
    requests: Vec<Vec<u8>>,
    redirect: String,
    witness: Witness,
    chance: Chance,
}

impl Actor for SilentActor {
    fn begin(&mut self) -> Vec<u8> {
        self.requests[self.chance.below(self.requests.len())].clone()
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        if answer.is_shed() {
            return Verdict::Shed;
        }
        let location = answer.header("location").unwrap_or_default();
        let Some(query) = location.strip_prefix(&self.redirect) else {
            return Verdict::Wrong(format!("{location} {}", answer.shown()));
        };
        let parameter = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find_map(|(found, value)| (found == name).then_some(value))
        };
        // RFC 6749 section 4.1.2, RFC 9207: the state comes back, and the issuer is named.
        match (parameter("code"), parameter("state"), parameter("iss")) {
            (Some(code), Some("s"), Some(_)) if matches!(answer.status, 302 | 303) => {
                self.witness.once(code);
                Verdict::Right
            }
            _ => Verdict::Wrong(location.to_owned()),
        }
    }
}

struct Userinfo {
    /// Of each node and token.
    requests: Vec<Vec<Vec<u8>>>,
    sub: String,
}

/// Userinfo with a good access token.
pub(super) fn userinfo(site: &Site, _: u64) -> Result<Box<dyn Scenario>, Failure> {
    let tokens = site.person_access_tokens(TOKENS)?;
    let sub = Claims::of(&tokens[0])?.sub;
    let hosts = site.hosts()?;
    let requests = hosts.iter().map(|host| {
        let tokens = tokens.iter();
        let asked = tokens.map(|token| {
            let bearer = authorization(&format!("Bearer {token}"));
            get(host, "/userinfo", &bearer)
        });
        asked.collect()
    });
    Ok(Box::new(Userinfo {
        requests: requests.collect(),
        sub,
    }))
}

impl Scenario for Userinfo {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        Box::new(UserinfoActor {
            requests: self.requests[number % self.requests.len()].clone(),
            sub: format!("\"sub\":\"{}\"", self.sub),
            chance: Chance::of(number),
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        Ok(())
    }
}

struct UserinfoActor {
    requests: Vec<Vec<u8>>,
    sub: String,
    chance: Chance,
}

impl Actor for UserinfoActor {
    fn begin(&mut self) -> Vec<u8> {
        self.requests[self.chance.below(self.requests.len())].clone()
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        let sub = self.sub.as_bytes();
        let named = answer.body.windows(sub.len()).any(|part| part == sub);
        match answer.status {
            200 if named => Verdict::Right,
            _ if answer.is_shed() => Verdict::Shed,
            _ => Verdict::Wrong(answer.shown()),
        }
    }
}
