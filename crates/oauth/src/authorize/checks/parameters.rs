//! The checks themselves: one function a row of the table, each about one parameter.
use super::{CheckedAt, Draft, not_registered, unknown_client};
use crate::authorize::ResponseMode;
use crate::authorize::hint::verify_id_token_hint;
use crate::authorize::request::Prompts;
use crate::client::GrantType;
use crate::error::{ErrorCode, OAuthError};
use crate::issued::agent_grants;
use crate::issued::claims::ClaimsRequest;
use crate::request::Context;
use crate::scope::{self, ScopeSet};
use crate::token::target;
use signet_encoding::base64url;

pub(super) fn client(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let client_id = d.params.require("client_id")?;
    match d.client {
        Some(_) => Ok(()),
        None => Err(unknown_client(client_id)),
    }
}

/// Exact, but for a loopback port (RFC 9700 section 4.1.3, RFC 8252 section 7.3).
pub(super) fn redirect_uri(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let client = d.client()?;
    let uri = match (
        d.params.get("redirect_uri"),
        client.redirect_uris.as_slice(),
    ) {
        (Some(requested), _) if client.redirect_uri(requested).is_some() => requested,
        (Some(sent), _) => return Err(not_registered(sent)),
        // OAuth 2.1 section 4.1.1: it may be left out where one is registered. FAPI 2.0 wants it
        // pushed.
        (None, [only]) if d.door == CheckedAt::Authorize => only.as_str(),
        (None, _) => {
            // It may lie inside a request object, which is the true reason then.
            request_object(d)?;
            return Err(OAuthError::invalid_request("redirect_uri is missing"));
        }
    };
    d.request.return_to.redirect_uri = uri.to_owned();
    d.request.redirect_uri_was_sent = d.params.contains("redirect_uri");
    d.proven = true;
    Ok(())
}

pub(super) fn state(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.return_to.state = d.bounded("state", 2048)?;
    Ok(())
}

pub(super) fn response_mode(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let Some(name) = d.params.get("response_mode") else {
        return Ok(());
    };
    let mode = ResponseMode::named(name)
        .ok_or_else(|| OAuthError::invalid_request("the response_mode is not supported"))?;
    mode.admits(&d.request.return_to.redirect_uri)
        .map_err(OAuthError::invalid_request)?;
    d.request.return_to.response_mode = mode;
    Ok(())
}

/// RFC 9101 is not offered; the metadata says so.
pub(super) fn request_object(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if d.params.contains("request") {
        return Err(OAuthError::new(
            ErrorCode::RequestNotSupported,
            match d.door {
                CheckedAt::Authorize => {
                    "request objects are not supported: push the request instead (RFC 9126)"
                }
                // RFC 9126 section 3 would have the parameters inside the object alone.
                CheckedAt::Par => {
                    "request objects are not supported: push the parameters themselves"
                }
                CheckedAt::Device => "request objects are not supported",
            },
        ));
    }
    if d.params.contains("request_uri") {
        return Err(if d.door == CheckedAt::Authorize {
            OAuthError::new(
                ErrorCode::RequestUriNotSupported,
                "only a request_uri of the pushed authorization request endpoint is supported",
            )
        } else {
            // RFC 9126 section 2.1, step 2
            OAuthError::invalid_request("request_uri must not be pushed")
        });
    }
    Ok(())
}

pub(super) fn registration(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if d.params.contains("registration") {
        return Err(OAuthError::new(
            ErrorCode::RegistrationNotSupported,
            "the registration parameter is not supported",
        ));
    }
    Ok(())
}

/// RFC 9396 section 5: what is not understood must be refused, not dropped. No type can be asked
/// for here: chains of delegations bring theirs to token exchange.
pub(super) fn authorization_details(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    agent_grants::refuse_details(d.params)
}

