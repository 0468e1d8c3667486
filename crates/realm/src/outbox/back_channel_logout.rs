//! Tells clients of sessions that ended: OpenID Connect Back-Channel Logout 1.0.
//!
//! A notice is put there by the change that takes the client off the session
//! ([`signet_directory::logout_notice`]). What is beyond a client's share stays in the outbox.

use signet_audit::{Action, Event};
use signet_directory::logout_notice::{ACCOUNT_WATCHES, NOTICES, Notice, SESSION_WATCHES};
use signet_encoding::json::Writer;
use signet_jose::jwt::Typ;
use signet_outbox::{Bounds, Item, Kind, Queue, Sent, State};
use signet_store::{Change, StoreFuture};

use crate::outbound::FetchError;
use crate::state::Realm;

/// Notices that one node holds at most: claimed, and waiting for their turn.
pub const MAX_HELD: usize = 8_192;
/// Of these, notices of one client.
pub const MAX_HELD_PER_CLIENT: usize = 128;
/// Attempts to send one notice
pub const MAX_SENT: u32 = 8;
/// For how long a logout token is good, seconds (section 2.4 recommends two minutes at most).
const LIFETIME: u64 = 120;
/// What the token says has happened (section 2.4).
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// See the module.
pub(super) struct BackChannelLogout;

impl Kind for BackChannelLogout {
    type Context = Realm;
    type What = Notice;

    fn name(&self) -> &'static str {
        "back_channel_logout"
    }

    fn queue(&self) -> &'static Queue<Notice> {
        &NOTICES
    }

    fn bounds(&self) -> Bounds {
        Bounds {
            held: MAX_HELD,
            held_of_receiver: MAX_HELD_PER_CLIENT,
            // Fewer than connections may be opened on clients' word, so that their keys can still
            // be fetched.
            at_once: 48,
            at_once_of_receiver: 4,
            lease: 60,
            takes: 10,
            attempts: MAX_SENT,
            // Ten minutes in all.
            longest_pause: 320,
            // A client that was to be notified has long since asked for a token, and was refused.
            put_off: 3_600,
            put_off_because: "put off: the client cannot be reached",
            given_up_because: "the client could not be reached for an hour",
        }
    }

    fn receiver<'a>(&self, item: &'a Item<Notice>) -> Option<&'a str> {
        (item.state != State::Watching).then_some(&*item.what.client_id)
    }

    fn send<'a>(&'a self, realm: &'a Realm, item: &'a Item<Notice>) -> StoreFuture<'a, Sent> {
        Box::pin(async move {
            if item.state == State::Watching {
                // Before watches had kinds of their own, they lay among the notices.
                let queue = match item.what.sid.is_empty() {
                    true => &ACCOUNT_WATCHES,
                    false => &SESSION_WATCHES,
                };
                let now = realm.now();
                let moved = Change::new(queue.put(item, now, now));
                realm.store.commit(moved, now).await?;
                return Ok(Sent::Dropped);
            }
            if learns_by_page_alone(realm, &item.what) {
                return Ok(Sent::Dropped);
            }
            let (url, body) = match request(realm, item) {
                Ok(request) => request,
                Err(why) => return Ok(Sent::Hopeless(why.to_owned())),
            };
            Ok(match realm.host.outbound.post(&url, body).await {
                // Section 2.8: 200; some answer 204, which says no less.
                Ok(_) | Err(FetchError::Status(204)) => Sent::Delivered,
                Err(
                    error @ (FetchError::TimedOut | FetchError::Connect(_) | FetchError::Address),
                ) => Sent::Unreachable(error.to_string()),
                Err(error) => Sent::Refused(error.to_string()),
            })
        })
    }

    fn give_up<'a>(
        &'a self,
        realm: &'a Realm,
        item: &'a Item<Notice>,
        change: StoreFuture<'a, bool>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let Notice {
                client_id,
                user_id,
                sid,
            } = &item.what;
            let event = Event::new(Action::LOGOUT, realm.now_ms()).operation("back_channel");
            let event = event.subject(user_id).client(client_id).session(Some(sid));
            // Nobody decided it.
            let event = event.refused("not_delivered").happened();
            signet_audit::with_record(event, change).await.0
        })
    }
}

/// Whether there is nobody to tell: the client's page learns of the end in the browser.
fn learns_by_page_alone(realm: &Realm, notice: &Notice) -> bool {
    let snapshot = realm.snapshot();
    let client = snapshot.registry.clients.get(&notice.client_id);
    client.is_some_and(|client| {
        client.backchannel_logout_uri.is_none() && client.frontchannel_logout_uri.is_some()
    })
}

/// Where a notice goes, and the form that says it. Err: there is nobody to tell, or no key.
fn request(realm: &Realm, item: &Item<Notice>) -> Result<(String, Vec<u8>), &'static str> {
    let notice = &item.what;
    let snapshot = realm.snapshot();
    let client = snapshot.registry.clients.get(&notice.client_id);
    let client = client.ok_or("the client is gone")?;
    let url = client.backchannel_logout_uri.clone();
    let url = url.ok_or("the client has no backchannel_logout_uri")?;
    let algorithm = client.id_token_signed_response_alg;
    let algorithm = algorithm.unwrap_or(snapshot.settings.id_token_alg);
    let signer = snapshot.keys.signer(algorithm);
    let signer = signer.ok_or("there is no active key of the client's algorithm")?;
    let now = realm.now();
    let mut payload = Vec::with_capacity(384);
    Writer::new(&mut payload).object(|w| {
        w.member("iss").string(&snapshot.settings.issuer);
        w.member("sub").string(&notice.user_id);
        w.member("aud").string(&notice.client_id);
        w.member("iat").number(now);
        w.member("exp").number(now.saturating_add(LIFETIME));
        w.member("jti").string(&item.id);
        w.member("sid").string(&notice.sid);
        w.member("events")
            .object(|w| w.member(EVENT).object(|_| {}));
    });
    let mut token = Vec::with_capacity(1024);
    signer
        .sign_into(Typ::LogoutToken, &payload, &mut token)
        .map_err(|_| "signing failed")?;
    // A compact JWS needs no escape in a form.
    Ok((url, [b"logout_token=", &*token].concat()))
}
