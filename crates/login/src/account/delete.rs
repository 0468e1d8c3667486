//! The person has their account deleted.

use signet_oauth::params::Params;

use super::{about, answer, factors, overview};
use crate::failure::Failure;
use crate::freshness;
use signet_pages::Notice;
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Response;

/// Days of the time of grace, where this person may: rounded up.
pub(super) fn offered(browser: &BrowserRequest, present: &LoggedIn) -> Option<u64> {
    let settings = &browser.context.snapshot.settings;
    let users = &browser.context.realm.people.users;
    let offered = settings.self_deletion && users.may(&present.user).remove;
    offered.then(|| settings.deletion_grace.div_ceil(86_400))
}

/// `decision=delete-account`: whoever finds an open browser must not be able to.
pub(super) async fn delete(browser: BrowserRequest, present: &LoggedIn, form: &Params) -> Response {
    if offered(&browser, present).is_none() {
        return overview(browser, None).await;
    }
    if form.get("confirmed") != Some("yes") {
        return overview(browser, Some(Notice::Error("account-delete-confirm"))).await;
    }
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return factors::ask_fresh(browser, present).await;
    };
    let realm = browser.context.realm.clone();
    let event = about(&browser, present, "delete");
    let asked = async {
        let asked = realm.ask_deletion(&fresh.user().id).await;
        asked.map_err(Failure::from)
    };
    match realm.audit().act(event, asked, Failure::code).await {
        Ok(deletion) => {
            let mailed = present.user.email.is_some() && realm.people.mailer.is_some();
            let html = signet_pages::deletion_page(&browser.face(), deletion.erase_at, mailed);
            browser.page(html)
        }
        Err(failure) => answer(browser, Err(failure)).await,
    }
}
