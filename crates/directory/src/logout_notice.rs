//! What clients receive when a session ends: who took part in it, and what is still to be sent.
//!
//! [`Table::SessionClient`] has a row for each client that got an ID token in a session. The act
//! that ends the session takes the rows away, one atomic change each, which puts a notice in the
//! outbox in the same moment: of several who end it at once, one makes the notice. The outbox is
//! one partition of [`Table::LogoutNotice`], in the order in which notices are due. A node claims a
//! notice by taking its row away and putting it back some time later in the same change: of several
//! nodes one sends it, and when that one dies another does, a little later.
//!
//! Nobody acts when a session expires. So a client that wants a notice has a watch in the outbox
//! from the beginning: it comes due again and again, and is a notice once the session is gone.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use signet_encoding::base64url;
use signet_store::{Change, Key, Op, Store, StoreError, Table};
use tokio::task::JoinSet;

/// What is waiting, in the order in which it is due.
const WAITING: &[u8] = b"waiting";
/// What was sent, or given up, newest last.
const DONE: &[u8] = b"done";
/// Rows that are read at once.
const PAGE: usize = 256;
/// For how long a claimed notice is another node's to leave alone, seconds.
pub const LEASE: u64 = 60;
/// For how long the outcome of a notice is shown, seconds.
const SHOWN_FOR: u64 = 7 * 86_400;
/// Beyond this no notice waits, seconds: attempts have a bound, and a watch follows its session.
const WAITS_AT_MOST: u64 = 400 * 86_400;
/// Attempts to send one notice.
pub const MAX_SENT: u32 = 8;

/// Where a notice stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeState {
    /// The session continues; looked at again when it is due.
    Watching,
    /// To be sent.
    Waiting,
    /// The client has answered that it knows.
    Delivered,
    /// Every attempt failed, or there is nobody to tell.
    Failed,
}

/// A session's end, to be sent to one client. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The client that receives it.
    pub client_id: String,
    /// Whose session it was.
    pub user_id: String,
    /// Which session.
    pub sid: String,
    /// The `jti` of its logout tokens: the same for every attempt, so that a client can tell.
    pub id: String,
    /// Where it stands.
    pub state: NoticeState,
    /// When the session ended; of a watch, when it began.
    pub made_at: u64,
    /// How often it was sent.
    pub attempts: u32,
    /// The result of the last attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<String>,
    /// When it was last sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at: Option<u64>,
}

/// A notice that this node has claimed.
#[derive(Clone, Debug)]
pub struct Claimed {
    /// What is to be sent.
    pub notice: Notice,
    key: Key,
    /// Until when it is this node's, Unix seconds.
    pub until: u64,
}

fn seen_key(sid: &str, client_id: &str) -> Key {
    Key::with_sort(Table::SessionClient, sid.as_bytes(), client_id.as_bytes())
}

fn outbox_key(partition: &[u8], at: u64, notice: &Notice) -> Key {
    let mut sort = at.to_be_bytes().to_vec();
    sort.extend_from_slice(notice.id.as_bytes());
    Key::with_sort(Table::LogoutNotice, partition, sort)
}

fn encode(notice: &Notice) -> Vec<u8> {
    // Invariant: strings and numbers always serialize.
    serde_json::to_vec(notice).expect("a notice serializes")
}

fn decode(bytes: &[u8]) -> Result<Notice, StoreError> {
    serde_json::from_slice(bytes).map_err(|_| StoreError::Corrupt("logout notice".into()))
}

fn put(partition: &[u8], at: u64, notice: &Notice, end: u64) -> Op {
    Op::Put {
        key: outbox_key(partition, at, notice),
        value: encode(notice),
        end: Some(end),
    }
}

