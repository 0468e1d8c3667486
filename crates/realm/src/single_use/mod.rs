//! What may happen once: the rules' conditions, as changes of the store.
//!
//! All conditions of a request are committed in one call, in their order, each atomic. What an
//! unauthenticated caller could send comes first and the code or refresh token last; a refusal
//! stops, so nobody consumes a code with a replayed proof. A code or refresh token that turns out
//! to be used already is only called a replay when everything before it held: then the sender
//! proved to be the client, and the grant ends.
//!
//! A proof is a row whose number its sender chooses, so whoever commits says whether the proofs are
//! counted ([`Proofs`]), by the key that signed them. Nothing is written of one too many.
use signet_oauth::id::{CodeId, GrantId};
mod agent_use;
mod proofs;

pub use agent_use::agent_uses;
pub use proofs::Proofs;

use signet_crypto::ct_eq;
use signet_oauth::token::decision::{RowName, SingleUse};
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};

/// Which condition did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The client assertion was used before.
    Assertion,
    /// The DPoP proof was used before.
    DpopProof,
    /// The code was used before: its grant must end.
    CodeReplay {
        /// the grant that the first use began
        grant_id: GrantId,
    },
    /// The agent's proof of possession was used before.
    AgentProof,
    /// A grant of the chain has no uses left.
    AgentUses,
    /// A grant of the chain does not allow to spend so much.
    AgentBudget,
    /// The device code was taken already, or is gone.
    DeviceCode,
    /// The refresh token's family was revoked or has expired.
    FamilyEnded,
    /// An older refresh token of the family: the grant must end.
    RefreshReplay {
        /// the family
        grant_id: GrantId,
    },
}

/// Where it went wrong.
#[derive(Debug)]
pub enum SingleUseError {
    /// A condition did not hold. Those before it are committed.
    Refused(Refusal),
    /// The key of a proof has sent too many: nothing is committed.
    TooMany {
        /// the seconds after which there is room again
        retry_after: u64,
    },
    /// The store failed: nothing may be answered but that.
    Store(StoreError),
}

impl From<StoreError> for SingleUseError {
    fn from(error: StoreError) -> SingleUseError {
        SingleUseError::Store(error)
    }
}

/// The key of a row that a grant decides on.
pub fn key_of(name: &RowName) -> Key {
    match name {
        RowName::DeviceCode(id) => Key::new(Table::DeviceCode, id.as_bytes().to_vec()),
    }
}

/// Commits the conditions, in order. `proofs`: whether those among them are counted. `then`:
/// further writes that belong to the last one (the list of a user's grants). When this returns
/// `Ok`, all held and are durable. `now`: Unix seconds.
///
/// # Errors
/// The first condition that did not hold, a proof too many, or the store's failure.
pub async fn commit(
    store: &dyn Store,
    proofs: Proofs<'_>,
    single_use: &[SingleUse],
    then: Vec<Op>,
    now: u64,
) -> Result<(), SingleUseError> {
    if single_use.is_empty() && then.is_empty() {
        return Ok(());
    }
    proofs.spend(single_use, now)?;
    let mut changes = Vec::with_capacity(single_use.len());
    let mut planned = Vec::with_capacity(single_use.len());
    let mut refused = None;
    let mut uses = Vec::new();
    for condition in single_use {
        if let SingleUse::AgentUse { .. } = condition {
            uses.push(condition);
            continue;
        }
        match plan(store, condition, now).await? {
            Plan::Change(change) => {
                changes.push(change);
                planned.push(condition);
            }
            Plan::Holds => {}
            Plan::Refused(refusal) => {
                // Said only if those before it hold.
                refused = Some(refusal);
                break;
            }
        }
    }
    if refused.is_none() && !then.is_empty() {
        match changes.last_mut() {
            Some(last) => last.then.extend(then),
            None => {
                for op in then {
                    changes.push(change(op, Vec::new()));
                }
            }
        }
    }
    if !changes.is_empty() {
        let outcomes = store.commit_each(changes, now).await?;
        if let Some((at, Outcome::Refused(row))) = outcomes
            .iter()
            .enumerate()
            .find(|(_, o)| matches!(o, Outcome::Refused(_)))
        {
            // `then` alone is unconditional, so a refused change is one that was planned.
            let Some(condition) = planned.get(at) else {
                return Err(StoreError::Unavailable("an impossible refusal".to_owned()).into());
            };
            match judge(condition, row.as_ref(), now) {
                Some(refusal) => {
                    proofs.give_back(condition, &refusal);
                    return Err(SingleUseError::Refused(refusal));
                }
                // Only the documented retry holds after a refusal: a racing request of the same
                // sender was first.
                None if is_at(condition, row.as_ref()) => {
                    return Err(StoreError::Unavailable("a row changed twice".to_owned()).into());
                }
                None => {}
            }
        }
    }
    match refused {
        Some(refusal) => Err(SingleUseError::Refused(refusal)),
        // Counted when everything else has held.
        None => agent_use::spend(store, &uses, now).await,
    }
}

