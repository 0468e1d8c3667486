//! `authorization_details` (RFC 9396) of the type `signet_agent_capability`: what a request asks of its chain, and what the token says.
//!
//! ```json
//! [{ "type": "signet_agent_capability", "locations": ["https://api.example"], "actions": ["read"],
//!    "resources": ["calendar", "files/*"], "constraints": { "network": ["10.0.0.0/8"], "budget": { "amount": 5, "unit": "eur" } } }]
//! ```
//!
//! One object stands for each of its actions on each of its resources, which match as capabilities do. A request's objects may have
//! `actions`, `resources` and one `budget` in `constraints`: what is to be spent with the token, 0 unless said. Locations come from
//! `resource` and `audience`.
use crate::error::{ErrorCode, OAuthError};
use signet_agent::{capability::Capability, constraint::Budget, grant::Grant};
use signet_jose::json::{self, Limits, Object, Value, Writer};
use std::collections::BTreeMap;

/// The type, as the metadata lists it.
pub const DETAILS_TYPE: &str = "signet_agent_capability";
/// Longest `authorization_details` of a token or a request, in bytes of JSON.
pub const MAX_DETAILS_BYTES: usize = 4096;

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Details {
    /// at least one
    pub capabilities: Vec<Capability>,
    /// what the token may be used to spend
    pub budget: Option<Budget>,
}

fn invalid(description: &'static str) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidAuthorizationDetails, description)
}

impl Details {
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
        details.capabilities.sort_unstable();
        details.capabilities.dedup();
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
        for action in list("actions")? {
            for resource in list("resources")? {
                // The first colon ends the action: one with a colon would be another capability.
                let capability = format!("{action}:{resource}").parse::<Capability>().ok();
                let capability = capability.filter(|capability| capability.action() == action);
                self.capabilities.push(capability.ok_or_else(|| {
                    invalid("an action and a resource are no capability together")
                })?);
            }
        }
        match object.get("constraints") {
            None => Ok(()),
            Some(constraints) => self.spend(constraints),
        }
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

    /// The token's claim: these capabilities at these audiences, under what `last`, the narrowest grant of the chain, constrains.
    ///
    /// # Errors
    /// `invalid_authorization_details` where it is longer than [`MAX_DETAILS_BYTES`].
    pub fn write(&self, audience: &[String], last: &Grant) -> Result<String, OAuthError> {
        let mut by_action: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for capability in &self.capabilities {
            let resources = by_action.entry(capability.action()).or_default();
            resources.push(capability.resource());
        }
        let mut out = Vec::with_capacity(256);
        Writer::new(&mut out).array(|w| {
            for (action, resources) in &by_action {
                w.object(|w| {
                    w.member("type").string(DETAILS_TYPE);
                    w.member("locations").strings(audience);
                    w.member("actions").strings([action]);
                    w.member("resources").strings(resources);
                    self.constraints(w, last);
                });
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

    fn constraints(&self, w: &mut Writer<'_>, last: &Grant) {
        let of = &last.constraints;
        let budget = match (&self.budget, &of.budget) {
            (Some(asked), _) => Some((asked.amount, asked.unit.as_str())),
            // A budget of which nothing was asked: nothing may be spent.
            (None, Some(granted)) => Some((0, granted.unit.as_str())),
            (None, None) => None,
        };
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
        let names: Vec<&str> = details
            .capabilities
            .iter()
            .map(Capability::as_str)
            .collect();
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
}
