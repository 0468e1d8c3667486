//! Records that a directory declares: what would change, and changing it, all or nothing.
mod ends;
mod kinds;
mod model;
mod order;
mod owners;
mod people;
mod person;
mod plan;

pub use kinds::{DECLARED, Declared};
pub use model::MAX_DECLARED;

use crate::operations::administration::roles as administrators;
use model::{Declarations, Export, Exported, PlanDocument, Sent, Watch};
use serde_json::Map;
use signet_audit::{Action, Event};
use signet_oauth::registry::Registry;
use signet_operation::adapter::Row;
use signet_operation::caller::Acting;
use signet_operation::facts::Method;
use signet_operation::input::{ObjectKind, ObjectName};
use signet_operation::operation::Operation;
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{self, Read, Write};
use signet_operation::roles::Rights;
use signet_operation::target;
use signet_realm::state::{Realm, Snapshot};
use std::sync::Arc;

const ALL: &str = "/admin/v1/declarations";
const PLAN: &str = "/admin/v1/declarations/plan";
const APPLY: &str = "/admin/v1/declarations/apply";
const ONE: &str = "/admin/v1/declarations/{kind}/{name}";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("exportDeclarations", Area::Declarations, Read, Method::Get, ALL, "Every record as a directory declares it, and who owns it", |acting, ()| Box::pin(export(Asking::of(acting)))),
    &Operation::new("showDeclaration", Area::Declarations, Read, Method::Get, ONE, "A record as a directory declares it, and who owns it", |acting, input| Box::pin(show(Asking::of(acting), input))),
    &Operation::new("planDeclarations", Area::Declarations, Read, Method::Post, PLAN, "Say what would change if these declarations were applied", |acting, sent| Box::pin(only_plan(Asking::of(acting), sent))),
    &Operation::new("applyDeclarations", Area::Declarations, Write, Method::Post, APPLY, "Apply declarations: all of them, or none", |acting, sent| Box::pin(apply(Asking::of(acting), sent))).ends(),
];

const NO_SUCH_KIND: &str = "there is no such kind of object";
/// What the audit trail calls an object that others had changed.
const DRIFT: &str = "driftDeclared";

/// Who asks.
struct Asking {
    realm: Arc<Realm>,
    who: String,
    request_id: String,
    peer: std::net::IpAddr,
    now_ms: u64,
    may_write: bool,
    rights: Rights,
}

impl Asking {
    fn of(acting: &Acting) -> Asking {
        Asking {
            realm: Arc::clone(&acting.realm),
            who: acting.admin.who.clone(),
            request_id: acting.request_id.as_str().to_owned(),
            peer: acting.peer,
            now_ms: acting.now_ms,
            may_write: acting.admin.rights.may_all(Area::Declarations, Write),
            rights: acting.admin.rights.clone(),
        }
    }
}

impl Asking {
    /// Whether its caller may read or write objects of a kind.
    fn may(&self, declared: &Declared, right: Right) -> Result<(), Problem> {
        let area = declared.area;
        match self.rights.may_all(area, right) {
            true => Ok(()),
            false => Err(Problem::insufficient_role(format!(
                "a {} needs a role that may {} {}: yours are {}",
                declared.kind(),
                right.name(),
                area.name(),
                self.rights.roles().join(", "),
            ))),
        }
    }

    /// Whether a directory may do what it would: each change is its caller's, in its own area, and
    /// no change makes or touches who may do more than they.
    fn expect_may(&self, planned: &plan::Planned, right: Right) -> Result<(), Problem> {
        let changed = planned.document.changes.iter().map(|change| change.kind);
        for kind in changed {
            let mut declared = DECLARED.iter();
            if let Some(declared) = declared.find(|declared| declared.kind() == kind) {
                self.may(declared, right)?;
            }
        }
        if right == Read {
            return Ok(());
        }
        let mut kinds = planned.document.changes.iter().map(|change| change.kind);
        let is_role = |kind: &str| kind == administrators::ADMINISTRATOR_ROLES.name;
        if kinds.any(is_role) && !self.rights.is_owner() {
            return Err(Problem::insufficient_role(
                "a directory's roles of administrators are applied by an owner",
            ));
        }
        for client in &planned.clients {
            target::expect_over_client(&self.rights, client)?;
        }
        for step in &planned.people {
            step.expect_may(&planned.after.registry, &self.rights)?;
        }
        Ok(())
    }
}