enum Plan {
    Change(Change),
    Holds,
    Refused(Refusal),
}

fn change(first: Op, then: Vec<Op>) -> Change {
    Change { first, then }
}

async fn plan(store: &dyn Store, condition: &SingleUse, now: u64) -> Result<Plan, StoreError> {
    Ok(match condition {
        SingleUse::Assertion {
            client_id,
            jti,
            end,
        } => Plan::Change(insert_once(once_key(b'a', client_id, jti), *end)),
        SingleUse::DpopProof { jkt, jti, end } => {
            Plan::Change(insert_once(once_key(b'p', jkt, jti), *end))
        }
        SingleUse::AgentProof { id, end, .. } => {
            let mut partition = vec![b'g'];
            partition.extend_from_slice(id);
            Plan::Change(insert_once(Key::new(Table::Once, partition), *end))
        }
        SingleUse::Code {
            id,
            grant_id,
            end,
            family_end,
        } => {
            let mut change = insert_once(code_key(id), *end);
            change.then.extend(new_family(grant_id, *family_end, now));
            Plan::Change(change)
        }
        SingleUse::DeviceCode {
            id,
            version,
            consumed,
            end,
            grant_id,
            family_end,
        } => Plan::Change(change(
            Op::Replace {
                key: key_of(&RowName::DeviceCode(*id)),
                version: *version,
                value: consumed.clone(),
                end: *end,
            },
            new_family(grant_id, *family_end, now).into_iter().collect(),
        )),
        SingleUse::Rotate {
            grant_id,
            from,
            end,
            retry,
        } => {
            let key = family_key(grant_id);
            let row = store.get(&key, now).await?;
            match (judge(condition, row.as_ref(), now), row) {
                (Some(refusal), _) => Plan::Refused(refusal),
                (None, Some(row)) if Family::read(&row)?.generation == *from => {
                    Plan::Change(change(
                        Op::Replace {
                            key,
                            version: row.version,
                            value: Family {
                                generation: from + 1,
                                written_at: now,
                                rotated_by: retry.map(|retry| retry.by),
                            }
                            .encode(),
                            end: Some(*end),
                        },
                        Vec::new(),
                    ))
                }
                // The documented retry.
                (None, _) => Plan::Holds,
            }
        }
        SingleUse::Current { grant_id, .. } => {
            let row = store.get(&family_key(grant_id), now).await?;
            match judge(condition, row.as_ref(), now) {
                Some(refusal) => Plan::Refused(refusal),
                None => Plan::Holds,
            }
        }
        // Counted by `agent_use::spend`, when everything else has held.
        SingleUse::AgentUse { .. } => Plan::Holds,
    })
}

/// What a row that is not as demanded means; `None`: the condition counts as held after all.
fn judge(condition: &SingleUse, row: Option<&Row>, now: u64) -> Option<Refusal> {
    match condition {
        SingleUse::Assertion { .. } => Some(Refusal::Assertion),
        SingleUse::DpopProof { .. } => Some(Refusal::DpopProof),
        SingleUse::AgentProof { .. } => Some(Refusal::AgentProof),
        SingleUse::Code { grant_id, .. } => Some(Refusal::CodeReplay {
            grant_id: *grant_id,
        }),
        SingleUse::Rotate {
            grant_id,
            from,
            retry,
            ..
        } => {
            // A row that cannot be read is refused like one that is gone: never believed.
            let Some(family) = row.and_then(|row| Family::read(row).ok()) else {
                return Some(Refusal::FamilyEnded);
            };
            // The rotation is repeated by who made it, with the same credential and the same key; a
            // proof of some other key is a replay like any other (RFC 9700 section 4.14.2).
            let is_retry = retry.is_some_and(|retry| {
                family.generation == from + 1
                    && now < family.written_at.saturating_add(retry.window)
                    && family.rotated_by.is_some_and(|by| ct_eq(&by, &retry.by))
            });
            if family.generation == *from || is_retry {
                None
            } else {
                Some(Refusal::RefreshReplay {
                    grant_id: *grant_id,
                })
            }
        }
        SingleUse::Current {
            grant_id,
            generation,
        } => {
            let Some(family) = row.and_then(|row| Family::read(row).ok()) else {
                return Some(Refusal::FamilyEnded);
            };
            (family.generation != *generation).then_some(Refusal::RefreshReplay {
                grant_id: *grant_id,
            })
        }
        SingleUse::DeviceCode { .. } => Some(Refusal::DeviceCode),
        // Never planned as a change: see `agent_use`.
        SingleUse::AgentUse { .. } => Some(Refusal::AgentUses),
    }
}

