//! What clients asked, where, when, and what they were answered.
//!
//! One clock tells all moments: that of the process that asks. An answer that did not come, or that
//! says that the server cannot tell now, leaves open whether the act was done; the checker takes it
//! for both.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// What can be used once, and what is asked of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// An authorization code, redeemed.
    Code,
    /// A refresh token, rotated.
    RefreshToken,
    /// A one-time code from a letter, typed.
    MailCode,
    /// The id of a client's assertion (`private_key_jwt`).
    Assertion,
    /// A DPoP proof.
    DpopProof,
    /// A device code, redeemed.
    DeviceCode,
    /// A pushed request, opened.
    PushedRequest,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 7] = [
        Kind::Code,
        Kind::RefreshToken,
        Kind::MailCode,
        Kind::Assertion,
        Kind::DpopProof,
        Kind::DeviceCode,
        Kind::PushedRequest,
    ];

    /// As a report calls it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Code => "authorization code",
            Kind::RefreshToken => "refresh token",
            Kind::MailCode => "mailed one-time code",
            Kind::Assertion => "client assertion",
            Kind::DpopProof => "DPoP proof",
            Kind::DeviceCode => "device code",
            Kind::PushedRequest => "pushed request",
        }
    }
}

/// What was answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It was done; of a validation: the token is active.
    Done,
    /// It was refused as used, unknown or ended; of a validation: the token is not active.
    Refused,
    /// No answer, or one that leaves it open.
    Unknown,
}

/// One request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operation {
    /// Which node was asked.
    pub node: usize,
    /// When it was sent, from the beginning of the history.
    pub invoked: Duration,
    /// When its answer was there, or was given up.
    pub returned: Duration,
    /// What was answered.
    pub outcome: Outcome,
}

/// A single-use value and its outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Value {
    /// What it is.
    pub kind: Kind,
    /// What ends with it, and it with that.
    pub grant: Option<usize>,
    /// Every use.
    pub uses: Vec<Operation>,
}

/// An access token and its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Token {
    /// Which grant it belongs to.
    pub grant: Option<usize>,
    /// Revocations of it alone.
    pub ends: Vec<Operation>,
    /// Validations.
    pub checks: Vec<Operation>,
}

/// What a person's consent gave: a code, and all that was issued for it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Grant {
    /// Revocations of all of it, by its refresh token or its session.
    pub ends: Vec<Operation>,
}

/// A node that some others, or its clients, could not reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Which node.
    pub node: usize,
    /// From when.
    pub from: Duration,
    /// When the fault was taken away.
    pub healed: Duration,
    /// When it had been told what it missed.
    pub until: Duration,
}

/// See the module.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct History {
    /// Single-use values.
    pub values: Vec<Value>,
    /// Access tokens.
    pub tokens: Vec<Token>,
    /// Grants.
    pub grants: Vec<Grant>,
    /// What was not as it was answered, seen on the way: a session that was gone, say.
    pub gone: Vec<String>,
    /// Nodes that acknowledged a revocation and did not have it.
    pub unkept: Vec<String>,
    /// Tokens that a relying party refused by itself, with keys that it had fetched before.
    pub refused: Vec<String>,
    /// The keys that signed tokens.
    pub signed_with: BTreeSet<String>,
    /// Which nodes were cut off, and when.
    pub cuts: Vec<Cut>,
    /// Requests for tokens that need no store: client_credentials.
    pub plain: Vec<Operation>,
}

/// A history while it is written.
pub struct Recorder {
    begun: Instant,
    history: Mutex<History>,
}

impl Recorder {
    /// An empty one; its time begins now.
    pub fn new() -> Recorder {
        Recorder {
            begun: Instant::now(),
            history: Mutex::default(),
        }
    }

    /// From the beginning to now.
    pub fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new grant.
    pub fn grant(&self) -> usize {
        let mut history = self.history();
        history.grants.push(Grant::default());
        history.grants.len() - 1
    }

    /// A new single-use value.
    pub fn value(&self, kind: Kind, grant: Option<usize>) -> usize {
        let mut history = self.history();
        history.values.push(Value {
            kind,
            grant,
            uses: Vec::new(),
        });
        history.values.len() - 1
    }

    /// A new access token.
    pub fn token(&self, grant: Option<usize>) -> usize {
        let mut history = self.history();
        history.tokens.push(Token {
            grant,
            ..Token::default()
        });
        history.tokens.len() - 1
    }

    /// A use of a value.
    pub fn used(&self, value: usize, operation: Operation) {
        if let Some(value) = self.history().values.get_mut(value) {
            value.uses.push(operation);
        }
    }

    /// A validation of a token.
    pub fn checked(&self, token: usize, operation: Operation) {
        if let Some(token) = self.history().tokens.get_mut(token) {
            token.checks.push(operation);
        }
    }

    /// A revocation of a token.
    pub fn token_ended(&self, token: usize, operation: Operation) {
        if let Some(token) = self.history().tokens.get_mut(token) {
            token.ends.push(operation);
        }
    }

    /// A revocation of a grant.
    pub fn grant_ended(&self, grant: usize, operation: Operation) {
        if let Some(grant) = self.history().grants.get_mut(grant) {
            grant.ends.push(operation);
        }
    }

    /// A request that needs no store.
    pub fn plain(&self, operation: Operation) {
        self.history().plain.push(operation);
    }

    /// Something that was answered and is not there.
    pub fn gone(&self, what: String) {
        self.history().gone.push(what);
    }

    /// A node that acknowledged a revocation and did not have it.
    pub fn unkept(&self, what: String) {
        self.history().unkept.push(what);
    }

    /// A relying party looked at a token by itself: the key that signed it, and whether the token
    /// holds.
    pub fn looked_at(&self, key: &str, holds: Result<(), String>) {
        let mut history = self.history();
        if !history.signed_with.contains(key) {
            history.signed_with.insert(key.to_owned());
        }
        if let Err(why) = holds {
            history.refused.push(why);
        }
    }

    /// A node is cut off from now on; until [`Recorder::joined`].
    pub fn cut(&self, node: usize) {
        let from = self.now();
        self.history().cuts.push(Cut {
            node,
            from,
            healed: Duration::MAX,
            until: Duration::MAX,
        });
    }

    /// Nothing keeps nodes apart any more.
    pub fn healed(&self) {
        let now = self.now();
        for cut in &mut self.history().cuts {
            cut.healed = cut.healed.min(now);
        }
    }

    /// All nodes reach each other, and know what they missed.
    pub fn joined(&self) {
        let now = self.now();
        for cut in &mut self.history().cuts {
            cut.until = cut.until.min(now);
        }
    }

    /// What was recorded so far.
    pub fn taken(&self) -> History {
        self.history().clone()
    }
}

impl History {
    /// Every request, with what it was for.
    pub fn operations(&self) -> impl Iterator<Item = (&'static str, &Operation)> {
        let values = self.values.iter();
        let uses = values.flat_map(|value| value.uses.iter().map(|o| (value.kind.name(), o)));
        let checks = self.tokens.iter().flat_map(|token| &token.checks);
        let ends = self.tokens.iter().flat_map(|token| &token.ends);
        let ends = ends.chain(self.grants.iter().flat_map(|grant| &grant.ends));
        let plain = self.plain.iter();
        uses.chain(checks.map(|o| ("introspection", o)))
            .chain(ends.map(|o| ("revocation", o)))
            .chain(plain.map(|o| ("client_credentials", o)))
    }

    /// How many requests there were of each sort.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (name, _) in self.operations() {
            *counts.entry(name).or_default() += 1;
        }
        counts
    }
}