/// The writes that note that a client takes part in a session, and watch over the session's end;
/// none where it is known. `look_at`: when to look for the first time, Unix seconds.
///
/// # Errors
/// The store's.
pub async fn seen(
    store: &dyn Store,
    (sid, user_id, client_id): (&str, &str, &str),
    look_at: u64,
    now: u64,
) -> Result<Vec<Op>, StoreError> {
    let key = seen_key(sid, client_id);
    if store.get(&key, now).await?.is_some() {
        return Ok(Vec::new());
    }
    let watch = Notice {
        client_id: client_id.to_owned(),
        user_id: user_id.to_owned(),
        sid: sid.to_owned(),
        id: base64url::encode(&signet_crypto::random::bytes::<16>()),
        state: NoticeState::Watching,
        made_at: now,
        attempts: 0,
        last: None,
        last_at: None,
    };
    let end = now.saturating_add(WAITS_AT_MOST);
    let known = Op::Put {
        key,
        value: user_id.as_bytes().to_vec(),
        end: Some(end),
    };
    Ok(vec![known, put(WAITING, look_at, &watch, end)])
}

/// The write that has an account looked at when it expires, `at` that time: nobody acts then. It is
/// a watch without a session.
pub fn watch_account(user_id: &str, at: u64, now: u64) -> Op {
    let watch = Notice {
        client_id: String::new(),
        user_id: user_id.to_owned(),
        sid: String::new(),
        id: base64url::encode(&signet_crypto::random::bytes::<16>()),
        state: NoticeState::Watching,
        made_at: now,
        attempts: 0,
        last: None,
        last_at: None,
    };
    put(WAITING, at, &watch, at.saturating_add(WAITS_AT_MOST))
}

/// The clients that took part in a session which has not ended, at most `limit`.
///
/// # Errors
/// The store's.
pub async fn clients(
    store: &dyn Store,
    sid: &str,
    limit: usize,
    now: u64,
) -> Result<Vec<String>, StoreError> {
    let rows = store
        .partition(Table::SessionClient, sid.as_bytes(), b"", limit, now)
        .await?;
    let ids = rows.into_iter();
    Ok(ids
        .map(|(key, _)| String::from_utf8_lossy(&key.sort).into_owned())
        .collect())
}

/// Puts a notice for each client of a terminated session into the outbox. It may be called
/// again: what was put there once is not put there twice. How many there are.
///
/// # Errors
/// The store's; then some may be missing, until the watches find them.
pub async fn ended(store: &dyn Store, sid: &str, now: u64) -> Result<usize, StoreError> {
    let (mut after, mut told) = (Vec::new(), 0);
    loop {
        let rows = store
            .partition(Table::SessionClient, sid.as_bytes(), &after, PAGE, now)
            .await?;
        let Some((last, _)) = rows.last() else {
            return Ok(told);
        };
        after = last.sort.clone();
        for (key, row) in rows {
            let notice = Notice {
                client_id: String::from_utf8_lossy(&key.sort).into_owned(),
                user_id: String::from_utf8_lossy(&row.value).into_owned(),
                sid: sid.to_owned(),
                id: base64url::encode(&signet_crypto::random::bytes::<16>()),
                state: NoticeState::Waiting,
                made_at: now,
                attempts: 0,
                last: None,
                last_at: None,
            };
            let take = Op::Remove {
                key,
                version: row.version,
            };
            let end = now.saturating_add(WAITS_AT_MOST);
            let change = Change::new(take).then(put(WAITING, now, &notice, end));
            told += usize::from(store.commit(change, now).await?.is_done());
        }
    }
}

