//! What the guesses of one attempt are counted against.

use signet_store::StoreError;

use crate::attempts::{self, Budget, Kind, Refused};
use crate::user::{User, fold};
use crate::visit::Visit;

/// The budgets of one attempt. Known and unknown names have budgets alike.
pub struct Budgets {
    account: Budget,
    /// For what is worth guessing for longer than a window.
    day: Option<Budget>,
    /// None: a known browser of the account counts for itself, also behind an address that others share.
    address: Option<Budget>,
}

impl Budgets {
    /// For an attempt of `kind` at the account that `typed` names.
    pub fn of(visit: &Visit, kind: Kind, user: Option<&User>, typed: &str) -> Budgets {
        let limits = &visit.context.realm.people.limits;
        let device = visit.device();
        let known = match (user, &device) {
            (Some(user), Some(device)) => device.known(user),
            _ => None,
        };
        let folded = fold(typed);
        let account = match user {
            Some(user) => &*user.id,
            None => folded.as_deref().unwrap_or(typed),
        };
        Budgets {
            account: limits.of_account(kind, account, known),
            day: limits.of_account_day(kind, account, known),
            address: known
                .is_none()
                .then(|| limits.of_address(kind, visit.context.peer)),
        }
    }

    /// Counts a guess of the account; the address only has to have something left.
    pub async fn begin(&self, visit: &Visit) -> Result<(), Refused> {
        let (store, now) = (&*visit.context.realm.store, visit.context.now());
        if let Some(address) = &self.address {
            attempts::check(store, address, now).await?;
        }
        // The window first: what it refuses is no guess, and must not use up the day.
        attempts::count(store, &self.account, now).await?;
        match &self.day {
            Some(day) => attempts::count(store, day, now).await,
            None => Ok(()),
        }
    }

    /// The guess was wrong: it also counts for the address.
    pub async fn wrong(&self, visit: &Visit) -> Result<(), StoreError> {
        let (store, now) = (&*visit.context.realm.store, visit.context.now());
        match &self.address {
            Some(address) => match attempts::count(store, address, now).await {
                Err(Refused::Store(error)) => Err(error),
                Ok(()) | Err(Refused::TooMany { .. }) => Ok(()),
            },
            None => Ok(()),
        }
    }

    /// The guess was right, or was not looked at.
    pub async fn right(&self, visit: &Visit) -> Result<(), StoreError> {
        let (store, now) = (&*visit.context.realm.store, visit.context.now());
        if let Some(day) = &self.day {
            attempts::give_back(store, day, now).await?;
        }
        attempts::give_back(store, &self.account, now).await
    }
}
