//! When the majority is lost for ever.
use crate::{
    ConsensusError, Member, acknowledged,
    acknowledged::{ANCESTORS, GENERATION},
    codec::Reader,
    log::PURGED,
    machine::{self, APPLIED, MEMBERSHIP},
    node::ME,
    store::sole,
    task::{Until, queue},
    types::{Entry, LogId, StoredMembership, read},
};
use signet_store::{SqliteStore, Store, StoreError, sqlite, sqlite::replica::Failed};
use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError, mpsc},
};

/// What a recovery found and made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recovered {
    /// The node that is now the only voter.
    pub me: Member,
    /// Who the members were: all but this one are left behind.
    pub members: Vec<Member>,
    /// The last entry of its log, applied as if a majority had it.
    pub last_log: u64,
    /// How many of those entries it did not know to be on a majority. Among them may be changes
    /// that nobody was answered, which are done now.
    pub uncertain: u64,
    /// The cluster's generation from here on. Nodes of the one before are refused.
    pub generation: u64,
}

struct Found {
    me: Option<Vec<u8>>,
    generation: Option<Vec<u8>>,
    ancestors: Option<Vec<u8>>,
    applied: Option<Vec<u8>>,
    membership: Option<Vec<u8>>,
    purged: Option<Vec<u8>>,
    last: Option<(u64, Vec<u8>)>,
}

/// Makes a stopped node of a replicated store its only voter, with what it has: everything that
/// its log holds is applied, and what only the others had is lost, answered or not. The cluster
/// begins a new generation: a node of the old one that comes back is refused, whatever it holds,
/// until it joins again with an empty store.
///
/// Only for when the majority will never come back: where it does live on, there are two clusters
/// from here on, and what the other one answers is lost to this one.
///
/// # Errors
/// [`ConsensusError::Alone`] where the store is not replicated; what [`SqliteStore::open`] says.
pub fn recover(
    directory: &Path,
    options: sqlite::Options,
    random: &dyn Fn() -> u64,
) -> Result<Recovered, ConsensusError> {
    let store = SqliteStore::open(directory, options)?;
    let recovered = run(&store, random);
    store.close();
    recovered
}

fn run(store: &SqliteStore, random: &dyn Fn() -> u64) -> Result<Recovered, ConsensusError> {
    if !store.is_replicated()? {
        return Err(ConsensusError::Alone);
    }
    let found = store.look_now(|look| {
        Ok(Found {
            me: look.note(ME)?,
            generation: look.note(GENERATION)?,
            ancestors: look.note(ANCESTORS)?,
            applied: look.note(APPLIED)?,
            membership: look.note(MEMBERSHIP)?,
            purged: look.note(PURGED)?,
            last: look.last()?,
        })
    })?;
    let me = read(&found.me.ok_or(ConsensusError::Alone)?, Reader::member)?;
    let (applied, mut membership) = machine::state(found.applied, found.membership)?;
    let purged = found.purged.map(|bytes| read(&bytes, Reader::log_id));
    let purged = purged.transpose()?;
    let last = match found.last {
        Some((_, bytes)) => Some(read(&bytes, Reader::entry)?.log_id),
        None => None,
    };
    // Rows that were never sent whole are no state to continue from.
    let last: LogId = last
        .max(applied)
        .max(purged)
        .ok_or(ConsensusError::Nothing)?;
    let from = applied.map_or(0, |applied| applied.index + 1);
    if applied.is_none() && from == 0 {
        return Err(ConsensusError::Nothing);
    }
    let entries = store.look_now(|look| look.log(from, last.index + 1))?;
    let entries = entries.iter().map(|(_, bytes)| read(bytes, Reader::entry));
    let entries: Vec<Entry> = entries.collect::<Result<_, _>>()?;
    machine::readable(&entries)?;
    for entry in &entries {
        if let openraft::EntryPayload::Membership(members) = &entry.payload {
            membership = StoredMembership::new(Some(entry.log_id), members.clone());
        }
    }
    let members: Vec<Member> = membership
        .membership()
        .nodes()
        .map(|(_, member)| member.clone())
        .collect();
    let before = read(&found.generation.unwrap_or_default(), |from| from.u64())?;
    let generation = loop {
        let generation = random();
        if generation != 0 && generation != before {
            break generation;
        }
    };
    let mut ancestors = acknowledged::ancestors_of(&found.ancestors.unwrap_or_default());
    ancestors.push(before);
    let ancestors = acknowledged::ancestors_bytes(&ancestors);
    let recovered = Recovered {
        me: me.clone(),
        members,
        last_log: last.index,
        uncertain: entries.len() as u64,
        generation,
    };
    let notes = sole(&me, last)?;
    wait(store, move |space| {
        machine::apply_now(space, &entries)?;
        space.truncate(0)?;
        space.set_note(GENERATION, &generation.to_be_bytes())?;
        space.set_note(ANCESTORS, &ancestors)?;
        notes
            .iter()
            .try_for_each(|(name, value)| space.set_note(name, value))
    })?;
    Ok(recovered)
}

/// Does work and waits for the disk, without a runtime.
fn wait(
    store: &SqliteStore,
    run: impl FnMut(&mut sqlite::replica::Space<'_>) -> Result<(), Failed> + Send + 'static,
) -> Result<(), StoreError> {
    let (reply, answer) = mpsc::channel();
    let reply = Arc::new(Mutex::new(reply));
    queue(store, Until::Flushed, run, move |result| {
        let reply = reply.lock().unwrap_or_else(PoisonError::into_inner);
        drop(reply.send(result));
    })?;
    answer
        .recv()
        .map_err(|_| StoreError::Unavailable("its thread has stopped".to_owned()))?
}
