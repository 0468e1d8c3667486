//! Login sessions.
//!
//! A session is one row of [`Table::Session`] under a secret id that only the sealed cookie
//! carries. What relying parties see is `sid`, another random value: knowing it gives nothing
//! (known fault A4). [`Table::UserSession`] lists a user's sessions by `sid` and leads back to the
//! row.
//!
//! The secret id changes at every login, also of the same person in the same browser, so that an id
//! that was planted or seen before is worth nothing after; the `sid` then stays, because to relying
//! parties it is one session. A session ends when it is not used for a while, and at the latest
//! some hours after it began, whatever happens.

use crate::unknown::Unknown;
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use signet_encoding::base64url;
use signet_oauth::authorize::acr;
use signet_oauth::settings::Settings;
use signet_store::{Change, Key, Op, Outcome, Store, StoreError, Table};
use std::collections::BTreeMap;

/// Longest piece of a `User-Agent` that is kept, in bytes.
const MAX_AGENT_BYTES: usize = 256;
/// Most sessions of one user that are listed or ended at once.
pub const MAX_LISTED: usize = 256;
/// Ends of sessions that are written at once.
const AT_ONCE: usize = 64;
/// How often a row that other requests write at the same time is tried.
const MAX_TRIES: usize = 4;

signet_revocation::id_of_16_bytes! {
    /// The secret id of a session; it is in the sealed cookie and in the row's key.
    SessionId, secret
}

/// A method that was shown, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// A name of `signet_oauth::authorize::acr::METHODS`.
    pub method: String,
    /// Unix seconds.
    pub at: u64,
}

impl Shown {
    /// This method, at this time (Unix seconds).
    pub fn new(method: impl Into<String>, at: u64) -> Shown {
        Shown {
            method: method.into(),
            at,
        }
    }
}

/// For how long what was shown counts as just shown, in seconds.
pub const RECENT: u64 = 600;

/// Of what was shown, the names of what was shown at `since` (Unix seconds) or later. A remembered
/// browser shows nothing.
pub fn counted(shown: &[Shown], since: u64) -> Vec<&str> {
    let counted = shown.iter().filter(|one| one.at >= since);
    let names = counted.map(|one| &*one.method);
    names
        .filter(|name| *name != acr::REMEMBERED_BROWSER)
        .collect()
}

/// Whether two factors, of which the person set one up, were shown at `since` (Unix seconds) or
/// later.
pub fn has_two_factors(shown: &[Shown], since: u64) -> bool {
    acr::holds(acr::TWO_FACTORS, &counted(shown, since))
}

/// A session's row. Times are Unix seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRow {
    /// Public session id.
    pub sid: String,
    /// Whose it is.
    pub user_id: String,
    /// When the person last showed who they are.
    pub auth_time: u64,
    /// What was done at that time (known fault A6: never what was asked for).
    pub acr: String,
    /// How, in the values of RFC 8176.
    pub amr: Vec<String>,
    /// The same by their names in `signet_oauth::authorize::acr::METHODS`. Empty in a row of a
    /// version that had only `amr`.
    #[serde(default)]
    pub methods: Vec<String>,
    /// When each method was shown. One that is not in it was shown at `auth_time`: rows of earlier
    /// versions have one time for all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shown_at: BTreeMap<String, u64>,
    /// When a factor was added in this session, after everything else that the account has was
    /// shown: it is not asked for at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor_added_at: Option<u64>,
    /// When it began.
    pub created_at: u64,
    /// Unix milliseconds of the last login, to compare with the user's revocation epoch.
    pub login_ms: u64,
    /// When it was last used, to within a minute.
    pub last_seen: u64,
    /// When it ends at the latest.
    pub ends_at: u64,
    /// The browser, as it calls itself.
    pub user_agent: String,
    /// The address of the last login.
    pub address: String,
    /// The session at an identity provider that it was derived from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream: Option<Upstream>,
    /// What a later version wrote.
    #[serde(default, flatten)]
    pub unknown: Unknown,
}

