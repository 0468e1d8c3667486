//! OpenID Connect RP-Initiated Logout 1.0, without its pages.
//!
//! A link anywhere may lead to `/logout`, so nobody is logged out by it alone: only an ID token of
//! the very session ends it without a question. A redirect afterwards goes to a registered URI,
//! exactly, or nowhere.
use crate::authorize::{IdTokenHint, verify_id_token_hint, with_query};
use crate::client::Client;
use crate::error::OAuthError;
use crate::issued::session::Session;
use crate::params::Params;
use crate::registry::Registry;
use crate::request::IssuerKeys;
use crate::settings::Settings;
use std::sync::Arc;

/// What a logout request comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logout {
    /// Ask "do you want to log out?" first. The answer comes back in a form of ours, never as a
    /// parameter here.
    pub ask: bool,
    /// where to go afterwards, with `state`; None: the signed-out page
    pub then: Option<String>,
    /// who asked, where that is known
    pub client_id: Option<String>,
    /// an ID token of this server says who asked: else anybody may have, and nobody is led to
    /// `then` unasked
    pub proven: bool,
    /// what the page's language may be
    pub ui_locales: Option<String>,
}

/// Checks a logout request. `session`: the browser's; `keys`: this server's own; `now`: Unix
/// seconds.
///
/// # Errors
/// `invalid_request`, always a page: a redirect URI that is not registered, or a hint of another
/// client than `client_id`.
pub fn logout(
    params: &Params,
    registry: &Registry,
    settings: &Settings,
    keys: &dyn IssuerKeys,
    session: Option<&Session>,
    now: u64,
) -> Result<Logout, OAuthError> {
    let hint = params
        .get("id_token_hint")
        .and_then(|token| verify_id_token_hint(token, &settings.issuer, keys));
    let client = client(params, registry, hint.as_ref(), now)?;
    let then = match (params.get("post_logout_redirect_uri"), &client) {
        (Some(uri), Some(client)) => {
            if client.post_logout_redirect_uri(uri).is_none() {
                return Err(OAuthError::invalid_request(
                    "post_logout_redirect_uri is not registered for this client",
                ));
            }
            Some(match params.get("state") {
                Some(state) if state.len() > 2048 => {
                    return Err(OAuthError::invalid_request("a parameter is too long"));
                }
                Some(state) => with_query(uri, &[("state", state)]),
                None => uri.to_owned(),
            })
        }
        // Section 3: without a known client, no redirect.
        (Some(_) | None, _) => None,
    };
    let of_this_session = match (&hint, session) {
        (Some(hint), Some(session)) => {
            let is_its_token = match &hint.sid {
                Some(sid) => *sid == session.sid,
                // That of a client without a logout URI: of a login at the same moment.
                None => hint.auth_time == Some(session.auth_time),
            };
            hint.sub == session.user_id && is_its_token
        }
        (Some(_), None) => true,
        (None, _) => false,
    };
    Ok(Logout {
        ask: session.is_some() && !of_this_session,
        then,
        client_id: client.map(|c| c.client_id.clone()),
        proven: hint.is_some(),
        ui_locales: params.get("ui_locales").map(str::to_owned),
    })
}

