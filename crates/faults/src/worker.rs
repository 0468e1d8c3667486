//! A client under load: it sends requests to any node, some of them to several at once, and records
//! what it was answered.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::{Duration, Instant},
};

use signet_jose::{jwk::JwkSet, jws};
use tokio::time::sleep;

use crate::{
    client::{Answer, Call, Client, NoAnswer, PATIENCE},
    cluster::Cluster,
    history::{Kind, Operation, Outcome, Recorder},
    settings::{PUBLISH_AHEAD, SERVICE},
};

/// How often a relying party fetches the keys.
const FETCHED_EVERY: Duration = Duration::from_secs(2);
/// For how long it may continue with those that it has.
const PUBLISHED_AHEAD: Duration = Duration::from_secs(PUBLISH_AHEAD - 1);
/// Racers of one value at most.
const RACERS: usize = 3;

/// What all workers share.
pub struct Shared {
    /// Whom they ask.
    pub cluster: Rc<Cluster>,
    /// What they write down.
    pub recorder: Rc<Recorder>,
    /// Cookies of people with a session.
    pub sessions: RefCell<Vec<(String, String)>>,
    /// Access tokens, by their number in the history.
    pub tokens: RefCell<Vec<(usize, String)>>,
    /// What a relying party fetched, and when.
    keys: RefCell<Option<(Instant, JwkSet)>>,
    stopped: Cell<bool>,
}

/// One client.
pub struct Worker {
    /// See there.
    pub shared: Rc<Shared>,
    clients: Vec<Client>,
    random: u64,
    /// Which of the workers of its flow it is.
    pub number: usize,
    /// The one node that it asks; none: any.
    pub home: Option<usize>,
}

impl Shared {
    /// Nothing is asked yet.
    pub fn new(cluster: Rc<Cluster>, recorder: Rc<Recorder>) -> Rc<Shared> {
        Rc::new(Shared {
            cluster,
            recorder,
            sessions: RefCell::default(),
            tokens: RefCell::default(),
            keys: RefCell::default(),
            stopped: Cell::new(false),
        })
    }

    /// The load is over.
    pub fn stop(&self) {
        self.stopped.set(true);
    }

    /// Whether the load is over.
    pub fn is_over(&self) -> bool {
        self.stopped.get()
    }
}

/// What an answer says of a request; none where it says nothing of it.
pub type Judge = fn(&Answer) -> Option<Outcome>;

impl Worker {
    /// The worker of this number of its flow; its choices come from the seed.
    pub fn new(shared: &Rc<Shared>, number: usize, seed: u64) -> Worker {
        let client = || Client::new(shared.cluster.tls.clone());
        Worker {
            shared: shared.clone(),
            clients: std::iter::repeat_with(client).take(RACERS).collect(),
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            number,
            home: None,
        }
    }