/// Is the family still at the generation that the change was to move on? Then nothing was moved.
fn is_at(condition: &SingleUse, row: Option<&Row>) -> bool {
    let SingleUse::Rotate { from, .. } = condition else {
        return false;
    };
    row.and_then(|row| Family::read(row).ok())
        .is_none_or(|family| family.generation == *from)
}

/// A refresh family's row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Family {
    /// The generation of the refresh token that is good now.
    pub generation: u64,
    /// When it was written, Unix seconds.
    pub written_at: u64,
    /// Who made this generation ([`signet_oauth::token::decision::Retry::by`]); none for the first,
    /// and where nobody may retry.
    pub rotated_by: Option<[u8; 32]>,
}

impl Family {
    fn encode(self) -> Vec<u8> {
        let mut row = [self.generation.to_be_bytes(), self.written_at.to_be_bytes()].concat();
        row.extend(self.rotated_by.iter().flatten());
        row
    }
    /// # Errors
    /// A row that is none.
    pub fn read(row: &Row) -> Result<Family, StoreError> {
        let corrupt = || StoreError::Corrupt("a refresh family".to_owned());
        let (generation, rest) = row.value.split_at_checked(8).ok_or_else(corrupt)?;
        let (written_at, by) = rest.split_at_checked(8).ok_or_else(corrupt)?;
        Ok(Family {
            generation: u64::from_be_bytes(generation.try_into().map_err(|_| corrupt())?),
            written_at: u64::from_be_bytes(written_at.try_into().map_err(|_| corrupt())?),
            rotated_by: match by.is_empty() {
                true => None,
                false => Some(by.try_into().map_err(|_| corrupt())?),
            },
        })
    }
}

/// The family of a grant.
pub fn family_key(grant_id: &GrantId) -> Key {
    Key::new(Table::Family, grant_id.as_bytes().to_vec())
}

fn new_family(grant_id: &GrantId, family_end: Option<u64>, now: u64) -> Option<Op> {
    Some(Op::Put {
        key: family_key(grant_id),
        value: Family {
            generation: 0,
            written_at: now,
            rotated_by: None,
        }
        .encode(),
        end: Some(family_end?),
    })
}

fn insert_once(key: Key, end: u64) -> Change {
    change(
        Op::Insert {
            key,
            value: Vec::new(),
            end: Some(end),
        },
        Vec::new(),
    )
}

fn code_key(id: &CodeId) -> Key {
    let mut partition = vec![b'c'];
    partition.extend_from_slice(id.as_bytes());
    Key::new(Table::Once, partition)
}

