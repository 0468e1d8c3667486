//! Tells clients of sessions that ended: OpenID Connect Back-Channel Logout 1.0.
//!
//! What is to be told stands in the store ([`signet_directory::logout_notice`]), so that no node's
//! death loses it; here it is claimed, signed and sent. Clients are told beside each other, and
//! what waits for one that does not answer costs the others nothing: each has [`PER_CLIENT`]
//! requests open at most of all clients' [`AT_ONCE`], and [`MAX_HELD_PER_CLIENT`] notices of a
//! node's [`MAX_HELD`]. What is beyond stays in the outbox and is passed over. A client that cannot
//! be reached is let alone for a while ([`pause`]), and what is due of it is put off until then.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use signet_encoding::json::Writer;
use signet_jose::jwt::Typ;
use signet_store::StoreError;
use tokio::sync::{Notify, Semaphore};

use crate::deletion::TELL_AGAIN;
use crate::outbound::FetchError;
use crate::state::Realm;
use signet_directory::logout_notice::{self, Choice, Claimed, Notice, NoticeState};
use signet_directory::session;

/// Between two looks into the outbox.
pub const EVERY: Duration = Duration::from_secs(1);
/// Notices that are looked at, and claimed, at once.
const ROUND: usize = 256;
/// Looks that bring nothing after which there is a pause: the rows of clients that have their share
/// are passed over, but not for ever.
const FRUITLESS: u32 = 32;
/// Notices that one node holds at most: claimed, and waiting for their turn.
pub const MAX_HELD: usize = 8_192;
/// Of these, notices of one client.
pub const MAX_HELD_PER_CLIENT: usize = 128;
/// Requests to one client at once.
const PER_CLIENT: usize = 4;
/// Requests to all clients at once: fewer than connections may be opened on clients' word, so that
/// their keys can still be fetched.
const AT_ONCE: usize = 48;
/// Left of a claim when a request begins, seconds: what it may take, and some more.
const TAKES: u64 = 10;
/// For how long a logout token is good, seconds (section 2.4 recommends two minutes at most).
const LIFETIME: u64 = 120;
/// After this time what is put off is given up, seconds: whoever was to be told has long since
/// asked for a token, and was refused.
const GIVEN_UP_AFTER: u64 = 3_600;
/// For so long after its last silence it is remembered how often a client was silent, seconds.
const REMEMBERED: u64 = 600;
/// What the token says has happened (section 2.4).
const EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";
/// Why a notice is put off.
const SILENT: &str = "put off: the client cannot be reached";

/// For how long a client is let alone that could not be reached so often in a row, seconds.
fn pause(silences: u32) -> u64 {
    match silences {
        0 => 0,
        more => 60.min(5 << (more - 1).min(4)),
    }
}

/// Sends, as long as the process lives. To be spawned once per realm; it ends with its runtime.
pub async fn deliver(realm: Arc<Realm>) {
    let mut sender = Sender::default();
    let mut failing = false;
    loop {
        let round = sender.round(&realm).await;
        match (&round, failing) {
            (Err(error), false) => {
                tracing::warn!(%error, "failed to read the outbox; retrying");
            }
            (Ok(_), true) => tracing::info!("resumed reading the outbox"),
            (Err(_), true) | (Ok(_), false) => {}
        }
        failing = round.is_err();
        match round {
            Ok(true) => {}
            // A client has room again, and more may wait for it.
            Ok(false) => _ = tokio::time::timeout(EVERY, sender.freed.notified()).await,
            Err(_) => tokio::time::sleep(EVERY).await,
        }
    }
}

/// What a node does for one client.
struct Recipient {
    turns: Semaphore,
    /// Notices that are claimed.
    held: AtomicUsize,
    /// How often in a row it could not be reached.
    silences: AtomicU32,
    /// Until when it is let alone, Unix seconds.
    alone_until: AtomicU64,
}

impl Default for Recipient {
    fn default() -> Recipient {
        Recipient {
            turns: Semaphore::new(PER_CLIENT),
            held: AtomicUsize::new(0),
            silences: AtomicU32::new(0),
            alone_until: AtomicU64::new(0),
        }
    }
}

impl Recipient {
    /// Until when it is let alone, where it is.
    fn alone(&self, now: u64) -> Option<u64> {
        Some(self.alone_until.load(Relaxed)).filter(|&until| now < until)
    }

