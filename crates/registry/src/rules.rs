//! Access rules as they are written: at rest, in the admin API and in the configuration.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_oauth::authorize::acr;
use signet_oauth::people::Fault;
use signet_oauth::people::access_rules::{
    AccessRule, Day, Effect, Except, Network, Who, Window, moment, moment_text,
};
use std::collections::BTreeMap;

/// An access rule. A list that is empty is no condition. A member that this version does not know
/// is refused wherever it stands: a condition that is not understood must not be passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AccessRule")]
pub struct RuleForm {
    /// Its name; in the admin API the path says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Read-only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it does: a rule that denies holds over every one that allows.
    pub effect: EffectForm,
    /// Ids of accounts: the `sub` of their tokens. The admin API also takes user names and
    /// addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Names of groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Attributes, each with the values of which the person has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Vec<String>>,
    /// Where the request comes from: `10.0.0.0/8`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub networks: Vec<String>,
    /// Clients, by `client_id`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// Scopes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Resource servers: whom the access token is meant for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Authentication context classes, of which the login reaches one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acr: Vec<String>,
    /// When.
    #[serde(default, skip_serializing_if = "WhenForm::is_empty")]
    pub when: WhenForm,
    /// Whom and what it is not about.
    #[serde(default, skip_serializing_if = "ExceptForm::is_empty")]
    pub except: ExceptForm,
}

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EffectForm {
    /// It lets in.
    Allow,
    /// It keeps out.
    Deny,
}

/// When a rule holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WhenForm {
    /// From this moment (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// Until this moment (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_after: Option<String>,
    /// `mon` to `sun`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub days: Vec<String>,
    /// `08:00-18:00`; `22:00-06:00` is over midnight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hours: Option<String>,
    /// The zone of days and hours, as `Europe/Berlin`; default: UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

impl WhenForm {
    fn is_empty(&self) -> bool {
        *self == WhenForm::default()
    }
}

/// What takes somebody out of a rule again: any of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ExceptForm {
    /// Accounts, as in the rule's own list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub users: Vec<String>,
    /// Names of groups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Networks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub networks: Vec<String>,
    /// Authentication context classes, of which the login reaches one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub acr: Vec<String>,
}

impl ExceptForm {
    fn is_empty(&self) -> bool {
        *self == ExceptForm::default()
    }
}

fn networks(list: &[String]) -> Result<Vec<Network>, Fault> {
    list.iter().map(|text| text.parse()).collect()
}

fn texts(list: &[Network]) -> Vec<String> {
    list.iter().map(Network::to_string).collect()
}

impl RuleForm {
    /// The rule, under its name.
    ///
    /// # Errors
    /// What is wrong.
    pub fn rule(&self, name: &str) -> Result<AccessRule, Fault> {
        let effect = match self.effect {
            EffectForm::Allow => Effect::Allow,
            EffectForm::Deny => Effect::Deny,
        };
        let rule = AccessRule {
            description: self.description.clone(),
            who: Who {
                users: self.users.clone(),
                groups: self.groups.clone(),
            },
            attributes: self.attributes.clone(),
            networks: networks(&self.networks)?,
            clients: self.clients.clone(),
            scopes: self.scopes.clone(),
            resources: self.resources.clone(),
            acr: self.acr.clone(),
            window: self.when.window()?,
            except: Except {
                who: Who {
                    users: self.except.users.clone(),
                    groups: self.except.groups.clone(),
                },
                networks: networks(&self.except.networks)?,
                acr: self.except.acr.clone(),
            },
            revision: self.revision.unwrap_or(0),
            ..AccessRule::new(name, effect)
        };
        rule.check()?;
        Ok(rule)
    }

    /// How a rule is written.
    pub fn of(rule: &AccessRule) -> RuleForm {
        let window = &rule.window;
        RuleForm {
            name: Some(rule.name.clone()),
            revision: Some(rule.revision),
            description: rule.description.clone(),
            effect: match rule.effect {
                Effect::Allow => EffectForm::Allow,
                Effect::Deny => EffectForm::Deny,
            },
            users: rule.who.users.clone(),
            groups: rule.who.groups.clone(),
            attributes: rule.attributes.clone(),
            networks: texts(&rule.networks),
            clients: rule.clients.clone(),
            scopes: rule.scopes.clone(),
            resources: rule.resources.clone(),
            acr: rule.acr.clone(),
            when: WhenForm {
                not_before: window.not_before.map(moment_text),
                not_after: window.not_after.map(moment_text),
                days: window.days.iter().map(Day::to_string).collect(),
                hours: window.hours.map(|hours| hours.to_string()),
                zone: window.zone.as_ref().map(|zone| zone.name().to_owned()),
            },
            except: ExceptForm {
                users: rule.except.who.users.clone(),
                groups: rule.except.who.groups.clone(),
                networks: texts(&rule.except.networks),
                acr: rule.except.acr.clone(),
            },
        }
    }
}

