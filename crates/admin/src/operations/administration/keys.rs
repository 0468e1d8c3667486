//! API keys.
use crate::operations::model::List;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use signet_operation::adapter::Row;
use signet_operation::api_key::{
    self, ApiKey, MAX_API_KEY_NAME_BYTES, MAX_API_KEY_SECONDS, MIN_API_KEY_SECONDS, Maker,
};
use signet_operation::caller::Acting;
use signet_operation::facts::Method;
use signet_operation::input::{ApiKeyId, Page};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Created, Json};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_operation::roles::Rights;
use signet_operation::target::expect_may_give;
use signet_realm::state::Realm;
use std::sync::Arc;

const LIST: &str = "/admin/v1/api-keys";
const ONE: &str = "/admin/v1/api-keys/{api_key_id}";

/// API keys.
pub const API_KEYS: Noun = Noun {
    name: "api_key",
    list: LIST,
    id: "id",
    columns: &[
        "name",
        "id",
        "roles",
        "expires_at",
        "last_used_at",
        "made_by",
    ],
    sorted_by: None,
    written: &[NewKey::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listApiKeys", Area::Administration, Read, Method::Get, LIST, "List the API keys, without their secrets", run!(list)),
    &Operation::new("createApiKey", Area::Administration, Write, Method::Post, LIST, "Make an API key, which is shown here and never again", |acting, input| Box::pin(create(Arc::clone(&acting.realm), Asking::of(acting), input))),
    &Operation::new("removeApiKey", Area::Administration, Write, Method::Delete, ONE, "Remove an API key: it is valid no more, on no node", run!(remove)),
];

/// A key. Times are Unix seconds.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ApiKey")]
struct KeyDocument {
    id: String,
    name: String,
    /// Names of roles of administrators.
    roles: Vec<String>,
    /// The id of the user, or the `client_id`, whose rights are its bounds.
    made_by: String,
    created_at: u64,
    expires_at: u64,
    /// Exact to a minute. Left out: it was not used.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_used_at: Option<u64>,
    /// The key itself, once.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key: Option<String>,
}

impl KeyDocument {
    fn new(key: ApiKey, last_used_at: Option<u64>) -> KeyDocument {
        let (Maker::User(made_by) | Maker::Client(made_by)) = key.made_by;
        KeyDocument {
            id: key.id,
            name: key.name,
            roles: key.roles,
            made_by,
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at,
            api_key: None,
        }
    }
}

/// An API key to be made.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewKey {
    /// For people: what it is for.
    name: String,
    /// Names of roles of administrators, of which its maker has the rights.
    roles: Vec<String>,
    /// Seconds until it ends: 60 to 31622400, 366 days.
    expires_in: u64,
}

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<KeyDocument>>, Problem> {
    let after = page.after.as_deref().unwrap_or_default();
    let keys = api_key::list(&realm, after, page.limit + 1).await?;
    let items = keys.into_iter();
    let items = items
        .map(|(key, used)| KeyDocument::new(key, used))
        .collect();
    Ok(Json(List::cut(items, page.limit, |key| key.id.clone())))
}

/// Who makes a key.
struct Asking {
    maker: Option<Maker>,
    rights: Rights,
}

impl Asking {
    fn of(acting: &Acting) -> Asking {
        Asking {
            maker: acting.admin.maker(),
            rights: acting.admin.rights.clone(),
        }
    }
}

async fn create(
    realm: Arc<Realm>,
    asking: Asking,
    Json(wanted): Json<NewKey>,
) -> Result<Created<Json<KeyDocument>>, Problem> {
    if !asking.rights.is_owner() || asking.rights.is_for_reading() {
        return Err(Problem::insufficient_role("API keys are made by owners"));
    }
    let maker = asking.maker.ok_or_else(|| {
        Problem::conflict(
            "not_of_this_realm",
            "a key is made by a person or a client of its realm: neither by another key, nor from the first realm",
        )
    })?;
    let name = wanted.name.trim().to_owned();
    if !(1..=MAX_API_KEY_NAME_BYTES).contains(&name.len()) || name.chars().any(char::is_control) {
        return Err(Problem::invalid(format!(
            "name: a line of 1 to {MAX_API_KEY_NAME_BYTES} bytes"
        )));
    }
    if !(MIN_API_KEY_SECONDS..=MAX_API_KEY_SECONDS).contains(&wanted.expires_in) {
        return Err(Problem::invalid(format!(
            "expires_in: {MIN_API_KEY_SECONDS} to {MAX_API_KEY_SECONDS} seconds"
        )));
    }
    let mut roles = wanted.roles;
    roles.sort_unstable();
    roles.dedup();
    if roles.is_empty() {
        return Err(Problem::invalid("roles: a key has at least one"));
    }
    expect_may_give(&asking.rights, &realm, &roles).await?;
    let (key, text) = api_key::make(&realm, name, roles, maker, wanted.expires_in).await?;
    let mut shown = KeyDocument::new(key, None);
    shown.api_key = Some(text.expose().clone());
    Ok(Created(Json(shown)))
}

async fn remove(realm: Arc<Realm>, ApiKeyId(id): ApiKeyId) -> Result<(), Problem> {
    api_key::remove(&realm, &id).await
}
