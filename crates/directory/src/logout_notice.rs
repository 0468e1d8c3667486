//! What clients receive when a session ends: who took part in it, and what is still to be sent.
//!
//! [`Table::SessionClient`] has a row for each client that got an ID token in a session. The act
//! that ends the session takes the rows away, one atomic change each, which puts a notice in the
//! outbox ([`NOTICES`]) in the same moment: of several who end it at once, one makes the notice.
//!
//! Nobody acts when a session expires. So a client that wants a notice has a watch in the outbox
//! from the beginning ([`SESSION_WATCHES`]): it comes due again and again, and once the session is
//! gone its clients get their notices. An account that is to expire or to be erased has a watch,
//! too ([`ACCOUNT_WATCHES`]).

use serde::{Deserialize, Serialize};
use signet_outbox::{Item, Queue};
use signet_store::{Change, Key, Op, Store, StoreError, Table};

/// Rows that are read at once.
const PAGE: usize = 256;
/// For how long it is known at most that a client takes part in a session, seconds.
const KNOWN_FOR: u64 = 400 * 86_400;
/// For how long the outcome of a notice is shown, seconds.
const SHOWN_FOR: u64 = 7 * 86_400;

/// Notices to clients.
pub static NOTICES: Queue<Notice> = Queue::shown("waiting", "done", SHOWN_FOR);
/// Watches over sessions, one for each client.
pub static SESSION_WATCHES: Queue<Notice> = Queue::new("sessions");
/// Watches over accounts. They have neither a session nor a client.
pub static ACCOUNT_WATCHES: Queue<Notice> = Queue::new("accounts");

/// A session's end, to be sent to one client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// The client that receives it.
    pub client_id: String,
    /// Whose session it was.
    pub user_id: String,
    /// Which session.
    pub sid: String,
}

fn seen_key(sid: &str, client_id: &str) -> Key {
    Key::with_sort(Table::SessionClient, sid.as_bytes(), client_id.as_bytes())
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
    let watched = Notice {
        client_id: client_id.to_owned(),
        user_id: user_id.to_owned(),
        sid: sid.to_owned(),
    };
    let known = Op::Put {
        key,
        value: user_id.as_bytes().to_vec(),
        end: Some(now.saturating_add(KNOWN_FOR)),
    };
    let watch = SESSION_WATCHES.put(&Item::watch(watched, now), look_at, now);
    Ok(vec![known, watch])
}

/// The write that has an account looked at when it expires, `at` that time: nobody acts then.
pub fn watch_account(user_id: &str, at: u64, now: u64) -> Op {
    let watched = Notice {
        client_id: String::new(),
        user_id: user_id.to_owned(),
        sid: String::new(),
    };
    ACCOUNT_WATCHES.put(&Item::watch(watched, now), at, now)
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
            };
            let take = Op::Remove {
                key,
                version: row.version,
            };
            let notice = NOTICES.put(&Item::new(notice, now), now, now);
            let change = Change::new(take).then(notice);
            told += usize::from(store.commit(change, now).await?.is_done());
        }
    }
}

#[cfg(test)]
mod tests;
