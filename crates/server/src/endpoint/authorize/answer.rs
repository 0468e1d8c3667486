//! Answers to the client, in the response mode that it asked for.
use http::StatusCode;
use signet_oauth::authorize::{Issuing, Response as Answer, ReturnTo, response};
use signet_oauth::client::Client;
use signet_oauth::error::OAuthError;
use signet_pages::words::host_of;
use signet_pages::{Face, LeavingPage, Onward};
use signet_request::http::{Context, Response, response::redirect};

/// The answer with a code.
///
/// # Errors
/// The mode signs, and cannot.
pub(super) fn code(
    context: &Context,
    face: &Face,
    client: &Client,
    to: &ReturnTo,
    code: &str,
    session_state: Option<String>,
) -> Result<Response, OAuthError> {
    let issuing = issuing(context, Some(client));
    response::success(to, code, session_state, &issuing).map(|answer| on_the_wire(face, answer))
}

/// The answer with an error, to the client without a page before it: where the request forbids
/// pages, or the person has just decided so on one.
///
/// # Errors
/// The mode signs, and cannot.
pub(super) fn silent_error(
    context: &Context,
    face: &Face,
    client: Option<&Client>,
    to: &ReturnTo,
    error: &OAuthError,
) -> Result<Response, OAuthError> {
    let issuing = issuing(context, client);
    response::error(to, error, &issuing).map(|answer| on_the_wire(face, answer))
}

/// The answer with an error. A client that registered itself leads nobody anywhere by asking for
/// what cannot be done (RFC 9700 section 4.11.2): a page says where it would go. In a frame nobody
/// is led away, and a page of ours is not shown.
///
/// # Errors
/// The mode signs, and cannot.
pub(super) fn error(
    context: &Context,
    face: &Face,
    client: Option<&Client>,
    to: &ReturnTo,
    error: &OAuthError,
) -> Result<Response, OAuthError> {
    let back = response::error(to, error, &issuing(context, client))?;
    let vouched_for = client.is_some_and(Client::is_vouched_for);
    if vouched_for || context.header("sec-fetch-dest") == Some("iframe") {
        return Ok(on_the_wire(face, back));
    }
    let host = host_of(face, &to.redirect_uri);
    let shown = |onward| {
        signet_pages::leaving(
            face,
            &LeavingPage {
                host: &host,
                error: error.code.as_str(),
                description: error.description,
                onward,
            },
        )
    };
    let html = match &back {
        Answer::Redirect(url) => shown(Onward::Link(url)),
        Answer::FormPost { action, fields } => shown(Onward::Form {
            action,
            fields: &borrowed(fields),
        }),
    };
    Ok(html.respond(StatusCode::OK))
}

fn issuing<'a>(context: &'a Context, client: Option<&'a Client>) -> Issuing<'a> {
    Issuing {
        issuer: &context.snapshot.settings.issuer,
        signers: &*context.snapshot.keys,
        client,
        now: context.now(),
    }
}

fn on_the_wire(face: &Face, answer: Answer) -> Response {
    match answer {
        Answer::Redirect(url) => redirect(&url),
        Answer::FormPost { action, fields } => {
            signet_pages::form_post(face, &action, &borrowed(&fields)).respond(StatusCode::OK)
        }
    }
}

fn borrowed<'a>(fields: &'a [(&'static str, String)]) -> Vec<(&'a str, &'a str)> {
    fields.iter().map(|(n, v)| (*n, v.as_str())).collect()
}
