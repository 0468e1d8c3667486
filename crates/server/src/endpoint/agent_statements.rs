//! `/agent-statements`: what agents say, signed: revocations of grants and agents, and declarations
//! of refusal.
//!
//! The body is the object's JSON with its signer's document as `signer` (what `signet agent revoke`
//! writes). The signature is the authority; there is no other. Only an agent that the server knows
//! is heard: bound by a person, registered by an operator, or seen in a chain that was accepted;
//! what an unknown agent signs concerns nothing here, and would only take room.
use http::StatusCode;
use serde_json::json;
use signet_agent::{
    AgentId, Refusal,
    anchor::Anchors,
    declaration::Declaration,
    identity::VerifiedDocument,
    json::File,
    object::{Signed, Type},
    revocation::Revocation,
};
use signet_audit::Action;
use signet_http::BodyError;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_realm::agents::statement::{self, Authority};
use signet_realm::agents::{AgentError, registry};
use signet_request::http::{Context, Response, response};

pub(super) async fn submit(mut context: Context) -> Response {
    if !context.snapshot.settings.agents.enabled {
        return response::empty(StatusCode::NOT_FOUND);
    }
    let answered = match read(&mut context).await {
        Ok(statement) => act(&context, statement).await,
        Err(error) => {
            // Nobody is known to have sent it: counted where the same is said again.
            let event = context.event(Action::AGENT).operation("statement");
            let event = event.refused(error.code.as_str());
            context.realm.audit().record(event);
            Err(error)
        }
    };
    match answered {
        Ok(body) => response::json(StatusCode::OK, body),
        Err(error) => {
            context.note_error(&error);
            response::error(&error)
        }
    }
}

/// A statement whose signature was verified.
enum Statement {
    Revocation(Box<Signed<Revocation>>),
    Declaration(Box<Signed<Declaration>>),
}

async fn read(context: &mut Context) -> Result<Statement, OAuthError> {
    if !context.content_type_is("application/json") {
        return Err(OAuthError::invalid_request(
            "the content type must be application/json",
        ));
    }
    let body = context.body().await.map_err(|error| match error {
        BodyError::TooLarge => OAuthError::invalid_request("the statement is too large"),
        BodyError::TimedOut | BodyError::Broken | BodyError::MediaType => {
            OAuthError::invalid_request("the statement did not arrive")
        }
    })?;
    let file = File::read(&body).map_err(refused)?;
    let signer = |by: AgentId| {
        let shown = file.signer.clone().filter(|document| document.id() == by);
        document_of(context, by, shown)
    };
    match file.kind {
        Type::Revocation => {
            let revocation = file.object::<Revocation>().map_err(refused)?;
            let document = signer(revocation.body().by.agent).await?;
            revocation
                .verify_by(&document, &Anchors::none())
                .map_err(refused)?;
            Ok(Statement::Revocation(Box::new(revocation)))
        }
        Type::Declaration => {
            let declaration = file.object::<Declaration>().map_err(refused)?;
            let document = signer(declaration.body().by.agent).await?;
            declaration
                .verify_by(&document, &Anchors::none())
                .map_err(refused)?;
            Ok(Statement::Declaration(Box::new(declaration)))
        }
        Type::Identity
        | Type::Grant
        | Type::Rotation
        | Type::Receipt
        | Type::Proof
        | Type::Method
        | Type::Attestation
        | Type::Witness
        | Type::Birth
        | Type::Heartbeat
        | Type::TrackRecord => Err(refused(Refusal::WrongType)),
    }
}