/// A session at an identity provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Upstream {
    /// The provider's name.
    pub provider: String,
    /// Its issuer identifier.
    pub issuer: String,
    /// The person's `sub` there.
    pub subject: String,
    /// The session's `sid` there, where it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
    /// The ID token of the login there, sealed, where a logout here continues there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sealed_id_token: Option<String>,
}

impl SessionRow {
    /// The methods that were used, by their names.
    pub fn methods(&self) -> Vec<&str> {
        match self.methods.is_empty() {
            true => acr::methods_of_amr(&self.amr),
            false => self.methods.iter().map(String::as_str).collect(),
        }
    }

    /// The methods, each with the time when it was shown.
    pub fn shown(&self) -> Vec<Shown> {
        let at = |name: &str| self.shown_at.get(name).copied().unwrap_or(self.auth_time);
        let methods = self.methods().into_iter();
        methods.map(|name| Shown::new(name, at(name))).collect()
    }

    /// What the protocol's rules see of it.
    pub fn facts(&self) -> signet_oauth::issued::session::Session {
        signet_oauth::issued::session::Session {
            sid: self.sid.clone(),
            user_id: self.user_id.clone(),
            auth_time: self.auth_time,
            acr: self.acr.clone(),
            amr: self.amr.clone(),
            methods: self.methods().iter().map(ToString::to_string).collect(),
            ends_at: self.ends_at,
        }
    }
}

/// A session that was found, with what it takes to change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The secret id.
    pub id: SessionId,
    /// The row.
    pub row: SessionRow,
    version: u64,
}

/// A login, as the session records it.
#[derive(Clone, Debug)]
pub struct Login<'a> {
    /// Who.
    pub user_id: &'a str,
    /// What was reached.
    pub acr: &'a str,
    /// How, the latest first.
    pub shown: &'a [Shown],
    /// The browser's `User-Agent`.
    pub user_agent: &'a str,
    /// Where it came from.
    pub address: String,
    /// Unix milliseconds.
    pub now_ms: u64,
    /// The moment that the session bears, Unix milliseconds: compared with the epoch of a
    /// revocation.
    pub issue_ms: u64,
    /// When the person showed who they are, where that was before now: at an identity provider, or
    /// in the session before. Unix seconds.
    pub auth_time: Option<u64>,
    /// The session at an identity provider that it was derived from.
    pub upstream: Option<Upstream>,
}

fn key_of(id: &SessionId) -> Key {
    Key::new(Table::Session, id.as_bytes().as_slice())
}

fn user_key(user_id: &str, sid: &str) -> Key {
    Key::with_sort(Table::UserSession, user_id.as_bytes(), sid.as_bytes())
}

fn encode(row: &SessionRow) -> Vec<u8> {
    // Invariant: strings and numbers always serialize.
    serde_json::to_vec(row).expect("a session row serializes")
}

fn decode(bytes: &[u8]) -> Result<SessionRow, StoreError> {
    serde_json::from_slice(bytes).map_err(|_| StoreError::Corrupt("session row".into()))
}

fn end_of(row: &SessionRow, settings: &Settings) -> u64 {
    row.ends_at
        .min(row.last_seen.saturating_add(settings.session_idle_lifetime))
}

