//! `/authorize`: from a client's request to its answer, with the pages between (RFC 6749 section
//! 4.1, OpenID Connect Core section 3.1.2).
//!
//! The rules (`signet_oauth::authorize`) check the request and decide each next step; this file
//! shows the pages, and says to the rules what the server itself knows. A POST goes on as a GET: it
//! may come from another site, and then the session's cookie (`SameSite=Lax`) was not sent with it.

mod answer;

use signet_oauth::authorize::{
    self, AuthorizationRequest, AuthorizeError, CodeIds, Facts, Granted, Incoming, LookedUp, Needs,
    Pushed, Step,
};
use signet_oauth::client::Client;
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::{CodeId, GrantId};
use signet_oauth::issued::session::Consent;
use signet_oauth::params::Params;
use signet_oauth::people::userinfo;
use signet_oauth::scope::ScopeSet;
use signet_oauth::token::target;
use signet_store::{Change, Key, Op, Outcome, StoreError, Table, moment::at_one_moment};
use std::pin::pin;

use super::rules;
use signet_audit::{Action, Event};
use signet_directory::consent;
use signet_login::journey::{self, Journey, StepUp};
use signet_login::sign_up;
use signet_pages::words::{host_of, name_of, scope_lines};
use signet_pages::{ClientLinks, ConsentPage, Html, ScopeLine, SelectPage};
use signet_request::access::{self, Sought, Wants};
use signet_request::browser_request::{BrowserRequest, LoggedIn, error_page, face_of};
use signet_request::browser_state;
use signet_request::clients;
use signet_request::http::{Context, Response};
use signet_request::interaction::{self, Goal, Interaction, Page};

/// GET.
pub async fn show(mut context: Context) -> Response {
    let params = match context.query_params() {
        Ok(params) => params,
        Err(error) => return error_page(&mut context, &error),
    };
    match check(&mut context, params).await {
        Ok(request) => at_one_moment(pin!(begin(context, request))).await,
        Err(response) => *response,
    }
}

/// POST: checked here, answered by GET.
pub async fn submit(mut context: Context) -> Response {
    let params = match context.form().await {
        Ok(params) => params,
        Err(error) => return error_page(&mut context, &error.into()),
    };
    let request = match check(&mut context, params).await {
        Ok(request) => request,
        Err(response) => return *response,
    };
    let settings = &context.snapshot.settings;
    let ends_at = context.now() + settings.interaction_lifetime;
    let keyring = context.realm.keyring().clone();
    match interaction::seal_resume(&request, &keyring, ends_at) {
        Some(sealed) => {
            let url = format!("{}/interaction?request={sealed}", context.base());
            signet_request::http::response::redirect(&url)
        }
        None => error_page(
            &mut context,
            &OAuthError::invalid_request("The authorization request is too large."),
        ),
    }
}

/// Reads what the request names, then asks the rules.
async fn check(
    context: &mut Context,
    params: Params,
) -> Result<AuthorizationRequest, Box<Response>> {
    let incoming = Incoming::at_authorize(params);
    let client = clients::resolve(context, incoming.named().client_id).await;
    let resolved = incoming.resolved(client);
    let checked = rules::with(context, |rules| authorize::validate(&resolved, rules));
    checked.map_err(|error| {
        let client = resolved.client().map(|client| &**client);
        let refused = |context: &Context, error: &OAuthError| {
            let event = context
                .event(Action::AUTHORIZE)
                .refused(error.code.as_str());
            let event = client.map_or(event, |client| event.client(&client.client_id));
            context.realm.audit().record(event);
        };
        Box::new(match error {
            AuthorizeError::Page(error) => {
                refused(context, &error);
                error_page(context, &error)
            }
            AuthorizeError::Redirect(back) => {
                refused(context, &back.error);
                context.note_error(&back.error);
                let face = face_of(context);
                let answer = answer::error(context, &face, client, &back.to, &back.error);
                answer.unwrap_or_else(|error| error_page(context, &error))
            }
        })
    })
}

