//! A token that somebody holds: what it is, whether it counts, and its end.
//!
//! The token is in the body, never in an address, and is repeated nowhere: neither log nor audit
//! trail has it.
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use signet_crypto::Secret;
use signet_encoding::base64url;
use signet_oauth::issued::access_token::{TokenLookup, TokenState, VerifiedAccessToken};
use signet_oauth::issued::format::AccessTokenFormat;
use signet_oauth::issued::sealed::RefreshToken;
use signet_oauth::params::Params;
use signet_oauth::request::Context;
use signet_oauth::token::introspect::{self, Introspection};
use signet_oauth::token::revoke::{self, Revocation};
use signet_operation::adapter::Row;
use signet_operation::facts::Method;
use signet_operation::operation::{Operation, run};
use signet_operation::output::Json;
use signet_operation::problem::Problem;
use signet_operation::right::Area;
use signet_operation::right::Right::{Read, Write};
use signet_realm::revoked::Index;
use signet_realm::single_use::{Family, family_key};
use signet_realm::state::Realm;
use signet_store::Subject;
use std::sync::Arc;

const LOOK: &str = "/admin/v1/tokens/look";
const REVOKE: &str = "/admin/v1/tokens/revoke";

#[rustfmt::skip]
pub(crate) const OPERATIONS: &[&dyn Row] = &[
    &Operation::new("lookAtToken", Area::Tokens, Read, Method::Post, LOOK, "Say what a token is, and whether it counts", run!(look)),
    &Operation::new("revokeToken", Area::Tokens, Write, Method::Post, REVOKE, "Revoke one access token, or the grant of a refresh token", run!(end)).ends(),
];

/// A token that somebody holds.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Held {
    /// An access token or a refresh token, whole.
    token: String,
}

/// What a token is. What is not known of it is left out.
#[derive(Default, Serialize, JsonSchema)]
#[schemars(rename = "TokenFacts")]
struct TokenDocument {
    /// `valid`; `expired`; `revoked`, itself or what it hangs on; `consumed`, a refresh token that
    /// was rotated; `unknown`, where this cannot be said now; or `foreign`: no token of this
    /// issuer, or one whose signature does not hold.
    state: &'static str,
    /// `access_token` or `refresh_token`.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<String>,
    /// Whom it is about: a user's id, or the client itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    /// Whom it is meant for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audience: Vec<String>,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_at: Option<u64>,
    /// Unix seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_at: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jti: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    grant_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    acr: Option<String>,
    /// It is bound to a key or a certificate of its client.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    bound: bool,
    /// Who acts in it (RFC 8693 section 4.1).
    #[serde(skip_serializing_if = "Option::is_none")]
    act: Option<Value>,
}

impl TokenDocument {
    fn of_access(state: &'static str, facts: &VerifiedAccessToken) -> TokenDocument {
        let act = facts.act.as_deref();
        TokenDocument {
            state,
            kind: Some("access_token"),
            client_id: Some(facts.client_id.clone()),
            sub: Some(facts.sub.clone()),
            scope: Some(facts.scope.to_string()),
            audience: facts.audience.clone(),
            issued_at: Some(facts.iat),
            ends_at: Some(facts.exp),
            jti: Some(facts.jti.clone()),
            sid: facts.sid.clone(),
            grant_id: facts.grant_id.map(|id| base64url::encode(id.as_bytes())),
            acr: facts.acr.clone(),
            bound: facts.confirmation.is_some(),
            act: act.and_then(|act| serde_json::from_str(act).ok()),
        }
    }

    fn of_refresh(state: &'static str, token: &RefreshToken) -> TokenDocument {
        TokenDocument {
            state,
            kind: Some("refresh_token"),
            client_id: Some(token.client_id.clone()),
            sub: Some(token.user_id.clone()),
            scope: Some(token.scope.to_string()),
            issued_at: Some(token.issued_at_ms / 1000),
            ends_at: Some(token.expires_at.min(token.family_expires_at)),
            sid: token.sid.clone(),
            grant_id: Some(base64url::encode(token.grant_id.as_bytes())),
            bound: token.confirmation.is_some(),
            ..TokenDocument::default()
        }
    }
}

