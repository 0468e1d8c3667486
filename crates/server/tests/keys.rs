//! The life of the signing keys, with a moved clock.
use crate::common::change_writer;
use signet_crypto::{
    Algorithm,
    seal::{Keyring, SealingKey},
};
use signet_jose::{jwk::JwkSet, jws, jwt::Typ};
use signet_oauth::request::{IssuerKeys, IssuerSigners};
use signet_registry::delta::Delta;
use signet_registry::keys::{
    KeyKind, KeySet, KeysError, Moment, Phase, Policy, Published, SigningKeys,
};
use signet_store::{Change, Layer, MemoryStore, Outcome, Store, StoreFuture, Table};
use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

const ALGORITHMS: [Algorithm; 2] = [Algorithm::Es256, Algorithm::EdDsa];
const LIFETIME: u64 = 600;
const CACHED_FOR: u64 = 300;
const HOUR: u64 = 3_600;
const POLICY: Policy = Policy {
    period: 6 * HOUR,
    publish_ahead: 600,
    grace: 60,
};

fn kinds() -> Vec<KeyKind> {
    ALGORITHMS.map(KeyKind::Jose).to_vec()
}

fn at(now: u64) -> Moment {
    Moment {
        now,
        longest_token: LIFETIME,
    }
}

fn ring() -> Arc<Keyring> {
    Arc::new(Keyring::new(SealingKey::generate(), Vec::new()))
}

/// What a node has in memory, changed by what the keeper says and by nothing else.
struct Memory(Mutex<Published>);

impl Memory {
    fn new(published: Published) -> Memory {
        Memory(Mutex::new(published))
    }

    fn put(&self, ring: &Keyring, deltas: Vec<Delta>) {
        let mut published = self.0.lock().expect("not poisoned");
        for delta in deltas {
            match delta {
                Delta::Key { kid, record } => published
                    .apply(&kid, record.as_deref(), ring)
                    .expect("opens"),
                other => panic!("{other:?}"),
            }
        }
    }

    fn set(&self) -> KeySet {
        let published = self.0.lock().expect("not poisoned");
        published.render().expect("renders")
    }
}

/// An issuer: the keys, and what its snapshot would hold.
struct Issuer {
    keys: SigningKeys,
    ring: Arc<Keyring>,
    memory: Memory,
}

impl Issuer {
    async fn start(store: Arc<dyn Store>, ring: Arc<Keyring>, now: u64) -> Issuer {
        let (keys, published) = SigningKeys::load(
            store,
            change_writer(),
            ring.clone(),
            kinds(),
            POLICY,
            at(now),
        )
        .await
        .expect("loads");
        Issuer {
            keys,
            ring,
            memory: Memory::new(published),
        }
    }

    fn publish(&self, deltas: Vec<Delta>) {
        self.memory.put(&self.ring, deltas);
    }

    fn set(&self) -> KeySet {
        self.memory.set()
    }

    async fn tick(&self, now: u64) {
        let publish = |deltas| self.publish(deltas);
        let ticked = self.keys.tick(&self.ring, at(now), publish).await;
        ticked.expect("ticks");
    }

    async fn rotate(&self, now: u64) {
        let publish = |deltas| self.publish(deltas);
        let rotated = self.keys.rotate(None, &self.ring, at(now), publish).await;
        rotated.expect("rotates");
    }

    async fn rotate_compromised(&self, algorithm: Option<Algorithm>, standby_too: bool, now: u64) {
        let publish = |deltas| self.publish(deltas);
        self.keys
            .rotate_compromised(
                algorithm.map(KeyKind::Jose),
                standby_too,
                &self.ring,
                at(now),
                publish,
            )
            .await
            .expect("rotates");
    }

    fn kid(&self, algorithm: Algorithm) -> String {
        let set = self.set();
        set.signer(algorithm).expect("is active").kid().to_owned()
    }

