//! Two realms in one process, with one store and one set of sealing keys: a body of this program's
//! tests against the second one, and every kind of value that one realm gives, shown to the other.
use crate::common::{
    Place, SECRET, Server, Setup, block_on,
    browser::{Browser, with},
    client,
    client::{Call, Reply},
    in_second_realm,
    made::{Proof, assertion, code, proof, random_id, redeem, signer},
    people::{Mail, PASSWORD, add_user, people, request},
    routes, scope,
};
use serde_json::json;
use signet_crypto::Algorithm;
use signet_jose::jwt::JwtSigner;
use signet_oauth::client::{AuthMethod, ConsentPolicy};
use signet_request::cookie::Cookie;
use signet_store::{Change, Key, Op, Table};

macro_rules! also_in_a_second_realm {
    ($($module:ident: $($test:ident),+;)+) => {
        mod by_path {
            $($(#[test]
            fn $test() {
                super::in_second_realm(super::Place::ByPath, crate::$module::$test);
            })+)+
        }
        mod by_name {
            $($(#[test]
            fn $test() {
                super::in_second_realm(super::Place::ByName, crate::$module::$test);
            })+)+
        }
    };
}

also_in_a_second_realm! {
    token_life:
        a_code_gives_tokens_that_say_who_and_how,
        the_replay_of_a_code_ends_the_tokens_it_gave,
        an_old_refresh_token_ends_its_family_and_no_other,
        a_proof_counts_once_is_for_its_url_and_brings_its_nonce,
        a_certificate_bound_token_needs_its_certificate,
        revoking_takes_effect_at_once_and_only_for_the_owner,
        revoking_a_user_a_client_or_a_session_ends_everything_at_once,
        a_device_gets_its_tokens_once_after_a_person_said_yes,
        a_sweep_removes_what_has_ended_and_nothing_else;
    login:
        a_password_and_consent_give_a_code,
        prompt_none_answers_from_the_session_alone,
        a_cross_site_post_goes_on_as_a_get_with_the_session,
        a_form_of_another_browser_is_refused,
        wrong_passwords_are_limited_and_the_owners_browser_still_gets_in;
    login_code: the_mailed_code_logs_in;
    account:
        sessions_are_listed_and_ended_one_by_one_or_all_others,
        a_withdrawn_consent_is_asked_for_again,
        a_forgotten_password_is_recovered_by_a_link_that_works_once,
        logging_out_is_asked_for_and_ends_the_session,
        a_logout_goes_to_a_registered_place_or_nowhere,
        a_device_is_approved_by_the_sessions_user;
    session_end:
        logging_out_with_the_sessions_own_id_token_asks_nothing_and_ends_its_access_tokens,
        a_pushed_request_is_answered_once;
    registration:
        a_client_registers_reads_changes_and_removes_itself,
        a_pushed_request_is_checked_and_comes_back_sealed;
    client_authentication:
        private_key_jwt_names_the_issuer_alone_and_counts_once,
        an_address_that_guesses_secrets_hears_429_and_good_secrets_go_on;
    compact_tokens: the_same_story_is_told_the_same_way_in_both_formats;
    revocation_stream: it_says_what_counts_already_and_then_each_kind_as_it_happens;
    people_claims:
        groups_are_made_nested_changed_and_removed_without_a_circle,
        who_leaves_a_group_is_out_at_the_next_refresh_introspection_and_userinfo,
        each_table_gives_its_claims_where_it_says,
        attributes_follow_their_schema_for_the_person_and_for_administrators;
    admin:
        without_a_token_of_the_admin_scope_nothing_is_answered,
        a_disabled_or_removed_client_holds_nothing,
        revoke_all_ends_every_device_also_after_a_rotation_and_nobody_elses,
        users_are_made_listed_changed_and_removed,
        keys_are_listed_and_rotated_without_a_restart;
}

const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";
const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";
const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// A process whose realms have the same clients, a person `alice` each, and mail of their own.
struct World {
    second: Server,
    key: JwtSigner,
    mail: [Mail; 2],
}

