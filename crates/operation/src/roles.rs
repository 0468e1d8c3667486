//! Roles of administrators: which operations each may perform, by what the operations say of
//! themselves ([`Area`], [`Right`]).
use crate::facts::{Facts, operations};
use crate::right::{Area, Right};
use signet_directory::User;
use signet_oauth::administration::AdministratorRole;
pub use signet_oauth::administration::OWNER;
use signet_oauth::client::Client;
use signet_oauth::registry::Registry;
use signet_oauth::scope::{ADMIN, ADMIN_READ, SCIM, ScopeSet};

/// A part of what a role may do.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Grant {
    /// Every operation.
    Everything,
    /// Every operation of an area that does this; none of them named: of every area or right.
    Some(Option<Area>, Option<Right>),
    /// The operation of this name.
    Operation(String),
}

impl Grant {
    fn has(&self, facts: &Facts) -> bool {
        match self {
            Grant::Everything => true,
            Grant::Some(area, right) => {
                area.is_none_or(|area| area == facts.area)
                    && right.is_none_or(|right| right == facts.needs)
            }
            Grant::Operation(id) => id == facts.id,
        }
    }

    fn has_some(&self, area: Area, right: Right) -> bool {
        match self {
            Grant::Everything => true,
            Grant::Some(own, does) => {
                own.is_none_or(|own| own == area) && does.is_none_or(|does| does == right)
            }
            Grant::Operation(_) => false,
        }
    }
}

/// A role that every realm has.
pub struct BuiltIn {
    /// Its name.
    pub name: &'static str,
    /// What it is for.
    pub summary: &'static str,
    /// It may do everything.
    everything: bool,
    /// It reads every area.
    reads_all: bool,
    /// What it may do beside.
    may: &'static [(Area, &'static [Right])],
}

const READ: &[Right] = &[Right::Read];
const RESET: &[Right] = &[Right::Read, Right::Reset];
const WRITE: &[Right] = &[Right::Read, Right::Reset, Right::Write];

/// The roles that every realm has: one row each.
pub const BUILT_IN: &[BuiltIn] = &[
    BuiltIn {
        name: OWNER,
        summary: "everything; the first realm's owners administer further realms, too",
        everything: true,
        reads_all: true,
        may: &[],
    },
    BuiltIn {
        name: "security",
        summary: "access rules, identity providers, keys, tokens, agents, resets; reads all",
        everything: false,
        reads_all: true,
        may: &[
            (Area::Credentials, RESET),
            (Area::Sessions, RESET),
            (Area::Access, WRITE),
            (Area::Providers, WRITE),
            (Area::Keys, WRITE),
            (Area::Tokens, WRITE),
            (Area::Agents, WRITE),
            (Area::Declarations, WRITE),
        ],
    },
    BuiltIn {
        name: "people",
        summary: "accounts, groups, roles and attributes of people, resets, exports",
        everything: false,
        reads_all: false,
        may: &[
            (Area::People, WRITE),
            (Area::Credentials, RESET),
            (Area::Sessions, RESET),
            (Area::Agents, READ),
            (Area::Access, READ),
            (Area::Exports, READ),
            (Area::Declarations, WRITE),
        ],
    },
    BuiltIn {
        name: "clients",
        summary: "clients, resource servers and scopes",
        everything: false,
        reads_all: false,
        may: &[
            (Area::Clients, WRITE),
            (Area::Access, READ),
            (Area::Settings, READ),
            (Area::Declarations, WRITE),
        ],
    },
    BuiltIn {
        name: "auditor",
        summary: "reads all, changes nothing, and sees no secret",
        everything: false,
        reads_all: true,
        may: &[],
    },
    BuiltIn {
        name: "help-desk",
        summary: "resets what people log in with and ends their sessions; sees no token",
        everything: false,
        reads_all: false,
        may: &[
            (Area::People, READ),
            (Area::Credentials, RESET),
            (Area::Sessions, RESET),
        ],
    },
];

impl BuiltIn {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static BuiltIn> {
        BUILT_IN.iter().find(|role| role.name == name)
    }