    fn sign(&self, algorithm: Algorithm, exp: u64) -> String {
        self.set()
            .signer(algorithm)
            .expect("is active")
            .sign(Typ::AccessToken, |w| w.member("exp").number(exp))
            .expect("signs")
    }
}

fn kid_of(token: &str) -> String {
    let compact = jws::split(token.as_bytes(), 4096).expect("a compact JWS");
    let header = compact.decode_header().expect("a header");
    header.kid.expect("a kid")
}

/// A resource server that fetches the JWKS when its copy is older than five minutes, and never
/// otherwise.
struct CachingClient {
    jwks: JwkSet,
    fetched_at: u64,
}

impl CachingClient {
    fn fetch(issuer: &Issuer, now: u64) -> CachingClient {
        CachingClient {
            jwks: JwkSet::parse(issuer.set().jwks()).expect("a key set"),
            fetched_at: now,
        }
    }

    fn refresh(&mut self, issuer: &Issuer, now: u64) {
        if now - self.fetched_at > CACHED_FOR {
            *self = CachingClient::fetch(issuer, now);
        }
    }

    fn accepts(&self, token: &str) -> bool {
        let compact = jws::split(token.as_bytes(), 4096).expect("a compact JWS");
        let header = compact.decode_header().expect("a header");
        let Some(jwk) = self.jwks.keys.iter().find(|k| k.kid == header.kid) else {
            return false;
        };
        let key = jwk.verifying_key(header.alg).expect("fits the algorithm");
        compact.verify(&header, &key).is_ok()
    }
}

#[tokio::test]
async fn a_client_that_caches_the_jwks_for_five_minutes_never_meets_an_unknown_key() {
    let start = 1_000_000;
    let issuer = Issuer::start(Arc::new(MemoryStore::new()), ring(), start).await;
    let mut clients = [0, 100, 299].map(|offset| CachingClient {
        fetched_at: start - offset,
        ..CachingClient::fetch(&issuer, start)
    });
    let mut alive: Vec<(u64, String)> = Vec::new();
    let mut seen = HashSet::new();
    for minute in 0..30 * HOUR / 60 {
        let now = start + minute * 60;
        issuer.tick(now).await;
        // Commands come when they come: also twice within the time that a key must be published.
        if [500, 503, 511, 1_200].contains(&minute) {
            issuer.rotate(now).await;
        }
        alive.retain(|(end, _)| *end > now);
        if minute % 5 == 0 {
            for algorithm in ALGORITHMS {
                alive.push((now + LIFETIME, issuer.sign(algorithm, now + LIFETIME)));
            }
        }
        for algorithm in ALGORITHMS {
            seen.insert(issuer.kid(algorithm));
        }
        for client in &mut clients {
            client.refresh(&issuer, now);
            for (_, token) in &alive {
                assert!(client.accepts(token), "minute {minute}");
            }
        }
        for (_, token) in &alive {
            assert!(issuer.set().verifying_key(&kid_of(token)).is_some());
        }
    }
    assert!(seen.len() >= 2 * 6, "{} keys in thirty hours", seen.len());
    // What has ended is gone: an active, a standby and perhaps a retired key for each algorithm.
    assert!(issuer.keys.list().await.len() <= 6);
}

#[tokio::test]
async fn a_retired_key_goes_when_the_last_token_that_it_signed_has_ended() {
    let issuer = Issuer::start(Arc::new(MemoryStore::new()), ring(), 1_000).await;
    issuer.tick(1_000).await;
    let kid = issuer.kid(Algorithm::Es256);
    let rotated = 1_000 + POLICY.publish_ahead;
    issuer.rotate(rotated).await;
    assert_ne!(issuer.kid(Algorithm::Es256), kid);
    let end = rotated + LIFETIME + POLICY.grace;
    issuer.tick(end - 1).await;
    assert!(issuer.set().verifying_key(&kid).is_some());
    issuer.tick(end).await;
    assert!(issuer.set().verifying_key(&kid).is_none());
}

