//! Accounts as `User` (RFC 7643 section 4.1).
use super::{
    Request, Resource,
    answer::{Answer, Refusal},
    query::Filling,
};
use signet_admin::provisioned::{self as accounts, Insists, keeping_one};
use signet_realm::state::Realm;
use signet_request::security_mail::{self, SecurityEvent};

use serde_json::{Map, Value, json};
use signet_directory::{
    NewUser, PasswordOf, Profile, StoredUser, User, UserDraft, UserError, folded_email,
};
use signet_oauth::people::People;
use signet_oauth::people::access_rules::moment_text;
use signet_scim::{Kind, filter::Filter, member, patch};

/// The longest `externalId`, in bytes.
pub(super) const MAX_EXTERNAL_ID_BYTES: usize = 256;
/// Accounts that are read at once.
pub(super) const READ_AT_ONCE: usize = 100;

pub(super) async fn perform(request: &Request<'_>) -> Result<Answer, Refusal> {
    match (request.method.as_str(), request.id) {
        ("POST", None) => create(request).await,
        ("GET", None) => list(request).await,
        ("GET", Some(id)) => Ok(shown(request, 200, found(request, id).await?)),
        ("PUT", Some(id)) => {
            let found = changeable(request, id).await?;
            let wanted = Wanted::read(request.object()?)?;
            replace(request, found, wanted).await
        }
        ("PATCH", Some(id)) => {
            let operations = patch::parse(request.body.as_ref().unwrap_or(&Value::Null))?;
            let found = changeable(request, id).await?;
            let mut patched = document(request, &found);
            patch::apply(&mut patched, &operations)?;
            let wanted = Wanted::read(&patched)?;
            replace(request, found, wanted).await
        }
        ("DELETE", Some(id)) => {
            let found = changeable(request, id).await?;
            let remove = accounts::remove(request.realm, &found.user.id);
            keeping_one(request.realm, &found.user, &Insists(false), remove).await?;
            Ok(Answer::nothing())
        }
        _ => Err(Refusal::plain(405, "the method is not allowed here")),
    }
}

async fn found(request: &Request<'_>, id: &str) -> Result<StoredUser, Refusal> {
    let users = &request.realm.people.users;
    let found = users.found(id, request.realm.now()).await?;
    found.ok_or_else(Refusal::not_found)
}

fn version_of(found: &StoredUser) -> String {
    format!("W/\"{}\"", found.version)
}

/// Whether `If-Match` names a version (RFC 7644 section 3.14). A client may leave out that it is a
/// weak one.
pub(super) fn matches(said: Option<&str>, version: &str) -> bool {
    said.is_none_or(|said| {
        said.split(',').map(str::trim).any(|one| {
            one == "*" || one.trim_start_matches("W/") == version.trim_start_matches("W/")
        })
    })
}

/// The account, as the client has it where it says which version that is, if the caller may change
/// it.
async fn changeable(request: &Request<'_>, id: &str) -> Result<StoredUser, Refusal> {
    let found = found(request, id).await?;
    request.expect_may_change(&found.user)?;
    match matches(request.version, &version_of(&found)) {
        true => Ok(found),
        false => Err(Refusal::changed()),
    }
}

fn shown(request: &Request<'_>, status: u16, found: StoredUser) -> Answer {
    let mut resource = document(request, &found);
    let mut answer = Answer::resource(status, resource.clone());
    super::answer::plain(&mut resource);
    request.query.projection.apply(&mut resource);
    answer.body = Some(Value::Object(resource));
    answer
}

