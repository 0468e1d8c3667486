//! Groups as `Group` (RFC 7643 section 4.2). Members are accounts; groups in a group, and who is in
//! a group by a directory outside, are the admin API's.
use super::{
    Request, Resource,
    answer::{Answer, Refusal},
    query::Filling,
    users::{MAX_EXTERNAL_ID_BYTES, READ_AT_ONCE, matches},
};
use crate::groups::GroupDraft;
use serde_json::{Map, Value, json};
use signet_crypto::hash::sha256;
use signet_directory::UserDraft;
use signet_jose::base64url;
use signet_oauth::people::Group;
use signet_scim::{Kind, member, patch};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// Ids of accounts.
type Members = BTreeSet<String>;

pub(super) async fn perform(request: &Request<'_>) -> Result<Answer, Refusal> {
    match (request.method.as_str(), request.id) {
        ("POST", None) => create(request).await,
        ("GET", None) => list(request).await,
        ("GET", Some(id)) => {
            let group = found(request, id)?;
            show(request, 200, &group).await
        }
        ("PUT", Some(id)) => {
            let (group, members) = current(request, id).await?;
            let wanted = Wanted::read(request.object()?)?;
            replace(request, &group, &members, wanted).await
        }
        ("PATCH", Some(id)) => {
            let operations = patch::parse(request.body.as_ref().unwrap_or(&Value::Null))?;
            let (group, members) = current(request, id).await?;
            let mut patched = document(request, &group, Some(&members));
            patch::apply(&mut patched, &operations)?;
            let wanted = Wanted::read(&patched)?;
            replace(request, &group, &members, wanted).await
        }
        ("DELETE", Some(id)) => {
            let (group, _) = current(request, id).await?;
            let before = request.realm.snapshot();
            request.realm.remove_group(&group.name).await?;
            request.realm.end_what_all_lost(&before.registry).await?;
            Ok(Answer::nothing())
        }
        _ => Err(Refusal::plain(405, "the method is not allowed here")),
    }
}

fn found(request: &Request<'_>, id: &str) -> Result<Arc<Group>, Refusal> {
    let snapshot = request.realm.snapshot();
    let group = snapshot.registry.people.group_of_id(id);
    group.cloned().ok_or_else(Refusal::not_found)
}

/// Who is in which of the groups. Nothing is indexed for it: every account is read.
async fn members_of(
    request: &Request<'_>,
    groups: &BTreeSet<&str>,
) -> Result<HashMap<String, Members>, Refusal> {
    let mut all: HashMap<String, Members> = HashMap::new();
    let (users, mut after) = (&request.realm.people.users, None::<String>);
    loop {
        let read = users.list(after.as_deref(), READ_AT_ONCE, request.realm.now());
        let read = read.await?;
        for user in &read {
            let own = user.groups.iter();
            for group in own.filter(|group| groups.contains(group.as_str())) {
                let members = all.entry(group.clone()).or_default();
                members.insert(user.id.clone());
            }
        }
        match read.last() {
            Some(last) if read.len() == READ_AT_ONCE => after = Some(last.id.clone()),
            Some(_) | None => return Ok(all),
        }
    }
}

async fn members_of_one(request: &Request<'_>, group: &Group) -> Result<Members, Refusal> {
    let only = BTreeSet::from([group.id.as_str()]);
    let mut all = members_of(request, &only).await?;
    Ok(all.remove(&group.id).unwrap_or_default())
}

/// Record and members have no version in common: it is a digest of both.
fn version_of(group: &Group, members: &Members) -> String {
    let mut said = group.revision.to_be_bytes().to_vec();
    for id in members {
        said.push(0);
        said.extend_from_slice(id.as_bytes());
    }
    format!("W/\"{}\"", base64url::encode(&sha256(&said)[..12]))
}

/// `members`: where they are asked for. Without them the version is not known.
fn document(request: &Request<'_>, group: &Group, members: Option<&Members>) -> Map<String, Value> {
    let mut resource = Map::new();
    resource.insert("schemas".into(), json!([Resource::Group.schema()]));
    resource.insert("id".into(), group.id.as_str().into());
    resource.insert("displayName".into(), group.name.as_str().into());
    if let Some(external) = &group.external_id {
        resource.insert("externalId".into(), external.as_str().into());
    }
    let mut meta = json!({
        "resourceType": "Group",
        "location": format!("{}/Groups/{}", request.base, group.id),
    });
    if let Some(members) = members {
        meta["version"] = version_of(group, members).into();
        let list: Vec<Value> = members
            .iter()
            .map(|id| {
                json!({
                    "value": id,
                    "$ref": format!("{}/Users/{id}", request.base),
                    "type": "User",
                })
            })
            .collect();
        if !list.is_empty() {
            resource.insert("members".into(), Value::Array(list));
        }
    }
    resource.insert("meta".into(), meta);
    resource
}

async fn show(request: &Request<'_>, status: u16, group: &Group) -> Result<Answer, Refusal> {
    let members = match request.query.projection.wants("members") {
        true => Some(members_of_one(request, group).await?),
        false => None,
    };
    let mut resource = document(request, group, members.as_ref());
    let mut answer = Answer::resource(status, resource.clone());
    request.query.projection.apply(&mut resource);
    answer.body = Some(Value::Object(resource));
    Ok(answer)
}

async fn current(request: &Request<'_>, id: &str) -> Result<(Arc<Group>, Members), Refusal> {
    let group = found(request, id)?;
    let members = members_of_one(request, &group).await?;
    match matches(request.version, &version_of(&group, &members)) {
        true => Ok((group, members)),
        false => Err(Refusal::changed()),
    }
}

