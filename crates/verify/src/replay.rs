//! What may come once: DPoP proofs (RFC 9449 section 11.1) and tokens that a policy accepts once
//! only, such as logout tokens.
//!
//! **Bounded in bytes.** An id is kept as three bytes of a keyed hash in a cuckoo filter (two
//! buckets of four places for each id), so 64 MiB hold 50,000 proofs a second for the whole time in
//! which each could come again. An id that is new is taken for a known one about once in two
//! million times, and then that one proof is refused; a known one is never taken for new. The hash
//! is keyed with randomness of the process: nobody can choose ids that crowd one bucket.
//!
//! **Bounded by key.** While less than half of the bytes are in use, a key may bring as many ids as
//! it likes. Beyond, a key that has more than its share of them is refused, and the others go on:
//! who fills the guard locks himself out.
//!
//! **Dated by what was signed.** An id belongs to the slot of its proof's `iat` or its token's
//! `exp`, which a replay cannot change. So one slot is looked into, and a slot is dropped as a
//! whole once nothing of it could be accepted any more. Nothing is forgotten sooner: where there is
//! no room, further ids are refused.
//!
//! A guard outlives the verifier that it was made for: a reload hands it on
//! ([`crate::Builder::replay_guard`]). It ends with the process; a policy with server nonces
//! ([`crate::Policy::proof_nonces`]) refuses older proofs after a restart.

use signet_crypto::hash::Sha256;
use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
};

/// Seconds that a slot spans.
const SLOT: u64 = 8;
/// Seconds that an id of a token is kept beyond the token's `exp`: the largest leeway that a policy
/// may have, and a slot.
const BEYOND_EXP: u64 = 600 + SLOT;
/// Shards, each with its own lock.
const SHARDS: usize = 8;
/// Places in a bucket, and bytes of one.
const PLACES: usize = 4;
const PLACE: usize = 3;
/// Moves after which a segment counts as full.
const MAX_MOVES: usize = 200;
/// Buckets of a first segment.
const LEAST_BUCKETS: usize = 8;
/// Under pressure, one key may have this part of all ids that fit.
const SHARES: usize = 128;
/// Counters of ids by key: two rows.
const COUNTERS: usize = 8192;
/// With each slot that begins, counters lose this part: they tell the last four minutes, about.
const DECAY: u32 = 32;

/// What an id belongs to, and so when it can be forgotten.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Dated {
    /// A DPoP proof, by its `iat`.
    Proof(u64),
    /// A token, by its `exp`.
    Token(u64),
}

impl Dated {
    fn slot(self) -> Dated {
        match self {
            Dated::Proof(iat) => Dated::Proof(iat / SLOT),
            Dated::Token(exp) => Dated::Token(exp / SLOT),
        }
    }

    /// First second in which nothing of this slot could be accepted.
    fn dropped_at(self, proof_life: u64) -> u64 {
        let (slot, life) = match self {
            Dated::Proof(slot) => (slot, proof_life),
            Dated::Token(slot) => (slot, BEYOND_EXP),
        };
        (slot + 1).saturating_mul(SLOT).saturating_add(life)
    }
}

/// The answer about one id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// Never before.
    First,
    /// It came before, or from a time of which nothing is known any more.
    Before,
    /// Its key has used its share.
    ShareUsed,
    /// Nothing more fits.
    Full,
}

/// How full a guard is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplayUse {
    /// Bytes in use.
    pub bytes: usize,
    /// Bytes that may be used.
    pub limit: usize,
    /// Ids that are remembered.
    pub ids: usize,
}

impl ReplayUse {
    /// Whether half of the bytes are in use: from here on no key may have more than its share.
    pub fn is_half_full(self) -> bool {
        self.bytes > self.limit / 2
    }
}

/// Remembers ids until they could not be accepted any more. Shared by all threads.
pub struct ReplayGuard {
    secret: [u8; 32],
    shards: [Mutex<Shard>; SHARDS],
    limit: AtomicUsize,
    bytes: AtomicUsize,
    ids: AtomicUsize,
    /// Seconds after its `iat` in which a proof may be accepted; never less than it was.
    proof_life: AtomicU64,
    /// How many ids each key has, about: never less than it has within a slot.
    by_key: [Box<[AtomicU32]>; 2],
    /// the slot of time that began last
    turned: AtomicU64,
}