/// Goes on with a checked request.
pub async fn begin(context: Context, request: AuthorizationRequest) -> Response {
    context.note_client(request.client_id());
    let lifetime = context.snapshot.settings.interaction_lifetime;
    let interaction = Interaction::authorize(request, lifetime, context.now());
    match BrowserRequest::begin(context).await {
        Ok(browser) => {
            if let Some(request) = interaction.request() {
                browser.asks_for(request.ui_locales.iter().map(String::as_str));
            }
            proceed(browser, interaction, false).await
        }
        Err(response) => response,
    }
}

/// Asks the rules what comes next, and does it. `consented`: the person has just allowed what the
/// consent page listed.
pub async fn proceed(
    browser: BrowserRequest,
    interaction: Interaction,
    consented: bool,
) -> Response {
    let Goal::Authorize(request) = &interaction.goal else {
        return browser.start_again();
    };
    let request = request.clone();
    let snapshot = browser.context.snapshot.clone();
    let now = browser.context.now();
    let Some(client) = clients::resolve(&browser.context, Some(request.client_id())).await else {
        return browser.error(&OAuthError::invalid_request("The client is unknown."));
    };
    let present = browser.present().cloned();
    let row = present.as_ref().map(|present| &present.found.row);
    let session = row.map(|row| row.facts());
    let needs = authorize::needs(&request, &client, session.as_ref());
    let (pushed_is_used, consent) = match look_up(&browser, &needs, &client, now).await {
        Ok(found) => found,
        Err(error) => return browser.unavailable(&error),
    };
    let sought = Sought {
        client: Some(&client),
        scope: Some(&request.scope),
        claims: request.claims.as_ref(),
    };
    let user = present.as_ref().map(|present| &present.user);
    let required = access::classes(&browser.context, sought, user);
    let held = access::held(&snapshot, user);
    let audience = target::audience_of(&snapshot.settings, &request.resources);
    let step = authorize::decide(
        &request,
        &client,
        &Facts {
            required: &required,
            session: session.as_ref(),
            looked_up: LookedUp {
                pushed_is_used,
                consent: consent.as_ref(),
            },
            is_admin: present.as_ref().is_some_and(|present| present.user.admin),
            progress: interaction.progress(row, consented),
            registry: &snapshot.registry,
            entry: access::entry(&snapshot, held.as_ref(), &audience, browser.context.peer),
            now,
        },
    );
    match step {
        Step::Login { reason, acr } => {
            let mut interaction = interaction;
            interaction.step_up = reason == authorize::LoginReason::StepUp;
            // The person may have gone on to the login page: they have an account.
            let asked = matches!(interaction.page, Page::Start | Page::SignUp);
            if request.prompts.create && asked && browser.context.offers_sign_up() {
                return sign_up::ask(browser, interaction, "", None);
            }
            let Journey {
                browser,
                interaction,
            } = match journey::unasked(browser, interaction).await {
                Ok(answer) => return answer,
                Err(journey) => *journey,
            };
            let asked = acr.is_some() && interaction.step_up;
            let step_up = match journey::step_up(&browser, &interaction).await {
                Ok(step_up) => step_up,
                Err(error) => return browser.unavailable(&error),
            };
            match step_up {
                StepUp::Page if asked => journey::ask_further(browser, interaction).await,
                StepUp::Unreachable if asked => {
                    let error = journey::unreachable();
                    note_refusal(&browser, &request, &error);
                    let (to, face) = (&request.return_to, browser.face());
                    let answer = answer::error(&browser.context, &face, Some(&client), to, &error);
                    finish(browser, answer)
                }
                StepUp::Page | StepUp::Unreachable | StepUp::Login => {
                    journey::show(browser, interaction, None)
                }
            }
        }
        Step::SelectAccount => {
            let html = select_page(&browser, interaction, &client);
            browser.page(html)
        }
        Step::Consent {
            scope,
            new_scope,
            claims,
        } => {
            let asked = Asked {
                scope,
                new_scope,
                claims,
            };
            let html = consent_page(&browser, interaction, &client, &request, &asked);
            browser.page(html)
        }
        Step::Stop(error) => browser.error(&error),
        Step::Refuse(error) => {
            note_refusal(&browser, &request, &error);
            refused(browser, &request, &client, &error)
        }
        Step::Forbid { rule } => {
            let error = authorize::forbidden();
            browser.context.note_error(&error);
            let event = about(&browser, &request).refused(error.code.as_str());
            let event = access::noted(event, rule);
            browser.context.realm.audit().record(event);
            refused(browser, &request, &client, &error)
        }
        Step::Grant(granted) => grant(browser, &interaction, &request, &client, &granted).await,
    }
}

