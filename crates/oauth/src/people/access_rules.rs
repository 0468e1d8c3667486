//! Access rules: who may get tokens for what, from where, how and when.
//!
//! A rule has conditions, all of which must hold, and exceptions, none of which may. What is asked
//! for is taken apart into its scopes and resources; of each part:
//!
//! 1. a rule that denies it decides, whatever else allows it;
//! 2. else a rule that allows it decides;
//! 3. else the realm's mode decides ([`Mode`]).
//!
//! The whole is allowed where every part is. Neither the order of rules nor their number of
//! repetitions says anything. Nothing here reads a store or a clock: rules are the snapshot's, and
//! what a person holds came with their account.
mod network;
mod times;

pub use network::Network;
pub use times::{Day, Hours, Window, Zone, moment, moment_text};

use crate::issued::names::wire_names;
use crate::people::{AttributeValue, Fault, Holdings, People, check_description, check_group_name};
use crate::scope::{Scope, ScopeSet};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
    sync::Arc,
};

/// The rules of a realm, by name.
pub type Rules = BTreeMap<String, Arc<AccessRule>>;

/// Most access rules of a realm.
pub const MAX_RULES: usize = 500;
/// Most entries of one list of a rule.
pub const MAX_RULE_ENTRIES: usize = 64;
/// The longest entry of a list of a rule, in bytes.
pub const MAX_RULE_ENTRY_BYTES: usize = 512;

/// What a rule does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// It lets in.
    Allow,
    /// It keeps out, whatever lets in.
    Deny,
}
wire_names!(Effect { Allow = "allow", Deny = "deny" });

/// What holds where no rule decides: a switch of the realm.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Whatever no rule denies is allowed.
    #[default]
    Allow,
    /// Whatever no rule allows is denied.
    Deny,
}
wire_names!(Mode { Allow = "allow", Deny = "deny" });

/// People: whoever one of the lists names. With none of them everybody.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Who {
    /// Ids of accounts: the `sub` of their tokens. A name can pass to somebody else.
    pub users: Vec<String>,
    /// Names of groups; whoever is in one inside it is in it.
    pub groups: Vec<String>,
}

/// What takes somebody out of a rule again: any one of these.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Except {
    /// These people.
    pub who: Who,
    /// Requests from these networks.
    pub networks: Vec<Network>,
    /// Logins that reach one of these authentication context classes.
    pub acr: Vec<String>,
}

/// A rule. An empty list is no condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessRule {
    /// Its name, which never changes.
    pub name: String,
    /// For people.
    pub description: Option<String>,
    /// What it does.
    pub effect: Effect,
    /// Whom it is about. A client's own tokens (`client_credentials`) have no person: a rule that
    /// says who is not about them.
    pub who: Who,
    /// Attributes, each with the values of which the person has one.
    pub attributes: BTreeMap<String, Vec<String>>,
    /// Where the request comes from.
    pub networks: Vec<Network>,
    /// Clients, by `client_id`.
    pub clients: Vec<String>,
    /// Scopes.
    pub scopes: Vec<String>,
    /// Whom the access token is meant for.
    pub resources: Vec<String>,
    /// Authentication context classes, of which the login reaches one.
    pub acr: Vec<String>,
    /// When.
    pub window: Window,
    /// Whom and what it is not about.
    pub except: Except,
    /// Grows at every write.
    pub revision: u64,
}

impl AccessRule {
    /// One without conditions.
    pub fn new(name: impl Into<String>, effect: Effect) -> AccessRule {
        AccessRule {
            name: name.into(),
            description: None,
            effect,
            who: Who::default(),
            attributes: BTreeMap::new(),
            networks: Vec::new(),
            clients: Vec::new(),
            scopes: Vec::new(),
            resources: Vec::new(),
            acr: Vec::new(),
            window: Window::default(),
            except: Except::default(),
            revision: 0,
        }
    }

    /// Whether a realm can have it.
    ///
    /// # Errors
    /// What is wrong.
    pub fn check(&self) -> Result<(), Fault> {
        check_rule_name(&self.name)?;
        check_description(self.description.as_deref())?;
        let lists = [
            &self.who.users,
            &self.who.groups,
            &self.clients,
            &self.scopes,
            &self.resources,
            &self.acr,
            &self.except.who.users,
            &self.except.who.groups,
            &self.except.acr,
        ];
        let fits = |text: &String| !text.is_empty() && text.len() <= MAX_RULE_ENTRY_BYTES;
        let values = self.attributes.values().chain(lists);
        for list in values {
            if list.len() > MAX_RULE_ENTRIES || !list.iter().all(fits) {
                return Err("a list of a rule has at most 64 entries of 1 to 512 bytes");
            }
        }
        let networks = [&self.networks, &self.except.networks];
        if networks.iter().any(|list| list.len() > MAX_RULE_ENTRIES)
            || self.attributes.len() > MAX_RULE_ENTRIES
        {
            return Err("a list of a rule has at most 64 entries of 1 to 512 bytes");
        }
        if self.attributes.values().any(Vec::is_empty) {
            return Err("an attribute of a rule has at least one value");
        }
        for group in self.who.groups.iter().chain(&self.except.who.groups) {
            check_group_name(group)?;
        }
        if self.scopes.iter().any(|scope| Scope::parse(scope).is_err()) {
            return Err("scopes are names of scopes, one an entry");
        }
        self.window.check()
    }

