//! Accounts that come from another server, some at a time.
pub(crate) mod brought;
pub(crate) mod client;

use crate::operations::model::UserDocument;
use crate::operations::users::wanted_roles;
use brought::{ConsentImport, IdentityImport, PasskeyImport, TotpImport};
use futures_util::{StreamExt, TryStreamExt, stream};
use schemars::{JsonSchema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use signet_directory::{
    AcceptedTerms, Imported, ImportedUser, Profile, StoredAttribute, UserError, Value, check_hash,
    new_user_id,
};
use signet_oauth::people::sign_up::MAX_TERMS_VERSION_BYTES;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::operation::{Operation, run_within};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::Write;
use signet_operation::roles::Rights;
use signet_operation::target;
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

/// Most accounts of one call of an import.
pub const MAX_IMPORTED: usize = 100;
/// How many of them are made at the same time: they share flushes of the store.
const AT_ONCE: usize = 25;
const IMPORT: &str = "/admin/v1/user-import";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("importUsers", Area::People, Write, Method::Post, IMPORT, "Make accounts that come from another server", run_within!(import)),
];

/// Accounts to be made, at most 100.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Import {
    /// Each is judged by itself: what is wrong with one keeps no other out.
    #[schemars(with = "Vec<ImportedDocument>")]
    users: Vec<serde_json::Value>,
}

/// An account as `user show --json` has it, and its password hash.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "ImportedUser")]
struct ImportedDocument {
    /// Kept where it is given: the `sub` of their tokens.
    #[serde(default)]
    id: Option<String>,
    username: String,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: bool,
    /// A PHC string, or in modular crypt form: Argon2, bcrypt, PBKDF2, scrypt, salted SHA,
    /// crypt(3).
    #[serde(default)]
    password_hash: Option<String>,
    #[serde(default)]
    admin: bool,
    /// Roles of administrators; left out: `owner` for an administrator.
    #[serde(default)]
    admin_roles: Option<Vec<String>>,
    #[serde(default = "yes")]
    enabled: bool,
    /// The first login has to set another password.
    #[serde(default)]
    must_change_password: bool,
    /// Unix seconds from which the account is as a disabled one.
    #[serde(default)]
    expires_at: Option<u64>,
    #[serde(default)]
    created_at: Option<u64>,
    /// Somebody was invited to take it over, and has not.
    #[serde(default)]
    awaits_person: bool,
    /// The first login has to accept the terms.
    #[serde(default)]
    must_accept_terms: bool,
    /// The terms that the person has accepted.
    #[serde(default)]
    terms: Option<AcceptedTerms>,
    #[serde(default)]
    profile: Profile,
    /// Names of groups; they must be there.
    #[serde(default)]
    groups: Vec<String>,
    /// Whole names of roles; they must be there.
    #[serde(default)]
    roles: Vec<String>,
    /// By the schema.
    #[serde(default)]
    attributes: BTreeMap<String, Value>,
    /// Names of attributes whose value nobody vouches for.
    #[serde(default)]
    unverified_attributes: Vec<String>,
    /// Apps that make codes by the time. One that cannot be kept keeps the account out: it would be
    /// there without its second factor.
    #[serde(default)]
    #[schemars(with = "Vec<TotpImport>")]
    totp: Vec<serde_json::Value>,
    /// Passkeys of this realm's relying party. Others are left out.
    #[serde(default)]
    #[schemars(with = "Vec<PasskeyImport>")]
    passkeys: Vec<serde_json::Value>,
    /// Who the person is at identity providers; those that are not there are left out.
    #[serde(default)]
    #[schemars(with = "Vec<IdentityImport>")]
    identities: Vec<serde_json::Value>,
    /// What the person has agreed to; of clients that are not there it is left out.
    #[serde(default)]
    #[schemars(with = "Vec<ConsentImport>")]
    consents: Vec<serde_json::Value>,
    /// A person of a directory outside cannot be imported.
    #[serde(default)]
    directory: Option<String>,
    /// What `user show` says beside, and nothing is made of.
    #[serde(flatten)]
    shown: BTreeMap<String, serde_json::Value>,
}

