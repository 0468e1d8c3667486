//! The checks of an authorization request, as one table: a row is a check, a column an endpoint that it runs at.
//!
//! The order is the rule about redirects: until `redirect_uri` has passed, an error is a page, because nobody knows yet
//! where the browser may be sent (RFC 6749 section 4.1.2.1); from then on it goes back to the client, with its state.
use super::{
    claims::ClaimsRequest,
    hint::verify_id_token_hint,
    request::{AuthorizationRequest, Prompts, ResponseMode, ReturnTo},
};
use crate::{
    client::{Client, GrantType},
    error::{ErrorCode, OAuthError},
    par,
    params::Params,
    registry::Registry,
    scope::{self, ScopeSet},
    settings::Settings,
    target,
};
use signet_crypto::{VerifyingKey, seal::Keyring};
use signet_jose::base64url;
use std::sync::Arc;

/// What a request is checked against: one snapshot, and the moment.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// clients, resources, scopes
    pub registry: &'a Registry,
    /// the server's settings
    pub settings: &'a Settings,
    /// opens pushed requests
    pub keyring: &'a Keyring,
    /// this server's verification keys by `kid`, for `id_token_hint`
    pub keys: &'a dyn Fn(&str) -> Option<Arc<VerifyingKey>>,
    /// Unix seconds
    pub now: u64,
}

/// A refused authorization request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthorizeError {
    /// The redirect is not proven: show a page, and send the browser nowhere.
    Page(OAuthError),
    /// The client may hear of it: [`super::response::error`].
    Redirect(Box<ErrorReturn>),
}

/// An error that goes back to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorReturn {
    /// proven
    pub to: ReturnTo,
    /// what was wrong
    pub error: OAuthError,
}

/// Where a request arrived.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Door {
    Authorize,
    Par,
    Device,
}