/// The answer with an error that the rules decided, to the client.
fn refused(
    browser: BrowserRequest,
    request: &AuthorizationRequest,
    client: &Client,
    error: &OAuthError,
) -> Response {
    let (to, face, context) = (&request.return_to, browser.face(), &browser.context);
    // A silent request is answered to the client, whoever registered it (OpenID Connect Core
    // section 3.1.2.1; RFC 9700 section 4.11.2 makes this exception).
    let answer = match request.prompts.none {
        true => answer::silent_error(context, &face, Some(client), to, error),
        false => answer::error(context, &face, Some(client), to, error),
    };
    finish(browser, answer)
}

/// The answer, with what the browser keeps; a page where it could not be made.
fn finish(browser: BrowserRequest, answer: Result<Response, OAuthError>) -> Response {
    match answer {
        Ok(answer) => browser.finish(answer),
        Err(error) => browser.error(&error),
    }
}

/// Reads what the rules need: whether the pushed request was answered, and what the user has agreed
/// to.
async fn look_up(
    browser: &BrowserRequest,
    needs: &Needs<'_>,
    client: &Client,
    now: u64,
) -> Result<(bool, Option<Consent>), StoreError> {
    let store = &*browser.context.realm.store;
    let pushed_is_used = match needs.pushed {
        Some(pushed) => store.get(&pushed_key(pushed), now).await?.is_some(),
        None => false,
    };
    let consent = match needs.consent_of {
        Some(user_id) => consent::get(store, user_id, &client.client_id, now).await?,
        None => None,
    };
    Ok((pushed_is_used, consent))
}

fn note_refusal(browser: &BrowserRequest, request: &AuthorizationRequest, error: &OAuthError) {
    browser.context.note_error(error);
    let event = about(browser, request).refused(error.code.as_str());
    browser.context.realm.audit().record(event);
}

/// The answer with an error, to the client: of a person who has just decided so, on a page that
/// named it.
pub async fn refuse(
    browser: BrowserRequest,
    request: &AuthorizationRequest,
    error: &OAuthError,
) -> Response {
    note_refusal(&browser, request, error);
    let client = clients::resolve(&browser.context, Some(request.client_id())).await;
    let (to, face) = (&request.return_to, browser.face());
    let answer = answer::silent_error(&browser.context, &face, client.as_deref(), to, error);
    finish(browser, answer)
}

/// The line of a request, about whoever is there.
fn about<'a>(browser: &'a BrowserRequest, request: &'a AuthorizationRequest) -> Event<'a> {
    let event = browser
        .context
        .event(Action::AUTHORIZE)
        .client(request.client_id());
    match browser.present() {
        Some(present) => event
            .subject(&present.user.id)
            .session(Some(&present.found.row.sid)),
        None => event,
    }
}