fn yes() -> bool {
    true
}

/// The outcome of the accounts, in their order.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Results {
    results: Vec<ImportResult>,
}

/// The outcome of one account.
#[derive(Serialize, JsonSchema)]
struct ImportResult {
    outcome: Outcome,
    /// Of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Why it was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// What the account was made without, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    /// It was made.
    Made,
    /// One of this name was there, and stays as it is.
    Existing,
    /// Nothing was made.
    Refused,
}

async fn import(
    realm: Arc<Realm>,
    rights: Rights,
    Json(wanted): Json<Import>,
) -> Result<Json<Results>, Problem> {
    if wanted.users.len() > MAX_IMPORTED {
        return Err(Problem::invalid(format!(
            "at most {MAX_IMPORTED} accounts are imported at once"
        )));
    }
    // Of two that want one name the first gets it: they are made one after the other.
    let at_once = match have_names_of_their_own(&wanted.users) {
        true => AT_ONCE,
        false => 1,
    };
    let made = stream::iter(wanted.users).map(|user| outcome(&realm, &rights, user));
    let results = made.buffered(at_once).try_collect().await?;
    Ok(Json(Results { results }))
}

/// Whether no two of them have a user name or an address in common.
fn have_names_of_their_own(users: &[serde_json::Value]) -> bool {
    let mut names = HashSet::new();
    users.iter().all(|user| {
        let name = |member: &str| Some(user.get(member)?.as_str()?.trim().to_lowercase());
        let (username, email) = (name("username"), name("email"));
        let email = email.filter(|email| Some(email) != username.as_ref());
        let mut own = username.into_iter().chain(email);
        own.all(|name| names.insert(name))
    })
}

async fn outcome(
    realm: &Realm,
    rights: &Rights,
    user: serde_json::Value,
) -> Result<ImportResult, Problem> {
    let (outcome, id, error, left_out) = match one(realm, rights, user).await? {
        Ok((Imported::Made(user), left_out)) => {
            if let Some(at) = user.expires_at {
                realm.watch_account(&user.id, at).await?;
            }
            (Outcome::Made, Some(user.id), None, left_out)
        }
        Ok((Imported::There(user), _)) => (Outcome::Existing, Some(user.id), None, Vec::new()),
        Err(why) => (Outcome::Refused, None, Some(why), Vec::new()),
    };
    Ok(ImportResult {
        outcome,
        id,
        error,
        left_out,
    })
}

/// One account, or why it is refused. What is nobody's mistake fails the call: it can be made
/// again.
async fn one(
    realm: &Realm,
    rights: &Rights,
    given: serde_json::Value,
) -> Result<Result<(Imported, Vec<String>), String>, Problem> {
    let given: ImportedDocument = match serde_json::from_value(given) {
        Ok(given) => given,
        Err(error) => return Ok(Err(error.to_string())),
    };
    let mut left_out = Vec::new();
    let given = match checked(realm, given, &mut left_out).await? {
        Ok(given) => given,
        Err(why) => return Ok(Err(why)),
    };
    match target::expect_may_give(rights, realm, &given.admin_roles).await {
        Err(problem) if problem.status() == 503 => return Err(problem),
        Err(problem) => return Ok(Err(problem.detail().to_owned())),
        Ok(()) => {}
    }
    match realm.people.users.import(given, realm.now()).await {
        Ok(imported) => Ok(Ok((imported, left_out))),
        Err(error @ (UserError::Conflict | UserError::Directory(_) | UserError::Store(_))) => {
            Err(error.into())
        }
        Err(
            error @ (UserError::Username
            | UserError::MixedScripts
            | UserError::Email
            | UserError::Profile
            | UserError::UsernameTaken
            | UserError::EmailTaken
            | UserError::NotFound
            | UserError::TooManyCredentials
            | UserError::TooMuchHeld
            | UserError::Id
            | UserError::KeptElsewhere(_)),
        ) => Ok(Err(error.to_string())),
    }
}