struct Check {
    name: &'static str,
    doors: &'static [Door],
    run: fn(&mut Draft<'_>) -> Result<(), OAuthError>,
}

#[rustfmt::skip]
const CHECKS: &[Check] = {
    use Door::*;
    const fn row(name: &'static str, doors: &'static [Door], run: fn(&mut Draft<'_>) -> Result<(), OAuthError>) -> Check {
        Check { name, doors, run }
    }
    &[
        //   check              runs at                     function
        row("client",           &[Authorize],               client),
        row("redirect_uri",     &[Authorize, Par],          redirect_uri),
        // From here on the client hears of errors.
        row("state",            &[Authorize, Par],          state),
        row("response_mode",    &[Authorize, Par],          response_mode),
        row("request object",   &[Authorize, Par, Device],  request_object),
        row("registration",     &[Authorize, Par],          registration),
        row("response_type",    &[Authorize, Par],          response_type),
        row("pushed",           &[Authorize],               must_be_pushed),
        row("grant",            &[Authorize, Par, Device],  grant),
        row("scope",            &[Authorize, Par, Device],  requested_scope),
        row("sent redirect",    &[Authorize, Par],          redirect_uri_was_sent),
        row("resource",         &[Authorize, Par, Device],  resource),
        row("pkce",             &[Authorize, Par],          pkce),
        row("nonce",            &[Authorize, Par],          nonce),
        row("prompt",           &[Authorize, Par],          prompt),
        row("max_age",          &[Authorize, Par],          max_age),
        row("acr_values",       &[Authorize, Par],          acr_values),
        row("claims",           &[Authorize, Par],          claims),
        row("hints",            &[Authorize, Par],          hints),
        row("id_token_hint",    &[Authorize, Par],          id_token_hint),
        row("dpop_jkt",         &[Authorize, Par],          dpop_jkt),
    ]
};

/// A request on its way through the table.
struct Draft<'a> {
    door: Door,
    params: &'a Params,
    context: &'a Context<'a>,
    /// None only before the first check has passed.
    client: Option<&'a Arc<Client>>,
    /// thumbprint of a DPoP proof that came along (RFC 9449 section 10.1)
    proof_jkt: Option<&'a str>,
    /// the redirect has been proven
    proven: bool,
    request: AuthorizationRequest,
}

/// Checks a request at `/authorize`, pushed or not. Reads nothing from `params` that only the server may say.
///
/// # Errors
/// [`AuthorizeError`], which says whether the client may hear of it.
pub fn validate(
    params: &Params,
    context: &Context<'_>,
) -> Result<AuthorizationRequest, AuthorizeError> {
    if let Some(request_uri) = params.get("request_uri").filter(|u| par::is_request_uri(u)) {
        return pushed(params, request_uri, context).map_err(AuthorizeError::Page);
    }
    let mut draft = Draft::new(Door::Authorize, params, context, None);
    match draft.run() {
        Ok(()) => Ok(draft.request),
        Err(error) if draft.proven => Err(AuthorizeError::Redirect(Box::new(ErrorReturn {
            to: draft.request.return_to,
            error,
        }))),
        Err(error) => Err(AuthorizeError::Page(error)),
    }
}

/// Checks a request at `/par`, whose client has been authenticated. `proof_jkt`: of the DPoP proof that came along.
pub(crate) fn validate_pushed(
    params: &Params,
    client: &Arc<Client>,
    proof_jkt: Option<&str>,
    context: &Context<'_>,
) -> Result<AuthorizationRequest, OAuthError> {
    let mut draft = Draft::new(Door::Par, params, context, Some(client));
    draft.proof_jkt = proof_jkt;
    draft.run().map(|()| draft.request)
}

/// Checks a device authorization request, whose client has been authenticated: (scope, resources).
pub(crate) fn validate_device(
    params: &Params,
    client: &Arc<Client>,
    context: &Context<'_>,
) -> Result<(ScopeSet, Vec<String>), OAuthError> {
    let mut draft = Draft::new(Door::Device, params, context, Some(client));
    draft.run()?;
    Ok((draft.request.scope, draft.request.resources))
}

/// RFC 9126 section 4: the pushed request counts, and nothing else of the query but `client_id`.
fn pushed(
    params: &Params,
    request_uri: &str,
    context: &Context<'_>,
) -> Result<AuthorizationRequest, OAuthError> {
    let gone = || {
        OAuthError::new(
            ErrorCode::InvalidRequestUri,
            "the request_uri has expired, was used, or was never given",
        )
    };
    let client_id = params.get("client_id").ok_or_else(|| {
        OAuthError::invalid_request("client_id must be sent along with request_uri")
    })?;
    let request = par::open(context.keyring, request_uri).ok_or_else(gone)?;
    if request.client_id != client_id {
        return Err(OAuthError::invalid_request(
            "the request_uri was given to another client",
        ));
    }
    if request.pushed.is_none_or(|p| context.now >= p.expires_at) {
        return Err(gone());
    }
    // What may have changed since it was pushed.
    let client = context
        .registry
        .client(client_id, context.now)
        .ok_or_else(unknown_client)?;
    if client
        .redirect_uri(&request.return_to.redirect_uri)
        .is_none()
    {
        return Err(not_registered());
    }
    Ok(request)
}

impl<'a> Draft<'a> {
    fn new(
        door: Door,
        params: &'a Params,
        context: &'a Context<'a>,
        client: Option<&'a Arc<Client>>,
    ) -> Self {
        Draft {
            door,
            params,
            context,
            client,
            proof_jkt: None,
            proven: false,
            request: AuthorizationRequest {
                client_id: client.map(|c| c.client_id.clone()).unwrap_or_default(),
                return_to: ReturnTo {
                    redirect_uri: String::new(),
                    response_mode: ResponseMode::Query,
                    state: None,
                },
                redirect_uri_was_sent: false,
                scope: ScopeSet::EMPTY,
                resources: Vec::new(),
                code_challenge: None,
                nonce: None,
                prompts: Prompts::default(),
                max_age: None,
                acr_values: Vec::new(),
                claims: None,
                login_hint: None,
                ui_locales: Vec::new(),
                required_sub: None,
                dpop_jkt: None,
                pushed: None,
            },
        }
    }

