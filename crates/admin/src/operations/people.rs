//! Groups, roles and the schema of people's attributes.
use crate::operations::model::{List, UserDocument};
use crate::operations::models::people::{
    AttributeChange, AttributeDocument, GroupChange, GroupDocument, RoleChange, RoleDocument,
};
use crate::operations::users::{self, READ_AT_ONCE};
use schemars::JsonSchema;
use signet_oauth::people::{Attribute, Role};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{AttributeName, GroupName, Page, Revision, RoleName};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Json, Revised, Written};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::records::groups::GroupDraft;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use std::sync::Arc;

const GROUP_LIST: &str = "/admin/v1/groups";
const GROUP: &str = "/admin/v1/groups/{group}";
const MEMBERS: &str = "/admin/v1/groups/{group}/members";
const ROLE_LIST: &str = "/admin/v1/roles";
const ROLE: &str = "/admin/v1/roles/{role}";
const ATTRIBUTE_LIST: &str = "/admin/v1/attributes";
const ATTRIBUTE: &str = "/admin/v1/attributes/{attribute}";

/// Groups.
pub const GROUPS: Noun = Noun {
    name: "group",
    list: GROUP_LIST,
    id: "name",
    columns: &["name", "parent", "roles", "description"],
    sorted_by: None,
    written: &[GroupChange::json_schema],
};

/// Roles, of the realm and of clients.
pub const ROLES: Noun = Noun {
    name: "role",
    list: ROLE_LIST,
    id: "name",
    columns: &["name", "description"],
    sorted_by: None,
    written: &[RoleChange::json_schema],
};