/// Calls `with` with the rules' context of this moment.
fn rules<T>(realm: &Realm, with: impl FnOnce(&Context<'_>) -> T) -> T {
    let (snapshot, keyring, index) = (realm.snapshot(), realm.keyring(), Index::of(realm));
    let now_ms = realm.now_ms();
    with(&Context {
        registry: &snapshot.registry,
        settings: &snapshot.settings,
        keyring: &keyring,
        keys: &*snapshot.keys,
        revocations: &index,
        now_ms,
        issue_ms: realm.issue_ms_at(now_ms),
    })
}

fn parameters(token: &Secret<String>) -> Result<Params, Problem> {
    let pairs = [("token", token.expose().trim())];
    Params::from_pairs(pairs).map_err(|_| Problem::invalid("token: it is too long"))
}

async fn look(realm: Arc<Realm>, Json(held): Json<Held>) -> Result<Json<TokenDocument>, Problem> {
    let token = Secret::new(held.token);
    let text = token.expose().trim();
    if AccessTokenFormat::of(text).is_some() {
        let state = rules(&realm, |rules| rules.look_up(text));
        return Ok(Json(match &state {
            TokenState::Valid(facts) => TokenDocument::of_access("valid", facts),
            TokenState::Expired(facts) => TokenDocument::of_access("expired", facts),
            TokenState::Revoked(facts) => TokenDocument::of_access("revoked", facts),
            TokenState::Unknown => TokenDocument {
                state: "unknown",
                kind: Some("access_token"),
                ..TokenDocument::default()
            },
            TokenState::Forged => TokenDocument {
                state: "foreign",
                ..TokenDocument::default()
            },
        }));
    }
    let Ok(opened) = RefreshToken::open(&realm.keyring(), text) else {
        return Ok(Json(TokenDocument {
            state: "foreign",
            ..TokenDocument::default()
        }));
    };
    let now = realm.now();
    if now >= opened.expires_at || now >= opened.family_expires_at {
        return Ok(Json(TokenDocument::of_refresh("expired", &opened)));
    }
    // As its own client would be answered.
    let client = realm
        .snapshot()
        .registry
        .clients
        .get(&opened.client_id)
        .cloned();
    let Some(mut client) = client else {
        return Ok(Json(TokenDocument::of_refresh("revoked", &opened)));
    };
    // Whether the client may introspect is no question here.
    if client.is_public() {
        let mut caller = signet_oauth::client::Client::new(client.client_id.clone(), 0);
        caller.enabled = client.enabled;
        client = Arc::new(caller);
    }
    let params = parameters(&token)?;
    let found = rules(&realm, |rules| introspect::decide(rules, &client, &params))?;
    let Some(grant_id) = found.family() else {
        return Ok(Json(TokenDocument::of_refresh("revoked", &opened)));
    };
    let row = realm.store.get(&family_key(grant_id), now).await?;
    let family = row.as_ref().map(Family::read).transpose()?;
    let Some(family) = family else {
        return Ok(Json(TokenDocument::of_refresh("revoked", &opened)));
    };
    let counts = !matches!(
        found.with_family(Some(family.generation)),
        Introspection::Inactive
    );
    let state = if counts { "valid" } else { "consumed" };
    Ok(Json(TokenDocument::of_refresh(state, &opened)))
}

/// Whose token it is; None: nobody's here.
fn holder(realm: &Realm, token: &str) -> Option<String> {
    match AccessTokenFormat::of(token) {
        Some(_) => rules(realm, |rules| match rules.look_up(token) {
            TokenState::Valid(facts) | TokenState::Expired(facts) | TokenState::Revoked(facts) => {
                Some(facts.client_id.clone())
            }
            TokenState::Forged | TokenState::Unknown => None,
        }),
        None => {
            let opened = RefreshToken::open(&realm.keyring(), token);
            opened.ok().map(|opened| opened.client_id.clone())
        }
    }
}

async fn end(realm: Arc<Realm>, Json(held): Json<Held>) -> Result<Json<TokenDocument>, Problem> {
    let token = Secret::new(held.token);
    let foreign = || Problem::conflict("foreign_token", "this is no token of this issuer");
    let client_id = holder(&realm, token.expose().trim()).ok_or_else(foreign)?;
    let client = realm.snapshot().registry.clients.get(&client_id).cloned();
    // The tokens of a client that is gone went with it.
    let client = client.ok_or_else(foreign)?;
    let params = parameters(&token)?;
    match rules(&realm, |rules| revoke::decide(rules, &client, &params))? {
        Revocation::Nothing => {}
        Revocation::AccessToken { jti, end } => {
            signet_audit::name_target(&base64url::encode(jti.as_bytes()), "access_token");
            let (subject, now) = (Subject::Jti(jti), realm.now());
            realm.revocations.revoke(subject, end, now).await?;
        }
        Revocation::Grant {
            grant_id,
            user_id,
            end,
        } => {
            signet_audit::name_target(&base64url::encode(grant_id.as_bytes()), "grant");
            realm.end_grant(grant_id, Some(&user_id), end).await?;
        }
    }
    let held = Held {
        token: token.expose().clone(),
    };
    look(realm, Json(held)).await
}
