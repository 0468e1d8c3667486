//! Resource servers and scopes.
use crate::operations::model::{
    List, ResourceChange, ResourceDocument, ScopeChange, ScopeDocument,
};
use schemars::JsonSchema;
use signet_crypto::Algorithm;
use signet_oauth::issued::format::AccessTokenFormat;
use signet_oauth::people::claim_rules::TableOf;
use signet_oauth::registry::{Descriptions, Resource, ScopeEntry};
use signet_oauth::scope::{PRIVILEGED, ScopeSet};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::input::{Identifier, Page, Revision, ScopeName};
use signet_operation::noun::Noun;
use signet_operation::operation::{Operation, run};
use signet_operation::output::{Json, Revised, Written};
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::state::Realm;
use signet_registry::kinds::RecordKind;
use std::sync::Arc;

const LIST: &str = "/admin/v1/resources";
const ONE: &str = "/admin/v1/resources/{identifier}";
const ALL_SCOPES: &str = "/admin/v1/scopes";
const SCOPE: &str = "/admin/v1/scopes/{name}";

const MAX_IDENTIFIER_BYTES: usize = 1024;
const MAX_TEXT_BYTES: usize = 512;

/// Resource servers.
pub const RESOURCES: Noun = Noun {
    name: "resource",
    list: LIST,
    id: "identifier",
    columns: &[
        "identifier",
        "name",
        "scope",
        "access_token_signed_response_alg",
        "access_token_format",
    ],
    sorted_by: None,
    written: &[ResourceChange::json_schema],
};

/// Scopes.
pub const SCOPES: Noun = Noun {
    name: "scope",
    list: ALL_SCOPES,
    id: "name",
    columns: &["name", "published", "description", "descriptions"],
    sorted_by: None,
    written: &[ScopeChange::json_schema],
};

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("listResources", Area::Clients, Read, Method::Get, LIST, "List resource servers", run!(list)),
    &Operation::new("showResource", Area::Clients, Read, Method::Get, ONE, "Show a resource server", run!(show)),
    &Operation::new("writeResource", Area::Clients, Write, Method::Put, ONE, "Add a resource server; with If-Match, replace one", run!(write)),
    &Operation::new("removeResource", Area::Clients, Write, Method::Delete, ONE, "Remove a resource server", run!(remove)),
    &Operation::new("listScopes", Area::Clients, Read, Method::Get, ALL_SCOPES, "List scopes", run!(list_scopes)),
    &Operation::new("writeScope", Area::Clients, Write, Method::Put, SCOPE, "Add or replace a scope", run!(write_scope)),
    &Operation::new("removeScope", Area::Clients, Write, Method::Delete, SCOPE, "Remove a scope; a standard one goes back to its own words", run!(remove_scope)),
];

async fn list(realm: Arc<Realm>, page: Page) -> Result<Json<List<ResourceDocument>>, Problem> {
    let snapshot = realm.snapshot();
    let registry = &snapshot.registry;
    let after = page.after.as_deref();
    let mut found: Vec<&Resource> = registry
        .resources
        .values()
        .map(|resource| &**resource)
        .filter(|resource| after.is_none_or(|after| resource.identifier.as_str() > after))
        .collect();
    found.sort_unstable_by(|a, b| a.identifier.cmp(&b.identifier));
    found.truncate(page.limit + 1);
    let items = found.into_iter().map(ResourceDocument::from).collect();
    Ok(Json(List::cut(
        items,
        page.limit,
        |resource: &ResourceDocument| resource.identifier.clone(),
    )))
}

fn shown(resource: &Resource) -> Revised<ResourceDocument> {
    Revised {
        value: ResourceDocument::from(resource),
        revision: resource.revision,
    }
}

async fn show(
    realm: Arc<Realm>,
    Identifier(identifier): Identifier,
) -> Result<Revised<ResourceDocument>, Problem> {
    // What another node wrote a moment ago may not have come here yet.
    realm.learn(RecordKind::Resource, &identifier).await?;
    let snapshot = realm.snapshot();
    let found = snapshot.registry.resource(&identifier);
    found
        .map(|resource| shown(resource))
        .ok_or_else(Problem::not_found)
}

fn short(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TEXT_BYTES && !text.chars().any(char::is_control)
}

async fn write(
    realm: Arc<Realm>,
    (Identifier(identifier), revision, Json(wanted)): (
        Identifier,
        Option<Revision>,
        Json<ResourceChange>,
    ),
) -> Result<Written<Revised<ResourceDocument>>, Problem> {
    let read = revision.map(|Revision(read)| read);
    let resource = shown(&*put(&realm, identifier, wanted, read).await?);
    Ok(match read {
        None => Written::New(resource),
        Some(_) => Written::Replaced(resource),
    })
}