    /// The authentication context classes that it names.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        self.acr.iter().chain(&self.except.acr).map(String::as_str)
    }

    /// The groups that it names.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        let groups = self.who.groups.iter().chain(&self.except.who.groups);
        groups.map(String::as_str)
    }

    /// Whether it says anything of people.
    fn is_about_people(&self) -> bool {
        !self.who.users.is_empty() || !self.who.groups.is_empty() || !self.attributes.is_empty()
    }
}

/// Whether a rule may have this name.
///
/// # Errors
/// What it must be.
pub fn check_rule_name(name: &str) -> Result<(), Fault> {
    check_group_name(name).map_err(|_| {
        "a rule's name has 1 to 64 bytes, no control characters, none of \" \\ / = and no space at its ends"
    })
}

/// Where a request comes from, as far as the one who may be let in is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// From here.
    Address(IpAddr),
    /// The person was let in from where they were, and is not here: an application goes on for
    /// them. What a rule says of networks was decided then, and turns out as for who was let in.
    Earlier,
}

/// Who asks for what.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The person, by the account's id and what it holds; none: the client for itself.
    pub person: Option<(&'a str, &'a Holdings)>,
    /// The client.
    pub client_id: &'a str,
    /// What is asked for.
    pub scope: &'a ScopeSet,
    /// Whom the token is meant for.
    pub audience: &'a [String],
    /// Where from.
    pub origin: Origin,
    /// The authentication context classes that the login reaches; none: that was asked when the
    /// person was let in, as with [`Origin::Earlier`].
    pub classes: Option<&'a [&'a str]>,
    /// Unix seconds.
    pub now: u64,
}

/// What is decided, and by which rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verdict<'a> {
    /// Whether it is allowed.
    pub allowed: bool,
    /// The rule that decided; none: the realm's mode did. Of several, the first by name.
    pub rule: Option<&'a str>,
}

/// The rules of one moment, and the mode.
#[derive(Clone, Copy, Debug)]
pub struct Access<'a> {
    /// Groups and the schema of attributes.
    pub people: &'a People,
    /// The rules.
    pub rules: &'a Rules,
    /// What holds where no rule decides.
    pub mode: Mode,
}

/// What everything is, where there is nothing to decide.
const OPEN: Verdict<'static> = Verdict {
    allowed: true,
    rule: None,
};

impl<'a> Access<'a> {
    /// Whether every question is answered with yes: there is no rule, and the mode allows.
    pub fn is_open(self) -> bool {
        self.rules.is_empty() && self.mode == Mode::Allow
    }

    /// Decides. The one function: requests and explanations both come here.
    pub fn decide(self, question: &Question<'_>) -> Verdict<'a> {
        if self.is_open() {
            return OPEN;
        }
        let asked = Asked::new(self.people, question);
        let rules = self.rules.values();
        let holding: Vec<&AccessRule> = rules
            .map(|rule| &**rule)
            .filter(|rule| asked.holds(rule))
            .collect();
        let mut allowed_by = None;
        let mut denied: Option<Verdict<'a>> = None;
        for (scope, resource) in parts(question) {
            let found = |effect| {
                let mut rules = holding.iter().filter(|rule| rule.effect == effect);
                rules.find(|rule| covers(rule, scope, resource))
            };
            if let Some(rule) = found(Effect::Deny) {
                // A rule that says so is a better reason than the lack of one.
                let first = denied.and_then(|verdict| verdict.rule);
                let name = first.map_or(rule.name.as_str(), |first| first.min(&rule.name));
                denied = Some(Verdict {
                    allowed: false,
                    rule: Some(name),
                });
                continue;
            }
            match (found(Effect::Allow), self.mode) {
                (Some(rule), _) => {
                    let first = allowed_by.unwrap_or(rule.name.as_str());
                    allowed_by = Some(first.min(rule.name.as_str()));
                }
                (None, Mode::Allow) => {}
                (None, Mode::Deny) => {
                    denied.get_or_insert(Verdict {
                        allowed: false,
                        rule: None,
                    });
                }
            }
        }
        denied.unwrap_or(Verdict {
            allowed: true,
            rule: allowed_by,
        })
    }

    /// The names of all rules whose conditions hold for some part of what is asked, for an
    /// explanation.
    pub fn holding(self, question: &Question<'_>) -> Vec<&'a str> {
        let asked = Asked::new(self.people, question);
        let rules = self.rules.values().map(|rule| &**rule);
        rules
            .filter(|rule| asked.holds(rule))
            .filter(|rule| parts(question).any(|(scope, resource)| covers(rule, scope, resource)))
            .map(|rule| rule.name.as_str())
            .collect()
    }
}

/// Each scope with each resource; where none of a kind is asked for, the lack of one.
fn parts<'q>(
    question: &Question<'q>,
) -> impl Iterator<Item = (Option<&'q str>, Option<&'q str>)> + use<'q> {
    let scopes: Vec<Option<&'q str>> = match question.scope.is_empty() {
        true => vec![None],
        false => question.scope.iter().map(Some).collect(),
    };
    let audience = question.audience;
    scopes.into_iter().flat_map(move |scope| {
        let none = audience.is_empty().then_some((scope, None));
        let each = audience
            .iter()
            .map(move |resource| (scope, Some(resource.as_str())));
        none.into_iter().chain(each)
    })
}