    /// Whether it may perform an operation.
    pub fn may(&self, facts: &Facts) -> bool {
        self.grants().iter().any(|grant| grant.has(facts))
    }

    fn grants(&self) -> Vec<Grant> {
        let mut grants = Vec::new();
        if self.everything {
            grants.push(Grant::Everything);
        }
        if self.reads_all {
            grants.push(Grant::Some(None, Some(Right::Read)));
        }
        for (area, rights) in self.may {
            let of_area = rights
                .iter()
                .map(|right| Grant::Some(Some(*area), Some(*right)));
            grants.extend(of_area);
        }
        grants
    }
}

/// What an own role has in its list of operations: the name of one (`removeClient`), an area
/// (`clients`), or what is done in one (`clients:read`).
///
/// # Errors
/// In words: there is no such operation, area or right.
pub fn check_operation(text: &str) -> Result<(), String> {
    match grant(text) {
        None => Err(format!("there is no area or right as in {text}")),
        Some(Grant::Operation(id)) if !operations().iter().any(|facts| facts.id == id) => {
            Err(format!("there is no operation {id}"))
        }
        Some(_) => Ok(()),
    }
}

fn grant(text: &str) -> Option<Grant> {
    let area = |name: &str| Area::ALL.iter().copied().find(|area| area.name() == name);
    if let Some((of, does)) = text.split_once(':') {
        let mut rights = Right::ALL.iter().copied();
        let right = rights.find(|right| right.name() == does)?;
        return Some(Grant::Some(Some(area(of)?), Some(right)));
    }
    Some(match area(text) {
        Some(area) => Grant::Some(Some(area), None),
        None => Grant::Operation(text.to_owned()),
    })
}

/// What somebody may do at a moment: by their roles, within what their token or key may.
#[derive(Clone, Debug)]
pub struct Rights {
    /// Names of the roles, for refusals.
    roles: Vec<String>,
    grants: Vec<Grant>,
    /// Its token is for reading alone.
    reads_only: bool,
    /// Somebody whose rights are its bounds: who made a key.
    within: Option<Box<Rights>>,
}

impl Rights {
    /// Everything: who starts the process, and its clients with the scope `signet:admin`.
    pub fn owner() -> Rights {
        Rights {
            roles: vec![OWNER.to_owned()],
            grants: vec![Grant::Everything],
            reads_only: false,
            within: None,
        }
    }

    /// Nothing.
    pub fn none() -> Rights {
        Rights {
            roles: Vec::new(),
            grants: Vec::new(),
            reads_only: false,
            within: None,
        }
    }

    /// Those of roles by name: the ones that every realm has, and its own. A name that is no role's
    /// gives nothing.
    pub fn of_roles(names: &[String], registry: &Registry) -> Rights {
        let mut rights = Rights::none();
        for name in names {
            match BuiltIn::named(name) {
                Some(role) => rights.grants.extend(role.grants()),
                None => {
                    let own = registry.administrator_roles.get(name);
                    rights
                        .grants
                        .extend(own.iter().flat_map(|role| of_own(role)));
                }
            }
            rights.roles.push(name.clone());
        }
        rights
    }

    /// Those of a role that a realm made.
    pub fn of_own(role: &AdministratorRole) -> Rights {
        let mut rights = Rights::none();
        rights.grants.extend(of_own(role));
        rights.roles.push(role.name.clone());
        rights
    }

    /// Those of an account.
    pub fn of_user(user: &User, registry: &Registry) -> Rights {
        Rights::of_roles(&user.roles_of_administrator(), registry)
    }

    /// Those of a client that acts for itself, by its record's scope.
    pub fn of_client(client: &Client) -> Rights {
        Rights::of_scope(&client.scope)
    }