/// Writes a resource server.
pub(crate) async fn put(
    realm: &Realm,
    identifier: String,
    wanted: ResourceChange,
    read: Option<u64>,
) -> Result<Arc<Resource>, Problem> {
    // RFC 8707 section 2: an absolute URI without fragment.
    let is_uri = identifier.split_once(':').is_some_and(|(scheme, rest)| {
        let fits = |b: u8| b.is_ascii_alphanumeric() || b"+-.".contains(&b);
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(fits)
            && !rest.is_empty()
    });
    let printable = identifier
        .bytes()
        .all(|b| b.is_ascii_graphic() && b != b'#');
    if !is_uri || !printable || identifier.len() > MAX_IDENTIFIER_BYTES {
        return Err(Problem::invalid(
            "the identifier must be an absolute URI without fragment (RFC 8707 section 2)",
        ));
    }
    if wanted
        .identifier
        .as_deref()
        .is_some_and(|id| id != identifier)
    {
        return Err(Problem::invalid("the identifier cannot be changed"));
    }
    if wanted.name.as_deref().is_some_and(|name| !short(name)) {
        return Err(Problem::invalid("name must be a short text"));
    }
    let snapshot = realm.snapshot();
    let settings = &snapshot.settings;
    let algorithm = match wanted.access_token_signed_response_alg.as_deref() {
        None => None,
        Some(name) => Some(
            Algorithm::from_name(name)
                .filter(|algorithm| settings.signing_algs.contains(algorithm))
                .ok_or_else(|| {
                    Problem::invalid(
                        "access_token_signed_response_alg is not one that this server signs with",
                    )
                })?,
        ),
    };
    let format = match wanted.access_token_format.as_deref() {
        None => None,
        Some(name) => Some(
            AccessTokenFormat::from_name(name)
                .ok_or_else(|| Problem::invalid("access_token_format must be jwt or compact"))?,
        ),
    };
    let people = &realm.snapshot().registry.people;
    let claims = wanted.claims.read(TableOf::Resource, people, format);
    let claims = claims.map_err(Problem::invalid)?;
    let resource = Resource {
        identifier,
        name: wanted.name,
        scopes: ScopeSet::parse(&wanted.scope)?,
        access_token_signed_response_alg: algorithm,
        access_token_format: format,
        access_token_lifetime: wanted.access_token_lifetime,
        introspectors: wanted.introspectors,
        claims,
        revision: read.unwrap_or(0).saturating_add(1),
    };
    Ok(realm.write_record(resource, read).await?)
}

async fn remove(realm: Arc<Realm>, Identifier(identifier): Identifier) -> Result<(), Problem> {
    realm.learn(RecordKind::Resource, &identifier).await?;
    Ok(realm.remove_record::<Resource>(&identifier, None).await?)
}

async fn list_scopes(realm: Arc<Realm>, (): ()) -> Result<Json<List<ScopeDocument>>, Problem> {
    let snapshot = realm.snapshot();
    let scopes = snapshot.registry.scopes.iter();
    let items = scopes.map(ScopeDocument::from).collect();
    Ok(Json(List { items, next: None }))
}

async fn write_scope(
    realm: Arc<Realm>,
    (ScopeName(name), Json(wanted)): (ScopeName, Json<ScopeChange>),
) -> Result<Json<ScopeDocument>, Problem> {
    realm.learn(RecordKind::Scope, &name).await?;
    put_scope(&realm, name, wanted).await.map(Json)
}

/// Writes a scope.
pub(crate) async fn put_scope(
    realm: &Realm,
    name: String,
    wanted: ScopeChange,
) -> Result<ScopeDocument, Problem> {
    let one = ScopeSet::parse(&name).is_ok_and(|scope| scope.iter().eq([name.as_str()]));
    if !one || PRIVILEGED.contains(&name.as_str()) {
        return Err(Problem::invalid(
            "the name must be one scope token (RFC 6749 section 3.3)",
        ));
    }
    if !short(&wanted.description) {
        return Err(Problem::invalid("description must be a short text"));
    }
    let descriptions = wanted.descriptions.map(Descriptions::read).transpose();
    let descriptions =
        descriptions.map_err(|why| Problem::invalid(format!("descriptions: {why}")))?;
    let snapshot = realm.snapshot();
    let known = snapshot.registry.scope(&name);
    let claims = match &wanted.claims {
        Some(table) => table
            .read(TableOf::Scope, &snapshot.registry.people, None)
            .map_err(Problem::invalid)?,
        None => known.map(|known| known.claims.clone()).unwrap_or_default(),
    };
    let before = || known.map(|known| known.descriptions.clone());
    let descriptions = descriptions.or_else(before).unwrap_or_default();
    let entry = ScopeEntry {
        name,
        description: wanted.description,
        descriptions,
        published: wanted.published,
        claims,
    };
    let document = ScopeDocument::from(&entry);
    realm.put_record(entry).await?;
    Ok(document)
}

async fn remove_scope(realm: Arc<Realm>, ScopeName(name): ScopeName) -> Result<(), Problem> {
    realm.learn(RecordKind::Scope, &name).await?;
    Ok(realm.remove_record::<ScopeEntry>(&name, None).await?)
}