async fn export(asking: Asking) -> Result<Json<Export>, Problem> {
    let realm = &asking.realm;
    let owners = owners::Owners::read(realm).await?;
    let snapshot = realm.snapshot();
    let mut objects = Vec::new();
    let shown = kinds::KINDS.iter();
    for kind in shown.filter(|kind| asking.may(&kind.declared, Read).is_ok()) {
        for name in kind.names(&snapshot) {
            let found = of_record(realm, &owners, kind, &snapshot, &name).await?;
            objects.extend(found.map(|object| Exported {
                set_by_server: Map::new(),
                ..object
            }));
        }
    }
    if asking.may(&kinds::USERS, Read).is_ok() {
        let users = people::all(realm).await?;
        objects.extend(users.into_iter().map(|user| of_user(&owners, user)));
    }
    Ok(Json(Export { objects }))
}

async fn show(
    asking: Asking,
    (ObjectKind(kind), ObjectName(name)): (ObjectKind, ObjectName),
) -> Result<Json<Exported>, Problem> {
    let realm = &asking.realm;
    if let Some(declared) = DECLARED.iter().find(|declared| declared.kind() == kind) {
        asking.may(declared, Read)?;
    }
    let owners = owners::Owners::read(realm).await?;
    let found = match kinds::KINDS.iter().find(|one| one.declared.kind() == kind) {
        Some(kind) => of_record(realm, &owners, kind, &realm.snapshot(), &name).await?,
        None if person::is_user(&kind) => {
            let user = people::one(realm, &name).await?;
            user.map(|user| of_user(&owners, user))
        }
        None => return Err(Problem::invalid(NO_SUCH_KIND)),
    };
    found.map(Json).ok_or_else(Problem::not_found)
}

async fn of_record(
    realm: &Realm,
    owners: &owners::Owners,
    kind: &kinds::Kind,
    snapshot: &Snapshot,
    name: &str,
) -> Result<Option<Exported>, Problem> {
    let Some(document) = kind.document(snapshot, name) else {
        return Ok(None);
    };
    let owner = owners.of(realm, kind, name).await?;
    let mut members = document.members;
    if owner == owners::Owner::Registration {
        // There may be very many, and none of them can be declared.
        members.clear();
    }
    people::names_for_ids(realm, kind.record, &mut members).await?;
    Ok(Some(Exported {
        kind: kind.declared.kind(),
        name: name.to_owned(),
        owner: owner.to_string(),
        members,
        has_secret: document.has_secret,
        set_by_server: document.set_by_server,
    }))
}

fn of_user(owners: &owners::Owners, (name, members, outside): people::Shown) -> Exported {
    let owner = match outside {
        Some(outside) => format!("directory service {outside}"),
        None => owners.of_user(&name).to_string(),
    };
    Exported {
        kind: person::USER,
        name,
        owner,
        members,
        has_secret: false,
        set_by_server: Map::new(),
    }
}

async fn only_plan(asking: Asking, Sent(wanted): Sent) -> Result<Json<PlanDocument>, Problem> {
    let together = asking.realm.together(false).await?;
    let planned = plan::plan(&asking.realm, &together, &wanted, asking.may_write).await?;
    asking.expect_may(&planned, Read)?;
    let document = planned.document;
    if asking.may_write && document.changes.is_empty() && document.mistakes.is_empty() {
        watched(&asking, &wanted, 0);
    }
    Ok(Json(document))
}

