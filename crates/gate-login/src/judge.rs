//! What is decided about one request of an application, as a proxy asks about it.

use crate::{
    Application, Login, Session, application::split, cookie, login::count,
    navigation::is_navigation, session::KeptSession,
};
use http::{HeaderMap, HeaderValue};
use signet_http::Response;
use signet_oauth::params::encode_into;
use signet_verify::{Claims, Refusal, Revocation};
use std::sync::Arc;

/// The decision.
pub enum Judged {
    /// The request is for no application of the login: nothing is offered.
    Elsewhere,
    /// The path needs no login, and nobody is logged in.
    Open,
    /// Somebody is.
    Session {
        /// who
        session: Arc<Session>,
        /// `Set-Cookie`, where the session has to be seen to be in use
        renewed: Option<HeaderValue>,
    },
    /// Not so.
    Refused(Refused),
}

/// Why a request is not let through.
pub enum Refused {
    /// There is no session. Where the request is a navigation: the URL that leads to the login.
    Login(Option<String>),
    /// Who is logged in may not do this. Where the request is a navigation: the page that says so.
    Forbidden(Refusal, Option<Box<Response>>),
    /// Whether the session was revoked cannot be known at the moment.
    Unknown,
}

/// What is known of a browser's session.
enum Found {
    Live(Arc<Session>),
    None,
    Unknown,
}

impl Login {
    /// Decides. `method` and `url` are the request's own, as a known proxy says; `hold` says what
    /// the proxy's question demands beyond the rules by path; `now`: Unix seconds.
    pub fn judge(
        &self,
        method: &str,
        url: &str,
        headers: &HeaderMap,
        now: u64,
        hold: impl FnOnce(&Claims) -> Result<(), Refusal>,
    ) -> Judged {
        let Some((origin, rest)) = split(url) else {
            return Judged::Elsewhere;
        };
        let Some(application) = self.application(origin) else {
            return Judged::Elsewhere;
        };
        let path = &rest[..rest.find('?').unwrap_or(rest.len())];
        let paths = &self.settings.paths;
        let session = match self.find(application, headers, now) {
            Found::Live(session) => session,
            Found::None | Found::Unknown if paths.is_open(path) => return Judged::Open,
            Found::None => return self.without(method, headers, application, rest),
            Found::Unknown => return Judged::Refused(Refused::Unknown),
        };
        let held = hold(session.claims()).and_then(|()| paths.hold(path, session.claims()));
        // A policy may want to hear from the issuer more often than sessions last.
        if let Err(Refusal::Expired | Refusal::TooOld) = held {
            return self.without(method, headers, application, rest);
        }
        if let Err(refusal) = held {
            count(&self.counts.forbidden);
            let page =
                is_navigation(method, headers).then(|| Box::new(self.denied(refusal.code())));
            return Judged::Refused(Refused::Forbidden(refusal, page));
        }
        count(&self.counts.accepted);
        Judged::Session {
            renewed: self.renewed(application, &session, now),
            session,
        }
    }

    fn without(
        &self,
        method: &str,
        headers: &HeaderMap,
        application: &Application,
        rest: &str,
    ) -> Judged {
        count(&self.counts.without);
        let to = is_navigation(method, headers).then(|| start_url(application, rest));
        Judged::Refused(Refused::Login(to))
    }

    /// The browser's session, if it is one and is not over.
    fn find(&self, application: &Application, headers: &HeaderMap, now: u64) -> Found {
        let Some(text) = cookie::single(headers, cookie::SESSION) else {
            return Found::None;
        };
        // The scope of the cache is the application: what one accepted says nothing about another.
        let all = self.settings.applications.iter();
        let scope = all.take_while(|one| *one != application).count();
        let session = match self.kept.find(text, scope, |kept| kept.0.clone()) {
            Some(session) => session,
            None => match Session::open(&self.keys, application, text) {
                Some(session) => {
                    let session = Arc::new(session);
                    self.kept.insert(scope, KeptSession(session.clone()), now);
                    session
                }
                None => return Found::None,
            },
        };
        let claims = session.claims();
        let is_ours = claims.iss() == Some(&self.settings.issuer)
            && claims.client_id() == Some(&self.settings.client_id);
        let is_over = claims.exp().is_none_or(|exp| now >= exp)
            || now >= session.seen().saturating_add(self.settings.idle)
            || self.ended.has_ended(claims, now);
        if !is_ours || is_over {
            return Found::None;
        }
        match self.stream.as_ref().map(|stream| stream.check(claims, now)) {
            None | Some(Revocation::Live) => Found::Live(session),
            Some(Revocation::Revoked) => Found::None,
            Some(Revocation::Unknown) => Found::Unknown,
        }
    }

    /// The session of a request that came to the login itself.
    pub(crate) fn session(
        &self,
        application: &Application,
        headers: &HeaderMap,
        now: u64,
    ) -> Option<Arc<Session>> {
        match self.find(application, headers, now) {
            Found::Live(session) => Some(session),
            Found::None | Found::Unknown => None,
        }
    }

    /// Not at each request: a quarter of the idle time may pass unseen.
    fn renewed(
        &self,
        application: &Application,
        session: &Session,
        now: u64,
    ) -> Option<HeaderValue> {
        let due = session
            .seen()
            .saturating_add((self.settings.idle / 4).max(1));
        if now < due {
            return None;
        }
        let value = session.seen_at(&self.keys, application, now)?;
        cookie::set(cookie::SESSION, &value, None)
    }
}

/// `to`: path and query as they were asked for.
fn start_url(application: &Application, to: &str) -> String {
    let mut path = String::from("/.signet/login?return=");
    encode_into(crate::attempt::return_path(to), &mut path);
    application.url(&path)
}
