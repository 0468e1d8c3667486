//! Resource servers and scopes.
use super::{
    call::{Call, Reply},
    model::{List, ResourceChange, ResourceDocument, ScopeChange, ScopeDocument},
    operation::{IfMatch, Method, Operation, Outcome, handler},
    problem::Problem,
};
use crate::registry::RegistryError;
use http::StatusCode;
use signet_crypto::Algorithm;
use signet_oauth::{
    format::AccessTokenFormat,
    registry::{Resource, ScopeEntry},
    scope::{ADMIN, REVOCATIONS, ScopeSet},
};

const LIST: &str = "/admin/v1/resources";
const ONE: &str = "/admin/v1/resources/{identifier}";
const SCOPES: &str = "/admin/v1/scopes";
const SCOPE: &str = "/admin/v1/scopes/{name}";

const MAX_IDENTIFIER_BYTES: usize = 1024;
const MAX_TEXT_BYTES: usize = 512;

#[rustfmt::skip]
pub(super) const OPERATIONS: &[Operation] = &[
    Operation::new("listResources", Method::Get, LIST, "List resource servers", handler!(list))
        .paged().answers::<List<ResourceDocument>>(200),
    Operation::new("showResource", Method::Get, ONE, "Show a resource server", handler!(show))
        .answers::<ResourceDocument>(200),
    Operation::new("writeResource", Method::Put, ONE, "Add a resource server; with If-Match, replace one", handler!(write))
        .if_match(IfMatch::Optional).takes::<ResourceChange>().answers::<ResourceDocument>(200),
    Operation::new("removeResource", Method::Delete, ONE, "Remove a resource server", handler!(remove)),
    Operation::new("listScopes", Method::Get, SCOPES, "List scopes", handler!(list_scopes))
        .answers::<List<ScopeDocument>>(200),
    Operation::new("writeScope", Method::Put, SCOPE, "Add or replace a scope", handler!(write_scope))
        .takes::<ScopeChange>().answers::<ScopeDocument>(200),
    Operation::new("removeScope", Method::Delete, SCOPE, "Remove a scope; a standard one goes back to its own words", handler!(remove_scope)),
];

async fn list(call: Call) -> Outcome {
    let page = call.page()?;
    let registry = &call.context.snapshot.registry;
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
    Reply::ok(&List::cut(
        items,
        page.limit,
        |resource: &ResourceDocument| resource.identifier.clone(),
    ))
}

fn reply(resource: &Resource) -> Outcome {
    Ok(Reply::ok(&ResourceDocument::from(resource))?.revision(resource.revision))
}

async fn show(call: Call) -> Outcome {
    let registry = &call.context.snapshot.registry;
    let found = registry.resource(call.segment("identifier"));
    reply(found.ok_or_else(Problem::not_found)?)
}

fn short(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_TEXT_BYTES && !text.chars().any(char::is_control)
}

async fn write(mut call: Call) -> Outcome {
    let wanted: ResourceChange = call.read().await?;
    let identifier = call.segment("identifier");
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
    let settings = &call.context.snapshot.settings;
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
    let read = call.if_match();
    let resource = Resource {
        identifier: identifier.to_owned(),
        name: wanted.name,
        scopes: ScopeSet::parse(&wanted.scope)?,
        access_token_signed_response_alg: algorithm,
        access_token_format: format,
        access_token_lifetime: wanted.access_token_lifetime,
        introspectors: wanted.introspectors,
        revision: read.unwrap_or(0).saturating_add(1),
    };
    let resource = call.realm().write_resource(resource, read).await?;
    let status = match read {
        None => StatusCode::CREATED,
        Some(_) => StatusCode::OK,
    };
    let reply = Reply::json(status, &ResourceDocument::from(&*resource))?;
    Ok(reply.revision(resource.revision))
}

fn removed(result: Result<(), RegistryError>, known: bool) -> Outcome {
    match result {
        Ok(()) => Reply::done(),
        Err(RegistryError::NotFound) if known => Err(Problem::conflict(
            "declared_in_configuration",
            "the configuration file or the server itself declares this record",
        )),
        Err(error) => Err(error.into()),
    }
}

async fn remove(call: Call) -> Outcome {
    let identifier = call.segment("identifier");
    let known = call
        .context
        .snapshot
        .registry
        .resource(identifier)
        .is_some();
    removed(call.realm().remove_resource(identifier).await, known)
}

async fn list_scopes(call: Call) -> Outcome {
    let scopes = &call.context.snapshot.registry.scopes;
    Reply::ok(&List {
        items: scopes.iter().map(ScopeDocument::from).collect(),
        next: None,
    })
}

async fn write_scope(mut call: Call) -> Outcome {
    let wanted: ScopeChange = call.read().await?;
    let name = call.segment("name");
    let one = ScopeSet::parse(name).is_ok_and(|scope| scope.iter().eq([name]));
    if !one || [ADMIN, REVOCATIONS].contains(&name) {
        return Err(Problem::invalid(
            "the name must be one scope token (RFC 6749 section 3.3)",
        ));
    }
    if !short(&wanted.description) {
        return Err(Problem::invalid("description must be a short text"));
    }
    let entry = ScopeEntry {
        name: name.to_owned(),
        description: wanted.description,
        published: wanted.published,
    };
    let document = ScopeDocument::from(&entry);
    call.realm().write_scope(entry).await?;
    Reply::ok(&document)
}

async fn remove_scope(call: Call) -> Outcome {
    let name = call.segment("name");
    let known = call.context.snapshot.registry.scope(name).is_some();
    removed(call.realm().remove_scope(name).await, known)
}
