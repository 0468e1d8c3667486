//! Back from a provider: whose account it is.
use std::sync::Arc;

use signet_oauth::params::Params;
use signet_oauth::people::provider::Provider;

use super::arrival::{self, Stored};
use super::{METHOD, asking, failed, journey, refused};
use crate::failure::Failure;
use crate::freshness;
use crate::journey::next::{ACTION, By, Journey, Next, Proof};
use signet_audit::Action;
use signet_directory::{NewUser, User, folded_email};
use signet_federation::profile;
use signet_federation::upstream::{Person, Trouble};
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_pages::{Notice, ProviderFirst};
use signet_request::access::Entrance;
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::{Interaction, Page};

const ELSEWHERE: OAuthError = OAuthError {
    code: ErrorCode::InvalidRequest,
    description: "provider-elsewhere",
    hint: None,
    challenge: None,
    retry_after: None,
};
const GONE: OAuthError = OAuthError {
    code: ErrorCode::NotFound,
    description: "provider-not-offered",
    hint: None,
    challenge: None,
    retry_after: None,
};
const ENDED: OAuthError = OAuthError {
    code: ErrorCode::InvalidRequest,
    description: "provider-elsewhere",
    hint: None,
    challenge: None,
    retry_after: None,
};

const DENIED: &str = "provider-denied";
const AGAIN_LATER: &str = "provider-unreachable";
const NOT_DONE: &str = "provider-denied";
const MIXED_UP: &str = "provider-mixed-up";
const TOO_OLD: &str = "provider-too-old";
const DISABLED: &str = "provider-nobody";
const NOBODY: &str = "provider-nobody";
const PROVE: &str = "provider-prove";

/// The answer of the provider of this name.
pub async fn arrive(browser: BrowserRequest, name: &str, params: &Params) -> Next {
    let providers = &browser.context.snapshot.registry.providers;
    let Some(provider) = providers.usable(name).cloned() else {
        return Next::Answer(browser.error(&GONE));
    };
    let state = params.get("state").unwrap_or("");
    let journey = match journey::take(&browser, &provider, state).await {
        Ok(Some(journey)) => journey,
        Ok(None) => return Next::Answer(browser.error(&ELSEWHERE)),
        Err(error) => return Next::Answer(browser.unavailable(&error)),
    };
    let Some(interaction) = browser.open_sealed(&journey.interaction) else {
        return Next::Answer(browser.start_again());
    };
    match answered(&browser, &provider, &journey, params).await {
        // A step of its own on the heap: the stack of a thread is small for all of them.
        Ok(person) => Box::pin(decide(browser, interaction, provider, &journey, person)).await,
        Err(Answered::Refused(code, text)) => refused(browser, interaction, &provider, code, text),
        Err(Answered::Trouble(trouble)) => failed(browser, interaction, &provider, &trouble),
    }
}

enum Answered {
    Refused(&'static str, &'static str),
    Trouble(Trouble),
}

impl From<Trouble> for Answered {
    fn from(trouble: Trouble) -> Answered {
        Answered::Trouble(trouble)
    }
}

/// Who the answer is about.
async fn answered(
    browser: &BrowserRequest,
    provider: &Provider,
    journey: &journey::Journey,
    params: &Params,
) -> Result<Person, Answered> {
    let asking = asking(browser, provider);
    let metadata = asking.metadata().await?;
    // RFC 9207 section 2.4, before anything else is believed, errors included.
    let is_theirs = match params.get("iss") {
        Some(iss) => iss == provider.issuer,
        None => !metadata.authorization_response_iss_parameter_supported,
    };
    if !is_theirs {
        return Err(Answered::Refused("mix_up", MIXED_UP));
    }
    match params.get("error") {
        None => {}
        Some("access_denied") => return Err(Answered::Refused("access_denied", DENIED)),
        Some("temporarily_unavailable" | "server_error") => {
            return Err(Answered::Refused("temporarily_unavailable", AGAIN_LATER));
        }
        Some(error) => {
            let error: String = error
                .chars()
                .filter(char::is_ascii_graphic)
                .take(64)
                .collect();
            tracing::warn!(provider = %provider.name, error, "received an error from the provider");
            return Err(Answered::Refused("provider_refused", NOT_DONE));
        }
    }
    let code = params.get("code").filter(|code| !code.is_empty());
    let code = code.ok_or(Answered::Refused("provider_answer", NOT_DONE))?;
    let redirect_uri = &journey.redirect_uri;
    let tokens = asking
        .redeem(&metadata, code, &journey.verifier, redirect_uri)
        .await?;
    let person = asking.person(&metadata, &tokens, &journey.nonce).await?;
    let at = person.auth_time;
    let since = |age: u64| {
        journey
            .begun_at
            .saturating_sub(age.saturating_add(journey::LEEWAY))
    };
    // OpenID Connect Core section 3.1.2.1: with max_age, auth_time must be there.
    let too_old = journey
        .max_age
        .is_some_and(|age| at.is_none_or(|at| at < since(age)))
        || (journey.anew && at.is_some_and(|at| at < since(0)));
    if too_old {
        return Err(Answered::Refused("provider_login_too_old", TOO_OLD));
    }
    Ok(person)
}

