//! An administrator in the console: a login of its own class.
//!
//! A person's session is enough for nothing here. The console is entered by whoever has just shown
//! two factors (a passkey that verified them, or a password and a code) in a session that is in
//! force, and the browser is then given a cookie of the console: sealed for this browser and this
//! session, it says since when, and when it was last used. It counts for [`MAX_SECONDS`] at most,
//! and for [`MAX_IDLE_SECONDS`] without use; it is worth nothing without the session, which a
//! logout, a changed password or another administrator ends. What outlives the session asks for two
//! factors of the last minutes again ([`Session::is_fresh`]).
//!
//! Whether the person may administer is asked again by every operation ([`Admin::of_session`]).

use bytes::Bytes;
use http::{StatusCode, header};
use serde::{Deserialize, Serialize};
use signet_crypto::seal::Purpose;
use signet_directory::User;
use signet_directory::session::{RECENT, SessionRow, has_two_factors};
use signet_encoding::base64url;
use signet_login::administrator;
use signet_operation::caller::{Acting, Admin};
use signet_operation::problem::Problem;
use signet_pages::Face;
use signet_realm::realms::Realms;
use signet_realm::state::Realm;
use signet_request::browser_request::{BrowserRequest, LoggedIn, face_in};
use signet_request::cookie;
use signet_request::http::{Context, Response, response};
use std::sync::Arc;

use crate::engine::form::Form;
use crate::view::shell::{self, ROOT};

/// How long the console can be used after two factors were shown, in seconds.
pub(crate) const MAX_SECONDS: u64 = 8 * 3600;
/// How long it can be left alone, in seconds.
pub(crate) const MAX_IDLE_SECONDS: u64 = 30 * 60;

const COOKIE: Purpose = Purpose::Other("console");
const FORM: Purpose = Purpose::Other("console-form");
/// Longest path that a login leads back to, in bytes.
const MAX_BACK_BYTES: usize = 2048;

/// What the cookie says. Times are Unix seconds.
#[derive(Serialize, Deserialize)]
struct Entered {
    sid: String,
    begun_at: u64,
    seen_at: u64,
}

impl Entered {
    /// Whether it still counts for this session.
    fn holds(&self, row: &SessionRow, now: u64) -> bool {
        let shown_for_it = self.begun_at.saturating_sub(RECENT);
        self.sid == row.sid
            && now < self.begun_at.saturating_add(MAX_SECONDS)
            && now < self.seen_at.saturating_add(MAX_IDLE_SECONDS)
            && has_two_factors(&row.shown(), shown_for_it)
    }
}

/// An administrator's request.
pub(crate) struct Session {
    /// Whose cookies and login they are: of this realm, or of the installation's first.
    browser: BrowserRequest,
    present: LoggedIn,
    /// The request, of the realm that is administered.
    pub(crate) context: Context,
    is_of_installation: bool,
    entered: Entered,
}

impl Session {
    /// The administrator whose request it is; everybody else is answered here: with the login, or
    /// with a page that says that they may not.
    pub(crate) async fn of(context: Context) -> Result<Session, Response> {
        let own = Arc::clone(&context.realm);
        let found = Found::of(context, &own).await?;
        match found {
            Found::Entered(session) => Ok(*session),
            Found::Not(context, browser) => match installation(&context) {
                // Administrators of the installation may administer every realm of it.
                Some(first) => match Found::of(*context, &first).await? {
                    Found::Entered(session) => Ok(*session),
                    Found::Not(context, _) => Err(outside(&context, *browser).await),
                },
                None => Err(outside(&context, *browser).await),
            },
        }
    }

    /// The administrator who sent a form of this console, and the form.
    pub(crate) async fn of_form(mut context: Context) -> Result<(Session, Form), Response> {
        let face = shell::face_of(&context);
        if is_from_elsewhere(&context) {
            return Err(shell::refused(
                &face,
                StatusCode::FORBIDDEN,
                "console-form-foreign",
            ));
        }
        let is_form = context.content_type_is("application/x-www-form-urlencoded");
        let body: Bytes = match context.body().await {
            Ok(body) if is_form => body,
            Ok(_) => {
                let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
                return Err(shell::refused(&face, status, "console-form-bad"));
            }
            Err(error) => return Err(shell::refused(&face, error.status(), "console-form-bad")),
        };
        let Some(form) = Form::parse(&body) else {
            return Err(shell::refused(
                &face,
                StatusCode::BAD_REQUEST,
                "console-form-bad",
            ));
        };
        let session = Session::of(context).await?;
        match form.get("form").is_some_and(|token| session.knows(token)) {
            true => Ok((session, form)),
            false => {
                let face = session.face();
                let page = shell::refused(&face, StatusCode::FORBIDDEN, "console-form-old");
                Err(session.finish(page))
            }
        }
    }