#[tokio::test]
async fn a_rotation_waits_until_the_next_key_has_been_published_for_long_enough() {
    let issuer = Issuer::start(Arc::new(MemoryStore::new()), ring(), 1_000).await;
    issuer.tick(1_000).await;
    let first = issuer.kid(Algorithm::Es256);
    issuer.rotate(1_100).await;
    assert_eq!(issuer.kid(Algorithm::Es256), first);
    assert!(issuer.keys.list().await.iter().any(|k| k.rotates_soon));
    issuer.tick(1_000 + POLICY.publish_ahead - 1).await;
    assert_eq!(issuer.kid(Algorithm::Es256), first);
    issuer.tick(1_000 + POLICY.publish_ahead).await;
    assert_ne!(issuer.kid(Algorithm::Es256), first);
    assert!(!issuer.keys.list().await.iter().any(|k| k.rotates_soon));
}

#[tokio::test]
async fn an_emergency_withdraws_the_key_and_the_standby_is_already_known() {
    let issuer = Issuer::start(Arc::new(MemoryStore::new()), ring(), 1_000).await;
    issuer.tick(1_000).await;
    let client = CachingClient::fetch(&issuer, 1_000);
    let (stolen, other) = (issuer.kid(Algorithm::Es256), issuer.kid(Algorithm::EdDsa));
    issuer
        .rotate_compromised(Some(Algorithm::Es256), false, 1_001)
        .await;
    assert!(issuer.set().verifying_key(&stolen).is_none());
    let published = CachingClient::fetch(&issuer, 1_001).jwks;
    let is_stolen = |kid: Option<&str>| kid == Some(stolen.as_str());
    assert!(!published.keys.iter().any(|k| is_stolen(k.kid.as_deref())));
    assert_eq!(issuer.kid(Algorithm::EdDsa), other);
    assert!(client.accepts(&issuer.sign(Algorithm::Es256, 2_000)));

    let known: HashSet<String> = issuer
        .keys
        .list()
        .await
        .into_iter()
        .map(|k| k.kid)
        .collect();
    issuer.rotate_compromised(None, true, 1_002).await;
    let keys = issuer.keys.list().await;
    assert_eq!(keys.len(), 4);
    assert!(keys.iter().all(|k| !known.contains(&k.kid)));
}

#[tokio::test]
async fn the_keys_outlive_a_restart_and_the_private_halves_rest_sealed() {
    let store = Arc::new(MemoryStore::new());
    let ring = ring();
    let issuer = Issuer::start(store.clone(), ring.clone(), 1_000).await;
    issuer.tick(1_000).await;
    let again = Issuer::start(store.clone(), ring, 2_000).await;
    assert_eq!(issuer.set().jwks(), again.set().jwks());
    let rows = store.page(Table::SigningKey, None, 100, 2_000).await;
    let rows = rows.expect("answers");
    assert_eq!(rows.len(), 4);
    for algorithm in ALGORITHMS {
        assert_eq!(issuer.kid(algorithm), again.kid(algorithm));
        let set = issuer.set();
        let private = set.signer(algorithm).expect("is active").key().to_private();
        let private = signet_encoding::base64url::encode(private.expect("exports").expose());
        for (_, row) in &rows {
            let text = String::from_utf8(row.value.clone()).expect("JSON");
            assert!(!text.contains(&private));
        }
    }
}

#[tokio::test]
async fn other_sealing_keys_do_not_start_the_server() {
    let store = Arc::new(MemoryStore::new());
    Issuer::start(store.clone(), ring(), 1_000).await;
    let loaded =
        SigningKeys::load(store, change_writer(), ring(), kinds(), POLICY, at(1_000)).await;
    assert!(matches!(loaded, Err(KeysError::Sealed)));
}

