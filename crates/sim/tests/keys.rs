//! Signing keys of an installation: they rotate on every node while nodes join, leave, crash and
//! are cut off.
//!
//! Real are the keys' life and its rows, how a node's memory follows them, and the entries by which
//! nodes announce them. A key lives for seconds here and not for months, so the clocks by which
//! keys live are a second apart and not minutes. An announcement may be lost, late and doubled, and
//! nothing repeats it: what a node looks up in the store alone must do.
//!
//! A node issues and validates only while it has read the keys a moment ago. Then every token that
//! any of them issued is validated by every other one for as long as it lives, and never do two
//! keys sign. (One that is cut off goes on issuing with the key that it knows. When that key is
//! removed, the others refuse what it issues.)
use crate::{
    executor::NOBODY,
    planted::Planted,
    world::{BEGINNING, World, lock, name},
};
use signet_consensus::ReplicatedStore;
use signet_crypto::{
    Algorithm, Secret,
    seal::{Keyring, SealingKey},
};
use signet_merge::{
    entry::Entry,
    hlc::{Hlc, Stamp},
    tell::{BoxFuture, Receipt, Tell},
};
use signet_oauth::{registry::Registry, settings::Settings};
use signet_realm::state::Replica;
use signet_registry::{
    change_writer::ChangeWriter,
    delta::{Configuration, Delta},
    keys::{KeysError, Moment, Phase, Policy, SigningKeys},
    kinds::RecordKind,
};
use signet_store::{RealmId, Store, StoreError};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
};

const ALGORITHM: Algorithm = Algorithm::Ed25519;

/// How often a node looks whether others changed the keys, in microseconds.
const LOOK_US: u64 = 500_000;

/// A node that read the keys so long ago issues and validates.
const SPEAKS_US: u64 = 1_500_000;

/// How long a token lives, in seconds.
const LIFETIME: u64 = 4;

const POLICY: Policy = Policy {
    period: 3,
    publish_ahead: 4,
    grace: 8,
};

struct Memory {
    group: u64,
    replica: Arc<Replica>,
    keyring: Arc<Keyring>,
    /// When the keys were read last.
    read_us: u64,
}

struct Token {
    kid: String,
    by: u64,
    /// Unix seconds by which it has expired.
    end: u64,
}

#[derive(Default)]
struct State {
    memories: BTreeMap<u64, Memory>,
    tokens: Vec<Token>,
    issued: u64,
    rotated: u64,
}

/// All nodes' keys, and what they signed.
pub(crate) struct Keys {
    world: Arc<World>,
    planted: Planted,
    state: Mutex<State>,
}

struct Mouth {
    all: Weak<Keys>,
    node: u64,
    group: u64,
    hlc: Hlc,
}

impl Tell for Mouth {
    fn stamp(&self) -> Stamp {
        let unix = self.all.upgrade().map(|all| all.unix(self.node));
        self.hlc.now(unix.unwrap_or_default() * 1_000)
    }

    fn tell(&self, entries: Vec<Entry>) -> BoxFuture<'static, Receipt> {
        if let Some(all) = self.all.upgrade() {
            let others = all.world.numbers().into_iter();
            for to in others.filter(|to| *to != self.node) {
                let (word, from, entries) = (all.clone(), self.node, entries.clone());
                let word = async move {
                    if word.world.passes(from, to).await {
                        word.believe(to, &entries);
                    }
                };
                let clock = all.world.clock.clone();
                clock.spawn_in(self.group, Box::pin(word));
            }
        }
        Box::pin(std::future::ready(Receipt::default()))
    }
}

fn keyring() -> Arc<Keyring> {
    let key = SealingKey {
        id: [5; 4],
        key: Secret::new([6; 32]),
        opens: signet_crypto::seal::Opens::All,
    };
    Arc::new(Keyring::new(key, Vec::new()))
}

impl Keys {
    /// Runs the keys of every node that answers callers, beside everything else.
    pub(crate) fn begin(world: &Arc<World>, planted: Planted) -> Arc<Keys> {
        let all = Arc::new(Keys {
            world: world.clone(),
            planted,
            state: Mutex::default(),
        });
        let watch = all.clone().watch();
        world.clock.spawn_in(NOBODY, Box::pin(watch));
        all
    }

    /// Unix seconds by the clock that a node's keys live by.
    fn unix(&self, node: u64) -> u64 {
        BEGINNING + self.world.clock.now_us() / 1_000_000 + node % 3
    }