    /// Who administers.
    pub(crate) fn user(&self) -> &User {
        &self.present.user
    }

    /// The same, as pages show them.
    pub(crate) fn visitor(&self) -> shell::Visitor {
        let realm = self.context.realm.id();
        shell::Visitor {
            name: self.user().display_name().to_owned(),
            token: self.form_token(),
            realm: (!realm.is_default()).then(|| realm.as_str().to_owned()),
        }
    }

    /// The realm that is administered.
    pub(crate) fn realm(&self) -> &Arc<Realm> {
        &self.context.realm
    }

    /// How its pages look and speak.
    pub(crate) fn face(&self) -> Face {
        face_in(&self.context, self.browser.language())
    }

    /// An act of the administrator, whose right is asked for now.
    pub(crate) fn acting(&self) -> Result<Acting, Problem> {
        let (browser, present) = (&self.browser.context, &self.present);
        let admin = Admin::of_session(browser, &present.user, &present.found.row)?;
        Ok(Acting {
            realm: Arc::clone(&self.context.realm),
            admin: match self.is_of_installation {
                true => admin.of_installation()?,
                false => admin,
            },
            request_id: self.context.request_id,
            peer: self.context.peer,
            now_ms: self.context.now_ms,
        })
    }

    /// Whether two factors were shown in the last [`RECENT`] seconds.
    pub(crate) fn is_fresh(&self) -> bool {
        let since = self.context.now().saturating_sub(RECENT);
        has_two_factors(&self.present.found.row.shown(), since)
    }

    fn binding(&self) -> Vec<u8> {
        let sid = self.present.found.row.sid.as_bytes();
        let realm = self.context.realm.id().as_str().as_bytes();
        [self.browser.browser_id().as_slice(), sid, b"|", realm].concat()
    }

    /// What every form has: only this console can make it, for this browser and session.
    pub(crate) fn form_token(&self) -> String {
        let keyring = self.browser.context.realm.keyring();
        let sealed = keyring.seal_with(FORM, &self.binding(), b"");
        // A form without it is refused: nothing is open where sealing fails.
        sealed.map_or_else(|_| String::new(), |sealed| base64url::encode(&sealed))
    }

    fn knows(&self, token: &str) -> bool {
        let Ok(sealed) = base64url::decode(token.as_bytes()) else {
            return false;
        };
        let keyring = self.browser.context.realm.keyring();
        keyring.open_with(FORM, &self.binding(), &sealed).is_ok()
    }

    /// Adds the cookies: the console was used now.
    pub(crate) fn finish(self, mut response: Response) -> Response {
        let entered = Entered {
            seen_at: self.context.now(),
            ..self.entered
        };
        let realm = &self.browser.context.realm;
        if let Ok(plain) = serde_json::to_vec(&entered)
            && let Ok(sealed) = realm
                .keyring()
                .seal_with(COOKIE, self.browser.browser_id(), &plain)
        {
            cookie::set_console(&mut response, realm, &sealed);
        }
        self.browser.finish(response)
    }

    /// 303 to a page of the console, by its path and query below [`ROOT`].
    pub(crate) fn redirect(self, below: &str) -> Response {
        let target = format!("{}{ROOT}{below}", self.context.base());
        self.finish(response::redirect(&target))
    }

    /// Ends the session: whoever comes back shows two factors again.
    pub(crate) async fn leave(mut self) -> Response {
        if let Err(error) = self.browser.log_out().await {
            return self.browser.unavailable(&error);
        }
        let target = format!("{}/account", self.context.base());
        let mut answer = response::redirect(&target);
        let realm = &self.browser.context.realm;
        cookie::clear(&mut answer, realm, cookie::Cookie::Console);
        self.browser.finish(answer)
    }

    /// Asks for two factors now, and leads back.
    pub(crate) async fn confirm(self, back: &str) -> Response {
        let path = self::back(back);
        administrator::ask(self.browser, path).await
    }
}

/// Whether the session of a realm is one of the console.
enum Found {
    Entered(Box<Session>),
    /// The request, and the browser as this realm knows it.
    Not(Box<Context>, Box<BrowserRequest>),
}

