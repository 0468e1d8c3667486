//! `urn:ietf:params:oauth:grant-type:token-exchange`: RFC 8693.
//!
//! The result never exceeds the subject token: scope, audience and end are only narrowed, a bound
//! token does not become a bearer token, and the chain of actors is kept. Nor does it exceed the
//! exchanging client's own record (scope, resources), so that a service that is broken into gives
//! no more than it needs; `unrestricted_token_exchange` of the record takes this second bound away.
//! With an actor token the result is a delegation (`act`); without, the client acts as the subject
//! and is named by `client_id`.
//!
//! Subject and actor must belong together (known fault A23): both from this issuer; the actor token
//! the requesting client's own; the subject token that client's, or of a client that its record
//! lists in `may_act_for`; and an actor who is another person only where the subject token's
//! `may_act` names them.
use super::{
    GrantRequest, Needs, agent_chain,
    token_type::{JWT_TYPE, issued_token_type, token_type},
};
use crate::client::Client;
use crate::error::{ErrorCode, OAuthError};
use crate::id::{Jti, read_jti};
use crate::issued::access_token::{MAX_ACT_DEPTH, TokenState, VerifiedAccessToken};
use crate::issued::agent_grants;
use crate::issued::format::AccessTokenFormat;
use crate::params::Params;
use crate::request::{Context, unavailable};
use crate::scope;
use crate::token::decision::{AccessToken, Decision, GrantState, Issue};
use crate::token::target;
use signet_encoding::json::{self, JsonError, Limits, Reader, Writer};
use std::sync::Arc;

/// A chain, where the request presents one and the client may. Others cost no look-up: [`decide`]
/// refuses them.
pub(super) fn needs(context: &Context<'_>, params: &Params, client: &Client) -> Needs {
    Needs {
        chain: agent_grants::is_presented(params)
            && context.settings.agents.enabled
            && client.may_exchange_agent_grants,
        ..Needs::default()
    }
}

pub(super) fn decide(request: &GrantRequest<'_>) -> Result<Decision, OAuthError> {
    let (context, client, params) = (request.context, request.client, request.params);
    if agent_grants::is_presented(params) {
        return agent_chain::decide(request);
    }
    let subject_token = params.require("subject_token")?;
    let subject_type = token_type(params.require("subject_token_type")?)?;
    let issued_token_type = issued_token_type(params)?;
    // RFC 8693 section 2.1: actor_token_type is required with actor_token, and must not be there
    // without.
    let actor_token = match (params.get("actor_token"), params.get("actor_token_type")) {
        (Some(token), Some(kind)) => Some((token, token_type(kind)?)),
        (None, None) => None,
        _ => {
            return Err(OAuthError::invalid_request(
                "actor_token and actor_token_type go together",
            ));
        }
    };
    let subject = presented(request, subject_token, subject_type, "subject")?;
    let actor = actor_token
        .map(|(token, kind)| presented(request, token, kind, "actor"))
        .transpose()?;
    check_context(request, &subject, actor.as_deref())?;

    // A bound token is not exchanged for a bearer token.
    let bound = subject.confirmation.is_some()
        || actor
            .as_ref()
            .is_some_and(|actor| actor.confirmation.is_some());
    if bound && request.confirmation.is_none() {
        return Err(refused("a bound token, and no proof of possession"));
    }
    // What power over the server itself needs is always the client's own, too.
    let own = |name: &str| {
        client.scope.contains(name)
            || client.unrestricted_token_exchange && !scope::PRIVILEGED.contains(&name)
    };
    let allowed = subject
        .scope
        .filter(|name| name != scope::OFFLINE_ACCESS && own(name));
    let asked = request.scope_within(&allowed)?;
    let target = target::target(context, client, &audience(request, &subject)?);
    let scope = target.narrow(&asked);
    let end = actor
        .as_ref()
        .map_or(subject.exp, |actor| actor.exp.min(subject.exp));
    let act = match &actor {
        None => subject.act.clone(),
        Some(actor) => Some(delegate(actor, subject.act.as_deref())?),
    };
    Ok(Decision {
        single_use: Vec::new(),
        grant: GrantState::None,
        issue: Issue {
            access_token: AccessToken {
                client_id: client.client_id.clone(),
                sub: subject.sub.clone(),
                audience: target.audience,
                scope,
                lifetime: target.lifetime.min(end.saturating_sub(context.now())),
                // Who asks for a JWT gets one; otherwise the client or the resource decides.
                format: match issued_token_type {
                    JWT_TYPE => AccessTokenFormat::Jwt,
                    _ => target.format,
                },
                algorithm: target.algorithm,
                // The result ends with the grant and the session of its subject.
                grant_id: subject.grant_id,
                sid: subject.sid.clone(),
                auth_time: subject.auth_time,
                acr: subject.acr.clone(),
                amr: subject.amr.clone(),
                confirmation: request.confirmation.clone(),
                act,
                subject_jtis: subject_jtis(&subject)?,
                claims: None,
                chain: None,
            },
            id_token: None,
            refresh: None,
            issued_token_type: Some(issued_token_type),
        },
    })
}