    fn moment(&self, node: u64) -> Moment {
        let longest_token = match self.planted {
            Planted::KeyForgotten => 0,
            Planted::Nothing
            | Planted::DoubleRedemption
            | Planted::LostWrite
            | Planted::StaleRead
            | Planted::OneRealm
            | Planted::LyingDisks
            | Planted::NumberTwice
            | Planted::TwoStores
            | Planted::KeyAtOnce => LIFETIME,
        };
        Moment {
            now: self.unix(node),
            longest_token,
        }
    }

    fn policy(&self) -> Policy {
        match self.planted {
            Planted::KeyAtOnce => Policy {
                publish_ahead: 0,
                ..POLICY
            },
            Planted::KeyForgotten => Policy { grace: 0, ..POLICY },
            Planted::Nothing
            | Planted::DoubleRedemption
            | Planted::LostWrite
            | Planted::StaleRead
            | Planted::OneRealm
            | Planted::LyingDisks
            | Planted::NumberTwice
            | Planted::TwoStores => POLICY,
        }
    }

    fn believe(&self, node: u64, entries: &[Entry]) {
        let now_ms = self.unix(node) * 1_000;
        let state = lock(&self.state);
        if let Some(memory) = state.memories.get(&node) {
            let deltas = entries.iter().map(Delta::of_entry);
            let deltas: Result<Vec<_>, _> = deltas.collect();
            let applied = memory.replica.apply(
                &memory.keyring,
                now_ms,
                deltas.expect("what a node announced"),
            );
            applied.expect("every node has the key that seals");
        }
    }

    async fn watch(self: Arc<Keys>) {
        let mut begun: BTreeMap<u64, u64> = BTreeMap::new();
        loop {
            for node in self.world.serving() {
                let Some((store, group)) = self.world.node(node) else {
                    continue;
                };
                if begun.insert(node, group) != Some(group) {
                    lock(&self.state).memories.remove(&node);
                    let life = self.clone().live(node, group, store);
                    self.world.clock.spawn_in(group, Box::pin(life));
                }
            }
            self.judge();
            self.world.clock.sleep_us(100_000).await;
        }
    }