    fn run(&mut self) -> Result<(), OAuthError> {
        let door = self.door;
        for check in CHECKS.iter().filter(|c| c.doors.contains(&door)) {
            (check.run)(self).map_err(|error| match error.hint {
                None => error.with_hint(format!("check: {}", check.name)),
                Some(_) => error,
            })?;
        }
        Ok(())
    }

    fn client(&self) -> Result<&'a Client, OAuthError> {
        self.client.map(|c| &**c).ok_or_else(unknown_client)
    }

    fn bounded(&self, name: &str, most: usize) -> Result<Option<String>, OAuthError> {
        match self.params.get(name) {
            Some(value) if value.len() > most => {
                Err(OAuthError::invalid_request("a parameter is too long")
                    .with_hint(format!("too long: {name}")))
            }
            value => Ok(value.map(str::to_owned)),
        }
    }

    fn words(&self, name: &str, most: usize) -> Result<Vec<String>, OAuthError> {
        let text = self.bounded(name, 1024)?.unwrap_or_default();
        let words: Vec<String> = text
            .split(' ')
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect();
        if words.len() > most {
            return Err(
                OAuthError::invalid_request("a parameter has too many values")
                    .with_hint(format!("too many: {name}")),
            );
        }
        Ok(words)
    }
}

fn unknown_client() -> OAuthError {
    // Not invalid_client: no client authenticates here, and 401 would ask the browser for a password.
    OAuthError::invalid_request("the client_id is unknown")
}

fn not_registered() -> OAuthError {
    OAuthError::invalid_request("the redirect_uri is not registered for this client")
}

fn client(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let client_id = d.params.require("client_id")?;
    let client = d
        .context
        .registry
        .client(client_id, d.context.now)
        .ok_or_else(unknown_client)?;
    d.client = Some(client);
    d.request.client_id = client.client_id.clone();
    Ok(())
}

/// Exact, but for a loopback port (RFC 9700 section 4.1.3, RFC 8252 section 7.3).
fn redirect_uri(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let client = d.client()?;
    let uri = match (
        d.params.get("redirect_uri"),
        client.redirect_uris.as_slice(),
    ) {
        (Some(requested), _) if client.redirect_uri(requested).is_some() => requested,
        (Some(_), _) => return Err(not_registered()),
        // OAuth 2.1 section 4.1.1: it may be left out where one is registered. FAPI 2.0 wants it pushed.
        (None, [only]) if d.door == Door::Authorize => only.as_str(),
        (None, _) => return Err(OAuthError::invalid_request("redirect_uri is missing")),
    };
    d.request.return_to.redirect_uri = uri.to_owned();
    d.request.redirect_uri_was_sent = d.params.contains("redirect_uri");
    d.proven = true;
    Ok(())
}

fn state(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.return_to.state = d.bounded("state", 2048)?;
    Ok(())
}

fn response_mode(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let Some(name) = d.params.get("response_mode") else {
        return Ok(());
    };
    let mode = ResponseMode::from_name(name)
        .ok_or_else(|| OAuthError::invalid_request("the response_mode is not supported"))?;
    if mode == ResponseMode::FormPost && !d.request.return_to.redirect_uri.starts_with("http") {
        return Err(OAuthError::invalid_request(
            "form_post needs an http redirect_uri",
        ));
    }
    d.request.return_to.response_mode = mode;
    Ok(())
}

