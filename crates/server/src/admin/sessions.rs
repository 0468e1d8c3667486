//! Users' login sessions.
use super::{
    call::{Call, Reply},
    model::{List, SessionDocument},
    operation::{Method, Operation, Outcome, handler},
    problem::Problem,
};
use crate::session;

const LIST: &str = "/admin/v1/users/{user_id}/sessions";
const ONE: &str = "/admin/v1/users/{user_id}/sessions/{sid}";

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listSessions", Method::Get, LIST, "List a user's sessions, latest use first", handler!(list))
        .answers::<List<SessionDocument>>(200),
    Operation::new("endSession", Method::Delete, ONE, "End a session and the tokens that came of it", handler!(end)),
];

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
