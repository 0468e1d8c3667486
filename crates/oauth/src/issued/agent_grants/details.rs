//! `authorization_details` (RFC 9396) of the type `signet_agent_capability`: what a request asks of
//! its chain, and what the token says.
//!
//! ```json
//! [{ "type": "signet_agent_capability", "locations": ["https://api.example"], "actions": ["read"],
//!    "resources": ["calendar", "files/*"], "constraints": { "network": ["10.0.0.0/8"], "budget": { "amount": 5, "unit": "eur" } } }]
//! ```
//!
//! One object stands for each of its actions on each of its resources, which match as capabilities
//! do. A request's objects may have `actions`, `resources` and one `budget` in `constraints`: what
//! is to be spent with the token, 0 unless said. Locations come from `resource` and `audience`.
use crate::error::{ErrorCode, OAuthError};
use signet_agent::{
    capability::Capability,
    constraint::{Budget, Constraints},
};
use signet_encoding::json::{self, Limits, Object, Value, Writer};
use std::collections::BTreeMap;

/// The type, as the metadata lists it.
pub const DETAILS_TYPE: &str = "signet_agent_capability";
/// Longest `authorization_details` of a token or a request, in bytes of JSON.
pub const MAX_DETAILS_BYTES: usize = 4096;

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// what nothing may be spent on
    free: Vec<Capability>,
    /// what the one budget is shared by; empty without a budget
    paid: Vec<Capability>,
    /// what the token may be used to spend, all in all
    pub budget: Option<Budget>,
}

fn invalid(description: &'static str) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidAuthorizationDetails, description)
}

impl Details {
    /// These capabilities, at least one, and nothing to spend.
    pub(crate) fn of(capabilities: Vec<Capability>) -> Details {
        let mut details = Details {
            free: capabilities,
            ..Details::default()
        };
        details.sort();
        details
    }