/// Whose account it is.
async fn decide(
    browser: BrowserRequest,
    mut interaction: Interaction,
    provider: Arc<Provider>,
    journey: &journey::Journey,
    person: Person,
) -> Next {
    let kept = arrival::keep(&browser, &mut interaction, &provider, person).await;
    let stored = match kept {
        Ok(stored) => stored,
        Err(error) => return Next::Answer(browser.unavailable(&error)),
    };
    if let Some((user_id, sid)) = &journey.link {
        let by = (user_id.as_str(), sid.as_str(), journey.begun_at);
        return Next::Answer(linked(browser, &provider, &stored, by).await);
    }
    let now = browser.context.now();
    let users = &browser.context.realm.people.users;
    let found = users
        .by_upstream(&stored.issuer, &stored.person.subject, now)
        .await;
    match found {
        Ok(Some(user)) => return enter(browser, interaction, &provider, user),
        Ok(None) => {}
        Err(error) => return Next::Answer(browser.unavailable(&error.into())),
    }
    match of_address(&browser, &provider, &stored.person).await {
        Ok(OfAddress::Account(user)) => {
            // The link is made when the login is done, and a remembered browser is not enough: it
            // outlives the session.
            if let Some(arrival) = &mut interaction.arrival {
                arrival.link = true;
            }
            interaction.strict = true;
            enter(browser, interaction, &provider, *user)
        }
        // The provider is believed that the address is theirs, and the account's owner has not
        // shown it, or has more to lose.
        Ok(OfAddress::Unproven) => prove(browser, interaction),
        Ok(OfAddress::Nobody) if provider.create => {
            Box::pin(create(browser, interaction, &provider, &stored)).await
        }
        // Whether somebody here has the address is not said.
        Ok(OfAddress::Unknown) => Next::Answer(first(browser, interaction, &provider, &stored)),
        Ok(OfAddress::Nobody) => refused(browser, interaction, &provider, "unknown_person", NOBODY),
        Err(failure) => not_linked(browser, interaction, &provider, failure),
    }
}

/// What an address says of an account.
enum OfAddress {
    /// Both sides have verified it.
    Account(Box<User>),
    /// Somebody has it, and must prove that they are that account's owner.
    Unproven,
    /// Nobody has it.
    Nobody,
    /// The provider is not believed about addresses, or says none: nothing was looked up.
    Unknown,
}

async fn of_address(
    browser: &BrowserRequest,
    provider: &Provider,
    person: &Person,
) -> Result<OfAddress, Failure> {
    let email = person
        .email
        .as_deref()
        .filter(|email| folded_email(email).is_ok());
    let Some(email) = email.filter(|_| provider.trust_email && person.email_verified) else {
        return Ok(OfAddress::Unknown);
    };
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let Some(user) = users.by_login(email, now).await? else {
        return Ok(OfAddress::Nobody);
    };
    let folded = |email: &str| folded_email(email).ok();
    let verified_here =
        user.email_verified && user.email.as_deref().and_then(folded) == folded(email);
    // An administrator's account is worth more than a mailbox.
    let opens = Entrance::LinkByAddress.opens(&user, now);
    let may = verified_here && opens && !user.admin && user.link.is_none();
    Ok(match may {
        true => OfAddress::Account(Box::new(user)),
        false => OfAddress::Unproven,
    })
}

fn not_linked(
    browser: BrowserRequest,
    mut interaction: Interaction,
    provider: &Provider,
    failure: Failure,
) -> Next {
    interaction.arrival = None;
    let code = failure.code();
    match failure {
        Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text) => {
            refused(browser, interaction, provider, code, text)
        }
        Failure::LoginRequired => Next::Answer(browser.start_again()),
        Failure::Later(_, _, text) => refused(browser, interaction, provider, code, text),
        Failure::Store(error) => Next::Answer(browser.unavailable(&error)),
    }
}

/// Their account: the session, as after every other login, and then what is taken over.
fn enter(
    browser: BrowserRequest,
    mut interaction: Interaction,
    provider: &Provider,
    user: User,
) -> Next {
    if !Entrance::Login.opens(&user, browser.context.now()) {
        interaction.arrival = None;
        return refused(browser, interaction, provider, "disabled", DISABLED);
    }
    if let Some(arrival) = &mut interaction.arrival {
        arrival.account = Some(user.id.clone());
    }
    let proof = Proof {
        user,
        shown: METHOD,
        by: By::Provider,
    };
    Next::Shown(Journey::new(browser, interaction), Box::new(proof))
}