/// Attributes of the people's schema.
pub const ATTRIBUTES: Noun = Noun {
    name: "attribute",
    list: ATTRIBUTE_LIST,
    id: "name",
    columns: &["name", "type", "read", "write", "verified", "label"],
    sorted_by: None,
    written: &[AttributeChange::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listGroups", Area::People, Read, Method::Get, GROUP_LIST, "List groups", run!(list_groups)),
    &Operation::new("showGroup", Area::People, Read, Method::Get, GROUP, "Show a group", run!(show_group)),
    &Operation::new("writeGroup", Area::People, Write, Method::Put, GROUP, "Add a group; with If-Match, replace one", run!(write_group)),
    &Operation::new("removeGroup", Area::People, Write, Method::Delete, GROUP, "Remove a group that has no others in it", run!(remove_group)),
    &Operation::new("listGroupMembers", Area::People, Read, Method::Get, MEMBERS, "List users who were put into a group", run!(members)),
    &Operation::new("listRoles", Area::People, Read, Method::Get, ROLE_LIST, "List roles", run!(list_roles)),
    &Operation::new("showRole", Area::People, Read, Method::Get, ROLE, "Show a role", run!(show_role)),
    &Operation::new("writeRole", Area::People, Write, Method::Put, ROLE, "Add a role; with If-Match, replace one", run!(write_role)),
    &Operation::new("removeRole", Area::People, Write, Method::Delete, ROLE, "Remove a role", run!(remove_role)),
    &Operation::new("listAttributes", Area::People, Read, Method::Get, ATTRIBUTE_LIST, "List the attributes of the schema", run!(list_attributes)),
    &Operation::new("showAttribute", Area::People, Read, Method::Get, ATTRIBUTE, "Show an attribute of the schema", run!(show_attribute)),
    &Operation::new("writeAttribute", Area::People, Write, Method::Put, ATTRIBUTE, "Add an attribute to the schema; with If-Match, replace one", run!(write_attribute)),
    &Operation::new("removeAttribute", Area::People, Write, Method::Delete, ATTRIBUTE, "Remove an attribute from the schema", run!(remove_attribute)),
];

/// A page of named records, in the order of their names.
fn page_of<T, D>(
    records: impl Iterator<Item = Arc<T>>,
    page: &Page,
    name: impl Fn(&T) -> &str,
    document: impl Fn(&T) -> D,
    named: impl Fn(&D) -> String,
) -> List<D> {
    let after = page.after.as_deref();
    let mut found: Vec<Arc<T>> = records
        .filter(|record| after.is_none_or(|after| name(record) > after))
        .collect();
    found.sort_unstable_by(|a, b| name(a).cmp(name(b)));
    found.truncate(page.limit + 1);
    let items = found.iter().map(|record| document(record)).collect();
    List::cut(items, page.limit, named)
}

async fn list_groups(realm: Arc<Realm>, page: Page) -> Result<Json<List<GroupDocument>>, Problem> {
    let snapshot = realm.snapshot();
    let people = &snapshot.registry.people;
    Ok(Json(page_of(
        people.groups.values().cloned(),
        &page,
        |group| &group.name,
        |group| GroupDocument::new(group, people),
        |document| document.name.clone(),
    )))
}

async fn shown_group(realm: &Realm, name: &str) -> Result<Revised<GroupDocument>, Problem> {
    let snapshot = realm.snapshot();
    let people = &snapshot.registry.people;
    let group = people.groups.get(name).ok_or_else(Problem::not_found)?;
    Ok(Revised {
        value: GroupDocument::new(group, people),
        revision: group.revision,
    })
}

async fn show_group(
    realm: Arc<Realm>,
    GroupName(name): GroupName,
) -> Result<Revised<GroupDocument>, Problem> {
    // What another node wrote a moment ago may not have come here yet.
    realm.learn(RecordKind::Group, &name).await?;
    shown_group(&realm, &name).await
}

fn written<T>(read: Option<u64>, shown: Revised<T>) -> Written<Revised<T>> {
    match read {
        None => Written::New(shown),
        Some(_) => Written::Replaced(shown),
    }
}

/// A record's name cannot be changed: what was shown can be written back.
pub(crate) fn same_name(said: Option<&str>, name: &str) -> Result<(), Problem> {
    match said.is_none_or(|said| said == name) {
        true => Ok(()),
        false => Err(Problem::invalid("the name cannot be changed")),
    }
}

async fn write_group(
    realm: Arc<Realm>,
    (GroupName(name), revision, Json(wanted)): (GroupName, Option<Revision>, Json<GroupChange>),
) -> Result<Written<Revised<GroupDocument>>, Problem> {
    let read = revision.map(|Revision(read)| read);
    let before = realm.snapshot();
    put_group(&realm, &name, wanted, read).await?;
    if read.is_some() {
        realm.end_what_all_lost(&before.registry).await?;
    }
    Ok(written(read, shown_group(&realm, &name).await?))
}

/// Writes a group. The caller ends what people lost by it.
pub(crate) async fn put_group(
    realm: &Realm,
    name: &str,
    wanted: GroupChange,
    read: Option<u64>,
) -> Result<(), Problem> {
    same_name(wanted.name.as_deref(), name)?;
    let draft = GroupDraft {
        description: wanted.description,
        parent: wanted.parent,
        roles: wanted.roles,
        external_id: None,
    };
    realm.write_group(name, &draft, read).await?;
    Ok(())
}

async fn remove_group(realm: Arc<Realm>, GroupName(name): GroupName) -> Result<(), Problem> {
    let before = realm.snapshot();
    realm.remove_group(&name).await?;
    realm.end_what_all_lost(&before.registry).await?;
    Ok(())
}

/// Nothing is indexed for it: accounts are read until the page is full.
async fn members(
    realm: Arc<Realm>,
    (GroupName(name), page): (GroupName, Page),
) -> Result<Json<List<UserDocument>>, Problem> {
    let id = realm
        .group_id(&name)
        .await?
        .ok_or_else(Problem::not_found)?;
    let mut items = Vec::new();
    let mut after = page.after.clone();
    let snapshot = realm.snapshot();
    loop {
        let (accounts, now) = (&realm.people.users, realm.now());
        let read = accounts.list(after.as_deref(), READ_AT_ONCE, now).await?;
        let last = read.len() < READ_AT_ONCE;
        after = read.last().map(|user| user.id.clone());
        let found = read
            .into_iter()
            .filter(|user| user.groups.contains(&id) || user.groups_outside.contains(&name));
        items.extend(found.map(|user| users::document(user, &snapshot)));
        if last || items.len() > page.limit {
            break;
        }
    }
    Ok(Json(List::cut(items, page.limit, |user| user.id.clone())))
}

async fn list_roles(realm: Arc<Realm>, page: Page) -> Result<Json<List<RoleDocument>>, Problem> {
    let snapshot = realm.snapshot();
    Ok(Json(page_of(
        snapshot.registry.people.roles.values().cloned(),
        &page,
        |role| &role.name,
        RoleDocument::new,
        |document| document.name.clone(),
    )))
}

async fn show_role(
    realm: Arc<Realm>,
    RoleName(name): RoleName,
) -> Result<Revised<RoleDocument>, Problem> {
    realm.learn(RecordKind::Role, &name).await?;
    let snapshot = realm.snapshot();
    let role = snapshot.registry.people.roles.get(&name);
    let role = role.ok_or_else(Problem::not_found)?;
    Ok(Revised {
        value: RoleDocument::new(role),
        revision: role.revision,
    })
}

async fn write_role(
    realm: Arc<Realm>,
    (RoleName(name), revision, Json(wanted)): (RoleName, Option<Revision>, Json<RoleChange>),
) -> Result<Written<Revised<RoleDocument>>, Problem> {
    same_name(wanted.name.as_deref(), &name)?;
    let read = revision.map(|Revision(read)| read);
    let role = realm.write_role(&name, wanted.description, read).await?;
    let shown = Revised {
        value: RoleDocument::new(&role),
        revision: role.revision,
    };
    Ok(written(read, shown))
}

async fn remove_role(realm: Arc<Realm>, RoleName(name): RoleName) -> Result<(), Problem> {
    let before = realm.snapshot();
    realm.remove_record::<Role>(&name, None).await?;
    realm.end_what_all_lost(&before.registry).await?;
    Ok(())
}

async fn list_attributes(
    realm: Arc<Realm>,
    page: Page,
) -> Result<Json<List<AttributeDocument>>, Problem> {
    let snapshot = realm.snapshot();
    Ok(Json(page_of(
        snapshot.registry.people.attributes.values().cloned(),
        &page,
        |attribute| &attribute.name,
        AttributeDocument::new,
        |document| document.name.clone(),
    )))
}

async fn show_attribute(
    realm: Arc<Realm>,
    AttributeName(name): AttributeName,
) -> Result<Revised<AttributeDocument>, Problem> {
    realm.learn(RecordKind::Attribute, &name).await?;
    let snapshot = realm.snapshot();
    let attribute = snapshot.registry.people.attributes.get(&name);
    let attribute = attribute.ok_or_else(Problem::not_found)?;
    Ok(Revised {
        value: AttributeDocument::new(attribute),
        revision: attribute.revision,
    })
}

async fn write_attribute(
    realm: Arc<Realm>,
    (AttributeName(name), revision, Json(wanted)): (
        AttributeName,
        Option<Revision>,
        Json<AttributeChange>,
    ),
) -> Result<Written<Revised<AttributeDocument>>, Problem> {
    same_name(wanted.name.as_deref(), &name)?;
    let read = revision.map(|Revision(read)| read);
    let attribute = realm.write_attribute(wanted.attribute(name)?, read).await?;
    let shown = Revised {
        value: AttributeDocument::new(&attribute),
        revision: attribute.revision,
    };
    Ok(written(read, shown))
}

async fn remove_attribute(
    realm: Arc<Realm>,
    AttributeName(name): AttributeName,
) -> Result<(), Problem> {
    Ok(realm.remove_record::<Attribute>(&name, None).await?)
}
