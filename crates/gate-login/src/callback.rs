//! The redirect URI: what the issuer's answer comes to.

use crate::{
    attempt::Attempt,
    cookie,
    login::{Asked, Login, count, rounds},
    page,
    provider::{Metadata, Tokens},
    session::{self, Facts},
    start,
};
use http::StatusCode;
use signet_encoding::json::{Limits, Object, parse_object};
use signet_http::Response;
use signet_oauth::params::Params;
use signet_verify::{Claims, Presented, Revocation};

/// Seconds that a round is remembered: one that nobody types in takes less.
const ROUND_LIFE: u64 = 20;

/// Why a callback makes no session: what the person is shown, and what the log says.
struct Refused {
    status: StatusCode,
    code: String,
    text: String,
    log: String,
}

impl Refused {
    fn new(status: StatusCode, code: &str, text: &str, log: impl Into<String>) -> Refused {
        Refused {
            status,
            code: code.to_owned(),
            text: text.to_owned(),
            log: log.into(),
        }
    }
}

pub(crate) async fn respond(login: &Login, asked: &Asked<'_>) -> Response {
    let Ok(params) = Params::parse(asked.query.as_bytes()) else {
        return login
            .failed(StatusCode::BAD_REQUEST, "invalid_request", "/")
            .say("The answer of the login's server cannot be read.")
            .respond(&login.settings.issuer);
    };
    let state = params.get("state").unwrap_or("");
    let (keys, application) = (&login.keys, asked.application);
    let Some(attempt) = Attempt::find(keys, application, asked.headers, state, asked.now) else {
        return login
            .failed(StatusCode::BAD_REQUEST, "login_unknown", "/")
            .say("This login was not begun in this browser, was begun too long ago, or has ended already. If it happens again: this browser keeps no cookies of this site, which the login needs.")
            .respond(&login.settings.issuer);
    };
    let over = cookie::remove(&attempt.cookie());
    let metadata = login
        .provider
        .metadata(&login.settings.issuer, &login.outbound, asked.now);
    let metadata = match metadata.await {
        Ok(metadata) => metadata,
        Err(why) => {
            let failure = crate::provider::Failure::Unavailable(why);
            return start::unavailable(login, failure, &attempt.to);
        }
    };
    let code = match code_of(login, &metadata, &params) {
        Ok(code) => code,
        Err(refused) => return show(login, &attempt, over, refused),
    };
    let redirect_uri = application.url(&login.settings.redirect_path);
    let tokens = login.exchange(&metadata, &attempt, code, &redirect_uri, asked.now);
    let tokens = match tokens.await {
        Ok(tokens) => tokens,
        Err(failure) => return start::unavailable(login, failure, &attempt.to),
    };
    match begin(login, asked, &metadata, &attempt, &tokens, code).await {
        Ok(value) => {
            count(&login.counts.begun);
            let round = (rounds(asked.headers) + 1).to_string();
            let session = cookie::set(cookie::SESSION, &value, None);
            let round = cookie::set(cookie::ROUNDS, &round, Some(ROUND_LIFE));
            let cookies = [over, session, round].into_iter().flatten();
            page::redirect(&application.url(&attempt.to), cookies)
        }
        Err(refused) => show(login, &attempt, over, refused),
    }
}

fn show(
    login: &Login,
    attempt: &Attempt,
    over: Option<http::HeaderValue>,
    refused: Refused,
) -> Response {
    tracing::info!(
        error = refused.code,
        why = refused.log,
        "refused to make a session of a login"
    );
    login
        .failed(refused.status, &refused.code, &attempt.to)
        .say(&refused.text)
        .cookie(over)
        .respond(&login.settings.issuer)
}

/// The code of an answer, which must be this issuer's.
fn code_of<'p>(login: &Login, metadata: &Metadata, params: &'p Params) -> Result<&'p str, Refused> {
    // RFC 9207 section 2.4: before anything else is believed.
    let is_issuers = match params.get("iss") {
        Some(iss) => iss == login.settings.issuer,
        None => !metadata.says_iss,
    };
    if !is_issuers {
        let text = "The answer is not of the server that was asked.";
        return Err(Refused::new(
            StatusCode::BAD_REQUEST,
            "issuer_mismatch",
            text,
            "iss",
        ));
    }
    if let Some(error) = params.get("error") {
        let description = params.get("error_description").unwrap_or("");
        let (status, text) = match error {
            "access_denied" => (
                StatusCode::FORBIDDEN,
                "You may not use this application, or did not agree to the login.",
            ),
            _ => (
                StatusCode::BAD_REQUEST,
                "The login's server answered with an error.",
            ),
        };
        return Err(Refused::new(status, error, text, description));
    }
    params.get("code").ok_or_else(|| {
        let text = "The answer of the login's server has neither a code nor an error.";
        Refused::new(StatusCode::BAD_REQUEST, "invalid_request", text, "no code")
    })
}

