//! Letters to people: handed over, and noted in the audit trail.
use signet_audit::Event;

use crate::state::Realm;
use signet_mail::Content;
use signet_pages::Letter;

/// Hands a letter over, where this server can send mail. `user_id`: whose account it is about,
/// where there is one. `what`: its name in the audit trail. `now_ms`: Unix milliseconds. Whether it
/// was handed over, for who may know. A failure is in the log alone: saying so would tell an
/// unauthenticated caller that the address exists.
pub async fn hand_over(
    realm: &Realm,
    event: Event<'_>,
    user_id: Option<&str>,
    to: &str,
    what: &str,
    letter: &Letter,
    now_ms: u64,
) -> bool {
    let Some(mailer) = &realm.people.mailer else {
        return false;
    };
    let content = Content {
        subject: &letter.subject,
        text: &letter.text,
        html: Some(&letter.html),
    };
    let sent = mailer.send(to, content, now_ms).await;
    let event = event.operation(what);
    let event = user_id.map_or(event, |user_id| event.subject(user_id));
    realm.audit().record(match &sent {
        Ok(()) => event.happened(),
        Err(_) => event.refused("temporarily_unavailable"),
    });
    if let Err(error) = sent {
        tracing::error!(%error, what, "failed to send a mail");
        return false;
    }
    true
}