/// A new account. Its address is what a trusted provider has verified; any other is for the person
/// to add, so that nobody learns here whose it is already.
async fn create(
    browser: BrowserRequest,
    interaction: Interaction,
    provider: &Provider,
    stored: &Stored,
) -> Next {
    let person = &stored.person;
    let trusted = provider.trust_email && person.email_verified;
    let email = person.email.clone().filter(|_| trusted);
    let new = NewUser {
        username: username(person).to_owned(),
        email_verified: email.is_some(),
        email,
        profile: profile::of(&person.claims),
        ..NewUser::default()
    };
    let now = browser.context.now();
    let link = stored.link(provider, now);
    let made = async {
        let users = &browser.context.realm.people.users;
        let snapshot = &browser.context.snapshot;
        let is_somebodys = |name: &str| snapshot.names(name);
        let made = users.create_linked(new, &is_somebodys, &link, now);
        Ok(Box::pin(made).await?)
    };
    let event = browser
        .context
        .event(Action::ACCOUNT)
        .operation("provider-create");
    let event = event.target(&provider.name);
    let made = browser
        .context
        .realm
        .audit()
        .act(event, made, Failure::code)
        .await;
    match made {
        Ok(user) => enter(browser, interaction, provider, user),
        Err(failure) => not_linked(browser, interaction, provider, failure),
    }
}

/// What the user name of a new account is made of: the person's there.
fn username(person: &Person) -> &str {
    let named = person.username.as_deref().or(person.email.as_deref());
    named.and_then(|name| name.split('@').next()).unwrap_or("")
}

/// The page of somebody who is seen for the first time.
fn first(
    browser: BrowserRequest,
    mut interaction: Interaction,
    provider: &Provider,
    stored: &Stored,
) -> signet_request::http::Response {
    interaction.page = Page::Provider;
    let person = &stored.person;
    let name = person.username.as_deref().or(person.email.as_deref());
    let html = signet_pages::provider_first(
        &browser.face(),
        &ProviderFirst {
            action: ACTION,
            interaction: &browser.seal(&interaction),
            provider: provider.shown(),
            name,
            create: provider.create,
            can_cancel: interaction.request().is_some(),
        },
    );
    browser.page(html)
}

/// The login page, for an account that is to be linked. The link outlives the session: a remembered
/// browser is not enough.
fn prove(browser: BrowserRequest, mut interaction: Interaction) -> Next {
    if let Some(arrival) = &mut interaction.arrival {
        arrival.link = true;
    }
    interaction.strict = true;
    let notice = Some(Notice::Done(PROVE));
    Next::Identify(Journey::new(browser, interaction), notice)
}

/// A form of the page of somebody who is seen for the first time.
pub(crate) async fn submit(journey: Journey, form: &Params) -> Next {
    let Journey {
        browser,
        interaction,
    } = journey;
    let found = match arrival::load(&browser, &interaction).await {
        Ok(Some(found)) => found,
        Ok(None) => return Next::Answer(browser.start_again()),
        Err(error) => return Next::Answer(browser.unavailable(&error)),
    };
    let (provider, stored) = found;
    match form.get("decision") {
        Some("link") => prove(browser, interaction),
        Some("allow") if provider.create => {
            Box::pin(create(browser, interaction, &provider, &stored)).await
        }
        Some(_) | None => Next::Answer(first(browser, interaction, &provider, &stored)),
    }
}

/// The link that a person asked for on their account page, in which session and when.
async fn linked(
    browser: BrowserRequest,
    provider: &Provider,
    stored: &Stored,
    (user_id, sid, begun_at): (&str, &str, u64),
) -> signet_request::http::Response {
    let present = browser.present();
    let same = present.filter(|present| present.user.id == user_id && present.found.row.sid == sid);
    let Some(present) = same else {
        return browser.error(&ENDED);
    };
    // It was fresh when the person was sent to the provider.
    let Some(fresh) = freshness::when_begun(&browser.context, present, begun_at) else {
        return browser.error(&ENDED);
    };
    match arrival::link(&browser, &fresh, provider, stored).await {
        Ok(_) => {
            let url = browser.url("/account");
            browser.redirect(&url)
        }
        Err(Failure::Store(error)) => browser.unavailable(&error),
        Err(Failure::Wrong(text, _) | Failure::Expired(text) | Failure::Invalid(text)) => {
            browser.error(&OAuthError::new(ErrorCode::InvalidRequest, text))
        }
        Err(Failure::LoginRequired | Failure::Later(..)) => browser.start_again(),
    }
}
