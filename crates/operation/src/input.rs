//! What operations read: segments of the path, members of the query, the revision that is replaced,
//! and a document. An operation's input is one of these, or a tuple of them.
use crate::facts::{Described, Method, schema_of};
use crate::output::Json;
use crate::problem::Problem;
use crate::words;
use http::{StatusCode, header};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::json;
use signet_agent::AgentId;
use signet_encoding::base64url;
use signet_http::BodyError;
use signet_oauth::id::GrantId;
use signet_request::http::Context;

/// Entries of a page, where the caller does not say.
const PAGE: usize = 50;
/// Most entries of a page.
const MAX_PAGE: usize = 500;
const AFTER: &str = "after";
const LIMIT: &str = "limit";

/// The input of an operation, or a part of it.
pub trait Input: Sized + Send + 'static {
    /// Says in the document how it is given.
    fn describe(described: &mut Described, generator: &mut SchemaGenerator);

    /// Adds the members of the query that it reads.
    fn query(_known: &mut Vec<&'static str>) {}

    /// Reads it from a request.
    fn read(context: &mut Context) -> impl Future<Output = Result<Self, Problem>> + Send;
}

/// Reads an operation's whole input from a request.
pub async fn read<I: Input>(method: Method, context: &mut Context) -> Result<I, Problem> {
    let mut known = Vec::new();
    I::query(&mut known);
    // A list that is one page always may be asked for in pages like any other.
    if method == Method::Get && !known.contains(&AFTER) {
        known.extend([AFTER, LIMIT]);
    }
    let params = context.query_params()?;
    // A member of the query that means nothing here is a typing error, as it is in a body.
    if let Some((name, _)) = params.iter().find(|(name, _)| !known.contains(name)) {
        let said = words::unknown("query member", name, &known);
        return Err(Problem::invalid(said));
    }
    I::read(context).await
}

impl Input for () {
    fn describe(_: &mut Described, _: &mut SchemaGenerator) {}

    async fn read(_: &mut Context) -> Result<(), Problem> {
        Ok(())
    }
}

impl<A: Input, B: Input> Input for (A, B) {
    fn describe(described: &mut Described, generator: &mut SchemaGenerator) {
        A::describe(described, generator);
        B::describe(described, generator);
    }

    fn query(known: &mut Vec<&'static str>) {
        A::query(known);
        B::query(known);
    }

    async fn read(context: &mut Context) -> Result<(A, B), Problem> {
        Ok((A::read(context).await?, B::read(context).await?))
    }
}

impl<A: Input, B: Input, C: Input> Input for (A, B, C) {
    fn describe(described: &mut Described, generator: &mut SchemaGenerator) {
        <(A, B)>::describe(described, generator);
        C::describe(described, generator);
    }

    fn query(known: &mut Vec<&'static str>) {
        <(A, B)>::query(known);
        C::query(known);
    }

    async fn read(context: &mut Context) -> Result<(A, B, C), Problem> {
        let (a, b) = <(A, B)>::read(context).await?;
        Ok((a, b, C::read(context).await?))
    }
}

/// A segment of the path.
pub trait Segment: Sized + Send + 'static {
    /// As the row's path has it in braces.
    const NAME: &'static str;

    /// # Errors
    /// Where nothing can have this name.
    fn parse(text: &str) -> Result<Self, Problem>;
}

impl<T: Segment> Input for T {
    fn describe(described: &mut Described, _: &mut SchemaGenerator) {
        described.parameters.push(json!({
            "name": T::NAME, "in": "path", "required": true, "schema": { "type": "string" },
        }));
    }

    async fn read(context: &mut Context) -> Result<T, Problem> {
        // The router gave every segment that the row's path names.
        T::parse(context.param(T::NAME).unwrap_or_default())
    }
}