    /// Whether it could be reached.
    fn heard(&self, reached: bool, now: u64) {
        if reached {
            self.silences.store(0, Relaxed);
            self.alone_until.store(0, Relaxed);
        } else if self.alone(now).is_none() {
            // Of several requests that were open at once, one counts.
            let silences = self.silences.fetch_add(1, Relaxed).saturating_add(1);
            let until = now.saturating_add(pause(silences));
            self.alone_until.store(until, Relaxed);
        }
    }

    fn choose(&self, notice: &Notice, taken: &mut usize, now: u64) -> Choice {
        if let Some(until) = self.alone(now) {
            return match now.saturating_sub(notice.made_at) < GIVEN_UP_AFTER {
                true => Choice::PutOff(until, SILENT),
                false => Choice::GiveUp("the client could not be reached for an hour"),
            };
        }
        if self.held.load(Relaxed) + *taken >= MAX_HELD_PER_CLIENT {
            return Choice::Leave;
        }
        *taken += 1;
        Choice::Claim
    }
}

/// What a node is about to send.
pub struct Sender {
    held: Arc<Semaphore>,
    at_once: Arc<Semaphore>,
    clients: HashMap<String, Arc<Recipient>>,
    /// After which row of the outbox the next look begins.
    after: Vec<u8>,
    fruitless: u32,
    /// Told when a client that had its share has room again.
    freed: Arc<Notify>,
}

impl Default for Sender {
    fn default() -> Sender {
        Sender {
            held: Arc::new(Semaphore::new(MAX_HELD)),
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            clients: HashMap::new(),
            after: Vec::new(),
            fruitless: 0,
            freed: Arc::default(),
        }
    }
}

