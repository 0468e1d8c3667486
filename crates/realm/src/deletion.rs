//! The deletion of an account: asked for by its person or an administrator, undone within a time of
//! grace, done at its end.
//!
//! From the moment that it is asked for, the account is as a disabled one: everything of it ends in
//! the same change. A mail has a link by which the person keeps it (`/account/keep`). At the end a
//! watch in the outbox comes due, which one node claims; where that node dies, another does it a
//! little later, and each step can be repeated.

use serde::{Deserialize, Serialize};
use signet_audit::{Action, Event};
use signet_crypto::seal::Purpose;
use signet_directory::{Deletion, DeletionStage, User, UserError};
use signet_store::StoreError;
use signet_texts::Wishes;

use crate::letters::{self, Sending};
use crate::mailed_link;
use crate::state::Realm;
use signet_pages::{Face, Letter};

/// Where an account is kept, below the issuer.
pub const PATH: &str = "/account/keep";

/// Seconds after which a node looks whether the person was notified.
const LOOK: u64 = 60;

const PURPOSE: Purpose = Purpose::Other("keep_account");

/// What a link says.
#[derive(Serialize, Deserialize)]
pub struct Link {
    /// Whose account it is.
    pub user_id: String,
    /// The deletion that it undoes.
    pub deletion: Deletion,
}

impl Link {
    /// Whether the account is still to be deleted as the link says.
    pub fn holds(&self, user: &User) -> bool {
        user.deletion == Some(self.deletion) && user.deletion_stage != DeletionStage::Erasing
    }
}

impl Realm {
    /// Has an account erased after the time of grace, and ends everything of it now. Where it is
    /// asked for already, that goes on.
    ///
    /// # Errors
    /// [`UserError::KeptElsewhere`], [`UserError::NotFound`], and the store's.
    pub async fn ask_deletion(&self, user_id: &str) -> Result<Deletion, UserError> {
        let (users, now) = (&self.people.users, self.now());
        let found = users.found(user_id, now).await?;
        let found = found.ok_or(UserError::NotFound)?;
        if !users.may(&found.user).remove {
            return Err(UserError::KeptElsewhere("the account"));
        }
        let deletion = Deletion {
            asked_at: now,
            erase_at: now + self.snapshot().settings.deletion_grace,
        };
        // Before the record says so: else a crash between the two would leave it for ever, or its
        // person without the link that keeps it.
        self.watch_account(user_id, deletion.erase_at).await?;
        self.watch_account(user_id, now + LOOK).await?;
        let changed = self.change_user_and_end_everything(
            user_id,
            |user| user.deletion.is_none(),
            |draft| {
                draft.user.deletion = Some(deletion);
                draft.user.deletion_stage = DeletionStage::Asked;
            },
        );
        let user = match changed.await? {
            Some(user) => user,
            None => {
                let found = users.found(user_id, now).await?;
                found.ok_or(UserError::NotFound)?.user
            }
        };
        // Asked again: whoever asked before may have been interrupted before the mail.
        self.tell_of_deletion(&user).await?;
        user.deletion.ok_or(UserError::Conflict)
    }

    /// Tells the person that their account is to be erased, and how to keep it, unless somebody
    /// has. Whether that is done: else it is to be tried again.
    ///
    /// # Errors
    /// [`UserError::NotFound`], and the store's.
    pub(crate) async fn tell_of_deletion(&self, user: &User) -> Result<bool, UserError> {
        let Some(deletion) = user.deletion else {
            return Ok(true);
        };
        if user.deletion_stage != DeletionStage::Asked {
            return Ok(true);
        }
        if !self.mail_link(user, deletion).await {
            return Ok(false);
        }
        let (users, now) = (&self.people.users, self.now());
        let told = |user: &mut User| {
            if user.deletion == Some(deletion) && user.deletion_stage == DeletionStage::Asked {
                user.deletion_stage = DeletionStage::Told;
            }
        };
        let change = users.change(&user.id, now, |draft| told(&mut draft.user));
        change.await.map(|_| true)
    }

    /// Keeps an account that was to be erased. Whether it was.
    ///
    /// # Errors
    /// [`UserError::NotFound`], and the store's.
    pub async fn undo_deletion(
        &self,
        user_id: &str,
        holds: impl Fn(&User) -> bool,
    ) -> Result<bool, UserError> {
        let (users, now) = (&self.people.users, self.now());
        let found = users.found(user_id, now).await?;
        let found = found.ok_or(UserError::NotFound)?;
        let is_undone =
            found.user.deletion.is_none() || found.user.deletion_stage == DeletionStage::Erasing;
        if is_undone || !holds(&found.user) {
            return Ok(false);
        }
        let kept = users.change_found(found, now, |draft| {
            draft.user.deletion = None;
            draft.user.deletion_stage = DeletionStage::Asked;
        });
        kept.await?.ok_or(UserError::Conflict).map(|_| true)
    }