/// What a body says of a group.
struct Wanted {
    name: String,
    external_id: Option<String>,
    members: BTreeSet<String>,
}

impl Wanted {
    fn read(object: &Map<String, Value>) -> Result<Wanted, Refusal> {
        let text = |name: &str| match member(object, name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.is_empty())),
            Some(_) => Err(Refusal::value(format!("{name} is a text"))),
        };
        let external_id = text("externalId")?;
        if external_id
            .as_ref()
            .is_some_and(|id| id.len() > MAX_EXTERNAL_ID_BYTES)
        {
            return Err(Refusal::value("externalId is too long"));
        }
        let list = match member(object, "members") {
            None | Some(Value::Null) => &[][..],
            Some(Value::Array(list)) => list,
            Some(_) => return Err(Refusal::value("members is a list")),
        };
        let members = list.iter().map(|one| {
            let kind = one.get("type").and_then(Value::as_str);
            if kind.is_some_and(|kind| !kind.eq_ignore_ascii_case("User")) {
                return Err(Refusal::value(
                    "members are users: groups in a group are the admin API's",
                ));
            }
            let id = one.get("value").and_then(Value::as_str);
            id.map(str::to_owned)
                .ok_or_else(|| Refusal::value("a member has a value, the id of a user"))
        });
        Ok(Wanted {
            members: members.collect::<Result<_, _>>()?,
            name: text("displayName")?.ok_or_else(|| Refusal::value("displayName is missing"))?,
            external_id,
        })
    }
}

/// Nobody is put in before everybody is known to be there.
async fn expect_users(request: &Request<'_>, ids: &[&String]) -> Result<(), Refusal> {
    let (users, now) = (&request.realm.people.users, request.realm.now());
    for id in ids {
        if users.found(id, now).await?.is_none() {
            return Err(Refusal::value(format!("there is no user {id}")));
        }
    }
    Ok(())
}

/// Puts accounts into a group, and takes others out. What the group gave those ends.
async fn move_members(
    request: &Request<'_>,
    group: &Group,
    add: &[&String],
    remove: &[&String],
) -> Result<(), Refusal> {
    let snapshot = request.realm.snapshot();
    let people = &snapshot.registry.people;
    let (own, nothing) = ([group.id.clone()], []);
    for id in add {
        let change = |draft: &mut UserDraft| draft.user.change_groups(&own, &nothing, people);
        request.realm.change_holdings(id, change).await?;
    }
    for id in remove {
        let change = |draft: &mut UserDraft| draft.user.change_groups(&nothing, &own, people);
        request.realm.change_holdings(id, change).await?;
    }
    Ok(())
}

async fn create(request: &Request<'_>) -> Result<Answer, Refusal> {
    let wanted = Wanted::read(request.object()?)?;
    let members: Vec<&String> = wanted.members.iter().collect();
    expect_users(request, &members).await?;
    let draft = GroupDraft {
        external_id: wanted.external_id.clone(),
        ..GroupDraft::default()
    };
    let group = request
        .realm
        .write_group(&wanted.name, &draft, None)
        .await?;
    move_members(request, &group, &members, &[]).await?;
    show(request, 201, &group).await
}

async fn replace(
    request: &Request<'_>,
    group: &Arc<Group>,
    members: &Members,
    wanted: Wanted,
) -> Result<Answer, Refusal> {
    if wanted.name != group.name {
        return Err(Refusal::of(
            Kind::Mutability,
            "displayName cannot be changed: applications and rules know the group by it",
        ));
    }
    let ids = wanted.members.iter();
    let add: Vec<&String> = ids.filter(|id| !members.contains(*id)).collect();
    let ids = members.iter();
    let remove: Vec<&String> = ids.filter(|id| !wanted.members.contains(*id)).collect();
    expect_users(request, &add).await?;
    let mut group = Arc::clone(group);
    if wanted.external_id != group.external_id {
        let snapshot = request.realm.snapshot();
        let people = &snapshot.registry.people;
        let draft = GroupDraft {
            description: group.description.clone(),
            parent: group.parent.clone(),
            roles: crate::groups::role_names(people, &group.roles),
            external_id: Some(wanted.external_id.unwrap_or_default()),
        };
        let read = Some(group.revision);
        group = request.realm.write_group(&group.name, &draft, read).await?;
    }
    move_members(request, &group, &add, &remove).await?;
    show(request, 200, &group).await
}

async fn list(request: &Request<'_>) -> Result<Answer, Refusal> {
    let mut page = Filling::new(request.query);
    fill(request, &mut page).await?;
    Ok(Answer::of(page.message()))
}

/// Takes every group that is asked for.
pub(super) async fn fill(request: &Request<'_>, page: &mut Filling<'_>) -> Result<(), Refusal> {
    let snapshot = request.realm.snapshot();
    let people = &snapshot.registry.people;
    let mut groups: Vec<&Arc<Group>> = people.groups.values().collect();
    groups.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let with_members = request.query.projection.wants("members") || request.query.filter.is_some();
    let mut all = match with_members {
        true => {
            let ids = groups.iter().map(|group| group.id.as_str()).collect();
            Some(members_of(request, &ids).await?)
        }
        false => None,
    };
    for group in groups {
        let members = all
            .as_mut()
            .map(|all| all.remove(&group.id).unwrap_or_default());
        page.take(document(request, group, members.as_ref()));
    }
    Ok(())
}