async fn act(context: &Context, statement: Statement) -> Result<Vec<u8>, OAuthError> {
    let (realm, now) = (&context.realm, context.now());
    let answer = match statement {
        Statement::Revocation(revocation) => {
            let said = revocation.body();
            let object = Some(revocation.as_bytes());
            let (by, id) = (said.by.agent.to_string(), revocation.id().to_string());
            let event = context.event(Action::AGENT).operation("revoke");
            let event = event.subject(&by).target(&id);
            let ended =
                realm.end_of_agents(said.target, said.by.agent, Authority::Signature, object);
            // A statement carries no nonce: whoever has seen it may send it again.
            let ended = realm.audit().act_counted(event, ended, code).await;
            let ended = ended.map_err(|error| told(context, error))?;
            if ended.said_first {
                tracing::info!(target: "signet::agents", request_id = %context.request_id, by = %said.by.agent, revocation = %revocation.id(), grants = ended.grants, "received a revocation of an agent grant");
            }
            json!({
                "id": id,
                "type": "revocation",
                "grants_ended": ended.grants,
                "nodes": [{ "node": realm.node(), "milliseconds": ended.milliseconds }],
            })
        }
        Statement::Declaration(declaration) => {
            let by = declaration.body().by.agent.to_string();
            let id = declaration.id().to_string();
            let event = context.event(Action::AGENT).operation("declare");
            let event = event.subject(&by).target(&id);
            let kept = async {
                match statement::declare(&*realm.store, &declaration, now).await {
                    Ok(true) => Ok(()),
                    Ok(false) => Err(AgentError::TooMany),
                    Err(error) => Err(error.into()),
                }
            };
            let kept = realm.audit().act_counted(event, kept, code).await;
            kept.map_err(|error| match error {
                AgentError::TooMany => {
                    OAuthError::invalid_request("the agent has as many declarations as are kept")
                }
                other => told(context, other),
            })?;
            json!({ "id": id, "type": "declaration" })
        }
    };
    Ok(answer.to_string().into_bytes())
}

/// The document to believe: the server's, or a shown one where it continues that, or where the
/// agent has only been named so far.
async fn document_of(
    context: &Context,
    by: AgentId,
    shown: Option<VerifiedDocument>,
) -> Result<VerifiedDocument, OAuthError> {
    let found = registry::get(&*context.realm.store, by, context.now()).await;
    let known = found.map_err(|error| told(context, error.into()))?;
    let known = known.ok_or_else(|| {
        OAuthError::new(
            ErrorCode::AccessDenied,
            "the signer is not known here: it is bound to no account, not registered, and was in no chain",
        )
    })?;
    let document = match (known.document, shown) {
        (Some(known), Some(shown)) if known.is_continued_by(&shown) => shown,
        (Some(known), _) => known,
        (None, Some(shown)) => shown,
        (None, None) => return Err(refused(Refusal::DocumentMissing)),
    };
    let leeway = context.snapshot.settings.clock_leeway;
    document
        .check_time(context.now(), leeway)
        .map_err(refused)?;
    Ok(document)
}

/// For the audit trail.
fn code(error: &AgentError) -> &'static str {
    match error {
        AgentError::Store(_) => "temporarily_unavailable",
        AgentError::NotTheirs => "access_denied",
        AgentError::Refused(_)
        | AgentError::Rollback
        | AgentError::Taken
        | AgentError::Stopped
        | AgentError::TooMany
        | AgentError::NoRoom
        | AgentError::NotFound => "invalid_request",
    }
}

fn refused(reason: Refusal) -> OAuthError {
    OAuthError::invalid_request(reason.name()).with_hint(reason.to_string())
}

fn told(context: &Context, error: AgentError) -> OAuthError {
    match error {
        AgentError::Store(error) => super::client_endpoint::store_failed(context, &error),
        AgentError::NotTheirs => OAuthError::new(
            ErrorCode::AccessDenied,
            "the signer granted nothing above this grant, and the grant does not name it",
        ),
        other @ (AgentError::Refused(_)
        | AgentError::Rollback
        | AgentError::Taken
        | AgentError::Stopped
        | AgentError::TooMany
        | AgentError::NoRoom
        | AgentError::NotFound) => {
            OAuthError::invalid_request("the statement is refused").with_hint(other.to_string())
        }
    }
}
