//! `/userinfo` (OpenID Connect Core section 5.3): a protected resource. The token comes in the
//! header or in a form body, never in the query.
use super::client_endpoint::ClientRequest;
use crate::issue;
use http::{Method, StatusCode};
use signet_audit::Counted;
use signet_jose::{
    authorization::{self, AuthorizationError},
    jwt::Typ,
};
use signet_oauth::authorize::ClaimsRequest;
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::{Challenge, ErrorCode, OAuthError};
use signet_oauth::issued::access_token::{TokenLookup, TokenState, VerifiedAccessToken};
use signet_oauth::params::Params;
use signet_oauth::people::claim_rules::Target;
use signet_oauth::people::mapped_claims::{About, Room, mapped};
use signet_oauth::people::userinfo::{require_audience, require_openid, userinfo_payload};
use signet_oauth::request;
use signet_oauth::token::decision::SingleUse;
use signet_oauth::token::dpop_policy::{Scheme, check_presentation};
use signet_realm::single_use::Proofs;
use signet_request::access::{self, Entrance, Sought, Wants};
use signet_request::http::{Context, Response, response};

pub(super) async fn handle(mut context: Context) -> Response {
    let has_form = context.method == Method::POST
        && context.content_type_is("application/x-www-form-urlencoded");
    let params = match has_form {
        false => Params::default(),
        true => match context.form().await {
            Ok(params) => params,
            Err(failure) => return response::form_error(&failure),
        },
    };
    let client_request = match ClientRequest::with_params(context, EndpointId::Userinfo, params) {
        Ok(client_request) => client_request,
        Err(answer) => return *answer,
    };
    let mut answer = match answer(&client_request).await {
        Ok(answer) => answer,
        Err(error) => return client_request.refuse(&error),
    };
    client_request.add_next_nonce(&mut answer);
    answer
}

async fn answer(client_request: &ClientRequest) -> Result<Response, OAuthError> {
    let (scheme, token) = presented(client_request)?;
    let (facts, single_use) = check(client_request, scheme, token)?;
    if let Some(single_use) = single_use {
        let context = &client_request.context;
        let client = context.snapshot.registry.clients.get(&facts.client_id);
        let proofs = Proofs::with_token_of(&context.realm.budgets, client.map(|client| &**client));
        client_request
            .commit(proofs, &[single_use], Vec::new())
            .await
            .map_err(|error| match error.code {
                ErrorCode::InvalidDpopProof => error.with_challenge(Challenge::Dpop),
                _ => error,
            })?;
    }
    require_audience(&facts.audience, &client_request.snapshot().settings)?;
    require_openid(&facts.scope)?;
    client_request.context.note_client(&facts.client_id);
    let users = &client_request.context.realm.people.users;
    let user = match users.by_id(&facts.sub, client_request.now()).await {
        Ok(Some(user)) => user,
        Ok(None) => return Err(invalid_token("the user is gone")),
        Err(error) => {
            tracing::error!(request_id = %client_request.context.request_id, %error, "failed to query the directory");
            return Err(OAuthError::new(
                ErrorCode::TemporarilyUnavailable,
                "temporarily unavailable, try again later",
            ));
        }
    };
    let snapshot = client_request.snapshot();
    let registry = &snapshot.registry;
    let client = registry.clients.get(&facts.client_id);
    let client = client.map(|client| &**client);
    let asked = facts
        .claims
        .as_deref()
        .and_then(|text| ClaimsRequest::parse(text).ok());
    let wants = Wants {
        sought: Sought {
            client,
            scope: Some(&facts.scope),
            claims: asked.as_ref(),
        },
        audience: &facts.audience,
        ..Wants::default()
    };
    access::ask(&client_request.context, Entrance::Userinfo, &user, &wants)
        .map_err(|_| invalid_token("the user is disabled, or has not taken the account over"))?;
    // What rules deny by now is left out, as it would be of the next token.
    let claims = access::allowed_claims(&client_request.context, &user, &wants);
    let user = user.claims();
    let audit = client_request.context.realm.audit();
    audit.count(Counted::Userinfo, &facts.client_id, true);
    let signed = snapshot
        .registry
        .client(&facts.client_id, client_request.now())
        .and_then(|client| client.userinfo_signed_response_alg);
    let about = About {
        client,
        scope: &facts.scope,
        audience: &facts.audience,
        single: claims.as_ref().map_or(&[], |claims| &claims.userinfo),
    };
    let said = mapped(registry, about, Target::Userinfo, &user, Room::JSON);
    let Some(algorithm) = signed else {
        let body = userinfo_payload(&user, &facts.scope, claims.as_ref(), said, None);
        return Ok(response::json(StatusCode::OK, body));
    };
    let parties = (&*snapshot.settings.issuer, &*facts.client_id);
    let body = userinfo_payload(&user, &facts.scope, claims.as_ref(), said, Some(parties));
    let token = issue::sign(&client_request.context, algorithm, Typ::Jwt, &body)?;
    Ok(response::body(StatusCode::OK, "application/jwt", token))
}

/// The token and how it was presented: in exactly one way (RFC 6750 section 2).
fn presented(client_request: &ClientRequest) -> Result<(Scheme, &str), OAuthError> {
    let in_body = client_request.params.get("access_token");
    let read = match (client_request.authorization(), in_body) {
        (Some(_), Some(_)) => {
            return Err(
                OAuthError::invalid_request("the access token came in two ways")
                    .with_challenge(Challenge::Bearer),
            );
        }
        (None, Some(token)) => return Ok((Scheme::Bearer, token)),
        // RFC 6750 section 3.1: no credentials, no error code.
        (None, None) => {
            return Err(
                OAuthError::new(ErrorCode::InvalidToken, "").with_challenge(Challenge::Bearer)
            );
        }
        (Some(header), None) => authorization::access_token(header),
    };
    read.map_err(|error| {
        OAuthError::invalid_request(match error {
            AuthorizationError::Scheme => "the Authorization header is not Bearer or DPoP",
            _ => "the Authorization header carries no access token",
        })
        .with_challenge(Challenge::Bearer)
    })
}

fn check(
    client_request: &ClientRequest,
    scheme: Scheme,
    token: &str,
) -> Result<(std::sync::Arc<VerifiedAccessToken>, Option<SingleUse>), OAuthError> {
    client_request.decide(|rules| check_with(client_request, scheme, token, rules))
}

fn check_with(
    client_request: &ClientRequest,
    scheme: Scheme,
    token: &str,
    rules: &request::Context<'_>,
) -> Result<(std::sync::Arc<VerifiedAccessToken>, Option<SingleUse>), OAuthError> {
    let tokens = &client_request.context.realm.host.verified_tokens;
    let lookup = tokens.before(rules, &client_request.snapshot().keys);
    let facts = match lookup.look_up(token) {
        TokenState::Valid(facts) => facts,
        TokenState::Unknown => {
            return Err(OAuthError::new(
                ErrorCode::TemporarilyUnavailable,
                "temporarily unavailable, try again later",
            ));
        }
        TokenState::Expired(_) => return Err(invalid_token("expired")),
        TokenState::Revoked(_) => return Err(invalid_token("revoked")),
        TokenState::Forged => return Err(invalid_token("not a token of this server")),
    };
    let single_use = check_presentation(rules, scheme, &client_request.request(), token, &facts)?;
    Ok((facts, single_use))
}

fn invalid_token(hint: &'static str) -> OAuthError {
    OAuthError::new(
        ErrorCode::InvalidToken,
        "the access token is not valid here",
    )
    .with_hint(hint)
    .with_challenge(Challenge::Bearer)
}