    /// Every capability, once; at least one.
    pub fn capabilities(&self) -> Vec<Capability> {
        let mut all = [&self.free[..], &self.paid[..]].concat();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn sort(&mut self) {
        for capabilities in [&mut self.free, &mut self.paid] {
            capabilities.sort_unstable();
            capabilities.dedup();
        }
    }

    /// Reads a request's parameter.
    ///
    /// # Errors
    /// `invalid_authorization_details` (RFC 9396 section 5).
    pub fn parse(text: &str) -> Result<Details, OAuthError> {
        let malformed =
            || invalid("authorization_details is no JSON array of signet_agent_capability");
        let limits = Limits {
            bytes: MAX_DETAILS_BYTES,
            depth: 6,
            ..Limits::default()
        };
        let value = json::parse(text.as_bytes(), &limits).map_err(|_| malformed())?;
        let objects = value
            .as_array()
            .filter(|objects| !objects.is_empty())
            .ok_or_else(malformed)?;
        let mut details = Details::default();
        for object in objects {
            details.add(object.as_object().ok_or_else(malformed)?)?;
        }
        details.sort();
        Ok(details)
    }

    fn add(&mut self, object: &Object<'_>) -> Result<(), OAuthError> {
        if object.get("type").and_then(Value::as_str) != Some(DETAILS_TYPE) {
            return Err(invalid(
                "the type of authorization_details is not supported",
            ));
        }
        let known = ["type", "actions", "resources", "constraints"];
        // RFC 9396 section 5: unknown members are refused.
        if object.iter().any(|(name, _)| !known.contains(&name)) {
            return Err(invalid(
                "authorization_details has a member that is not known",
            ));
        }
        let list = |name| match object.strings(name) {
            Ok(Some(list)) if !list.is_empty() => Ok(list),
            _ => Err(invalid(
                "actions and resources must be arrays of strings, not empty",
            )),
        };
        let mut capabilities = Vec::new();
        for action in list("actions")? {
            for resource in list("resources")? {
                // The first colon ends the action: one with a colon would be another capability.
                let capability = format!("{action}:{resource}").parse::<Capability>().ok();
                let capability = capability.filter(|capability| capability.action() == action);
                capabilities.push(capability.ok_or_else(|| {
                    invalid("an action and a resource are no capability together")
                })?);
            }
        }
        match object.get("constraints") {
            None => self.free.extend(capabilities),
            Some(constraints) => {
                self.spend(constraints)?;
                self.paid = capabilities;
            }
        }
        Ok(())
    }

    fn spend(&mut self, constraints: &Value<'_>) -> Result<(), OAuthError> {
        let wrong = || invalid("constraints may have one budget: { amount, unit }");
        let constraints = constraints.as_object().ok_or_else(wrong)?;
        let budget = constraints.get("budget").and_then(Value::as_object);
        let budget = budget
            .filter(|budget| constraints.len() == 1 && budget.len() == 2)
            .ok_or_else(wrong)?;
        let amount = budget.u64("amount").ok().flatten().ok_or_else(wrong)?;
        let unit = budget.string("unit").ok().flatten().ok_or_else(wrong)?;
        if self.budget.is_some() {
            return Err(wrong());
        }
        self.budget = Some(Budget {
            amount,
            unit: unit.to_owned(),
        });
        Ok(())
    }

    /// The token's claim: these capabilities at these audiences, under `last`, the constraints of
    /// the chain's narrowest grant.
    ///
    /// A resource server may read each object by itself (RFC 9396 section 2), so the budget stands
    /// in one object alone, that of everything it was asked for; in every other one, nothing may be
    /// spent.
    ///
    /// # Errors
    /// `invalid_authorization_details` where it is longer than [`MAX_DETAILS_BYTES`].
    pub fn write(&self, audience: &[String], last: &Constraints) -> Result<String, OAuthError> {
        let granted = last.budget.as_ref();
        let unit = self.budget.as_ref().or(granted).map(|b| b.unit.as_str());
        let mut by_action: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for capability in &self.free {
            let resources = by_action.entry(capability.action()).or_default();
            resources.push(capability.resource());
        }
        let mut out = Vec::with_capacity(256);
        Writer::new(&mut out).array(|w| {
            let mut object = |actions: &[&str], resources: &[&str], amount: u64| {
                w.object(|w| {
                    w.member("type").string(DETAILS_TYPE);
                    w.member("locations").strings(audience);
                    w.member("actions").strings(actions);
                    w.member("resources").strings(resources);
                    constraints(w, last, unit.map(|unit| (amount, unit)));
                });
            };
            for (action, resources) in &by_action {
                object(&[action], resources, 0);
            }
            if let Some(budget) = &self.budget {
                // As asked: each of its actions on each of its resources.
                let distinct = |of: fn(&Capability) -> &str| {
                    let mut names: Vec<&str> = self.paid.iter().map(of).collect();
                    names.sort_unstable();
                    names.dedup();
                    names
                };
                let actions = distinct(Capability::action);
                object(&actions, &distinct(Capability::resource), budget.amount);
            }
        });
        // The writer gives UTF-8 and nothing else.
        String::from_utf8(out)
            .ok()
            .filter(|text| text.len() <= MAX_DETAILS_BYTES)
            .ok_or_else(|| {
                invalid("the chain grants more than a token can say: ask for less by authorization_details")
            })
    }
}

fn constraints(w: &mut Writer<'_>, of: &Constraints, budget: Option<(u64, &str)>) {
    if of.networks.is_empty() && of.custom.is_empty() && budget.is_none() {
        return;
    }
    w.member("constraints").object(|w| {
        if !of.networks.is_empty() {
            w.member("network")
                .strings(of.networks.iter().map(ToString::to_string));
        }
        if let Some((amount, unit)) = budget {
            w.member("budget").object(|w| {
                w.member("amount").number(amount);
                w.member("unit").string(unit);
            });
        }
        for (name, value) in of.custom.iter() {
            w.member(name).string(value);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_actions_on_resources_and_what_it_may_spend() {
        let details = Details::parse(
            r#"[{"type":"signet_agent_capability","actions":["read","list"],"resources":["files/*"]},
                {"type":"signet_agent_capability","actions":["pay"],"resources":["invoices"],"constraints":{"budget":{"amount":5,"unit":"eur"}}}]"#,
        )
        .unwrap();
        let capabilities = details.capabilities();
        let names: Vec<&str> = capabilities.iter().map(Capability::as_str).collect();
        assert_eq!(names, ["list:files/*", "pay:invoices", "read:files/*"]);
        assert_eq!(details.budget.unwrap().amount, 5);
    }

    #[test]
    fn what_is_no_such_request_is_refused() {
        for bad in [
            "",
            "{}",
            "[]",
            "[1]",
            r#"[{"type":"other"}]"#,
            r#"[{"type":"signet_agent_capability"}]"#,
            r#"[{"type":"signet_agent_capability","actions":[],"resources":["a"]}]"#,
            r#"[{"type":"signet_agent_capability","actions":["a:b"],"resources":["c"]}]"#,
            r#"[{"type":"signet_agent_capability","actions":["a"],"resources":["x*"]}]"#,
            r#"[{"type":"signet_agent_capability","actions":["a"],"resources":["x"],"extra":1}]"#,
            r#"[{"type":"signet_agent_capability","actions":["a"],"resources":["x"],"constraints":{"network":[]}}]"#,
            r#"[{"type":"signet_agent_capability","actions":["a"],"resources":["x"],"constraints":{"budget":{"amount":-1,"unit":"eur"}}}]"#,
            r#"[{"type":"signet_agent_capability","type":"signet_agent_capability","actions":["a"],"resources":["x"]}]"#,
        ] {
            let error = Details::parse(bad).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidAuthorizationDetails, "{bad}");
        }
    }

    /// A resource server may read each object by itself: what is set aside once stands in one of
    /// them.
    #[test]
    fn a_budget_stands_in_the_object_that_asked_for_it_and_nowhere_else() {
        let details = Details::parse(
            r#"[{"type":"signet_agent_capability","actions":["order"],"resources":["goods"]},
                {"type":"signet_agent_capability","actions":["refund","pay"],"resources":["invoices"],"constraints":{"budget":{"amount":10,"unit":"eur"}}}]"#,
        )
        .unwrap();
        let last = Constraints {
            budget: Some(Budget {
                amount: 10,
                unit: "eur".into(),
            }),
            ..Constraints::default()
        };
        let written = details
            .write(&["https://api.example".to_owned()], &last)
            .unwrap();
        let value = json::parse(written.as_bytes(), &Limits::default()).unwrap();
        let said: Vec<(Vec<&str>, u64)> = value
            .as_array()
            .unwrap()
            .iter()
            .map(|object| {
                let object = object.as_object().unwrap();
                let budget = object.get("constraints").unwrap().as_object().unwrap();
                let budget = budget.get("budget").unwrap().as_object().unwrap();
                (
                    object.strings("actions").unwrap().unwrap(),
                    budget.u64("amount").unwrap().unwrap(),
                )
            })
            .collect();
        assert_eq!(said, [(vec!["order"], 0), (vec!["pay", "refund"], 10)]);
    }
}