/// Begins a session for a login, or renews `before` under a new secret id. The row of somebody
/// else's session in the same browser goes with it; its `sid` the caller has revoked before.
pub async fn begin(
    store: &dyn Store,
    settings: &Settings,
    before: Option<&Found>,
    login: &Login<'_>,
) -> Result<Found, StoreError> {
    let now = login.now_ms / 1000;
    let same = before.filter(|before| before.row.user_id == login.user_id);
    let methods: Vec<&str> = login.shown.iter().map(|shown| &*shown.method).collect();
    let times = login.shown.iter();
    let row = SessionRow {
        sid: match same {
            Some(before) => before.row.sid.clone(),
            None => base64url::encode(&signet_crypto::random::id::<16>()),
        },
        user_id: login.user_id.to_owned(),
        auth_time: login.auth_time.map_or(now, |time| time.min(now)),
        acr: login.acr.to_owned(),
        amr: acr::amr(&methods).into_iter().map(str::to_owned).collect(),
        shown_at: times
            .map(|one| (one.method.clone(), one.at.min(now)))
            .collect(),
        methods: methods.into_iter().map(str::to_owned).collect(),
        factor_added_at: same.and_then(|before| before.row.factor_added_at),
        created_at: same.map_or(now, |before| before.row.created_at),
        login_ms: login.issue_ms,
        last_seen: now,
        ends_at: now.saturating_add(settings.session_absolute_lifetime),
        user_agent: cut(login.user_agent, MAX_AGENT_BYTES),
        address: login.address.clone(),
        unknown: same
            .map(|before| before.row.unknown.clone())
            .unwrap_or_default(),
        upstream: login
            .upstream
            .clone()
            .or_else(|| same.and_then(|before| before.row.upstream.clone())),
    };
    let mut gone = Vec::new();
    if let Some(before) = before {
        gone.push(Op::Delete {
            key: key_of(&before.id),
        });
        if same.is_none() {
            gone.push(Op::Delete {
                key: user_key(&before.row.user_id, &before.row.sid),
            });
        }
    }
    insert(store, settings, row, gone, now).await
}

/// Begins a session in the place of one whose person has just ended everything of their account:
/// what they have shown still counts, and nothing else is the same. `now_ms`: Unix milliseconds;
/// `issue_ms`: the moment that the session bears.
///
/// # Errors
/// The store's.
pub async fn begin_anew(
    store: &dyn Store,
    settings: &Settings,
    before: &SessionRow,
    now_ms: u64,
    issue_ms: u64,
) -> Result<Found, StoreError> {
    let now = now_ms / 1000;
    let row = SessionRow {
        sid: base64url::encode(&signet_crypto::random::id::<16>()),
        created_at: now,
        login_ms: issue_ms,
        last_seen: now,
        ..before.clone()
    };
    insert(store, settings, row, Vec::new(), now).await
}

/// Writes a session's row under a new secret id, and lists it.
async fn insert(
    store: &dyn Store,
    settings: &Settings,
    row: SessionRow,
    gone: Vec<Op>,
    now: u64,
) -> Result<Found, StoreError> {
    let id = SessionId::new(signet_crypto::random::bytes());
    let end = Some(end_of(&row, settings));
    let mut then = vec![Op::Put {
        key: user_key(&row.user_id, &row.sid),
        value: id.as_bytes().to_vec(),
        end,
    }];
    then.extend(gone);
    let first = Op::Insert {
        key: key_of(&id),
        value: encode(&row),
        end,
    };
    match store.commit(Change { first, then }, now).await? {
        Outcome::Done { version } => Ok(Found { id, row, version }),
        Outcome::Refused(_) => Err(StoreError::Corrupt("session id".into())),
    }
}

/// Whether a session of this person is in force, by its public id: what hangs on it lives no
/// longer. One read by key.
///
/// # Errors
/// The store's.
pub async fn goes_on(
    store: &dyn Store,
    user_id: &str,
    sid: &str,
    now: u64,
) -> Result<bool, StoreError> {
    Ok(store.get(&user_key(user_id, sid), now).await?.is_some())
}

/// The session with this secret id, if it has not ended. Whether its user may still be logged in is
/// the caller's to check.
pub async fn find(
    store: &dyn Store,
    id: &SessionId,
    now: u64,
) -> Result<Option<Found>, StoreError> {
    let Some(stored) = store.get(&key_of(id), now).await? else {
        return Ok(None);
    };
    Ok(Some(Found {
        id: *id,
        row: decode(&stored.value)?,
        version: stored.version,
    }))
}

/// Moves the idle end on. Writes at most once a minute or once in a tenth of the idle time,
/// whichever is shorter.
pub async fn touch(
    store: &dyn Store,
    settings: &Settings,
    found: &Found,
    now: u64,
) -> Result<(), StoreError> {
    let step = (settings.session_idle_lifetime / 10).min(60);
    if now < found.row.last_seen.saturating_add(step) {
        return Ok(());
    }
    let mut row = found.row.clone();
    row.last_seen = now;
    // Refused: the session was ended in between, and stays ended.
    rewrite(store, settings, found, &row, now).await.map(drop)
}

