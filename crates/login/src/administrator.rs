//! The login of an administrator: two factors that are shown now, whatever the realm demands of
//! others. Whoever has none sets one up on the way, as everywhere that requires a class.

use signet_oauth::authorize::acr;
use signet_request::browser_request::BrowserRequest;
use signet_request::http::Response;
use signet_request::interaction::Goal;

use crate::{freshness, journey};

/// Asks for two factors, and leads to a page of the console: `path` is its path and query below the
/// issuer. Only what a session that has just begun lacks is asked for; else the whole login.
pub async fn ask(browser: BrowserRequest, path: String) -> Response {
    let mut interaction = browser.interaction(Goal::Console(path));
    // A remembered browser shows nothing.
    interaction.strict = true;
    interaction.required = vec![acr::TWO_FACTORS.to_owned()];
    let just_begun = browser
        .present()
        .is_some_and(|present| freshness::has_just_logged_in(&browser.context, present));
    if just_begun {
        interaction.step_up = true;
        return journey::ask_further(browser, interaction).await;
    }
    journey::show(browser, interaction, None)
}