pub(super) fn response_type(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    match d.params.get("response_type") {
        None => Err(OAuthError::invalid_request("response_type is missing")),
        Some("code") if d.client()?.response_types.iter().any(|t| t == "code") => Ok(()),
        Some("code") => Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "the client is not registered for this response_type",
        )),
        Some(_) => Err(OAuthError::new(
            ErrorCode::UnsupportedResponseType,
            "the only supported response_type is code",
        )),
    }
}

/// RFC 9126 sections 5 and 6
pub(super) fn must_be_pushed(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if d.context.settings.require_pushed_authorization_requests
        || d.client()?.require_pushed_authorization_requests
    {
        return Err(OAuthError::invalid_request(
            "the authorization request must be pushed (RFC 9126)",
        ));
    }
    Ok(())
}

pub(super) fn grant(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let grant = match d.door {
        CheckedAt::Authorize | CheckedAt::Par => GrantType::AuthorizationCode,
        CheckedAt::Device => GrantType::DeviceCode,
    };
    if d.client()?.may_use(grant) {
        Ok(())
    } else {
        Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "the client is not registered for this grant",
        ))
    }
}

/// Narrowed, never widened: values that the client was not registered for are left out (RFC 6749
/// section 3.3, OpenID Connect Core section 3.1.2.1); it is an error if nothing is left.
pub(super) fn requested_scope(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let client = d.client()?;
    let may_have = |s: &str| {
        client.scope.contains(s)
            // Core section 11: without a refresh token there is no offline access.
            && (s != scope::OFFLINE_ACCESS || client.may_use(GrantType::RefreshToken))
    };
    let scope = match d.params.get("scope") {
        Some(text) => ScopeSet::parse(text)?.filter(may_have),
        // RFC 6749 section 3.3: the default, which is what is registered, without what only an
        // explicit request gives.
        None => client.scope.filter(|s| {
            may_have(s)
                && ![scope::OPENID, scope::OFFLINE_ACCESS].contains(&s)
                && !scope::PRIVILEGED.contains(&s)
        }),
    };
    if scope.is_empty() {
        return Err(OAuthError::new(
            ErrorCode::InvalidScope,
            "none of the requested scopes is allowed for this client",
        ));
    }
    d.request.scope = scope;
    Ok(())
}

/// OpenID Connect Core section 3.1.2.1: REQUIRED there, whatever OAuth allows.
pub(super) fn redirect_uri_was_sent(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if !d.request.redirect_uri_was_sent && d.request.is_openid() {
        return Err(OAuthError::invalid_request(
            "redirect_uri is missing (OpenID Connect requires it)",
        ));
    }
    Ok(())
}

/// RFC 8707 section 2
pub(super) fn resource(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let Context {
        settings, registry, ..
    } = d.context;
    let resources = target::requested(settings, registry, d.client()?, &d.params.all("resource"))?;
    d.request.resources = resources.into_iter().map(str::to_owned).collect();
    Ok(())
}

/// RFC 7636 and OAuth 2.1 section 4.1.1: S256, and required unless the client's record frees it.
pub(super) fn pkce(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let client = d.client()?;
    let refuse = |why| Err(OAuthError::invalid_request(why));
    match (
        d.params.get("code_challenge"),
        d.params.get("code_challenge_method"),
    ) {
        (None, None) if client.require_pkce || client.is_public() => {
            refuse("code_challenge is missing: PKCE with S256 is required")
        }
        (None, None) => Ok(()),
        (None, Some(_)) => refuse("code_challenge is missing"),
        // RFC 7636 section 4.3: no method means plain.
        (Some(_), None | Some("plain")) => refuse("code_challenge_method must be S256, not plain"),
        (Some(challenge), Some("S256")) if is_sha256(challenge) => {
            d.request.code_challenge = Some(challenge.to_owned());
            Ok(())
        }
        (Some(_), Some("S256")) => refuse("code_challenge must be 43 characters of base64url"),
        (Some(_), Some(_)) => refuse("code_challenge_method must be S256"),
    }
}

