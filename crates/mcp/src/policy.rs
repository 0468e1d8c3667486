//! Which signatures need a person.
//!
//! A policy is a list of rules, of which the first that fits decides. What no rule fits is refused,
//! unless `otherwise` says "ask". Without a policy file a person is asked for each signature.
//!
//! A grant is many requests at once: of each capability, of everything that one of them covers, for
//! any shorter time and less depth. Its verdict is the strictest that any of those would get alone.
//! So the rules are walked until one decides on all that is left. A rule that decides on a part
//! counts, unless a rule before it has decided on that part.

use serde::Deserialize;
use signet_agent::capability::Capability;

use signet_config::duration::Duration;

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
    /// `sign_receipt`
    SignReceipt,
    /// `make_grant`
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
    /// A receipt.
    Receipt {
        /// What was done.
        action: &'a str,
    },
    /// A grant.
    Grant {
        /// What it allows.
        capabilities: &'a [Capability],
        /// For how long, in seconds.
        lasts: u64,
        /// How often it may be delegated further.
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

    /// The part of a grant that it decides on, unless a rule before it does; `None`: no part.
    fn part_of(&self, asked: &Capability, lasts: u64, depth: u64) -> Option<Part> {
        if self.tool != Signing::MakeGrant {
            return None;
        }
        let capability = match &self.capability {
            None => asked.clone(),
            // That it can be read was checked where the file was.
            Some(text) => asked.common(&text.parse().ok()?)?,
        };
        let is_bounded = self.longest.is_some() || self.deepest.is_some();
        let longest = self.longest.map(|longest| longest.0);
        let longest = longest.filter(|longest| lasts > *longest);
        let deepest = self.deepest.filter(|deepest| depth > *deepest);
        let is_beyond = longest.is_some() || deepest.is_some();
        let bounds = match (self.verdict, is_beyond) {
            (Verdict::Allow, true) => Bounds::Within { longest, deepest },
            (Verdict::Ask | Verdict::Refuse, true) => Bounds::Beyond { longest, deepest },
            (Verdict::Ask | Verdict::Refuse, false) if is_bounded => return None,
            (Verdict::Allow | Verdict::Ask | Verdict::Refuse, false) => Bounds::None,
        };
        Some(Part { capability, bounds })
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
    /// Reads it; one that cannot be understood allows nothing. `bytes`: a TOML file.
    ///
    /// # Errors
    /// What is wrong with it, for the operator.
    pub fn parse(bytes: Vec<u8>) -> Result<Policy, String> {
        let text = String::from_utf8(bytes).map_err(|e| e.to_string())?;
        let policy: Policy = toml::from_str(&text).map_err(|e| e.to_string())?;
        for (at, rule) in policy.rules.iter().enumerate() {
            rule.check().map_err(|e| format!("rule {}: {e}", at + 1))?;
        }
        Ok(policy)
    }

    /// The verdict: of the first rule that fits a receipt; the strictest on any part of a grant.
    pub fn decide(&self, wanted: &Wanted<'_>) -> Verdict {
        match wanted {
            Wanted::Receipt { action } => {
                let rule = self.rules.iter().find(|rule| rule.fits_receipt(action));
                let decided = rule.map_or(self.otherwise, |rule| rule.verdict);
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
                .map(|capability| self.strictest(capability, *lasts, *depth))
                .max()
                // Nothing is granted: no rule was asked.
                .unwrap_or(self.otherwise),
        }
    }

    /// The strictest verdict on any part of what is asked.
    fn strictest(&self, asked: &Capability, lasts: u64, depth: u64) -> Verdict {
        let whole = Part {
            capability: asked.clone(),
            bounds: Bounds::None,
        };
        let mut strictest = Verdict::Allow;
        let mut decided: Vec<Part> = Vec::new();
        for rule in &self.rules {
            let Some(part) = rule.part_of(asked, lasts, depth) else {
                continue;
            };
            if decided.iter().any(|before| before.covers(&part)) {
                continue;
            }
            strictest = strictest.max(rule.verdict);
            if part.covers(&whole) {
                return strictest;
            }
            decided.push(part);
        }
        strictest.max(self.otherwise)
    }
}

/// A part of what is asked: something that its capability covers, and some of the shorter and less
/// deep grants of that.
#[derive(Clone, Debug)]
struct Part {
    capability: Capability,
    bounds: Bounds,
}

/// Which of the shorter and less deep grants. Only bounds that the whole goes beyond are named.
#[derive(Clone, Copy, Debug)]
enum Bounds {
    /// All of them.
    None,
    /// Those beyond no bound.
    Within {
        longest: Option<u64>,
        deepest: Option<u64>,
    },
    /// Those beyond one bound or the other.
    Beyond {
        longest: Option<u64>,
        deepest: Option<u64>,
    },
}

impl Part {
    fn covers(&self, other: &Part) -> bool {
        self.capability.covers(&other.capability) && self.bounds.cover(other.bounds)
    }
}

impl Bounds {
    fn cover(self, other: Bounds) -> bool {
        match (self, other) {
            (Bounds::None, _) => true,
            (
                Bounds::Within { longest, deepest },
                Bounds::Within {
                    longest: l,
                    deepest: d,
                },
            ) => {
                // No bound is wider than any.
                let wider = |own: Option<u64>, theirs: Option<u64>| {
                    own.is_none_or(|own| theirs.is_some_and(|theirs| theirs <= own))
                };
                wider(longest, l) && wider(deepest, d)
            }
            (
                Bounds::Beyond { longest, deepest },
                Bounds::Beyond {
                    longest: l,
                    deepest: d,
                },
            ) => {
                // What is longer may be as shallow as can be, and the other way round: each
                // alternative has to be covered by the same one.
                let sooner = |own: Option<u64>, theirs: Option<u64>| {
                    theirs.is_none_or(|theirs| own.is_some_and(|own| own <= theirs))
                };
                sooner(longest, l) && sooner(deepest, d)
            }
            (Bounds::Within { .. } | Bounds::Beyond { .. }, Bounds::None)
            | (Bounds::Within { .. }, Bounds::Beyond { .. })
            | (Bounds::Beyond { .. }, Bounds::Within { .. }) => false,
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
    fn a_rule_that_decides_on_a_part_does_not_hide_a_stricter_one_behind_it() {
        let rule = |capability: &str, verdict: &str| {
            format!(
                "[[rule]]\ntool = \"make_grant\"\ncapability = \"{capability}\"\nverdict = \"{verdict}\"\n"
            )
        };
        let policy_of = |rules: &[(&str, &str)]| {
            let rules: Vec<String> = rules.iter().map(|(c, v)| rule(c, v)).collect();
            policy(&rules.concat())
        };
        let one = [("pay:*", "ask"), ("admin:*", "refuse"), ("*:*", "allow")];
        let two = [
            ("read:*", "allow"),
            ("*:rent", "ask"),
            ("admin:users", "refuse"),
            ("*:*", "allow"),
        ];
        // What a rule covers, a later one does not decide on.
        let three = [
            ("admin:*", "ask"),
            ("admin:users", "refuse"),
            ("*:*", "allow"),
        ];
        for (rules, asked, verdict) in [
            (&one[..], "*:*", Verdict::Refuse),
            (&one, "*:users", Verdict::Refuse),
            (&one, "*:rent", Verdict::Refuse),
            (&one, "pay:*", Verdict::Ask),
            (&one, "read:*", Verdict::Allow),
            (&two, "*:*", Verdict::Refuse),
            (&two, "admin:*", Verdict::Refuse),
            (&two, "admin:users", Verdict::Refuse),
            (&two, "admin:x", Verdict::Allow),
            (&two, "*:rent", Verdict::Ask),
            (&two, "read:*", Verdict::Allow),
            (&three, "admin:users", Verdict::Ask),
            (&three, "*:*", Verdict::Ask),
        ] {
            assert_eq!(
                grant(&policy_of(rules), &[asked], 60, 0),
                verdict,
                "{asked}"
            );
        }
        // Nor does a longer grant escape what a shorter one meets.
        let policy = policy(
            r#"
            [[rule]]
            tool = "make_grant"
            longest = "1h"
            verdict = "ask"
            [[rule]]
            tool = "make_grant"
            verdict = "refuse"
            "#,
        );
        assert_eq!(grant(&policy, &["read:x"], 60, 0), Verdict::Refuse);
        assert_eq!(grant(&policy, &["read:x"], 7200, 0), Verdict::Refuse);
    }

    #[test]
    fn a_wider_request_meets_no_milder_verdict_than_any_within_it() {
        const ASKED: [&str; 12] = [
            "*:*",
            "admin:*",
            "pay:*",
            "*:users",
            "*:rent",
            "*:files/*",
            "admin:files/*",
            "admin:users",
            "admin:rent",
            "pay:rent",
            "pay:files/a",
            "admin:files/a/b",
        ];
        let mut state = 7_u64;
        let mut below = |most: u64| {
            // Knuth's generator: the same policies in each run.
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let verdicts = [Verdict::Allow, Verdict::Ask, Verdict::Refuse];
        for _ in 0..400 {
            let rules = (0..below(5)).map(|_| Rule {
                tool: Signing::MakeGrant,
                action: None,
                capability: (below(5) > 0).then(|| ASKED[below(12) as usize].to_owned()),
                longest: (below(3) == 0).then(|| Duration(below(3) * 60)),
                deepest: (below(4) == 0).then(|| below(2)),
                verdict: verdicts[below(3) as usize],
            });
            let policy = Policy {
                rules: rules.collect(),
                otherwise: verdicts[below(3) as usize],
            };
            for wide in ASKED {
                for narrow in ASKED {
                    let [covers, covered] =
                        [wide, narrow].map(|c| c.parse::<Capability>().unwrap());
                    if !covers.covers(&covered) {
                        continue;
                    }
                    for (lasts, depth) in [(60, 0), (61, 0), (121, 0), (60, 1), (121, 2)] {
                        let verdict = grant(&policy, &[wide], lasts, depth);
                        for (shorter, shallower) in
                            [(lasts, depth), (60, 0), (lasts, 0), (30, depth)]
                        {
                            let within = grant(&policy, &[narrow], shorter, shallower);
                            assert!(verdict >= within, "{wide} {narrow} {policy:?}");
                        }
                    }
                }
            }
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