/// Notes that a factor was added in this session ([`SessionRow::factor_added_at`]). Where others
/// write the row all the time nothing is noted, and the person is asked for the factor.
///
/// # Errors
/// The store's.
pub async fn note_factor(
    store: &dyn Store,
    settings: &Settings,
    id: &SessionId,
    now: u64,
) -> Result<(), StoreError> {
    for _ in 0..MAX_TRIES {
        let Some(found) = find(store, id, now).await? else {
            return Ok(());
        };
        let mut row = found.row.clone();
        row.factor_added_at = Some(now);
        let written = rewrite(store, settings, &found, &row, now).await?;
        if written.is_done() {
            return Ok(());
        }
    }
    Ok(())
}

/// Puts `row` in the place of what was found, if that is still there.
async fn rewrite(
    store: &dyn Store,
    settings: &Settings,
    found: &Found,
    row: &SessionRow,
    now: u64,
) -> Result<Outcome, StoreError> {
    let end = Some(end_of(row, settings));
    let change = Change {
        first: Op::Replace {
            key: key_of(&found.id),
            version: found.version,
            value: encode(row),
            end,
        },
        then: vec![Op::Put {
            key: user_key(&row.user_id, &row.sid),
            value: found.id.as_bytes().to_vec(),
            end,
        }],
    };
    store.commit(change, now).await
}

/// Ends one session. The caller revokes its `sid`, so that tokens end too.
pub async fn end(
    store: &dyn Store,
    id: &SessionId,
    row: &SessionRow,
    now: u64,
) -> Result<(), StoreError> {
    let change = Change {
        first: Op::Delete { key: key_of(id) },
        then: vec![Op::Delete {
            key: user_key(&row.user_id, &row.sid),
        }],
    };
    store.commit(change, now).await.map(drop)
}

/// A user's sessions, at most [`MAX_LISTED`], latest use first.
pub async fn list(
    store: &dyn Store,
    user_id: &str,
    now: u64,
) -> Result<Vec<(SessionId, SessionRow)>, StoreError> {
    let rows = store
        .partition(Table::UserSession, user_id.as_bytes(), b"", MAX_LISTED, now)
        .await?;
    let mut sessions = Vec::with_capacity(rows.len());
    for (_, row) in rows {
        let Some(id) = SessionId::from_slice(&row.value) else {
            continue;
        };
        if let Some(found) = find(store, &id, now).await? {
            sessions.push((id, found.row));
        }
    }
    sessions.sort_by_key(|(_, row)| std::cmp::Reverse(row.last_seen));
    Ok(sessions)
}

/// A page of everybody's sessions, in the order of users and sessions: after this user and `sid`,
/// at most `limit`. For the admin API only. Also says where the next page begins; none: this was
/// the last.
pub async fn page(
    store: &dyn Store,
    after: Option<(&str, &str)>,
    limit: usize,
    now: u64,
) -> Result<(Vec<SessionRow>, Option<(String, String)>), StoreError> {
    let after = after.map(|(user_id, sid)| {
        Key::with_sort(Table::UserSession, user_id.as_bytes(), sid.as_bytes())
    });
    let rows = store
        .page(Table::UserSession, after.as_ref(), limit, now)
        .await?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let next = rows
        .last()
        .filter(|_| rows.len() == limit)
        .map(|(key, _)| (text(&key.partition), text(&key.sort)));
    let mut sessions = Vec::with_capacity(rows.len());
    for (_, row) in rows {
        let Some(id) = SessionId::from_slice(&row.value) else {
            continue;
        };
        if let Some(found) = find(store, &id, now).await? {
            sessions.push(found.row);
        }
    }
    Ok((sessions, next))
}

