//! Users.
use crate::operations::model::{
    EmailChange, List, ListChange, NewUserDocument, PasswordChange, UserChange, UserDocument,
};
use crate::operations::models::people::AttributesChange;
use http::StatusCode;
use schemars::JsonSchema;
use signet_crypto::Secret;
use signet_directory::{
    NewUser, PasswordOf, StoredAttribute, StoredUser, User, UserDraft, UserError,
    passwords::PoolError,
};
use signet_login::invitation::{self, InvitationError};
use signet_oauth::administration::MAX_ROLES_OF_ADMINISTRATOR;
use signet_oauth::people::{MAX_ATTRIBUTES, Who};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Members, Page, Query, Revision, UserId};
use signet_operation::last_administrator::{Insists, keeping_one};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run, run_by, run_within};
use signet_operation::output::{Created, Json, Revised};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Reset, Write};
use signet_operation::roles::{OWNER, Rights};
use signet_operation::target;
use signet_realm::state::{Realm, Snapshot};
use signet_registry::kinds::RecordKind;
use signet_request::security_mail;
use std::sync::Arc;

const LIST: &str = "/admin/v1/users";
const ONE: &str = "/admin/v1/users/{user_id}";
const EMAIL: &str = "/admin/v1/users/{user_id}/email";
const PASSWORD: &str = "/admin/v1/users/{user_id}/password";
const ATTRIBUTES: &str = "/admin/v1/users/{user_id}/attributes";
const GROUPS: &str = "/admin/v1/users/{user_id}/groups";
const ROLES: &str = "/admin/v1/users/{user_id}/roles";
const ENABLE: &str = "/admin/v1/users/{user_id}/enable";
const DISABLE: &str = "/admin/v1/users/{user_id}/disable";
const REVOKE: &str = "/admin/v1/users/{user_id}/revoke";
const DELETION: &str = "/admin/v1/users/{user_id}/deletion";
const INVITATION: &str = "/admin/v1/users/{user_id}/invitation";

/// Users.
pub const USERS: Noun = Noun {
    name: "user",
    list: LIST,
    id: "id",
    columns: &["username", "id", "email", "admin", "enabled"],
    sorted_by: Some("username"),
    written: &[NewUserDocument::json_schema, UserChange::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listUsers", Area::People, Read, Method::Get, LIST, "List users", run!(list)),
    &Operation::new("createUser", Area::People, Write, Method::Post, LIST, "Make an account", run_within!(create)),
    &Operation::new("showUser", Area::People, Read, Method::Get, ONE, "Show a user", run!(show)),
    &Operation::new("replaceUser", Area::People, Write, Method::Put, ONE, "Replace a user's rights and profile", run_within!(replace)),
    &Operation::new("removeUser", Area::People, Write, Method::Delete, ONE, "Remove a user and end everything of theirs", run!(remove_one)),
    &Operation::new("setEmail", Area::People, Write, Method::Put, EMAIL, "Set or remove the e-mail address", run!(set_email)),
    &Operation::new("setPassword", Area::Credentials, Reset, Method::Put, PASSWORD, "Set or remove the password and end everything of theirs", run!(set_password)).ends(),
    &Operation::new("setUserAttributes", Area::People, Write, Method::Put, ATTRIBUTES, "Set and remove attributes of a user", run!(set_attributes)),
    &Operation::new("changeUserGroups", Area::People, Write, Method::Post, GROUPS, "Put a user into groups and take them out of others", run!(change_groups)),
    &Operation::new("changeUserRoles", Area::People, Write, Method::Post, ROLES, "Give a user roles and take others away", run!(change_roles)),
    &Operation::new("enableUser", Area::People, Write, Method::Post, ENABLE, "Let a user in again", run!(enable)),
    &Operation::new("disableUser", Area::People, Write, Method::Post, DISABLE, "Keep a user out and end everything of theirs", run!(disable)).ends(),
    &Operation::new("deleteUserLater", Area::People, Write, Method::Post, DELETION, "Erase a user after the time of grace, and end everything of theirs now", run!(ask_deletion)).ends(),
    &Operation::new("keepUser", Area::People, Write, Method::Delete, DELETION, "Keep a user who was to be erased", run!(undo_deletion)).keeps(),
    &Operation::new("inviteUser", Area::Credentials, Reset, Method::Post, INVITATION, "Mail a user a link by which they set their first password", run_by!(invite)),
    &Operation::new("withdrawInvitation", Area::Credentials, Reset, Method::Delete, INVITATION, "Take an invitation back: its link works no more", run!(withdraw_invitation)),
    &Operation::new("revokeUser", Area::Sessions, Reset, Method::Post, REVOKE, "End every session, grant and token of a user", run!(revoke)).ends(),
];

/// Which users.
struct UserFilter {
    login: Option<String>,
    search: Option<String>,
}

impl Members for UserFilter {
    const MEMBERS: &'static [(&'static str, &'static str)] = &[
        ("login", "the one user of this name or address, whole"),
        (
            "search",
            "only users whose name, address, full, given or family name has this in it, whatever its case",
        ),
    ];

    fn parse<'a>(member: impl Fn(&str) -> Option<&'a str>) -> Result<UserFilter, Problem> {
        Ok(UserFilter {
            login: member("login").map(str::to_owned),
            search: member("search").map(str::to_lowercase),
        })
    }
}

