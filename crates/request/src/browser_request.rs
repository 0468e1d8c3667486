//! One request of a person's browser: who is there, and the cookies that the answer sets.

use http::{HeaderValue, Method, StatusCode, header};
use signet_crypto::seal::Purpose;
use signet_encoding::base64url;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::params::Params;
use signet_revocation::RevocationQuery;
use signet_store::StoreError;

use crate::access::Entrance;
use crate::cookie::{self, Browser, Cookie, KnownBrowser};
use crate::http::{Context, Response, context::path_of, response};
use crate::interaction::{Goal, Interaction, seal_resume};
use crate::shown_error::ShownError;
use signet_audit::Action;
use signet_directory::User;
use signet_directory::session::{self, Found, Login};
use signet_pages::{Face, Html};
use signet_realm::budgets::Caller;
use signet_realm::metrics;
use signet_telemetry::trace::{self, Attribute};
use signet_texts::{Language, Wishes};
use std::sync::OnceLock;

/// How many tags of `ui_locales` are looked at: what `/authorize` takes.
const MAX_UI_LOCALES: usize = 16;

/// The page of a forgotten password.
const RECOVER: &str = "/account/recover";

/// Longest sealed name that is opened, in characters.
const MAX_SEALED_NAME: usize = 1024;

/// Somebody who is logged in: session and user are both in force.
#[derive(Clone, Debug)]
pub struct LoggedIn {
    /// The session.
    pub found: Found,
    /// The person.
    pub user: User,
}

/// What a session takes over of the login at an identity provider that it begins with.
#[derive(Clone, Debug)]
pub struct Arrived {
    /// When the person logged in there, Unix seconds.
    pub auth_time: Option<u64>,
    /// The session there.
    pub upstream: session::Upstream,
}

/// See the module.
pub struct BrowserRequest {
    /// The request.
    pub context: Context,
    cookie: Browser,
    present: Option<LoggedIn>,
    /// A session of this browser that is no longer in force; a login replaces it.
    stale: Option<Found>,
    /// The device, where the answer sets its cookie.
    device: Option<KnownBrowser>,
    cookies: Vec<HeaderValue>,
    /// The language of the request's `ui_locales`; the interaction keeps it. The first word counts.
    asked: OnceLock<Language>,
    /// Chosen by this request itself.
    chosen: Option<Language>,
    /// See [`Face::again`].
    again: OnceLock<String>,
    /// The next login came by an identity provider.
    pub arrived: Option<Arrived>,
}

impl BrowserRequest {
    /// Finds out who is there. A failing store is an answer (503), never "nobody".
    pub async fn begin(context: Context) -> Result<BrowserRequest, Response> {
        let cookie = Browser::of(&context);
        let mut browser = BrowserRequest {
            cookie,
            present: None,
            stale: None,
            device: None,
            cookies: Vec::new(),
            asked: OnceLock::new(),
            chosen: None,
            again: OnceLock::new(),
            arrived: None,
            context,
        };
        if let Some(language) = asked_in_query(&browser.context) {
            let _ = browser.asked.set(language);
        }
        match browser.find().await {
            Ok(()) => Ok(browser),
            Err(error) => Err(browser.unavailable(&error)),
        }
    }

    /// A visit with the form that it posts, and where the person was by the form's own word:
    /// sealed, and this browser's. Anything else is answered here.
    pub async fn of_form(
        mut context: Context,
    ) -> Result<(BrowserRequest, Params, Interaction), Response> {
        let form = match context.form().await {
            Ok(form) => form,
            Err(error) => return Err(error_page(&mut context, &error.into())),
        };
        let browser = BrowserRequest::begin(context).await?;
        match browser.open(&form) {
            Some(interaction) => Ok((browser, form, interaction)),
            None => Err(browser.start_again()),
        }
    }

    /// A visit with its query; one that cannot be read is answered here.
    pub async fn of_query(mut context: Context) -> Result<(BrowserRequest, Params), Response> {
        match context.query_params() {
            Ok(params) => Ok((BrowserRequest::begin(context).await?, params)),
            Err(error) => Err(error_page(&mut context, &error)),
        }
    }