async fn grant(
    browser: BrowserRequest,
    interaction: &Interaction,
    request: &AuthorizationRequest,
    client: &Client,
    granted: &Granted<'_>,
) -> Response {
    let context = &browser.context;
    if let Some((single_use, operation, used_up)) = single_use(interaction, request, context) {
        // Of two answers at the same time one gets the code.
        let event = about(&browser, request).operation(operation);
        let committed = context
            .realm
            .store
            .commit(Change::new(single_use), context.now());
        match signet_audit::with_record(event, committed).await.0 {
            Ok(Outcome::Done { .. }) => {}
            Ok(Outcome::Refused(_)) => return browser.error(&used_up),
            Err(error) => return browser.unavailable(&error),
        }
    }
    let ids = CodeIds {
        id: CodeId::new(signet_crypto::random::bytes()),
        grant_id: GrantId::new(signet_crypto::random::id()),
        now_ms: context.now_ms,
        issue_ms: context.issue_ms,
    };
    let settings = &context.snapshot.settings;
    let code = granted.code(ids, settings).seal(&context.realm.keyring());
    let Ok(code) = code else {
        return browser.error(&OAuthError::new(
            ErrorCode::ServerError,
            "The server could not make a code.",
        ));
    };
    let scope = granted.scope().to_string();
    let event = about(&browser, request)
        .grant(Some(ids.grant_id.as_bytes()))
        .scope(&scope);
    let event = access::let_in(event, granted.rule());
    context.realm.audit().record(event.operation("code"));
    let state = session_state(&browser, request);
    let (to, face) = (&request.return_to, browser.face());
    let answer = answer::code(context, &face, client, to, &code, state);
    finish(browser, answer)
}

/// What a client of OpenID Connect may ask about the browser's session by.
fn session_state(browser: &BrowserRequest, request: &AuthorizationRequest) -> Option<String> {
    let settings = &browser.context.snapshot.settings;
    let asked = request.scope.contains("openid")
        && signet_oauth::metadata::is_served(EndpointId::CheckSession, settings);
    let row = &browser.present().filter(|_| asked)?.found.row;
    signet_oauth::authorize::session_state::session_state(
        request.client_id(),
        &request.return_to.redirect_uri,
        &browser_state::of(row),
        &signet_crypto::random::bytes(),
    )
}

/// What may lead to a code once: a pushed request (RFC 9126 section 4), or else the pages that a
/// person answered, of which each form could be sent again. A request that is answered without a
/// page has neither, and costs no write.
fn single_use(
    interaction: &Interaction,
    request: &AuthorizationRequest,
    context: &Context,
) -> Option<(Op, &'static str, OAuthError)> {
    let insert = |key, end| Op::Insert {
        key,
        value: Vec::new(),
        end: Some(end),
    };
    if let Some(pushed) = &request.pushed {
        let insert = insert(pushed_key(pushed), used_until(pushed, context));
        return Some((insert, "request_uri", authorize::pushed_is_used()));
    }
    let id = interaction.id?;
    let key = Key::new(Table::Once, [b"i".as_slice(), &id].concat());
    let error = OAuthError::invalid_request("error-answered");
    Some((insert(key, interaction.ends_at), "interaction", error))
}

fn pushed_key(pushed: &Pushed) -> Key {
    Key::new(Table::PushedRequest, pushed.id.as_bytes().as_slice())
}

/// How long the row must say that the request was answered. The pages that it led to outlive it,
/// and each of their forms could ask for another code: one interaction after a `POST` that goes on
/// as `GET`, and a margin for lifetimes that were lowered.
fn used_until(pushed: &Pushed, context: &Context) -> u64 {
    const DAY: u64 = 86_400;
    let pages = context.snapshot.settings.interaction_lifetime;
    pushed
        .expires_at
        .max(context.now())
        .saturating_add(pages.saturating_mul(2).max(DAY))
}

fn select_page(browser: &BrowserRequest, mut interaction: Interaction, client: &Client) -> Html {
    interaction.page = Page::Select;
    let present = browser.present();
    interaction.shown_to = present.map(|present| present.found.row.sid.clone());
    let sealed = browser.seal(&interaction);
    signet_pages::select_account(
        &browser.face(),
        &SelectPage {
            action: journey::ACTION,
            interaction: &sealed,
            client_name: Some(name_of(client)),
            display_name: present.map_or("", |present| present.user.display_name()),
            username: present.map_or("", |present| &present.user.username),
        },
    )
}