async fn list(
    realm: Arc<Realm>,
    (page, Query(filter)): (Page, Query<UserFilter>),
) -> Result<Json<List<UserDocument>>, Problem> {
    let (users, now) = (&realm.people.users, realm.now());
    if let Some(login) = &filter.login {
        let found = users.by_login(login, now).await?;
        let snapshot = realm.snapshot();
        let items = found.into_iter().map(|user| document(user, &snapshot));
        let items = items.collect();
        return Ok(Json(List { items, next: None }));
    }
    let snapshot = realm.snapshot();
    let mut items: Vec<UserDocument> = Vec::new();
    let mut after = page.after.clone();
    if let Some(words) = &filter.search {
        let found = users.search(words, page.after.as_deref(), page.limit + 1, now);
        if let Some(found) = found.await? {
            let items = found.into_iter().map(|user| document(user, &snapshot));
            let items = items.collect();
            return Ok(Json(List::cut(items, page.limit, |user: &UserDocument| {
                user.id.clone()
            })));
        }
    }
    // Without an index a search reads on until its page is full. Where few match, it ends before,
    // and the next page goes on from there.
    let mut looked = 0;
    loop {
        let at_once = READ_AT_ONCE.max(page.limit + 1);
        let read = users.list(after.as_deref(), at_once, now).await?;
        let last = read.len() < at_once;
        after = read.last().map(|user| user.id.clone());
        let found = read.into_iter().filter(|user| match &filter.search {
            None => true,
            Some(words) => user.has_words(words),
        });
        items.extend(found.map(|user| document(user, &snapshot)));
        looked += at_once;
        if last || items.len() > page.limit {
            break;
        }
        if looked >= MAX_SEARCHED {
            let next = after;
            return Ok(Json(List { items, next }));
        }
    }
    Ok(Json(List::cut(items, page.limit, |user| user.id.clone())))
}

/// An account as the API shows it.
pub(crate) fn document(user: User, snapshot: &Snapshot) -> UserDocument {
    UserDocument::new(user, &snapshot.registry.people)
}

/// Most accounts that one page of a search looks at
const MAX_SEARCHED: usize = 20000;
/// Users that are read at once.
pub(crate) const READ_AT_ONCE: usize = 100;

/// Hashes a new password, if the policy allows it.
pub async fn hash(realm: &Realm, password: String, of: PasswordOf<'_>) -> Result<String, Problem> {
    realm
        .check_new_password(&password, of)
        .map_err(|refused| Problem::invalid(refused.to_string()))?;
    let hashed = realm.people.users.hash(Secret::new(password));
    hashed.await.map_err(|error| match error {
        PoolError::Busy => Problem::unavailable(),
        other => Problem::invalid(other.to_string()),
    })
}

pub(crate) async fn create(
    realm: Arc<Realm>,
    rights: Rights,
    Json(wanted): Json<NewUserDocument>,
) -> Result<Created<Revised<UserDocument>>, Problem> {
    let roles = wanted_roles(&[], wanted.admin, wanted.admin_roles)?;
    target::expect_may_give(&rights, &realm, &roles).await?;
    let may_administer = !roles.is_empty();
    let email = wanted.email.as_deref();
    let of = PasswordOf::new(&wanted.username, email, &wanted.profile, may_administer);
    let password = match wanted.password {
        Some(password) => Some(hash(&realm, password, of).await?),
        None => None,
    };
    let new = NewUser {
        username: wanted.username,
        email: wanted.email,
        email_verified: wanted.email_verified,
        password,
        must_change_password: wanted.temporary,
        expires_at: wanted.expires_at,
        admin: may_administer,
        admin_roles: roles,
        profile: wanted.profile,
        by_administrator: true,
        ..NewUser::default()
    };
    let user = realm.people.users.create(new, realm.now()).await?;
    if let Some(at) = user.expires_at {
        realm.watch_account(&user.id, at).await?;
    }
    shown(&realm, &user.id).await.map(Created)
}

