//! Finds sessions that have expired: nobody acts then. Their clients are notified.

use signet_directory::{
    logout_notice::{self, Notice, SESSION_WATCHES},
    session,
};
use signet_outbox::{Bounds, Item, Kind, Queue, Sent};
use signet_store::StoreFuture;

use super::WATCHES;
use crate::state::Realm;

/// See the module.
pub(super) struct SessionWatch;

impl Kind for SessionWatch {
    type Context = Realm;
    type What = Notice;

    fn name(&self) -> &'static str {
        "session_watch"
    }

    fn queue(&self) -> &'static Queue<Notice> {
        &SESSION_WATCHES
    }

    fn bounds(&self) -> Bounds {
        WATCHES
    }

    fn receiver<'a>(&self, _: &'a Item<Notice>) -> Option<&'a str> {
        None
    }

    fn send<'a>(&'a self, realm: &'a Realm, item: &'a Item<Notice>) -> StoreFuture<'a, Sent> {
        Box::pin(async move {
            let (store, now) = (&*realm.store, realm.now());
            let Notice { user_id, sid, .. } = &item.what;
            if session::goes_on(store, user_id, sid, now).await? {
                let idle = realm.snapshot().settings.session_idle_lifetime;
                return Ok(Sent::Again(now.saturating_add(idle.max(1))));
            }
            // First the notices: a watch that comes due twice does no harm.
            logout_notice::ended(store, sid, now).await?;
            Ok(Sent::Dropped)
        })
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
