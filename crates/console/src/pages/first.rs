//! `/console/first`: the link that was printed at the first start.

use http::StatusCode;
use maud::{Markup, html};
use signet_audit::Action;
use signet_crypto::Secret;
use signet_directory::{NewUser, PasswordOf, Profile, User, UserError};
use signet_login::administrator;
use signet_pages::Face;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::{Context, Response};
use signet_texts::Arg;

use crate::engine::form::Form;
use crate::first::{self, Opened};
use crate::view::shell;

/// What was typed, and what is wrong with it.
#[derive(Default)]
struct Typed<'a> {
    username: &'a str,
    name: &'a str,
    problem: Option<String>,
}

/// GET: the form. Opening the link changes nothing.
pub(crate) async fn show(context: Context) -> Response {
    let (browser, params) = match BrowserRequest::of_query(context).await {
        Ok(found) => found,
        Err(answer) => return answer,
    };
    let token = params.get("token").unwrap_or_default();
    match first::open(&browser.context.realm, token).await {
        Ok(Some(opened)) => page(browser, &opened, token, &Typed::default()),
        Ok(None) => ended(browser),
        Err(error) => browser.unavailable(&error),
    }
}

fn ended(browser: BrowserRequest) -> Response {
    let event = browser.context.event(Action::SIGN_UP);
    let event = event
        .operation("first-administrator")
        .refused("invalid_link");
    browser.context.realm.audit().record_counted(event);
    let page = shell::refused(
        &browser.face(),
        StatusCode::BAD_REQUEST,
        "console-first-ended",
    );
    browser.finish(page)
}

fn page(browser: BrowserRequest, opened: &Opened, token: &str, typed: &Typed<'_>) -> Response {
    let t = browser.face();
    let shortest = browser.context.realm.people.passwords.shortest(true);
    let (title, content) = match &opened.user_id {
        Some(_) => (t.text("console-first-login"), login(&t, token)),
        None => (
            t.text("console-first-title"),
            fields(&t, token, typed, shortest),
        ),
    };
    let status = match typed.problem {
        Some(_) => StatusCode::BAD_REQUEST,
        None => StatusCode::OK,
    };
    let page = shell::outside(&t, status, &title, &content);
    browser.finish(page)
}

fn login(t: &Face, token: &str) -> Markup {
    html! {
        p { (t.text("console-first-login-about")) }
        form method="post" action={ (t.base) (first::PATH) } {
            input type="hidden" name="token" value=(token);
            div .buttons { button .main type="submit" { (t.text("console-go-on")) } }
        }
    }
}

