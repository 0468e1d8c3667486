//! `/password-login`: an administrator's password for a short token of the command line, in one
//! request.
//!
//! For scripts that know a password and have no browser. It begins no session and sets no cookie;
//! guesses count as they do on the login page, and the audit trail has one record of it. The body
//! is JSON, so no page of another site can send it unasked.
use super::client_endpoint::store_failed;
use crate::issue;
use http::{HeaderValue, StatusCode, header};
use serde::Deserialize;
use signet_audit::Action;
use signet_directory::User;
use signet_login::failure::Failure;
use signet_login::journey::{self, State, password, totp};
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_oauth::scope::{self, ScopeSet};
use signet_oauth::token::decision::Issue;
use signet_oauth::token::target;
use signet_oauth::{authorize, command_line, request};
use signet_realm::metrics;
use signet_realm::revoked::Index;
use signet_request::access::{self, Entrance, KeptOut, Leave, Owed, Sought, Wants};
use signet_request::browser_request::BrowserRequest;
use signet_request::http::{Context, Response, response};
use signet_texts::Language;

const METHOD: &str = password::METHOD.name;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    username: String,
    password: String,
    /// The code of the account's app, where it has one.
    #[serde(default)]
    totp: Option<String>,
}

pub(super) async fn submit(mut context: Context) -> Response {
    if !context.content_type_is("application/json") {
        let error = OAuthError::invalid_request("the content type must be application/json");
        let mut answer = response::error(&error);
        *answer.status_mut() = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return answer;
    }
    let body = match context.body().await {
        Ok(body) => body,
        Err(failure) => return response::body_error(failure),
    };
    let Ok(body) = serde_json::from_slice::<Body>(&body) else {
        let text = "the body must be an object of username and password, and perhaps totp";
        return refuse(&context, None, &OAuthError::invalid_request(text));
    };
    context.note_client(command_line::CLIENT_ID);
    let methods: &[&str] = match body.totp {
        None => &[password::METHOD.name],
        Some(_) => &[totp::METHOD.name, password::METHOD.name],
    };
    if !context.snapshot.settings.local_login {
        let text = "people log in at identity providers alone here";
        return refuse(
            &context,
            None,
            &OAuthError::new(ErrorCode::AccessDenied, text),
        );
    }
    if let Err(error) = with_rules(&context, |rules| {
        command_line::without_browser(rules, methods).map(drop)
    }) {
        return refuse(&context, None, &error);
    }
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    let totp = body.totp.as_deref().unwrap_or("");
    let form = match Params::from_pairs([("password", &*body.password), ("totp", totp)]) {
        Ok(form) => form,
        Err(error) => return refuse(&browser.context, None, &error),
    };
    let verified = journey::verify(
        &browser,
        &password::METHOD,
        State::NONE,
        &body.username,
        &form,
    )
    .await;
    let user = match verified {
        Ok(proof) => proof.user,
        Err(failure) => return failed(&browser.context, &failure),
    };
    let shown = [password::METHOD.name];
    let wanted = match journey::wants_second_factor(&browser.context, &user, &shown).await {
        Ok(wanted) => wanted,
        Err(error) => return failed(&browser.context, &error.into()),
    };
    if wanted && body.totp.is_none() {
        let text = "this account has a second factor: send `totp`, too, or log in by a browser";
        let error = OAuthError::new(ErrorCode::InteractionRequired, text);
        return refuse(&browser.context, Some(&user.id), &error);
    }
    // A code that nobody asked for is not taken on trust either.
    if body.totp.is_some() {
        let (name, user) = (&body.username, Some(user.clone()));
        let verified =
            journey::verify_of(&browser, &totp::METHOD, State::NONE, user, name, &form).await;
        if let Err(failure) = verified {
            return failed(&browser.context, &failure);
        }
    }
    let context = browser.context;
    let scope = ScopeSet::parse(scope::ADMIN).unwrap_or_default();
    let registry = context.snapshot.registry.clone();
    let client = registry.clients.get(command_line::CLIENT_ID);
    let wants = Wants {
        sought: Sought {
            client: client.map(|client| &**client),
            scope: Some(&scope),
            claims: None,
        },
        audience: &target::audience_of(&context.snapshot.settings, &[]),
        shown: Some(methods),
        classes: &[],
    };
    let leave = match access::ask(&context, Entrance::PasswordLogin, &user, &wants) {
        Ok(leave) => leave,
        Err(refused) => return keep_out(&context, &user, refused),
    };
    let decided = with_rules(&context, |rules| {
        command_line::password_login(rules, &user.id, user.admin, methods)
    });
    let decided = decided.map(|mut issue| {
        issue::end_with_account(&mut issue.access_token, &user, context.now());
        issue
    });
    match decided.and_then(|issue| answer(&context, &issue, &leave)) {
        Ok(body) => response::json(StatusCode::OK, body),
        Err(error) => refuse(&context, Some(&user.id), &error),
    }
}