async fn checked(
    realm: &Realm,
    given: ImportedDocument,
    left_out: &mut Vec<String>,
) -> Result<Result<ImportedUser, String>, Problem> {
    // What `user show` has beside, and nothing is made of; of anything else somebody expects that
    // it is taken.
    let shown = UserDocument::json_schema(&mut SchemaGenerator::default());
    let shown = shown
        .get("properties")
        .and_then(|members| members.as_object());
    let is_shown = |name: &String| shown.is_some_and(|members| members.contains_key(name));
    if let Some(unknown) = given.shown.keys().find(|name| !is_shown(name)) {
        return Ok(Err(format!("there is no member {unknown}")));
    }
    if let Some(directory) = &given.directory {
        return Ok(Err(format!(
            "directory: the account is kept by {directory}, and is made when its person logs in"
        )));
    }
    let version = given.terms.as_ref().map(|terms| terms.version.len());
    if version.is_some_and(|bytes| !(1..=MAX_TERMS_VERSION_BYTES).contains(&bytes)) {
        return Ok(Err(format!(
            "terms: the version has 1 to {MAX_TERMS_VERSION_BYTES} bytes"
        )));
    }
    if let Some(Err(error)) = given.password_hash.as_deref().map(check_hash) {
        return Ok(Err(format!("password_hash: {error}")));
    }
    let (mut groups, mut roles) = (Vec::new(), Vec::new());
    for name in &given.groups {
        match realm.group_id(name).await? {
            Some(id) => groups.push(id),
            None => return Ok(Err(format!("groups: there is no group {name}"))),
        }
    }
    for name in &given.roles {
        match realm.role_id(name).await? {
            Some(id) => roles.push(id),
            None => return Ok(Err(format!("roles: there is no role {name}"))),
        }
    }
    for name in given.attributes.keys() {
        realm.learn(RecordKind::Attribute, name).await?;
    }
    let snapshot = realm.snapshot();
    let schema = &snapshot.registry.people.attributes;
    let mut attributes = BTreeMap::new();
    for (name, value) in given.attributes {
        let Some(attribute) = schema.get(&name) else {
            return Ok(Err(format!("attributes: the schema has no {name}")));
        };
        if let Err(why) = attribute.accepts(&value.to_attribute()) {
            return Ok(Err(format!("attributes: {name}: {why}")));
        }
        let verified = !given.unverified_attributes.contains(&name);
        attributes.insert(name, StoredAttribute { value, verified });
    }
    let admin_roles = match wanted_roles(&[], given.admin, given.admin_roles) {
        Ok(admin_roles) => admin_roles,
        Err(problem) => return Ok(Err(problem.detail().to_owned())),
    };
    let new_id = given.id.clone().unwrap_or_else(new_user_id);
    let credentials = brought::credentials(
        realm,
        &new_id,
        (&given.totp, &given.passkeys),
        given.created_at,
        left_out,
    );
    let credentials = match credentials? {
        Ok(credentials) => credentials,
        Err(why) => return Ok(Err(why)),
    };
    let links = brought::links(realm, &given.identities, left_out).await?;
    let consents = brought::consents(realm, &given.consents, left_out).await?;
    Ok(Ok(ImportedUser {
        id: given.id,
        username: given.username,
        email: given.email,
        email_verified: given.email_verified,
        password_hash: given.password_hash,
        admin: !admin_roles.is_empty(),
        admin_roles,
        enabled: given.enabled,
        must_change_password: given.must_change_password,
        expires_at: given.expires_at,
        created_at: given.created_at,
        invited: given.awaits_person,
        must_accept_terms: given.must_accept_terms,
        terms: given.terms,
        profile: given.profile,
        groups,
        roles,
        attributes,
        credentials,
        links,
        consents,
        new_id: Some(new_id),
    }))
}
