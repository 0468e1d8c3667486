//! Which signatures need a person.
//!
//! A policy is a list of rules, of which the first that fits decides. What no rule fits is refused, unless `otherwise` says
//! "ask". Without a policy file a person is asked for each signature.

use std::path::Path;

use serde::Deserialize;
use signet_agent::capability::Capability;

use crate::cli::Failure;
use crate::cli::agent::files;
use crate::config::duration::Duration;

/// What becomes of a request to sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Signed without asking.
    Allow,
    /// Signed if a person approves it.
    Ask,
    /// Not signed.
    Refuse,
}

/// A tool that signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Signing {
    SignReceipt,
    MakeGrant,
}

/// One rule; what it does not name, it does not care about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    tool: Signing,
    /// `sign_receipt`: the action, where a `*` at the end stands for anything.
    action: Option<String>,
    /// `make_grant`: every capability that is granted is covered by this one.
    capability: Option<String>,
    /// `make_grant`: it lasts no longer.
    longest: Option<Duration>,
    /// `make_grant`: it may be delegated no further than so many times.
    deepest: Option<u64>,
    verdict: Verdict,
}

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    #[serde(default, rename = "rule")]
    rules: Vec<Rule>,
    #[serde(default = "refuse")]
    otherwise: Verdict,
}

fn refuse() -> Verdict {
    Verdict::Refuse
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            rules: Vec::new(),
            otherwise: Verdict::Ask,
        }
    }
}

/// What is to be signed, as rules see it.
pub enum Wanted<'a> {
    Receipt {
        action: &'a str,
    },
    Grant {
        capabilities: &'a [Capability],
        lasts: u64,
        depth: u64,
    },
}

impl Rule {
    fn fits(&self, wanted: &Wanted<'_>) -> bool {
        match wanted {
            Wanted::Receipt { action } => {
                let named = |pattern: &String| match pattern.strip_suffix('*') {
                    Some(beginning) => action.starts_with(beginning),
                    None => pattern == action,
                };
                self.tool == Signing::SignReceipt && self.action.as_ref().is_none_or(named)
            }
            Wanted::Grant {
                capabilities,
                lasts,
                depth,
            } => {
                let covers = |pattern: &String| {
                    // Checked where the file was read.
                    pattern.parse::<Capability>().is_ok_and(|pattern| {
                        capabilities.iter().all(|wanted| pattern.covers(wanted))
                    })
                };
                self.tool == Signing::MakeGrant
                    && self.capability.as_ref().is_none_or(covers)
                    && self.longest.is_none_or(|longest| *lasts <= longest.0)
                    && self.deepest.is_none_or(|deepest| *depth <= deepest)
            }
        }
    }

    fn check(&self) -> Result<(), String> {
        let of_receipts = self.action.is_some();
        let of_grants =
            self.capability.is_some() || self.longest.is_some() || self.deepest.is_some();
        match self.tool {
            Signing::SignReceipt if of_grants => {
                return Err("capability, longest and deepest are about make_grant".into());
            }
            Signing::MakeGrant if of_receipts => return Err("action is about sign_receipt".into()),
            _ => {}
        }
        match &self.capability {
            Some(text) if text.parse::<Capability>().is_err() => {
                Err(format!("{text} is no capability"))
            }
            _ => Ok(()),
        }
    }
}

impl Policy {
    /// Reads the file; one that cannot be understood allows nothing.
    pub fn read(path: &Path) -> Result<Policy, Failure> {
        let text = files::read(path)?;
        let about = |e: &dyn std::fmt::Display| {
            Failure::unusable(format!("the policy {}: {e}", path.display()))
        };
        let text = String::from_utf8(text).map_err(|e| about(&e))?;
        let policy: Policy = toml::from_str(&text).map_err(|e| about(&e))?;
        for (at, rule) in policy.rules.iter().enumerate() {
            rule.check()
                .map_err(|e| about(&format!("rule {}: {e}", at + 1)))?;
        }
        Ok(policy)
    }

    /// The verdict of the first rule that fits.
    pub fn decide(&self, wanted: &Wanted<'_>) -> Verdict {
        let rule = self.rules.iter().find(|rule| rule.fits(wanted));
        rule.map_or(self.otherwise, |rule| rule.verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Policy {
        toml::from_str(text).unwrap()
    }

    fn grant(policy: &Policy, capabilities: &[&str], lasts: u64, depth: u64) -> Verdict {
        let capabilities: Vec<Capability> =
            capabilities.iter().map(|c| c.parse().unwrap()).collect();
        policy.decide(&Wanted::Grant {
            capabilities: &capabilities,
            lasts,
            depth,
        })
    }

    #[test]
    fn the_first_rule_that_fits_decides_and_what_none_fits_is_refused() {
        let policy = policy(
            r#"
            [[rule]]
            tool = "sign_receipt"
            action = "payment.*"
            verdict = "ask"
            [[rule]]
            tool = "sign_receipt"
            verdict = "allow"
            [[rule]]
            tool = "make_grant"
            capability = "read:*"
            longest = "1h"
            deepest = 0
            verdict = "allow"
            "#,
        );
        let receipt = |action| policy.decide(&Wanted::Receipt { action });
        assert_eq!(receipt("payment.send"), Verdict::Ask);
        assert_eq!(receipt("payment"), Verdict::Allow);
        assert_eq!(grant(&policy, &["read:calendar"], 3600, 0), Verdict::Allow);
        assert_eq!(
            grant(&policy, &["read:calendar", "write:calendar"], 3600, 0),
            Verdict::Refuse
        );
        assert_eq!(grant(&policy, &["read:calendar"], 3601, 0), Verdict::Refuse);
        assert_eq!(grant(&policy, &["read:calendar"], 60, 1), Verdict::Refuse);
    }

    #[test]
    fn without_a_policy_a_person_is_asked_for_every_signature() {
        let policy = Policy::default();
        assert_eq!(
            policy.decide(&Wanted::Receipt { action: "a" }),
            Verdict::Ask
        );
        assert_eq!(grant(&policy, &["read:calendar"], 1, 0), Verdict::Ask);
    }
}
