//! Further realms of the process: which there are, and what each has of its own.
use crate::operations::model::List;
use http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_oauth::registry::{RealmEntry, Registry};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Members, Page, Query, RealmName, Revision};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Json, Revised, Written};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::realms::Realms;
use signet_realm::records::RecordError;
use signet_realm::state::{Realm, RealmId, Snapshot};
use signet_registry::kinds::RecordKind;
use std::{collections::BTreeMap, sync::Arc};

const LIST: &str = "/admin/v1/realms";
const ONE: &str = "/admin/v1/realms/{realm}";
const SUSPEND: &str = "/admin/v1/realms/{realm}/suspend";
const RESUME: &str = "/admin/v1/realms/{realm}/resume";
const RENAME: &str = "/admin/v1/realms/{realm}/rename";

/// How long a removed realm can be brought back, seconds, where the caller does not say.
const GRACE: u64 = 7 * 86_400;
/// The longest that it can be.
const MAX_GRACE: u64 = 366 * 86_400;
/// How often a change that lost a race is tried again.
const MAX_TRIES: usize = 8;

/// Further realms.
pub const REALMS: Noun = Noun {
    name: "realm",
    list: LIST,
    id: "name",
    columns: &["name", "issuer", "suspended", "deletes_at", "description"],
    sorted_by: None,
    written: &[RealmChange::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listRealms", Area::Realms, Read, Method::Get, LIST, "List the realms beside the first one", run!(list)),
    &Operation::new("showRealm", Area::Realms, Read, Method::Get, ONE, "Show a realm", run!(show)),
    &Operation::new("writeRealm", Area::Realms, Write, Method::Put, ONE, "Add a realm, which answers at once; with If-Match, replace its record", run!(write)),
    &Operation::new("suspendRealm", Area::Realms, Write, Method::Post, SUSPEND, "Let a realm answer nothing; it keeps everything", run!(suspend)).ends(),
    &Operation::new("resumeRealm", Area::Realms, Write, Method::Post, RESUME, "Let a realm answer again that is suspended or was removed", run!(resume)),
    &Operation::new("renameRealm", Area::Realms, Write, Method::Post, RENAME, "Give a realm another name, and another issuer if one is sent; it keeps everything", run!(rename)),
    &Operation::new("removeRealm", Area::Realms, Write, Method::Delete, ONE, "Suspend a realm, and delete everything of it after a time of grace", run!(remove)),
];

/// A realm as it is shown.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Realm")]
pub(super) struct RealmDocument {
    name: String,
    /// The name that it was made with, where it was renamed: its audit trail is in the folder of
    /// this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    made_as: Option<String>,
    /// Its issuer identifier.
    issuer: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// It answers nothing, and keeps everything.
    suspended: bool,
    /// When everything of it is deleted, Unix seconds; until then it can be resumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    deletes_at: Option<u64>,
    /// What it has of its own in place of the process' configuration, by the settings' names.
    settings: BTreeMap<String, Value>,
    /// Unix seconds.
    created_at: u64,
    revision: u64,
}

impl RealmDocument {
    fn of(entry: &RealmEntry) -> RealmDocument {
        let settings = entry.settings.iter().map(|(path, value)| {
            // A record's values are JSON.
            let value = serde_json::from_str(value).unwrap_or_default();
            (path.clone(), value)
        });
        RealmDocument {
            name: entry.name.clone(),
            made_as: entry.made_as.clone(),
            issuer: entry.issuer.clone(),
            description: entry.description.clone(),
            suspended: entry.suspended,
            deletes_at: entry.deletes_at,
            settings: settings.collect(),
            created_at: entry.created_at,
            revision: entry.revision,
        }
    }
}

/// A realm as it is to be.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RealmChange {
    /// As the path says it.
    #[serde(default)]
    name: Option<String>,
    /// Its issuer identifier. Default: the installation's, and the realm's name behind it.
    #[serde(default)]
    issuer: Option<String>,
    /// For administrators.
    #[serde(default)]
    description: Option<String>,
    /// It answers nothing, and keeps everything.
    #[serde(default)]
    suspended: bool,
    /// What it has of its own in place of the process' configuration: settings of a realm by their
    /// names (docs/settings.md), as `lifetimes.access_token`, or in tables, as `lifetimes`.
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    /// A realm whose settings it has too, where `settings` does not say otherwise. They are copied.
    #[serde(default)]
    like: Option<String>,
    /// Read-only.
    #[serde(default, rename = "made_as")]
    _made_as: Option<String>,
    /// Read-only.
    #[serde(default, rename = "deletes_at")]
    _deletes_at: Option<u64>,
    /// Read-only.
    #[serde(default, rename = "created_at")]
    _created_at: Option<u64>,
    /// Read-only.
    #[serde(default, rename = "revision")]
    _revision: Option<u64>,
}