fn covers(rule: &AccessRule, scope: Option<&str>, resource: Option<&str>) -> bool {
    let has = |list: &[String], one: Option<&str>| {
        list.is_empty() || one.is_some_and(|one| list.iter().any(|entry| entry == one))
    };
    has(&rule.scopes, scope) && has(&rule.resources, resource)
}

/// A question with what is looked up once for all rules.
struct Asked<'q> {
    question: &'q Question<'q>,
    people: &'q People,
    groups: BTreeSet<&'q str>,
}

impl<'q> Asked<'q> {
    fn new(people: &'q People, question: &'q Question<'q>) -> Asked<'q> {
        let held = question.person.map(|(_, held)| held);
        Asked {
            question,
            people,
            groups: held.map_or_else(BTreeSet::new, |held| people.groups_of(held)),
        }
    }

    /// Whether everything but scope and resource is as the rule says.
    fn holds(&self, rule: &AccessRule) -> bool {
        let asks = self.question;
        let lets_in = rule.effect == Effect::Allow;
        let of_client =
            rule.clients.is_empty() || rule.clients.iter().any(|id| id == asks.client_id);
        of_client
            && rule.window.contains(asks.now)
            && (!rule.is_about_people() || self.is_of(rule))
            && (rule.networks.is_empty() || self.comes_from(&rule.networks, lets_in))
            && (rule.acr.is_empty() || self.reaches(&rule.acr, lets_in))
            && !self.is_excepted(&rule.except, lets_in)
    }

    fn is_of(&self, rule: &AccessRule) -> bool {
        let named = &rule.who;
        let anybody = named.users.is_empty() && named.groups.is_empty();
        (anybody || self.is_one_of(named))
            && rule
                .attributes
                .iter()
                .all(|(name, values)| self.has(name, values))
    }

    fn is_one_of(&self, who: &Who) -> bool {
        let Some((id, _)) = self.question.person else {
            return false;
        };
        who.users.iter().any(|user| user == id)
            || who.groups.iter().any(|name| self.groups.contains(&**name))
    }

    fn is_excepted(&self, except: &Except, lets_in: bool) -> bool {
        self.is_one_of(&except.who)
            || (!except.networks.is_empty() && self.comes_from(&except.networks, !lets_in))
            || (!except.acr.is_empty() && self.reaches(&except.acr, !lets_in))
    }

    /// `otherwise`: what holds for whoever is not here any more.
    fn comes_from(&self, networks: &[Network], otherwise: bool) -> bool {
        match self.question.origin {
            Origin::Address(address) => networks.iter().any(|network| network.contains(address)),
            Origin::Earlier => otherwise,
        }
    }

    /// `otherwise`: as with [`Asked::comes_from`].
    fn reaches(&self, classes: &[String], otherwise: bool) -> bool {
        let Some(reached) = self.question.classes else {
            return otherwise;
        };
        classes
            .iter()
            .any(|class| reached.contains(&class.as_str()))
    }

    /// Whether the person has one of these values of an attribute. A value that the schema has no
    /// more is none, as in tables of claims. So is one that nobody but the person vouches for,
    /// whether or not the schema waits for somebody: nobody writes their own way in.
    fn has(&self, name: &str, values: &[String]) -> bool {
        let held = self.question.person;
        let held = held.and_then(|(_, held)| held.attributes.get(name));
        let (Some(held), Some(attribute)) = (held, self.people.attributes.get(name)) else {
            return false;
        };
        if !held.verified || attribute.accepts(&held.value).is_err() {
            return false;
        }
        let named = |text: &str| values.iter().any(|value| value == text);
        match &held.value {
            AttributeValue::Text(text) => named(text),
            AttributeValue::Number(number) => named(&number.to_string()),
            AttributeValue::Boolean(yes) => named(if *yes { "true" } else { "false" }),
            AttributeValue::List(list) => list.iter().any(|text| named(text)),
        }
    }
}

#[cfg(test)]
mod tests;