#[tokio::test]
async fn after_a_rewrap_the_old_sealing_key_is_not_needed() {
    let store = Arc::new(MemoryStore::new());
    let (old, new) = (SealingKey::generate(), SealingKey::generate());
    let before = Arc::new(Keyring::new(old.clone(), vec![]));
    let issuer = Issuer::start(store.clone(), before, 1_000).await;
    issuer.tick(1_000).await;
    let both = Keyring::new(new.clone(), vec![old]);
    let publish = |deltas| issuer.memory.put(&both, deltas);
    let first = issuer.keys.rewrap(&both, 1_001, publish).await;
    assert_eq!(first.expect("rewraps"), 4);
    let second = issuer.keys.rewrap(&both, 1_001, publish).await;
    assert_eq!(second.expect("rewraps"), 0);
    let after = Arc::new(Keyring::new(new, vec![]));
    let again = Issuer::start(store, after, 1_002).await;
    assert_eq!(again.set().jwks(), issuer.set().jwks());
}

#[tokio::test]
async fn an_algorithm_that_left_the_settings_still_verifies_and_then_goes() {
    let store = Arc::new(MemoryStore::new());
    let ring = ring();
    let issuer = Issuer::start(store.clone(), ring.clone(), 1_000).await;
    issuer.tick(1_000).await;
    let kid = issuer.kid(Algorithm::EdDsa);
    let left = vec![KeyKind::Jose(Algorithm::Es256)];
    let (keys, published) = SigningKeys::load(
        store,
        change_writer(),
        ring.clone(),
        left,
        POLICY,
        at(2_000),
    )
    .await
    .expect("loads");
    let memory = Memory::new(published);
    let set = memory.set();
    assert!(set.signer(Algorithm::EdDsa).is_none());
    assert!(set.verifying_key(&kid).is_some());
    let end = 2_000 + LIFETIME + POLICY.grace;
    let ticked = keys.tick(&ring, at(end), |deltas| memory.put(&ring, deltas));
    assert!(ticked.await.expect("ticks"));
    assert!(memory.set().verifying_key(&kid).is_none());
    assert!(keys.list().await.iter().all(|k| k.phase != Phase::Retired));
}

/// The key that signs compact tokens, its id, and a token of it.
fn compact_token(set: &KeySet) -> (Vec<u8>, Vec<u8>) {
    let key = set.compact_signer().expect("is active");
    let payload = signet_compact::Payload {
        expires_at: 1_000_000,
        ..signet_compact::Payload::default()
    };
    let mut token = Vec::new();
    key.sign_into(signet_compact::Version::V1, &payload, &mut token)
        .expect("signs");
    (key.key_id().to_vec(), token)
}

fn accepts(set: &KeySet, token: &[u8]) -> bool {
    let policy = signet_compact::Policy::any_audience(1_000);
    let keys = set.compact_keys().expect("there are some");
    keys.verify(token, &policy).is_ok()
}

fn published(set: &KeySet) -> usize {
    let document: serde_json::Value =
        serde_json::from_slice(set.compact_keys_document()).expect("JSON");
    document["keys"].as_array().expect("an array").len()
}