/// Ends a user's sessions but the one to keep; the `sid`s that ended. Continues until none is left,
/// however many there were.
pub async fn end_all(
    store: &dyn Store,
    user_id: &str,
    keep: Option<&str>,
    now: u64,
) -> Result<Vec<String>, StoreError> {
    let mut ended = Vec::new();
    let mut after = Vec::new();
    loop {
        let rows = store
            .partition(
                Table::UserSession,
                user_id.as_bytes(),
                &after,
                MAX_LISTED,
                now,
            )
            .await?;
        let Some((last, _)) = rows.last() else {
            return Ok(ended);
        };
        after = last.sort.clone();
        let mut changes = Vec::with_capacity(rows.len());
        for (key, row) in rows {
            let sid = String::from_utf8_lossy(&key.sort).into_owned();
            if keep == Some(&*sid) {
                continue;
            }
            let mut then = Vec::new();
            if let Some(id) = SessionId::from_slice(&row.value) {
                then.push(Op::Delete { key: key_of(&id) });
            }
            let first = Op::Delete { key };
            changes.push(Change { first, then });
            ended.push(sid);
        }
        // Together: they share flushes.
        while !changes.is_empty() {
            let some = changes.split_off(changes.len().saturating_sub(AT_ONCE));
            let commits = some.into_iter().map(|change| store.commit(change, now));
            try_join_all(commits).await?;
        }
    }
}

/// At most `limit` bytes, at a character's border, without control characters.
fn cut(text: &str, limit: usize) -> String {
    let mut out = String::new();
    for c in text.chars().filter(|c| !c.is_control()) {
        if out.len() + c.len_utf8() > limit {
            break;
        }
        out.push(c);
    }
    out
}

/// A browser's name for its owner's eyes: what of `User-Agent` people recognise.
pub fn browser_name(user_agent: &str) -> String {
    const BROWSERS: &[(&str, &str)] = &[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chromium/", "Chromium"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
        ("curl/", "curl"),
    ];
    const SYSTEMS: &[(&str, &str)] = &[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ];
    let find = |table: &[(&str, &'static str)]| {
        table
            .iter()
            .find(|(mark, _)| user_agent.contains(mark))
            .map(|(_, name)| *name)
    };
    match (find(BROWSERS), find(SYSTEMS)) {
        (Some(browser), Some(system)) => format!("{browser} on {system}"),
        (Some(browser), None) => browser.to_owned(),
        _ => "A browser".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_store::MemoryStore;

    fn login(shown: &[Shown], now: u64) -> Login<'_> {
        Login {
            user_id: "u",
            acr: acr::PASSWORD,
            shown,
            user_agent: "",
            address: String::new(),
            now_ms: now * 1000,
            issue_ms: now * 1000,
            auth_time: None,
            upstream: None,
        }
    }

    #[tokio::test]
    async fn each_method_keeps_its_own_time_when_a_session_goes_on() {
        let (store, settings) = (MemoryStore::new(), Settings::new("https://id.example"));
        let password = Shown::new("password", 1000);
        let first = login(std::slice::from_ref(&password), 1000);
        let found = begin(&store, &settings, None, &first).await.unwrap();
        let both = [Shown::new("totp", 1500), password];
        let second = login(&both, 1500);
        let found = begin(&store, &settings, Some(&found), &second)
            .await
            .unwrap();
        assert_eq!(found.row.shown(), both);
        assert_eq!(found.row.methods, ["totp", "password"]);
        assert_eq!(found.row.auth_time, 1500);
        note_factor(&store, &settings, &found.id, 1600)
            .await
            .unwrap();
        let read = find(&store, &found.id, 1600).await.unwrap().unwrap();
        assert_eq!(read.row.factor_added_at, Some(1600));
        assert_eq!(read.row.shown(), both);
    }

    #[test]
    fn methods_in_a_row_of_an_earlier_version_have_the_time_of_its_login() {
        let row = r#"{"sid":"s","user_id":"u","auth_time":1000,"acr":"a","amr":["pwd"],
            "created_at":900,"login_ms":1000000,"last_seen":1000,"ends_at":2000,
            "user_agent":"","address":""}"#;
        let mut row = decode(row.as_bytes()).unwrap();
        assert_eq!(row.shown(), [Shown::new("password", 1000)]);
        row.methods = vec!["totp".to_owned(), "password".to_owned()];
        row.shown_at.insert("password".to_owned(), 400);
        let shown = [Shown::new("totp", 1000), Shown::new("password", 400)];
        assert_eq!(row.shown(), shown);
    }
}
