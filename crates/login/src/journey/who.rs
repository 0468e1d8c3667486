//! Who is on the way through a login, what they have shown, and which factors they have.

use signet_directory::session::Shown;
use signet_directory::{CredentialName, User};
use signet_oauth::authorize::acr;
use signet_request::access::Entrance;
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Context;
use signet_request::interaction::Interaction;
use signet_revocation::RevocationQuery;
use signet_store::StoreError;

use super::{provider, remembered};
use crate::freshness::{self, Asked};
use crate::user_passkeys;

/// The factors of an account that each login asks for. A passkey that verifies its user is none of
/// them, so that there is another way in; what outlives the session asks for it ([`freshness`]).
#[derive(Clone, Copy)]
struct Factors {
    /// A code app.
    app: bool,
    /// A security key that does not verify its user: it is nothing but a second factor.
    key: bool,
}

impl Factors {
    async fn of(context: &Context, user: &User) -> Result<Factors, StoreError> {
        let has = |when| {
            let is = |name: &CredentialName| freshness::asked(name.kind) == when;
            user.credentials().iter().any(is)
        };
        Ok(Factors {
            app: has(Asked::Logins),
            key: has(Asked::Changes) && user_passkeys::has_security_key(context, user).await?,
        })
    }

    /// Whether these methods leave one of them to be asked for.
    fn misses<S: AsRef<str>>(self, shown: &[S]) -> bool {
        let is_enrolled = |name: &S| acr::is_enrolled(name.as_ref());
        (self.app && !acr::second_factor_shown(shown))
            || (self.key && !shown.iter().any(is_enrolled))
    }
}

/// Whether a login of the account is asked for a second factor beyond these methods: it has one,
/// and none was shown.
///
/// # Errors
/// The store's.
pub async fn wants_second_factor<S: AsRef<str>>(
    context: &Context,
    user: &User,
    shown: &[S],
) -> Result<bool, StoreError> {
    Ok(Factors::of(context, user).await?.misses(shown))
}

/// Whose step it is, and what they have shown.
pub(super) struct Who {
    pub(super) user: User,
    /// As the record will be after the login, where a provider's word changes it: what is demanded
    /// of a group is demanded of who is about to be in it.
    pub(super) will_be: User,
    pub(super) shown: Vec<Shown>,
    /// From when on it counts as just shown, Unix seconds: a login's beginning.
    since: u64,
    factors: Factors,
}

impl Who {
    /// Of a login. `will_be`: the record as it will be after it. `since`: when it began, Unix
    /// seconds.
    ///
    /// # Errors
    /// The store's.
    pub(super) async fn of_login(
        context: &Context,
        user: &User,
        will_be: &User,
        shown: &[Shown],
        since: u64,
    ) -> Result<Who, StoreError> {
        Ok(Who {
            user: user.clone(),
            will_be: will_be.clone(),
            shown: shown.to_vec(),
            since,
            factors: Factors::of(context, user).await?,
        })
    }

    fn methods(&self) -> Vec<&str> {
        self.shown.iter().map(|one| &*one.method).collect()
    }

    /// The methods that count for classes. A remembered browser is not enough for what is strict.
    pub(super) fn counted(&self, interaction: &Interaction) -> Vec<&str> {
        let mut methods = self.methods();
        methods.retain(|name| !interaction.strict || *name != remembered::SHOWS);
        methods
    }

    /// What was just shown.
    pub(super) fn just_shown(&self) -> Vec<&str> {
        signet_directory::session::counted(&self.shown, self.since)
    }

    /// Whether a factor of the account is asked for. For what is strict, what was just shown
    /// counts alone.
    pub(super) fn misses_factor(
        &self,
        browser: &BrowserRequest,
        interaction: &Interaction,
    ) -> bool {
        match interaction.strict {
            true => freshness::lacks_factor(&browser.context, &self.user, &self.just_shown()),
            false => self.factors.misses(&self.methods()),
        }
    }
}

/// Who is on the way. None: there is nobody any more, and the login begins again.
pub(super) async fn of(
    browser: &BrowserRequest,
    interaction: &Interaction,
) -> Result<Option<Who>, StoreError> {
    let Some(half) = &interaction.half else {
        return match browser.present().filter(|_| interaction.step_up) {
            Some(present) => of_session(browser, present).await.map(Some),
            None => Ok(None),
        };
    };
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let user = realm.people.users.by_id(&half.user_id, now).await?;
    let revoked = realm.revocations.is_revoked(&RevocationQuery {
        issued_at_ms: half.since_ms,
        user_id: Some(&half.user_id),
        ..RevocationQuery::default()
    });
    let holds = |user: &User| {
        Entrance::Login.opens(user, now)
            && user.password_changed_at == half.password_changed_at
            && !revoked
    };
    let Some(user) = user.filter(holds) else {
        return Ok(None);
    };
    Ok(Some(Who {
        will_be: provider::as_will_be(browser, interaction, &user).await?,
        factors: Factors::of(&browser.context, &user).await?,
        user,
        shown: half.shown(),
        since: half.since(),
    }))
}

pub(super) async fn of_session(
    browser: &BrowserRequest,
    present: &LoggedIn,
) -> Result<Who, StoreError> {
    Ok(Who {
        user: present.user.clone(),
        will_be: present.user.clone(),
        shown: present.found.row.shown(),
        since: freshness::recent(&browser.context),
        factors: Factors::of(&browser.context, &present.user).await?,
    })
}