    /// What scopes give.
    pub fn of_scope(scope: &ScopeSet) -> Rights {
        if scope.contains(ADMIN) {
            return Rights::owner();
        }
        let mut rights = Rights::none();
        if scope.contains(ADMIN_READ) {
            rights.grants.push(Grant::Some(None, Some(Right::Read)));
            rights.roles.push("auditor".to_owned());
        }
        if scope.contains(SCIM) {
            rights.roles.push(SCIM.to_owned());
            for right in [Right::Read, Right::Reset, Right::Write] {
                rights
                    .grants
                    .push(Grant::Some(Some(Area::People), Some(right)));
            }
        }
        rights
    }

    /// The same, of which a token is for reading alone.
    #[must_use]
    pub fn reading(mut self, reads_only: bool) -> Rights {
        self.reads_only |= reads_only;
        self
    }

    /// The same, and never more than somebody else's.
    #[must_use]
    pub fn within(mut self, bounds: Rights) -> Rights {
        self.within = Some(Box::new(bounds));
        self
    }

    /// Whether an operation may be performed.
    pub fn may(&self, facts: &Facts) -> bool {
        let reads = !self.reads_only || facts.needs == Right::Read;
        let within = self.within.as_ref().is_none_or(|bounds| bounds.may(facts));
        reads && within && self.grants.iter().any(|grant| grant.has(facts))
    }

    /// Whether every operation of an area that does this may be performed.
    pub fn may_all(&self, area: Area, right: Right) -> bool {
        let reads = !self.reads_only || right == Right::Read;
        let within = self.within.as_ref();
        let within = within.is_none_or(|bounds| bounds.may_all(area, right));
        reads && within && self.grants.iter().any(|grant| grant.has_some(area, right))
    }

    /// Whether they are an owner's.
    pub fn is_owner(&self) -> bool {
        let within = self.within.as_ref().is_none_or(|bounds| bounds.is_owner());
        within && self.grants.contains(&Grant::Everything)
    }

    /// Whether its token is what keeps it from changing anything.
    pub const fn is_for_reading(&self) -> bool {
        self.reads_only
    }

    /// The rule against escalation: whether everything that somebody else may do, this one may do,
    /// too. Who may not has no power over the other's account, client or key, and gives no role.
    pub fn cover(&self, other: &Rights) -> bool {
        if self.is_owner() && !self.reads_only {
            return true;
        }
        let mut all = operations().iter();
        !other.is_owner() && all.all(|facts| !other.may(facts) || self.may(facts))
    }

    /// Names of the roles that give them.
    pub fn roles(&self) -> &[String] {
        &self.roles
    }
}

fn of_own(role: &AdministratorRole) -> impl Iterator<Item = Grant> {
    role.operations.iter().filter_map(|text| grant(text))
}

/// Names of the built-in roles that may perform an operation.
pub fn needed(facts: &Facts) -> Vec<&'static str> {
    let may = BUILT_IN.iter().filter(|role| role.may(facts));
    may.map(|role| role.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(names: &[&str]) -> Rights {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Rights::of_roles(&names, &Registry::default())
    }

    #[test]
    fn an_owner_alone_covers_an_owner() {
        let owner = rights(&[OWNER]);
        for role in BUILT_IN {
            let other = rights(&[role.name]);
            assert!(owner.cover(&other), "{}", role.name);
            assert_eq!(other.cover(&owner), role.name == OWNER, "{}", role.name);
        }
        assert!(!owner.clone().reading(true).cover(&owner));
        assert!(!owner.clone().within(rights(&["people"])).cover(&owner));
    }

    #[test]
    fn a_name_that_is_no_role_gives_nothing() {
        let nobody = rights(&["emperor"]);
        for area in Area::ALL {
            for right in Right::ALL {
                assert!(!nobody.may_all(*area, *right));
            }
        }
    }

    #[test]
    fn an_own_role_names_areas_rights_and_operations_that_there_are() {
        for good in ["people", "clients:read", "sessions:reset"] {
            assert_eq!(check_operation(good), Ok(()), "{good}");
        }
        for bad in ["", "peoples", "clients:", "clients:eat", ":read", "a:b:c"] {
            assert!(check_operation(bad).is_err(), "{bad}");
        }
    }
}