/// The client that asks: of `client_id`, which must be in the hint's audience, or of the hint
/// alone.
fn client<'r>(
    params: &Params,
    registry: &'r Registry,
    hint: Option<&IdTokenHint>,
    now: u64,
) -> Result<Option<&'r Arc<Client>>, OAuthError> {
    let known = |id: &str| registry.client(id, now);
    match (params.get("client_id"), hint) {
        (Some(id), Some(hint)) if !hint.audience.iter().any(|a| a == id) => Err(
            OAuthError::invalid_request("client_id and id_token_hint do not belong together"),
        ),
        // A hint was sent that is none: it may not lend its client's redirect any credit.
        (Some(_), None) if params.contains("id_token_hint") => Ok(None),
        (Some(id), _) => known(id)
            .map(Some)
            .ok_or_else(|| OAuthError::invalid_request("the client_id is unknown")),
        (None, Some(hint)) => Ok(hint.audience.first().and_then(|id| known(id))),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::authorize::redirect_uri::RedirectUri;
    use crate::testing;
    use signet_crypto::{Algorithm, SigningKey, VerifyingKey};
    use signet_jose::jwt::{JwtSigner, Typ};

    const ISSUER: &str = "https://as.example";

    struct House {
        registry: Registry,
        settings: Settings,
        signer: JwtSigner,
        key: testing::OneKey,
    }
    fn house() -> House {
        let mut client = Client::new("client", 1);
        client.post_logout_redirect_uris =
            vec![RedirectUri::parse("https://client.example/out", false).unwrap()];
        let mut registry = Registry::default();
        registry.clients.insert("client".into(), Arc::new(client));
        let key = SigningKey::generate(Algorithm::Es256).unwrap();
        let public = VerifyingKey::new(Algorithm::Es256, key.public().unwrap()).unwrap();
        House {
            registry,
            settings: Settings::new(ISSUER),
            signer: JwtSigner::new(key, "k"),
            key: testing::OneKey("k", public),
        }
    }
    impl House {
        fn hint(&self, sub: &str, sid: &str) -> String {
            let payload = format!(
                r#"{{"iss":"{}","sub":"{sub}","aud":"client","exp":1,"sid":"{sid}"}}"#,
                ISSUER
            );
            let mut out = Vec::new();
            self.signer
                .sign_into(Typ::Jwt, payload.as_bytes(), &mut out)
                .unwrap();
            String::from_utf8(out).unwrap()
        }
        /// As those of clients without a logout URI.
        fn hint_without_sid(&self, sub: &str, auth_time: u64) -> String {
            let payload = format!(
                r#"{{"iss":"{ISSUER}","sub":"{sub}","aud":"client","exp":1,"auth_time":{auth_time}}}"#
            );
            let mut out = Vec::new();
            self.signer
                .sign_into(Typ::Jwt, payload.as_bytes(), &mut out)
                .unwrap();
            String::from_utf8(out).unwrap()
        }
        fn run(&self, pairs: &[(&str, &str)]) -> Result<Logout, OAuthError> {
            let session = Session {
                sid: "s1".into(),
                user_id: "alice".into(),
                auth_time: 1,
                acr: String::new(),
                amr: Vec::new(),
                methods: Vec::new(),
                ends_at: u64::MAX,
            };
            let params = Params::from_pairs(pairs.iter().copied()).unwrap();
            logout(
                &params,
                &self.registry,
                &self.settings,
                &self.key,
                Some(&session),
                1_800_000_000,
            )
        }
    }
    const OUT: (&str, &str) = ("post_logout_redirect_uri", "https://client.example/out");

    #[test]
    fn only_an_id_token_of_this_session_ends_it_without_a_question() {
        let h = house();
        let done = h
            .run(&[
                ("id_token_hint", &h.hint("alice", "s1")),
                OUT,
                ("state", "a b"),
            ])
            .unwrap();
        assert!(!done.ask);
        assert_eq!(
            done.then.as_deref(),
            Some("https://client.example/out?state=a%20b")
        );
        assert!(
            h.run(&[("id_token_hint", &h.hint("alice", "other"))])
                .unwrap()
                .ask
        );
        assert!(
            h.run(&[("id_token_hint", &h.hint("bob", "s1"))])
                .unwrap()
                .ask
        );
        let without = h.run(&[("id_token_hint", &h.hint_without_sid("alice", 1)), OUT]);
        let without = without.unwrap();
        assert!(!without.ask && without.then.is_some());
        for other in [h.hint_without_sid("bob", 1), h.hint_without_sid("alice", 2)] {
            assert!(h.run(&[("id_token_hint", &other)]).unwrap().ask);
        }
        assert!(h.run(&[]).unwrap().ask);
        assert!(h.run(&[("client_id", "client"), OUT]).unwrap().ask);
        assert!(
            h.run(&[("confirmed", "true"), ("logout", "1")])
                .unwrap()
                .ask
        );
    }

    #[test]
    fn a_redirect_goes_to_a_registered_uri_of_a_known_client_or_nowhere() {
        let h = house();
        let hint = h.hint("alice", "s1");
        for bad in [
            "https://client.example/out/",
            "https://client.example/out?x=1",
            "https://evil.example/",
        ] {
            assert!(
                h.run(&[("id_token_hint", &hint), ("post_logout_redirect_uri", bad)])
                    .is_err(),
                "{bad}"
            );
        }
        assert_eq!(h.run(&[OUT]).unwrap().then, None);
        assert!(
            h.run(&[("id_token_hint", &hint), ("client_id", "another")])
                .is_err()
        );
        assert!(h.run(&[("client_id", "nobody")]).is_err());
        // A forged hint asks, and redirects nowhere.
        let forged = h
            .run(&[("id_token_hint", "a.b.c"), ("client_id", "client"), OUT])
            .unwrap();
        assert!(forged.ask);
        assert_eq!(forged.then, None);
    }
}
