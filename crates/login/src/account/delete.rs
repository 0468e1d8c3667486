//! The person has their account deleted.

use signet_oauth::params::Params;

use super::{about, answer, factors, overview};
use crate::failure::Failure;
use crate::freshness;
use signet_pages::Notice;
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Response;

/// Days of the time of grace, where this person may: rounded up.
pub(super) fn offered(visit: &BrowserRequest, present: &LoggedIn) -> Option<u64> {
    let settings = &visit.context.snapshot.settings;
    let users = &visit.context.realm.people.users;
    let offered = settings.self_deletion && users.may(&present.user).remove;
    offered.then(|| settings.deletion_grace.div_ceil(86_400))
}

/// `decision=delete-account`: whoever finds an open browser must not be able to.
pub(super) async fn delete(visit: BrowserRequest, present: &LoggedIn, form: &Params) -> Response {
    if offered(&visit, present).is_none() {
        return overview(visit, None).await;
    }
    if form.get("confirmed") != Some("yes") {
        return overview(visit, Some(Notice::Error("account-delete-confirm"))).await;
    }
    let Some(fresh) = freshness::of(&visit.context, present) else {
        return factors::ask_fresh(visit, present).await;
    };
    let realm = visit.context.realm.clone();
    let event = about(&visit, present, "delete");
    let asked = async {
        let asked = realm.ask_deletion(&fresh.user().id).await;
        asked.map_err(Failure::from)
    };
    match realm.audit().act(event, asked, Failure::code).await {
        Ok(deletion) => {
            let mailed = present.user.email.is_some() && realm.people.mailer.is_some();
            let html = signet_pages::deletion_page(&visit.face(), deletion.erase_at, mailed);
            visit.page(html)
        }
        Err(failure) => answer(visit, Err(failure)).await,
    }
}
