//! Roles of administrators: those that every realm has, as a list to read, and its own.
use crate::operations::model::List;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_oauth::administration::{
    AdministratorRole, MAX_ADMINISTRATOR_ROLE_DESCRIPTION_BYTES, MAX_ROLE_OPERATIONS,
    is_administrator_role,
};
use signet_operation::adapter::Row;
use signet_operation::facts::{Method, operations};
use signet_operation::input::{AdministratorRoleName, Page, Revision};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run, run_within};
use signet_operation::output::{Json, Revised, Written};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_operation::roles::{BUILT_IN, BuiltIn, Rights, check_operation};
use signet_operation::target::expect_over;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use std::sync::Arc;

const LIST: &str = "/admin/v1/administrator-roles";
const ONE: &str = "/admin/v1/administrator-roles/{administrator_role}";

/// Roles of administrators.
pub const ADMINISTRATOR_ROLES: Noun = Noun {
    name: "administrator_role",
    list: LIST,
    id: "name",
    columns: &["name", "built_in", "operations", "description"],
    sorted_by: None,
    written: &[RoleChange::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listAdministratorRoles", Area::Administration, Read, Method::Get, LIST, "List the roles of administrators: those that every realm has, then its own", run!(list)),
    &Operation::new("showAdministratorRole", Area::Administration, Read, Method::Get, ONE, "Show a role of administrators, and every operation that it may perform", run!(show)),
    &Operation::new("writeAdministratorRole", Area::Administration, Write, Method::Put, ONE, "Make a role of administrators; with If-Match, replace one", run_within!(write)),
    &Operation::new("removeAdministratorRole", Area::Administration, Write, Method::Delete, ONE, "Remove a role of administrators: its holders may no longer do what it let them", run_within!(remove)),
];

/// A role of administrators.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "AdministratorRole")]
pub(crate) struct RoleDocument {
    pub(crate) name: String,
    pub(crate) revision: u64,
    /// Every realm has it, and it stays as it is.
    pub(crate) built_in: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// Names of operations (`removeClient`), of areas (`clients`), and of what is done in one
    /// (`clients:read`). Of a role that every realm has, the operations themselves.
    pub(crate) operations: Vec<String>,
}

impl RoleDocument {
    pub(crate) fn new(role: &AdministratorRole) -> RoleDocument {
        RoleDocument {
            name: role.name.clone(),
            revision: role.revision,
            built_in: false,
            description: role.description.clone(),
            operations: role.operations.clone(),
        }
    }

    fn of_built_in(role: &BuiltIn) -> RoleDocument {
        let may = operations().iter().filter(|facts| role.may(facts));
        RoleDocument {
            name: role.name.to_owned(),
            revision: 0,
            built_in: true,
            description: Some(role.summary.to_owned()),
            operations: may.map(|facts| facts.id.to_owned()).collect(),
        }
    }
}

/// What of a role of administrators can be written. What was shown can be written back: name,
/// revision and `built_in` are read-only.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct RoleChange {
    /// Read-only.
    pub(crate) name: Option<String>,
    /// Read-only.
    #[serde(rename = "revision")]
    _revision: Option<u64>,
    /// Read-only.
    #[serde(rename = "built_in")]
    _built_in: Option<bool>,
    pub(crate) description: Option<String>,
    /// Names of operations (`removeClient`), of areas (`clients`), and of what is done in one
    /// (`clients:read`, `people:write`, `sessions:reset`).
    pub(crate) operations: Vec<String>,
}

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<RoleDocument>>, Problem> {
    let snapshot = realm.snapshot();
    let built_in = BUILT_IN.iter().map(RoleDocument::of_built_in);
    let own = snapshot.registry.administrator_roles.values();
    let all: Vec<RoleDocument> = built_in
        .chain(own.map(|role| RoleDocument::new(role)))
        .collect();
    let begin = match &page.after {
        None => 0,
        Some(after) => {
            let at = all.iter().position(|role| role.name == *after);
            at.map_or(all.len(), |at| at + 1)
        }
    };
    let items = all.into_iter().skip(begin).take(page.limit + 1).collect();
    Ok(Json(List::cut(items, page.limit, |role| role.name.clone())))
}