/// RFC 9101 is not offered; the metadata says so.
fn request_object(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if d.params.contains("request") {
        return Err(OAuthError::new(
            ErrorCode::RequestNotSupported,
            "request objects are not supported: push the request instead (RFC 9126)",
        ));
    }
    if d.params.contains("request_uri") {
        return Err(if d.door == Door::Authorize {
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

fn registration(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if d.params.contains("registration") {
        return Err(OAuthError::new(
            ErrorCode::RegistrationNotSupported,
            "the registration parameter is not supported",
        ));
    }
    Ok(())
}

fn response_type(d: &mut Draft<'_>) -> Result<(), OAuthError> {
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
fn must_be_pushed(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if d.context.settings.require_pushed_authorization_requests
        || d.client()?.require_pushed_authorization_requests
    {
        return Err(OAuthError::invalid_request(
            "the authorization request must be pushed (RFC 9126)",
        ));
    }
    Ok(())
}

fn grant(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let grant = match d.door {
        Door::Authorize | Door::Par => GrantType::AuthorizationCode,
        Door::Device => GrantType::DeviceCode,
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

/// Narrowed, never widened: unknown values and those that the client may not have are left out (RFC 6749
/// section 3.3, OpenID Connect Core section 3.1.2.1); it is an error if nothing is left.
fn requested_scope(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let client = d.client()?;
    let registry = d.context.registry;
    let may_have = |s: &str| {
        client.scope.contains(s)
            && registry.knows_scope(s)
            // Core section 11: without a refresh token there is no offline access.
            && (s != scope::OFFLINE_ACCESS || client.may_use(GrantType::RefreshToken))
    };
    let scope = match d.params.get("scope") {
        Some(text) => ScopeSet::parse(text)?.filter(may_have),
        // RFC 6749 section 3.3: the default, which is what is registered, without what only an explicit request gives.
        None => client.scope.filter(|s| {
            may_have(s) && ![scope::OPENID, scope::OFFLINE_ACCESS, scope::ADMIN].contains(&s)
        }),
    };
    if scope.is_empty() {
        return Err(OAuthError::new(
            ErrorCode::InvalidScope,
            "none of the requested scopes is known and allowed for this client",
        ));
    }
    d.request.scope = scope;
    Ok(())
}

/// OpenID Connect Core section 3.1.2.1: REQUIRED there, whatever OAuth allows.
fn redirect_uri_was_sent(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if !d.request.redirect_uri_was_sent && d.request.is_openid() {
        return Err(OAuthError::invalid_request(
            "redirect_uri is missing (OpenID Connect requires it)",
        ));
    }
    Ok(())
}

/// RFC 8707 section 2
fn resource(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let Context {
        settings, registry, ..
    } = d.context;
    let resources = target::requested(settings, registry, d.client()?, &d.params.all("resource"))?;
    d.request.resources = resources.into_iter().map(str::to_owned).collect();
    Ok(())
}

/// RFC 7636 and OAuth 2.1 section 4.1.1: S256, and required unless the client's record frees it.
fn pkce(d: &mut Draft<'_>) -> Result<(), OAuthError> {
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

fn nonce(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.nonce = d.bounded("nonce", 1024)?;
    Ok(())
}

fn prompt(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    if let Some(text) = d.params.get("prompt") {
        d.request.prompts = Prompts::parse(text).ok_or_else(|| {
            OAuthError::invalid_request("prompt has an unknown value, or none beside another")
        })?;
    }
    Ok(())
}

fn max_age(d: &mut Draft<'_>) -> Result<(), OAuthError> {
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

fn acr_values(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.acr_values = d.words("acr_values", 16)?;
    if d.request.acr_values.is_empty() {
        d.request.acr_values = d.client()?.default_acr_values.clone();
    }
    Ok(())
}

fn claims(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    // OpenID Connect Core section 5.5: without openid the parameter means nothing.
    if let Some(text) = d.params.get("claims").filter(|_| d.request.is_openid()) {
        let claims = ClaimsRequest::parse(text)?;
        d.request.required_sub = claims.required_sub()?.map(str::to_owned);
        d.request.claims = Some(claims).filter(|c| !c.is_empty());
    }
    Ok(())
}

fn hints(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    d.request.login_hint = d.bounded("login_hint", 320)?;
    d.request.ui_locales = d.words("ui_locales", 16)?;
    Ok(())
}

/// It names the person that the client expects. Nobody is logged in by it (known fault A5).
fn id_token_hint(d: &mut Draft<'_>) -> Result<(), OAuthError> {
    let Some(token) = d.params.get("id_token_hint") else {
        return Ok(());
    };
    let hint = verify_id_token_hint(token, &d.context.settings.issuer, d.context.keys)
        .filter(|h| h.audience.contains(&d.request.client_id))
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
fn dpop_jkt(d: &mut Draft<'_>) -> Result<(), OAuthError> {
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