/// Groups that the account was put into, and those around them.
fn groups_of(request: &Request<'_>, user: &User, people: &People) -> Vec<Value> {
    let held = user.claims().held;
    let direct: Vec<&str> = held
        .groups
        .iter()
        .filter_map(|id| people.group_of_id(id))
        .map(|group| group.name.as_str())
        .collect();
    let all = people.groups_of(&held);
    let groups = all.iter().filter_map(|name| people.groups.get(*name));
    groups
        .map(|group| {
            let kind = if direct.contains(&group.name.as_str()) {
                "direct"
            } else {
                "indirect"
            };
            json!({
                "value": group.id,
                "$ref": format!("{}/Groups/{}", request.base, group.id),
                "display": group.name,
                "type": kind,
            })
        })
        .collect()
}

fn document(request: &Request<'_>, found: &StoredUser) -> Map<String, Value> {
    let user = &found.user;
    let profile = &user.profile;
    let mut resource = Map::new();
    resource.insert("schemas".into(), json!([Resource::User.schema()]));
    resource.insert("id".into(), user.id.as_str().into());
    resource.insert("userName".into(), user.username.as_str().into());
    resource.insert("active".into(), user.enabled.into());
    let mut name = Map::new();
    for (member, text) in [
        ("familyName", &profile.family_name),
        ("givenName", &profile.given_name),
        ("middleName", &profile.middle_name),
    ] {
        if let Some(text) = text {
            name.insert(member.into(), text.as_str().into());
        }
    }
    if !name.is_empty() {
        resource.insert("name".into(), Value::Object(name));
    }
    for (member, text) in [
        ("externalId", &user.external_id),
        ("displayName", &profile.name),
        ("nickName", &profile.nickname),
        ("profileUrl", &profile.profile),
        ("locale", &profile.locale),
        ("timezone", &profile.zoneinfo),
    ] {
        if let Some(text) = text {
            resource.insert(member.into(), text.as_str().into());
        }
    }
    for (member, value) in [
        ("emails", &user.email),
        ("phoneNumbers", &profile.phone_number),
    ] {
        if let Some(value) = value {
            let one = json!([{"value": value, "type": "work", "primary": true}]);
            resource.insert(member.into(), one);
        }
    }
    if request.query.projection.wants("groups") || request.query.filter.is_some() {
        let snapshot = request.realm.snapshot();
        let groups = groups_of(request, user, &snapshot.registry.people);
        if !groups.is_empty() {
            resource.insert("groups".into(), Value::Array(groups));
        }
    }
    resource.insert(
        "meta".into(),
        json!({
            "resourceType": "User",
            "created": moment_text(user.created_at),
            "lastModified": moment_text(user.updated_at),
            "location": format!("{}/Users/{}", request.base, user.id),
            "version": version_of(found),
        }),
    );
    resource
}

/// What a body says of an account.
struct Wanted {
    user_name: Option<String>,
    external_id: Option<String>,
    active: Option<bool>,
    password: Option<String>,
    email: Option<String>,
    profile: Profile,
}

/// A text that may be left out; the empty one is none.
fn text(object: &Map<String, Value>, name: &str) -> Result<Option<String>, Refusal> {
    match member(object, name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
        Some(_) => Err(Refusal::value(format!("{name} is a text"))),
    }
}

/// The primary value of a multi-valued attribute, or the first. An account has one.
fn one_of(object: &Map<String, Value>, name: &str) -> Result<Option<String>, Refusal> {
    let list = match member(object, name) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Refusal::value(format!("{name} is a list"))),
    };
    let is_primary = |value: &&Value| value.get("primary") == Some(&Value::Bool(true));
    match list.iter().find(is_primary).or_else(|| list.first()) {
        None => Ok(None),
        Some(Value::Object(one)) => text(one, "value"),
        Some(_) => Err(Refusal::value(format!("a value of {name} is an object"))),
    }
}

