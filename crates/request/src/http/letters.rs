//! Letters that a request has sent.
use super::Context;
use signet_audit::Action;
use signet_pages::Letter;
use signet_realm::budgets::Act;
use signet_realm::letters::{Sending, hand_over, hand_over_nothing};

/// Sends a letter for a request of somebody who may be nobody that is known: it is counted where it
/// was sent ([`Act::Mail`]). See [`hand_over`].
pub async fn send(context: &Context, sending: &Sending<'_>, letter: &Letter) {
    let (realm, event) = (&context.realm, context.event(Action::MAIL));
    if hand_over(realm, event, sending, letter).await {
        // What was sent is counted, whoever asked; who may ask was decided before.
        let _ = realm.budgets.spend(Act::Mail, context.peer, context.now());
    }
}

/// The same work, where nobody is written to.
pub async fn send_nothing(context: &Context) {
    hand_over_nothing(&context.realm).await;
}