/// Is it the base64url form of 32 bytes, in its one spelling?
fn is_sha256(text: &str) -> bool {
    text.len() == 43 && base64url::decode(text.as_bytes()).is_ok_and(|b| b.len() == 32)
}

pub(super) fn nonce(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.nonce = d.bounded("nonce", 1024)?;
    Ok(())
}

pub(super) fn prompt(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if let Some(text) = d.params.get("prompt") {
        d.request.prompts = Prompts::parse(text).ok_or_else(|| {
            OAuthError::invalid_request(
                "prompt has an unknown value, or none or create beside another",
            )
        })?;
        if d.request.prompts.create && !d.context.settings.sign_up.enabled {
            return Err(OAuthError::invalid_request(
                "prompt=create: people cannot sign up here",
            ));
        }
    }
    Ok(())
}

pub(super) fn max_age(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.max_age = match d.params.get("max_age") {
        None => d.client()?.default_max_age,
        Some(text) if text.len() <= 10 && text.bytes().all(|b| b.is_ascii_digit()) => {
            text.parse().ok()
        }
        Some(_) => {
            return Err(OAuthError::invalid_request(
                "max_age must be a number of seconds",
            ));
        }
    };
    Ok(())
}

pub(super) fn acr_values(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.acr_values = d.words("acr_values", 16)?;
    if d.request.acr_values.is_empty() {
        d.request.acr_values = d.client()?.default_acr_values.clone();
    }
    Ok(())
}

pub(super) fn claims(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    // OpenID Connect Core section 5.5: without openid the parameter means nothing.
    if let Some(text) = d.params.get("claims").filter(|_| d.request.is_openid()) {
        let claims = ClaimsRequest::parse(text)?;
        d.request.required_sub = claims.required_sub()?.map(str::to_owned);
        d.request.claims = Some(claims).filter(|c| !c.is_empty());
    }
    Ok(())
}

pub(super) fn hints(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.login_hint = d.bounded("login_hint", 320)?;
    d.request.ui_locales = d.words("ui_locales", 16)?;
    // The second is what clients of Keycloak send.
    d.request.idp_hint = match d.bounded("idp_hint", 64)? {
        Some(name) => Some(name),
        None => d.bounded("kc_idp_hint", 64)?,
    };
    Ok(())
}

/// It names the person that the client expects. Nobody is logged in by it (known fault A5).
pub(super) fn id_token_hint(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let Some(token) = d.params.get("id_token_hint") else {
        return Ok(());
    };
    let hint = verify_id_token_hint(token, &d.context.settings.issuer, d.context.keys)
        .filter(|h| h.audience.iter().any(|a| a == d.request.client_id()))
        .ok_or_else(|| {
            OAuthError::invalid_request(
                "id_token_hint is not an ID token that this server gave to this client, or is too old",
            )
        })?;
    if d.request
        .required_sub
        .as_ref()
        .is_some_and(|s| *s != hint.sub)
    {
        return Err(OAuthError::invalid_request(
            "id_token_hint and claims name different subjects",
        ));
    }
    d.request.required_sub = Some(hint.sub);
    Ok(())
}

/// RFC 9449 sections 10 and 10.1: a proof at the pushing counts as `dpop_jkt`, and both must agree.
pub(super) fn dpop_jkt(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let named = d.params.get("dpop_jkt");
    if named.is_some_and(|jkt| !is_sha256(jkt)) {
        return Err(OAuthError::invalid_request(
            "dpop_jkt must be 43 characters of base64url",
        ));
    }
    if let (Some(named), Some(proven)) = (named, d.proof_jkt)
        && named != proven
    {
        return Err(OAuthError::new(
            ErrorCode::InvalidDpopProof,
            "dpop_jkt is not the thumbprint of the DPoP proof's key",
        ));
    }
    d.request.dpop_jkt = named.or(d.proof_jkt).map(str::to_owned);
    Ok(())
}