async fn read(realm: &Realm, id: &str) -> Result<StoredUser, Problem> {
    let found = realm.people.users.found(id, realm.now()).await?;
    let found = found.ok_or_else(Problem::not_found)?;
    // What the operation then changes is recorded with the name, too.
    signet_audit::name_target(id, &found.user.username);
    Ok(found)
}

async fn shown(realm: &Realm, id: &str) -> Result<Revised<UserDocument>, Problem> {
    let found = read(realm, id).await?;
    Ok(Revised {
        value: document(found.user, &realm.snapshot()),
        revision: found.version,
    })
}

async fn show(realm: Arc<Realm>, id: UserId) -> Result<Revised<UserDocument>, Problem> {
    shown(&realm, &id.0).await
}

pub(crate) async fn replace(
    realm: Arc<Realm>,
    rights: Rights,
    ((id, Query(insists)), Revision(revision), Json(wanted)): (
        (UserId, Query<Insists>),
        Revision,
        Json<UserChange>,
    ),
) -> Result<Revised<UserDocument>, Problem> {
    let found = read(&realm, &id.0).await?;
    if revision != found.version {
        return Err(Problem::changed());
    }
    let before = found.user.roles_of_administrator();
    let roles = wanted_roles(&before, wanted.admin, wanted.admin_roles)?;
    // Who may not write the account at all has been refused by what the path names.
    target::expect_may_give(&rights, &realm, &roles).await?;
    // Whoever is to be disabled is ended also where they were disabled before: an earlier call may
    // have got only so far. Tokens say what their holder might do when they were made: they end
    // with the right.
    let expires_at = match wanted.expires_at {
        None => found.user.expires_at,
        Some(0) => None,
        Some(at) => Some(at),
    };
    let expired = expires_at.is_some_and(|at| at <= realm.now());
    let ends = !wanted.enabled || expired || before.iter().any(|role| !roles.contains(role));
    if wanted.must_change_password == Some(true) && !realm.people.users.may(&found.user).password {
        return Err(UserError::KeptElsewhere("the password").into());
    }
    // What a profile says of a person is not repeated: the trail outlives the account.
    let was = &found.user;
    let mut changes = Vec::new();
    if before != roles {
        changes.push(format!("admin_roles: {before:?} → {roles:?}"));
    }
    if was.enabled != wanted.enabled {
        changes.push(format!("enabled: {} → {}", was.enabled, wanted.enabled));
    }
    if was.expires_at != expires_at {
        changes.push(format!("expires_at: {:?} → {expires_at:?}", was.expires_at));
    }
    if was.profile != wanted.profile {
        changes.push("profile".to_owned());
    }
    let change = |draft: &mut UserDraft| {
        let user = &mut draft.user;
        user.admin = !roles.is_empty();
        user.admin_roles.clone_from(&roles);
        user.enabled = wanted.enabled;
        user.profile = wanted.profile;
        user.expires_at = expires_at;
        if let Some(must) = wanted.must_change_password {
            user.must_change_password = must;
        }
    };
    signet_audit::name_changes(&changes);
    let user = found.user.clone();
    let replace = async {
        if ends {
            return Ok(realm.replace_user_and_end_everything(found, change).await?);
        }
        if let Some(at) = expires_at.filter(|_| expires_at != user.expires_at) {
            realm.watch_account(&id.0, at).await?;
        }
        let users = &realm.people.users;
        Ok(users.change_found(found, realm.now(), change).await?)
    };
    let replaced = match ends {
        true => keeping_one(&realm, &user, &insists, replace).await?,
        false => replace.await?,
    };
    match replaced {
        Some(_) => shown(&realm, &id.0).await,
        None => Err(Problem::changed()),
    }
}

