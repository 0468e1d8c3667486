//! Opaque tokens: the way of a token whose issuer is asked about it (RFC 7662), and what is checked
//! of the answer.

use crate::introspector::Introspector;
use crate::token::claim_checks;
use crate::verifier::{Active, Decision, Verifier};
use crate::{Claims, Form, PolicyId, Presented, Refusal, Verified};

impl Verifier {
    /// As [`Verifier::decide`], and asks the issuer where the policy says so: the one entry point
    /// for policies with [`crate::Policy::introspect`]. `now` gives Unix seconds.
    pub async fn decide_asking(
        &self,
        policy: PolicyId,
        presented: &Presented<'_>,
        now: impl Fn() -> u64,
    ) -> Decision {
        let token = presented.token;
        let active = self.policies.get(policy.number());
        let asked = active.and_then(|active| Some((active, active.asks(token)?)));
        let Some((active, introspector)) = asked else {
            return self.decide(policy, presented, now());
        };
        let known = self.known(introspector, policy, token, now());
        let cached = known.is_some();
        let checked = async {
            if token.is_empty() {
                return Err(Refusal::NoToken);
            }
            if token.len() > active.policy.max_bytes {
                return Err(Refusal::TooLarge);
            }
            let verified = match known {
                Some(verified) => verified,
                None => {
                    self.learn(policy, active, introspector, token, &now)
                        .await?
                }
            };
            let now = now();
            claim_checks::check_freshness(verified.claims(), &active.policy, now)?;
            self.for_this_request(&verified, &active.policy, presented, now)?;
            Ok(verified)
        };
        let outcome = checked.await;
        match &outcome {
            Ok(_) => self.counters.accept(cached),
            Err(refusal) => self.counters.refuse(*refusal),
        }
        Decision { outcome, cached }
    }

    fn known(
        &self,
        introspector: &Introspector,
        policy: PolicyId,
        token: &str,
        now: u64,
    ) -> Option<Verified> {
        let enabled = self.is_enabled(introspector.issuer());
        introspector.known(policy, token, now).filter(|_| enabled)
    }

    /// What is kept about a token, where the issuer would have to be asked otherwise.
    pub(crate) fn known_by_asking(
        &self,
        introspector: &Introspector,
        policy: PolicyId,
        token: &str,
        now: u64,
    ) -> Result<Verified, Refusal> {
        self.known(introspector, policy, token, now)
            .ok_or(Refusal::IntrospectionUnavailable)
    }

    /// Everything about a token that does not depend on the request.
    async fn learn(
        &self,
        policy: PolicyId,
        active: &Active,
        introspector: &Introspector,
        token: &str,
        now: &impl Fn() -> u64,
    ) -> Result<Verified, Refusal> {
        let rules = &active.policy;
        if !self.is_enabled(introspector.issuer()) {
            return Err(Refusal::IssuerDisabled);
        }
        // What can be refused without asking is not asked about.
        let signed = match rules.is_opaque(token) {
            true => None,
            false => Some(self.check(active, token, now())?),
        };
        let claims = introspector.ask(token).await?;
        let now = now();
        let exp =
            claim_checks::check_policy_of_introspected(&claims, rules, introspector.issuer(), now)?;
        let (verified, signed) = match signed {
            Some(checked) => (checked.verified, (checked.key, checked.compact)),
            None => {
                let claims = Claims::clone(&claims);
                let verified = Verified::new(claims, rules.kind, Form::Introspected, token);
                (verified, (None, None))
            }
        };
        introspector.keep(policy, &verified, signed, exp, now);
        Ok(verified)
    }
}
