use super::world::*;
use crate::common::{
    browser::{Browser, Page},
    people::{PASSWORD, add_user},
};
use signet_agent::{identity::Created, json::File, object::Signed, proof::Proof};

fn log_in<'s>(world: &'s World, name: &str) -> Browser<'s> {
    let mut browser = Browser::new(&world.server);
    let page = browser.get("/account").expect("name=\"password\"");
    browser.log_in(&page, name, PASSWORD).expect("Your account");
    browser
}

fn challenge(page: &Page) -> String {
    let text = page.text();
    let (_, rest) = text.split_once("--challenge ").unwrap();
    rest.split('<').next().unwrap().trim().to_owned()
}

fn proof(world: &World, page: &Page, identity: &Created) -> Proof {
    Proof {
        by: identity.document.by(),
        grant: identity.document.signed().id(),
        audience: world.server.issuer(),
        at: world.now(),
        nonce: challenge(page).into_bytes(),
        method: None,
    }
}

fn text(identity: &Created, proof: &Proof) -> String {
    let signed = Signed::sign(proof, &identity.document.signer(&identity.keys)).unwrap();
    File::of(&signed)
        .with_signer(&identity.document)
        .write()
        .unwrap()
}

#[test]
fn a_person_binds_an_identity_over_the_pages_challenge_and_takes_it_off_again() {
    let world = World::new();
    let bill = add_user(&world.server, "bill");
    let root = agent("bill");
    let mut browser = log_in(&world, "bill");
    let page = browser.get("/account").expect("No agent has acted");
    let shown = text(&root, &proof(&world, &page, &root));
    let page = browser
        .press(&page, "bind-agent", &[("proof", &shown)])
        .expect("The identity is bound to your account")
        .expect(&root.document.id().to_string());
    // The challenge was answered once; another page brings another.
    browser
        .press(&page, "bind-agent", &[("proof", &shown)])
        .expect("answers another challenge");
    let body = world.grant(&root, &world.bob, &["read:*", "scope:openid"], 0);
    let links = [sign(&root, &body)];
    let token = world.token_of(&world.bob, &links);
    assert_eq!(world.introspect(&token)["sub"], bill.id);
    let page = browser
        .get("/account")
        .expect(&world.bob.document.id().to_string())
        .expect("read:*");
    browser
        .press(&page, "unbind-agent", &[])
        .expect("was taken off your account");
    assert!(!world.is_active(&token));
    let refused = world.exchange(&world.bob, &links);
    world.refused(refused, "invalid_request", "wrong_root");
}

#[test]
fn one_identity_belongs_to_one_user() {
    let world = World::new();
    add_user(&world.server, "bill");
    let mut browser = log_in(&world, "bill");
    let page = browser.get("/account");
    let shown = text(&world.alice, &proof(&world, &page, &world.alice));
    browser
        .press(&page, "bind-agent", &[("proof", &shown)])
        .expect("bound to another account");
    // Racing people: one gets it.
    let root = agent("both");
    let store = &*world.server.realm.store;
    let won = crate::common::block_on(async {
        let mut won = 0;
        for user in ["one", "two", "three"] {
            let bound =
                signet_realm::agents::binding::bind(store, user, &root.document, world.now());
            won += usize::from(bound.await.is_ok());
        }
        won
    });
    assert_eq!(won, 1);
}

#[test]
fn a_proof_is_for_this_page_server_and_document_and_by_the_current_key() {
    let world = World::new();
    let root = agent("second");
    let mallory = agent("mallory");
    let mut browser = log_in(&world, "alice");
    let try_with = |browser: &mut Browser<'_>, change: &dyn Fn(&mut Proof), said: &str| {
        let page = browser.get("/account");
        let mut made = proof(&world, &page, &root);
        change(&mut made);
        browser
            .press(&page, "bind-agent", &[("proof", &text(&root, &made))])
            .expect(said);
    };
    let other = |proof: &mut Proof| proof.nonce = b"other".to_vec();
    try_with(&mut browser, &other, "answers another challenge");
    let other = |proof: &mut Proof| proof.audience = "https://other.example".to_owned();
    try_with(&mut browser, &other, "is for another server");
    let other = |proof: &mut Proof| proof.at -= 3600;
    try_with(&mut browser, &other, "too old");
    let id = mallory.document.signed().id();
    let other = |proof: &mut Proof| proof.grant = id;
    try_with(&mut browser, &other, "for another document");
    // Mallory's document under a proof of another.
    let page = browser.get("/account");
    let signed = proof(&world, &page, &root);
    let signed = Signed::sign(&signed, &root.document.signer(&root.keys)).unwrap();
    let swapped = File::of(&signed)
        .with_signer(&mallory.document)
        .write()
        .unwrap();
    browser
        .press(&page, "bind-agent", &[("proof", &swapped)])
        .expect("current key");
    for junk in ["", "x", "{}", "[]"] {
        let page = browser.get("/account");
        browser
            .press(&page, "bind-agent", &[("proof", junk)])
            .expect("cannot be read");
    }
}

