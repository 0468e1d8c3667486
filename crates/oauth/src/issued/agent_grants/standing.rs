//! What the server knows of a presented chain, read before the decision.
use signet_agent::{
    AgentId, Hash, constraint, declaration::Declaration, identity::VerifiedDocument,
    object::Signed, presentation::Presentation, revocation::Revocations,
};
use std::{collections::HashMap, net::IpAddr};

/// The identity that a person bound to their account.
#[derive(Clone, Debug)]
pub struct Root {
    /// whose it is
    pub user_id: String,
    /// its document as the server has it
    pub document: VerifiedDocument,
}

/// Uses of one grant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    /// how often it was used
    pub uses: u64,
    /// what was set aside for these uses, in the unit of the grant's budget
    pub spent: u64,
}

/// What only the server can say of the chain.
#[derive(Clone, Debug)]
pub struct Standing {
    /// the first grantor's binding; none: it is bound to nobody
    pub root: Option<Root>,
    /// documents that the server keeps, each the newest that it was shown
    pub documents: Vec<VerifiedDocument>,
    /// everything that concerns the chain's grants and agents
    pub revocations: Revocations,
    /// declarations that agents of the chain have left with the server
    pub declarations: Vec<Signed<Declaration>>,
    /// by grant; none yet: never used
    pub counters: HashMap<Hash, Counter>,
}

/// A chain with its standing.
#[derive(Clone, Debug)]
pub struct PresentedChain {
    /// what the holder presents
    pub shown: Presentation,
    /// what the server knows
    pub standing: Standing,
    /// where the request comes from
    pub peer: IpAddr,
}

impl PresentedChain {
    /// Every document to believe: the server's own, a presented one where it continues the
    /// server's, and presented ones of agents that the server has none of. An older or forked
    /// history of a known agent counts for nothing.
    pub(crate) fn documents(&self) -> Vec<VerifiedDocument> {
        let mut documents: Vec<VerifiedDocument> = self.standing.documents.clone();
        let root = self.standing.root.as_ref().map(|root| root.document.id());
        for shown in &self.shown.documents {
            // The root's document is renewed by its person alone.
            if Some(shown.id()) == root {
                continue;
            }
            match documents.iter_mut().find(|known| known.id() == shown.id()) {
                Some(known) if known.is_continued_by(shown) => *known = shown.clone(),
                Some(_) => {}
                None => documents.push(shown.clone()),
            }
        }
        documents
    }

    /// The agents from the root to the holder, as the grants name them.
    pub fn agents(&self) -> Vec<AgentId> {
        agents(&self.shown)
    }
}

/// The agents from the root to the holder, as the grants name them; not verified.
pub(crate) fn agents(shown: &Presentation) -> Vec<AgentId> {
    let root = shown.grants.first().map(|grant| grant.body().by.agent);
    root.into_iter()
        .chain(shown.grants.iter().map(|grant| grant.body().to.agent))
        .collect()
}

/// The count of uses with the present one, which may spend an amount of a unit.
pub(crate) struct WithThisUse<'a> {
    pub(crate) counters: &'a HashMap<Hash, Counter>,
    pub(crate) amount: u64,
    pub(crate) unit: Option<&'a str>,
}

impl constraint::Ledger for WithThisUse<'_> {
    fn uses(&self, grant: &Hash) -> Option<u64> {
        let before = self.counters.get(grant).copied().unwrap_or_default();
        before.uses.checked_add(1)
    }

    fn spent(&self, grant: &Hash, unit: &str) -> Option<u64> {
        let before = self.counters.get(grant).copied().unwrap_or_default();
        // An amount of another unit cannot be compared.
        match self.unit {
            Some(asked) if asked != unit => None,
            _ => before.spent.checked_add(self.amount),
        }
    }
}

/// The custom constraints that the operator says are fulfilled here, each by one value.
pub(crate) struct Known<'a>(pub(crate) &'a [(String, String)]);

impl constraint::Custom for Known<'_> {
    fn fulfilled(&self, name: &str, value: &str) -> Option<bool> {
        let known = self.0.iter().find(|(known, _)| known == name)?;
        Some(known.1 == value)
    }
}
