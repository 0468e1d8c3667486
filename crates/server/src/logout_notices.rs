//! Tells clients of sessions that ended: OpenID Connect Back-Channel Logout 1.0.
//!
//! What is to be told stands in the store ([`crate::logout_notice`]), so that no node's death loses
//! it; here it is claimed, signed and sent. Clients are told beside each other: each may have
//! [`PER_CLIENT`] requests open and all of them [`AT_ONCE`], and what waits for a client that does
//! not answer holds up no other's.

use std::{collections::HashMap, sync::Arc, time::Duration};

use signet_jose::{json::Writer, jwt::Typ};
use signet_store::StoreError;
use tokio::sync::Semaphore;

use crate::{
    logout_notice::{self, Claimed, Notice, NoticeState},
    outbound::FetchError,
    session,
    state::Realm,
};

/// Between two looks into the outbox.
pub const EVERY: Duration = Duration::from_secs(1);
/// Notices that are claimed at once.
const ROUND: usize = 256;
/// Notices that one node holds at most: claimed, and waiting for their turn.
pub const MAX_HELD: usize = 8_192;
/// Requests to one client at once.
const PER_CLIENT: usize = 4;
/// Requests to all clients at once: fewer than connections may be opened on clients' word, so that
/// their keys can still be fetched.
const AT_ONCE: usize = 48;
/// Left of a claim when a request begins, seconds: what it may take, and some more.
const TAKES: u64 = 10;
/// For how long a logout token is good, seconds (section 2.4 recommends two minutes at most).
const LIFETIME: u64 = 120;
/// What the token says has happened (section 2.4).
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

/// Sends, as long as the process lives. To be spawned once per realm; it ends with its runtime.
pub async fn deliver(realm: Arc<Realm>) {
    let mut sender = Sender::default();
    let mut failing = false;
    loop {
        let round = sender.round(&realm).await;
        match (&round, failing) {
            (Err(error), false) => {
                tracing::warn!(%error, "the outbox of logouts cannot be read; it will be tried again");
            }
            (Ok(_), true) => tracing::info!("the outbox of logouts is being read again"),
            (Err(_), true) | (Ok(_), false) => {}
        }
        failing = round.is_err();
        if !matches!(round, Ok(true)) {
            tokio::time::sleep(EVERY).await;
        }
    }
}

/// What a node is about to send.
pub struct Sender {
    held: Arc<Semaphore>,
    at_once: Arc<Semaphore>,
    clients: HashMap<String, Arc<Semaphore>>,
}

impl Default for Sender {
    fn default() -> Sender {
        Sender {
            held: Arc::new(Semaphore::new(MAX_HELD)),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            clients: HashMap::new(),
        }
    }
}

impl Sender {
    /// Claims what is due and begins to send it. Whether there is more that is due.
    ///
    /// # Errors
    /// The store's.
    pub async fn round(&mut self, realm: &Arc<Realm>) -> Result<bool, StoreError> {
        let room = self.held.available_permits().min(ROUND);
        if room == 0 {
            return Ok(false);
        }
        let (claimed, full) = logout_notice::claim(&realm.store, room, realm.now()).await?;
        // Of clients that nothing waits for nothing is remembered.
        self.clients.retain(|_, turns| Arc::strong_count(turns) > 1);
        for claimed in claimed {
            let Ok(held) = Arc::clone(&self.held).try_acquire_owned() else {
                // Its claim ends, and it is due again.
                continue;
            };
            let turns = self.clients.entry(claimed.notice.client_id.clone());
            let turns = turns.or_insert_with(|| Arc::new(Semaphore::new(PER_CLIENT)));
            let (turns, at_once) = (Arc::clone(turns), Arc::clone(&self.at_once));
            let realm = Arc::clone(realm);
            tokio::spawn(async move {
                let done = one(&realm, claimed, &turns, &at_once).await;
                if let Err(error) = done {
                    tracing::warn!(%error, "what became of a logout could not be written; it is sent again");
                }
                drop(held);
            });
        }
        Ok(full)
    }

    /// Waits until nothing is being sent.
    pub async fn settle(&self) {
        // The semaphore is never closed.
        let all = u32::try_from(MAX_HELD).unwrap_or(u32::MAX);
        drop(self.held.acquire_many(all).await);
    }
}

async fn one(
    realm: &Realm,
    claimed: Claimed,
    turns: &Semaphore,
    at_once: &Semaphore,
) -> Result<(), StoreError> {
    let (store, now) = (&*realm.store, realm.now());
    if claimed.notice.state == NoticeState::Watching {
        let Notice { user_id, sid, .. } = &claimed.notice;
        if !session::goes_on(store, user_id, sid, now).await? {
            return claimed.watched_end(store, now).await;
        }
        let idle = realm.snapshot().settings.session_idle_lifetime;
        return claimed
            .watch_on(store, now.saturating_add(idle.max(1)), now)
            .await;
    }
    let by_page_alone = {
        let snapshot = realm.snapshot();
        let client = snapshot.registry.clients.get(&claimed.notice.client_id);
        client.is_some_and(|client| {
            client.backchannel_logout_uri.is_none() && client.frontchannel_logout_uri.is_some()
        })
    };
    if by_page_alone {
        return claimed.drop_it(store, now).await;
    }
    // Neither semaphore is ever closed.
    let (_turn, _begun) = (turns.acquire().await, at_once.acquire().await);
    if realm.now().saturating_add(TAKES) > claimed.until {
        // It has waited for too long, and may be another node's in a moment.
        return Ok(());
    }
    let (outcome, hopeless) = match request(realm, &claimed.notice) {
        Err(why) => (Err(why.to_owned()), true),
        Ok((url, body)) => {
            let answer = realm.host.outbound.post(&url, body).await;
            // Section 2.8: 200; some answer 204, which says no less.
            let answer = match answer {
                Ok(_) | Err(FetchError::Status(204)) => Ok(()),
                Err(error) => Err(error.to_string()),
            };
            (answer, false)
        }
    };
    if let Err(why) = &outcome {
        let client_id = &claimed.notice.client_id;
        tracing::info!(client_id, why, "a client could not be told of a logout");
    }
    claimed.sent(store, outcome, hopeless, realm.now()).await?;
    Ok(())
}

/// Where a notice goes, and the form that says it. Err: there is nobody to tell, or no key.
fn request(realm: &Realm, notice: &Notice) -> Result<(String, Vec<u8>), &'static str> {
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
        w.member("jti").string(&notice.id);
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
