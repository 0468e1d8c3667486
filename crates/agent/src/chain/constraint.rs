//! Constraints of a grant: every one is evaluated, and one that cannot be refuses.

use std::net::IpAddr;

use crate::cbor::{Decoder, MapReader};
use crate::chain::network::Network;
use crate::error::{Refusal, Result, ensure};
use crate::id::Hash;
use crate::object::{Fields, check_ascending};
use crate::text::check_text;
use crate::text_map::TextMap;

/// An amount that may be spent, in a unit that is only compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// How much.
    pub amount: u64,
    /// Of what; may be empty.
    pub unit: String,
}

/// The constraints. What is empty or `None` does not constrain.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Constraints {
    /// The audiences for which the grant counts, in ascending order.
    pub audience: Vec<String>,
    /// How often it may be used.
    pub max_uses: Option<u64>,
    /// How much may be spent under it.
    pub budget: Option<Budget>,
    /// From where it may be used, in ascending order.
    pub networks: Vec<Network>,
    /// Further ones, by names that begin with `x-`; only a verifier who knows them can accept.
    pub custom: TextMap,
}

/// What the uses of grants have come to: counted where they are spent, by the verifier, never by
/// the holder.
pub trait Ledger {
    /// Uses of this grant, the present one included. `None`: not known, which refuses.
    fn uses(&self, grant: &Hash) -> Option<u64>;

    /// What was spent under this grant in this unit, the present use included. `None` refuses.
    fn spent(&self, grant: &Hash, unit: &str) -> Option<u64>;
}

/// A verifier that knows custom constraints.
pub trait Custom {
    /// Whether the constraint is fulfilled. `None`: not known, which refuses.
    fn fulfilled(&self, name: &str, value: &str) -> Option<bool>;
}

/// Knows nothing of uses, budgets and custom constraints.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nothing;

impl Ledger for Nothing {
    fn uses(&self, _: &Hash) -> Option<u64> {
        None
    }

    fn spent(&self, _: &Hash, _: &str) -> Option<u64> {
        None
    }
}

impl Custom for Nothing {
    fn fulfilled(&self, _: &str, _: &str) -> Option<bool> {
        None
    }
}

/// What the verifier knows of the moment.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// For whom the grant is being used: the verifier itself.
    pub audience: Option<&'a str>,
    /// Where the request comes from.
    pub network: Option<IpAddr>,
    /// The count of uses.
    pub ledger: &'a dyn Ledger,
    /// The known custom constraints.
    pub custom: &'a dyn Custom,
}

impl Default for Context<'_> {
    /// Nothing is known: whatever is constrained is refused.
    fn default() -> Self {
        Context {
            audience: None,
            network: None,
            ledger: &Nothing,
            custom: &Nothing,
        }
    }
}

impl std::fmt::Debug for Context<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context")
            .field("audience", &self.audience)
            .field("network", &self.network)
            .finish_non_exhaustive()
    }
}

impl Constraints {
    /// Evaluates all of them for this grant.
    ///
    /// # Errors
    /// The constraint that refuses; [`Refusal::ContextMissing`] and [`Refusal::CustomUnknown`] for
    /// those that cannot be evaluated.
    pub fn evaluate(&self, grant: &Hash, context: &Context<'_>) -> Result<()> {
        let missing = Refusal::ContextMissing;
        if !self.audience.is_empty() {
            let audience = context.audience.ok_or(missing)?;
            ensure(
                self.audience.iter().any(|own| own == audience),
                Refusal::AudienceRefused,
            )?;
        }
        if let Some(most) = self.max_uses {
            let uses = context.ledger.uses(grant).ok_or(missing)?;
            ensure(uses <= most, Refusal::UsesExhausted)?;
        }
        if let Some(budget) = &self.budget {
            let spent = context.ledger.spent(grant, &budget.unit).ok_or(missing)?;
            ensure(spent <= budget.amount, Refusal::BudgetExhausted)?;
        }
        if !self.networks.is_empty() {
            let address = context.network.ok_or(missing)?;
            ensure(
                self.networks.iter().any(|own| own.contains(address)),
                Refusal::NetworkRefused,
            )?;
        }
        for (name, value) in self.custom.iter() {
            let fulfilled = context
                .custom
                .fulfilled(name, value)
                .ok_or(Refusal::CustomUnknown)?;
            ensure(fulfilled, Refusal::CustomRefused)?;
        }
        Ok(())
    }

    /// Whether a child with these is nowhere wider than a parent with `self`.
    ///
    /// # Errors
    /// The dimension in which it is.
    pub fn check_narrows(&self, child: &Constraints) -> Result<()> {
        if !self.audience.is_empty() {
            let within = !child.audience.is_empty()
                && child.audience.iter().all(|a| self.audience.contains(a));
            ensure(within, Refusal::AudienceWidened)?;
        }
        if let Some(most) = self.max_uses {
            ensure(
                child.max_uses.is_some_and(|uses| uses <= most),
                Refusal::UsesWidened,
            )?;
        }
        if let Some(budget) = &self.budget {
            let within = child
                .budget
                .as_ref()
                .is_some_and(|b| b.unit == budget.unit && b.amount <= budget.amount);
            ensure(within, Refusal::BudgetWidened)?;
        }
        if !self.networks.is_empty() {
            let covered = |network: &Network| self.networks.iter().any(|own| own.covers(network));
            let within = !child.networks.is_empty() && child.networks.iter().all(covered);
            ensure(within, Refusal::NetworkWidened)?;
        }
        for (name, value) in self.custom.iter() {
            ensure(
                child.custom.get(name) == Some(value),
                Refusal::CustomWidened,
            )?;
        }
        Ok(())
    }

    /// Fields 13 to 17 of a grant.
    pub(crate) fn write(&self, out: &mut Fields) {
        out.list(13, &self.audience, |out, audience| {
            out.text(audience);
        });
        if let Some(most) = self.max_uses {
            out.at(14).uint(most);
        }
        if let Some(budget) = &self.budget {
            out.at(15).array(2).uint(budget.amount).text(&budget.unit);
        }
        out.list(16, &self.networks, |out, network| network.write(out));
        if !self.custom.is_empty() {
            self.custom.write(out.at(17));
        }
    }

    pub(crate) fn read(map: &mut MapReader<'_, '_>) -> Result<Constraints> {
        let constraints = Constraints {
            audience: map.list(13, 64, |d| Ok::<_, Refusal>(d.text()?.to_owned()))?,
            max_uses: map.optional(14, Decoder::uint)?,
            budget: map.optional(15, |d| {
                d.tuple(2, |d| {
                    Ok::<_, Refusal>(Budget {
                        amount: d.uint()?,
                        unit: d.text()?.to_owned(),
                    })
                })
            })?,
            networks: map.list(16, 64, Network::read)?,
            custom: match map.optional(17, TextMap::read)? {
                Some(custom) if custom.is_empty() => return Err(Refusal::NotCanonical),
                custom => custom.unwrap_or_default(),
            },
        };
        check_ascending(&constraints.audience)?;
        check_ascending(&constraints.networks)?;
        for audience in &constraints.audience {
            ensure(!audience.is_empty(), Refusal::InvalidValue)?;
            check_text(audience, 512)?;
        }
        if let Some(budget) = &constraints.budget {
            check_text(&budget.unit, 32)?;
        }
        for (name, value) in constraints.custom.iter() {
            ensure(
                name.len() > 2 && name.starts_with("x-"),
                Refusal::InvalidValue,
            )?;
            check_text(name, 64)?;
            check_text(value, 512)?;
        }
        Ok(constraints)
    }
}