    async fn find(&mut self) -> Result<(), StoreError> {
        let Some(id) = cookie::session_id(&self.context) else {
            return Ok(());
        };
        let (realm, now) = (&self.context.realm, self.context.now());
        let Some(found) = session::find(&*realm.store, &id, now).await? else {
            return Ok(());
        };
        let revoked = realm.revocations.is_revoked(&RevocationQuery {
            issued_at_ms: found.row.login_ms,
            sid: Some(&found.row.sid),
            user_id: Some(&found.row.user_id),
            ..RevocationQuery::default()
        });
        let user = realm.people.users.by_id(&found.row.user_id, now).await?;
        let user = user.filter(|user| Entrance::Session.opens(user, now));
        match user {
            Some(user) if !revoked => {
                session::touch(&*realm.store, &self.context.snapshot.settings, &found, now).await?;
                self.present = Some(LoggedIn { found, user });
            }
            _ => self.stale = Some(found),
        }
        Ok(())
    }

    /// Who is logged in.
    pub fn present(&self) -> Option<&LoggedIn> {
        self.present.as_ref()
    }

    /// The device that this browser is known as.
    pub fn device(&self) -> Option<KnownBrowser> {
        let set = self.device.clone();
        set.or_else(|| KnownBrowser::of(&self.context))
    }

    /// Who pays for what the request causes.
    pub fn caller(&self) -> Caller {
        let device = self.device();
        Caller {
            peer: self.context.peer,
            known: device.and_then(|device| device.known_to_somebody()),
        }
    }

    /// Logs the user in, who has shown this, the latest first. `auth_time`: when they last showed
    /// who they are, where that was not now (Unix seconds).
    pub async fn log_in(
        &mut self,
        user: User,
        shown: &[session::Shown],
        auth_time: Option<u64>,
    ) -> Result<(), StoreError> {
        let (realm, snapshot) = (self.context.realm.clone(), self.context.snapshot.clone());
        if !Entrance::Login.opens(&user, self.context.now()) {
            return Err(StoreError::Unavailable("the account opens nothing".into()));
        }
        let before = self.present.take().map(|present| present.found);
        let arrived = self.arrived.take();
        // Each method has a class of its own (a test of `signet_login::journey` holds the table to
        // it). A session without one would satisfy nothing and say nothing, so none is begun.
        let methods: Vec<&str> = shown.iter().map(|one| &*one.method).collect();
        let acr = signet_oauth::authorize::acr::of(&methods).ok_or_else(|| {
            StoreError::Unavailable(format!(
                "the methods {methods:?} have no authentication context class"
            ))
        })?;
        let method = methods.first().copied().unwrap_or_default();
        if let Some(stale) = self.stale.take() {
            let now = self.context.now();
            realm.revoke_session(&stale.row.sid).await?;
            session::end(&*realm.store, &stale.id, &stale.row, now).await?;
        }
        // Whose browser this was until now is logged out by the login, with everything that hangs
        // on the session.
        if let Some(before) = &before
            && before.row.user_id != user.id
        {
            realm.revoke_session(&before.row.sid).await?;
        }
        let login = Login {
            user_id: &user.id,
            acr,
            shown,
            user_agent: self.context.header(header::USER_AGENT).unwrap_or(""),
            address: self.context.peer.to_string(),
            now_ms: self.context.now_ms,
            issue_ms: self.context.issue_ms,
            auth_time: auth_time.or(arrived.as_ref().and_then(|arrived| arrived.auth_time)),
            upstream: arrived.as_ref().map(|arrived| arrived.upstream.clone()),
        };
        let begun = session::begin(&*realm.store, &snapshot.settings, before.as_ref(), &login);
        let event = self.context.event(Action::LOGIN);
        let event = event.subject(&user.id).method(method);
        let found = realm.audit().act(event, begun, store_failed).await?;
        realm.host.metrics.login(method, metrics::SUCCESS);
        trace::note(Attribute::LoginMethod, || method.to_owned());
        tracing::info!(
            target: "signet::login",
            request_id = %self.context.request_id,
            peer = %self.context.peer,
            user = %user.id,
            method,
            sid = %found.row.sid,
            "logged in"
        );
        self.enter(user, found);
        Ok(())
    }