/// Segments that may be any text.
macro_rules! text_segments {
    ($($(#[$doc:meta])* $type:ident = $name:literal,)*) => {
        $(
            $(#[$doc])*
            pub struct $type(pub String);

            impl Segment for $type {
                const NAME: &'static str = $name;

                fn parse(text: &str) -> Result<$type, Problem> {
                    Ok($type(text.to_owned()))
                }
            }
        )*
    };
}

text_segments! {
    /// A client.
    ClientId = "client_id",
    /// A user: the `sub` of their tokens.
    UserId = "user_id",
    /// A session of a user.
    Sid = "sid",
    /// A kind of credential of a user.
    CredentialKindName = "kind",
    /// A credential of a user, among its kind.
    CredentialId = "credential_id",
    /// A resource server.
    Identifier = "identifier",
    /// A scope.
    ScopeName = "name",
    /// A node.
    NodeName = "node",
    /// A request, or its trace.
    TraceName = "trace",
    /// A group.
    GroupName = "group",
    /// A role, by its whole name.
    RoleName = "role",
    /// An API key, by its id.
    ApiKeyId = "api_key_id",
    /// A role of administrators.
    AdministratorRoleName = "administrator_role",
    /// An attribute of the schema.
    AttributeName = "attribute",
    /// An access rule.
    RuleName = "rule",
    /// An identity provider.
    ProviderName = "provider",
    /// A further realm of the process.
    RealmName = "realm",
    /// A kind of object that a directory declares.
    ObjectKind = "kind",
    /// Such an object, among its kind.
    ObjectName = "name",
}

impl Segment for AgentId {
    const NAME: &'static str = "agent_id";

    fn parse(text: &str) -> Result<AgentId, Problem> {
        text.parse().map_err(|_| Problem::not_found())
    }
}

/// A grant, by its id.
impl Segment for GrantId {
    const NAME: &'static str = "grant_id";

    fn parse(text: &str) -> Result<GrantId, Problem> {
        grant_id(text).ok_or_else(Problem::not_found)
    }
}

/// The id of a grant, of the text that names it; None: it is none.
pub fn grant_id(text: &str) -> Option<GrantId> {
    GrantId::from_slice(&base64url::decode(text.as_bytes()).ok()?)
}

/// A page of a list: everything after `after`, at most `limit`.
pub struct Page {
    /// The `next` of the page before.
    pub after: Option<String>,
    /// Most items.
    pub limit: usize,
}

impl Input for Page {
    fn describe(described: &mut Described, _: &mut SchemaGenerator) {
        described.parameters.push(json!({
            "name": AFTER, "in": "query", "schema": { "type": "string" },
            "description": "`next` of the page before",
        }));
        described.parameters.push(json!({
            "name": LIMIT, "in": "query",
            "schema": { "type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": PAGE },
        }));
    }

    fn query(known: &mut Vec<&'static str>) {
        known.extend([AFTER, LIMIT]);
    }

    async fn read(context: &mut Context) -> Result<Page, Problem> {
        let params = context.query_params()?;
        let limit = match params.get(LIMIT) {
            None => PAGE,
            Some(text) => text
                .parse()
                .ok()
                .filter(|limit| (1..=MAX_PAGE).contains(limit))
                .ok_or_else(|| Problem::invalid("limit must be a number from 1 to 500"))?,
        };
        Ok(Page {
            after: params.get(AFTER).map(str::to_owned),
            limit,
        })
    }
}

/// Members of the query beside those of [`Page`].
pub trait Members: Sized + Send + 'static {
    /// Name, and what it does.
    const MEMBERS: &'static [(&'static str, &'static str)];

    /// `member`: the text of a member of this name.
    fn parse<'a>(member: impl Fn(&str) -> Option<&'a str>) -> Result<Self, Problem>;
}

/// The members of a query as an input.
pub struct Query<T>(pub T);

impl<T: Members> Input for Query<T> {
    fn describe(described: &mut Described, _: &mut SchemaGenerator) {
        for (name, description) in T::MEMBERS {
            described.parameters.push(json!({
                "name": name, "in": "query", "schema": { "type": "string" },
                "description": description,
            }));
        }
    }

    fn query(known: &mut Vec<&'static str>) {
        known.extend(T::MEMBERS.iter().map(|(name, _)| *name));
    }

    async fn read(context: &mut Context) -> Result<Query<T>, Problem> {
        let params = context.query_params()?;
        T::parse(|name| params.get(name)).map(Query)
    }
}

/// The revision that was read and is to be replaced (`If-Match`); required, unless it is an
/// `Option`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Revision(pub u64);

impl Revision {
    fn describe(described: &mut Described, required: bool) {
        described.parameters.push(json!({
            "name": "If-Match", "in": "header", "required": required,
            "schema": { "type": "string" },
            "description": "the ETag of the record as it was read",
        }));
    }
}

impl Input for Option<Revision> {
    fn describe(described: &mut Described, _: &mut SchemaGenerator) {
        Revision::describe(described, false);
    }

    async fn read(context: &mut Context) -> Result<Option<Revision>, Problem> {
        let Some(value) = context.headers.get(header::IF_MATCH) else {
            return Ok(None);
        };
        value
            .to_str()
            .ok()
            .and_then(|text| text.strip_prefix('"')?.strip_suffix('"')?.parse().ok())
            .map(|revision| Some(Revision(revision)))
            .ok_or_else(|| Problem::invalid("If-Match must be one ETag of this record"))
    }
}

impl Input for Revision {
    fn describe(described: &mut Described, _: &mut SchemaGenerator) {
        Revision::describe(described, true);
    }

    async fn read(context: &mut Context) -> Result<Revision, Problem> {
        Option::<Revision>::read(context).await?.ok_or_else(|| {
            Problem::new(
                StatusCode::PRECONDITION_REQUIRED,
                "revision_required",
                "send the revision that was read as If-Match, so that no change of others is lost",
            )
        })
    }
}

impl<T: DeserializeOwned + JsonSchema + Send + 'static> Input for Json<T> {
    fn describe(described: &mut Described, generator: &mut SchemaGenerator) {
        described.request = Some(schema_of::<T>()(generator));
    }

    /// Members that the model has not are refused: a typing error must not pass for a change.
    async fn read(context: &mut Context) -> Result<Json<T>, Problem> {
        parse(&body(context).await?).map(Json)
    }
}

/// The body, which must be JSON.
pub async fn body(context: &mut Context) -> Result<bytes::Bytes, Problem> {
    if !context.content_type_is("application/json") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "the content type must be application/json",
        ));
    }
    context.body().await.map_err(|error| match error {
        BodyError::TooLarge => Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            "the body is too large",
        ),
        BodyError::TimedOut | BodyError::Broken | BodyError::MediaType => {
            Problem::invalid("the body did not arrive")
        }
    })
}

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(body);
    let read = serde_path_to_error::deserialize(&mut reader);
    let read = read.map_err(|error| Problem::invalid(words::of(&error)))?;
    match reader.end() {
        Ok(()) => Ok(read),
        Err(_) => Err(Problem::invalid("something stands behind the document")),
    }
}
