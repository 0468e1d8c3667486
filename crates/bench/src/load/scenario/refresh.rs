//! Rotation of refresh tokens, with replays and parallel use: of a thousand operations about ten
//! present a token that was rotated already, and ten a token that another connection presents at
//! the same time. Both end the family (RFC 9700 section 4.14.2); of two at once, at most one is
//! answered with tokens.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    Chance, Scenario, Site, authorization,
    oracle::{Claims, Expected, Seen, Witness},
    post,
};
use crate::client::Failure;
use crate::load::arrivals::{Actor, Answer, Verdict};

/// Of a thousand operations, so many are a replay, and as many a parallel use.
const PER_MILLE: usize = 10;
/// Families that are begun before, beside one for each replay and each parallel use: one a
/// connection, and those that take the place of a family whose last request was not answered.
const LEAST: u64 = 1_000;
const MOST: u64 = 5_000;
/// Families that no replay and no parallel use takes.
const KEPT: usize = 900;

struct Families {
    /// First tokens of families that nobody has.
    fresh: Arc<Mutex<Vec<String>>>,
    hosts: Vec<String>,
    caller: String,
    expected: Expected,
    seen: Arc<Seen>,
}

pub(super) fn prepare(site: &Site, operations: u64) -> Result<Box<dyn Scenario>, Failure> {
    let web = site.provider.known_client("web")?;
    let count = (operations * 2 * PER_MILLE as u64 / 1000 + LEAST).min(MOST);
    let answers = site.person_tokens(count as usize)?;
    let access_token = answers[0]["access_token"].as_str().ok_or("no token")?;
    let sub = Claims::of(access_token)?.sub;
    let fresh = answers.iter().map(|answer| {
        let token = answer["refresh_token"].as_str();
        token
            .map(str::to_owned)
            .ok_or_else(|| "no refresh_token".into())
    });
    let fresh: Result<Vec<String>, Failure> = fresh.collect();
    Ok(Box::new(Families {
        fresh: Arc::new(Mutex::new(fresh?)),
        hosts: site.hosts()?,
        caller: authorization(&site.basic(&web)?),
        expected: Expected {
            issuer: site.provider.issuer.clone(),
            client_id: web.client_id().to_owned(),
            sub,
            actor: None,
            until: u64::MAX,
        },
        seen: Seen::new(site.keys()?.2),
    }))
}

thread_local! {
    /// A token that one connection of this thread presents, for another to present too.
    static OFFERED: RefCell<Option<Duel>> = const { RefCell::new(None) };
}

/// Two that present one token.
#[derive(Clone)]
struct Duel {
    token: String,
    /// How many of them were answered with tokens.
    won: Rc<Cell<u32>>,
}

impl Scenario for Families {
    fn actor(&self, number: usize) -> Box<dyn Actor> {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        Box::new(Rotation {
            token: fresh.pop(),
            rotated: None,
            asked: false,
            act: Act::Rotate,
            fresh: self.fresh.clone(),
            host: self.hosts[number % self.hosts.len()].clone(),
            caller: self.caller.clone(),
            expected: self.expected.clone(),
            witness: Witness::new(&self.seen),
            chance: Chance::of(number),
        })
    }

    fn settle(&self) -> Result<(), Failure> {
        self.seen.settle()
    }
}

/// What an operation does.
enum Act {
    Rotate,
    /// A token that was rotated: refused. With the family that the connection continues with.
    Replay(Option<String>),
    /// After a replay, also the family's newest: refused.
    AfterReplay(Option<String>),
    Duel(Duel),
}

struct Rotation {
    /// None: this connection's families are over, and no fresh one is left.
    token: Option<String>,
    /// The one before.
    rotated: Option<String>,
    /// A request is on its way: the outcome of its token is not known before the answer.
    asked: bool,
    act: Act,
    fresh: Arc<Mutex<Vec<String>>>,
    host: String,
    caller: String,
    expected: Expected,
    witness: Witness,
    chance: Chance,
}

impl Rotation {
    fn next_family(&mut self) {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        self.token = fresh.pop();
        self.rotated = None;
    }