    /// From here on this person is there with this session: the answer sets its cookie, and the
    /// browser is a known one.
    pub fn enter(&mut self, user: User, found: Found) {
        let realm = self.context.realm.clone();
        let mut carrier = response::empty(StatusCode::OK);
        cookie::set_session(&mut carrier, &realm, &found.id);
        let device = KnownBrowser::remember(self.device(), &user, &realm, &mut carrier);
        self.device = Some(device);
        self.take_cookies(&carrier);
        self.present = Some(LoggedIn { found, user });
    }

    /// The record of who is logged in has just been changed: the rest of this request sees it so.
    pub fn see(&mut self, user: User) {
        if let Some(present) = &mut self.present
            && present.user.id == user.id
        {
            present.user = user;
        }
    }

    /// Everything of this person has just been ended, and whatever session the browser had of
    /// theirs is none: the next is another one, and a millisecond later than the end.
    pub fn begin_after_end(&mut self, user: &User) {
        self.present = self
            .present
            .take()
            .filter(|present| present.user.id != user.id);
        self.context.now_ms = self.context.realm.now_ms() + 1;
        self.context.issue_ms = self.context.realm.issue_ms_at(self.context.now_ms);
    }

    /// Ends the browser's session, and with it the tokens that name it.
    pub async fn log_out(&mut self) -> Result<(), StoreError> {
        let realm = self.context.realm.clone();
        let found = self.present.take().map(|present| present.found);
        if let Some(found) = found.or_else(|| self.stale.take()) {
            let event = self.context.event(Action::LOGOUT);
            let event = event
                .subject(&found.row.user_id)
                .session(Some(&found.row.sid));
            let ended = async {
                realm.revoke_session(&found.row.sid).await?;
                session::end(&*realm.store, &found.id, &found.row, self.context.now()).await
            };
            realm.audit().act(event, ended, store_failed).await?;
            tracing::info!(target: "signet::login", user = %found.row.user_id, sid = %found.row.sid, "logged out");
        }
        let mut carrier = response::empty(StatusCode::OK);
        cookie::clear(&mut carrier, &realm, Cookie::Session);
        self.take_cookies(&carrier);
        Ok(())
    }

    fn take_cookies(&mut self, response: &Response) {
        let set = response.headers().get_all(header::SET_COOKIE);
        self.cookies.extend(set.iter().cloned());
    }