/// The roles that an account is to have. `admin` alone is an owner, as before there were roles;
/// where both are sent as they were read but for one of them, that one is what changes.
pub(crate) fn wanted_roles(
    before: &[String],
    admin: bool,
    given: Option<Vec<String>>,
) -> Result<Vec<String>, Problem> {
    let given = given.map(|mut given| {
        given.sort_unstable();
        given.dedup();
        given
    });
    let mut known = before.to_vec();
    known.sort_unstable();
    match given {
        Some(given) if given.len() > MAX_ROLES_OF_ADMINISTRATOR => Err(Problem::invalid(format!(
            "admin_roles: an account has at most {MAX_ROLES_OF_ADMINISTRATOR}"
        ))),
        Some(given) if given != known => {
            match admin == given.is_empty() && admin == known.is_empty() {
                // Both were changed, and say the opposite.
                true => Err(Problem::invalid(
                    "admin and admin_roles contradict each other: who administers has a role",
                )),
                false => Ok(given),
            }
        }
        Some(_) | None => Ok(match (admin, known.is_empty()) {
            (false, _) => Vec::new(),
            (true, true) => vec![OWNER.to_owned()],
            (true, false) => known,
        }),
    }
}

/// Attributes that administrators may write, by the schema.
pub(crate) async fn set_attributes(
    realm: Arc<Realm>,
    (id, Json(wanted)): (UserId, Json<AttributesChange>),
) -> Result<Revised<UserDocument>, Problem> {
    for name in wanted.attributes.keys() {
        realm.learn(RecordKind::Attribute, name).await?;
    }
    let snapshot = realm.snapshot();
    let schema = &snapshot.registry.people.attributes;
    for (name, value) in &wanted.attributes {
        let said = |why: &str| Problem::invalid(format!("{name}: {why}"));
        let attribute = schema.get(name);
        let attribute = attribute.ok_or_else(|| said("the schema has no such attribute"))?;
        match (attribute.write, value) {
            (Who::Nobody, _) => {
                return Err(said("is written by the person's directory alone"));
            }
            (Who::Person | Who::Administrator, None) => {}
            (Who::Person | Who::Administrator, Some(value)) => {
                let fits = attribute.accepts(&value.to_attribute());
                fits.map_err(said)?;
            }
        }
    }
    let (users, now) = (&realm.people.users, realm.now());
    let change = |draft: &mut UserDraft| {
        let attributes = &mut draft.user.attributes;
        for (name, value) in &wanted.attributes {
            match value {
                None => drop(attributes.remove(name)),
                Some(value) => {
                    let stored = StoredAttribute {
                        value: value.clone(),
                        verified: wanted.verified,
                    };
                    attributes.insert(name.clone(), stored);
                }
            }
        }
        if attributes.len() > MAX_ATTRIBUTES {
            // What the schema has no more makes place.
            attributes.retain(|name, _| schema.contains_key(name));
        }
    };
    users.change(&id.0, now, change).await?;
    shown(&realm, &id.0).await
}

pub(crate) async fn change_groups(
    realm: Arc<Realm>,
    (id, Json(by)): (UserId, Json<ListChange>),
) -> Result<Revised<UserDocument>, Problem> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for (names, ids) in [(&by.add, &mut add), (&by.remove, &mut remove)] {
        for name in names {
            let found = realm.group_id(name).await?;
            ids.push(found.ok_or_else(|| Problem::invalid(format!("there is no group {name}")))?);
        }
    }
    let snapshot = realm.snapshot();
    let people = &snapshot.registry.people;
    let change = |draft: &mut UserDraft| draft.user.change_groups(&add, &remove, people);
    realm.change_holdings(&id.0, change).await?;
    shown(&realm, &id.0).await
}

pub(crate) async fn change_roles(
    realm: Arc<Realm>,
    (id, Json(by)): (UserId, Json<ListChange>),
) -> Result<Revised<UserDocument>, Problem> {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for (names, ids) in [(&by.add, &mut add), (&by.remove, &mut remove)] {
        for name in names {
            let found = realm.role_id(name).await?;
            ids.push(found.ok_or_else(|| Problem::invalid(format!("there is no role {name}")))?);
        }
    }
    let snapshot = realm.snapshot();
    let people = &snapshot.registry.people;
    let change = |draft: &mut UserDraft| draft.user.change_roles(&add, &remove, people);
    realm.change_holdings(&id.0, change).await?;
    shown(&realm, &id.0).await
}

pub(crate) async fn remove_one(
    realm: Arc<Realm>,
    (id, Query(insists)): (UserId, Query<Insists>),
) -> Result<(), Problem> {
    let user = read(&realm, &id.0).await?.user;
    keeping_one(&realm, &user, &insists, remove(&realm, &id.0)).await
}

