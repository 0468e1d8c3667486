//! `/providers/NAME/callback`: where identity providers answer.
//!
//! Every answer goes on as a GET of `/interaction`, with what counts of it sealed: a posted one
//! (`response_mode=form_post`) comes from another site and so without the cookies, and a page that
//! stays in the browser has no code in its address.

use serde::{Deserialize, Serialize};
use signet_crypto::seal::Purpose;
use signet_encoding::base64url;
use signet_oauth::error::OAuthError;
use signet_oauth::params::Params;

use signet_login::journey::{self, Outcome};
use signet_request::browser_request::{BrowserRequest, error_page};
use signet_request::http::{Context, Response, response};

const ANSWER: Purpose = Purpose::Other("provider-answer");
/// How long an answer may be on its way to the GET that goes on with it, seconds.
const LIFETIME: u64 = 60;
/// The longest answer that goes on in a URL, in characters.
const MAX_ANSWER: usize = 6 * 1024;
/// What of an answer is read.
const MEMBERS: [&str; 4] = ["code", "state", "iss", "error"];

#[derive(Serialize, Deserialize)]
struct Answer {
    provider: String,
    ends_at: u64,
    members: Vec<(String, String)>,
}

/// GET: an answer in the query.
pub(super) async fn show(mut context: Context) -> Response {
    match context.query_params() {
        Ok(params) => on(context, &params),
        Err(error) => error_page(&mut context, &error),
    }
}

/// POST: an answer in a form.
pub(super) async fn submit(mut context: Context) -> Response {
    match context.form().await {
        Ok(form) => on(context, &form),
        Err(error) => error_page(&mut context, &error.into()),
    }
}

fn on(mut context: Context, params: &Params) -> Response {
    let members = MEMBERS.iter().filter_map(|name| {
        let value = params.get(name)?;
        Some(((*name).to_owned(), value.to_owned()))
    });
    let answer = Answer {
        provider: context.param("provider").unwrap_or_default().to_owned(),
        ends_at: context.now() + LIFETIME,
        members: members.collect(),
    };
    // Invariant: strings and a number always serialize.
    let plain = serde_json::to_vec(&answer).unwrap_or_default();
    let sealed = context.realm.keyring().seal(ANSWER, &plain);
    match sealed.map(|sealed| base64url::encode(&sealed)) {
        Ok(sealed) if sealed.len() <= MAX_ANSWER => {
            let url = format!("{}/interaction?answer={sealed}", context.base());
            response::redirect(&url)
        }
        Ok(_) | Err(_) => {
            let error = OAuthError::invalid_request("The answer is too large.");
            error_page(&mut context, &error)
        }
    }
}

/// An answer that has come to `/interaction`.
pub(super) async fn answered(browser: BrowserRequest, sealed: &str) -> Outcome {
    match opened(&browser, sealed) {
        Some((provider, params)) => journey::arrive(browser, &provider, &params).await,
        None => Outcome::Page(browser.start_again()),
    }
}

fn opened(browser: &BrowserRequest, sealed: &str) -> Option<(String, Params)> {
    let sealed = base64url::decode(sealed.as_bytes()).ok()?;
    let plain = browser.context.realm.keyring().open(ANSWER, &sealed).ok()?;
    let answer: Answer = serde_json::from_slice(&plain).ok()?;
    let pairs = answer.members.iter();
    let params = Params::from_pairs(pairs.map(|(name, value)| (&**name, &**value))).ok()?;
    (browser.context.now() < answer.ends_at).then_some((answer.provider, params))
}