    /// The languages that a request names, best first: every page on the way to its answer is in
    /// the first of them that is there.
    pub fn asks_for<'a>(&self, ui_locales: impl IntoIterator<Item = &'a str>) {
        if let Some(language) = ui_locales.into_iter().find_map(Language::of_tag) {
            let _ = self.asked.set(language);
        }
    }

    /// The person chose a language in the menu: for this answer, and from here on.
    pub fn choose_language(&mut self, language: Language) {
        let mut carrier = response::empty(StatusCode::OK);
        cookie::set_language(&mut carrier, &self.context.realm, language);
        self.take_cookies(&carrier);
        self.chosen = Some(language);
    }

    /// The language of whoever reads the answer.
    pub fn language(&self) -> Language {
        let person = self.present.as_ref();
        let known = wishes(&self.context);
        Wishes {
            menu: self.chosen.or(known.menu),
            request: self.asked.get().copied(),
            person: person.and_then(|present| present.user.profile.locale.as_deref()),
            ..known
        }
        .choose()
    }

    /// How the pages of the answer look and speak: their `t`.
    pub fn face(&self) -> Face {
        Face {
            again: self.again.get().cloned(),
            ..face_in(&self.context, self.language())
        }
    }

    /// Seals an interaction for this browser.
    pub fn seal(&self, interaction: &Interaction) -> String {
        let language = self.asked.get().map(|language| language.tag());
        interaction.seal(&self.context.realm.keyring(), &self.cookie.id, language)
    }

    /// A new interaction's lifetime and beginning.
    pub fn interaction(&self, goal: Goal) -> Interaction {
        let settings = &self.context.snapshot.settings;
        Interaction::new(goal, settings.interaction_lifetime, self.context.now())
    }

    /// The interaction of a form; None if it is not this browser's, or has expired.
    pub fn open(&self, form: &Params) -> Option<Interaction> {
        if self.cookie.new {
            return None;
        }
        let text = form.get("interaction")?;
        let keyring = self.context.realm.keyring();
        let opened = Interaction::open(text, &keyring, &self.cookie.id, self.context.now())?;
        if let Some(request) = opened.request() {
            self.context.note_client(request.client_id());
        }
        if let Some(language) = opened.language.as_deref().and_then(Language::of_tag) {
            let _ = self.asked.set(language);
        }
        if let Some(again) = self.again_at(&opened) {
            let _ = self.again.set(again);
        }
        Some(opened)
    }

    /// The answer goes on with this interaction, which stood in no form: see [`Face::again`].
    pub fn go_on_with(&self, interaction: &Interaction) {
        if let Some(again) = self.again_at(interaction) {
            let _ = self.again.set(again);
        }
    }

    /// Where the answer to a form of this interaction can be loaded again. The address says what
    /// the client's own request said, sealed, or what another page's address says anyway; nothing
    /// that was shown or typed is in it.
    fn again_at(&self, interaction: &Interaction) -> Option<String> {
        if self.context.method != Method::POST {
            return None;
        }
        let path = match &interaction.goal {
            Goal::Authorize(request) => {
                let keyring = self.context.realm.keyring();
                let sealed = seal_resume(request, &keyring, interaction.ends_at)?;
                format!("/interaction?request={sealed}")
            }
            Goal::Device(Some(code)) => format!("/device?user_code={code}"),
            Goal::Device(None) => "/device".to_owned(),
            Goal::Account if self.context.uri.path().ends_with(RECOVER) => RECOVER.to_owned(),
            Goal::Account => "/account".to_owned(),
            Goal::Console(path) => path.clone(),
            Goal::Recover => RECOVER.to_owned(),
            Goal::SignUp => "/sign-up".to_owned(),
            // The end of a session is asked for once.
            Goal::Logout { .. } => return None,
        };
        let base = path_of(&self.context.snapshot.settings.issuer);
        Some(format!("{base}{path}"))
    }

    /// As [`BrowserRequest::open`], of a text that was kept elsewhere than in a form.
    pub fn open_sealed(&self, text: &str) -> Option<Interaction> {
        if self.cookie.new {
            return None;
        }
        let keyring = self.context.realm.keyring();
        let opened = Interaction::open(text, &keyring, &self.cookie.id, self.context.now())?;
        if let Some(request) = opened.request() {
            self.context.note_client(request.client_id());
        }
        Some(opened)
    }

    /// A name, sealed for this browser: across a redirect it fills the login page in, and no
    /// address says who somebody is. None: it could not be sealed, and is typed.
    pub fn seal_name(&self, name: &str) -> Option<String> {
        let keyring = self.context.realm.keyring();
        let binding = name_binding(&self.cookie.id);
        let sealed = keyring.seal_with(Purpose::Interaction, &binding, name.as_bytes());
        Some(base64url::encode(&sealed.ok()?))
    }

    /// What [`BrowserRequest::seal_name`] made.
    pub fn open_name(&self, text: &str) -> Option<String> {
        if self.cookie.new || text.len() > MAX_SEALED_NAME {
            return None;
        }
        let sealed = base64url::decode(text.as_bytes()).ok()?;
        let keyring = self.context.realm.keyring();
        let binding = name_binding(&self.cookie.id);
        let name = keyring.open_with(Purpose::Interaction, &binding, &sealed);
        String::from_utf8(name.ok()?).ok()
    }

    /// What interactions are bound to.
    pub fn browser_id(&self) -> &[u8; 16] {
        &self.cookie.id
    }

    /// A page of this server, by its path.
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.context.base())
    }

    /// Adds the cookies.
    pub fn finish(self, mut response: Response) -> Response {
        self.cookie.keep(&self.context.realm, &mut response);
        let row = self.present.as_ref().map(|present| &present.found.row);
        cookie::keep_state(&self.context, row, &mut response);
        for cookie in self.cookies {
            response.headers_mut().append(header::SET_COOKIE, cookie);
        }
        response
    }

    /// Answers with a page.
    pub fn page(self, html: Html) -> Response {
        self.finish(html.respond(StatusCode::OK))
    }

    /// Answers with a page that says that something did not work.
    pub fn page_with(self, status: StatusCode, html: Html) -> Response {
        self.finish(html.respond(status))
    }

    /// As [`BrowserRequest::page_with`] 429, with `Retry-After` in seconds.
    pub fn later(self, status: StatusCode, retry_after: u64, html: Html) -> Response {
        let mut response = html.respond(status);
        let headers = response.headers_mut();
        headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
        self.finish(response)
    }

    /// 303 to a URL that the server made or has proven.
    pub fn redirect(self, url: &str) -> Response {
        self.finish(response::redirect(url))
    }

    /// An error page; the private half goes to the log.
    pub fn error(mut self, error: &OAuthError) -> Response {
        let face = self.face();
        let response = error_in(&mut self.context, &face, error);
        self.finish(response)
    }

    /// The error page that this was sealed into, again. None: nobody was shown such a page.
    pub fn error_again(&self, sealed: &str) -> Option<Html> {
        let shown = ShownError::open(sealed, &self.context.realm.keyring())?;
        Some(shown_error(&self.context, &self.face(), &shown))
    }

    /// The form's state is not this browser's or has expired.
    pub fn start_again(self) -> Response {
        // A browser that keeps cookies sends the one that came with the page of the form. Of one
        // that sends no form (a bookmark), nobody knows whether it was ever given any.
        let text = match self.cookie.new && self.context.method == Method::POST {
            true => "error-cookies",
            false => "error-expired",
        };
        self.error(&OAuthError::new(ErrorCode::InvalidRequest, text))
    }

    /// The store failed: 503, and nothing was done.
    pub fn unavailable(self, error: &StoreError) -> Response {
        self.error(&unavailable(error))
    }
}