impl World {
    fn new(place: Place) -> World {
        let key = signer(Algorithm::Es256);
        let mail = [Mail::new(), Mail::new()];
        let mut assertive = client("assertive");
        assertive.token_endpoint_auth_method = AuthMethod::PrivateKeyJwt;
        assertive.secrets.clear();
        assertive.jwks = Some(crate::client_authentication::public_set(&key));
        let mut web = client("web");
        web.consent = ConsentPolicy::Skip;
        let mut operator = client("operator");
        operator.scope = scope("signet:admin");
        let mut setup = Setup {
            clients: vec![web, assertive, operator],
            people_beside: people(&mail[0]),
            people: people(&mail[1]),
            ..Setup::default()
        };
        setup.settings.registration.enabled = true;
        setup.settings.registration.open = true;
        setup.settings.dpop_nonce_required = true;
        let second = Server::start_at(place, setup, routes());
        World { second, key, mail }
    }

    fn as_client(&self, server: &Server, path: &str, form: &[(&str, &str)]) -> Reply {
        Call::post(path)
            .basic("web", SECRET)
            .form(form)
            .send(server)
    }

    fn is_active(&self, server: &Server, token: &str) -> bool {
        let reply = self.as_client(server, "/introspect", &[("token", token)]);
        reply.expect(200).json()["active"]
            .as_bool()
            .expect("a boolean")
    }

    /// Everything that `from` gives is shown to `to` first, and then to `from`: it was good.
    fn shown_across(&mut self, from_first: bool) {
        let (mail, other_mail) = self.mail.split_at_mut(1);
        let (from_mail, to_mail) = match from_first {
            true => (&mut mail[0], &mut other_mail[0]),
            false => (&mut other_mail[0], &mut mail[0]),
        };
        let (mut from_mail, mut to_mail) = (std::mem::take(from_mail), std::mem::take(to_mail));
        let (from, to) = match from_first {
            true => (self.second.beside(), &self.second),
            false => (&self.second, self.second.beside()),
        };
        let alice = add_user(from, "alice").id;
        add_user(to, "alice");
        // The same person id is known there: it is not for want of the person that a value is
        // refused.
        let row = Key::new(Table::User, alice.as_bytes());
        let user = block_on(from.realm.store.get(&row, from.realm.now()));
        let copy = Op::Put {
            key: row,
            value: user.expect("answers").expect("a person").value,
            end: None,
        };
        block_on(to.realm.store.commit(Change::new(copy), to.realm.now())).expect("is copied");

        self.codes_and_tokens(from, to, &alice);
        self.devices_and_requests(from, to);
        self.clients(from, to);
        self.browsers(from, to);
        Self::mails(from, to, &mut from_mail, &mut to_mail);
    }

    fn codes_and_tokens(&self, from: &Server, to: &Server, alice: &str) {
        let code = code(from, "web", alice);
        self.as_client(to, "/token", &redeem(&code))
            .expect_error(400, "invalid_grant");
        let tokens = self.as_client(from, "/token", &redeem(&code)).expect(200);
        let refresh = tokens.member("refresh_token");
        let again = [
            ("grant_type", "refresh_token"),
            ("refresh_token", &*refresh),
        ];
        let access = tokens.member("access_token");

        self.as_client(to, "/token", &again)
            .expect_error(400, "invalid_grant");
        let info = Call::get("/userinfo").bearer(&access);
        info.send(to).expect_error(401, "invalid_token");
        assert!(!self.is_active(to, &access) && !self.is_active(to, &refresh));
        let exchange = [
            ("grant_type", EXCHANGE),
            ("subject_token", &*access),
            ("subject_token_type", ACCESS_TOKEN),
        ];
        self.as_client(to, "/token", &exchange)
            .expect_error(400, "invalid_request");
        for token in [&access, &refresh] {
            // RFC 7009 section 2.2: a token that is not known is answered as if revoked. It is not.
            self.as_client(to, "/revoke", &[("token", token)])
                .expect(200);
        }

        info.send(from).expect(200);
        assert!(self.is_active(from, &access) && self.is_active(from, &refresh));
        self.as_client(from, "/token", &again).expect(200);

        let asked = [
            ("grant_type", "client_credentials"),
            ("scope", "signet:admin"),
        ];
        let admin = Call::post("/token").basic("operator", SECRET).form(&asked);
        let admin = admin.send(from).expect(200).member("access_token");
        let users = Call::get("/admin/v1/users").bearer(&admin);
        users.send(from).expect(200);
        // Administrators of the first realm are the installation's, and administer all. Nobody else
        // administers more than their realm.
        let is_installation = from.realm.id().is_default();
        let expected = if is_installation { 200 } else { 401 };
        assert_eq!(users.send(to).status, expected);
    }

