//! Uses of agents' grants, counted where they are spent: one row for each grant, moved on by one
//! conditional change.
use super::{Refusal, SingleUseError};
use signet_oauth::issued::agent_grants::Counter;
use signet_oauth::token::decision::SingleUse;
use signet_store::{Change, Key, Op, Outcome, Row, Store, StoreError, Table};

fn key_of(grant: &[u8; 32]) -> Key {
    Key::new(Table::AgentUse, grant.to_vec())
}

fn read(row: &Row) -> Result<Counter, StoreError> {
    let corrupt = || StoreError::Corrupt("the uses of a grant".to_owned());
    let (uses, spent) = row.value.split_at_checked(8).ok_or_else(corrupt)?;
    Ok(Counter {
        uses: u64::from_be_bytes(uses.try_into().map_err(|_| corrupt())?),
        spent: u64::from_be_bytes(spent.try_into().map_err(|_| corrupt())?),
    })
}

/// How often a grant was used; none: never.
///
/// # Errors
/// The store's.
pub async fn agent_uses(
    store: &dyn Store,
    grant: &[u8; 32],
    now: u64,
) -> Result<Option<Counter>, StoreError> {
    let row = store.get(&key_of(grant), now).await?;
    row.as_ref().map(read).transpose()
}

/// The count after one more use, if the grant's bounds allow it.
fn next(condition: &SingleUse, before: Counter) -> Result<Counter, Refusal> {
    let SingleUse::AgentUse {
        max_uses,
        budget,
        spend,
        ..
    } = condition
    else {
        return Err(Refusal::AgentUses);
    };
    let uses = before.uses.checked_add(1).ok_or(Refusal::AgentUses)?;
    let spent = before.spent.checked_add(*spend);
    let spent = spent.ok_or(Refusal::AgentBudget)?;
    if max_uses.is_some_and(|most| uses > most) {
        return Err(Refusal::AgentUses);
    }
    if budget.is_some_and(|most| spent > most) {
        return Err(Refusal::AgentBudget);
    }
    Ok(Counter { uses, spent })
}

/// Counts one use of each grant. All are looked at before the first is counted, so that only a race
/// can count a use of one grant that another then refuses: that use is lost to the holder, never
/// won.
pub(super) async fn spend(
    store: &dyn Store,
    conditions: &[&SingleUse],
    now: u64,
) -> Result<(), SingleUseError> {
    for count in [false, true] {
        for condition in conditions {
            let SingleUse::AgentUse { grant, end, .. } = condition else {
                continue;
            };
            let key = key_of(grant);
            let mut row = store.get(&key, now).await?;
            loop {
                let before = row.as_ref().map(read).transpose()?.unwrap_or_default();
                let after = next(condition, before).map_err(SingleUseError::Refused)?;
                if !count {
                    break;
                }
                let value = [after.uses.to_be_bytes(), after.spent.to_be_bytes()].concat();
                let (key, end) = (key.clone(), Some(*end));
                let first = match &row {
                    None => Op::Insert { key, value, end },
                    Some(row) => Op::Replace {
                        key,
                        version: row.version,
                        value,
                        end,
                    },
                };
                match store.commit(Change::new(first), now).await? {
                    Outcome::Done { .. } => break,
                    // Another use was first, and somebody always is: each turn ends one of the
                    // racing.
                    Outcome::Refused(current) => row = current,
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Proofs, commit};
    use super::*;
    use signet_store::MemoryStore;

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }
    fn use_of(grant: u8, max_uses: Option<u64>, budget: Option<u64>, spend: u64) -> SingleUse {
        SingleUse::AgentUse {
            grant: [grant; 32],
            max_uses,
            budget,
            spend,
            end: 1000,
        }
    }
    fn refusal(store: &MemoryStore, single_use: &[SingleUse]) -> Option<Refusal> {
        match run(commit(
            store,
            Proofs::uncounted(),
            single_use,
            Vec::new(),
            100,
        )) {
            Ok(()) => None,
            Err(SingleUseError::Refused(refusal)) => Some(refusal),
            Err(error) => panic!("{error:?}"),
        }
    }

    #[test]
    fn uses_and_amounts_are_counted_up_to_the_grants_bounds() {
        let store = MemoryStore::new();
        let twice = use_of(1, Some(2), None, 0);
        assert_eq!(refusal(&store, std::slice::from_ref(&twice)), None);
        assert_eq!(refusal(&store, std::slice::from_ref(&twice)), None);
        assert_eq!(refusal(&store, &[twice]), Some(Refusal::AgentUses));
        let spend = |amount| [use_of(2, None, Some(10), amount)];
        assert_eq!(refusal(&store, &spend(7)), None);
        assert_eq!(refusal(&store, &spend(4)), Some(Refusal::AgentBudget));
        assert_eq!(refusal(&store, &spend(3)), None);
        assert_eq!(
            refusal(&store, &spend(u64::MAX)),
            Some(Refusal::AgentBudget)
        );
    }

    #[test]
    fn a_grant_that_refuses_costs_no_other_a_use() {
        let store = MemoryStore::new();
        let own = use_of(1, Some(1), None, 0);
        let above = use_of(2, Some(0), None, 0);
        let both = [own.clone(), above];
        assert_eq!(refusal(&store, &both), Some(Refusal::AgentUses));
        assert_eq!(run(agent_uses(&store, &[1; 32], 100)).unwrap(), None);
        assert_eq!(refusal(&store, &[own]), None);
    }

    #[test]
    fn of_racing_uses_as_many_succeed_as_the_grant_allows() {
        let store = MemoryStore::new();
        let condition = [use_of(1, Some(5), None, 0)];
        let mut won = 0;
        run(async {
            let mut racing = Vec::new();
            for _ in 0..40 {
                racing.push(Box::pin(commit(
                    &store,
                    Proofs::uncounted(),
                    &condition,
                    Vec::new(),
                    100,
                )));
            }
            for race in racing {
                won += usize::from(race.await.is_ok());
            }
        });
        assert_eq!(won, 5);
    }

    #[test]
    fn a_proof_is_used_once_and_a_replay_counts_no_use() {
        let store = MemoryStore::new();
        let single_use = [
            SingleUse::AgentProof {
                by: "agent".to_owned(),
                id: [9; 32],
                end: 1000,
            },
            use_of(1, Some(2), None, 0),
        ];
        assert_eq!(refusal(&store, &single_use), None);
        assert_eq!(refusal(&store, &single_use), Some(Refusal::AgentProof));
        let counter = run(agent_uses(&store, &[1; 32], 100)).unwrap().unwrap();
        assert_eq!(counter.uses, 1);
    }
}