fn name_binding(browser: &[u8; 16]) -> Vec<u8> {
    [b"name".as_slice(), browser].concat()
}

/// What is recorded where the store fails.
pub fn store_failed(_: &StoreError) -> &'static str {
    "temporarily_unavailable"
}

/// The answer to a failing store.
pub fn unavailable(error: &StoreError) -> OAuthError {
    OAuthError::new(
        ErrorCode::TemporarilyUnavailable,
        "This is temporarily unavailable. Try again later.",
    )
    .with_hint(error.to_string())
}

/// An error as a page. Back-channel statuses are for programs: a person's page is 400 unless the
/// fault is the server's.
pub fn error_page(context: &mut Context, error: &OAuthError) -> Response {
    let face = face_of(context);
    error_in(context, &face, error)
}

/// How a page looks and speaks to whoever sent a request of which no more is known.
pub fn face_of(context: &Context) -> Face {
    face_in(context, wishes(context).choose())
}

/// How a page of this realm looks in a language, for the client that the request came from, if one
/// is known.
pub fn face_in(context: &Context, language: Language) -> Face {
    let base = path_of(&context.snapshot.settings.issuer);
    let brand = context.realm.people.brands.of(context.noted_client());
    let issuer = &context.snapshot.settings.issuer;
    let host = issuer.split_once("://").map_or("", |(_, rest)| rest);
    Face {
        host: host.split('/').next().unwrap_or(host).to_owned(),
        ..Face::of(language, brand.clone(), base)
    }
}

/// What the request alone says of the language.
fn wishes(context: &Context) -> Wishes<'_> {
    Wishes {
        menu: cookie::language(context),
        request: asked_in_query(context),
        person: None,
        accept: context.header(header::ACCEPT_LANGUAGE),
    }
}

fn asked_in_query(context: &Context) -> Option<Language> {
    // Most requests have none: no parsing then.
    if !context.query().contains("ui_locales") {
        return None;
    }
    let params = context.query_params().ok()?;
    let tags = params.get("ui_locales")?.split(' ').take(MAX_UI_LOCALES);
    tags.into_iter().find_map(Language::of_tag)
}

fn error_in(context: &mut Context, face: &Face, error: &OAuthError) -> Response {
    context.note_error(error);
    let status = match error.code.status() {
        status @ 500.. => StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR),
        ..500 => StatusCode::BAD_REQUEST,
    };
    let description = if error.code == ErrorCode::TemporarilyUnavailable {
        "error-unavailable"
    } else {
        error.description
    };
    let shown = ShownError {
        code: error.code.as_str().to_owned(),
        description: description.to_owned(),
        request_id: context.request_id.as_str().to_owned(),
    };
    shown_error(context, face, &shown).respond(status)
}

fn shown_error(context: &Context, face: &Face, error: &ShownError) -> Html {
    let sealed = error.seal(&context.realm.keyring());
    let (code, description) = (&error.code, &error.description);
    signet_pages::error(face, code, description, &error.request_id, &sealed)
}
