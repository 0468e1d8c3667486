//! Which signatures need a person.
//!
//! A policy is a list of rules, of which the first that fits decides. What no rule fits is refused,
//! unless `otherwise` says "ask". Without a policy file a person is asked for each signature.
//!
//! Each capability of a grant is judged by itself, and the strictest of the verdicts is the
//! grant's: what is refused alone is refused in company. An `allow` rule fits what it covers,
//! within its bounds; an `ask` or `refuse` rule fits whatever it overlaps, beyond its bounds. So a
//! wider request meets at least the rules that a narrower one meets.

use std::path::Path;

use serde::Deserialize;
use signet_agent::capability::Capability;

use crate::cli::Failure;
use crate::cli::agent::files;
use crate::config::duration::Duration;

/// What becomes of a request to sign.
///
/// In the order of strictness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
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
    /// `sign_receipt`: the action, where a `*` at the end stands for anything. `allow` takes it as
    /// it is written; the others pass over case and spacing.
    action: Option<String>,
    /// `make_grant`: the capability is covered by this one; for `ask` and `refuse`, has anything in
    /// common with it.
    capability: Option<String>,
    /// `make_grant`: it lasts no longer; for `ask` and `refuse`, it lasts longer.
    longest: Option<Duration>,
    /// `make_grant`: it may be delegated no further than so many times; for `ask` and `refuse`,
    /// further. Of these and `longest`, where both are named, going beyond one is enough.
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

/// Case and spacing make no other action of one.
fn folded(action: &str) -> String {
    let words: Vec<String> = action.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ")
}

impl Rule {
    /// Whether it decides on a receipt of this action.
    fn fits_receipt(&self, action: &str) -> bool {
        let named = |pattern: &String| {
            let (pattern, action) = match self.verdict {
                Verdict::Allow => (pattern.clone(), action.to_owned()),
                Verdict::Ask | Verdict::Refuse => (folded(pattern), folded(action)),
            };
            match pattern.strip_suffix('*') {
                Some(beginning) => action.starts_with(beginning),
                None => pattern == action,
            }
        };
        self.tool == Signing::SignReceipt && self.action.as_ref().is_none_or(named)
    }

