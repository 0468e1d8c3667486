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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClientAuthentication, Ended, PathRule, Paths, Settings, session};
    use http::header;
    use signet_crypto::{
        Secret,
        seal::{Keyring, SealingKey},
    };
    use signet_encoding::json::{Limits, parse_object};
    use signet_verify::{
        Issuer, KeySource, MemoryRevocations, OnStreamLoss, Subject, Verifier,
        fetch::{Credentials, Outbound},
    };

    const ISSUER: &str = "https://id.example.com";
    const NOW: u64 = 1_795_000_000;

    struct House {
        login: Login,
        stream: Arc<MemoryRevocations>,
    }

    fn house() -> House {
        let application = |host: &str| Application::new(&format!("https://{host}")).unwrap();
        let open = PathRule {
            path: "/open".into(),
            open: true,
            ..PathRule::default()
        };
        let settings = Settings {
            issuer: ISSUER.into(),
            client_id: "web".into(),
            authentication: ClientAuthentication::Secret(Credentials::new(
                "web",
                Secret::new("secret".to_owned()),
            )),
            applications: vec![application("a.example"), application("b.example")],
            redirect_path: "/.signet/callback".into(),
            scopes: vec!["openid".into()],
            resources: Vec::new(),
            acr: Vec::new(),
            max_age: None,
            idle: 100,
            absolute: 1_000,
            after_logout: None,
            paths: Paths::new(vec![open]).unwrap(),
            claims: Vec::new(),
        };
        let source = KeySource::Discovery;
        let mut verifier = Verifier::builder().issuer(Issuer::new(ISSUER, source));
        for policy in settings.policies() {
            verifier = verifier.policy(policy);
        }
        let stream = Arc::new(MemoryRevocations::new(OnStreamLoss::FailClosedAfter(30)));
        stream.heard(NOW);
        let login = Login::new(
            settings,
            Keyring::new(SealingKey::generate(), Vec::new()),
            Arc::new(verifier.build().unwrap()),
            Arc::new(Outbound::default()),
            Some(stream.clone()),
            Arc::new(Ended::default()),
        );
        let login = login.unwrap();
        House { login, stream }
    }

    impl House {
        /// The cookie of a session with the first application.
        fn session(&self, issuer: &str, client_id: &str) -> String {
            let json = format!(
                r#"{{"iss":"{issuer}","sub":"alice","sid":"s-1","iat":{NOW},"auth_time":{NOW}}}"#
            );
            let id_token = parse_object(json.as_bytes(), &Limits::default()).unwrap();
            let facts = session::Facts {
                client_id,
                id_token: &id_token,
                userinfo: None,
                scope: "openid orders",
                access: None,
                claims: &[],
                end: NOW + 1_000,
            };
            let application = &self.login.settings.applications[0];
            session::make(&self.login.keys, application, &facts, NOW)
                .unwrap()
                .1
        }

        fn ask(&self, url: &str, cookie: &str, now: u64) -> Judged {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, HeaderValue::from_static("text/html"));
            let pair = [cookie::SESSION, "=", cookie].concat();
            headers.insert(header::COOKIE, HeaderValue::from_str(&pair).unwrap());
            self.login.judge("GET", url, &headers, now, |_| Ok(()))
        }

        fn is_let_in(&self, cookie: &str, now: u64) -> bool {
            let judged = self.ask("https://a.example/x", cookie, now);
            matches!(judged, Judged::Session { .. })
        }
    }

    #[test]
    fn a_session_is_good_for_its_own_application_until_it_is_idle_or_over() {
        let house = house();
        let cookie = house.session(ISSUER, "web");
        house.stream.heard(NOW + 2_000);
        for (now, good) in [(NOW, true), (NOW + 99, true), (NOW + 100, false)] {
            assert_eq!(house.is_let_in(&cookie, now), good, "{now}");
        }
        // Twice, for what one application accepted is kept.
        for _ in 0..2 {
            let other = house.ask("https://b.example/x", &cookie, NOW);
            assert!(matches!(other, Judged::Refused(Refused::Login(Some(_)))));
        }
        let elsewhere = house.ask("https://c.example/x", &cookie, NOW);
        assert!(matches!(elsewhere, Judged::Elsewhere));
        // In use all the time it lasts, and no longer than the whole.
        let (mut now, mut cookie) = (NOW, cookie);
        while now < NOW + 950 {
            now += 50;
            let judged = house.ask("https://a.example/x", &cookie, now);
            let Judged::Session { renewed, .. } = judged else {
                panic!("over at {now}");
            };
            let renewed = renewed.expect("half of the idle time has passed");
            let text = renewed.to_str().unwrap();
            let value = text.split(['=', ';']).nth(1).unwrap();
            assert!(text.starts_with(cookie::SESSION));
            cookie = value.to_owned();
        }
        assert!(house.is_let_in(&cookie, NOW + 999));
        assert!(!house.is_let_in(&cookie, NOW + 1_000));
    }

    #[test]
    fn a_session_of_another_issuer_or_client_is_none() {
        let house = house();
        assert!(house.is_let_in(&house.session(ISSUER, "web"), NOW));
        assert!(!house.is_let_in(&house.session("https://other.example", "web"), NOW));
        assert!(!house.is_let_in(&house.session(ISSUER, "other"), NOW));
    }

    #[test]
    fn whatever_is_revoked_ends_the_session_at_the_next_request() {
        let at = NOW * 1000;
        for subject in [
            Subject::Session("s-1"),
            Subject::User("alice", at),
            Subject::Client("web", at),
            Subject::Issuer(ISSUER, at),
        ] {
            let (by_stream, by_gate) = (house(), house());
            let cookies = [&by_stream, &by_gate].map(|house| house.session(ISSUER, "web"));
            assert!(by_stream.is_let_in(&cookies[0], NOW) && by_gate.is_let_in(&cookies[1], NOW));
            by_stream.stream.revoke(subject, NOW + 10_000);
            by_gate.login.ended.end(subject, NOW, NOW + 10_000);
            assert!(!by_stream.is_let_in(&cookies[0], NOW), "{subject:?}");
            assert!(!by_gate.is_let_in(&cookies[1], NOW), "{subject:?}");
        }
        let house = house();
        let cookie = house.session(ISSUER, "web");
        house
            .stream
            .revoke(Subject::User("alice", at - 1), NOW + 10_000);
        house.stream.revoke(Subject::User("bob", at), NOW + 10_000);
        assert!(house.is_let_in(&cookie, NOW));
    }

    #[test]
    fn while_the_stream_is_lost_nobody_is_let_in_and_nobody_led_round() {
        let house = house();
        let cookie = house.session(ISSUER, "web");
        let later = house.ask("https://a.example/x", &cookie, NOW + 31);
        assert!(matches!(later, Judged::Refused(Refused::Unknown)));
        let open = house.ask("https://a.example/open/x", &cookie, NOW + 31);
        assert!(matches!(open, Judged::Open));
    }

    #[test]
    fn what_the_proxys_question_demands_is_held() {
        let house = house();
        let cookie = house.session(ISSUER, "web");
        let mut headers = HeaderMap::new();
        let pair = [cookie::SESSION, "=", &cookie].concat();
        headers.insert(header::COOKIE, HeaderValue::from_str(&pair).unwrap());
        let judge = |refusal: Result<(), Refusal>| {
            let url = "https://a.example/x";
            house.login.judge("GET", url, &headers, NOW, |_| refusal)
        };
        assert!(matches!(judge(Ok(())), Judged::Session { .. }));
        assert!(matches!(
            judge(Err(Refusal::Scope)),
            Judged::Refused(Refused::Forbidden(Refusal::Scope, None))
        ));
        assert!(matches!(
            judge(Err(Refusal::TooOld)),
            Judged::Refused(Refused::Login(None))
        ));
    }
}