impl Sender {
    /// Claims some of what is due and begins to send it. Whether to look again at once.
    ///
    /// # Errors
    /// The store's.
    pub async fn round(&mut self, realm: &Arc<Realm>) -> Result<bool, StoreError> {
        let room = self.held.available_permits().min(ROUND);
        if room == 0 {
            return Ok(false);
        }
        let now = realm.now();
        // Of clients that nothing waits for nothing is remembered, but that they were silent.
        self.clients.retain(|_, client| {
            let until = client.alone_until.load(Relaxed);
            Arc::strong_count(client) > 1 || now < until.saturating_add(REMEMBERED)
        });
        let (clients, mut taken) = (&mut self.clients, HashMap::<String, usize>::new());
        let choose = |notice: &Notice| match notice.state {
            // No request is made of it.
            NoticeState::Watching => Choice::Claim,
            NoticeState::Waiting | NoticeState::Delivered | NoticeState::Failed => {
                let client = clients.entry(notice.client_id.clone()).or_default();
                let taken = taken.entry(notice.client_id.clone()).or_default();
                client.choose(notice, taken, now)
            }
        };
        let look = logout_notice::look(&realm.store, &self.after, room, now, choose).await?;
        let idle = look.claimed.is_empty() && look.moved == 0;
        for claimed in look.claimed {
            let Ok(held) = Arc::clone(&self.held).try_acquire_owned() else {
                // Its claim ends, and it is due again.
                continue;
            };
            let client = self.clients.entry(claimed.notice.client_id.clone());
            let client = Arc::clone(client.or_default());
            client.held.fetch_add(1, Relaxed);
            let (realm, freed) = (Arc::clone(realm), Arc::clone(&self.freed));
            let at_once = Arc::clone(&self.at_once);
            tokio::spawn(async move {
                let done = one(&realm, claimed, &client, &at_once).await;
                if let Err(error) = done {
                    tracing::warn!(%error, "failed to record a logout delivery; resending");
                }
                if client.held.fetch_sub(1, Relaxed) == MAX_HELD_PER_CLIENT / 2 {
                    freed.notify_one();
                }
                drop(held);
            });
        }
        self.fruitless = match idle {
            true => self.fruitless + 1,
            false => 0,
        };
        let more = look.next.is_some() && self.fruitless < FRUITLESS;
        self.after = look.next.unwrap_or_default();
        if !more {
            self.fruitless = 0;
        }
        Ok(more)
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
    client: &Recipient,
    at_once: &Semaphore,
) -> Result<(), StoreError> {
    let (store, now) = (&*realm.store, realm.now());
    if claimed.is_of_account() {
        return account(realm, claimed).await;
    }
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
    let (_turn, _begun) = (client.turns.acquire().await, at_once.acquire().await);
    let now = realm.now();
    if let Some(until) = client.alone(now) {
        return claimed.put_off(store, until, SILENT, now).await;
    }
    if now.saturating_add(TAKES) > claimed.until {
        // It has waited for too long, and may be another node's in a moment.
        return Ok(());
    }
    let (outcome, hopeless) = match request(realm, &claimed.notice) {
        Err(why) => (Err(why.to_owned()), true),
        Ok((url, body)) => {
            let answer = realm.host.outbound.post(&url, body).await;
            let silent = matches!(
                answer,
                Err(FetchError::TimedOut | FetchError::Connect(_) | FetchError::Address)
            );
            client.heard(!silent, realm.now());
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
        tracing::info!(client_id, why, "failed to deliver a logout notice");
    }
    claimed.sent(store, outcome, hopeless, realm.now()).await?;
    Ok(())
}

/// An account that was to expire or to be erased about now: once it has expired, everything of it
/// ends, as of a disabled one.
async fn account(realm: &Realm, claimed: Claimed) -> Result<(), StoreError> {
    let (store, now) = (&*realm.store, realm.now());
    let user_id = &claimed.notice.user_id;
    let found = realm.people.users.found(user_id, now).await?;
    let Some(user) = found.map(|found| found.user) else {
        return claimed.drop_it(store, now).await;
    };
    if user
        .deletion
        .is_some_and(|deletion| deletion.erase_at <= now)
    {
        realm.erase(&user).await?;
        return claimed.drop_it(store, now).await;
    }
    // Whoever asked for the deletion did not get as far as the mail.
    if user.deletion.is_some() {
        let told = realm.tell_of_deletion(&user).await;
        if !told.map_err(StoreError::from)? {
            let again = now.saturating_add(TELL_AGAIN);
            return claimed.watch_on(store, again, now).await;
        }
    }
    // A deletion that is still to come has a watch of its own.
    match user.expires_at {
        Some(end) if end <= now => {
            realm.revoke_everything_of(user_id).await?;
            claimed.drop_it(store, now).await
        }
        Some(end) => claimed.watch_on(store, end, now).await,
        None => claimed.drop_it(store, now).await,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(made_at: u64) -> Notice {
        Notice {
            client_id: "a".into(),
            user_id: "alice".into(),
            sid: "s".into(),
            id: "id".into(),
            state: NoticeState::Waiting,
            made_at,
            attempts: 0,
            last: None,
            last_at: None,
        }
    }

    #[test]
    fn one_client_has_but_its_share_of_what_a_node_holds() {
        let (client, mut taken) = (Recipient::default(), 0);
        let choices = (0..2 * MAX_HELD_PER_CLIENT)
            .filter(|_| client.choose(&notice(1), &mut taken, 2) == Choice::Claim);
        assert_eq!(choices.count(), MAX_HELD_PER_CLIENT);
        client.held.store(MAX_HELD_PER_CLIENT, Relaxed);
        assert_eq!(client.choose(&notice(1), &mut 0, 2), Choice::Leave);
    }

    #[test]
    fn who_cannot_be_reached_is_let_alone_for_longer_each_time() {
        let client = Recipient::default();
        let mut now = 10_000;
        for expected in [5, 10, 20, 40, 60, 60, 60] {
            client.heard(false, now);
            // Four requests were open: one silence.
            client.heard(false, now);
            assert_eq!(client.alone(now), Some(now + expected));
            assert_eq!(
                client.choose(&notice(now), &mut 0, now),
                Choice::PutOff(now + expected, SILENT)
            );
            now += expected;
            assert_eq!(client.alone(now), None);
        }
        client.heard(false, now);
        let long_ago = now - GIVEN_UP_AFTER;
        let given_up = client.choose(&notice(long_ago), &mut 0, now);
        assert!(matches!(given_up, Choice::GiveUp(_)), "{given_up:?}");
        client.heard(true, now);
        assert_eq!(client.alone(now), None);
        assert_eq!(pause(u32::MAX), 60);
    }
}
