//! SCIM 2.0 (RFC 7643, RFC 7644): accounts and groups as a directory's provisioning keeps them.
//!
//! Every call needs an access token with the scope `signet:scim`, whose client may still have it.
//! What is written goes the way of the admin API, and is recorded like it. `signet-scim` reads
//! filters, paths and patches; here is what they mean for an account and a group.
#![forbid(unsafe_code)]

mod answer;
mod bulk;
mod caller;
mod discovery;
mod groups;
mod query;
mod users;

use answer::{Answer, Refusal};
use caller::Caller;
use http::Method;
use query::{Filling, Query};
use serde_json::{Map, Value};
use signet_admin::provisioned::{Right, Rights, expect_over_user};
use signet_audit::{Action, Event};
use signet_directory::User;
use signet_realm::state::Realm;
use signet_request::http::{Context, Response, Router};
use std::sync::Arc;

/// Where it begins, below the issuer.
pub const BASE: &str = "/scim/v2";

/// The kinds of resources.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resource {
    User,
    Group,
}

impl Resource {
    const ALL: [Resource; 2] = [Resource::User, Resource::Group];

    const fn name(self) -> &'static str {
        match self {
            Resource::User => "User",
            Resource::Group => "Group",
        }
    }

    /// The path of all of them, below the base.
    const fn endpoint(self) -> &'static str {
        match self {
            Resource::User => "/Users",
            Resource::Group => "/Groups",
        }
    }

    const fn schema(self) -> &'static str {
        match self {
            Resource::User => "urn:ietf:params:scim:schemas:core:2.0:User",
            Resource::Group => "urn:ietf:params:scim:schemas:core:2.0:Group",
        }
    }
}

/// A request for one resource, from the wire or from a bulk request.
struct Request<'a> {
    realm: &'a Arc<Realm>,
    /// The URL of the service, for locations.
    base: &'a str,
    resource: Resource,
    method: &'a Method,
    id: Option<&'a str>,
    body: Option<Value>,
    /// `If-Match`.
    version: Option<&'a str>,
    query: &'a Query,
    /// The caller administers, too.
    administers: bool,
    /// What the caller may.
    rights: &'a Rights,
}

impl Request<'_> {
    fn object(&self) -> Result<&Map<String, Value>, Refusal> {
        let object = self.body.as_ref().and_then(Value::as_object);
        object.ok_or_else(|| Refusal::syntax("the body is an object"))
    }

    /// Whether the caller may change this account. A right to provision is kept like one that does
    /// not administer: with the password, the address or the removal of an administrator's account
    /// it would be one that does. The flag of the account is all that gives administration, no
    /// group or role does; the rules about groups can keep an administrator out, so membership is
    /// part of the account here.
    fn expect_may_change(&self, user: &User) -> Result<(), Refusal> {
        if !user.admin {
            return Ok(());
        }
        if !self.administers {
            return Err(Refusal::of_administrator());
        }
        let registry = &self.realm.snapshot().registry;
        Ok(expect_over_user(self.rights, user, registry)?)
    }

    /// Performs it.
    async fn perform(&self) -> Result<Answer, Refusal> {
        match self.resource {
            Resource::User => users::perform(self).await,
            Resource::Group => groups::perform(self).await,
        }
    }

    /// Performs it for somebody, and has it recorded where it changes something.
    async fn act(&self, caller: &Caller, event: Event<'_>) -> Result<Answer, Refusal> {
        if *self.method == Method::GET {
            caller.expect(Right::Read)?;
            return Box::pin(self.perform()).await;
        }
        let operation = match (self.resource, self.method.as_str()) {
            (Resource::User, "POST") => "scimCreateUser",
            (Resource::User, "PUT") => "scimReplaceUser",
            (Resource::User, "PATCH") => "scimPatchUser",
            (Resource::User, _) => "scimRemoveUser",
            (Resource::Group, "POST") => "scimCreateGroup",
            (Resource::Group, "PUT") => "scimReplaceGroup",
            (Resource::Group, "PATCH") => "scimPatchGroup",
            (Resource::Group, _) => "scimRemoveGroup",
        };
        let event = event
            .subject(&caller.who)
            .operation(operation)
            .target(self.id.unwrap_or_default());
        let work = async {
            caller.expect(Right::Write)?;
            Box::pin(self.perform()).await
        };
        self.realm.audit().act(event, work, Refusal::code).await
    }
}