impl Wanted {
    fn read(object: &Map<String, Value>) -> Result<Wanted, Refusal> {
        let nothing = Map::new();
        let name = match member(object, "name") {
            None | Some(Value::Null) => &nothing,
            Some(Value::Object(name)) => name,
            Some(_) => return Err(Refusal::value("name is an object")),
        };
        let active = match member(object, "active") {
            None | Some(Value::Null) => None,
            Some(Value::Bool(active)) => Some(*active),
            // Several directories write it as a text.
            Some(Value::String(text)) if text.eq_ignore_ascii_case("true") => Some(true),
            Some(Value::String(text)) if text.eq_ignore_ascii_case("false") => Some(false),
            Some(_) => return Err(Refusal::value("active is true or false")),
        };
        let external_id = text(object, "externalId")?;
        if external_id
            .as_ref()
            .is_some_and(|id| id.len() > MAX_EXTERNAL_ID_BYTES)
        {
            return Err(Refusal::value("externalId is too long"));
        }
        let display = text(object, "displayName")?;
        Ok(Wanted {
            user_name: text(object, "userName")?,
            external_id,
            active,
            password: text(object, "password")?,
            email: one_of(object, "emails")?,
            profile: Profile {
                name: display.or(text(name, "formatted")?),
                given_name: text(name, "givenName")?,
                family_name: text(name, "familyName")?,
                middle_name: text(name, "middleName")?,
                nickname: text(object, "nickName")?,
                profile: text(object, "profileUrl")?,
                locale: text(object, "locale")?,
                zoneinfo: text(object, "timezone")?,
                phone_number: one_of(object, "phoneNumbers")?,
                ..Profile::default()
            },
        })
    }

    /// The profile with what SCIM does not say as it was.
    fn over(&self, known: &Profile) -> Profile {
        let same_number = known.phone_number == self.profile.phone_number;
        Profile {
            picture: known.picture.clone(),
            website: known.website.clone(),
            gender: known.gender.clone(),
            birthdate: known.birthdate.clone(),
            address: known.address.clone(),
            phone_number_verified: known.phone_number_verified && same_number,
            ..self.profile.clone()
        }
    }
}

/// The hash of a new password, if the policy allows it.
async fn hashed(
    realm: &Realm,
    password: Option<String>,
    of: PasswordOf<'_>,
) -> Result<Option<String>, Refusal> {
    match password {
        None => Ok(None),
        Some(password) => {
            let hashed = accounts::hash(realm, password, of).await;
            Ok(Some(hashed?))
        }
    }
}

async fn create(request: &Request<'_>) -> Result<Answer, Refusal> {
    let realm = request.realm;
    let wanted = Wanted::read(request.object()?)?;
    let Some(username) = wanted.user_name.clone() else {
        return Err(Refusal::value("userName is missing"));
    };
    let of = PasswordOf::new(&username, wanted.email.as_deref(), &wanted.profile, false);
    let password = hashed(realm, wanted.password.clone(), of).await?;
    let new = NewUser {
        username,
        email: wanted.email.clone(),
        // Whoever provisions says the address; that mail reaches the person, nobody has shown.
        email_verified: false,
        password,
        profile: wanted.profile.clone(),
        external_id: wanted.external_id.clone(),
        disabled: wanted.active == Some(false),
        by_administrator: request.administers,
        ..NewUser::default()
    };
    let user = realm.people.users.create(new, realm.now()).await?;
    let found = found(request, &user.id).await?;
    Ok(shown(request, 201, found))
}

