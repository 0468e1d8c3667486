//! A verifier, and what it knows.

use std::net::IpAddr;

use signet_agent::anchor::Anchors;
use signet_agent::chain::Check;
use signet_agent::constraint::{Context, Custom, Ledger};
use signet_agent::grant::Grant;
use signet_agent::identity::{Created, VerifiedDocument};
use signet_agent::object::Signed;
use signet_agent::proof::{Expected, Proof};
use signet_agent::receipt::Receipt;
use signet_agent::revocation::Revocations;
use signet_agent::{Hash, Refusal};

use crate::common::{NOW, capability, sign};

pub const AUDIENCE: &str = "https://api.example";

/// What a verifier knows, with Alice for the root.
pub struct Verifier {
    pub root: VerifiedDocument,
    pub revocations: Revocations,
    pub anchors: Anchors,
    pub ledger: Counted,
    pub from: Option<IpAddr>,
    pub asked: &'static str,
}

/// Counts and constraints that this verifier knows.
#[derive(Default)]
pub struct Counted {
    pub uses: Option<u64>,
    pub spent: Option<u64>,
    pub region: Option<&'static str>,
}

impl Ledger for Counted {
    fn uses(&self, _: &Hash) -> Option<u64> {
        self.uses
    }

    fn spent(&self, _: &Hash, _: &str) -> Option<u64> {
        self.spent
    }
}

impl Custom for Counted {
    fn fulfilled(&self, name: &str, value: &str) -> Option<bool> {
        (name == "x-region").then_some(self.region? == value)
    }
}

pub type Answer = std::result::Result<(), Refusal>;

impl Verifier {
    pub fn of(root: &Created) -> Verifier {
        Verifier {
            root: root.document.clone(),
            revocations: Revocations::as_of(NOW),
            anchors: Anchors::none(),
            ledger: Counted::default(),
            from: None,
            asked: "read:files/a",
        }
    }

    pub fn check(
        &self,
        links: &[Signed<Grant>],
        proof: Option<(&Signed<Proof>, Expected<'_>)>,
    ) -> Answer {
        let asked = capability(self.asked);
        let check = Check {
            root: &self.root,
            documents: &[],
            capability: &asked,
            context: Context {
                audience: Some(AUDIENCE),
                network: self.from,
                ledger: &self.ledger,
                custom: &self.ledger,
            },
            now: NOW,
            leeway: 0,
            revocations: &self.revocations,
            max_staleness: None,
            declarations: &[],
            kept_declarations: &[],
            lineages: &[],
            anchors: &self.anchors,
            proof,
        };
        check
            .run(links)
            .map(|_| ())
            .map_err(|refused| refused.reason)
    }

    pub fn grants(&self, links: &[Signed<Grant>]) -> Answer {
        self.check(links, None)
    }
}

pub fn chain(agent: &Created, len: u64) -> Vec<Signed<Receipt>> {
    let mut all: Vec<Signed<Receipt>> = Vec::new();
    for n in 0..len {
        let mut body = Receipt::new(agent.document.by(), "decision", NOW * 1_000 + n)
            .with_content(format!("content {n}").as_bytes());
        if let Some(last) = all.last() {
            body = body.after(last);
        }
        all.push(sign(agent, &body));
    }
    all
}
