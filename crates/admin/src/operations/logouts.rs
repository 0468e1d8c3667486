//! What goes out: logout notices that clients received or are still to receive, and mails that
//! wait.
use crate::operations::model::List;
use schemars::JsonSchema;
use serde::Serialize;
use signet_directory::logout_notice::{NOTICES, Notice};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::Page;
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::Read;
use signet_outbox::{Item, State};
use signet_realm::outbox::waiting_mails;
use signet_realm::state::Realm;
use std::sync::Arc;

const LIST: &str = "/admin/v1/logouts";
const MAILS: &str = "/admin/v1/mails";

/// Back-channel logouts.
pub const LOGOUTS: Noun = Noun {
    name: "logout",
    list: LIST,
    id: "id",
    columns: &["client_id", "sid", "state", "attempts", "last", "made_at"],
    sorted_by: None,
    written: &[],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listLogouts", Area::Sessions, Read, Method::Get, LIST, "List the logout notices that clients receive", run!(list)),
    &Operation::new("listMails", Area::People, Read, Method::Get, MAILS, "List the mails that have not gone out yet", run!(list_mails)),
];

/// A mail that waits. What it says, and to which address, is sealed.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Mail")]
struct MailDocument {
    id: String,
    /// Its name in the audit trail, which has those that were sent, and that were given up.
    operation: String,
    /// Whose account it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    made_at: u64,
    /// After that it is not sent any more.
    expires_at: u64,
    /// How often it was sent.
    attempts: u32,
    /// The result of the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// When it was last sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_at: Option<u64>,
}

async fn list_mails(realm: Arc<Realm>, page: Page) -> Result<Json<List<MailDocument>>, Problem> {
    let (mails, next) = waiting_mails(&realm, page.after.as_deref(), page.limit).await?;
    let items = mails.into_iter().map(|mail| MailDocument {
        id: mail.id,
        operation: mail.operation,
        user_id: mail.user_id,
        made_at: mail.made_at,
        expires_at: mail.expires_at,
        attempts: mail.attempts,
        last: mail.last,
        last_at: mail.last_at,
    });
    Ok(Json(List {
        items: items.collect(),
        next,
    }))
}

/// The logout notice of one session to one client.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Logout")]
struct LogoutDocument {
    /// The `jti` of its logout tokens.
    id: String,
    client_id: String,
    user_id: String,
    sid: String,
    /// `waiting`, `delivered` or `failed`.
    state: &'static str,
    /// When the session ended.
    made_at: u64,
    /// How often it was sent.
    attempts: u32,
    /// The result of the last attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// When it was last sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_at: Option<u64>,
}

impl From<Item<Notice>> for LogoutDocument {
    fn from(item: Item<Notice>) -> LogoutDocument {
        LogoutDocument {
            id: item.id,
            client_id: item.what.client_id,
            user_id: item.what.user_id,
            sid: item.what.sid,
            state: match item.state {
                // A list leaves watches out.
                State::Watching | State::Waiting => "waiting",
                State::Delivered => "delivered",
                State::Failed => "failed",
            },
            made_at: item.made_at,
            attempts: item.attempts,
            last: item.last,
            last_at: item.last_at,
        }
    }
}

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<LogoutDocument>>, Problem> {
    let after = page.after.as_deref();
    let found = NOTICES
        .page(&*realm.store, after, page.limit, realm.now())
        .await?;
    let (notices, next) = found;
    let items = notices.into_iter().map(LogoutDocument::from).collect();
    Ok(Json(List { items, next }))
}