    /// One node's life, as the server's: the keys are read, and made where there are none; then it
    /// follows the others, and does what is due.
    async fn live(self: Arc<Keys>, node: u64, group: u64, store: Arc<ReplicatedStore>) {
        let (clock, ring) = (self.world.clock.clone(), keyring());
        let store: Arc<dyn Store> = store;
        let mouth = Arc::new(Mouth {
            all: Arc::downgrade(&self),
            node,
            group,
            hlc: Hlc::new(name(node)),
        });
        let writer = ChangeWriter::new(RealmId::default_realm(), mouth);
        writer.share();
        let (keys, replica) = loop {
            let loaded = SigningKeys::load(
                store.clone(),
                writer.clone(),
                ring.clone(),
                [ALGORITHM],
                self.policy(),
                self.moment(node),
            );
            match loaded.await {
                Ok((keys, published)) => {
                    let configuration = Configuration {
                        settings: Arc::new(Settings::new("https://issuer.example")),
                        declared: Arc::new(Registry::default()),
                    };
                    let replica = Replica::new(configuration, Registry::default(), published);
                    break (keys, Arc::new(replica.expect("keys of one set")));
                }
                Err(KeysError::Store(StoreError::Unavailable(_)) | KeysError::Changed) => {
                    clock.sleep_us(LOOK_US / 5).await;
                }
                Err(error) => panic!("{error}"),
            }
        };
        replica.begin_merging();
        let memory = Memory {
            group,
            replica: replica.clone(),
            keyring: ring.clone(),
            read_us: 0,
        };
        lock(&self.state).memories.insert(node, memory);
        // What was read before it could be merged is read again, as the server does.
        while self
            .read_states(node, &keys, &*store, &replica, &ring)
            .await
            .is_err()
        {
            clock.sleep_us(LOOK_US / 5).await;
        }
        loop {
            let from_us = clock.now_us();
            let show = |deltas: Vec<Delta>| {
                let now_ms = self.unix(node) * 1_000;
                let applied = replica.apply(&ring, now_ms, deltas);
                applied.expect("every node has the key that seals");
            };
            match keys.tick(&ring, self.moment(node), show).await {
                Ok(_) => {
                    let list = keys.list().await;
                    let active = list.iter().filter(|key| key.phase == Phase::Active);
                    assert_eq!(active.count(), 1, "{node}: {list:?}");
                    if let Some(memory) = lock(&self.state).memories.get_mut(&node) {
                        memory.read_us = from_us;
                    }
                }
                Err(KeysError::Store(StoreError::Unavailable(_)) | KeysError::Changed) => {}
                Err(error) => panic!("{error}"),
            }
            // An operator, at any node; now and then twice in a row.
            for _ in 0..*self.world.random.one_of(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 2]) {
                let show = |deltas: Vec<Delta>| {
                    let applied = replica.apply(&ring, self.unix(node) * 1_000, deltas);
                    applied.expect("every node has the key that seals");
                };
                match keys.rotate(None, &ring, self.moment(node), show).await {
                    Ok(()) => lock(&self.state).rotated += 1,
                    Err(KeysError::Store(StoreError::Unavailable(_)) | KeysError::Changed) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            let until_us = clock.now_us() + LOOK_US;
            while clock.now_us() < until_us {
                clock
                    .sleep_us(self.world.random.between(50_000, 250_000))
                    .await;
                self.issue(node);
            }
        }
    }

    async fn read_states(
        &self,
        node: u64,
        keys: &SigningKeys,
        store: &dyn Store,
        replica: &Replica,
        ring: &Keyring,
    ) -> Result<(), StoreError> {
        for key in keys.list().await {
            let (kind, now) = (RecordKind::Key, self.unix(node));
            let (state, _) = ChangeWriter::stored(store, kind, &key.kid, now).await?;
            let heard = Delta::Heard {
                kind,
                name: key.kid,
                state,
                stored: true,
            };
            let applied = replica.apply(ring, now * 1_000, [heard]);
            applied.expect("every node has the key that seals");
        }
        Ok(())
    }

    /// A node issues a token, where it has read the keys a moment ago.
    fn issue(&self, node: u64) {
        let now_us = self.world.clock.now_us();
        let mut state = lock(&self.state);
        let Some(memory) = state.memories.get(&node) else {
            return;
        };
        if now_us >= memory.read_us + SPEAKS_US {
            return;
        }
        let snapshot = memory.replica.snapshot();
        let signer = snapshot.keys.signer(ALGORITHM).expect("a key that signs");
        let token = Token {
            kid: signer.kid().to_owned(),
            by: node,
            end: self.unix(node) + LIFETIME,
        };
        state.tokens.push(token);
        state.issued += 1;
        drop(state);
        self.judge();
    }

    /// Every node that has read the keys a moment ago validates every token that has not expired.
    fn judge(&self) {
        let now_us = self.world.clock.now_us();
        let mut state = lock(&self.state);
        let oldest = BEGINNING + now_us / 1_000_000;
        state.tokens.retain(|token| token.end > oldest);
        for (node, memory) in &state.memories {
            let lives = self
                .world
                .node(*node)
                .is_some_and(|(_, now)| now == memory.group);
            if !lives || now_us >= memory.read_us + SPEAKS_US {
                continue;
            }
            let (snapshot, now) = (memory.replica.snapshot(), self.unix(*node));
            for token in state.tokens.iter().filter(|token| token.end > now) {
                let Token { kid, by, end } = token;
                assert!(
                    snapshot.keys.verifying_key(kid).is_some(),
                    "{node} does not know the key of a token of {by} that lives until {end}; it is {now}"
                );
            }
        }
    }

    /// When all is well: every node signs with the same key. How many tokens were issued, and how
    /// often somebody asked for the next key.
    pub(crate) async fn end(&self) -> (u64, u64) {
        // Whatever is due is done, and the next step is seconds away.
        let clock = &self.world.clock;
        let end_us = clock.now_us() + 60_000_000;
        loop {
            clock.sleep_us(100_000).await;
            let signers: Vec<String> = {
                let state = lock(&self.state);
                let memories = state.memories.iter();
                let lives = memories.filter(|(node, memory)| {
                    let now_us = clock.now_us();
                    self.world.node(**node).is_some() && now_us < memory.read_us + SPEAKS_US
                });
                let signer = |memory: &Memory| {
                    let snapshot = memory.replica.snapshot();
                    let signer = snapshot.keys.signer(ALGORITHM).expect("a key that signs");
                    signer.kid().to_owned()
                };
                lives.map(|(_, memory)| signer(memory)).collect()
            };
            let all = signers.len() == self.world.numbers().len();
            if all && signers.iter().all(|kid| *kid == signers[0]) {
                let state = lock(&self.state);
                return (state.issued, state.rotated);
            }
            assert!(clock.now_us() < end_us, "the nodes sign with {signers:?}");
        }
    }
}
