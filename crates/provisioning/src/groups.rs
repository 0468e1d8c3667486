//! Groups as `Group` (RFC 7643 section 4.2). Members are accounts; groups in a group, and who is in
//! a group by a directory outside, are the admin API's.
use super::{
    Request, Resource,
    answer::{Answer, Refusal},
    query::Filling,
    users::{MAX_EXTERNAL_ID_BYTES, READ_AT_ONCE, matches},
};
use serde_json::{Map, Value, json};
use signet_crypto::hash::sha256;
use signet_directory::UserDraft;
use signet_encoding::base64url;
use signet_oauth::people::Group;
use signet_realm::records::groups::GroupDraft;
use signet_scim::{Kind, member, patch};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// How often a change without `If-Match` that lost a race is made again.
const MAX_TRIES: usize = 5;

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
        ("PUT" | "PATCH" | "DELETE", Some(id)) => {
            for _ in 0..MAX_TRIES {
                let read = current(request, id).await?;
                if let Some(answer) = change(request, &read).await? {
                    return Ok(answer);
                }
                // Somebody else was faster. Who said which version is changed has to read again.
                if request.version.is_some() {
                    break;
                }
            }
            Err(Refusal::changed())
        }
        _ => Err(Refusal::plain(405, "the method is not allowed here")),
    }
}

/// A group as it was read, and what the condition of its change is.
struct Read {
    group: Arc<Group>,
    members: Members,
    /// [`signet_directory::Accounts::group_mark`], read before the members.
    mark: Option<u64>,
}

/// What the request makes of a group. None: somebody else has changed it since it was read.
async fn change(request: &Request<'_>, read: &Read) -> Result<Option<Answer>, Refusal> {
    if *request.method == http::Method::DELETE {
        let members: Vec<&String> = read.members.iter().collect();
        expect_changeable(request, &members).await?;
        if !claim(request, read).await? {
            return Ok(None);
        }
        let before = request.realm.snapshot();
        request.realm.remove_group(&read.group.name).await?;
        request.realm.end_what_all_lost(&before.registry).await?;
        return Ok(Some(Answer::nothing()));
    }
    let wanted = match *request.method == http::Method::PATCH {
        true => {
            let operations = patch::parse(request.body.as_ref().unwrap_or(&Value::Null))?;
            let mut patched = document(request, &read.group, Some((&read.members, read.mark)));
            patch::apply(&mut patched, &operations)?;
            Wanted::read(&patched)?
        }
        false => Wanted::read(request.object()?)?,
    };
    replace(request, read, wanted).await
}

/// The first write of a change: of several who read the same, one makes it.
async fn claim(request: &Request<'_>, read: &Read) -> Result<bool, Refusal> {
    let (users, now) = (&request.realm.people.users, request.realm.now());
    Ok(users.claim_group(&read.group.id, read.mark, now).await?)
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

/// Record and members have no version in common: it is a digest of both, and of whose they are.
fn version_of(group: &Group, members: &Members, mark: Option<u64>) -> String {
    let mut said = group.revision.to_be_bytes().to_vec();
    said.extend_from_slice(&mark.unwrap_or(0).to_be_bytes());
    for id in std::iter::once(&group.id).chain(members) {
        said.push(0);
        said.extend_from_slice(id.as_bytes());
    }
    format!("W/\"{}\"", base64url::encode(&sha256(&said)[..12]))
}

/// `members`: where they are asked for, and their mark. Without them the version is not known.
fn document(
    request: &Request<'_>,
    group: &Group,
    members: Option<(&Members, Option<u64>)>,
) -> Map<String, Value> {
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
    if let Some((members, mark)) = members {
        meta["version"] = version_of(group, members, mark).into();
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
        true => {
            let mark = mark_of(request, group).await?;
            Some((members_of_one(request, group).await?, mark))
        }
        false => None,
    };
    let members = members.as_ref().map(|(members, mark)| (members, *mark));
    let mut resource = document(request, group, members);
    let mut answer = Answer::resource(status, resource.clone());
    request.query.projection.apply(&mut resource);
    answer.body = Some(Value::Object(resource));
    Ok(answer)
}

async fn mark_of(request: &Request<'_>, group: &Group) -> Result<Option<u64>, Refusal> {
    let (users, now) = (&request.realm.people.users, request.realm.now());
    Ok(users.group_mark(&group.id, now).await?)
}

async fn current(request: &Request<'_>, id: &str) -> Result<Read, Refusal> {
    let group = found(request, id)?;
    let mark = mark_of(request, &group).await?;
    let members = members_of_one(request, &group).await?;
    match matches(request.version, &version_of(&group, &members, mark)) {
        true => Ok(Read {
            group,
            members,
            mark,
        }),
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

/// Nobody is put in before everybody is known to be there, and the caller may change them.
async fn expect_users(request: &Request<'_>, ids: &[&String]) -> Result<(), Refusal> {
    let (users, now) = (&request.realm.people.users, request.realm.now());
    for id in ids {
        let Some(found) = users.found(id, now).await? else {
            return Err(Refusal::value(format!("there is no user {id}")));
        };
        request.expect_may_change(&found.user)?;
    }
    Ok(())
}

/// The caller may change the accounts that are taken out. One that is gone has left by itself.
async fn expect_changeable(request: &Request<'_>, ids: &[&String]) -> Result<(), Refusal> {
    let (users, now) = (&request.realm.people.users, request.realm.now());
    for id in ids {
        if let Some(found) = users.found(id, now).await? {
            request.expect_may_change(&found.user)?;
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

/// None: somebody else has changed the group since it was read, and nothing was done.
async fn replace(
    request: &Request<'_>,
    read: &Read,
    wanted: Wanted,
) -> Result<Option<Answer>, Refusal> {
    let (group, members) = (&read.group, &read.members);
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
    expect_changeable(request, &remove).await?;
    if !claim(request, read).await? {
        return Ok(None);
    }
    let mut group = Arc::clone(group);
    if wanted.external_id != group.external_id {
        let snapshot = request.realm.snapshot();
        let people = &snapshot.registry.people;
        let draft = GroupDraft {
            description: group.description.clone(),
            parent: group.parent.clone(),
            roles: signet_realm::records::groups::role_names(people, &group.roles),
            external_id: Some(wanted.external_id.unwrap_or_default()),
        };
        let read = Some(group.revision);
        group = request.realm.write_group(&group.name, &draft, read).await?;
    }
    move_members(request, &group, &add, &remove).await?;
    show(request, 200, &group).await.map(Some)
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
    let mut marks = HashMap::new();
    if with_members {
        for group in &groups {
            marks.insert(group.id.as_str(), mark_of(request, group).await?);
        }
    }
    let mut all = match with_members {
        true => {
            let ids = groups.iter().map(|group| group.id.as_str()).collect();
            Some(members_of(request, &ids).await?)
        }
        false => None,
    };
    for group in groups {
        let Some(all) = &mut all else {
            page.take(document(request, group, None));
            continue;
        };
        let members = all.remove(&group.id).unwrap_or_default();
        let mark = marks.get(group.id.as_str()).copied().flatten();
        page.take(document(request, group, Some((&members, mark))));
    }
    Ok(())
}