#[tokio::test]
async fn keys_of_compact_tokens_have_the_same_life_and_a_symmetric_one_is_published_nowhere() {
    use signet_compact::Algorithm as Compact;
    for algorithm in [Compact::HmacSha256, Compact::Ed25519, Compact::MlDsa44] {
        let kinds = [KeyKind::Jose(Algorithm::Es256), KeyKind::Compact(algorithm)];
        let kind = kinds[1];
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let ring = ring();
        let load = SigningKeys::load(
            store.clone(),
            change_writer(),
            ring.clone(),
            kinds,
            POLICY,
            at(1_000),
        );
        let (keys, published_keys) = load.await.expect("loads");
        let memory = Memory::new(published_keys);
        let set = || memory.set();
        let publish = |deltas| memory.put(&ring, deltas);
        keys.tick(&ring, at(1_000), publish).await.expect("ticks");
        // An active and a standby key; neither is in the JWKS, which has the other two.
        let public = match algorithm {
            Compact::HmacSha256 => 0,
            _ => 2,
        };
        assert_eq!(published(&set()), public, "{algorithm:?}");
        assert_eq!(
            JwkSet::parse(set().jwks()).expect("a key set").keys.len(),
            2
        );

        let (first, token) = compact_token(&set());
        assert!(accepts(&set(), &token));
        let rotated = 1_000 + POLICY.publish_ahead;
        let rotate = keys.rotate(Some(kind), &ring, at(rotated), publish);
        rotate.await.expect("rotates");
        let (second, _) = compact_token(&set());
        assert_ne!(first, second);
        assert!(accepts(&set(), &token));

        // A restart changes nothing, and the private halves rest sealed.
        let again = SigningKeys::load(
            store.clone(),
            change_writer(),
            ring.clone(),
            kinds,
            POLICY,
            at(rotated),
        );
        let (_, again) = again.await.expect("loads");
        let again = again.render().expect("renders");
        assert_eq!(again.compact_keys_document(), set().compact_keys_document());
        assert!(accepts(&again, &token));
        let private = again.compact_signer().expect("is active").to_bytes();
        let private = private.expect("exports");
        // Behind the message's head: the secret itself.
        let secret = signet_encoding::base64url::encode(&private.expose()[4..34]);
        let rows = store.page(Table::SigningKey, None, 100, rotated).await;
        for (_, row) in rows.expect("answers") {
            assert!(
                !String::from_utf8(row.value)
                    .expect("JSON")
                    .contains(&secret)
            );
        }

        let end = rotated + LIFETIME + POLICY.grace;
        keys.tick(&ring, at(end - 1), publish).await.expect("ticks");
        assert!(accepts(&set(), &token));
        keys.tick(&ring, at(end), publish).await.expect("ticks");
        assert!(!accepts(&set(), &token));

        let (_, stolen) = compact_token(&set());
        let emergency = keys.rotate_compromised(Some(kind), false, &ring, at(end), publish);
        emergency.await.expect("rotates");
        assert!(!accepts(&set(), &stolen));
        assert!(keys.list().await.iter().any(|key| key.kind == kind));
    }
}

/// A store that keeps what was asked of it: the rows of each change by table, and whether it was
/// done.
#[derive(Default)]
struct Counting {
    inner: MemoryStore,
    changes: Mutex<Vec<(Vec<Table>, bool)>>,
}

impl Counting {
    fn changes_of_keys(&self) -> Vec<(Vec<Table>, bool)> {
        let mut changes = std::mem::take(&mut *self.changes.lock().expect("not poisoned"));
        changes.retain(|(tables, _)| tables.contains(&Table::SigningKey));
        changes
    }
}

impl Layer for Counting {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    fn commit(&self, change: Change, now: u64) -> StoreFuture<'_, Outcome> {
        Box::pin(async move {
            let ops = std::iter::once(&change.first).chain(&change.then);
            let tables = ops.map(|op| op.key().table).collect();
            // Two that begin at once read before either of them writes.
            tokio::task::yield_now().await;
            let done = self.inner.commit(change, now).await;
            let is_done = done.as_ref().is_ok_and(Outcome::is_done);
            self.changes
                .lock()
                .expect("not poisoned")
                .push((tables, is_done));
            done
        })
    }
}

/// As many kinds as a realm has unless told otherwise, and one more; without RSA, whose keys take
/// their time.
fn many_kinds() -> Vec<KeyKind> {
    let algorithms = [
        Algorithm::Es256,
        Algorithm::Es384,
        Algorithm::Es512,
        Algorithm::EdDsa,
        Algorithm::Ed25519,
        Algorithm::MlDsa44,
        Algorithm::MlDsa65,
        Algorithm::MlDsa87,
    ];
    let compact = [
        signet_compact::Algorithm::HmacSha256,
        signet_compact::Algorithm::Ed25519,
        signet_compact::Algorithm::MlDsa44,
    ];
    let jose = algorithms.map(KeyKind::Jose).into_iter();
    jose.chain(compact.map(KeyKind::Compact)).collect()
}