    /// A family for when this connection's will be over: taken before it is ended, or two
    /// connections would count on the last one.
    fn take_family(&self) -> Option<String> {
        let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
        if fresh.len() <= KEPT {
            return None;
        }
        fresh.pop()
    }

    fn choose(&mut self) -> String {
        if let Some(duel) = OFFERED.take() {
            let token = duel.token.clone();
            self.act = Act::Duel(duel);
            return token;
        }
        let token = self.token.clone().unwrap_or_default();
        match self.chance.below(1000) {
            chance if chance < PER_MILLE => {
                if let Some(rotated) = self.rotated.clone()
                    && let Some(next) = self.take_family()
                {
                    self.act = Act::Replay(Some(next));
                    return rotated;
                }
            }
            chance if chance < 2 * PER_MILLE => {
                if let Some(next) = self.take_family() {
                    let duel = Duel {
                        token: token.clone(),
                        won: Rc::new(Cell::new(0)),
                    };
                    OFFERED.set(Some(duel.clone()));
                    self.token = Some(next);
                    self.rotated = None;
                    self.act = Act::Duel(duel);
                    return token;
                }
            }
            _ => {}
        }
        self.act = Act::Rotate;
        token
    }

    fn request(&self, token: &str) -> Vec<u8> {
        let body = format!("grant_type=refresh_token&refresh_token={token}");
        post(&self.host, "/token", &self.caller, &body)
    }
}

impl Actor for Rotation {
    fn begin(&mut self) -> Vec<u8> {
        // The last one was not answered: its token may have been rotated.
        if std::mem::replace(&mut self.asked, true) {
            self.next_family();
        }
        let token = self.choose();
        self.request(&token)
    }

    fn answered(&mut self, answer: &Answer<'_>) -> Verdict {
        self.asked = false;
        if answer.is_shed() {
            return Verdict::Shed;
        }
        // RFC 6749 section 5.2.
        let refused =
            answer.status == 400 && answer.body.starts_with(br#"{"error":"invalid_grant""#);
        match std::mem::replace(&mut self.act, Act::Rotate) {
            Act::Rotate => {
                if answer.status != 200 {
                    return Verdict::Wrong(format!("a rotation: {}", answer.shown()));
                }
                match self.witness.token(answer.body, &self.expected) {
                    Ok(tokens) => {
                        let next = tokens.refresh_token.map(str::to_owned);
                        self.rotated = std::mem::replace(&mut self.token, next);
                        match &self.token {
                            Some(next) if Some(next) != self.rotated.as_ref() => Verdict::Right,
                            _ => Verdict::Wrong(format!("not rotated: {}", answer.shown())),
                        }
                    }
                    Err(why) => Verdict::Wrong(why),
                }
            }
            Act::Replay(next) if refused => {
                self.act = Act::AfterReplay(next);
                let token = self.token.clone().unwrap_or_default();
                self.asked = true;
                Verdict::Next(self.request(&token))
            }
            Act::AfterReplay(next) if refused => {
                self.token = next;
                self.rotated = None;
                Verdict::Right
            }
            Act::Replay(_) => Verdict::Wrong(format!("a replay: {}", answer.shown())),
            Act::AfterReplay(_) => {
                Verdict::Wrong(format!("of a family with a replay: {}", answer.shown()))
            }
            Act::Duel(duel) => {
                if answer.status == 200 {
                    duel.won.set(duel.won.get() + 1);
                }
                match duel.won.get() {
                    0 | 1 if refused || answer.status == 200 => Verdict::Right,
                    won => Verdict::Wrong(format!("of two at once {won} won: {}", answer.shown())),
                }
            }
        }
    }
}

/// The next hold's connections continue with the families of this one's.
impl Drop for Rotation {
    fn drop(&mut self) {
        if self.asked || !matches!(self.act, Act::Rotate) {
            return;
        }
        if let Some(token) = self.token.take() {
            let mut fresh = self.fresh.lock().unwrap_or_else(PoisonError::into_inner);
            fresh.push(token);
        }
    }
}
