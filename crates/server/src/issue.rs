//! From a decision whose conditions hold to the token response: identifiers, signatures, the
//! encoded answer.
use signet_crypto::Algorithm;
use signet_directory::User;
use signet_jose::jwt::{JwtSigner, Typ};
use signet_oauth::authorize::ClaimsRequest;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::Jti;
use signet_oauth::issued::format::Stamp;
use signet_oauth::issued::issue::{write_id_token, write_token_response};
use signet_oauth::issued::session::UserClaims;
use signet_oauth::people::claim_rules::Target;
use signet_oauth::people::mapped_claims::{About, Mapped, Room, mapped};
use signet_oauth::token::decision::{AccessToken, Issue, Refresh};
use signet_request::access::Leave;
use signet_request::http::Context;
use signet_telemetry::trace;
use std::sync::Arc;

/// The person behind tokens that speak of one, as the directory has them now: gone means no token,
/// whatever the grant says, and whether they may have it is asked of them
/// ([`signet_request::access`]). No token outlives an account that expires. `None` for a client's
/// own token.
///
/// # Errors
/// `invalid_grant`, or `temporarily_unavailable` where the directory cannot be read.
pub async fn person(context: &Context, issue: &mut Issue) -> Result<Option<User>, OAuthError> {
    let token = &mut issue.access_token;
    if token.sub == token.client_id {
        return Ok(None);
    }
    match context
        .realm
        .people
        .users
        .by_id(&token.sub, context.now())
        .await
    {
        Ok(Some(user)) => {
            end_with_account(token, &user, context.now());
            Ok(Some(user))
        }
        // A token that was exchanged from another client's own has that client as its subject.
        Ok(None)
            if context
                .snapshot
                .registry
                .client(&token.sub, context.now())
                .is_some() =>
        {
            Ok(None)
        }
        Ok(None) => Err(OAuthError::invalid_grant(
            "the grant is invalid, expired, revoked, or was issued to another client",
        )
        .with_hint("the user is gone")),
        Err(error) => {
            tracing::error!(request_id = %context.request_id, %error, "failed to query the directory");
            Err(OAuthError::new(
                ErrorCode::TemporarilyUnavailable,
                "temporarily unavailable, try again later",
            ))
        }
    }
}

/// Ends an access token no later than the account of its person.
pub fn end_with_account(token: &mut AccessToken, user: &User, now: u64) {
    if let Some(end) = user.expires_at {
        token.lifetime = token.lifetime.min(end.saturating_sub(now));
    }
}

/// The id of the token that is about to be made: its line in the audit trail commits before the
/// token is signed.
pub fn token_id(context: &Context) -> Jti {
    Stamp::id(context.issue_ms, signet_crypto::random::bytes())
}

/// Signs, and encodes the answer. `id`: of the access token. `_leave`: nothing is answered that
/// nobody was asked about.
///
/// # Errors
/// `server_error` where a key is missing or the cryptography library fails.
pub fn answer(
    context: &Context,
    issue: &Issue,
    person: Option<&UserClaims>,
    id: Jti,
    _leave: &Leave,
) -> Result<Vec<u8>, OAuthError> {
    let (issuer, now) = (&*context.snapshot.settings.issuer, context.now());
    let token = &issue.access_token;
    let registry = &context.snapshot.registry;
    let client = registry.clients.get(&token.client_id);
    let about = About {
        client: client.map(|client| &**client),
        scope: &token.scope,
        audience: &token.audience,
        single: &[],
    };
    let said = match person {
        Some(person) if about.gives(registry, Target::AccessToken) => {
            let room = token.format.implementation().room(token);
            mapped(registry, about, Target::AccessToken, person, room)
        }
        Some(_) | None => Mapped::default(),
    };
    let access_token = trace::within("sign the access token", || {
        access_token(context, token, id, &said)
    })?;
    let id_token = match &issue.id_token {
        None => None,
        Some(id_token) => {
            let mut payload = Vec::with_capacity(512);
            let asked = id_token.claims.as_deref();
            let asked = asked.and_then(|text| ClaimsRequest::parse(text).ok());
            let single = asked.map_or_else(Vec::new, |asked| asked.id_token);
            let about = About {
                single: &single,
                ..about
            };
            write_id_token(
                id_token,
                token,
                &access_token,
                person.map(|person| {
                    let said = mapped(registry, about, Target::IdToken, person, Room::JSON);
                    (person, said)
                }),
                issuer,
                now,
                &mut payload,
            );
            Some(trace::within("sign the ID token", || {
                sign(context, id_token.algorithm, Typ::Jwt, &payload)
            })?)
        }
    };
    let refresh_token = match &issue.refresh {
        Some(Refresh::New(refresh)) => {
            let sealed = refresh.seal(&context.realm.keyring());
            Some(sealed.map_err(|_| failed("the refresh token could not be sealed"))?)
        }
        Some(Refresh::Keep) | None => None,
    };
    let mut body = Vec::with_capacity(access_token.len() + 512);
    write_token_response(
        issue,
        &access_token,
        id_token.as_deref(),
        refresh_token.as_deref(),
        &mut body,
    );
    Ok(body)
}

/// Writes and signs the access token in its format.
fn access_token(
    context: &Context,
    token: &AccessToken,
    id: Jti,
    mapped: &Mapped,
) -> Result<String, OAuthError> {
    let stamp = Stamp {
        issuer: &context.snapshot.settings.issuer,
        id,
        now: context.now(),
        mapped,
    };
    let mut out = Vec::new();
    let format = token.format.implementation();
    format
        .write(token, &stamp, &*context.snapshot.keys, &mut out)
        .map_err(|error| failed(&error.to_string()))?;
    String::from_utf8(out).map_err(|_| failed("a token's wire form is ASCII"))
}

/// Signs a payload with the active key of an algorithm.
///
/// # Errors
/// `server_error`.
pub fn sign(
    context: &Context,
    algorithm: Algorithm,
    typ: Typ,
    payload: &[u8],
) -> Result<String, OAuthError> {
    let signer: &Arc<JwtSigner> = context
        .snapshot
        .keys
        .signer(algorithm)
        .ok_or_else(|| failed("there is no active key of this algorithm"))?;
    // Header, payload in base64url, and room for the largest signature but ML-DSA's.
    let mut out = Vec::with_capacity(256 + payload.len() * 4 / 3 + 512);
    signer
        .sign_into(typ, payload, &mut out)
        .map_err(|_| failed("signing failed"))?;
    String::from_utf8(out).map_err(|_| failed("a compact JWS is ASCII"))
}

fn failed(hint: &str) -> OAuthError {
    tracing::error!(reason = hint, "failed to issue a token");
    OAuthError::new(ErrorCode::ServerError, "the token could not be made").with_hint(hint)
}
