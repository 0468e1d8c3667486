//! Whether a grant and its grantee still stand: revocations, descent, declarations.

use super::Check;
use crate::chain::grant::Grant;
use crate::error::{Refusal, Result, ensure};
use crate::id::AgentId;
use crate::object::Signed;
use crate::revocation::Target;

impl Check<'_> {
    pub(super) fn check_fresh(&self, grant: &Grant) -> Result<()> {
        let demands = [self.max_staleness, grant.revocation.max_staleness];
        match demands.into_iter().flatten().min() {
            Some(most) => self.revocations.check_fresh(self.now, most),
            None => Ok(()),
        }
    }

    /// The last of these links against every revocation; the others were checked before it.
    pub(super) fn check_revocations(&self, links: &[Signed<Grant>]) -> Result<()> {
        let Some((grant, above)) = links.split_last() else {
            return Ok(());
        };
        let body = grant.body();
        let grantor = |by: AgentId| links.iter().any(|link| link.body().by.agent == by);
        let delegate = |by: AgentId| {
            links
                .iter()
                .any(|link| link.body().revocation.delegates.contains(&by))
        };
        let may = |by: AgentId| grantor(by) || delegate(by);
        let revoked = self.revocations.contains(Target::Grant(grant.id()), may)
            || above.iter().enumerate().any(|(i, ancestor)| {
                let may = |by: AgentId| {
                    links[..=i].iter().any(|l| {
                        l.body().by.agent == by || l.body().revocation.delegates.contains(&by)
                    })
                };
                self.revocations
                    .contains(Target::Subtree(ancestor.id()), may)
            });
        ensure(!revoked, Refusal::Revoked)?;
        // An agent may end itself, and those from whom its authority comes may end it.
        let ended = self
            .revocations
            .contains(Target::Agent(body.to.agent), |by| {
                by == body.to.agent || may(by)
            })
            || self
                .revocations
                .contains(Target::Agent(body.by.agent), grantor)
            || self
                .revocations
                .contains(Target::Everything(body.by.agent), grantor);
        ensure(!ended, Refusal::AgentRevoked)
    }

    /// Descent and declarations of an agent that the chain passes through.
    pub(super) fn check_agent(&self, agent: AgentId, links: &[Signed<Grant>]) -> Result<()> {
        for declaration in self
            .declarations
            .iter()
            .filter(|d| d.body().by.agent == agent)
        {
            // One that cannot be verified is not believed to be harmless.
            let pinned = links.last().map(Signed::body);
            let keys = self.key_of(declaration, pinned)?.prepare()?;
            declaration.verify(&keys)?;
            ensure(
                !declaration.body().forbids(self.capability, self.now),
                Refusal::DeclaredRefusal,
            )?;
        }
        let kept = self.kept_declarations.iter().map(Signed::body);
        let mut own = kept.filter(|kept| kept.by.agent == agent);
        let forbidden = own.any(|kept| kept.forbids(self.capability, self.now));
        ensure(!forbidden, Refusal::DeclaredRefusal)?;
        for lineage in self
            .lineages
            .iter()
            .filter(|lineage| lineage.child() == agent)
        {
            ensure(lineage.allows(self.capability), Refusal::AuthorityWidened)?;
            lineage.check_standing(self.revocations)?;
        }
        Ok(())
    }
}
