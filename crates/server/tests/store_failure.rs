//! A store that takes no more writes (a full disk, say): nothing that must be durable is answered
//! as done, what needs no store goes on, and readiness says so.

use signet_oauth::token::decision::RevocationQuery;
use signet_store::{RevocationIndex, Table};
use std::sync::{Arc, atomic::Ordering};

use crate::common::{
    Server, Setup,
    client::Call,
    failing::Failing,
    made::{alice, code, redeem},
};

fn server() -> (Server, Arc<Failing>) {
    let store = Arc::new(Failing::default());
    let server = Server::start(Setup {
        store: Some(store.clone()),
        clients: vec![
            crate::common::client("service"),
            crate::common::client("web"),
        ],
        ..Setup::default()
    });
    (server, store)
}

#[test]
fn readiness_fails_while_the_store_takes_no_writes_and_liveness_does_not() {
    let (server, store) = server();
    Call::get("/health/ready").send(&server).expect(200);
    store.full.store(true, Ordering::SeqCst);
    Call::get("/health/ready").send(&server).expect(503);
    Call::get("/health/live").send(&server).expect(200);
    store.full.store(false, Ordering::SeqCst);
    Call::get("/health/ready").send(&server).expect(200);
}

#[test]
fn what_must_be_durable_is_refused_and_can_be_tried_again() {
    let (server, store) = server();
    let user = alice(&server);
    let code = code(&server, "web", &user);
    let ask = || {
        Call::post("/token")
            .basic("web", crate::common::SECRET)
            .form(&redeem(&code))
    };
    store.full.store(true, Ordering::SeqCst);
    let refused = ask().send(&server);
    assert!((500..600).contains(&refused.status), "{}", refused.status);
    assert!(!refused.text().contains("access_token"));
    assert!(!refused.text().contains("disk"), "nothing of the inside");
    store.full.store(false, Ordering::SeqCst);
    ask().send(&server).expect(200);
}

#[test]
fn a_revocation_that_did_not_rest_is_not_reported_as_done() {
    let (server, store) = server();
    let user = alice(&server);
    let code = code(&server, "web", &user);
    let tokens = Call::post("/token")
        .basic("web", crate::common::SECRET)
        .form(&redeem(&code))
        .send(&server)
        .expect(200);
    let token = tokens.member("access_token");
    let revoke = || {
        Call::post("/revoke")
            .basic("web", crate::common::SECRET)
            .form(&[("token", &token)])
    };
    store.full.store(true, Ordering::SeqCst);
    // RFC 7009 section 2.2.1: the client must assume that the token still exists.
    revoke().send(&server).expect(503);
    store.full.store(false, Ordering::SeqCst);
    revoke().send(&server).expect(200);
}

#[test]
fn a_crash_after_a_new_password_leaves_nobody_in() {
    use crate::common::{
        block_on,
        browser::Browser,
        people::{Mail, PASSWORD, start},
    };
    let mut mail = Mail::new();
    let store = Arc::new(Failing::default());
    let server = start(&mail, |setup| setup.store = Some(store.clone()));
    let mut thief = Browser::new(&server);
    let page = thief.get("/account");
    thief
        .log_in(&page, "alice", PASSWORD)
        .expect("Your account");
    let mut owner = Browser::new(&server);
    let page = owner.get("/account/recover");
    owner.press(&page, "email", &[("username", "alice")]);
    let mails = mail.fresh();
    let start = mails[0].find("/account/recover?token=").unwrap();
    let page = owner.get(mails[0][start..].split_whitespace().next().unwrap());
    // From the change that sets the password on nothing more is written.
    *store.last.lock().unwrap() = Some(Table::User);
    let fields = [("new_password", "another calm set of words")];
    owner.press(&page, "password", &fields).expect_status(503);
    *store.last.lock().unwrap() = None;
    store.full.store(false, Ordering::SeqCst);
    let realm = &server.realm;
    let alice = block_on(realm.people.users.by_login("alice", realm.now()));
    let alice = alice.unwrap().unwrap();
    let sessions = signet_directory::session::list(&*realm.store, &alice.id, realm.now());
    let (_, row) = block_on(sessions).unwrap().remove(0);
    // As after a restart: only what the store says counts.
    let again = block_on(RevocationIndex::load(store, realm.now())).unwrap();
    assert!(again.is_revoked(&RevocationQuery {
        issued_at_ms: row.login_ms,
        sid: Some(&row.sid),
        user_id: Some(&alice.id),
        ..RevocationQuery::default()
    }));
    let page = Browser::new(&server).get("/account");
    let page = owner.log_in(&page, "alice", PASSWORD);
    assert!(
        !page.text().contains("Your account"),
        "the old password is gone"
    );
}
