//! Proofs are counted by the key that signed them, before a row of one is written: a proof costs
//! its sender a signature, and the store a row for an hour.
use super::{Refusal, SingleUseError};
use crate::budgets::{Act, Budgets};
use signet_oauth::client::Client;
use signet_oauth::token::decision::SingleUse;

/// Which budget the proofs of a commit count for, if any.
#[derive(Clone, Copy)]
pub struct Proofs<'a>(Option<(&'a Budgets, Act)>);

impl<'a> Proofs<'a> {
    /// They are of the client that authenticated with a secret or key, or there can be none.
    pub const fn uncounted() -> Proofs<'a> {
        Proofs(None)
    }

    /// Of anybody.
    pub const fn of_anybody(budgets: &'a Budgets) -> Proofs<'a> {
        Proofs(Some((budgets, Act::Proof)))
    }

    /// In a request of this client, as which its sender has authenticated where it can.
    pub fn of_client(budgets: &'a Budgets, client: &Client) -> Proofs<'a> {
        match client.is_public() {
            true => Proofs::of_anybody(budgets),
            false => Proofs::uncounted(),
        }
    }

    /// With an access token of this client; none: its record is gone.
    pub fn with_token_of(budgets: &'a Budgets, client: Option<&Client>) -> Proofs<'a> {
        match client.is_none_or(Client::is_public) {
            true => Proofs::of_anybody(budgets),
            false => Proofs(Some((budgets, Act::ClientProof))),
        }
    }

    /// Counts the proofs among the conditions.
    pub(super) fn spend(self, single_use: &[SingleUse], now: u64) -> Result<(), SingleUseError> {
        let Some((budgets, act)) = self.0 else {
            return Ok(());
        };
        for by in single_use.iter().filter_map(signed_by) {
            budgets
                .spend_of_key(act, by, now)
                .map_err(|retry_after| SingleUseError::TooMany { retry_after })?;
        }
        Ok(())
    }

    /// A proof that was used before is kept already: nobody else who sends it again shall use up
    /// its key's budget.
    pub(super) fn give_back(self, condition: &SingleUse, refusal: &Refusal) {
        let replayed = matches!(refusal, Refusal::DpopProof | Refusal::AgentProof);
        if let (Some((budgets, act)), Some(by), true) = (self.0, signed_by(condition), replayed) {
            budgets.give_back_of_key(act, by);
        }
    }
}

/// Who signed a proof; none: the condition is none.
fn signed_by(condition: &SingleUse) -> Option<&str> {
    match condition {
        SingleUse::DpopProof { jkt, .. } => Some(jkt),
        SingleUse::AgentProof { by, .. } => Some(by),
        // A client's assertion is of one that authenticates; the others are of what was issued.
        SingleUse::Assertion { .. }
        | SingleUse::Code { .. }
        | SingleUse::DeviceCode { .. }
        | SingleUse::Rotate { .. }
        | SingleUse::AgentUse { .. }
        | SingleUse::Current { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::single_use::commit;
    use signet_store::MemoryStore;

    fn proof(jti: &str) -> SingleUse {
        SingleUse::DpopProof {
            jkt: "key".to_owned(),
            jti: jti.to_owned(),
            end: 1000,
        }
    }

    #[tokio::test]
    async fn a_proof_too_many_is_no_row_and_one_that_is_sent_again_costs_its_key_nothing() {
        let (store, budgets) = (MemoryStore::new(), Budgets::default());
        budgets.set(Act::Proof, 2, 100);
        let send = async |proofs, jti: &str| {
            let single_use = [proof(jti)];
            commit(&store, proofs, &single_use, Vec::new(), 100).await
        };
        let counted = Proofs::of_anybody(&budgets);
        assert!(send(counted, "1").await.is_ok());
        for _ in 0..5 {
            let again = send(counted, "1").await;
            let replay = SingleUseError::Refused(Refusal::DpopProof);
            assert_eq!(format!("{again:?}"), format!("Err({replay:?})"));
        }
        assert!(send(counted, "2").await.is_ok());
        let many = send(counted, "3").await;
        assert!(
            matches!(many, Err(SingleUseError::TooMany { retry_after: 900 })),
            "{many:?}"
        );
        // Nothing of it was kept; and who has authenticated is not counted.
        assert!(send(Proofs::uncounted(), "3").await.is_ok());
    }
}