struct Asked {
    scope: ScopeSet,
    new_scope: ScopeSet,
    claims: Vec<String>,
}

fn consent_page(
    browser: &BrowserRequest,
    mut interaction: Interaction,
    client: &Client,
    request: &AuthorizationRequest,
    asked: &Asked,
) -> Html {
    interaction.page = Page::Consent;
    let present = browser.present();
    interaction.shown_to = present.map(|present| present.found.row.sid.clone());
    let t = browser.face();
    let mut lines = scope_lines(
        &t,
        &browser.context.snapshot.registry,
        &asked.scope,
        &asked.new_scope,
    );
    lines.extend(asked.claims.iter().map(|claim| ScopeLine {
        name: String::new(),
        description: t.with("consent-claim", &[("claim", claim.into())]),
        known: false,
        danger: false,
    }));
    let sealed = browser.seal(&interaction);
    signet_pages::consent(
        &t,
        &ConsentPage {
            action: journey::ACTION,
            interaction: &sealed,
            client_name: name_of(client),
            client_host: &host_of(&t, &request.return_to.redirect_uri),
            links: ClientLinks::of(client),
            username: present.map_or("", |present| &present.user.username),
            scopes: &lines,
            resources: &request.resources,
        },
    )
}

/// The person answered a page that the rules asked for: what their answer means.
pub async fn submit_page(
    browser: BrowserRequest,
    mut interaction: Interaction,
    form: &Params,
) -> Response {
    let Goal::Authorize(request) = &interaction.goal else {
        return browser.start_again();
    };
    let request = request.clone();
    let decision = form.get("decision").unwrap_or("");
    if matches!(decision, "deny" | "cancel") {
        return refuse(browser, &request, &authorize::denied()).await;
    }
    let Some(present) = browser.present().cloned() else {
        // The session ended meanwhile: the rules ask for a login.
        return proceed(browser, interaction, false).await;
    };
    let shown = interaction.was_shown_to(&present.found.row);
    match (interaction.page, decision) {
        (Page::Select, "allow") if shown => {
            interaction.selected = Some(interaction::SessionStamp::by(&present.found.row));
            proceed(browser, interaction, false).await
        }
        (Page::Select, "other") => journey::show(browser, interaction, None),
        (Page::Consent, "allow") if shown => {
            let event = about(&browser, &request).action(Action::CONSENT).approved();
            let remembered = remember(&browser, &request, &present);
            let failed = |_: &StoreError| "temporarily_unavailable";
            match browser
                .context
                .realm
                .audit()
                .act(event, remembered, failed)
                .await
            {
                Ok(()) => proceed(browser, interaction, true).await,
                Err(error) => browser.unavailable(&error),
            }
        }
        // No answer, or somebody else is logged in than the page was for: asked again.
        _ => proceed(browser, interaction, false).await,
    }
}

async fn remember(
    browser: &BrowserRequest,
    request: &AuthorizationRequest,
    LoggedIn { found, user }: &LoggedIn,
) -> Result<(), StoreError> {
    let may = request.scope.of_person(user.admin);
    let snapshot = &browser.context.snapshot;
    let registry = &snapshot.registry;
    let client = registry.clients.get(request.client_id());
    let client = client.map(|client| &**client);
    let wants = Wants {
        sought: Sought {
            client,
            scope: Some(&may),
            claims: request.claims.as_ref(),
        },
        audience: &target::audience_of(&snapshot.settings, &request.resources),
        shown: Some(&found.row.methods()),
        classes: &[],
    };
    // What the page has shown, and no more.
    let claims = access::allowed_claims(&browser.context, user, &wants)
        .zip(client)
        .map(|(claims, client)| userinfo::claims_beyond_scope(&claims, &may, registry, client))
        .unwrap_or_default();
    let context = &browser.context;
    let store = &*context.realm.store;
    consent::add(
        store,
        &user.id,
        request.client_id(),
        &may,
        &claims,
        context.now(),
    )
    .await
}