    /// A number below this one (splitmix64).
    pub fn below(&mut self, bound: usize) -> usize {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound.max(1) as u64) as usize
    }

    /// True so many times of a hundred.
    pub fn chance(&mut self, of_hundred: usize) -> bool {
        self.below(100) < of_hundred
    }

    /// Any node, whether it runs or not: a client does not know.
    pub fn any(&mut self) -> usize {
        if let Some(home) = self.home {
            return home;
        }
        let size = self.shared.cluster.size();
        self.below(size)
    }

    /// Sends to one node.
    pub async fn send(&mut self, node: usize, call: &Call) -> Result<Answer, NoAnswer> {
        let to = self.shared.cluster.node(node).place.public;
        self.clients[0].send(to, call).await
    }

    /// Sends to one node after another until one answers for good; none when the load is over.
    /// `call` is made for a node. For what may be done several times.
    pub async fn anywhere(
        &mut self,
        call: impl Fn(&Worker, usize) -> Call,
    ) -> Option<(usize, Answer)> {
        let begun = Instant::now();
        while !self.shared.is_over() && begun.elapsed() < PATIENCE * 3 {
            let node = self.any();
            let made = call(self, node);
            match self.send(node, &made).await {
                Ok(answer) if !answer.status.is_server_error() => return Some((node, answer)),
                Ok(_) | Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
        None
    }

    /// Uses a value several times at once, at any nodes, and records that. Gives the answer that
    /// was good.
    pub async fn race(
        &mut self,
        value: usize,
        times: usize,
        call: impl Fn(usize) -> Call,
        judge: Judge,
    ) -> Option<Answer> {
        let nodes: Vec<usize> = (0..times.min(RACERS)).map(|_| self.any()).collect();
        self.race_at(value, &nodes, call, judge).await
    }

    /// The same, at these nodes.
    pub async fn race_at(
        &mut self,
        value: usize,
        nodes: &[usize],
        call: impl Fn(usize) -> Call,
        judge: Judge,
    ) -> Option<Answer> {
        let shared = self.shared.clone();
        let recorder = &shared.recorder;
        let uses = self.clients.iter_mut().zip(nodes).map(|(client, node)| {
            let (to, call) = (shared.cluster.node(*node).place.public, call(*node));
            async move {
                let invoked = recorder.now();
                let answer = client.send(to, &call).await;
                let returned = recorder.now();
                let outcome = match &answer {
                    Ok(answer) if answer.status.is_server_error() => Outcome::Unknown,
                    Ok(answer) => match judge(answer) {
                        Some(outcome) => outcome,
                        None => return None,
                    },
                    Err(NoAnswer::Unknown) => Outcome::Unknown,
                    Err(NoAnswer::NotSent) => return None,
                };
                let operation = Operation {
                    node: *node,
                    invoked,
                    returned,
                    outcome,
                };
                recorder.used(value, operation);
                answer.ok().filter(|_| outcome == Outcome::Done)
            }
        });
        let answers = futures_util::future::join_all(uses).await;
        answers.into_iter().flatten().next()
    }

    /// Sends a request, and how that went; none where it was not sent or says nothing.
    pub async fn timed(
        &mut self,
        node: usize,
        call: &Call,
        judge: Judge,
    ) -> Option<(Operation, Option<Answer>)> {
        let invoked = self.shared.recorder.now();
        let answer = self.send(node, call).await;
        let returned = self.shared.recorder.now();
        let outcome = match &answer {
            Ok(answer) if answer.status.is_server_error() => Outcome::Unknown,
            Ok(answer) => judge(answer)?,
            Err(NoAnswer::Unknown) => Outcome::Unknown,
            Err(NoAnswer::NotSent) => return None,
        };
        let operation = Operation {
            node,
            invoked,
            returned,
            outcome,
        };
        Some((operation, answer.ok()))
    }

    /// Validates an access token at a node.
    pub async fn introspect(&mut self, token: usize, text: &str, node: usize) -> Option<Outcome> {
        let secret = self.shared.cluster.common.secret.clone();
        let call = Call::form("/introspect", &[("token", text)]).basic(SERVICE, &secret);
        let judge: Judge = |answer| match answer.json()["active"].as_bool() {
            Some(true) => Some(Outcome::Done),
            Some(false) => Some(Outcome::Refused),
            None => None,
        };
        let (operation, _) = self.timed(node, &call, judge).await?;
        self.shared.recorder.checked(token, operation);
        Some(operation.outcome)
    }

    /// What a relying party does: it verifies the signature with keys that it fetched from any node
    /// a while ago, and asks nobody.
    pub async fn verify(&mut self, text: &str) {
        let shared = self.shared.clone();
        let fresh = |age: Duration| {
            let keys = shared.keys.borrow();
            keys.as_ref()
                .is_some_and(|(fetched, _)| fetched.elapsed() < age)
        };
        if !fresh(FETCHED_EVERY) {
            let node = self.any();
            let answer = self.send(node, &Call::get("/jwks")).await;
            let answer = answer.ok().filter(|answer| answer.status.is_success());
            if let Some(keys) = answer.and_then(|answer| JwkSet::parse(&answer.body).ok()) {
                *shared.keys.borrow_mut() = Some((Instant::now(), keys));
                // The token is older than these keys: the next one is looked at.
                return;
            }
        }
        if !fresh(PUBLISHED_AHEAD) {
            return;
        }
        let keys = shared.keys.borrow();
        let Some((_, keys)) = keys.as_ref() else {
            return;
        };
        let split = jws::split(text.as_bytes(), 1 << 14);
        let Some((token, header)) = split.ok().and_then(|t| Some((t, t.decode_header().ok()?)))
        else {
            let said = "an access token is no JWT".to_owned();
            return shared.recorder.looked_at("none", Err(said));
        };
        let kid = header.kid.clone().unwrap_or_default();
        let key = keys.select(Some(&kid), header.alg);
        let holds = match key.and_then(|key| key.verifying_key(header.alg).ok()) {
            None => Err(format!(
                "the key {kid} signs, and was not published for so long"
            )),
            Some(key) => token
                .verify(&header, &key)
                .map(drop)
                .map_err(|e| format!("{kid}: {e}")),
        };
        shared.recorder.looked_at(&kid, holds);
    }

    /// An access token that is to be validated, now and at the end.
    pub fn keep_token(&mut self, grant: Option<usize>, text: &str) -> usize {
        let token = self.shared.recorder.token(grant);
        self.shared
            .tokens
            .borrow_mut()
            .push((token, text.to_owned()));
        token
    }

    /// A new value of a kind.
    pub fn value(&self, kind: Kind, grant: Option<usize>) -> usize {
        self.shared.recorder.value(kind, grant)
    }
}