/// The realm's own role of this name, as it is now.
async fn known(realm: &Realm, name: &str) -> Result<Option<Arc<AdministratorRole>>, Problem> {
    realm.learn(RecordKind::AdministratorRole, name).await?;
    let snapshot = realm.snapshot();
    Ok(snapshot.registry.administrator_roles.get(name).cloned())
}

async fn show(
    realm: Arc<Realm>,
    AdministratorRoleName(name): AdministratorRoleName,
) -> Result<Revised<RoleDocument>, Problem> {
    if let Some(role) = BuiltIn::named(&name) {
        return Ok(Revised {
            value: RoleDocument::of_built_in(role),
            revision: 0,
        });
    }
    let role = known(&realm, &name).await?.ok_or_else(Problem::not_found)?;
    Ok(Revised {
        value: RoleDocument::new(&role),
        revision: role.revision,
    })
}

/// A role that may be written: its name is free, and what it names is there.
fn checked(name: &str, wanted: RoleChange) -> Result<AdministratorRole, Problem> {
    if BuiltIn::named(name).is_some() {
        return Err(built_in());
    }
    if !is_administrator_role(name) {
        return Err(Problem::invalid(
            "the name of a role of administrators has 1 to 64 small letters, digits and hyphens",
        ));
    }
    if wanted.name.is_some_and(|own| own != name) {
        return Err(Problem::invalid("name cannot be changed"));
    }
    let description = wanted.description.filter(|text| !text.is_empty());
    let bytes = description.as_ref().map_or(0, String::len);
    if bytes > MAX_ADMINISTRATOR_ROLE_DESCRIPTION_BYTES {
        return Err(Problem::invalid(format!(
            "description has at most {MAX_ADMINISTRATOR_ROLE_DESCRIPTION_BYTES} bytes"
        )));
    }
    let mut named = wanted.operations;
    named.sort_unstable();
    named.dedup();
    if named.len() > MAX_ROLE_OPERATIONS {
        return Err(Problem::invalid(format!(
            "operations has at most {MAX_ROLE_OPERATIONS} entries"
        )));
    }
    for text in &named {
        check_operation(text).map_err(|why| Problem::invalid(format!("operations: {why}")))?;
    }
    Ok(AdministratorRole {
        name: name.to_owned(),
        description,
        operations: named,
        revision: 1,
    })
}

fn built_in() -> Problem {
    Problem::conflict("built_in", "every realm has this role: it stays as it is")
}

/// Who writes a role may do all that it lets others do, before and afterwards.
fn expect_over_role(rights: &Rights, role: &AdministratorRole) -> Result<(), Problem> {
    let theirs = Rights::of_own(role);
    expect_over(rights, &theirs, &format!("the role {}", role.name))
}

async fn write(
    realm: Arc<Realm>,
    rights: Rights,
    (AdministratorRoleName(name), revision, Json(wanted)): (
        AdministratorRoleName,
        Option<Revision>,
        Json<RoleChange>,
    ),
) -> Result<Written<Revised<RoleDocument>>, Problem> {
    let mut role = checked(&name, wanted)?;
    expect_over_role(&rights, &role)?;
    if let Some(known) = known(&realm, &name).await? {
        expect_over_role(&rights, &known)?;
    }
    let read = revision.map(|Revision(read)| read);
    role.revision = read.map_or(1, |read| read.saturating_add(1));
    let role = realm.write_record(role, read).await?;
    let shown = Revised {
        value: RoleDocument::new(&role),
        revision: role.revision,
    };
    Ok(match read {
        None => Written::New(shown),
        Some(_) => Written::Replaced(shown),
    })
}

async fn remove(
    realm: Arc<Realm>,
    rights: Rights,
    AdministratorRoleName(name): AdministratorRoleName,
) -> Result<(), Problem> {
    if BuiltIn::named(&name).is_some() {
        return Err(built_in());
    }
    if let Some(known) = known(&realm, &name).await? {
        expect_over_role(&rights, &known)?;
    }
    Ok(realm
        .remove_record::<AdministratorRole>(&name, None)
        .await?)
}

/// Writes the role that a directory declares, new or known.
pub(crate) async fn declare(
    realm: &Realm,
    name: &str,
    wanted: RoleChange,
    read: Option<u64>,
) -> Result<(), Problem> {
    let mut role = checked(name, wanted)?;
    role.revision = read.map_or(1, |read| read.saturating_add(1));
    realm.write_record(role, read).await?;
    Ok(())
}