impl Found {
    async fn of(context: Context, realm: &Arc<Realm>) -> Result<Found, Response> {
        let browser = BrowserRequest::begin(context.seen_by(realm)).await?;
        let not = |context, browser| Found::Not(Box::new(context), Box::new(browser));
        let Some(present) = browser.present().cloned() else {
            return Ok(not(context, browser));
        };
        let now = context.now();
        let row = &present.found.row;
        let keyring = browser.context.realm.keyring();
        let sealed = cookie::console(&browser.context);
        let opened = sealed.and_then(|sealed| {
            keyring
                .open_with(COOKIE, browser.browser_id(), &sealed)
                .ok()
        });
        let known: Option<Entered> = opened.and_then(|plain| serde_json::from_slice(&plain).ok());
        let is_fresh = has_two_factors(&row.shown(), now.saturating_sub(RECENT));
        let entered = match known.filter(|known| known.holds(row, now)) {
            Some(known) => known,
            None if is_fresh => Entered {
                sid: row.sid.clone(),
                begun_at: now,
                seen_at: now,
            },
            None => return Ok(not(context, browser)),
        };
        let admin = Admin::of_session(&browser.context, &present.user, row);
        let is_of_installation = realm.id() != context.realm.id();
        let may = match is_of_installation {
            true => admin.and_then(Admin::of_installation),
            false => admin,
        };
        if may.is_err() {
            return Ok(not(context, browser));
        }
        Ok(Found::Entered(Box::new(Session {
            is_of_installation,
            browser,
            present,
            context,
            entered,
        })))
    }
}

/// The realm whose administrators may administer this one, too.
fn installation(context: &Context) -> Option<Arc<Realm>> {
    let realms = Realms::of(&context.realm)?;
    let first = realms.first();
    (first.id() != context.realm.id()).then(|| Arc::clone(first))
}

/// What somebody sees who is not in the console: the login, or that they may not administer.
async fn outside(context: &Context, browser: BrowserRequest) -> Response {
    if let Some(present) = browser.present()
        && let Err(problem) = Admin::of_session(&browser.context, &present.user, &present.found.row)
    {
        let face = browser.face();
        tracing::info!(
            request_id = %context.request_id, peer = %context.peer,
            user = %present.user.id, code = problem.code(), "refused at the console"
        );
        let page = shell::not_allowed(&face, present.user.display_name());
        return browser.finish(page);
    }
    // The pages of the login are one segment below the issuer: their forms count on it.
    if context.route() != ROOT || context.method != http::Method::GET {
        let base = context.base();
        let target = match context.method == http::Method::GET {
            true => format!("{base}{ROOT}?to={}", shell::encoded(&below(context))),
            false => format!("{base}{ROOT}"),
        };
        return browser.finish(response::redirect(&target));
    }
    let query = context.query_params().ok();
    let to = query.as_ref().and_then(|query| query.get("to"));
    let path = back(to.unwrap_or_default());
    administrator::ask(browser, path).await
}

/// Path and query of the request below [`ROOT`].
fn below(context: &Context) -> String {
    let path = context.uri.path();
    let below = path.split_once(ROOT).map_or("", |(_, below)| below);
    match context.query() {
        "" => below.to_owned(),
        query => format!("{below}?{query}"),
    }
}

/// Where a login leads back, below the issuer: a page of the console and nothing else.
fn back(below: &str) -> String {
    let is_page = below.is_empty() || below.starts_with(['/', '?']);
    let is_plain = below.bytes().all(|b| b.is_ascii_graphic()) && !below.contains(['\\', '#']);
    match is_page && is_plain && !below.starts_with("//") && below.len() <= MAX_BACK_BYTES {
        true => format!("{ROOT}{below}"),
        false => ROOT.to_owned(),
    }
}

/// Browsers say where a form comes from; one of another site is not read at all.
fn is_from_elsewhere(context: &Context) -> bool {
    let site = context.headers.get("sec-fetch-site");
    let foreign = site.is_some_and(|site| site != "same-origin" && site != "none");
    let origin = context.header(header::ORIGIN);
    foreign || origin == Some("null")
}

#[cfg(test)]
mod tests {

    #[test]
    fn a_login_leads_back_to_pages_of_the_console_alone() {
        for (to, path) in [
            ("", "/console"),
            ("/clients", "/console/clients"),
            ("/audit?action=login", "/console/audit?action=login"),
            ("https://evil.example/", "/console"),
            ("@evil.example/", "/console"),
            ("//evil.example/", "/console"),
            ("/a\\b", "/console"),
            ("/a b", "/console"),
            ("/a#b", "/console"),
        ] {
            assert_eq!(super::back(to), path, "{to}");
        }
    }
}
