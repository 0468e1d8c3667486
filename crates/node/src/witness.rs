//! What the members of a replicated store have acknowledged, in a second place: beside this node's
//! rows in a file of its own, and at the other members.
//!
//! The consensus counts on it that a voter has what it said it has. A database that was deleted,
//! cut off or put back from a copy would break that in silence: one code is redeemed twice, a
//! revocation is undone. So each node notes every two seconds how far it is and what the others
//! said of themselves, and tells them. A start with rows that have less than the note ends with the
//! reason; what the note does not know, for it was put back with the rows, another member says, and
//! until each member that is connected has been asked nothing of the consensus passes between the
//! two. What was acknowledged in the two seconds before a file was lost is not covered.
//!
//! Nodes tell each other of which generation they are, too. Where two of them were recovered each
//! by itself, there are two clusters under one name: neither is ready, and neither decides anything
//! that may happen once, until one is removed.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};
use signet_cluster::{
    member::Members,
    transport::{CallError, Serve},
};
use signet_consensus::{Acknowledged, Lineage, ReplicatedStore};
use signet_merge::tell::BoxFuture;
use signet_store::NodeId;
use signet_surroundings::{blocking, sleep, spawn};

use super::{Place, peers::Peers, place, service_ids::GREETING};
use signet_crypto::private_file;

/// Below the directory of the cluster.
const FILE: &str = "acknowledged.json";
/// How often members tell each other how far they are.
const TELL_EVERY: Duration = Duration::from_secs(2);
/// The same where one that is connected was not heard yet.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
const ANSWERED_WITHIN: Duration = Duration::from_secs(2);

/// How far a log is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Point {
    generation: u64,
    term: u64,
    index: u64,
}

impl From<Acknowledged> for Point {
    fn from(at: Acknowledged) -> Point {
        Point {
            generation: at.generation,
            term: at.term,
            index: at.index,
        }
    }
}

impl From<Point> for Acknowledged {
    fn from(at: Point) -> Acknowledged {
        Acknowledged {
            generation: at.generation,
            term: at.term,
            index: at.index,
        }
    }
}

/// What a member has acknowledged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Mark {
    node: String,
    /// Its number in the replicated store: one of the same name that joined again has another.
    number: u64,
    at: Point,
}

impl Mark {
    /// Takes over what is later; of another life of the node what that one says.
    fn raise(&mut self, other: Mark) {
        match self.number == other.number {
            true => self.at = Acknowledged::from(self.at).and(other.at.into()).into(),
            false if other.number > self.number => *self = other,
            false => {}
        }
    }

    /// Whether a member of this number with these rows lacks something of it.
    fn is_lacked_by(&self, number: u64, holds: Acknowledged) -> bool {
        self.number == number && holds.lacks(&self.at.into())
    }
}

/// The file.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
struct Kept {
    own: Option<Mark>,
    #[serde(default)]
    others: Vec<Mark>,
}

impl Kept {
    fn read(path: &Path) -> Result<Option<Kept>, String> {
        match std::fs::read(path) {
            Ok(text) => serde_json::from_slice(&text)
                .map(Some)
                .map_err(|e| format!("{}: {e}", path.display())),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(format!("{}: {e}", path.display())),
        }
    }