impl std::fmt::Debug for ReplayGuard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ReplayGuard").field(&self.usage()).finish()
    }
}

impl ReplayGuard {
    /// Bytes of a guard that nobody sized: 50,000 proofs a second.
    pub const DEFAULT_BYTES: usize = 64 << 20;

    /// A guard that takes at most this many bytes, and [`ReplayGuard::OVERHEAD`] beside them.
    /// Memory is taken as it is needed.
    pub fn new(bytes: usize) -> ReplayGuard {
        let row = || (0..COUNTERS).map(|_| AtomicU32::new(0)).collect();
        ReplayGuard {
            secret: signet_crypto::random::bytes(),
            shards: std::array::from_fn(|_| Mutex::default()),
            limit: AtomicUsize::new(bytes),
            bytes: AtomicUsize::new(0),
            ids: AtomicUsize::new(0),
            proof_life: AtomicU64::new(0),
            by_key: [row(), row()],
            turned: AtomicU64::new(0),
        }
    }

    /// Bytes that a guard takes before the first id.
    pub const OVERHEAD: usize = 2 * COUNTERS * size_of::<AtomicU32>();

    /// Changes how many bytes it may take. What is known stays.
    pub fn resize(&self, bytes: usize) {
        self.limit.store(bytes, Relaxed);
    }

    /// How full it is.
    pub fn usage(&self) -> ReplayUse {
        ReplayUse {
            bytes: self.bytes.load(Relaxed),
            limit: self.limit.load(Relaxed),
            ids: self.ids.load(Relaxed),
        }
    }

    /// Keeps proofs for at least this long after their `iat`, in seconds.
    pub(crate) fn keep_proofs_for(&self, seconds: u64) {
        self.proof_life.fetch_max(seconds, Relaxed);
    }

    /// Whether this id comes for the first time; of several callers at once, one hears that it
    /// does. `key`: whose id it is, the `jkt` of a proof or the issuer of a token. `now`: Unix
    /// seconds.
    pub(crate) fn see(&self, key: &str, id: &str, dated: Dated, now: u64) -> Seen {
        self.turn(now);
        let hash = self.hash(key, id);
        let cells = self.cells(key);
        let life = self.proof_life.load(Relaxed);
        let mut shard = self.shard(hash.shard);
        let slot = dated.slot();
        if slot.dropped_at(life) <= now || shard.has_dropped(slot) {
            return Seen::Before;
        }
        let known = shard.slots.get(&slot);
        if known.is_some_and(|slot| slot.contains(hash)) {
            return Seen::Before;
        }
        let usage = self.usage();
        let share = usage.limit / PLACE / SHARES;
        let held = cells.iter().map(|cell| cell.load(Relaxed)).min();
        if usage.is_half_full() && held.unwrap_or(0) as usize >= share.max(1) {
            return Seen::ShareUsed;
        }
        if !shard.insert(slot, hash, now, &self.bytes, usage.limit) {
            return Seen::Full;
        }
        self.ids.fetch_add(1, Relaxed);
        for cell in cells {
            // Never wraps: at most one is added for each id that is held.
            cell.fetch_add(1, Relaxed);
        }
        Seen::First
    }

    fn hash(&self, key: &str, id: &str) -> Hash {
        let mut hash = Sha256::new();
        hash.update(&self.secret);
        // The length keeps key and id apart.
        hash.update(&(key.len() as u64).to_be_bytes());
        hash.update(key.as_bytes());
        hash.update(id.as_bytes());
        let digest = hash.finish();
        let word = |at: usize| u32::from_be_bytes([0, 1, 2, 3].map(|i| digest[at + i]));
        Hash {
            shard: usize::from(digest[0]) % SHARDS,
            bucket: word(4),
            // Zero means that a place is free.
            mark: (word(8) >> 8).max(1),
        }
    }

