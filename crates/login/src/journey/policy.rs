//! Which classes a login has to reach: those of what it is for ([`classes`]), and those that the
//! way there demands.

use signet_directory::User;

use signet_request::access::classes;
use signet_request::browser_request::BrowserRequest;
use signet_request::interaction::Interaction;

/// For what an interaction leads to.
pub(super) fn required(
    visit: &BrowserRequest,
    interaction: &Interaction,
    user: &User,
) -> Vec<String> {
    let sought = interaction.sought(&visit.context.snapshot.registry);
    let mut classes = classes(&visit.context, sought, Some(user));
    classes.extend(interaction.required.iter().cloned());
    classes
}