fn fields(t: &Face, token: &str, typed: &Typed<'_>, shortest: usize) -> Markup {
    let invalid = typed.problem.as_ref().map(|_| "true");
    let shortest = u64::try_from(shortest).unwrap_or(u64::MAX);
    html! {
        p .soft { (t.text("console-first-about")) }
        @if let Some(problem) = &typed.problem { div #problem .notice .bad role="alert" tabindex="-1" { (problem) } }
        form method="post" action={ (t.base) (first::PATH) } {
            input type="hidden" name="token" value=(token);
            div .field {
                label for="username" { (t.text("account-user-name")) }
                input #username name="username" value=(typed.username) required maxlength="254" autocomplete="username" autocapitalize="none" spellcheck="false" autofocus aria-invalid=[invalid] aria-describedby=[invalid.map(|_| "problem")];
            }
            div .field {
                label for="name" { (t.text("account-full-name")) }
                input #name name="name" value=(typed.name) maxlength="254" autocomplete="name";
            }
            div .field {
                label for="new_password" { (t.text("console-first-password")) }
                input #new_password type="password" name="new_password" required maxlength="1024" autocomplete="new-password" aria-describedby="rule";
                p #rule .about { (t.with("console-first-rule", &[("count", Arg::Number(shortest))])) }
            }
            div .buttons { button .main type="submit" { (t.text("console-first-make")) } }
        }
    }
}

/// POST.
pub(crate) async fn submit(mut context: Context) -> Response {
    let body = context.body().await.unwrap_or_default();
    let browser = match BrowserRequest::begin(context).await {
        Ok(browser) => browser,
        Err(answer) => return answer,
    };
    let form = Form::parse(&body).unwrap_or_default();
    let token = form.get("token").unwrap_or_default();
    let opened = match first::open(&browser.context.realm, token).await {
        Ok(Some(opened)) => opened,
        Ok(None) => return ended(browser),
        Err(error) => return browser.unavailable(&error),
    };
    let typed = Typed {
        username: form.get("username").unwrap_or_default().trim(),
        name: form.get("name").unwrap_or_default().trim(),
        problem: None,
    };
    if let Some(user_id) = opened.user_id.clone() {
        return log_in(browser, opened, &user_id).await;
    }
    let new = form.get("new_password").unwrap_or_default();
    match make(&browser, &typed, new, &opened, token).await {
        Made::Done(user) => administrator::begin(browser, *user).await,
        Made::Ended => ended(browser),
        Made::Wrong(problem) => {
            let typed = Typed {
                problem: Some(problem),
                ..typed
            };
            // Given back: it has another version, and the same secret.
            match first::open(&browser.context.realm, token).await {
                Ok(Some(opened)) => page(browser, &opened, token, &typed),
                Ok(None) => ended(browser),
                Err(error) => browser.unavailable(&error),
            }
        }
    }
}

async fn log_in(browser: BrowserRequest, opened: Opened, user_id: &str) -> Response {
    let (realm, now) = (browser.context.realm.clone(), browser.context.now());
    match first::consume(&realm, &opened).await {
        Ok(true) => {}
        Ok(false) => return ended(browser),
        Err(error) => return browser.unavailable(&error),
    }
    match realm.people.users.by_id(user_id, now).await {
        Ok(Some(user)) => administrator::begin(browser, user).await,
        Ok(None) => ended(browser),
        Err(error) => browser.unavailable(&error.into()),
    }
}

enum Made {
    Done(Box<User>),
    Ended,
    Wrong(String),
}

/// Consumes the link, and makes the account; gives it back where that is refused.
async fn make(
    browser: &BrowserRequest,
    typed: &Typed<'_>,
    new: &str,
    opened: &Opened,
    token: &str,
) -> Made {
    let t = browser.face();
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let name = Some(typed.name.to_owned()).filter(|name| !name.is_empty());
    let profile = Profile {
        name,
        ..Profile::default()
    };
    let of = PasswordOf::new(typed.username, None, &profile, true);
    if let Err(refused) = realm.check_new_password(new, of) {
        let said = t.language.find(refused.text_id()).unwrap_or_default();
        return Made::Wrong(said.into_owned());
    }
    let unavailable = || Made::Wrong(t.text("error-unavailable").into_owned());
    let hashed = realm.people.users.hash(Secret::new(new.to_owned())).await;
    let Ok(phc) = hashed else {
        return unavailable();
    };
    match first::consume(realm, opened).await {
        Ok(true) => {}
        Ok(false) => return Made::Ended,
        Err(_) => return unavailable(),
    }
    let user = NewUser {
        username: typed.username.to_owned(),
        password: Some(phc),
        admin: true,
        profile,
        ..NewUser::default()
    };
    let event = browser.context.event(Action::SIGN_UP);
    let event = event
        .operation("first-administrator")
        .target(typed.username);
    let made = realm.people.users.create(user, now);
    let failed = |_: &UserError| "invalid_request";
    match realm.audit().act(event, made, failed).await {
        Ok(user) => Made::Done(Box::new(user)),
        Err(error) => {
            let again = first::open(realm, token).await;
            // It was consumed here, and by nobody else.
            if let Ok(None) = again
                && let Err(error) = first::give_back(realm, opened.clone()).await
            {
                tracing::warn!(%error, "failed to give the console's link back");
            }
            Made::Wrong(error.to_string())
        }
    }
}