/// RFC 8693 section 2.2.2: a subject or actor token that is not good, for whatever reason, is
/// `invalid_request`. One text for all reasons.
pub(super) fn refused(hint: &'static str) -> OAuthError {
    OAuthError::invalid_request("the subject or actor token cannot be exchanged by this client")
        .with_hint(hint)
}

pub(super) fn presented(
    request: &GrantRequest<'_>,
    token: &str,
    kind: &'static str,
    which: &'static str,
) -> Result<Arc<VerifiedAccessToken>, OAuthError> {
    if kind == JWT_TYPE && AccessTokenFormat::of(token) != Some(AccessTokenFormat::Jwt) {
        return Err(refused("the token type is jwt, but the token is not a JWT"));
    }
    let reason = match request.lookup.look_up(token) {
        TokenState::Valid(facts) => return Ok(facts),
        TokenState::Unknown => return Err(unavailable()),
        TokenState::Expired(_) => "has expired",
        TokenState::Revoked(_) => "is revoked",
        TokenState::Forged => "is not ours",
    };
    Err(OAuthError {
        hint: Some(format!("the {which} token {reason}")),
        ..refused("")
    })
}

pub(super) fn check_context(
    request: &GrantRequest<'_>,
    subject: &VerifiedAccessToken,
    actor: Option<&VerifiedAccessToken>,
) -> Result<(), OAuthError> {
    let client = request.client;
    let issuer = &request.context.settings.issuer;
    if subject.issuer != *issuer || actor.is_some_and(|actor| actor.issuer != *issuer) {
        return Err(refused("tokens of another issuer"));
    }
    if client.is_public() {
        return Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "a public client may not use this grant",
        ));
    }
    // Its chain would be lost, and with it what ends it. An agent delegates by a grant.
    let of_chain = |facts: &VerifiedAccessToken| {
        !facts.agent_grants.is_empty() || facts.authorization_details.is_some()
    };
    if of_chain(subject) || actor.is_some_and(of_chain) {
        return Err(refused(
            "a token that was issued under a chain of delegations",
        ));
    }
    let of_this_client = subject.client_id == client.client_id;
    if !of_this_client && !client.may_act_for.contains(&subject.client_id) {
        return Err(refused(
            "the subject token is of a client that this one may not act for",
        ));
    }
    let acting = actor.map_or(&client.client_id, |actor| &actor.sub);
    if let Some(may_act) = &subject.may_act {
        let named = !may_act.unknown
            && (may_act.sub.is_some() || may_act.client_id.is_some())
            && may_act.sub.as_ref().is_none_or(|sub| sub == acting)
            && may_act
                .client_id
                .as_ref()
                .is_none_or(|id| *id == client.client_id);
        if !named {
            return Err(refused("the subject token's may_act names somebody else"));
        }
    }
    let Some(actor) = actor else { return Ok(()) };
    if actor.client_id != client.client_id {
        return Err(refused("the actor token is another client's"));
    }
    if actor.act.is_some() {
        return Err(refused("the actor itself acts for somebody"));
    }
    if let Some(person) = actor.user_id() {
        let same_person_and_session = person == subject.sub && actor.sid == subject.sid;
        if !same_person_and_session && subject.may_act.is_none() {
            return Err(refused("the actor is a person of another context"));
        }
    }
    Ok(())
}

