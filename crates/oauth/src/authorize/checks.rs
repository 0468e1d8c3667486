//! The checks of an authorization request, as one table: a row is a check, a column an endpoint
//! that it runs at.
//!
//! The order is the rule about redirects: until `redirect_uri` has passed, an error is a page,
//! because nobody knows yet where the browser may be sent (RFC 6749 section 4.1.2.1); from then on
//! it goes back to the client, with its state.
mod parameters;

use super::incoming::{Form, Resolved};
use super::pushed;
use super::request::{AuthorizationRequest, Prompts};
use super::response_mode::{ResponseMode, ReturnTo};
use crate::{
    client::Client,
    error::{ErrorCode, OAuthError},
    params::Params,
    request::Context,
    scope::ScopeSet,
};
use std::sync::Arc;

/// The largest checked request, in bytes of its encoded form: sealed together with what the pages
/// know, it is a field of a form, and fields end at [`crate::params::MAX_VALUE_BYTES`].
pub const MAX_REQUEST_BYTES: usize = 11_000;

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
enum CheckedAt {
    Authorize,
    Par,
    Device,
}

struct Check {
    name: &'static str,
    checked_at: &'static [CheckedAt],
    run: fn(&mut Draft<'_>) -> Result<(), OAuthError>,
}

#[rustfmt::skip]
const CHECKS: &[Check] = {
    use CheckedAt::*;
    use parameters::*;
    const fn row(name: &'static str, checked_at: &'static [CheckedAt], run: fn(&mut Draft<'_>) -> Result<(), OAuthError>) -> Check {
        Check { name, checked_at, run }
    }
    &[
        //   check              runs at                     function
        row("client",           &[Authorize],               client),
        // What lies inside a request object is missing outside of it: say that first, where the
        // answer is direct.
        row("pushed object",    &[Par, Device],             request_object),
        row("redirect_uri",     &[Authorize, Par],          redirect_uri),
        // From here on the client hears of errors.
        row("state",            &[Authorize, Par],          state),
        row("response_mode",    &[Authorize, Par],          response_mode),
        row("request object",   &[Authorize],               request_object),
        row("registration",     &[Authorize, Par],          registration),
        row("authorization_details", &[Authorize, Par, Device], authorization_details),
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
        // Last: what has been read is what has to fit.
        row("size",             &[Authorize, Par],          size),
    ]
};

/// A request on its way through the table.
struct Draft<'a> {
    door: CheckedAt,
    params: &'a Params,
    context: &'a Context<'a>,
    /// none where the request names none that there is, which the first check says
    client: Option<&'a Arc<Client>>,
    /// thumbprint of a DPoP proof that came along (RFC 9449 section 10.1)
    proof_jkt: Option<&'a str>,
    /// the redirect has been proven
    proven: bool,
    request: AuthorizationRequest,
}

/// Checks a request at `/authorize`, pushed or not. Reads nothing from its parameters that only the
/// server may say.
///
/// # Errors
/// [`AuthorizeError`], which says whether the client may hear of it.
pub fn validate(
    request: &Resolved,
    context: &Context<'_>,
) -> Result<AuthorizationRequest, AuthorizeError> {
    let client = request.client.as_ref();
    let mut draft = match request.form {
        Form::Pushed => {
            return pushed(&request.params, client, context).map_err(AuthorizeError::Page);
        }
        Form::Plain => Draft::new(CheckedAt::Authorize, &request.params, context, client),
    };
    match draft.run() {
        Ok(()) => Ok(draft.request),
        Err(error) if draft.proven => Err(AuthorizeError::Redirect(Box::new(ErrorReturn {
            to: draft.request.return_to,
            error,
        }))),
        Err(error) => Err(AuthorizeError::Page(error)),
    }
}

/// Checks a request at `/par`, whose client has been authenticated. `proof_jkt`: of the DPoP proof
/// that came along.
pub(crate) fn validate_pushed(
    request: &Resolved,
    proof_jkt: Option<&str>,
    context: &Context<'_>,
) -> Result<AuthorizationRequest, OAuthError> {
    let client = request.client.as_ref();
    let mut draft = Draft::new(CheckedAt::Par, &request.params, context, client);
    draft.proof_jkt = proof_jkt;
    draft.run().map(|()| draft.request)
}

/// Checks a device authorization request, whose client has been authenticated: (scope, resources).
pub(crate) fn validate_device(
    params: &Params,
    client: &Arc<Client>,
    context: &Context<'_>,
) -> Result<(ScopeSet, Vec<String>), OAuthError> {
    let mut draft = Draft::new(CheckedAt::Device, params, context, Some(client));
    draft.run()?;
    Ok((draft.request.scope, draft.request.resources))
}

/// RFC 9126 section 4: the pushed request counts, and nothing else of the query but `client_id`.
fn pushed(
    params: &Params,
    client: Option<&Arc<Client>>,
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
    let request_uri = params.get("request_uri").ok_or_else(gone)?;
    let request = pushed::open(context.keyring, request_uri).ok_or_else(gone)?;
    if request.return_to.client_id != client_id {
        return Err(OAuthError::invalid_request(
            "the request_uri was given to another client",
        ));
    }
    if request.pushed.is_none_or(|p| context.now() >= p.expires_at) {
        return Err(gone());
    }
    // What may have changed since it was pushed.
    let client = client.ok_or_else(|| unknown_client(client_id))?;
    if client
        .redirect_uri(&request.return_to.redirect_uri)
        .is_none()
    {
        return Err(not_registered(&request.return_to.redirect_uri));
    }
    Ok(request)
}

impl<'a> Draft<'a> {
    fn new(
        door: CheckedAt,
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
                return_to: ReturnTo {
                    client_id: client.map(|c| c.client_id.clone()).unwrap_or_default(),
                    redirect_uri: String::new(),
                    response_mode: ResponseMode::QUERY,
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
                idp_hint: None,
                ui_locales: Vec::new(),
                required_sub: None,
                dpop_jkt: None,
                pushed: None,
            },
        }
    }

    fn run(&mut self) -> Result<(), OAuthError> {
        let door = self.door;
        for check in CHECKS.iter().filter(|c| c.checked_at.contains(&door)) {
            (check.run)(self).map_err(|error| match error.hint {
                None => error.with_hint(format!("check: {}", check.name)),
                Some(_) => error,
            })?;
        }
        Ok(())
    }

    fn client(&self) -> Result<&'a Client, OAuthError> {
        self.client.map(|c| &**c).ok_or_else(|| unknown_client(""))
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

/// The pages carry the request in a form's field, so what does not fit there is refused here, where
/// the client hears of it, and not after the person has typed a password.
fn size(draft: &mut Draft<'_>) -> Result<(), OAuthError> {
    if draft.request.to_bytes().len() > MAX_REQUEST_BYTES {
        return Err(OAuthError::invalid_request(
            "the authorization request is too large",
        ));
    }
    Ok(())
}

/// What was sent, for the log: an operator has to see which letter differs.
fn sent(value: &str) -> String {
    value
        .chars()
        .filter(|c| !c.is_control())
        .take(200)
        .collect()
}

fn unknown_client(client_id: &str) -> OAuthError {
    // Not invalid_client: no client authenticates here, and 401 would ask the browser for a
    // password.
    OAuthError::invalid_request("the client_id is unknown")
        .with_hint(format!("unknown client_id: {}", sent(client_id)))
}

fn not_registered(redirect_uri: &str) -> OAuthError {
    OAuthError::invalid_request("the redirect_uri is not registered for this client").with_hint(
        format!("redirect_uri not registered: {}", sent(redirect_uri)),
    )
}