    /// The counters of a key.
    fn cells(&self, key: &str) -> [&AtomicU32; 2] {
        let mut hash = Sha256::new();
        hash.update(&self.secret);
        hash.update(b"share");
        hash.update(key.as_bytes());
        let digest = hash.finish();
        let at = |i: usize| usize::from(u16::from_be_bytes([digest[i], digest[i + 1]])) % COUNTERS;
        [&self.by_key[0][at(0)], &self.by_key[1][at(2)]]
    }

    /// Once a slot, by one caller: drops what cannot be accepted any more, and lets the counters
    /// forget.
    fn turn(&self, now: u64) {
        let slot = now / SLOT;
        let before = self.turned.load(Relaxed);
        let is_due = before < slot;
        if !is_due
            || self
                .turned
                .compare_exchange(before, slot, Relaxed, Relaxed)
                .is_err()
        {
            return;
        }
        let life = self.proof_life.load(Relaxed);
        for number in 0..SHARDS {
            self.sweep(&mut self.shard(number), now, life);
        }
        let times = if before == 0 { 0 } else { slot - before };
        for cell in self.by_key.iter().flat_map(|row| row.iter()) {
            let mut held = cell.load(Relaxed);
            for _ in 0..times.min(8 * u64::from(DECAY)) {
                held -= held.div_ceil(DECAY);
            }
            // An id that is counted meanwhile may be lost: the counts are about right, not exact.
            cell.store(held, Relaxed);
        }
    }

    fn shard(&self, number: usize) -> MutexGuard<'_, Shard> {
        self.shards[number]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn sweep(&self, shard: &mut Shard, now: u64, life: u64) {
        let (mut proofs, mut tokens) = (shard.dropped_proofs, shard.dropped_tokens);
        shard.slots.retain(|slot, held| {
            let keeps = slot.dropped_at(life) > now;
            if !keeps {
                self.bytes.fetch_sub(held.bytes(), Relaxed);
                self.ids.fetch_sub(held.count, Relaxed);
                match slot {
                    Dated::Proof(number) => proofs = proofs.max(*number + 1),
                    Dated::Token(number) => tokens = tokens.max(*number + 1),
                }
            }
            keeps
        });
        (shard.dropped_proofs, shard.dropped_tokens) = (proofs, tokens);
    }
}

/// Where an id is looked for.
#[derive(Clone, Copy)]
struct Hash {
    shard: usize,
    bucket: u32,
    /// 24 bits, not zero
    mark: u32,
}

#[derive(Default)]
struct Shard {
    slots: BTreeMap<Dated, Slot>,
    /// Slots below these were dropped. If proofs may be older from now on (a reload), those of a
    /// dropped slot are still refused.
    dropped_proofs: u64,
    dropped_tokens: u64,
}

impl Shard {
    fn has_dropped(&self, slot: Dated) -> bool {
        match slot {
            Dated::Proof(number) => number < self.dropped_proofs,
            Dated::Token(number) => number < self.dropped_tokens,
        }
    }

    /// False where it does not fit.
    fn insert(
        &mut self,
        at: Dated,
        hash: Hash,
        now: u64,
        bytes: &AtomicUsize,
        limit: usize,
    ) -> bool {
        // A slot that has just gone by tells how much the next ones will need: one segment of the
        // right size is denser than many. Slots of the past will not get as much any more.
        let gone_by = Dated::Proof((now / SLOT).saturating_sub(2));
        let expected = match self.slots.get(&gone_by) {
            Some(before) if gone_by < at && matches!(at, Dated::Proof(_)) => before.count,
            Some(_) | None => 0,
        };
        let slot = self.slots.entry(at).or_default();
        if slot.segments.last_mut().is_some_and(|s| s.insert(hash)) {
            slot.count += 1;
            return true;
        }
        let free = limit.saturating_sub(bytes.load(Relaxed));
        let wanted = match slot.segments.is_empty() {
            true => expected,
            // Generous where nothing was expected and there is room, tight otherwise: these places
            // are lost to other slots.
            false if expected == 0 && free > limit / 2 => slot.count / 2,
            false => slot.count / 16,
        };
        let buckets = wanted.div_ceil(PLACES).max(LEAST_BUCKETS);
        // Of the last bytes, every shard gets some.
        let buckets = buckets
            .min(free / SHARDS / (PLACES * PLACE))
            .max(LEAST_BUCKETS);
        let mut segment = Segment::new(buckets);
        if segment.bytes() > free {
            if slot.segments.is_empty() {
                self.slots.remove(&at);
            }
            return false;
        }
        bytes.fetch_add(segment.bytes(), Relaxed);
        let inserted = segment.insert(hash);
        slot.segments.push(segment);
        slot.count += usize::from(inserted);
        inserted
    }
}