/// What the one question refuses.
fn keep_out(context: &Context, user: &User, refused: KeptOut) -> Response {
    let interaction = |text| OAuthError::new(ErrorCode::InteractionRequired, text);
    let error = match refused {
        // As for a wrong password.
        KeptOut::Nobody => {
            return failed(
                context,
                &Failure::Wrong(password::METHOD.wrong, Some(user.id.clone())),
            );
        }
        KeptOut::Owed(Owed::Password) => {
            interaction("the password is temporary: log in by a browser and set another")
        }
        KeptOut::Owed(Owed::Terms) => {
            interaction("the terms have to be accepted: log in by a browser")
        }
        KeptOut::Class => interaction("more is asked of this account: log in by a browser"),
        KeptOut::Rule(rule) => {
            let error = authorize::forbidden();
            let who = (user.id.as_str(), command_line::CLIENT_ID);
            access::record(context, who, METHOD, error.code, rule.as_deref());
            context.note_error(&error);
            return response::error(&error);
        }
    };
    refuse(context, Some(&user.id), &error)
}

fn with_rules<T>(
    context: &Context,
    decide: impl FnOnce(&request::Context<'_>) -> Result<T, OAuthError>,
) -> Result<T, OAuthError> {
    let (keyring, index) = (context.realm.keyring(), Index::of(&context.realm));
    decide(&request::Context {
        registry: &context.snapshot.registry,
        settings: &context.snapshot.settings,
        keyring: &keyring,
        keys: &*context.snapshot.keys,
        revocations: &index,
        now_ms: context.now_ms,
        issue_ms: context.issue_ms,
    })
}

fn answer(context: &Context, issue: &Issue, leave: &Leave) -> Result<Vec<u8>, OAuthError> {
    let id = issue::token_id(context);
    let body = issue::answer(context, issue, None, id, leave)?;
    let token = &issue.access_token;
    let scope = token.scope.to_string();
    let event = context
        .event(Action::LOGIN)
        .subject(&token.sub)
        .client(&token.client_id)
        .method(METHOD)
        .token(id.as_bytes())
        .scope(&scope);
    let event = access::let_in(event, leave.rule());
    context.realm.audit().record(event);
    let metrics = &context.realm.host.metrics;
    metrics.login(METHOD, metrics::SUCCESS);
    Ok(body)
}

/// The login page's refusals, in JSON.
fn failed(context: &Context, failure: &Failure) -> Response {
    let event = context
        .event(Action::LOGIN)
        .client(command_line::CLIENT_ID)
        .method(METHOD)
        .refused(failure.code());
    let event = match failure {
        // Whose account it was; never what somebody typed.
        Failure::Wrong(_, Some(user_id)) => event.subject(user_id),
        Failure::Wrong(_, None)
        | Failure::Expired(_)
        | Failure::Invalid(_)
        | Failure::LoginRequired
        | Failure::Later(..)
        | Failure::Store(_) => event,
    };
    context.realm.audit().record(event);
    context.realm.host.metrics.login(METHOD, failure.code());
    let (error, status, retry_after) = match failure {
        Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text) => (
            OAuthError::new(ErrorCode::AccessDenied, Language::english(text)),
            StatusCode::FORBIDDEN,
            None,
        ),
        Failure::LoginRequired => (
            OAuthError::new(ErrorCode::LoginRequired, ""),
            StatusCode::FORBIDDEN,
            None,
        ),
        Failure::Later(status, retry_after, text) => (
            OAuthError::new(ErrorCode::SlowDown, Language::english(text)),
            *status,
            Some(*retry_after),
        ),
        Failure::Store(error) => (
            store_failed(context, error),
            StatusCode::SERVICE_UNAVAILABLE,
            Some(2),
        ),
    };
    context.note_error(&error);
    let mut answer = response::error(&error);
    *answer.status_mut() = status;
    if let Some(seconds) = retry_after {
        answer
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    answer
}

fn refuse(context: &Context, user_id: Option<&str>, error: &OAuthError) -> Response {
    context.note_error(error);
    let event = context
        .event(Action::LOGIN)
        .client(command_line::CLIENT_ID)
        .method(METHOD)
        .refused(error.code.as_str());
    let event = user_id.map_or(event, |user_id| event.subject(user_id));
    context.realm.audit().record(event);
    response::error(error)
}