/// `audience` and `resource` together name a part of the subject token's audience that the client
/// may ask for; nothing named means all of that.
fn audience<'a>(
    request: &'a GrantRequest<'_>,
    subject: &'a VerifiedAccessToken,
) -> Result<Vec<&'a str>, OAuthError> {
    let client = request.client;
    let default = target::default_audience(request.context.settings);
    let own = |audience: &str| {
        client.unrestricted_token_exchange
            || audience == default
            || client.resources.iter().any(|own| own == audience)
    };
    let refuse = |why| Err(OAuthError::new(ErrorCode::InvalidTarget, why));
    let mut named = request.params.all("resource");
    named.extend(request.params.all("audience"));
    if named.is_empty() {
        let all = subject.audience.iter().map(String::as_str);
        let all: Vec<&str> = all.filter(|audience| own(audience)).collect();
        return match all.is_empty() {
            true => {
                refuse("none of the subject token's audiences is one of the client's resources")
            }
            false => Ok(all),
        };
    }
    named.sort_unstable();
    named.dedup();
    if !named
        .iter()
        .all(|asked| subject.audience.iter().any(|aud| aud == asked))
    {
        return refuse("the audience is wider than the subject token's");
    }
    match named.iter().all(|asked| own(asked)) {
        true => Ok(named),
        false => refuse("the audience is not one of the client's resources"),
    }
}

/// The subject token's id and those that it names itself. As many as actors may nest: whoever
/// exchanges without an actor token gets no further than who names each.
fn subject_jtis(subject: &VerifiedAccessToken) -> Result<Vec<Jti>, OAuthError> {
    if subject.subject_jtis.len() >= MAX_ACT_DEPTH {
        return Err(refused("exchanged too often"));
    }
    let own = read_jti(&subject.jti).ok_or_else(|| refused("a token without an id of ours"))?;
    Ok([&[own], &*subject.subject_jtis].concat())
}

/// RFC 8693 section 4.1: the new actor outermost, the earlier ones nested, no deeper than
/// [`MAX_ACT_DEPTH`].
fn delegate(actor: &VerifiedAccessToken, earlier: Option<&str>) -> Result<String, OAuthError> {
    if let Some(earlier) = earlier {
        let limits = Limits {
            bytes: 8 * 1024,
            depth: MAX_ACT_DEPTH - 1,
            ..json::Limits::default()
        };
        let fits = Reader::new(earlier.as_bytes(), &limits).and_then(|mut reader| {
            reader.object(|reader, _| -> Result<(), JsonError> { reader.skip() })?;
            reader.finish()
        });
        if fits.is_err() {
            return Err(refused("too many actors behind each other"));
        }
    }
    let mut out = Vec::with_capacity(128);
    Writer::new(&mut out).object(|w| {
        w.member("sub").string(&actor.sub);
        if actor.client_id != actor.sub {
            w.member("client_id").string(&actor.client_id);
        }
        if let Some(earlier) = earlier {
            w.member("act").raw(earlier.as_bytes());
        }
    });
    // The writer gives UTF-8 and nothing else.
    String::from_utf8(out).map_err(|_| OAuthError::new(ErrorCode::ServerError, "internal error"))
}
