//! Finds accounts that were to expire or to be erased about now: nobody acts then.

use signet_directory::logout_notice::{ACCOUNT_WATCHES, Notice};
use signet_outbox::{Bounds, Item, Kind, Queue, Sent};
use signet_store::{StoreError, StoreFuture};

use super::WATCHES;
use crate::state::Realm;

/// Seconds after which it is tried again to tell a person of the deletion of their account.
const TELL_AGAIN: u64 = 15 * 60;

/// See the module.
pub(super) struct AccountWatch;

impl Kind for AccountWatch {
    type Context = Realm;
    type What = Notice;

    fn name(&self) -> &'static str {
        "account_watch"
    }

    fn queue(&self) -> &'static Queue<Notice> {
        &ACCOUNT_WATCHES
    }

    fn bounds(&self) -> Bounds {
        WATCHES
    }

    fn receiver<'a>(&self, _: &'a Item<Notice>) -> Option<&'a str> {
        None
    }

    fn send<'a>(&'a self, realm: &'a Realm, item: &'a Item<Notice>) -> StoreFuture<'a, Sent> {
        Box::pin(look(realm, &item.what.user_id))
    }

    fn give_up<'a>(
        &'a self,
        _: &'a Realm,
        _: &'a Item<Notice>,
        change: StoreFuture<'a, bool>,
    ) -> StoreFuture<'a, bool> {
        change
    }
}

/// Once the account has expired, everything of it ends, as of a disabled one.
async fn look(realm: &Realm, user_id: &str) -> Result<Sent, StoreError> {
    let now = realm.now();
    let found = realm.people.users.found(user_id, now).await?;
    let Some(user) = found.map(|found| found.user) else {
        return Ok(Sent::Dropped);
    };
    if let Some(deletion) = user.deletion {
        if deletion.erase_at <= now {
            realm.erase(&user).await?;
            return Ok(Sent::Dropped);
        }
        // Whoever asked for the deletion did not get as far as the mail.
        let told = realm.tell_of_deletion(&user).await;
        if !told.map_err(StoreError::from)? {
            return Ok(Sent::Again(now.saturating_add(TELL_AGAIN)));
        }
    }
    // A deletion that is still to come has a watch of its own.
    Ok(match user.expires_at {
        Some(end) if end <= now => {
            realm.revoke_everything_of(user_id).await?;
            Sent::Dropped
        }
        Some(end) => Sent::Again(end),
        None => Sent::Dropped,
    })
}
