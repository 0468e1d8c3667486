//! Whether a browser has just shown everything that its person's account has.
//!
//! Some acts outlive the session that they are done in: a factor, a link to an identity provider or
//! an agent's binding that is added or removed, a first password, the deletion of the account, the
//! export of its data. A cookie that was stolen, a browser that was left open or that is remembered
//! must be enough for none of them. So each takes a [`Fresh`], and only this module makes one.
//!
//! A session is fresh where both of these hold:
//!
//! - a method that says who somebody is was shown in the last [`RECENT`] seconds. Each method of a
//!   session has its own time: a step that adds one makes the others no younger;
//! - where the account has a factor beside that, of whatever kind, one was shown in that time. A
//!   remembered browser is none.
//!
//! What logins ask for is less (they take a remembered browser, and a password where the account
//! has a passkey, so that there is another way in): [`asked`] has both, a line a kind.

use signet_directory::session::{Found, RECENT, counted};
use signet_directory::{CredentialKind, User};
use signet_oauth::authorize::acr;

use crate::passkeys::relying_party;
use signet_request::browser_request::LoggedIn;
use signet_request::http::Context;
use signet_request::interaction::Half;

/// Who has just shown everything that their account has.
pub(crate) struct Fresh<'a> {
    user: &'a User,
    session: Option<&'a Found>,
}

impl Fresh<'_> {
    /// Who.
    pub(crate) fn user(&self) -> &User {
        self.user
    }

    /// Their session; none before it begins.
    pub(crate) fn session(&self) -> Option<&Found> {
        self.session
    }
}

/// When a credential is asked for beside the first step of a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Never: it is a first step, or stands in for a factor.
    Never,
    /// By what outlives the session; by logins, too, where it is a key that does not verify its
    /// user: that is nothing but a second factor.
    Changes,
    /// By both.
    Logins,
}

/// See [`Asked`]. A new kind of credential says here what it is.
pub(crate) const fn asked(kind: CredentialKind) -> Asked {
    match kind {
        CredentialKind::Totp => Asked::Logins,
        CredentialKind::Passkey => Asked::Changes,
        CredentialKind::Password
        | CredentialKind::Provider
        | CredentialKind::RecoveryCodes
        | CredentialKind::RememberedBrowser => Asked::Never,
    }
}

/// Whether the account has a factor beside the first step of a login, which can be asked for here.
pub(crate) fn has_factor(context: &Context, user: &User) -> bool {
    let passkeys = relying_party(&context.snapshot.settings).is_some();
    user.credentials()
        .iter()
        .any(|name| match asked(name.kind) {
            Asked::Never => false,
            Asked::Changes => passkeys,
            Asked::Logins => true,
        })
}

/// Whether the account has a factor, and none is among these methods. A key that did not verify its
/// user counts beside another factor; alone where the account has nothing else.
pub(crate) fn lacks_factor(context: &Context, user: &User, counted: &[&str]) -> bool {
    if !has_factor(context, user) || acr::second_factor_shown(counted) {
        return false;
    }
    let users = &context.realm.people.users;
    let has_other = users.has_password(user)
        || user.has(CredentialKind::Totp)
        || user.has(CredentialKind::RecoveryCodes);
    let key_shown = counted.iter().any(|name| acr::is_enrolled(name));
    has_other || !key_shown
}

/// Has this browser just shown everything that this account has?
pub(crate) fn of<'a>(context: &Context, present: &'a LoggedIn) -> Option<Fresh<'a>> {
    since(context, present, recent(context))
}

/// As [`of`], of a session in which somebody began what they end now: it was fresh at `begun_at`
/// (Unix seconds).
pub(crate) fn when_begun<'a>(
    context: &Context,
    present: &'a LoggedIn,
    begun_at: u64,
) -> Option<Fresh<'a>> {
    since(context, present, begun_at.saturating_sub(RECENT))
}

/// As [`of`], of a session that a login has just begun: what was shown in that login counts.
/// `since`: when it began, Unix seconds.
pub(crate) fn since<'a>(context: &Context, present: &'a LoggedIn, since: u64) -> Option<Fresh<'a>> {
    let row = &present.found.row;
    let shown = row.shown();
    let counted = counted(&shown, since);
    // One that was added when everything else had been shown is not asked for at once.
    let added = row.factor_added_at.is_some_and(|at| at >= since);
    let holds =
        acr::begins_login(&counted) && (added || !lacks_factor(context, &present.user, &counted));
    holds.then_some(Fresh {
        user: &present.user,
        session: Some(&present.found),
    })
}

/// As [`since`], of a login at a trusted identity provider, whose word is the first step, however
/// long ago the person logged in there. The account's own factor is not spared.
pub(crate) fn since_arrival<'a>(
    context: &Context,
    present: &'a LoggedIn,
    since: u64,
) -> Option<Fresh<'a>> {
    let shown = present.found.row.shown();
    let mut counted = counted(&shown, since);
    let by_provider = shown.iter().find(|one| one.method == acr::PROVIDER_METHOD);
    counted.push(&by_provider?.method);
    (!lacks_factor(context, &present.user, &counted)).then_some(Fresh {
        user: &present.user,
        session: Some(&present.found),
    })
}

/// Has a login that is half way shown everything that this account has? What a session before it
/// had shown counts for nothing.
pub(crate) fn of_half<'a>(context: &Context, user: &'a User, half: &Half) -> Option<Fresh<'a>> {
    let shown = half.shown();
    let counted = counted(&shown, half.since());
    let holds = half.user_id == user.id
        && acr::begins_login(&counted)
        && !lacks_factor(context, user, &counted);
    holds.then_some(Fresh {
        user,
        session: None,
    })
}

/// The time from which on what was shown is recent, Unix seconds.
pub(crate) fn recent(context: &Context) -> u64 {
    context.now().saturating_sub(RECENT)
}

/// Whether the session's own login is of the last [`RECENT`] seconds: then its factor alone is what
/// may be missing.
pub(crate) fn has_just_logged_in(context: &Context, present: &LoggedIn) -> bool {
    let shown = present.found.row.shown();
    acr::begins_login(&counted(&shown, recent(context)))
}

#[cfg(test)]
mod tests {
    use super::{Asked, asked, counted};
    use signet_directory::CredentialKind;
    use signet_directory::session::Shown;
    use signet_directory::session::has_two_factors;

    #[test]
    fn every_kind_that_can_be_a_second_factor_is_asked_for_by_what_outlives_the_session() {
        let factors: Vec<CredentialKind> = CredentialKind::ALL
            .into_iter()
            .filter(|kind| asked(*kind) != Asked::Never)
            .collect();
        assert_eq!(factors, [CredentialKind::Totp, CredentialKind::Passkey]);
    }

    #[test]
    fn a_remembered_browser_and_what_is_old_count_for_nothing() {
        let shown = [
            Shown::new("password", 1000),
            Shown::new("totp", 399),
            Shown::new("remembered_browser", 1000),
        ];
        assert_eq!(counted(&shown, 400), ["password"]);
        assert_eq!(counted(&shown, 399), ["password", "totp"]);
        assert!(!has_two_factors(&shown, 400));
        assert!(has_two_factors(&shown, 399));
    }
}
