//! Who the person is: what they see of it, and what they may change.
//!
//! The language is theirs: pages and mails are written in it. Their names are theirs where people
//! make accounts for themselves, and so say who they are; elsewhere somebody else has said it, and
//! applications rely on that. What a directory keeps is changed there.

use signet_directory::{Profile, User};
use signet_oauth::params::Params;
use signet_texts::Language;

use super::{about, after_saving};
use crate::failure::Failure;
use crate::sign_up::can_be_a_name;
use signet_pages::ProfileView;
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Response;

/// Longest name that people give themselves, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// What the page shows.
pub(super) fn view<'a>(browser: &BrowserRequest, user: &'a User) -> ProfileView<'a> {
    let profile = &user.profile;
    ProfileView {
        name: profile.name.as_deref().unwrap_or(""),
        given_name: profile.given_name.as_deref().unwrap_or(""),
        family_name: profile.family_name.as_deref().unwrap_or(""),
        language: profile.locale.as_deref().and_then(Language::of_tag),
        names: may_change_names(browser, user),
        locale: may_change(browser, user),
    }
}

fn may_change(browser: &BrowserRequest, user: &User) -> bool {
    browser.context.realm.people.users.may(user).profile
}

fn may_change_names(browser: &BrowserRequest, user: &User) -> bool {
    browser.context.offers_sign_up() && may_change(browser, user)
}

/// `decision=profile`: what the person may write, and nothing else of it.
pub(super) async fn save(browser: BrowserRequest, present: &LoggedIn, form: &Params) -> Response {
    let saved = try_save(&browser, present, form);
    let event = about(&browser, present, "profile");
    let audit = browser.context.realm.audit();
    let saved = audit.act(event, saved, Failure::code).await;
    after_saving(browser, present, saved).await
}

async fn try_save(
    browser: &BrowserRequest,
    present: &LoggedIn,
    form: &Params,
) -> Result<User, Failure> {
    let (users, now) = (&browser.context.realm.people.users, browser.context.now());
    let names = may_change_names(browser, &present.user) && form.contains("names");
    let locale = may_change(browser, &present.user) && form.contains("languages");
    let typed = |field: &str| typed(form, field);
    let (full, given, family) = (typed("name")?, typed("given_name")?, typed("family_name")?);
    let chosen = form.get("locale").unwrap_or("");
    let change = users.change(&present.user.id, now, |draft| {
        let profile = &mut draft.user.profile;
        if names {
            (profile.name, profile.given_name) = (full.clone(), given.clone());
            profile.family_name.clone_from(&family);
        }
        if locale {
            choose(profile, chosen);
        }
    });
    Ok(change.await?)
}

/// What was typed into a field; None: nothing.
fn typed(form: &Params, field: &str) -> Result<Option<String>, Failure> {
    let text = form.get(field).unwrap_or("").trim();
    if text.len() > MAX_NAME_BYTES || !can_be_a_name(text) {
        return Err(Failure::Invalid("account-bad-value"));
    }
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

/// A language that the pages have, or none. A region stays where the language does.
fn choose(profile: &mut Profile, tag: &str) {
    let language = Language::of_tag(tag);
    let present = profile.locale.as_deref().and_then(Language::of_tag);
    if tag.is_empty() || (language.is_some() && language != present) {
        profile.locale = language.map(|language| language.tag().to_owned());
    }
}
