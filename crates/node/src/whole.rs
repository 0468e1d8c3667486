//! Whether this node has what the others have: at its start, and from then on.
//!
//! A node of a replicated store waits for a majority of its voters when it starts, and not for
//! ever: with none it goes on by its own rows, as one does that lost its majority while it ran. It
//! cannot know for how long it was away. The times that the sweep and each start with a majority
//! leave in the store say how old its rows are; where they are older than `cluster.staleness`, or
//! [`START_STALENESS`], it grants nothing and calls no token active until it has heard the others.
//! What it would do at a start and cannot write it does when the majority is back.

use std::time::Duration;

use signet_consensus::{ReplicatedStore, Role, Status};
use signet_merge::hlc::MAX_AHEAD_MS;
use signet_realm::nodes::{Standing, SyncState};
use signet_realm::state::Realm;
use signet_store::{Change, Key, NodeId, Op, Store, StoreError, Table};
use tokio::time::Instant;

use super::{Cluster, LOOK_EVERY, STORE_WITHIN};

/// How long a start waits for a majority before it goes on without one.
const MAJORITY_WITHIN: Duration = Duration::from_secs(5);
/// How old a node's own rows may be at a start without a majority for anything to be granted by
/// them, where `cluster.staleness` does not say so.
pub(super) const START_STALENESS: Duration = Duration::from_secs(300);
/// Between two looks for the majority that a start went on without.
const AGAIN_EVERY: Duration = Duration::from_millis(200);

/// Whether the rows are those that a majority has.
fn has_all(status: &Status) -> bool {
    match status.role {
        Role::Alone => true,
        Role::Leader | Role::Voter | Role::Forwarder => {
            status.has_majority && status.lag == 0 && status.applied > 0
        }
        Role::Stopped => false,
    }
}

/// Right after a start a node does not know how far the others are, and its rows may lack what a
/// crash took: a read that must be the latest asks them, and waits for the rows.
async fn reads_the_latest(replicated: &ReplicatedStore) -> bool {
    let any = Key::new(Table::Once, "any");
    replicated.get(&any, 0).await.is_ok()
}

/// What a start waits for that has not got it.
fn waits(status: &Status) -> String {
    match (status.has_majority, status.applied) {
        (false, _) => "no majority of the nodes can be reached".to_owned(),
        (true, 0) => "this node is sent the rows of the cluster".to_owned(),
        (true, _) => format!(
            "this node fetches what it missed, {} entries of the log",
            status.lag
        ),
    }
}

/// When a node last started with a majority, Unix seconds, as eight bytes.
fn whole_key() -> Key {
    Key::new(Table::Setting, "cluster:whole")
}

/// How old rows are whose sweep saw `highest` last, Unix seconds. None where that cannot be known:
/// there was no sweep, or one by a clock that is further ahead than clocks may be.
fn age(highest: Option<u64>, now: u64) -> Option<Duration> {
    let highest = highest.filter(|highest| *highest <= now.saturating_add(MAX_AHEAD_MS / 1000))?;
    Some(Duration::from_secs(now.saturating_sub(highest)))
}

/// Why a node whose clock is so far from the majority's is not ready; none where it is not.
/// `ahead_ms`: negative where it is behind.
fn clock_is_wrong(ahead_ms: i64) -> Option<String> {
    let seconds = ahead_ms.unsigned_abs() / 1000;
    let side = if ahead_ms > 0 { "ahead of" } else { "behind" };
    (ahead_ms.unsigned_abs() > MAX_AHEAD_MS).then(|| {
        format!("this node's clock is {seconds} s {side} that of the majority of the nodes: set it")
    })
}