/// Puts what is wanted in the place of what was read.
async fn replace(
    request: &Request<'_>,
    known: StoredUser,
    wanted: Wanted,
) -> Result<Answer, Refusal> {
    let (realm, now) = (request.realm, request.realm.now());
    let user = known.user.clone();
    if let Some(name) = &wanted.user_name
        && *name != user.username
    {
        return Err(Refusal::of(
            Kind::Mutability,
            "userName cannot be changed: people log in with it",
        ));
    }
    let password = hashed(realm, wanted.password.clone(), PasswordOf::user(&user)).await?;
    let enabled = wanted.active.unwrap_or(user.enabled);
    let folded = |email: &Option<String>| email.as_deref().map(folded_email).transpose();
    let moves = match user.email == wanted.email {
        true => false,
        false => folded(&wanted.email)? != folded(&user.email).ok().flatten(),
    };
    // Whoever is kept out, or has another password, is out of everything.
    let ends = !enabled || password.is_some();
    let changes = ends
        || moves
        || enabled != user.enabled
        || wanted.external_id != user.external_id
        || wanted.over(&user.profile) != user.profile;
    if changes {
        let users = &realm.people.users;
        // RFC 7644 section 3.5.2: all or nothing. The address is kept first, so that one that
        // somebody has leaves the account as it is, and given in the one change.
        let email = match moves {
            true => Some(
                users
                    .reserve_email(&known, wanted.email.as_deref(), now)
                    .await?,
            ),
            false => None,
        };
        let change = |draft: &mut UserDraft| {
            draft.user.profile = wanted.over(&draft.user.profile);
            draft.user.external_id.clone_from(&wanted.external_id);
            draft.user.enabled = enabled;
            if let Some(email) = &email {
                draft.set_email(email, false);
            }
            if let Some(phc) = &password {
                draft.set_password(Some(phc), now);
            }
        };
        let replaced = match ends {
            true => {
                let replace =
                    async { Ok(realm.replace_user_and_end_everything(known, change).await?) };
                // Another password takes no right.
                let insists = Insists(enabled);
                keeping_one(realm, &user, &insists, replace).await?
            }
            false => users.change_found(known, now, change).await?,
        };
        let replaced = replaced.ok_or_else(Refusal::changed)?;
        users.release_email(&user, &replaced, now).await?;
        if moves {
            // To the address before: what the new one receives is no longer theirs to see.
            security_mail::send_to(realm, &user, SecurityEvent::AddressChanged).await;
        }
    }
    let found = found(request, &user.id).await?;
    Ok(shown(request, 200, found))
}

/// The one account that a filter can find, where it says its name, address or id; `None`: any may
/// be.
async fn looked_up(
    request: &Request<'_>,
    filter: Option<&Filter>,
) -> Result<Option<Option<User>>, UserError> {
    let (users, now) = (&request.realm.people.users, request.realm.now());
    let Some(filter) = filter else {
        return Ok(None);
    };
    if let Some(id) = filter.equals("id") {
        return Ok(Some(users.by_id(id, now).await?));
    }
    if let Some(name) = filter.equals("userName") {
        return Ok(Some(users.by_login(name, now).await?));
    }
    // Addresses of directories outside are not looked up here.
    match filter.equals_part("emails", "value") {
        Some(email) if !users.has_directories() => Ok(Some(users.by_login(email, now).await?)),
        Some(_) | None => Ok(None),
    }
}

async fn list(request: &Request<'_>) -> Result<Answer, Refusal> {
    let mut page = Filling::new(request.query);
    fill(request, &mut page).await?;
    Ok(Answer::of(page.message()))
}

/// Takes every account that is asked for.
pub(super) async fn fill(request: &Request<'_>, page: &mut Filling<'_>) -> Result<(), Refusal> {
    let (users, now) = (&request.realm.people.users, request.realm.now());
    if let Some(found) = looked_up(request, request.query.filter.as_ref()).await? {
        // The version is of the row.
        if let Some(user) = found
            && let Some(found) = users.found(&user.id, now).await?
        {
            page.take(document(request, &found));
        }
        return Ok(());
    }
    let mut after: Option<String> = None;
    loop {
        if request.query.filter.is_none() && page.is_full() {
            // Of those behind the page only the number is asked for.
            page.count(users.count_after(after.as_deref(), now).await?);
            return Ok(());
        }
        let read = users
            .list_found(after.as_deref(), READ_AT_ONCE, now)
            .await?;
        let last = read.len() < READ_AT_ONCE;
        after = read.last().map(|found| found.user.id.clone());
        for found in read {
            page.take_with(|| document(request, &found));
        }
        if last {
            return Ok(());
        }
    }
}