    fn devices_and_requests(&self, from: &Server, to: &Server) {
        let asked = self.as_client(from, "/device_authorization", &[("scope", "openid")]);
        let asked = asked.expect(200);
        let device_code = asked.member("device_code");
        let poll = [("grant_type", DEVICE_CODE), ("device_code", &*device_code)];
        self.as_client(to, "/token", &poll)
            .expect_error(400, "invalid_grant");
        let page = with("/device", &[("user_code", &asked.member("user_code"))]);
        let mut browser = Browser::new(to);
        let login = browser.get(&page);
        let confirm = browser.log_in(&login, "alice", PASSWORD);
        browser
            .press(&confirm, "allow", &[])
            .expect("No device is waiting");
        self.as_client(from, "/token", &poll)
            .expect_error(400, "authorization_pending");

        let pushed = self.as_client(from, "/par", &crate::common::people::parameters(&[]));
        let uri = pushed.expect(201).member("request_uri");
        let url = with("/authorize", &[("client_id", "web"), ("request_uri", &uri)]);
        Browser::new(to)
            .get(&url)
            .expect_error("invalid_request_uri");
        Browser::new(from).get(&url).expect("name=\"password\"");
    }

    fn clients(&self, from: &Server, to: &Server) {
        let document = json!({ "redirect_uris": [crate::common::made::REDIRECT] });
        let made = Call::post("/register")
            .json(&document)
            .send(from)
            .expect(201);
        let own = format!("/register/{}", made.member("client_id"));
        let read = Call::get(&own).bearer(&made.member("registration_access_token"));
        read.send(to).expect_error(401, "invalid_token");
        read.send(from).expect(200);

        let now = from.realm.now();
        let assertion = assertion(&self.key, "assertive", &from.issuer(), &random_id(), now);
        let authenticated = Call::post("/token").form(&[
            ("grant_type", "client_credentials"),
            ("client_assertion_type", JWT_BEARER),
            ("client_assertion", &assertion),
        ]);
        authenticated.send(to).expect_error(401, "invalid_client");
        authenticated.send(from).expect(200);

        let key = signer(Algorithm::Es256);
        let proven = |server: &Server, nonce| {
            let content = Proof {
                htm: "POST",
                path: "/token",
                jti: &random_id(),
                nonce,
                token: None,
            };
            Call::post("/token")
                .basic("web", SECRET)
                .header("dpop", &proof(server, &key, &content))
                .form(&[("grant_type", "client_credentials")])
                .send(server)
        };
        let nonce = proven(from, None).expect_error(400, "use_dpop_nonce");
        let nonce = nonce.header("dpop-nonce");
        proven(to, Some(nonce)).expect_error(400, "use_dpop_nonce");
        proven(from, Some(nonce)).expect(200);
    }

    fn browsers(&self, from: &Server, to: &Server) {
        let mut browser = Browser::new(from);
        let begun = browser.get(&request(&[]));
        let sealed = begun.field("interaction");
        let mut foreign = Browser::new(to);
        let same = foreign.get(&request(&[]));
        carry(&browser, from, &mut foreign, to);
        let typed = [
            ("interaction", &*sealed),
            ("username", "alice"),
            ("password", PASSWORD),
        ];
        foreign
            .press(&same, "allow", &typed)
            .expect_error("invalid_request");
        let done = browser.log_in(&begun, "alice", PASSWORD);
        assert!(done.param("code").is_some(), "{done:?}");

        let mut foreign = Browser::new(to);
        carry(&browser, from, &mut foreign, to);
        foreign.get("/account").expect("name=\"password\"");
        browser.get("/account").expect("Your account");
    }

