//! Several requests in one (RFC 7644 section 3.7).
use super::{
    Request, Resource, answer,
    answer::{Answer, Refusal},
    base_of,
    caller::Caller,
    query::Query,
    read,
};
use futures_util::future::join_all;
use http::Method;
use serde_json::{Map, Value, json};
use signet_audit::Action;
use signet_directory::fold;
use signet_request::http::{Context, Response};
use signet_scim::{Kind, member};
use std::collections::{HashMap, HashSet};

/// Most operations of a bulk request.
pub(super) const MAX_BULK_OPERATIONS: usize = 100;
/// Accounts of a SCIM bulk request that are made at once
const MAX_AT_ONCE: usize = 16;
const SCHEMA: &str = "urn:ietf:params:scim:api:messages:2.0:BulkRequest";
/// What stands for the id of something that an earlier operation made.
const REFERENCE: &str = "bulkId:";

pub(super) async fn serve(context: Context) -> Response {
    let answered = Box::pin(answered(context)).await;
    answer(answered)
}

async fn answered(mut context: Context) -> Result<Answer, Refusal> {
    let caller = Caller::of_request(&context).await?;
    let body = read(&mut context).await?;
    let body = body
        .as_object()
        .ok_or_else(|| Refusal::syntax("the body is an object"))?;
    let schemas = member(body, "schemas").and_then(Value::as_array);
    if !schemas.is_some_and(|list| list.iter().any(|schema| schema == SCHEMA)) {
        return Err(Refusal::syntax("the schema is BulkRequest"));
    }
    let operations = member(body, "Operations").and_then(Value::as_array);
    let operations = operations.ok_or_else(|| Refusal::syntax("Operations is missing"))?;
    if operations.len() > MAX_BULK_OPERATIONS {
        return Err(Refusal::plain(
            413,
            format!("at most {MAX_BULK_OPERATIONS} operations"),
        ));
    }
    // 0, or left out: all are tried.
    let most_errors = member(body, "failOnErrors").and_then(Value::as_u64);
    let most_errors = most_errors.filter(|most| *most > 0).unwrap_or(u64::MAX);
    let base = base_of(&context);
    let mut made = HashMap::new();
    let (mut answers, mut errors) = (Vec::with_capacity(operations.len()), 0);
    let mut left = &operations[..];
    while !left.is_empty() && errors < most_errors {
        let at_once = match most_errors {
            u64::MAX => independent(left).max(1),
            _ => 1,
        };
        let (now, later) = left.split_at(at_once);
        left = later;
        if let [operation] = now {
            let (answer, failed) = one(&context, &caller, &base, operation, &mut made).await;
            answers.push(answer);
            errors += u64::from(failed);
            continue;
        }
        let (context, caller, base) = (&context, &caller, &base);
        let each = now.iter().map(async |operation| {
            let mut own = HashMap::new();
            let (answer, _) = one(context, caller, base, operation, &mut own).await;
            (answer, own)
        });
        for (answer, own) in join_all(each).await {
            answers.push(answer);
            made.extend(own);
        }
    }
    Ok(Answer::of(json!({
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:BulkResponse"],
        "Operations": answers,
    })))
}

/// How many operations at the beginning of these make accounts and need nothing of each other: they
/// are performed at once, and share flushes. What names another operation, repeats a user name or
/// has a password, which is hashed for a while, is performed by itself.
fn independent(operations: &[Value]) -> usize {
    let mut names = HashSet::new();
    let needs_none = |operation: &&Value| {
        let Some(operation) = operation.as_object() else {
            return false;
        };
        let text = |name: &str| member(operation, name).and_then(Value::as_str);
        let data = member(operation, "data").and_then(Value::as_object);
        let Some(data) = data else {
            return false;
        };
        let name = member(data, "userName")
            .and_then(Value::as_str)
            .and_then(fold);
        text("method").is_some_and(|method| method.eq_ignore_ascii_case("POST"))
            && text("path").is_some_and(|path| path.trim_start_matches('/') == "Users")
            && member(data, "password").is_none()
            && !has_reference(operation)
            && name.is_some_and(|name| names.insert(name))
    };
    operations
        .iter()
        .take(MAX_AT_ONCE)
        .take_while(needs_none)
        .count()
}

/// Whether something in it stands for the id of what an earlier operation made. A body has a
/// bounded depth: the reader's.
fn has_reference(operation: &Map<String, Value>) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::String(text) => text.starts_with(REFERENCE),
            Value::Array(list) => list.iter().any(within),
            Value::Object(object) => object.values().any(within),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
    operation.values().any(within)
}