async fn load(
    store: Arc<dyn Store>,
    kinds: Vec<KeyKind>,
    ring: Arc<Keyring>,
) -> (SigningKeys, KeySet) {
    let loaded = SigningKeys::load(store, change_writer(), ring, kinds, POLICY, at(1_000));
    let (keys, published) = loaded.await.expect("loads");
    (keys, published.render().expect("renders"))
}

#[tokio::test]
async fn fresh_keys_are_one_change_and_each_has_its_line_in_the_trail() {
    let place = tempfile::tempdir().expect("a directory");
    let (store, ring, kinds) = (Arc::new(Counting::default()), ring(), many_kinds());
    let clock = Arc::<crate::common::TestClock>::default();
    let options = signet_audit::AuditOptions::new(place.path().join("audit"));
    let opened = signet_audit::Audit::open(options, store.clone(), &ring, clock).await;
    let audit = opened.expect("opens").0;
    let recorded = audit.recorded(store.clone());
    let (keys, _) = load(recorded, kinds.clone(), ring.clone()).await;

    let count = |tables: &[Table], table| tables.iter().filter(|one| **one == table).count();
    let changes = store.changes_of_keys();
    assert_eq!(changes.len(), 1);
    let (tables, is_done) = &changes[0];
    assert!(is_done);
    assert_eq!(count(tables, Table::SigningKey), kinds.len());
    assert_eq!(count(tables, Table::Audit), kinds.len());
    // What stands by is another one, and a rotation of all of them a third.
    let ticked = keys.tick(&ring, at(1_000), |_| {}).await;
    ticked.expect("ticks");
    let changes = store.changes_of_keys();
    assert_eq!(changes.len(), 1);
    assert_eq!(count(&changes[0].0, Table::SigningKey), kinds.len());
    assert_eq!(count(&changes[0].0, Table::Audit), kinds.len());
    let later = 1_000 + POLICY.period;
    let ticked = keys.tick(&ring, at(later), |_| {}).await;
    ticked.expect("ticks");
    let changes = store.changes_of_keys();
    // The next ones sign and the former ones do not; and behind them new ones stand by.
    assert_eq!(changes.len(), 2);
    assert_eq!(count(&changes[0].0, Table::SigningKey), 2 * kinds.len());
    assert_eq!(count(&changes[0].0, Table::Audit), kinds.len());
    tokio::task::spawn_blocking(move || audit.close())
        .await
        .expect("closes");
}

#[tokio::test]
async fn two_nodes_that_begin_at_once_have_the_keys_of_one_of_them() {
    let (store, ring, kinds) = (Arc::new(Counting::default()), ring(), many_kinds());
    let one = load(store.clone(), kinds.clone(), ring.clone());
    let other = load(store.clone(), kinds.clone(), ring.clone());
    let ((_, one), (_, other)) = tokio::join!(one, other);
    let changes = store.changes_of_keys();
    let done = changes.iter().filter(|(_, done)| *done).count();
    assert_eq!((changes.len(), done), (2, 1), "the second was refused");
    let kid = |set: &KeySet| {
        set.signer(Algorithm::Es256)
            .expect("signs")
            .kid()
            .to_owned()
    };
    assert_eq!(kid(&one), kid(&other));
    let jwks = |set: &KeySet| {
        let set = JwkSet::parse(set.jwks()).expect("parses");
        let mut kids: Vec<Option<String>> = set.keys.into_iter().map(|key| key.kid).collect();
        kids.sort();
        kids
    };
    assert_eq!(jwks(&one), jwks(&other));
    let rows = store.inner.page(Table::SigningKey, None, 100, 2_000).await;
    assert_eq!(rows.expect("answers").len(), kinds.len());
}
