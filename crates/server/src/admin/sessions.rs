//! Users' login sessions.
use super::{
    call::{Call, Reply},
    model::{List, SessionDocument},
    operation::{Method, Operation, Outcome, handler},
    problem::Problem,
};
use crate::session;
use schemars::JsonSchema;
use serde::Serialize;

const ALL: &str = "/admin/v1/sessions";

const LIST: &str = "/admin/v1/users/{user_id}/sessions";
const ONE: &str = "/admin/v1/users/{user_id}/sessions/{sid}";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listAllSessions", Method::Get, ALL, "List everybody's sessions, user by user", handler!(list_all))
        .paged().answers::<List<OfUser<SessionDocument>>>(200),
    Operation::new("listSessions", Method::Get, LIST, "List a user's sessions, latest use first", handler!(list))
        .answers::<List<SessionDocument>>(200),
    Operation::new("endSession", Method::Delete, ONE, "End a session and the tokens that came of it", handler!(end)),
];

/// Something that belongs to a user, and whose it is.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "{T}OfUser")]
pub(super) struct OfUser<T> {
    pub(super) user_id: String,
    /// None: the account is gone.
    pub(super) username: Option<String>,
    #[serde(flatten)]
    pub(super) item: T,
}

/// The names of users, each asked for once: a page has many rows of few users.
#[derive(Default)]
pub(super) struct Names(Option<(String, Option<String>)>);

impl Names {
    pub(super) async fn of(
        &mut self,
        call: &Call,
        user_id: &str,
    ) -> Result<Option<String>, Problem> {
        if let Some((id, name)) = &self.0
            && id == user_id
        {
            return Ok(name.clone());
        }
        let users = &call.realm().people.users;
        let user = users.by_id(user_id, call.now()).await?;
        let name = user.map(|user| user.username);
        self.0 = Some((user_id.to_owned(), name.clone()));
        Ok(name)
    }
}

async fn list_all(call: Call) -> Outcome {
    let page = call.page()?;
    let after = page
        .after
        .as_deref()
        .and_then(|after| after.split_once(' '));
    let store = &*call.realm().store;
    let (rows, next) = session::page(store, after, page.limit, call.now()).await?;
    let mut names = Names::default();
    let mut items = Vec::with_capacity(rows.len());
    for row in rows {
        let user_id = row.user_id.clone();
        items.push(OfUser {
            username: names.of(&call, &user_id).await?,
            user_id,
            item: SessionDocument::from(row),
        });
    }
    let next = next.map(|(user_id, sid)| format!("{user_id} {sid}"));
    Reply::ok(&List { items, next })
}

async fn list(call: Call) -> Outcome {
    let sessions = session::list(&*call.realm().store, call.segment("user_id"), call.now()).await?;
    let items = sessions
        .into_iter()
        .map(|(_, row)| SessionDocument::from(row))
        .collect();
    Reply::ok(&List { items, next: None })
}

async fn end(call: Call) -> Outcome {
    let (realm, now) = (call.realm(), call.now());
    let sessions = session::list(&*realm.store, call.segment("user_id"), now).await?;
    let sid = call.segment("sid");
    let (id, row) = sessions
        .into_iter()
        .find(|(_, row)| row.sid == sid)
        .ok_or_else(Problem::not_found)?;
    realm.revoke_session(&row.sid).await?;
    session::end(&*realm.store, &id, &row, now).await?;
    Reply::done()
}
