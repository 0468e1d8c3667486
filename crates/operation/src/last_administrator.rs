//! No act of administration leaves a realm without an owner, unless its caller insists: only a
//! client, or a command without a server, could make one again.
use crate::input::Members;
use crate::problem::Problem;
use signet_directory::User;
use signet_realm::state::Realm;
use signet_store::{Change, Key, Op, Outcome, Table};
use std::time::Duration;

const READ_AT_ONCE: usize = 100;
/// How long an act may take, in seconds; one whose node ended is waited for no longer.
const CLAIMED: u64 = 10;
/// How often, and after how many milliseconds each, another act's end is waited for.
const WAITS: (usize, u64) = (40, 50);

/// Whether the caller knows that there is no owner afterwards.
pub struct Insists(pub bool);

impl Members for Insists {
    const MEMBERS: &'static [(&'static str, &'static str)] =
        &[("last_administrator", "true: also where no owner is left")];

    fn parse<'a>(member: impl Fn(&str) -> Option<&'a str>) -> Result<Insists, Problem> {
        match member("last_administrator") {
            None | Some("false") => Ok(Insists(false)),
            Some("true") => Ok(Insists(true)),
            Some(_) => Err(Problem::invalid("last_administrator is true or false")),
        }
    }
}

/// Does what takes the role of an owner from `user`, if it is not the last one. Such
/// acts come one after another, on all nodes: of two at the same moment the second looks at what
/// the first has left.
pub async fn keeping_one<T>(
    realm: &Realm,
    user: &User,
    Insists(insists): &Insists,
    act: impl Future<Output = Result<T, Problem>>,
) -> Result<T, Problem> {
    if *insists || !is_owner(user, realm.now()) {
        return act.await;
    }
    let version = claim(realm).await?;
    let done = match look(realm, user).await {
        Ok(()) => act.await,
        Err(problem) => Err(problem),
    };
    // By its version: one that expired may be another act's by now.
    let release = Op::Remove {
        key: key(),
        version,
    };
    if let Err(error) = realm.store.commit(Change::new(release), realm.now()).await {
        tracing::warn!(%error, "failed to release the claim on administrators; it expires");
    }
    done
}

fn key() -> Key {
    Key::new(Table::Once, b"last administrator".as_slice())
}

fn is_owner(user: &User, now: u64) -> bool {
    let lives = user.expires_at.is_none_or(|end| end > now);
    user.is_owner() && user.enabled && user.deletion.is_none() && lives
}

/// The version of the row that says that this act is under way.
async fn claim(realm: &Realm) -> Result<u64, Problem> {
    let (tries, millis) = WAITS;
    for _ in 0..tries {
        let now = realm.now();
        let claim = Op::Insert {
            key: key(),
            value: Vec::new(),
            end: Some(now + CLAIMED),
        };
        let claimed = realm.store.commit(Change::new(claim), now).await?;
        if let Outcome::Done { version } = claimed {
            return Ok(version);
        }
        tokio::time::sleep(Duration::from_millis(millis)).await;
    }
    Err(Problem::changed())
}

async fn look(realm: &Realm, user: &User) -> Result<(), Problem> {
    let (users, now) = (&realm.people.users, realm.now());
    let mut after: Option<String> = None;
    loop {
        let read = users.list(after.as_deref(), READ_AT_ONCE, now).await?;
        if read
            .iter()
            .any(|other| other.id != user.id && is_owner(other, now))
        {
            return Ok(());
        }
        if read.len() < READ_AT_ONCE {
            return Err(Problem::conflict(
                "last_administrator",
                "this is the last owner: make another one first, or insist with last_administrator",
            ));
        }
        after = read.last().map(|user| user.id.clone());
    }
}