/// Performs one operation; what is said of it, and whether it failed.
async fn one(
    context: &Context,
    caller: &Caller,
    base: &str,
    operation: &Value,
    made: &mut HashMap<String, String>,
) -> (Value, bool) {
    let nothing = Map::new();
    let operation = operation.as_object().unwrap_or(&nothing);
    let text = |name: &str| member(operation, name).and_then(Value::as_str);
    let mut said = Map::new();
    for name in ["method", "bulkId"] {
        if let Some(text) = text(name) {
            said.insert(name.to_owned(), text.into());
        }
    }
    let done = Box::pin(perform(context, caller, base, operation, made)).await;
    let (status, failed) = match done {
        Ok(answer) => {
            let known = text("path").filter(|path| path.matches('/').count() == 2);
            let known = known.map(|path| format!("{base}{path}"));
            if let Some(location) = answer.location.or(known) {
                if let (Some(bulk_id), Some((_, id))) = (text("bulkId"), location.rsplit_once('/'))
                {
                    made.insert(bulk_id.to_owned(), id.to_owned());
                }
                said.insert("location".to_owned(), location.into());
            }
            if let Some(version) = answer.etag {
                said.insert("version".to_owned(), version.into());
            }
            (answer.status, false)
        }
        Err(refusal) => {
            said.insert("response".to_owned(), refusal.document());
            (refusal.status, true)
        }
    };
    said.insert("status".to_owned(), status.to_string().into());
    (Value::Object(said), failed)
}

async fn perform(
    context: &Context,
    caller: &Caller,
    base: &str,
    operation: &Map<String, Value>,
    made: &HashMap<String, String>,
) -> Result<Answer, Refusal> {
    let text = |name: &str| member(operation, name).and_then(Value::as_str);
    let method = text("method").unwrap_or_default().to_ascii_uppercase();
    let method = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE]
        .into_iter()
        .find(|known| known.as_str() == method)
        .ok_or_else(|| Refusal::syntax("method is POST, PUT, PATCH or DELETE"))?;
    if method == Method::POST && text("bulkId").is_none() {
        return Err(Refusal::syntax(
            "an operation that makes something has a bulkId",
        ));
    }
    let path = text("path").unwrap_or_default();
    let mut segments = path.trim_start_matches('/').split('/');
    let kind = segments.next().unwrap_or_default();
    let resource = Resource::ALL
        .into_iter()
        .find(|resource| resource.endpoint().trim_start_matches('/') == kind)
        .ok_or_else(|| Refusal::of(Kind::InvalidPath, "path is /Users or /Groups"))?;
    let id = segments.next().map(|id| resolved(id, made)).transpose()?;
    if segments.next().is_some() {
        return Err(Refusal::of(Kind::InvalidPath, "path has too many segments"));
    }
    if (method == Method::POST) != id.is_none() {
        return Err(Refusal::of(
            Kind::InvalidPath,
            "path does not fit the method",
        ));
    }
    let mut body = member(operation, "data").cloned();
    if let Some(body) = &mut body {
        resolve(body, made)?;
    }
    let request = Request {
        realm: &context.realm,
        base,
        resource,
        method: &method,
        id: id.as_deref(),
        body,
        version: text("version"),
        query: &Query::all(),
        administers: caller.administers,
        rights: &caller.rights,
    };
    request.act(caller, context.event(Action::ADMIN)).await
}

/// An id, or what stands for one that was made before.
fn resolved(text: &str, made: &HashMap<String, String>) -> Result<String, Refusal> {
    let Some(reference) = text.strip_prefix(REFERENCE) else {
        return Ok(text.to_owned());
    };
    let id = made.get(reference).cloned();
    id.ok_or_else(|| Refusal::plain(409, format!("nothing was made as {reference} before")))
}

/// Puts ids in the places of what stands for them. A body has a bounded depth: the reader's.
fn resolve(value: &mut Value, made: &HashMap<String, String>) -> Result<(), Refusal> {
    match value {
        Value::String(text) if text.starts_with(REFERENCE) => {
            *text = resolved(text, made)?;
            Ok(())
        }
        Value::Array(list) => list.iter_mut().try_for_each(|one| resolve(one, made)),
        Value::Object(object) => object.values_mut().try_for_each(|one| resolve(one, made)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}