    /// Whether it decides on a grant of this capability.
    fn fits_grant(&self, capability: &Capability, lasts: u64, depth: u64) -> bool {
        // That they can be read was checked where the file was.
        let own = self.capability.as_ref().map(|text| text.parse());
        let bounds = [
            self.longest.map(|longest| lasts > longest.0),
            self.deepest.map(|deepest| depth > deepest),
        ];
        let mut beyond = bounds.into_iter().flatten().peekable();
        let fits = match self.verdict {
            Verdict::Allow => {
                own.is_none_or(|own: Result<Capability, _>| {
                    own.is_ok_and(|own| own.covers(capability))
                }) && !beyond.any(|beyond| beyond)
            }
            Verdict::Ask | Verdict::Refuse => {
                own.is_none_or(|own: Result<Capability, _>| {
                    own.is_ok_and(|own| own.overlaps(capability))
                }) && (beyond.peek().is_none() || beyond.any(|beyond| beyond))
            }
        };
        self.tool == Signing::MakeGrant && fits
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
            Signing::SignReceipt | Signing::MakeGrant => {}
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

    /// The verdict: of the first rule that fits a receipt; the strictest of those on each
    /// capability of a grant.
    pub fn decide(&self, wanted: &Wanted<'_>) -> Verdict {
        let verdict = |fits: &dyn Fn(&Rule) -> bool| {
            let rule = self.rules.iter().find(|rule| fits(rule));
            rule.map_or(self.otherwise, |rule| rule.verdict)
        };
        match wanted {
            Wanted::Receipt { action } => {
                let decided = verdict(&|rule| rule.fits_receipt(action));
                // Letters of other alphabets look like those of a rule that was to stop this: a
                // person sees which they are.
                let plain = action.bytes().all(|byte| matches!(byte, b' '..=b'~'));
                decided.max(if plain { Verdict::Allow } else { Verdict::Ask })
            }
            Wanted::Grant {
                capabilities,
                lasts,
                depth,
            } => capabilities
                .iter()
                .map(|capability| verdict(&|rule| rule.fits_grant(capability, *lasts, *depth)))
                .max()
                // Nothing is granted: no rule was asked.
                .unwrap_or(self.otherwise),
        }
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

    #[test]
    fn what_is_refused_or_asked_alone_is_so_in_company_and_within_a_wider_request() {
        let policy = policy(
            r#"
            [[rule]]
            tool = "make_grant"
            capability = "admin:*"
            verdict = "refuse"
            [[rule]]
            tool = "make_grant"
            capability = "pay:*"
            verdict = "ask"
            [[rule]]
            tool = "make_grant"
            capability = "*:*"
            longest = "1h"
            verdict = "allow"
            "#,
        );
        for (capabilities, verdict) in [
            (&["read:x"][..], Verdict::Allow),
            (&["admin:users"], Verdict::Refuse),
            (&["pay:rent"], Verdict::Ask),
            (&["admin:users", "read:x"], Verdict::Refuse),
            (&["pay:rent", "read:x"], Verdict::Ask),
            (&["pay:rent", "admin:users"], Verdict::Refuse),
            (&["*:users"], Verdict::Refuse),
            (&["*:*"], Verdict::Refuse),
            (&["*:rent"], Verdict::Refuse),
            (&["pay:*"], Verdict::Ask),
        ] {
            assert_eq!(
                grant(&policy, capabilities, 60, 0),
                verdict,
                "{capabilities:?}"
            );
        }
        assert_eq!(grant(&policy, &["read:x"], 3601, 0), Verdict::Refuse);
        assert_eq!(grant(&policy, &[], 60, 0), Verdict::Refuse);
    }

    #[test]
    fn the_bounds_of_a_rule_that_asks_or_refuses_are_what_goes_beyond_them() {
        let policy = policy(
            r#"
            [[rule]]
            tool = "make_grant"
            longest = "1d"
            deepest = 1
            verdict = "refuse"
            [[rule]]
            tool = "make_grant"
            longest = "1h"
            verdict = "ask"
            [[rule]]
            tool = "make_grant"
            verdict = "allow"
            "#,
        );
        for (lasts, depth, verdict) in [
            (3600, 1, Verdict::Allow),
            (3601, 1, Verdict::Ask),
            (86_400, 0, Verdict::Ask),
            (86_401, 0, Verdict::Refuse),
            (60, 2, Verdict::Refuse),
        ] {
            assert_eq!(
                grant(&policy, &["read:x"], lasts, depth),
                verdict,
                "{lasts} {depth}"
            );
        }
    }

    #[test]
    fn an_action_written_otherwise_is_no_other_action_for_a_rule_that_stops_it() {
        let policy = policy(
            r#"
            [[rule]]
            tool = "sign_receipt"
            action = "Deploy"
            verdict = "refuse"
            [[rule]]
            tool = "sign_receipt"
            action = "payment.*"
            verdict = "ask"
            [[rule]]
            tool = "sign_receipt"
            verdict = "allow"
            "#,
        );
        for (action, verdict) in [
            ("deploy", Verdict::Refuse),
            ("DEPLOY", Verdict::Refuse),
            (" deploy ", Verdict::Refuse),
            ("Payment.send", Verdict::Ask),
            ("mail.send", Verdict::Allow),
            // A Cyrillic letter, and one of full width: a person looks.
            ("d\u{435}ploy", Verdict::Ask),
            ("\u{ff44}eploy", Verdict::Ask),
        ] {
            assert_eq!(
                policy.decide(&Wanted::Receipt { action }),
                verdict,
                "{action}"
            );
        }
    }
}