    fn mails(from: &Server, to: &Server, from_mail: &mut Mail, to_mail: &mut Mail) {
        let ask = |browser: &mut Browser<'_>| {
            let page = browser.get(&request(&[]));
            browser.press(&page, "email", &[("username", "alice@example.test")])
        };
        let (mut browser, mut foreign) = (Browser::new(from), Browser::new(to));
        let (page, other) = (ask(&mut browser), ask(&mut foreign));
        let (otp, others) = (from_mail.code(), to_mail.code());
        // One time in a million both are the same, and say nothing.
        if otp != others {
            foreign
                .press(&other, "allow", &[("otp", &otp)])
                .expect("This is not the code");
        }
        let done = browser.press(&page, "allow", &[("otp", &otp)]);
        assert!(done.param("code").is_some(), "{done:?}");

        let mut browser = Browser::new(from);
        let page = browser.get("/account/recover");
        browser.press(&page, "email", &[("username", "alice")]);
        let mail = from_mail.fresh().remove(0);
        assert!(mail.contains(&from.issuer()), "{mail}");
        let start = mail.find("/account/recover?token=").expect("a link");
        let link = mail[start..].split_whitespace().next().expect("a link");
        Browser::new(to).get(link).expect("This link has expired");
        Browser::new(from).get(link).expect("Set a new password");
    }
}

/// Gives another realm's browser these cookies: under their own names, and under the names that the
/// other realm gives them.
fn carry(browser: &Browser<'_>, from: &Server, foreign: &mut Browser<'_>, to: &Server) {
    for cookie in [Cookie::Session, Cookie::Browser, Cookie::Device] {
        let name = |server: &Server| cookie.name(server.realm.id()).into_owned();
        if let Some(value) = browser.cookies.get(&name(from)) {
            foreign.cookies.insert(name(from), value.clone());
            foreign.cookies.insert(name(to), value.clone());
        }
    }
}

#[test]
fn nothing_that_the_default_realm_gives_counts_in_a_realm_under_its_path() {
    World::new(Place::ByPath).shown_across(true);
}

#[test]
fn nothing_that_a_realm_under_a_path_gives_counts_in_the_default_realm() {
    World::new(Place::ByPath).shown_across(false);
}

#[test]
fn nothing_that_the_default_realm_gives_counts_in_a_realm_with_a_name_of_its_own() {
    World::new(Place::ByName).shown_across(true);
}

#[test]
fn nothing_that_a_realm_with_a_name_of_its_own_gives_counts_in_the_default_realm() {
    World::new(Place::ByName).shown_across(false);
}

#[test]
fn each_realm_shows_its_own_documents_and_no_path_leads_into_two() {
    let second = Server::start_at(Place::ByPath, Setup::default(), routes());
    let first = second.beside();
    let issuer_at = |server: &Server, target: &str| {
        let reply = Call::get(target).send(server);
        (reply.status == 200).then(|| reply.member("issuer"))
    };
    let document = "/.well-known/openid-configuration";
    assert_eq!(issuer_at(first, document), Some(first.issuer()));
    assert_eq!(issuer_at(&second, document), Some(second.issuer()));
    // RFC 8414 section 3.1: the issuer's path behind the well-known one.
    let behind = "/.well-known/oauth-authorization-server/second";
    assert_eq!(issuer_at(first, behind), Some(second.issuer()));
    for nowhere in ["/secondary/token", "/second/second/token", "/token/second"] {
        assert_eq!(Call::get(nowhere).send(first).status, 404, "{nowhere}");
    }
    let keys = |server: &Server| Call::get("/jwks").send(server).expect(200).text();
    assert_ne!(keys(first), keys(&second));
    // The process answers for itself at one place.
    assert_eq!(Call::get("/health/ready").send(&second).status, 200);
}