/// The realms are the installation's: no further realm shows or changes them.
fn of_installation(realm: &Realm) -> Result<(), Problem> {
    match realm.id().is_default() {
        true => Ok(()),
        false => Err(Problem::new(
            StatusCode::FORBIDDEN,
            "not_the_installation",
            "realms are administered at the issuer of the installation",
        )),
    }
}

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<RealmDocument>>, Problem> {
    of_installation(&realm)?;
    let snapshot = realm.snapshot();
    let after = page.after.as_deref();
    let realms = snapshot.registry.realms.values();
    let behind = realms.filter(|entry| after.is_none_or(|after| entry.name.as_str() > after));
    let mut found: Vec<&Arc<RealmEntry>> = behind.collect();
    // Those of the page alone are put in order.
    if found.len() > page.limit + 1 {
        found.select_nth_unstable_by(page.limit, |a, b| a.name.cmp(&b.name));
        found.truncate(page.limit + 1);
    }
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    let items = found.into_iter().map(|entry| RealmDocument::of(entry));
    Ok(Json(List::cut(items.collect(), page.limit, |realm| {
        realm.name.clone()
    })))
}

async fn known(realm: &Realm, name: &str) -> Result<Arc<RealmEntry>, Problem> {
    of_installation(realm)?;
    realm.learn(RecordKind::Realm, name).await?;
    let known = realm.snapshot().registry.realms.get(name).cloned();
    known.ok_or_else(Problem::not_found)
}

fn shown(entry: &RealmEntry) -> Revised<RealmDocument> {
    Revised {
        value: RealmDocument::of(entry),
        revision: entry.revision,
    }
}

async fn show(
    realm: Arc<Realm>,
    RealmName(name): RealmName,
) -> Result<Revised<RealmDocument>, Problem> {
    Ok(shown(&*known(&realm, &name).await?))
}

async fn write(
    realm: Arc<Realm>,
    (RealmName(name), revision, Json(wanted)): (RealmName, Option<Revision>, Json<RealmChange>),
) -> Result<Written<Revised<RealmDocument>>, Problem> {
    let read = revision.map(|Revision(read)| read);
    let deletes_at = match read {
        None => None,
        Some(_) => known(&realm, &name).await?.deletes_at,
    };
    let shown = shown(&*put(&realm, name, wanted, (read, deletes_at)).await?);
    Ok(match read {
        None => Written::New(shown),
        Some(_) => Written::Replaced(shown),
    })
}

/// Writes the record of a realm in place of the one that was read: its revision, and when the realm
/// is deleted.
async fn put(
    realm: &Realm,
    name: String,
    wanted: RealmChange,
    (read, deletes_at): (Option<u64>, Option<u64>),
) -> Result<Arc<RealmEntry>, Problem> {
    of_installation(realm)?;
    if wanted.name.as_ref().is_some_and(|said| *said != name) {
        return Err(Problem::invalid(
            "the name cannot be changed here; rename the realm",
        ));
    }
    let mut settings = match &wanted.like {
        None => BTreeMap::new(),
        Some(like) => {
            realm.learn(RecordKind::Realm, like).await?;
            let like = realm.snapshot().registry.realms.get(like).cloned();
            let like = like.ok_or_else(|| Problem::invalid("like: there is no such realm"))?;
            like.settings.clone()
        }
    };
    settings.extend(signet_config::realms::by_name(&wanted.settings));
    settings.retain(|_, value| value != "null");
    let snapshot = realm.snapshot();
    let own_issuer = || format!("{}/{name}", snapshot.settings.issuer);
    let entry = RealmEntry {
        issuer: wanted.issuer.unwrap_or_else(own_issuer),
        name,
        made_as: None,
        description: wanted.description,
        suspended: wanted.suspended,
        deletes_at,
        settings,
        created_at: realm.now(),
        revision: 0,
    };
    Ok(realm.write_realm(&entry, read).await?)
}

/// The realm as a directory declares it; none where it is removed, and waits to be deleted.
pub(super) fn declared(registry: &Registry, name: &str) -> Option<RealmDocument> {
    let entry = registry.realms.get(name)?;
    entry.deletes_at.is_none().then(|| RealmDocument::of(entry))
}

/// The realm that was called `name` and has another name now. `issuer`: the one that is declared.
/// `was_owned`: by the directory, so that a realm with its issuer is the one.
pub(super) fn renamed(
    snapshot: &Snapshot,
    name: &str,
    issuer: Option<&str>,
    was_owned: bool,
) -> Option<Arc<RealmEntry>> {
    let realms = &snapshot.registry.realms;
    if realms.contains_key(name) {
        return None;
    }
    let own = format!("{}/{name}", snapshot.settings.issuer);
    let issuer = issuer.unwrap_or(&own);
    let is_it = |entry: &&Arc<RealmEntry>| {
        entry.made_as.as_deref() == Some(name) || (was_owned && entry.issuer == issuer)
    };
    realms.values().find(is_it).cloned()
}

