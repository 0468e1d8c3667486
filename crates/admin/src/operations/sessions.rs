//! Users' login sessions.
use crate::operations::model::{List, SessionDocument};
use schemars::JsonSchema;
use serde::Serialize;
use signet_directory::session;
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Page, Sid, UserId};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Reset};
use signet_realm::state::Realm;
use std::sync::Arc;

const ALL: &str = "/admin/v1/sessions";

const LIST: &str = "/admin/v1/users/{user_id}/sessions";
const ONE: &str = "/admin/v1/users/{user_id}/sessions/{sid}";

/// Sessions of users.
pub const SESSIONS: Noun = Noun {
    name: "session",
    list: ALL,
    id: "sid",
    columns: &[
        "username",
        "sid",
        "auth_time",
        "last_seen",
        "address",
        "user_agent",
    ],
    sorted_by: None,
    written: &[],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listAllSessions", Area::Sessions, Read, Method::Get, ALL, "List everybody's sessions, user by user", run!(list_all)),
    &Operation::new("listSessions", Area::Sessions, Read, Method::Get, LIST, "List a user's sessions, latest use first", run!(list)),
    &Operation::new("endSession", Area::Sessions, Reset, Method::Delete, ONE, "Terminate a session and revoke the tokens that were issued in it", run!(end)),
];

/// Something that belongs to a user, and whose it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}OfUser")]
pub(crate) struct OfUser<T> {
    pub(crate) user_id: String,
    /// None: the account is gone.
    pub(crate) username: Option<String>,
    #[serde(flatten)]
    pub(crate) item: T,
}

/// The names of users, each asked for once: a page has many rows of few users.
#[derive(Default)]
pub(crate) struct Names(Option<(String, Option<String>)>);

impl Names {
    pub(crate) async fn of(
        &mut self,
        realm: &Realm,
        user_id: &str,
    ) -> Result<Option<String>, Problem> {
        if let Some((id, name)) = &self.0
            && id == user_id
        {
            return Ok(name.clone());
        }
        let user = realm.people.users.by_id(user_id, realm.now()).await?;
        let name = user.map(|user| user.username);
        self.0 = Some((user_id.to_owned(), name.clone()));
        Ok(name)
    }
}

async fn list_all(
    realm: Arc<Realm>,
    page: Page,
) -> Result<Json<List<OfUser<SessionDocument>>>, Problem> {
    let after = page
        .after
        .as_deref()
        .and_then(|after| after.split_once(' '));
    let (rows, next) = session::page(&*realm.store, after, page.limit, realm.now()).await?;
    let mut names = Names::default();
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let user_id = row.user_id.clone();
        items.push(OfUser {
            username: names.of(&realm, &user_id).await?,
            user_id,
            item: SessionDocument::from(row),
        });
    }
    let next = next.map(|(user_id, sid)| format!("{user_id} {sid}"));
    Ok(Json(List { items, next }))
}

async fn list(realm: Arc<Realm>, user: UserId) -> Result<Json<List<SessionDocument>>, Problem> {
    let sessions = session::list(&*realm.store, &user.0, realm.now()).await?;
    let items = sessions
        .into_iter()
        .map(|(_, row)| SessionDocument::from(row))
        .collect();
    Ok(Json(List { items, next: None }))
}

async fn end(realm: Arc<Realm>, (user, sid): (UserId, Sid)) -> Result<(), Problem> {
    let now = realm.now();
    let sessions = session::list(&*realm.store, &user.0, now).await?;
    let (id, row) = sessions
        .into_iter()
        .find(|(_, row)| row.sid == sid.0)
        .ok_or_else(Problem::not_found)?;
    realm.revoke_session(&row.sid).await?;
    session::end(&*realm.store, &id, &row, now).await?;
    Ok(())
}