/// Adds the routes.
pub fn routes(router: &mut Router) {
    const USER: &str = "/scim/v2/Users/{id}";
    const GROUP: &str = "/scim/v2/Groups/{id}";
    for (path, resource) in [
        ("/scim/v2/Users", Resource::User),
        ("/scim/v2/Groups", Resource::Group),
    ] {
        for method in [Method::GET, Method::POST] {
            router.route(method, path, move |context| serve(context, resource));
        }
    }
    for (path, resource) in [(USER, Resource::User), (GROUP, Resource::Group)] {
        for method in [Method::GET, Method::PUT, Method::PATCH, Method::DELETE] {
            router.route(method, path, move |context| serve(context, resource));
        }
    }
    for (path, resource) in [
        ("/scim/v2/Users/.search", Resource::User),
        ("/scim/v2/Groups/.search", Resource::Group),
    ] {
        router.post(path, move |context| search(context, vec![resource]));
    }
    router.post("/scim/v2/.search", |context| {
        search(context, Resource::ALL.to_vec())
    });
    // What is not there is not there in SCIM's words, either.
    for method in [
        Method::GET,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
    ] {
        router.route(method, "/scim/v2/{other}", |_| async {
            Refusal::not_found().into_response()
        });
    }
    router.post("/scim/v2/Bulk", bulk::serve);
    for path in [
        "/scim/v2/ServiceProviderConfig",
        "/scim/v2/ResourceTypes",
        "/scim/v2/ResourceTypes/{id}",
        "/scim/v2/Schemas",
        "/scim/v2/Schemas/{id}",
    ] {
        router.get(path, discovery::serve);
    }
}

/// The URL of the service, as the request was sent to it.
fn base_of(context: &Context) -> String {
    let issuer = &context.snapshot.settings.issuer;
    format!("{issuer}{BASE}")
}

async fn serve(context: Context, resource: Resource) -> Response {
    answer(answered(context, resource).await)
}

fn answer(result: Result<Answer, Refusal>) -> Response {
    match result {
        Ok(answer) => answer.into_response(),
        Err(refusal) => refusal.into_response(),
    }
}

async fn answered(mut context: Context, resource: Resource) -> Result<Answer, Refusal> {
    let caller = Caller::of_request(&context).await?;
    let params = context.query_params();
    let params = params.map_err(|_| Refusal::syntax("the query cannot be read"))?;
    let query = Query::of_params(&params)?;
    let body = match context.method {
        Method::POST | Method::PUT | Method::PATCH => Some(read(&mut context).await?),
        _ => None,
    };
    let id = context.param("id").map(str::to_owned);
    let version = context.header(http::header::IF_MATCH).map(str::to_owned);
    let base = base_of(&context);
    let request = Request {
        realm: &context.realm,
        base: &base,
        resource,
        method: &context.method,
        id: id.as_deref(),
        body,
        version: version.as_deref(),
        query: &query,
        administers: caller.administers,
        rights: &caller.rights,
    };
    let event = context.event(Action::ADMIN);
    let mut answer = request.act(&caller, event).await?;
    // RFC 7232 section 3.2: what the client has is not sent again.
    if let (Some(known), Some(tag)) = (context.header(http::header::IF_NONE_MATCH), &answer.etag)
        && context.method == Method::GET
        && known == tag
    {
        answer = Answer::not_modified(tag.clone());
    }
    Ok(answer)
}

/// A search by POST (RFC 7644 section 3.4.3).
async fn search(mut context: Context, resources: Vec<Resource>) -> Response {
    let found = async {
        let caller = Caller::of_request(&context).await?;
        caller.expect(Right::Read)?;
        let body = read(&mut context).await?;
        let object = body.as_object();
        let query =
            Query::of_body(object.ok_or_else(|| Refusal::syntax("the body is an object"))?)?;
        let base = base_of(&context);
        let mut page = Filling::new(&query);
        for resource in resources {
            let request = Request {
                realm: &context.realm,
                base: &base,
                resource,
                method: &Method::GET,
                id: None,
                body: None,
                version: None,
                query: &query,
                administers: false,
                rights: &caller.rights,
            };
            match resource {
                Resource::User => Box::pin(users::fill(&request, &mut page)).await?,
                Resource::Group => Box::pin(groups::fill(&request, &mut page)).await?,
            }
        }
        Ok(Answer::of(page.message()))
    };
    let found = found.await;
    answer(found)
}

/// The body, which is JSON.
async fn read(context: &mut Context) -> Result<Value, Refusal> {
    let is_json = ["application/scim+json", "application/json"]
        .iter()
        .any(|media| context.content_type_is(media));
    if !is_json {
        return Err(Refusal::plain(
            415,
            "the content type is application/scim+json",
        ));
    }
    let body = context.body().await.map_err(|error| match error {
        signet_http::BodyError::TooLarge => Refusal::plain(413, "the body is too large"),
        signet_http::BodyError::TimedOut
        | signet_http::BodyError::Broken
        | signet_http::BodyError::MediaType => Refusal::syntax("the body did not arrive"),
    })?;
    serde_json::from_slice(&body).map_err(|_| Refusal::syntax("the body is not JSON"))
}