/// Makes or changes a realm that a directory declares. One that was removed answers again.
pub(super) async fn declare(realm: &Realm, name: &str, wanted: RealmChange) -> Result<(), Problem> {
    let known = realm.snapshot().registry.realms.get(name).cloned();
    let now = realm.now();
    if known.as_ref().is_some_and(|known| known.is_due(now)) {
        return Err(being_deleted());
    }
    let read = known.map(|known| known.revision);
    put(realm, name.to_owned(), wanted, (read, None)).await?;
    Ok(())
}

/// Removes a realm that a directory declares no more, with the usual time of grace.
pub(super) async fn withdraw(realm: &Realm, name: &str) -> Result<(), Problem> {
    end(realm, name, GRACE).await?;
    Ok(())
}

async fn end(realm: &Realm, name: &str, grace: u64) -> Result<Arc<RealmEntry>, Problem> {
    let at = realm.now().saturating_add(grace);
    // A second removal brings the end forward, never back.
    change(realm, name, |entry| {
        entry.deletes_at = Some(entry.deletes_at.map_or(at, |before| before.min(at)));
    })
    .await
}

fn being_deleted() -> Problem {
    Problem::conflict(
        "being_deleted",
        "the realm is being deleted: its time of grace is over",
    )
}

/// Changes the record as it is, whoever else writes it.
async fn change(
    realm: &Realm,
    name: &str,
    change: impl Fn(&mut RealmEntry),
) -> Result<Arc<RealmEntry>, Problem> {
    for _ in 0..MAX_TRIES {
        let known = known(realm, name).await?;
        let mut next = (*known).clone();
        change(&mut next);
        if next == *known {
            return Ok(known);
        }
        match realm.write_realm(&next, Some(known.revision)).await {
            Err(RecordError::Conflict) => {}
            done => return Ok(done?),
        }
    }
    Err(RecordError::Conflict.into())
}

async fn suspend(
    realm: Arc<Realm>,
    RealmName(name): RealmName,
) -> Result<Revised<RealmDocument>, Problem> {
    Ok(shown(
        &*change(&realm, &name, |entry| entry.suspended = true).await?,
    ))
}

async fn resume(
    realm: Arc<Realm>,
    RealmName(name): RealmName,
) -> Result<Revised<RealmDocument>, Problem> {
    let now = realm.now();
    if known(&realm, &name).await?.is_due(now) {
        return Err(being_deleted());
    }
    let resumed = change(&realm, &name, |entry| {
        entry.suspended = false;
        entry.deletes_at = None;
    });
    Ok(shown(&*resumed.await?))
}

/// A realm's other name.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RealmRename {
    name: String,
    /// Its issuer identifier from now on. Default: it stays, and so does every token.
    #[serde(default)]
    issuer: Option<String>,
}

async fn rename(
    realm: Arc<Realm>,
    (RealmName(name), Json(wanted)): (RealmName, Json<RealmRename>),
) -> Result<Revised<RealmDocument>, Problem> {
    of_installation(&realm)?;
    let renamed = realm.rename_realm(&name, &wanted.name, wanted.issuer);
    Ok(shown(&*renamed.await?))
}

/// When a realm is deleted.
struct Grace(u64);

impl Members for Grace {
    const MEMBERS: &'static [(&'static str, &'static str)] = &[(
        "grace",
        "for how long it can be resumed, seconds; default: a week. 0: it is deleted now",
    )];

    fn parse<'a>(member: impl Fn(&str) -> Option<&'a str>) -> Result<Grace, Problem> {
        let grace = member("grace").map_or(Some(GRACE), |text| text.parse().ok());
        let grace = grace.filter(|grace| *grace <= MAX_GRACE);
        grace
            .map(Grace)
            .ok_or_else(|| Problem::invalid("grace is a number of seconds, at most 366 days"))
    }
}

async fn remove(
    realm: Arc<Realm>,
    (RealmName(name), Query(Grace(grace))): (RealmName, Query<Grace>),
) -> Result<Json<RealmDocument>, Problem> {
    let removed = end(&realm, &name, grace).await?;
    if grace == 0
        && let Some(realms) = Realms::of(&realm)
        && let Ok(id) = RealmId::parse(removed.id())
        && let Some(slot) = realms.table().slot(&id).cloned()
        && let Err(error) = realms.delete(&slot).await
    {
        tracing::warn!(realm = name, %error, "failed to delete a realm; retrying");
    }
    Ok(Json(RealmDocument::of(&removed)))
}