impl WhenForm {
    fn window(&self) -> Result<Window, Fault> {
        let mut window = Window {
            not_before: self.not_before.as_deref().map(moment).transpose()?,
            not_after: self.not_after.as_deref().map(moment).transpose()?,
            hours: self.hours.as_deref().map(str::parse).transpose()?,
            zone: self.zone.as_deref().map(str::parse).transpose()?,
            ..Window::default()
        };
        for day in &self.days {
            let day = Day::from_name(day).ok_or("days are mon, tue, wed, thu, fri, sat, sun")?;
            if !window.days.contains(&day) {
                window.days.push(day);
            }
        }
        Ok(window)
    }
}

/// Whether every authentication context class that a rule names exists. Asked where a rule is
/// written: one that is stored may outlive a class.
///
/// # Errors
/// One does not.
pub fn check_classes(rule: &AccessRule) -> Result<(), Fault> {
    let exists = |name: &str| acr::CLASSES.iter().any(|class| class.name == name);
    match rule.classes().all(exists) {
        true => Ok(()),
        false => Err("acr has classes of acr_values_supported in the metadata"),
    }
}

/// The record of a rule.
pub fn write_rule(rule: &AccessRule) -> Vec<u8> {
    // Invariant: strings, numbers and lists of them always serialize.
    serde_json::to_vec(&RuleForm::of(rule)).expect("a rule serializes")
}

/// Reads the record of a rule.
///
/// # Errors
/// What is wrong with it, for the log.
pub fn read_rule(bytes: &[u8]) -> Result<AccessRule, String> {
    let form: RuleForm = serde_json::from_slice(bytes).map_err(|e| format!("a rule: {e}"))?;
    let name = form.name.clone().ok_or("a rule has no name")?;
    form.rule(&name).map_err(|fault| format!("a rule: {fault}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_is_read_as_it_was_written() {
        let text = r#"{"name":"weekend","effect":"deny","description":"Nobody works then",
            "users":["u1"],"groups":["staff"],"attributes":{"department":["IT","HR"]},
            "networks":["10.0.0.0/8","2001:db8::/32"],"clients":["web"],"scopes":["read"],
            "resources":["https://api.example"],"acr":["urn:signet:acr:password"],
            "when":{"not_before":"2027-01-01T00:00:00Z","not_after":"2028-01-01T00:00:00Z",
                    "days":["sat","sun"],"hours":"22:00-06:00","zone":"Europe/Berlin"},
            "except":{"users":["u2"],"groups":["on call"],"networks":["192.0.2.1/32"],
                      "acr":["urn:signet:acr:email-code"]},"revision":3}"#;
        let rule = read_rule(text.as_bytes()).unwrap();
        assert_eq!(rule.revision, 3);
        assert_eq!(check_classes(&rule), Ok(()));
        let written = write_rule(&rule);
        assert_eq!(read_rule(&written).unwrap(), rule);
        let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
        assert_eq!(value(&written), value(text.as_bytes()));
        let short = r#"{"name":"all","effect":"allow"}"#;
        let written = write_rule(&read_rule(short.as_bytes()).unwrap());
        assert_eq!(
            value(&written),
            serde_json::json!({"name": "all", "effect": "allow", "revision": 0})
        );
    }

    #[test]
    fn what_is_not_understood_is_no_rule() {
        for bad in [
            r#"{"name":"a"}"#,
            r#"{"effect":"deny"}"#,
            r#"{"name":"a","effect":"perhaps"}"#,
            r#"{"name":"a","effect":"deny","moon":"full"}"#,
            r#"{"name":"a","effect":"deny","when":{"moon":"full"}}"#,
            r#"{"name":"a","effect":"deny","networks":["10.0.0.1/8"]}"#,
            r#"{"name":"a","effect":"deny","when":{"days":["Monday"]}}"#,
            r#"{"name":"a","effect":"deny","when":{"not_before":"soon"}}"#,
        ] {
            assert!(read_rule(bad.as_bytes()).is_err(), "{bad}");
        }
        let rule = read_rule(br#"{"name":"a","effect":"deny","acr":["urn:x"]}"#).unwrap();
        assert!(check_classes(&rule).is_err());
    }
}