/// The ids of a few seconds.
#[derive(Default)]
struct Slot {
    segments: Vec<Segment>,
    count: usize,
}

impl Slot {
    fn contains(&self, hash: Hash) -> bool {
        self.segments.iter().rev().any(|one| one.contains(hash))
    }

    fn bytes(&self) -> usize {
        self.segments.iter().map(Segment::bytes).sum()
    }
}

/// One cuckoo filter.
struct Segment {
    places: Box<[u8]>,
    buckets: usize,
}

impl Segment {
    fn new(buckets: usize) -> Segment {
        Segment {
            places: vec![0; buckets * PLACES * PLACE].into_boxed_slice(),
            buckets,
        }
    }

    fn bytes(&self) -> usize {
        self.places.len() + size_of::<Segment>()
    }

    /// The first of the two buckets that a mark may be in.
    fn first(&self, hash: Hash) -> usize {
        ((u64::from(hash.bucket) * self.buckets as u64) >> 32) as usize
    }

    /// The other one: the same function leads back.
    fn other(&self, bucket: usize, mark: u32) -> usize {
        let spread = (u64::from(mark).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize;
        (spread % self.buckets + self.buckets - bucket) % self.buckets
    }

    fn get(&self, bucket: usize, place: usize) -> u32 {
        let at = (bucket * PLACES + place) * PLACE;
        u32::from_be_bytes([0, self.places[at], self.places[at + 1], self.places[at + 2]])
    }

    fn set(&mut self, bucket: usize, place: usize, mark: u32) {
        let at = (bucket * PLACES + place) * PLACE;
        self.places[at..at + PLACE].copy_from_slice(&mark.to_be_bytes()[1..]);
    }

    fn contains(&self, hash: Hash) -> bool {
        let first = self.first(hash);
        let has = |bucket| (0..PLACES).any(|place| self.get(bucket, place) == hash.mark);
        has(first) || has(self.other(first, hash.mark))
    }

    fn put(&mut self, bucket: usize, mark: u32) -> bool {
        let free = (0..PLACES).find(|place| self.get(bucket, *place) == 0);
        if let Some(place) = free {
            self.set(bucket, place, mark);
        }
        free.is_some()
    }

    /// False where it is full; then it is as it was.
    fn insert(&mut self, hash: Hash) -> bool {
        let mut mark = hash.mark;
        let mut bucket = self.first(hash);
        if self.put(bucket, mark) {
            return true;
        }
        bucket = self.other(bucket, mark);
        let mut moved = Vec::new();
        // Which place gives way: any spread will do, for the marks come out of a keyed hash.
        let mut turn = hash.bucket | 1;
        loop {
            if self.put(bucket, mark) {
                return true;
            }
            if moved.len() == MAX_MOVES {
                break;
            }
            turn ^= turn << 13;
            turn ^= turn >> 17;
            turn ^= turn << 5;
            let place = turn as usize % PLACES;
            let evicted = self.get(bucket, place);
            self.set(bucket, place, mark);
            moved.push((bucket, place, evicted));
            mark = evicted;
            bucket = self.other(bucket, mark);
        }
        for (bucket, place, evicted) in moved.into_iter().rev() {
            self.set(bucket, place, evicted);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(bytes: usize, life: u64) -> ReplayGuard {
        let guard = ReplayGuard::new(bytes);
        guard.keep_proofs_for(life);
        guard
    }

    #[test]
    fn an_id_is_first_once_while_its_proof_could_be_accepted_and_keys_are_apart() {
        let guard = guard(1 << 16, 100);
        let see = |key, id, now| guard.see(key, id, Dated::Proof(1000), now);
        assert_eq!(see("a", "b", 1000), Seen::First);
        assert_eq!(see("a", "b", 1000), Seen::Before);
        assert_eq!(see("", "ab", 1000), Seen::First);
        for now in [940, 1050, 1100, 1107, 1108, 2000] {
            assert_eq!(see("a", "b", now), Seen::Before, "{now}");
        }
        // Its slot was dropped. Even if proofs may be older from now on, one that may have been
        // there is refused.
        assert_eq!(guard.usage().ids, 0);
        guard.keep_proofs_for(10_000);
        assert_eq!(see("a", "b", 2000), Seen::Before);
        assert_eq!(guard.see("a", "b", Dated::Proof(2000), 2000), Seen::First);
    }

    #[test]
    fn a_token_is_remembered_until_its_end_however_far_that_is() {
        let guard = guard(1 << 16, 100);
        let see = |now| guard.see("iss", "t", Dated::Token(100_000), now);
        assert_eq!(see(1000), Seen::First);
        for now in [1000, 50_000, 100_000, 100_600, 200_000] {
            assert_eq!(see(now), Seen::Before, "{now}");
        }
        // A proof and a token of one name are two things.
        assert_eq!(
            guard.see("iss", "t", Dated::Proof(200_000), 200_000),
            Seen::First
        );
    }

    #[test]
    fn a_full_guard_refuses_instead_of_forgetting() {
        let guard = guard(4096, 100);
        let mut taken = Vec::new();
        let mut full = 0;
        for number in 0..3000 {
            // Each id by its own key: nobody has more than its share.
            let id = number.to_string();
            match guard.see(&id, &id, Dated::Proof(1000), 1000) {
                Seen::First => taken.push(id),
                Seen::Full => full += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(full > 0 && taken.len() > 500, "{full} {}", taken.len());
        assert!(guard.usage().bytes <= 4096);
        for id in &taken {
            assert_eq!(guard.see(id, id, Dated::Proof(1000), 1000), Seen::Before);
        }
        assert_eq!(guard.see("x", "x", Dated::Proof(1200), 1200), Seen::First);
        assert_eq!(guard.usage().ids, 1, "what could not come again is gone");
    }

    #[test]
    fn a_key_that_fills_the_guard_locks_itself_out_and_nobody_else() {
        let guard = guard(1 << 16, 100);
        let mut hog = 0;
        while guard.see("hog", &hog.to_string(), Dated::Proof(1000), 1000) == Seen::First {
            hog += 1;
        }
        assert!(guard.usage().is_half_full());
        assert_eq!(
            guard.see("hog", "more", Dated::Proof(1000), 1000),
            Seen::ShareUsed
        );
        for other in 0..1000 {
            let key = format!("key {other}");
            let seen = guard.see(&key, "1", Dated::Proof(1000), 1000);
            assert_eq!(seen, Seen::First, "{key}");
        }
    }

    /// 50,000 proofs a second in 64 MiB for the longest time in which a default policy accepts one,
    /// in a model of a 64th of both: six minutes of proofs, and one more while the first ones are
    /// dropped.
    #[test]
    fn a_64th_of_64_mib_takes_a_64th_of_50000_proofs_a_second_for_their_window() {
        let guard = guard(ReplayGuard::DEFAULT_BYTES / 64, 360);
        let mut refused = 0;
        for now in 10_000..10_420 {
            for number in 0..782 {
                let id = format!("{now}.{number}");
                match guard.see(&id, &id, Dated::Proof(now), now) {
                    Seen::First => {}
                    // One in two million that looks like another.
                    Seen::Before => refused += 1,
                    other => panic!("{other:?} at {now}: {:?}", guard.usage()),
                }
            }
        }
        assert!(refused <= 5, "{refused}");
        assert!(guard.usage().ids > 360 * 781);
    }

    #[test]
    fn of_many_at_once_one_is_first() {
        let guard = guard(1 << 20, 100);
        let firsts = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for id in 0..200 {
                        if guard.see("s", &id.to_string(), Dated::Proof(1000), 1000) == Seen::First
                        {
                            firsts.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
        assert_eq!(firsts.load(Relaxed), 200);
    }
}