#[test]
fn binding_needs_a_fresh_login_and_the_session_that_the_page_was_shown_to() {
    let world = World::new();
    let root = agent("second");
    let mut browser = log_in(&world, "alice");
    let page = browser.get("/account");
    let shown = text(&root, &proof(&world, &page, &root));
    // Somebody else's session with Alice's page.
    add_user(&world.server, "bill");
    let mut other = log_in(&world, "bill");
    let interaction = page.field("interaction");
    let fields = [
        ("interaction", &*interaction),
        ("decision", "bind-agent"),
        ("proof", &*shown),
    ];
    let answer = other.post("/account", &fields);
    assert!(!answer.text().contains("is bound to your account"));
    world.server.pass(700);
    let page = browser.get("/account");
    let shown = text(&root, &proof(&world, &page, &root));
    browser
        .press(&page, "bind-agent", &[("proof", &shown)])
        .expect("name=\"password\"");
    let store = &*world.server.realm.store;
    let bound = signet_realm::agents::binding::get(store, root.document.id(), world.now());
    assert_eq!(crate::common::block_on(bound).unwrap(), None);
}

#[test]
fn a_newer_document_takes_the_olders_place_and_an_older_never_a_newers() {
    let world = World::new();
    let before = world.chain();
    let mut browser = log_in(&world, "alice");
    let after = agent("spare").keys.set().commitment();
    let rotated = world
        .alice
        .document
        .rotate(
            &world.alice.keys,
            &world.alice.next,
            after,
            "",
            false,
            world.now(),
        )
        .unwrap();
    let page = browser.get("/account");
    let mut made = proof(&world, &page, &world.alice);
    made.by = rotated.by();
    made.grant = rotated.signed().id();
    let signed = Signed::sign(&made, &rotated.signer(&world.alice.next)).unwrap();
    let shown = File::of(&signed).with_signer(&rotated).write().unwrap();
    browser
        .press(&page, "bind-agent", &[("proof", &shown)])
        .expect("is bound to your account")
        .expect("key 2");
    let page = browser.get("/account");
    let shown = text(&world.alice, &proof(&world, &page, &world.alice));
    browser
        .press(&page, "bind-agent", &[("proof", &shown)])
        .expect("older than the one that is known");
    // Grants made before an ordinary rotation still count.
    world.exchange(&world.carol, &before).expect(200);
}

#[test]
fn a_person_ends_a_grant_or_everything_in_a_session() {
    let world = World::new();
    let token = world.token();
    let mut browser = log_in(&world, "alice");
    let page = browser.get("/account").expect("through another agent");
    browser
        .press(&page, "revoke-grant", &[])
        .expect("have ended");
    assert!(!world.is_active(&token));
    let token = world.token();
    // Not theirs, and nonsense: nothing is ended.
    add_user(&world.server, "bill");
    let mut other = log_in(&world, "bill");
    let page = other.get("/account");
    let grant = world.chain()[0].id().to_string();
    for id in [&*grant, "x", ""] {
        let interaction = page.field("interaction");
        let fields = [
            ("interaction", &*interaction),
            ("decision", "revoke-grant"),
            ("grant", id),
        ];
        other
            .post("/account", &fields)
            .expect("nothing of that name");
    }
    assert!(world.is_active(&token));
    let page = browser.get("/account");
    browser
        .press(&page, "stop-agents", &[])
        .expect("No agent can act for you any more");
    assert!(!world.is_active(&token));
}

#[test]
fn where_agents_are_not_offered_the_page_does_not_speak_of_them() {
    let world = World::new();
    world
        .server
        .configure(|settings, _| settings.agents.enabled = false);
    let page = log_in(&world, "alice").get("/account");
    assert!(!page.offers("bind-agent") && !page.text().contains("gent"));
}
