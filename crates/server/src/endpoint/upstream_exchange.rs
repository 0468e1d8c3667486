//! `/token`, where a client exchanges a person's access token for one of an identity provider (RFC
//! 8693). The rules are those of `signet_oauth::token::grant`; the provider is asked for the token
//! with the refresh token that is kept of the person ([`signet_federation::upstream_tokens`]).
use super::client_endpoint::{ClientRequest, UPSTREAM_EXCHANGE};
use signet_audit::{Action, Event};
use signet_directory::User;
use signet_encoding::json::Writer;
use signet_federation::upstream::{Tokens, Trouble};
use signet_federation::upstream_tokens::{Exchange, NotExchanged};
use signet_oauth::client::GrantType;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::GrantId;
use signet_oauth::token::client_auth::Credentials;
use signet_oauth::token::grant::{UPSTREAM_TOKEN_TYPE, UpstreamExchange};
use signet_oauth::token::{self, Begun};
use signet_request::access::{self, Entrance, Leave, Power};
use std::sync::Arc;

/// Answers a request that was begun and asks for such a token.
pub(super) async fn answer(
    client_request: &ClientRequest,
    begun: Begun,
    credentials: &Credentials<'_>,
) -> Result<Vec<u8>, OAuthError> {
    let exchange = decide(client_request, begun, credentials)?;
    client_request.context.note_client(&exchange.client_id);
    if client_request.snapshot().settings.registration.open {
        client_request
            .context
            .realm
            .mark_used(&exchange.client_id)
            .await;
    }
    let user = person(client_request, &exchange.subject.sub).await?;
    let leave = allowed(client_request, &exchange, &user)?;
    let proofs = client_request.proofs(&exchange.client_id);
    client_request
        .commit(proofs, &exchange.single_use, Vec::new())
        .await?;
    let asked = Exchange {
        realm: Arc::clone(&client_request.context.realm),
        provider: Arc::clone(&exchange.provider),
        peer: client_request.context.peer,
        scope: exchange.scope.clone(),
    };
    // In a task of its own: it goes on where the client does not wait, for the provider's next
    // refresh token is written at its end.
    let run = tokio::spawn(async move { asked.run(&user).await });
    let stopping = |_| OAuthError::new(ErrorCode::ServerError, "the server is stopping");
    let tokens = run.await.map_err(stopping)?;
    let tokens = tokens.map_err(|error| refused(client_request, &exchange, &error))?;
    let event = access::let_in(issued(client_request, &exchange), leave.rule());
    // What it is for is worth more than the rule that let it through.
    let event = event.target(&exchange.provider.name);
    client_request.context.realm.audit().record(event);
    Ok(body(&tokens))
}

fn decide(
    client_request: &ClientRequest,
    begun: Begun,
    credentials: &Credentials<'_>,
) -> Result<UpstreamExchange, OAuthError> {
    let request = client_request.request();
    client_request.decide(|rules| {
        let tokens = &client_request.context.realm.host.verified_tokens;
        let lookup = tokens.before(rules, &client_request.snapshot().keys);
        token::decide_upstream_begun(begun, rules, &request, credentials, &lookup)
    })
}

/// The person as the directory has them now.
async fn person(client_request: &ClientRequest, sub: &str) -> Result<User, OAuthError> {
    let users = &client_request.context.realm.people.users;
    match users.by_id(sub, client_request.now()).await {
        Ok(Some(user)) => Ok(user),
        // RFC 8693 section 2.2.2.
        Ok(None) => Err(OAuthError::invalid_request(
            "the subject token's person cannot be acted for",
        )
        .with_hint("the user is gone")),
        Err(error) => Err(client_request.store_failed(&error.into())),
    }
}

/// Whether access rules let the person in here with what the subject token is good for.
fn allowed(
    client_request: &ClientRequest,
    exchange: &UpstreamExchange,
    user: &User,
) -> Result<Leave, OAuthError> {
    let subject = &exchange.subject;
    let power = Power {
        sub: &subject.sub,
        client_id: &exchange.client_id,
        scope: &subject.scope,
        audience: &subject.audience,
    };
    access::of_power(
        &client_request.context,
        Entrance::ProviderToken,
        &power,
        Some(user),
        GrantType::TokenExchange.as_str(),
    )
}

fn issued<'a>(client_request: &'a ClientRequest, exchange: &'a UpstreamExchange) -> Event<'a> {
    let subject = &exchange.subject;
    let event = client_request
        .context
        .event(Action::TOKEN)
        .operation(UPSTREAM_EXCHANGE)
        .method(GrantType::TokenExchange.as_str())
        .subject(&subject.sub)
        .client(&exchange.client_id)
        .grant(subject.grant_id.as_ref().map(GrantId::as_bytes))
        .session(subject.sid.as_deref());
    match &exchange.scope {
        Some(scope) => event.scope(scope),
        None => event,
    }
}

/// What the client receives: whether the person, time, or somebody who runs a server helps.
fn refused(
    client_request: &ClientRequest,
    exchange: &UpstreamExchange,
    error: &NotExchanged,
) -> OAuthError {
    let provider = &exchange.provider.name;
    let told = match error {
        NotExchanged::NotKept | NotExchanged::Ended => OAuthError::new(
            ErrorCode::InteractionRequired,
            "the person must log in at this provider again",
        ),
        NotExchanged::Scope => OAuthError::new(
            ErrorCode::InvalidScope,
            "the provider does not give this scope",
        ),
        NotExchanged::Busy | NotExchanged::Later(_) | NotExchanged::Store(_) => {
            tracing::info!(%provider, %error, request_id = %client_request.context.request_id, "delayed an exchange for a provider's token");
            OAuthError::new(
                ErrorCode::TemporarilyUnavailable,
                "the provider cannot be asked at the moment",
            )
        }
        NotExchanged::Trouble(trouble) => {
            tracing::warn!(%provider, error = %trouble, request_id = %client_request.context.request_id, "failed to exchange for a provider's token");
            let text = match trouble {
                Trouble::Refused(_) => "the provider refused this server",
                Trouble::Answer(_) | Trouble::Metadata(_) | Trouble::Token(_) => {
                    "the provider's answer is not right"
                }
                Trouble::Own(_) | Trouble::TooMany | Trouble::Fetch(_) | Trouble::Directory(_) => {
                    "the provider could not be asked"
                }
            };
            OAuthError::new(ErrorCode::ServerError, text)
        }
    };
    told.with_hint(format!("{provider}: {error}"))
}

/// RFC 8693 section 2.2.1. There is no refresh token: that is this server's.
fn body(tokens: &Tokens) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    Writer::new(&mut out).object(|w| {
        w.member("access_token")
            .string(tokens.access_token.expose());
        w.member("issued_token_type").string(UPSTREAM_TOKEN_TYPE);
        w.member("token_type").string("Bearer");
        if let Some(seconds) = tokens.expires_in {
            w.member("expires_in").number(seconds);
        }
        if let Some(scope) = &tokens.scope {
            w.member("scope").string(scope);
        }
    });
    out
}