    fn write(&self, path: &Path) -> Result<(), String> {
        let mut text = serde_json::to_vec_pretty(self).map_err(|e| e.to_string())?;
        text.push(b'\n');
        private_file::write(path, &text).map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// Whether the directory is of a node whose rows are replicated: it has noted what it acknowledged.
pub fn is_noted(data_dir: &Path) -> bool {
    path(data_dir).exists()
}

fn path(data_dir: &Path) -> PathBuf {
    data_dir.join(place::DIRECTORY).join(FILE)
}

/// What to do about rows that have less than they should.
fn remedy(name: &str) -> String {
    format!(
        "stop this node, remove it at another one (signet node remove {name}), and let it join again with an empty data directory"
    )
}

fn too_old(name: &str, holds: Acknowledged, said: Acknowledged) -> String {
    format!(
        "this node's rows are older than what it has acknowledged (entry {} and term {}, and it acknowledged entry {} and term {}): {}",
        holds.index,
        holds.term,
        said.index,
        said.term,
        remedy(name)
    )
}

/// Compares a node's rows with what it noted that it has, before it takes part in anything.
///
/// # Errors
/// The rows are not those that it had: why, and what to do.
pub(crate) async fn check(
    data_dir: &Path,
    place: &Place,
    replicated: &ReplicatedStore,
) -> Result<(), String> {
    let name = &place.name;
    let kept = Kept::read(&path(data_dir))?;
    let me = replicated.me().map_err(|e| e.to_string())?;
    let Some(me) = me else {
        let empty = replicated.is_empty().await.map_err(|e| e.to_string())?;
        // One that was let in a moment ago has no rows yet, and has noted nothing.
        let expected = place.invited && kept.is_none();
        let members = Members::open(data_dir).map_err(|e| e.to_string())?;
        // A node by itself may have moved its rows here.
        let alone = members.names().iter().all(|node| node.as_str() == name);
        return match (expected, empty) {
            (true, _) => Ok(()),
            (false, false) if kept.is_none() || alone => Ok(()),
            (false, true) => Err(format!(
                "this node is {name} of a cluster, and its store is empty: its database was deleted or lies elsewhere. Put the file back if it was moved; otherwise {}",
                remedy(name)
            )),
            (false, false) => Err(format!(
                "this node is {name} of a cluster, and its store is not the one that it had: {}",
                remedy(name)
            )),
        };
    };
    let Some(own) = kept.and_then(|kept| kept.own) else {
        // Of an earlier version; from now on it notes it.
        return Ok(());
    };
    let holds = replicated.holds().map_err(|e| e.to_string())?;
    let ancestors = replicated.ancestors().map_err(|e| e.to_string())?;
    let said: Acknowledged = own.at.into();
    if own.number != me.number {
        return Err(format!(
            "this node's rows are those of another member or of another life of {name}: {}",
            remedy(name)
        ));
    }
    let recovered = said.generation == 0 || ancestors.contains(&said.generation);
    if holds.lacks(&said) || holds.generation != said.generation && !recovered {
        return Err(too_old(name, holds, said));
    }
    Ok(())
}

/// Over a database a node acknowledges nothing of its own.
pub(crate) fn forget(data_dir: &Path) -> Result<(), String> {
    let path = path(data_dir);
    match std::fs::remove_file(&path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(format!("{}: {e}", path.display())),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What a member says of itself, and of whom it talks to, on the wire.
#[derive(Serialize, Deserialize)]
struct Words {
    number: u64,
    /// What its rows have.
    holds: Point,
    /// What nothing can take back of that.
    acknowledged: Option<Point>,
    #[serde(default)]
    ancestors: Vec<u64>,
    /// What it remembers of the other one.
    of_you: Option<Mark>,
}

#[derive(Default)]
struct State {
    kept: Kept,
    written: Kept,
    /// Whom this process has talked to.
    greeted: BTreeSet<NodeId>,
    lineages: BTreeMap<NodeId, Lineage>,
    /// What members of this generation say that it comes from.
    ancestors: BTreeSet<u64>,
    /// Members that came with less than they acknowledged; said once.
    older: BTreeSet<NodeId>,
    /// Why this node may not take part.
    refused: Option<String>,
}

/// See the module.
pub(crate) struct Witness {
    node: NodeId,
    path: PathBuf,
    replicated: Arc<ReplicatedStore>,
    members: Arc<Members>,
    /// This node's number and the generations that its rows come from, once it has one: read from
    /// the disk a single time.
    own: OnceLock<(u64, Vec<u64>)>,
    state: Mutex<State>,
}

impl Witness {
    pub(crate) fn open(
        node: NodeId,
        data_dir: &Path,
        replicated: Arc<ReplicatedStore>,
        members: Arc<Members>,
    ) -> Result<Arc<Witness>, String> {
        let path = path(data_dir);
        let kept = Kept::read(&path)?;
        let state = State {
            written: kept.clone().unwrap_or_default(),
            kept: kept.unwrap_or_default(),
            ..State::default()
        };
        Ok(Arc::new(Witness {
            node,
            path,
            replicated,
            members,
            own: OnceLock::new(),
            state: Mutex::new(state),
        }))
    }

    // Every step under the lock leaves the state whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this process and that member have compared what they know of each other.
    pub(crate) fn knows(&self, node: &NodeId) -> bool {
        let state = self.state();
        state.refused.is_none() && state.greeted.contains(node)
    }

    /// Whether a member of this number is known to have acknowledged something.
    pub(crate) fn has_acknowledged(&self, node: &NodeId, number: u64) -> bool {
        let state = self.state();
        let mut others = state.kept.others.iter();
        others.any(|mark| mark.node == node.as_str() && mark.number == number && mark.at.index > 0)
    }

    fn own(&self) -> Option<&(u64, Vec<u64>)> {
        if self.own.get().is_none()
            && let Ok(Some(me)) = self.replicated.me()
            && let Ok(ancestors) = self.replicated.ancestors()
        {
            // Whoever else was here read the same.
            let _ = self.own.set((me.number, ancestors));
        }
        self.own.get()
    }

    /// 0 where it has none.
    fn number(&self) -> u64 {
        self.own().map_or(0, |(number, _)| *number)
    }

    /// What its rows have, and where they come from, with what other members of this generation
    /// know of that. Of nothing where it has no number.
    fn stands(&self) -> Result<(Acknowledged, Lineage), String> {
        let Some((_, ancestors)) = self.own() else {
            return Ok(Default::default());
        };
        let holds = self.replicated.holds().map_err(|e| e.to_string())?;
        let mut lineage = Lineage {
            generation: holds.generation,
            ancestors: ancestors.clone(),
        };
        let state = self.state();
        let more = state.ancestors.iter();
        let more = more.filter(|known| !ancestors.contains(known));
        lineage.ancestors.extend(more);
        Ok((holds, lineage))
    }

    fn words(&self, to: &NodeId) -> Result<Vec<u8>, String> {
        let (holds, lineage) = self.stands()?;
        let state = self.state();
        let of_you = state
            .kept
            .others
            .iter()
            .find(|mark| mark.node == to.as_str());
        let words = Words {
            number: self.number(),
            holds: holds.into(),
            acknowledged: self.replicated.acknowledged().map(Point::from),
            ancestors: lineage.ancestors,
            of_you: of_you.cloned(),
        };
        serde_json::to_vec(&words).map_err(|e| e.to_string())
    }

    fn hear(&self, from: &NodeId, words: &[u8]) -> Result<(), String> {
        let words: Words = serde_json::from_slice(words).map_err(|e| e.to_string())?;
        let number = self.number();
        let (holds, lineage) = self.stands()?;
        if let Some(mark) = &words.of_you
            && number != 0
            && mark.is_lacked_by(number, holds)
        {
            let why = too_old(self.node.as_str(), holds, mark.at.into());
            tracing::error!(%from, why, "detected lost state: another member knows more of this node than it does");
            self.replicated.refuse(why.clone());
            self.state().refused = Some(why);
            return Ok(());
        }
        let mut state = self.state();
        let theirs: Acknowledged = words.holds.into();
        let known = state
            .kept
            .others
            .iter()
            .find(|mark| mark.node == from.as_str());
        if let Some(mark) = known
            && mark.is_lacked_by(words.number, theirs)
        {
            let acknowledged = mark.at;
            state.greeted.remove(from);
            if state.older.insert(from.clone()) {
                tracing::error!(
                    node = %from,
                    holds = theirs.index,
                    acknowledged = acknowledged.index,
                    "ignoring a member that holds less than it acknowledged: remove it and let it join again"
                );
            }
            return Ok(());
        }
        state.older.remove(from);
        if let Some(at) = words.acknowledged.filter(|_| words.number != 0) {
            let said = Mark {
                node: from.as_str().to_owned(),
                number: words.number,
                at,
            };
            let others = &mut state.kept.others;
            match others.iter_mut().find(|mark| mark.node == said.node) {
                Some(mark) => mark.raise(said),
                None => others.push(said),
            }
        }
        let theirs = Lineage {
            generation: theirs.generation,
            ancestors: words.ancestors,
        };
        if lineage.generation != 0 && theirs.generation == lineage.generation {
            state.ancestors.extend(&theirs.ancestors);
        }
        state.lineages.insert(from.clone(), theirs);
        state.greeted.insert(from.clone());
        Ok(())
    }

    /// Bars what may happen once while a living member is of another cluster that was recovered
    /// from the same one.
    fn judge(&self) -> Result<(), String> {
        let refused = self.state().refused.clone();
        if let Some(why) = refused {
            // It may have begun since.
            self.replicated.refuse(why);
        }
        if self.number() == 0 {
            return Ok(());
        }
        let (_, own) = self.stands()?;
        let living = self.members.names();
        let divided = {
            let mut state = self.state();
            state.lineages.retain(|node, _| living.contains(node));
            let is_living = |mark: &Mark| living.iter().any(|node| node.as_str() == mark.node);
            state.kept.others.retain(is_living);
            let divided = state.lineages.iter();
            let divided = divided.filter(|(_, theirs)| own.is_divided_from(theirs));
            let divided: Vec<String> = divided.map(|(node, _)| node.to_string()).collect();
            divided
        };
        let why = (!divided.is_empty()).then(|| {
            format!(
                "this node and {} were each recovered by itself, so there are two clusters: stop one of them for good, and remove it at the other one (signet node remove)",
                divided.join(", ")
            )
        });
        let before = self.replicated.status().barred;
        if before != why {
            match &why {
                Some(why) => tracing::error!(why, "refusing single-use decisions"),
                None => tracing::info!("resumed single-use decisions: the other cluster is gone"),
            }
            self.replicated.bar(why);
        }
        Ok(())
    }

    /// Notes how far this node and the others are.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn save(&self) -> Result<(), String> {
        let mut state = self.state();
        if let Some(at) = self.replicated.acknowledged() {
            let said = Mark {
                node: self.node.as_str().to_owned(),
                number: self.number(),
                at: at.into(),
            };
            match &mut state.kept.own {
                Some(own) => own.raise(said),
                None => state.kept.own = Some(said),
            }
        }
        if state.kept == state.written || state.kept.own.is_none() {
            return Ok(());
        }
        let kept = state.kept.clone();
        drop(state);
        kept.write(&self.path)?;
        self.state().written = kept;
        Ok(())
    }

    /// Compares with every member that is connected, once and again, for as long as the process
    /// runs.
    pub(crate) async fn keep(self: Arc<Self>, peers: Arc<dyn Peers>) {
        let mut changes = peers.changes();
        loop {
            changes.mark_unchanged();
            let connected = peers.connected().into_iter();
            let asked: Vec<_> = connected
                .map(|node| spawn(self.clone().ask(peers.clone(), node)))
                .collect();
            let mut all = true;
            for asked in asked {
                all &= asked.await.unwrap_or(false);
            }
            let this = self.clone();
            let noted = blocking(move || {
                if let Err(error) = this.judge() {
                    // The store is closed.
                    tracing::debug!(error, "failed to compare cluster generations");
                }
                this.save()
            });
            if let Ok(Err(error)) = noted.await {
                tracing::error!(error, "failed to record what this node acknowledged");
            }
            let pause = if all { TELL_EVERY } else { AGAIN_AFTER };
            tokio::select! {
                changed = changes.changed() => if changed.is_err() { return },
                () = sleep(pause) => {}
            }
        }
    }

    /// Asks one member; whether it answered.
    async fn ask(self: Arc<Self>, peers: Arc<dyn Peers>, node: NodeId) -> bool {
        let Ok(words) = self.words(&node) else {
            return false;
        };
        match peers.call(&node, GREETING, words, ANSWERED_WITHIN).await {
            Ok(answer) => {
                let heard = self.hear(&node, &answer);
                if let Err(error) = &heard {
                    tracing::warn!(%node, error, "failed to parse a member's greeting");
                }
                heard.is_ok()
            }
            // Of an earlier version: it knows nothing of this.
            Err(CallError::NoService) => {
                self.state().greeted.insert(node);
                true
            }
            Err(error) => {
                tracing::debug!(%node, %error, "failed to greet a member; retrying");
                false
            }
        }
    }
}

/// Answers [`GREETING`].
pub(crate) struct Greetings(pub Arc<Witness>);

impl Serve for Greetings {
    fn serve(
        &self,
        from: &NodeId,
        request: Vec<u8>,
    ) -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let (witness, from) = (self.0.clone(), from.clone());
        Box::pin(async move {
            witness.hear(&from, &request)?;
            witness.words(&from)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(index: u64) -> Point {
        Point {
            generation: 7,
            term: 3,
            index,
        }
    }

    fn mark(number: u64, index: u64) -> Mark {
        Mark {
            node: "node-2".to_owned(),
            number,
            at: at(index),
        }
    }

    #[test]
    fn what_a_member_acknowledged_only_grows_and_a_later_life_of_it_begins_again() {
        let mut known = mark(2, 50);
        known.raise(mark(2, 40));
        assert_eq!(known, mark(2, 50));
        assert!(known.is_lacked_by(2, at(49).into()));
        assert!(!known.is_lacked_by(2, at(50).into()));
        // It joined again, under a number of its own.
        assert!(!known.is_lacked_by(5, at(0).into()));
        known.raise(mark(5, 1));
        assert_eq!(known, mark(5, 1));
        known.raise(mark(2, 50));
        assert_eq!(known, mark(5, 1));
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join(FILE);
        assert_eq!(Kept::read(&file), Ok(None));
        let kept = Kept {
            own: Some(mark(2, 50)),
            others: vec![mark(1, 51)],
        };
        kept.write(&file).unwrap();
        assert_eq!(Kept::read(&file), Ok(Some(kept)));
        std::fs::write(&file, "[]").unwrap();
        assert!(Kept::read(&file).is_err());
    }
}