/// The value of a new session's cookie.
async fn begin(
    login: &Login,
    asked: &Asked<'_>,
    metadata: &Metadata,
    attempt: &Attempt,
    tokens: &Tokens,
    code: &str,
) -> Result<String, Refused> {
    let now = asked.now;
    let presented = Presented::token(&tokens.id_token)
        .nonce(&attempt.nonce)
        .access_token(&tokens.access_token)
        .code(code);
    let verified = login.verifier.verify_under(login.id_token, &presented, now);
    let verified = verified.map_err(|refusal| {
        let text = "What the login's server says about you is not valid here. Clocks that differ by more than a minute are a cause of it.";
        Refused::new(StatusCode::BAD_GATEWAY, refusal.code(), text, refusal.describe())
    })?;
    let unreadable = || {
        let text = "What the login's server says about you cannot be read.";
        Refused::new(StatusCode::BAD_GATEWAY, "claims", text, "claims")
    };
    let id_token = verified.claims().object().ok_or_else(unreadable)?;
    let userinfo = further(login, metadata, &id_token, tokens).await?;
    let limits = Limits::default();
    let userinfo = match &userinfo {
        None => None,
        Some(body) => Some(parse_object(body, &limits).map_err(|_| unreadable())?),
    };
    // OpenID Connect Core section 5.3.2: nothing of it may be used for somebody else.
    if let Some(userinfo) = &userinfo
        && userinfo.string("sub").ok().flatten() != verified.claims().sub()
    {
        return Err(unreadable());
    }
    let said = [Some(&id_token), userinfo.as_ref()];
    if let Some(claim) = omitted(login, &said) {
        let text = format!(
            "The login's server left out the claim \"{claim}\": you have more values of it than it says. The administrator of this application can leave it out, or have fewer values of it."
        );
        let log = format!("the issuer left out {claim} (omitted_claims)");
        return Err(Refused::new(
            StatusCode::BAD_GATEWAY,
            "session_too_large",
            &text,
            log,
        ));
    }
    let access = Presented::token(&tokens.access_token);
    let access = login
        .verifier
        .verify_under(login.access_token, &access, now);
    let access = access
        .ok()
        .filter(|access| access.claims().sub() == verified.claims().sub());
    let scope = match &tokens.scope {
        Some(scope) => scope.clone(),
        // RFC 6749 section 5.1: as it was asked for.
        None => login.settings.scopes.join(" "),
    };
    let facts = Facts {
        client_id: &login.settings.client_id,
        id_token: &id_token,
        userinfo: userinfo.as_ref(),
        scope: &scope,
        access: access.as_ref().map(|access| access.claims()),
        claims: &login.further_claims,
        end: now.saturating_add(login.settings.absolute),
    };
    let made = session::make(&login.keys, asked.application, &facts, now);
    let (claims, value) = made.map_err(|large| {
        let text = format!(
            "The session would not fit into a cookie: {} bytes, and most of them are the claim \"{}\". The administrator of this application can leave it out, or have fewer values of it.",
            large.bytes, large.claim
        );
        let log = format!("{} bytes, most of them {}", large.bytes, large.claim);
        Refused::new(StatusCode::BAD_GATEWAY, "session_too_large", &text, log)
    })?;
    is_live(login, &claims, now)?;
    Ok(value)
}

/// A claim that a header field or a rule reads, and that the issuer says that it left out: without
/// it nobody could tell a person who has too many values of it from one who has none.
fn omitted<'l>(login: &'l Login, said: &[Option<&Object<'_>>]) -> Option<&'l str> {
    let said = || said.iter().flatten();
    let is_omitted = |name: &&String| {
        let lists = said().filter_map(|object| object.strings("omitted_claims").ok().flatten());
        let is_there = said().any(|object| object.get(name).is_some());
        !is_there && lists.flatten().any(|omitted| omitted == name.as_str())
    };
    let found = login.further_claims.iter().find(is_omitted);
    found.map(String::as_str)
}

/// A session that is revoked already would begin the login again at once.
fn is_live(login: &Login, claims: &Claims, now: u64) -> Result<(), Refused> {
    let revoked = || {
        let text = "Your access was revoked a moment ago.";
        Refused::new(StatusCode::FORBIDDEN, "session_revoked", text, "revoked")
    };
    if login.ended.has_ended(claims, now) {
        return Err(revoked());
    }
    match login
        .stream
        .as_ref()
        .map(|stream| stream.check(claims, now))
    {
        None | Some(Revocation::Live) => Ok(()),
        Some(Revocation::Revoked) => Err(revoked()),
        Some(Revocation::Unknown) => Err(Refused::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "temporarily_unavailable",
            "Whether your access was revoked cannot be known at the moment.",
            "the stream of revocations is lost",
        )),
    }
}

/// What the userinfo endpoint says, where a header field or a rule needs a claim that the ID token
/// lacks.
async fn further(
    login: &Login,
    metadata: &Metadata,
    id_token: &Object<'_>,
    tokens: &Tokens,
) -> Result<Option<Vec<u8>>, Refused> {
    let lacks = |name: &String| id_token.get(name).is_none();
    if !tokens.is_bearer || !login.further_claims.iter().any(lacks) {
        return Ok(None);
    }
    let Some(endpoint) = &metadata.userinfo_endpoint else {
        return Ok(None);
    };
    match login.userinfo(endpoint, &tokens.access_token).await {
        Ok(body) => Ok(Some(body)),
        Err(failure) => Err(Refused::new(
            StatusCode::BAD_GATEWAY,
            "userinfo_unavailable",
            "The login's server did not say who you are.",
            format!("{failure:?}"),
        )),
    }
}
