//! Letters to people: put into the outbox, and noted in the audit trail.
use signet_audit::Event;
use signet_outbox::State;
use signet_pages::Letter;

use crate::outbox::mail;
pub use crate::outbox::mail::Sending;
use crate::state::Realm;

/// Sends a letter, where this server can send mail. Whether it is on its way, for who may know: it
/// is durable then, and sent again while no mail server has it. A failure is in the log and the
/// trail alone: saying so would tell an unauthenticated caller that the address exists.
pub async fn hand_over(
    realm: &Realm,
    event: Event<'_>,
    sending: &Sending<'_>,
    letter: &Letter,
) -> bool {
    if realm.people.mailer.is_none() {
        return false;
    }
    let put = mail::put(realm, sending, letter).await;
    let Sending { user_id, what, .. } = *sending;
    let event = event.operation(what);
    let event = user_id.map_or(event, |user_id| event.subject(user_id));
    let is_on_its_way = matches!(&put, Ok((State::Delivered | State::Waiting, _)));
    realm.audit().record(match &put {
        Ok((_, true)) => event.happened(),
        Ok((_, false)) | Err(_) => event.refused("temporarily_unavailable"),
    });
    if let Err(error) = put {
        tracing::error!(%error, what, "failed to put a mail into the outbox");
    }
    is_on_its_way
}

/// What [`hand_over`] costs, where nobody is written to: the time of an answer does not tell
/// whether a name has an account.
pub async fn hand_over_nothing(realm: &Realm) {
    if realm.people.mailer.is_none() {
        return;
    }
    if let Err(error) = mail::decoy(realm).await {
        tracing::error!(%error, "failed to put a mail into the outbox");
    }
}
