//! Letters that a request has sent.
use super::Context;
use signet_audit::Action;
use signet_pages::Letter;
use signet_realm::budgets::Act;
use signet_realm::letters::hand_over;

/// Hands a letter over, for a request of somebody who may be nobody that is known: it is counted
/// where it was sent ([`Act::Mail`]). See [`hand_over`].
pub async fn send(context: &Context, user_id: Option<&str>, to: &str, what: &str, letter: &Letter) {
    let event = context.event(Action::MAIL);
    let (realm, now_ms) = (&context.realm, context.now_ms);
    if hand_over(realm, event, user_id, to, what, letter, now_ms).await {
        // What was sent is counted, whoever asked; who may ask was decided before.
        let _ = realm.budgets.spend(Act::Mail, context.peer, context.now());
    }
}