/// What is done with a notice that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It is claimed, for [`LEASE`].
    Claim,
    /// It stays as it is.
    Leave,
    /// It is due again at that time, Unix seconds; why, as it is shown.
    PutOff(u64, &'static str),
    /// It is given up; why, as it is shown.
    GiveUp(&'static str),
}

/// What a look into the outbox brought.
#[derive(Debug, Default)]
pub struct Look {
    /// What is this node's now.
    pub claimed: Vec<Claimed>,
    /// How many were put off or given up.
    pub moved: usize,
    /// After which row more may be due; none: there is no more.
    pub next: Option<Vec<u8>>,
}

/// Looks at what is due, after this row, `limit` rows at most, and does with each what `choose`
/// says.
///
/// # Errors
/// The store's.
pub async fn look(
    store: &Arc<dyn Store>,
    after: &[u8],
    limit: usize,
    now: u64,
    mut choose: impl FnMut(&Notice) -> Choice,
) -> Result<Look, StoreError> {
    let rows = store
        .partition(Table::LogoutNotice, WAITING, after, limit, now)
        .await?;
    let is_due = |key: &Key| {
        let due = key.sort.first_chunk::<8>();
        due.is_none_or(|due| u64::from_be_bytes(*due) <= now)
    };
    let last = rows.last().filter(|_| rows.len() == limit);
    let next = last
        .filter(|(key, _)| is_due(key))
        .map(|(key, _)| key.sort.clone());
    let end = now.saturating_add(WAITS_AT_MOST);
    let mut changes = Vec::new();
    for (key, row) in rows {
        if !is_due(&key) {
            break;
        }
        let mut notice = decode(&row.value)?;
        let (then, claimed) = match choose(&notice) {
            Choice::Leave => continue,
            Choice::Claim => {
                let until = now.saturating_add(LEASE);
                let key = outbox_key(WAITING, until, &notice);
                let again = put(WAITING, until, &notice, end);
                (again, Some(Claimed { notice, key, until }))
            }
            Choice::PutOff(until, why) => {
                notice.last = Some(why.to_owned());
                (put(WAITING, until, &notice, end), None)
            }
            Choice::GiveUp(why) => {
                notice.last = Some(why.to_owned());
                notice.state = NoticeState::Failed;
                let shown = now.saturating_add(SHOWN_FOR);
                (put(DONE, now, &notice, shown), None)
            }
        };
        let take = Op::Remove {
            key,
            version: row.version,
        };
        changes.push((Change::new(take).then(then), claimed));
    }
    settle(store, changes, next, now).await
}

/// Writes all changes at once, so that they share a flush. Another node may have been first with
/// some.
async fn settle(
    store: &Arc<dyn Store>,
    changes: Vec<(Change, Option<Claimed>)>,
    next: Option<Vec<u8>>,
    now: u64,
) -> Result<Look, StoreError> {
    let mut writes = JoinSet::new();
    for (change, claimed) in changes {
        let store = Arc::clone(store);
        writes.spawn(async move { (store.commit(change, now).await, claimed) });
    }
    let mut look = Look {
        next,
        ..Look::default()
    };
    while let Some(written) = writes.join_next().await {
        // A task that panicked claimed nothing that anybody here knows of: its lease ends.
        let Ok((outcome, claimed)) = written else {
            continue;
        };
        if outcome?.is_done() {
            look.moved += usize::from(claimed.is_none());
            look.claimed.extend(claimed);
        }
    }
    Ok(look)
}

impl Claimed {
    async fn replace(
        self,
        store: &dyn Store,
        then: Option<Op>,
        now: u64,
    ) -> Result<(), StoreError> {
        let gone = Change {
            first: Op::Delete { key: self.key },
            then: then.into_iter().collect(),
        };
        store.commit(gone, now).await.map(drop)
    }

    /// Nothing is to be sent: its client learns of the end by a page alone.
    ///
    /// # Errors
    /// The store's.
    pub async fn drop_it(self, store: &dyn Store, now: u64) -> Result<(), StoreError> {
        self.replace(store, None, now).await
    }

    /// Not sent now, and due again at `until`; why, as it is shown. It counts as no attempt.
    ///
    /// # Errors
    /// The store's; then it is due again when the claim is over.
    pub async fn put_off(
        self,
        store: &dyn Store,
        until: u64,
        why: &str,
        now: u64,
    ) -> Result<(), StoreError> {
        let mut notice = self.notice.clone();
        notice.last = Some(why.to_owned());
        let again = put(WAITING, until, &notice, now.saturating_add(WAITS_AT_MOST));
        self.replace(store, Some(again), now).await
    }

    /// Whether it watches an account, and no session.
    pub fn is_of_account(&self) -> bool {
        self.notice.state == NoticeState::Watching && self.notice.sid.is_empty()
    }

    /// A watch: looked at again at `look_at`, for its session continues.
    ///
    /// # Errors
    /// The store's.
    pub async fn watch_on(
        self,
        store: &dyn Store,
        look_at: u64,
        now: u64,
    ) -> Result<(), StoreError> {
        let end = now.max(look_at).saturating_add(WAITS_AT_MOST);
        let again = put(WAITING, look_at, &self.notice, end);
        self.replace(store, Some(again), now).await
    }

    /// A watch whose session is gone: each remaining client gets its notice.
    ///
    /// # Errors
    /// The store's.
    pub async fn watched_end(self, store: &dyn Store, now: u64) -> Result<(), StoreError> {
        // First the notices: a watch that comes due twice does no harm.
        ended(store, &self.notice.sid, now).await?;
        self.replace(store, None, now).await
    }

    /// The result of sending it: Ok, or why not. It is sent again later, up to [`MAX_SENT`] times;
    /// not where `hopeless`.
    ///
    /// # Errors
    /// The store's; then it is sent again when the claim is over.
    pub async fn sent(
        self,
        store: &dyn Store,
        outcome: Result<(), String>,
        hopeless: bool,
        now: u64,
    ) -> Result<NoticeState, StoreError> {
        let mut notice = self.notice.clone();
        notice.attempts += 1;
        notice.last_at = Some(now);
        notice.state = match &outcome {
            Ok(()) => NoticeState::Delivered,
            Err(_) if hopeless || notice.attempts >= MAX_SENT => NoticeState::Failed,
            Err(_) => NoticeState::Waiting,
        };
        notice.last = Some(outcome.err().unwrap_or_else(|| "delivered".to_owned()));
        let state = notice.state;
        let next = match state {
            NoticeState::Waiting | NoticeState::Watching => {
                // 5, 10, 20 ... 320 seconds, and so ten minutes in all.
                let pause = 5u64 << (notice.attempts - 1).min(6);
                let end = now.saturating_add(WAITS_AT_MOST);
                put(WAITING, now.saturating_add(pause), &notice, end)
            }
            NoticeState::Delivered | NoticeState::Failed => {
                put(DONE, now, &notice, now.saturating_add(SHOWN_FOR))
            }
        };
        self.replace(store, Some(next), now).await?;
        Ok(state)
    }
}

/// A page of the outbox, what waits before what is done, after this row, without watches. For the
/// admin API only. Also says where the next page begins; none: this was the last.
///
/// # Errors
/// The store's.
pub async fn page(
    store: &dyn Store,
    after: Option<&str>,
    limit: usize,
    now: u64,
) -> Result<(Vec<Notice>, Option<String>), StoreError> {
    let mut after = after.and_then(|after| {
        let (partition, sort) = after.split_once('.')?;
        let sort = base64url::decode(sort.as_bytes()).ok()?;
        Some(Key::with_sort(
            Table::LogoutNotice,
            partition.as_bytes(),
            sort,
        ))
    });
    let mut found = Vec::new();
    loop {
        let rows = store
            .page(Table::LogoutNotice, after.as_ref(), PAGE, now)
            .await?;
        let last = rows.len() < PAGE;
        for (key, row) in rows {
            let notice = decode(&row.value)?;
            if notice.state != NoticeState::Watching {
                found.push(notice);
            }
            if found.len() == limit {
                let partition = String::from_utf8_lossy(&key.partition).into_owned();
                let next = format!("{partition}.{}", base64url::encode(&key.sort));
                return Ok((found, Some(next)));
            }
            after = Some(key);
        }
        if last {
            return Ok((found, None));
        }
    }
}

#[cfg(test)]
mod tests;