/// Removes an account, and ends everything of it.
pub async fn remove(realm: &Realm, id: &str) -> Result<(), Problem> {
    Ok(realm.remove_user(id).await?)
}

async fn ask_deletion(
    realm: Arc<Realm>,
    (id, Query(insists)): (UserId, Query<Insists>),
) -> Result<Revised<UserDocument>, Problem> {
    let user = read(&realm, &id.0).await?.user;
    let ask = async { Ok(realm.ask_deletion(&id.0).await?) };
    keeping_one(&realm, &user, &insists, ask).await?;
    shown(&realm, &id.0).await
}

async fn undo_deletion(realm: Arc<Realm>, id: UserId) -> Result<Revised<UserDocument>, Problem> {
    match realm.undo_deletion(&id.0, |_| true).await? {
        true => shown(&realm, &id.0).await,
        false => Err(Problem::conflict(
            "no_deletion",
            "the account is not to be erased",
        )),
    }
}

/// Changes the record, and ends everything of the user in the same change.
async fn end_with(realm: &Realm, id: &str, change: impl Fn(&mut UserDraft)) -> Result<(), Problem> {
    let changed = realm.change_user_and_end_everything(id, |_| true, change);
    changed.await?.map(drop).ok_or_else(Problem::changed)
}

pub(crate) async fn set_email(
    realm: Arc<Realm>,
    (id, Json(wanted)): (UserId, Json<EmailChange>),
) -> Result<Revised<UserDocument>, Problem> {
    let email = wanted.email.as_deref();
    security_mail::set_email(&realm, &id.0, email, wanted.verified).await?;
    shown(&realm, &id.0).await
}

async fn set_password(
    realm: Arc<Realm>,
    (id, Json(wanted)): (UserId, Json<PasswordChange>),
) -> Result<(), Problem> {
    let user = read(&realm, &id.0).await?.user;
    let phc = match wanted.password {
        Some(password) => Some(hash(&realm, password, PasswordOf::user(&user)).await?),
        None => None,
    };
    let now = realm.now();
    // Whoever knew the old one is out.
    end_with(&realm, &user.id, |draft| match phc.as_deref() {
        Some(phc) if wanted.temporary => draft.set_temporary_password(phc, now),
        phc => draft.set_password(phc, now),
    })
    .await
}

async fn invite(
    realm: Arc<Realm>,
    by: String,
    id: UserId,
) -> Result<Revised<UserDocument>, Problem> {
    let invited = invitation::invite(&realm, &id.0, &by).await;
    invited.map_err(not_invited)?;
    shown(&realm, &id.0).await
}

async fn withdraw_invitation(realm: Arc<Realm>, id: UserId) -> Result<(), Problem> {
    Ok(invitation::withdraw(&realm, &id.0).await?)
}

fn not_invited(error: InvitationError) -> Problem {
    match error {
        InvitationError::NoMail => {
            Problem::conflict("no_mail", "the server is not configured to send mail")
        }
        InvitationError::NoAddress => {
            Problem::conflict("no_address", "the user has no e-mail address")
        }
        InvitationError::Disabled => {
            Problem::conflict("disabled", "the user is disabled, or has expired")
        }
        InvitationError::Accepted => Problem::conflict(
            "has_password",
            "the user has a password: who forgot it asks for a link at /account/recover",
        ),
        InvitationError::NotSent => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "not_sent",
            "the mail could not be handed over: send the invitation again".to_owned(),
        ),
        InvitationError::User(error) => error.into(),
    }
}

async fn enable(realm: Arc<Realm>, id: UserId) -> Result<Revised<UserDocument>, Problem> {
    let users = &realm.people.users;
    users.set_enabled(&id.0, true, realm.now()).await?;
    shown(&realm, &id.0).await
}

async fn disable(
    realm: Arc<Realm>,
    (id, Query(insists)): (UserId, Query<Insists>),
) -> Result<Revised<UserDocument>, Problem> {
    let user = read(&realm, &id.0).await?.user;
    let end = end_with(&realm, &id.0, |draft| draft.user.enabled = false);
    keeping_one(&realm, &user, &insists, end).await?;
    shown(&realm, &id.0).await
}

async fn revoke(realm: Arc<Realm>, id: UserId) -> Result<(), Problem> {
    let user = read(&realm, &id.0).await?.user;
    realm.revoke_everything_of(&user.id).await?;
    Ok(())
}