    /// Erases an account whose time of grace is over, unless it is kept at this moment: from the
    /// change on that this begins with, nobody keeps it any more.
    ///
    /// # Errors
    /// The store's: then it is tried again.
    pub async fn erase(&self, user: &User) -> Result<(), StoreError> {
        let Some(due) = user.deletion else {
            return Ok(());
        };
        let begun = self.change_user_and_end_everything(
            &user.id,
            |user| user.deletion == Some(due),
            |draft| {
                draft.user.enabled = false;
                draft.user.deletion_stage = DeletionStage::Erasing;
            },
        );
        match begun.await {
            Ok(Some(_)) => {}
            Ok(None) | Err(UserError::NotFound) => return Ok(()),
            Err(error) => return Err(StoreError::from(error)),
        }
        let event = Event::new(Action::ACCOUNT, self.now_ms());
        let event = event.operation("erase").subject(&user.id);
        let removed = async {
            match self.remove_user(&user.id).await {
                Ok(()) | Err(UserError::NotFound) => Ok(()),
                Err(error) => Err(StoreError::from(error)),
            }
        };
        let audit = self.audit();
        audit
            .act(event, removed, |_| "temporarily_unavailable")
            .await?;
        let (t, now_ms) = (self.face_of(user), self.now_ms());
        let letter =
            signet_pages::account_erased(&t, &self.snapshot().settings.issuer, &user.username);
        self.mail_of_deletion(user, "account_erased", &letter, now_ms)
            .await;
        Ok(())
    }

    /// Removes an account, and ends everything of it: nothing of it is left but its `sub` in the
    /// audit trail. Each step can be repeated.
    ///
    /// # Errors
    /// [`UserError::KeptElsewhere`], [`UserError::NotFound`], and the store's.
    pub async fn remove_user(&self, user_id: &str) -> Result<(), UserError> {
        let (users, now) = (&self.people.users, self.now());
        let found = users.found(user_id, now).await?;
        let found = found.ok_or(UserError::NotFound)?;
        if !users.may(&found.user).remove {
            return Err(UserError::KeptElsewhere("the account"));
        }
        // From here on nothing new begins, and everything was revoked; then the record goes.
        let disable = self.change_user_and_end_everything(
            user_id,
            |_| true,
            |draft| draft.user.enabled = false,
        );
        disable.await?;
        loop {
            let consents = signet_directory::consent::list(&*self.store, user_id, now).await?;
            if consents.is_empty() {
                break;
            }
            for (client_id, _) in consents {
                signet_directory::consent::withdraw(&*self.store, user_id, &client_id, now).await?;
            }
        }
        users.remove(user_id, now).await.map(drop)
    }

    /// In the person's language: nobody asks.
    fn face_of(&self, user: &User) -> Face {
        let wishes = Wishes {
            menu: None,
            request: None,
            person: user.profile.locale.as_deref(),
            accept: None,
        };
        Face::of(wishes.choose(), self.people.brands.own().clone(), "")
    }

    /// Whether it was handed over, or nobody can be notified.
    async fn mail_link(&self, user: &User, deletion: Deletion) -> bool {
        let link = Link {
            user_id: user.id.clone(),
            deletion,
        };
        let url = match mailed_link::url(self, PATH, PURPOSE, &link) {
            Ok(url) => url,
            Err(error) => {
                tracing::error!(%error, "failed to seal a mailed link");
                return false;
            }
        };
        let (t, now_ms) = (self.face_of(user), self.now_ms());
        let issuer = &self.snapshot().settings.issuer;
        let letter =
            signet_pages::deletion_asked(&t, issuer, &user.username, &url, deletion.erase_at);
        self.mail_of_deletion(user, "deletion_asked", &letter, now_ms)
            .await
    }

    /// As [`Realm::mail_link`].
    async fn mail_of_deletion(
        &self,
        user: &User,
        what: &str,
        letter: &Letter,
        now_ms: u64,
    ) -> bool {
        let email = user.email.as_deref();
        let Some(email) = email.filter(|_| self.people.mailer.is_some()) else {
            return true;
        };
        let record = Event::new(Action::MAIL, now_ms);
        let sending = Sending {
            user_id: Some(&user.id),
            to: email,
            what,
            expires_at: user.deletion.map_or(now_ms / 1000 + 86_400, |d| d.erase_at),
        };
        letters::hand_over(self, record, &sending, letter).await
    }
}

/// The link and its user, while it works.
///
/// # Errors
/// The store's.
pub async fn find(
    realm: &Realm,
    token: &str,
    now: u64,
) -> Result<Option<(Link, User)>, StoreError> {
    let read: Option<Link> = mailed_link::open(realm, PURPOSE, token);
    let Some(link) = read.filter(|link| now < link.deletion.erase_at) else {
        return Ok(None);
    };
    let user = realm.people.users.by_id(&link.user_id, now).await?;
    Ok(user
        .filter(|user| link.holds(user))
        .map(|user| (link, user)))
}