async fn apply(asking: Asking, Sent(wanted): Sent) -> Result<Json<PlanDocument>, Problem> {
    let realm = &asking.realm;
    let together = realm.together(true).await?;
    let planned = plan::plan(realm, &together, &wanted, true).await?;
    let seen = wanted.plan.as_ref();
    if seen.is_some_and(|plan| *plan != planned.document.plan) {
        return Err(Problem::changed());
    }
    if let Some(mistake) = planned.document.mistakes.first() {
        let (kind, name, why) = (&mistake.kind, &mistake.name, &mistake.detail);
        return Err(Problem::invalid(format!("{kind} {name}: {why}")));
    }
    asking.expect_may(&planned, Write)?;
    let before = realm.snapshot();
    // Asked while the records count: their tokens may live longer than everybody else's.
    let longest = realm.longest_refresh_token();
    owners::write(&together, &wanted.directory, &planned.owned).await?;
    together.commit().await?;
    let is_drift = wanted.watch == Some(Watch::Unchanged);
    record(&asking, &planned.document, is_drift);
    let ended = end(realm, &planned, &before.registry, longest).await;
    for step in planned.people {
        step.apply(realm).await?;
    }
    ended?;
    let drift = planned.document.changes.len();
    watched(&asking, &wanted, if is_drift { drift } else { 0 });
    Ok(Json(planned.document))
}

/// Counts, for a directory that is watched, that the server is as it declares, and how many objects
/// others had changed.
fn watched(asking: &Asking, wanted: &Declarations, drift: usize) {
    if wanted.watch.is_some() {
        let realm = &asking.realm;
        let name = realm.id().as_str();
        let directories = &realm.host.metrics.directories;
        directories.as_declared(name, &wanted.directory, drift as u64, realm.now());
    }
}

/// The operations without HTTP, for a caller that has the realm and is its operator.
pub mod direct {
    use super::model::{Declarations, Sent};
    use super::{Asking, Realm, Rights};
    use serde_json::Value;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    fn asking(realm: &Arc<Realm>) -> Asking {
        Asking {
            realm: Arc::clone(realm),
            who: "operator".to_owned(),
            request_id: String::new(),
            peer: IpAddr::V4(Ipv4Addr::LOCALHOST),
            now_ms: realm.now_ms(),
            may_write: true,
            rights: Rights::owner(),
        }
    }

    fn sent(declarations: Value) -> Result<Sent, String> {
        let read: Result<Declarations, _> = serde_json::from_value(declarations);
        read.map(Sent).map_err(|error| error.to_string())
    }

    /// What the admin API answers to an export.
    ///
    /// # Errors
    /// The refusal in words.
    pub async fn export(realm: &Arc<Realm>) -> Result<Value, String> {
        let answer = super::export(asking(realm)).await;
        let answer = answer.map_err(|problem| problem.detail().to_owned())?;
        serde_json::to_value(answer.0).map_err(|error| error.to_string())
    }

    /// The plan of declarations.
    ///
    /// # Errors
    /// The refusal in words.
    pub async fn plan(realm: &Arc<Realm>, declarations: Value) -> Result<Value, String> {
        let answer = super::only_plan(asking(realm), sent(declarations)?).await;
        let answer = answer.map_err(|problem| problem.detail().to_owned())?;
        serde_json::to_value(answer.0).map_err(|error| error.to_string())
    }

    /// Applies declarations.
    ///
    /// # Errors
    /// The refusal in words; then nothing is done.
    pub async fn apply(realm: &Arc<Realm>, declarations: Value) -> Result<Value, String> {
        let answer = super::apply(asking(realm), sent(declarations)?).await;
        let answer = answer.map_err(|problem| problem.detail().to_owned())?;
        serde_json::to_value(answer.0).map_err(|error| error.to_string())
    }
}

/// Ends what may not live on without the records that are gone.
async fn end(
    realm: &Realm,
    planned: &plan::Planned,
    before: &Registry,
    longest: u64,
) -> Result<(), Problem> {
    for client in &planned.document.ends.clients {
        realm.revoke_client_for(client, longest).await?;
    }
    if planned.concerns_everybody {
        realm.end_what_all_lost(before).await?;
    }
    Ok(())
}

/// A record of the audit trail for each change; where it brings back what others had changed, one
/// before it that says so.
fn record(asking: &Asking, plan: &PlanDocument, is_drift: bool) {
    for change in &plan.changes {
        let target = format!("{}/{}", change.kind, change.name);
        let drift = is_drift.then_some(DRIFT);
        for operation in drift.into_iter().chain([change.act.operation()]) {
            let event = Event::new(Action::ADMIN, asking.now_ms)
                .request(&asking.request_id)
                .address(asking.peer)
                .subject(&asking.who)
                .operation(operation)
                .target(&target);
            asking.realm.audit().record(event);
        }
    }
}
