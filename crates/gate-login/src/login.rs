//! The login as a whole: what every part of it has.

use crate::{
    Application, Ended, Settings, cookie, page::Page, provider::Provider, session::KeptSession,
    settings,
};
use http::{HeaderMap, StatusCode};
use signet_crypto::seal::Keyring;
use signet_http::Response;
use signet_oauth::params::encode_into;
use signet_verify::{PolicyId, Revocations, Verifier, cache::TokenCache, fetch::Outbound};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// What every path of the login begins with, at each application.
pub const PREFIX: &str = "/.signet/";

/// Sessions whose cookies were opened and are kept.
const KEPT_SESSIONS: usize = 4_096;
/// Bytes that they may take together.
const KEPT_SESSION_BYTES: usize = 6 << 20;

/// See the crate.
pub struct Login {
    pub(crate) settings: Settings,
    pub(crate) keys: Keyring,
    pub(crate) verifier: Arc<Verifier>,
    pub(crate) id_token: PolicyId,
    pub(crate) logout_token: PolicyId,
    pub(crate) access_token: PolicyId,
    pub(crate) outbound: Arc<Outbound>,
    pub(crate) stream: Option<Arc<dyn Revocations>>,
    pub(crate) ended: Arc<Ended>,
    pub(crate) provider: Provider,
    pub(crate) further_claims: Vec<String>,
    pub(crate) kept: TokenCache<KeptSession>,
    /// What was decided.
    pub counts: Counts,
}

/// What was decided so far.
#[derive(Default)]
pub struct Counts {
    /// Requests with a session.
    pub accepted: AtomicU64,
    /// Requests without one: led to the login, or told 401.
    pub without: AtomicU64,
    /// Requests whose session may not do this.
    pub forbidden: AtomicU64,
    /// Logins that made a session.
    pub begun: AtomicU64,
    /// Logins that ended in an error.
    pub failed: AtomicU64,
    /// Sessions that ended by a logout here, or over the back channel.
    pub ended: AtomicU64,
}

pub(crate) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Relaxed);
}

/// A request of a browser, at one application.
pub(crate) struct Asked<'a> {
    pub(crate) application: &'a Application,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) query: &'a str,
    /// Unix seconds
    pub(crate) now: u64,
}

impl Login {
    /// `verifier` has the policies of [`Settings::policies`]; `stream` is what is asked about every
    /// session beside `ended`.
    ///
    /// # Errors
    /// A sentence, where the verifier lacks one of them.
    pub fn new(
        settings: Settings,
        keys: Keyring,
        verifier: Arc<Verifier>,
        outbound: Arc<Outbound>,
        stream: Option<Arc<dyn Revocations>>,
        ended: Arc<Ended>,
    ) -> Result<Login, String> {
        let policy = |name: &str| {
            let found = verifier.policy(name);
            found.ok_or_else(|| format!("the verifier has no policy {name}"))
        };
        Ok(Login {
            id_token: policy(settings::ID_TOKEN)?,
            logout_token: policy(settings::LOGOUT_TOKEN)?,
            access_token: policy(settings::ACCESS_TOKEN)?,
            further_claims: settings.further_claims(),
            settings,
            keys,
            verifier,
            outbound,
            stream,
            ended,
            provider: Provider::default(),
            kept: TokenCache::new(KEPT_SESSIONS, KEPT_SESSION_BYTES),
            counts: Counts::default(),
        })
    }

    /// Checks tokens of the issuer: its keys have to be kept fresh.
    pub fn verifier(&self) -> &Arc<Verifier> {
        &self.verifier
    }

    /// Whether this path is answered here, at every application.
    pub fn answers(&self, path: &str) -> bool {
        path.starts_with(PREFIX) || path == self.settings.redirect_path
    }

    /// The application of this origin, however it is spelt.
    pub(crate) fn application(&self, origin: &str) -> Option<&Application> {
        let all = &self.settings.applications;
        if let Some(found) = all.iter().find(|one| one.origin() == origin) {
            return Some(found);
        }
        let origin = signet_jose::dpop::origin(origin)?;
        all.iter().find(|one| one.origin() == origin)
    }

    /// The page of a person whom the rules do not let in.
    pub(crate) fn denied(&self, code: &'static str) -> Response {
        Page::error(StatusCode::FORBIDDEN, code)
            .say("You are logged in, but you may not use this page.")
            .link("Log out, to use another account", "/.signet/logout")
            .respond(&self.settings.issuer)
    }

    /// The page of a login that did not work, with a way to begin again.
    pub(crate) fn failed(&self, status: StatusCode, code: &str, to: &str) -> Page {
        count(&self.counts.failed);
        let mut again = String::from("/.signet/login?return=");
        encode_into(to, &mut again);
        Page::error(status, code).link("Try again", &again)
    }
}

/// How many logins ended here of late, as the browser says: it can only stop itself.
pub(crate) fn rounds(headers: &HeaderMap) -> u32 {
    let said = cookie::single(headers, cookie::ROUNDS);
    said.and_then(|text| text.parse().ok()).unwrap_or(0)
}
