//! `/introspect` (RFC 7662, signed answers of RFC 9701). No store for access tokens, unless a table
//! of claims says something of their person; one read for refresh tokens.
use super::client_endpoint::ClientRequest;
use crate::issue;
use http::{StatusCode, header};
use signet_audit::Counted;
use signet_jose::jwt::Typ;
use signet_oauth::client::Client;
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::OAuthError;
use signet_oauth::people::claim_rules::Target;
use signet_oauth::people::mapped_claims::{About, Mapped, Room, mapped};
use signet_oauth::token::introspect::{self, Introspection};
use signet_realm::single_use::{Family, family_key};
use signet_request::access::Entrance;
use signet_request::http::{Context, Response, response};

const SIGNED: &str = "application/token-introspection+jwt";

pub(super) async fn handle(context: Context) -> Response {
    let client_request = match ClientRequest::read(context, EndpointId::Introspect).await {
        Ok(client_request) => client_request,
        Err(answer) => return *answer,
    };
    match answer(&client_request).await {
        Ok(answer) => answer,
        Err(error) => client_request.refuse_counted(&error).await,
    }
}

async fn answer(client_request: &ClientRequest) -> Result<Response, OAuthError> {
    let caller = client_request.authenticate().await?.client;
    let found = client_request.decide(|rules| {
        let tokens = &client_request.context.realm.host.verified_tokens;
        let lookup = tokens.before(rules, &client_request.snapshot().keys);
        introspect::decide_with(rules, &caller, &client_request.params, &lookup)
    })?;
    let found = match found.family() {
        None => found,
        Some(grant_id) => {
            let key = family_key(grant_id);
            let row = client_request
                .context
                .realm
                .store
                .get(&key, client_request.now())
                .await;
            let row = row.map_err(|error| client_request.store_failed(&error))?;
            let family = row.as_ref().map(Family::read).transpose();
            let family = family.map_err(|error| client_request.store_failed(&error))?;
            found.with_family(family.map(|family| family.generation))
        }
    };
    let audit = client_request.context.realm.audit();
    let is_active = !matches!(found, Introspection::Inactive);
    audit.count(Counted::Introspection, &caller.client_id, is_active);
    let said = said(client_request, &found).await?;
    let issuer = &client_request.snapshot().settings.issuer;
    let mut body = Vec::with_capacity(512);
    let Some(algorithm) = signed(client_request, &caller) else {
        found.write(issuer, &said, &mut body);
        return Ok(response::json(StatusCode::OK, body));
    };
    found.write_signed(
        issuer,
        &caller.client_id,
        client_request.now(),
        &said,
        &mut body,
    );
    let token = issue::sign(
        &client_request.context,
        algorithm,
        Typ::TokenIntrospection,
        &body,
    )?;
    Ok(response::body(StatusCode::OK, SIGNED, token))
}

/// What tables of claims say of the token's person at this moment, not when it was made: the
/// account is read for it, and only where a table says something.
async fn said(client_request: &ClientRequest, found: &Introspection) -> Result<Mapped, OAuthError> {
    let Introspection::AccessToken(facts) = found else {
        return Ok(Mapped::default());
    };
    let registry = &client_request.snapshot().registry;
    let about = About {
        client: registry
            .clients
            .get(&facts.client_id)
            .map(|client| &**client),
        scope: &facts.scope,
        audience: &facts.audience,
        single: &[],
    };
    let target = Target::Introspection;
    let Some(sub) = facts.user_id().filter(|_| about.gives(registry, target)) else {
        return Ok(Mapped::default());
    };
    let users = &client_request.context.realm.people.users;
    match users.by_id(sub, client_request.now()).await {
        Ok(Some(user)) if Entrance::Introspection.opens(&user, client_request.now()) => {
            Ok(mapped(registry, about, target, &user.claims(), Room::JSON))
        }
        Ok(_) => Ok(Mapped::default()),
        Err(error) => Err(client_request.store_failed(&error.into())),
    }
}

/// RFC 9701 section 4: on request; where the record names an algorithm, always.
fn signed(client_request: &ClientRequest, caller: &Client) -> Option<signet_crypto::Algorithm> {
    if let Some(algorithm) = caller.introspection_signed_response_alg {
        return Some(algorithm);
    }
    let accept = client_request.context.header(header::ACCEPT)?;
    let asked = accept
        .split(',')
        .any(|media| media.split(';').next().unwrap_or("").trim() == SIGNED);
    asked.then_some(client_request.snapshot().settings.id_token_alg)
}