/// Ids that others choose are hashed: any length, any bytes, one size. The owner's length goes in
/// front, so that no two (owner, id) pairs read alike.
fn once_key(kind: u8, owner: &str, id: &str) -> Key {
    let mut hash = signet_crypto::hash::Sha256::new();
    hash.update(&(owner.len() as u64).to_be_bytes());
    hash.update(owner.as_bytes());
    hash.update(id.as_bytes());
    let mut partition = vec![kind];
    partition.extend_from_slice(&hash.finish());
    Key::new(Table::Once, partition)
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_oauth::token::decision::Retry;
    use signet_store::MemoryStore;

    const GRANT: GrantId = GrantId::new([7; 16]);

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }
    fn refusal(store: &MemoryStore, single_use: &[SingleUse], now: u64) -> Option<Refusal> {
        match run(commit(
            store,
            Proofs::uncounted(),
            single_use,
            Vec::new(),
            now,
        )) {
            Ok(()) => None,
            Err(SingleUseError::Refused(refusal)) => Some(refusal),
            Err(error) => panic!("{error:?}"),
        }
    }
    fn code(id: u8) -> SingleUse {
        SingleUse::Code {
            id: CodeId::new([id; 16]),
            grant_id: GRANT,
            end: 1000,
            family_end: Some(9000),
        }
    }
    fn rotate(from: u64, window: u64) -> SingleUse {
        rotate_by(1, from, window)
    }
    fn rotate_by(who: u8, from: u64, window: u64) -> SingleUse {
        let retry = Retry {
            by: [who; 32],
            window,
        };
        SingleUse::Rotate {
            grant_id: GRANT,
            from,
            end: 9000,
            retry: (who != 0).then_some(retry),
        }
    }
    fn proof(jti: &str) -> SingleUse {
        SingleUse::DpopProof {
            jkt: "k".to_owned(),
            jti: jti.to_owned(),
            end: 1000,
        }
    }

    #[test]
    fn a_replayed_proof_burns_no_code() {
        let store = MemoryStore::new();
        assert_eq!(refusal(&store, &[proof("1")], 100), None);
        let both = [proof("1"), code(1)];
        assert_eq!(refusal(&store, &both, 100), Some(Refusal::DpopProof));
        assert_eq!(refusal(&store, &[proof("2"), code(1)], 100), None);
    }

    #[test]
    fn a_replayed_proof_makes_no_replay_of_an_old_refresh_token() {
        let store = MemoryStore::new();
        assert_eq!(refusal(&store, &[proof("1"), code(1)], 100), None);
        assert_eq!(refusal(&store, &[rotate(0, 0)], 100), None);
        // The sender did not prove to be the client: the family may not be ended for it.
        let stranger = [proof("1"), rotate(0, 0)];
        assert_eq!(refusal(&store, &stranger, 100), Some(Refusal::DpopProof));
        let owner = [proof("2"), rotate(0, 0)];
        let replay = Refusal::RefreshReplay { grant_id: GRANT };
        assert_eq!(refusal(&store, &owner, 100), Some(replay));
    }

    #[test]
    fn a_retry_holds_within_its_window_and_for_the_last_generation_only() {
        let store = MemoryStore::new();
        let replay = Some(Refusal::RefreshReplay { grant_id: GRANT });
        assert_eq!(refusal(&store, &[code(1)], 100), None);
        assert_eq!(refusal(&store, &[rotate(0, 10)], 100), None);
        assert_eq!(refusal(&store, &[rotate(0, 10)], 109), None);
        assert_eq!(refusal(&store, &[rotate(0, 10)], 110), replay);
        assert_eq!(refusal(&store, &[rotate(1, 10)], 110), None);
        assert_eq!(refusal(&store, &[rotate(0, 10)], 111), replay);
        assert_eq!(refusal(&store, &[rotate(1, 0)], 111), replay);
    }

    #[test]
    fn a_retry_is_of_the_sender_that_rotated() {
        // (who rotated, who sends the same token again, whether that is a retry); 0: whom nothing
        // but the token tells
        for (rotated, again, is_retry) in [
            (1, 1, true),
            (1, 2, false),
            (1, 0, false),
            (0, 1, false),
            (0, 0, false),
        ] {
            let store = MemoryStore::new();
            assert_eq!(refusal(&store, &[code(1)], 100), None);
            assert_eq!(refusal(&store, &[rotate_by(rotated, 0, 10)], 100), None);
            let replay = Refusal::RefreshReplay { grant_id: GRANT };
            assert_eq!(
                refusal(&store, &[rotate_by(again, 0, 10)], 101),
                (!is_retry).then_some(replay),
                "{rotated} {again}"
            );
        }
    }

    #[test]
    fn a_family_that_is_gone_has_ended() {
        let store = MemoryStore::new();
        assert_eq!(
            refusal(&store, &[rotate(0, 0)], 100),
            Some(Refusal::FamilyEnded)
        );
        assert_eq!(refusal(&store, &[code(1)], 100), None);
        assert_eq!(
            refusal(&store, &[rotate(0, 0)], 9000),
            Some(Refusal::FamilyEnded)
        );
    }

    #[test]
    fn ids_of_two_owners_do_not_meet() {
        let a = once_key(b'a', "client", "x");
        for other in [
            once_key(b'a', "clien", "tx"),
            once_key(b'p', "client", "x"),
            once_key(b'a', "client", "y"),
        ] {
            assert_ne!(a.partition, other.partition);
        }
    }
}
