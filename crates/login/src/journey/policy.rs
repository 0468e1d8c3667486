//! Which classes a login has to reach: those of what it is for ([`classes`]), and those that the
//! way there demands.

use signet_directory::User;

use signet_request::access::classes;
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::{Goal, Interaction};

/// For what an interaction leads to.
pub(super) fn required(
    browser: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
) -> Vec<String> {
    let sought = interaction.sought(&browser.context.snapshot.registry);
    let mut classes = classes(&browser.context, sought, Some(user));
    classes.extend(interaction.required.iter().cloned());
    classes
}

/// The class that the request wishes most, as an essential claim or by `acr_values`, where the
/// server has it.
pub(super) fn first_wish(interaction: &Interaction) -> Option<&str> {
    let Goal::Authorize(request) = &interaction.goal else {
        return None;
    };
    let essential = request.claims.as_ref().and_then(|c| c.essential_acr());
    let wanted = essential.unwrap_or(&request.acr_values);
    wanted.first().map(String::as_str)
}
