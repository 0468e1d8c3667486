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
use signet_directory::{Deletion, User, UserError};
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_store::StoreError;
use signet_texts::Wishes;

use crate::browser_request::{BrowserRequest, error_page};
use crate::http::{Context, Response};
use crate::page::{self, Face, Letter};
use crate::state::Realm;
use crate::waiting_login::{self, Done};
use crate::{letters, mailed_link};

/// Where an account is kept, below the issuer.
pub(crate) const PATH: &str = "/account/keep";

const PURPOSE: Purpose = Purpose::Other("keep_account");
const ENDED: &str = "error-keep-account";

/// What a link says.
#[derive(Serialize, Deserialize)]
struct Link {
    user_id: String,
    deletion: Deletion,
}

impl Link {
    fn holds(&self, user: &User) -> bool {
        user.deletion == Some(self.deletion)
    }
}

impl Realm {
    /// Has an account erased after the time of grace, and ends everything of it now. Where it is
    /// asked for already, that goes on.
    ///
    /// # Errors
    /// [`UserError::KeptElsewhere`], [`UserError::NotFound`], and the store's.
    pub(crate) async fn ask_deletion(&self, user_id: &str) -> Result<Deletion, UserError> {
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
        // Before the record says so: else a crash between the two would leave it for ever.
        self.watch_account(user_id, deletion.erase_at).await?;
        let changed = self.change_user_and_end_everything(
            user_id,
            |user| user.deletion.is_none(),
            |draft| draft.user.deletion = Some(deletion),
        );
        match changed.await? {
            Some(user) => {
                self.tell_of_deletion(&user, deletion).await;
                Ok(deletion)
            }
            None => {
                let found = users.found(user_id, now).await?;
                let before = found.and_then(|found| found.user.deletion);
                before.ok_or(UserError::Conflict)
            }
        }
    }

    /// Keeps an account that was to be erased. Whether it was.
    ///
    /// # Errors
    /// [`UserError::NotFound`], and the store's.
    pub(crate) async fn undo_deletion(
        &self,
        user_id: &str,
        holds: impl Fn(&User) -> bool,
    ) -> Result<bool, UserError> {
        let (users, now) = (&self.people.users, self.now());
        let found = users.found(user_id, now).await?;
        let found = found.ok_or(UserError::NotFound)?;
        if found.user.deletion.is_none() || !holds(&found.user) {
            return Ok(false);
        }
        let kept = users.change_found(found, now, |draft| draft.user.deletion = None);
        kept.await?.ok_or(UserError::Conflict).map(|_| true)
    }

    /// Erases an account whose time of grace is over.
    ///
    /// # Errors
    /// The store's: then it is tried again.
    pub(crate) async fn erase(&self, user: &User) -> Result<(), StoreError> {
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
        let letter = page::account_erased(&t, &self.snapshot().settings.issuer, &user.username);
        self.mail_of_deletion(user, "account_erased", &letter, now_ms)
            .await;
        Ok(())
    }

    /// Removes an account, and ends everything of it: nothing of it is left but its `sub` in the
    /// audit trail. Each step can be repeated.
    ///
    /// # Errors
    /// [`UserError::KeptElsewhere`], [`UserError::NotFound`], and the store's.
    pub(crate) async fn remove_user(&self, user_id: &str) -> Result<(), UserError> {
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
            let consents = crate::consent::list(&*self.store, user_id, now).await?;
            if consents.is_empty() {
                break;
            }
            for (client_id, _) in consents {
                crate::consent::withdraw(&*self.store, user_id, &client_id, now).await?;
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

    async fn tell_of_deletion(&self, user: &User, deletion: Deletion) {
        let link = Link {
            user_id: user.id.clone(),
            deletion,
        };
        let url = match mailed_link::url(self, PATH, PURPOSE, &link) {
            Ok(url) => url,
            Err(error) => {
                tracing::error!(%error, "a link could not be sealed");
                return;
            }
        };
        let (t, now_ms) = (self.face_of(user), self.now_ms());
        let issuer = &self.snapshot().settings.issuer;
        let letter = page::deletion_asked(&t, issuer, &user.username, &url, deletion.erase_at);
        self.mail_of_deletion(user, "deletion_asked", &letter, now_ms)
            .await;
    }

    async fn mail_of_deletion(&self, user: &User, what: &str, letter: &Letter, now_ms: u64) {
        let Some(email) = user.email.as_deref() else {
            return;
        };
        let record = Event::new(Action::MAIL, now_ms);
        letters::hand_over(self, record, Some(&user.id), email, what, letter, now_ms).await;
    }
}

/// GET: asks whether the account is to be kept.
pub async fn show(context: Context) -> Response {
    let (visit, params) = match BrowserRequest::of_query(context).await {
        Ok(visit) => visit,
        Err(answer) => return answer,
    };
    let token = params.get("token").unwrap_or("");
    match find(&visit, token).await {
        Ok(Some((link, user))) => {
            let html =
                page::keep_account(&visit.face(), token, &user.username, link.deletion.erase_at);
            visit.page(html)
        }
        Ok(None) => ended(visit),
        Err(error) => visit.unavailable(&error),
    }
}

fn ended(visit: BrowserRequest) -> Response {
    visit.error(&OAuthError::new(ErrorCode::InvalidRequest, ENDED))
}

/// POST: it is.
pub async fn submit(mut context: Context) -> Response {
    let form = match context.form().await {
        Ok(form) => form,
        Err(error) => return error_page(&mut context, &error.into()),
    };
    let visit = match BrowserRequest::begin(context).await {
        Ok(visit) => visit,
        Err(response) => return response,
    };
    let (link, _) = match find(&visit, form.get("token").unwrap_or("")).await {
        Ok(Some(found)) => found,
        Ok(None) => return ended(visit),
        Err(error) => return visit.unavailable(&error),
    };
    let realm = visit.context.realm.clone();
    let event = visit.context.event(Action::ACCOUNT);
    let event = event.operation("keep").subject(&link.user_id);
    let kept = realm.undo_deletion(&link.user_id, |user| link.holds(user));
    let kept = realm
        .audit()
        .act(event, kept, |_| "temporarily_unavailable");
    match kept.await {
        Ok(true) => waiting_login::after(visit, None, Done::Kept).await,
        Ok(false) | Err(UserError::NotFound) => ended(visit),
        Err(error) => visit.unavailable(&error.into()),
    }
}

/// The link and its user, while it works.
async fn find(visit: &BrowserRequest, token: &str) -> Result<Option<(Link, User)>, StoreError> {
    let (realm, now) = (&visit.context.realm, visit.context.now());
    let read: Option<Link> = mailed_link::open(realm, PURPOSE, token);
    let Some(link) = read.filter(|link| now < link.deletion.erase_at) else {
        return Ok(None);
    };
    let user = realm.people.users.by_id(&link.user_id, now).await?;
    Ok(user
        .filter(|user| link.holds(user))
        .map(|user| (link, user)))
}