impl Cluster {
    /// Waits until this node has the rows that the others have. `false`: there is no majority, and
    /// it has rows of its own to go on by.
    pub(super) async fn wait_for_store(
        &self,
        replicated: &ReplicatedStore,
    ) -> Result<bool, String> {
        let begun = Instant::now();
        let mut told = begun;
        loop {
            let status = replicated.status();
            if has_all(&status) && reads_the_latest(replicated).await {
                self.set_waits(None);
                return Ok(true);
            }
            self.set_waits(Some(waits(&status)));
            if let Some(why) = status.refused {
                return Err(format!("the others refuse this node: {why}"));
            }
            let waited = begun.elapsed();
            match status.applied > 0 {
                true if waited > MAJORITY_WITHIN && !status.has_majority => return Ok(false),
                false if waited > STORE_WITHIN => {
                    return Err("the store of the cluster did not come".to_owned());
                }
                true | false => {}
            }
            if told.elapsed() > Duration::from_secs(5) {
                told = Instant::now();
                tracing::warn!(
                    behind = status.lag,
                    leader = status.leader.as_ref().map(NodeId::as_str),
                    "waiting for a majority of the nodes and for missed changes"
                );
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    fn set_waits(&self, waits: Option<String>) {
        if let Ok(mut start) = self.start.lock() {
            start.waits = waits;
        }
    }

    /// What the start waits for.
    pub fn waits(&self) -> Option<String> {
        self.start.lock().ok()?.waits.clone()
    }

    /// Whether the start is over: this node had what the others have, and has done what it had to.
    pub fn is_whole(&self) -> bool {
        self.start.lock().is_ok_and(|start| start.whole)
    }

    /// Leaves in the store that a node had a majority now: one that starts without the others sees
    /// by it how old its rows are.
    ///
    /// # Errors
    /// The store's.
    pub async fn note_whole(&self) -> Result<(), StoreError> {
        let now = self.clock.now();
        let put = Op::Put {
            key: whole_key(),
            value: now.to_be_bytes().to_vec(),
            end: None,
        };
        self.store.commit(Change::new(put), now).await.map(drop)
    }

    /// A start without a majority: how far the realm may go by this node's own rows. `swept`: the
    /// time that the sweep left in them, Unix seconds.
    pub(super) async fn begin_without_majority(
        &self,
        realm: &Realm,
        swept: Option<u64>,
    ) -> Result<(), String> {
        let now = self.clock.now();
        let row = self.store.get(&whole_key(), now).await;
        let row = row.map_err(|e| e.to_string())?;
        let noted = row.and_then(|row| Some(u64::from_be_bytes(row.value.try_into().ok()?)));
        let age = age(swept.max(noted), now);
        let longest = self.options.staleness.unwrap_or(START_STALENESS);
        let outdated = age.is_none_or(|age| age > longest);
        realm.set_outdated(outdated);
        let seconds = age.map(|age| age.as_secs());
        match outdated {
            true => tracing::error!(
                seconds,
                "lost the majority, and the rows of this node may be outdated: no grant and no active token until it has heard the others"
            ),
            false => tracing::warn!(
                seconds,
                "lost the majority: requests that need no store are answered from the rows of this node"
            ),
        }
        if let Ok(mut start) = self.start.lock() {
            start.rows_age = age;
        }
        Ok(())
    }

    /// Waits for the majority that the start went on without, and for what this node missed; for
    /// ever where no majority is to be waited for.
    pub async fn majority(&self, realm: &Realm) {
        let Some(replicated) = self.replicated.as_ref().filter(|_| !self.is_whole()) else {
            return std::future::pending().await;
        };
        let mut refused = false;
        loop {
            tokio::time::sleep(AGAIN_EVERY).await;
            let status = replicated.status();
            if has_all(&status) && reads_the_latest(replicated).await {
                return;
            }
            if let Some(why) = status.refused.filter(|_| !refused) {
                // What it holds is no longer what the cluster goes on from.
                tracing::error!(why, "refused by the other members");
                realm.set_outdated(true);
                refused = true;
            }
        }
    }

    /// The majority is there: this node is as one that started with it.
    ///
    /// # Errors
    /// What could not be done yet; to be tried again.
    pub async fn become_whole(&self) -> Result<(), String> {
        let (Some(running), Some(place)) = (self.running.get(), self.place()?) else {
            return Ok(());
        };
        running
            .known(&self.description(&place), &*self.store)
            .await?;
        for realm in self.heard.all() {
            realm.share().await.map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// All that a start does is done.
    pub fn set_whole(&self, realm: &Realm) {
        realm.set_outdated(false);
        if let Ok(mut start) = self.start.lock() {
            start.whole = true;
            start.rows_age = Some(Duration::ZERO);
        }
    }

    /// How this node stands to the others.
    pub fn stands(&self) -> Standing {
        let Some(running) = self.running.get() else {
            return Standing::alone();
        };
        let status = self.replicated.as_ref().map(|store| store.status());
        let outdated = self.heard.realm().is_some_and(|realm| realm.is_outdated());
        let gossip = running.spread.status();
        let others = gossip.peers.len();
        // What was so before a connection was lost says nothing of now.
        let reached = gossip
            .peers
            .iter()
            .filter(|peer| peer.connected || peer.relayed);
        let in_sync = reached.filter(|peer| peer.in_sync).count();
        let refused = status.as_ref().and_then(|status| status.refused.clone());
        let barred = status.as_ref().and_then(|status| status.barred.clone());
        let removed = self.heard.realm().is_some_and(|realm| realm.is_removed());
        let majority = status.as_ref().is_none_or(|status| status.has_majority);
        let (sync, why) = match (majority, self.is_whole()) {
            _ if removed => (
                SyncState::Removed,
                Some("this node was removed from its cluster".to_owned()),
            ),
            _ if refused.is_some() => (SyncState::Refused, refused),
            _ if barred.is_some() => (SyncState::Divided, barred),
            (false, _) if outdated => (
                SyncState::Outdated,
                Some("no majority of the nodes can be reached, and this node's own rows may be long past".to_owned()),
            ),
            (false, _) => (
                SyncState::Minority,
                Some("no majority of the nodes can be reached".to_owned()),
            ),
            (true, false) => (
                SyncState::Syncing,
                Some("this node fetches what it missed".to_owned()),
            ),
            (true, true) => (SyncState::Whole, clock_is_wrong(gossip.clock_ahead_ms())),
        };
        Standing {
            sync,
            not_ready: why,
            in_sync,
            others,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_whose_clock_is_far_from_the_majority_s_is_not_ready() {
        let why = clock_is_wrong(3_600_000).expect("an hour ahead");
        assert!(why.contains("3600 s ahead of"), "{why}");
        let why = clock_is_wrong(-7_200_000).expect("two hours behind");
        assert!(why.contains("7200 s behind"), "{why}");
        assert_eq!(clock_is_wrong(600_000), None);
        assert_eq!(clock_is_wrong(-600_000), None);
    }

    #[test]
    fn rows_of_an_unknown_time_are_of_no_age_that_could_be_believed() {
        let now = 1_800_000_000;
        assert_eq!(age(Some(now - 7), now), Some(Duration::from_secs(7)));
        // A clock that differs by as much as clocks may.
        assert_eq!(age(Some(now + 600), now), Some(Duration::ZERO));
        // One that was forward by a year does not make rows young for a year.
        assert_eq!(age(Some(now + 601), now), None);
        assert_eq!(age(None, now), None);
    }
}
