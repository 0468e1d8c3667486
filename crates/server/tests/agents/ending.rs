use super::world::*;
use crate::common::{block_on, people::add_user};
use http::Method;
use signet_agent::{
    identity::Created,
    json::File,
    object::Signed,
    revocation::{Revocation, Target},
};

fn revocation(by: &Created, target: Target, now: u64) -> String {
    let body = Revocation {
        by: by.document.by(),
        target,
        reason: "enough".to_owned(),
        at: now,
    };
    let signed = Signed::sign(&body, &by.document.signer(&by.keys)).unwrap();
    File::of(&signed).with_signer(&by.document).write().unwrap()
}

#[test]
fn a_revoked_grant_ends_its_tokens_at_once_and_is_never_exchanged_again() {
    let world = World::new();
    let links = world.chain();
    let (token, above) = (
        world.token_of(&world.carol, &links),
        world.token_of(&world.bob, &links[..1]),
    );
    assert!(world.is_active(&token) && world.is_active(&above));
    world.userinfo(&token).expect(200);
    // The grantor's own word, signed.
    let text = revocation(&world.bob, Target::Grant(links[1].id()), world.now());
    let reply = world.state(&text).expect(200).json();
    assert_eq!(reply["grants_ended"], 1);
    assert_eq!(reply["nodes"][0]["node"], "local");
    assert!(reply["nodes"][0]["milliseconds"].is_u64());
    assert!(!world.is_active(&token));
    world.userinfo(&token).expect_error(401, "invalid_token");
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "revoked");
    // What is above it stays.
    assert!(world.is_active(&above));
    world.exchange(&world.bob, &links[..1]).expect(200);
}

#[test]
fn a_revocation_counts_before_the_grant_was_ever_seen() {
    let world = World::new();
    let links = world.chain();
    let text = revocation(&world.alice, Target::Grant(links[0].id()), world.now());
    world.state(&text).expect(200);
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "revoked");
}

#[test]
fn revocations_of_what_was_never_seen_have_a_bound_for_each_agent_and_an_end() {
    use signet_agent::Hash;
    use signet_realm::agents::statement::{MAX_UNSEEN, UNSEEN_LIFETIME, revocations};
    let world = World::new();
    let unseen = |n: usize| {
        let mut id = [0; 32];
        id[..8].copy_from_slice(&n.to_le_bytes());
        Target::Grant(Hash(id))
    };
    for n in 0..MAX_UNSEEN {
        world
            .state(&revocation(&world.alice, unseen(n), world.now()))
            .expect(200);
    }
    // The same again takes no room, another one is refused and not kept.
    world
        .state(&revocation(&world.alice, unseen(0), world.now()))
        .expect(200);
    let more = unseen(MAX_UNSEEN);
    world
        .state(&revocation(&world.alice, more, world.now()))
        .expect_error(400, "invalid_request");
    let store = &*world.server.realm.store;
    let said = |target, at| block_on(revocations(store, target, at)).unwrap().len();
    assert_eq!(said(more, world.now()), 0);
    assert_eq!(said(unseen(1), world.now() + UNSEEN_LIFETIME - 60), 1);
    assert_eq!(said(unseen(1), world.now() + UNSEEN_LIFETIME + 1), 0);
    // What has been seen, and the agent itself, can be revoked all the same; and others have room
    // of their own.
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    world
        .state(&revocation(&world.bob, more, world.now()))
        .expect(200);
    world
        .state(&revocation(
            &world.alice,
            Target::Grant(links[0].id()),
            world.now(),
        ))
        .expect(200);
    assert!(!world.is_active(&token));
    let itself = Target::Agent(world.alice.document.id());
    world
        .state(&revocation(&world.alice, itself, world.now()))
        .expect(200);
}

#[test]
fn a_declaration_may_last_for_as_long_as_a_number_goes() {
    use signet_agent::declaration::Declaration;
    let world = World::new();
    let links = world.chain();
    world.token_of(&world.carol, &links);
    let body = Declaration {
        by: world.bob.document.by(),
        capabilities: capabilities(&["delete:*"]),
        reason: String::new(),
        from: 1,
        until: Some(u64::MAX),
    };
    let signed = Signed::sign(&body, &world.bob.document.signer(&world.bob.keys)).unwrap();
    let text = File::of(&signed)
        .with_signer(&world.bob.document)
        .write()
        .unwrap();
    world.state(&text).expect(200);
    let store = &*world.server.realm.store;
    let bob = world.bob.document.id();
    let kept = signet_realm::agents::statement::declarations(store, bob, world.now());
    assert_eq!(block_on(kept).unwrap().len(), 1);
}

#[test]
fn a_subtree_an_agent_and_everything_from_it_end_as_far_as_they_reach() {
    let world = World::new();
    let links = world.chain();
    let pair = || {
        (
            world.token_of(&world.carol, &links),
            world.token_of(&world.bob, &links[..1]),
        )
    };
    let (below, above) = pair();
    let text = revocation(&world.alice, Target::Subtree(links[0].id()), world.now());
    world.state(&text).expect(200);
    assert!(!world.is_active(&below) && world.is_active(&above));
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "revoked");

    // Everything from Bob; what was granted to him stays.
    let world = World::new();
    let links = world.chain();
    let (below, above) = (
        world.token_of(&world.carol, &links),
        world.token_of(&world.bob, &links[..1]),
    );
    let everything = Target::Everything(world.bob.document.id());
    world
        .state(&revocation(&world.alice, everything, world.now()))
        .expect(200);
    assert!(!world.is_active(&below) && world.is_active(&above));

    // Bob ends himself.
    let itself = Target::Agent(world.bob.document.id());
    world
        .state(&revocation(&world.bob, itself, world.now()))
        .expect(200);
    assert!(!world.is_active(&above));
    let refused = world.exchange(&world.bob, &links[..1]);
    world.refused(refused, "invalid_request", "agent_revoked");
}

// Known fault G6: anyone's revocation, with any signature, revokes; an unreadable revocation counts
// as none.
#[test]
fn g06_only_those_above_a_grant_or_named_by_it_can_revoke_it() {
    let world = World::new();
    let mallory = agent("mallory");
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    let target = Target::Grant(links[0].id());
    // An unknown agent is not heard.
    let stranger = revocation(&mallory, target, world.now());
    world.state(&stranger).expect_error(400, "access_denied");
    // Neither is one who is known and granted nothing above it: not the holder, not another person.
    let holder = revocation(&world.carol, target, world.now());
    world.state(&holder).expect_error(400, "access_denied");
    let bill = add_user(&world.server, "bill");
    world.bind(&bill.id, &mallory);
    world.state(&stranger).expect_error(400, "access_denied");
    let agent = Target::Agent(world.bob.document.id());
    let reply = world.state(&revocation(&mallory, agent, world.now()));
    assert_eq!(reply.expect(200).json()["grants_ended"], 0);
    // In Alice's name, by another key; and one byte changed.
    let mut body: serde_json::Value =
        serde_json::from_str(&revocation(&world.alice, target, world.now())).unwrap();
    body["reason"] = "other".into();
    body.as_object_mut().unwrap().remove("id");
    let changed = body.to_string();
    world.state(&changed).expect_error(400, "invalid_request");
    for junk in ["", "{}", "[]", "null", "{\"type\":\"revocation\"}"] {
        world.state(junk).expect_error(400, "invalid_request");
    }
    assert!(world.is_active(&token));
    world.exchange(&world.carol, &links).expect(200);
}

#[test]
fn g06_a_revocation_that_the_store_cannot_read_refuses_the_chain() {
    use signet_store::{Change, Key, Op, Table};
    let world = World::new();
    let links = world.chain();
    let mut partition = vec![1];
    partition.extend(links[0].id().0);
    let garbage = Op::Put {
        key: Key::with_sort(Table::AgentStatement, partition, vec![1; 32]),
        value: b"garbage".to_vec(),
        end: None,
    };
    block_on(
        world
            .server
            .realm
            .store
            .commit(Change::new(garbage), world.now()),
    )
    .unwrap();
    world
        .exchange(&world.carol, &links)
        .expect_error(503, "temporarily_unavailable");
}

#[test]
fn a_delegate_that_the_grant_names_may_revoke_it() {
    let world = World::new();
    let warden = agent("warden");
    let shown = serde_json::json!({
        "document": signet_agent::json::to_json(warden.document.signed().as_bytes()).unwrap(),
    });
    world
        .admin(Method::POST, "/admin/v1/agents", Some(&shown))
        .expect(201);
    let mut body = world.grant(&world.alice, &world.bob, &["read:*", "scope:openid"], 0);
    body.revocation.delegates = vec![warden.document.id()];
    let links = [sign(&world.alice, &body)];
    let token = world.token_of(&world.bob, &links);
    let target = Target::Grant(links[0].id());
    world
        .state(&revocation(&warden, target, world.now()))
        .expect(200);
    assert!(!world.is_active(&token));
}

#[test]
fn a_rotation_for_compromise_ends_what_the_old_key_granted() {
    let world = World::new();
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    let after = agent("spare").keys.set().commitment();
    let rotated = world
        .alice
        .document
        .rotate(
            &world.alice.keys,
            &world.alice.next,
            after,
            "stolen",
            true,
            world.now(),
        )
        .unwrap();
    let shown = serde_json::json!({
        "document": signet_agent::json::to_json(rotated.signed().as_bytes()).unwrap(),
    });
    let path = format!("/admin/v1/agents/{}", rotated.id());
    world.admin(Method::PUT, &path, Some(&shown)).expect(200);
    assert!(!world.is_active(&token));
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "key_compromised");
    // The old document does not come back.
    let old = serde_json::json!({
        "document": signet_agent::json::to_json(world.alice.document.signed().as_bytes()).unwrap(),
    });
    let reply = world.admin(Method::PUT, &path, Some(&old)).expect(409);
    assert_eq!(reply.member("code"), "rollback");
}

#[test]
fn a_retired_key_says_nothing_to_the_server_after_its_rotation() {
    let world = World::new();
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    let rotated = |who: &Created| {
        who.document
            .rotate(
                &who.keys,
                &who.next,
                agent("spare").keys.set().commitment(),
                "yearly",
                false,
                world.now() - 60,
            )
            .unwrap()
    };
    let tell = |document: &signet_agent::identity::VerifiedDocument| {
        let shown = serde_json::json!({
            "document": signet_agent::json::to_json(document.signed().as_bytes()).unwrap(),
        });
        let path = format!("/admin/v1/agents/{}", document.id());
        world.admin(Method::PUT, &path, Some(&shown)).expect(200);
    };
    tell(&rotated(&world.carol));
    // Possession by Carol's first key, of a grant to it.
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "retired_key");
    tell(&rotated(&world.alice));
    // A revocation by Alice's first key, and a grant that it makes now.
    let target = Target::Grant(links[0].id());
    world
        .state(&revocation(&world.alice, target, world.now()))
        .expect_error(400, "invalid_request");
    assert!(world.is_active(&token));
    let refused = world.exchange(&world.bob, &world.chain()[..1]);
    world.refused(refused, "invalid_request", "retired_key");
    // A rotation of the future is not taken in.
    let bricked = world
        .bob
        .document
        .rotate(
            &world.bob.keys,
            &world.bob.next,
            agent("spare").keys.set().commitment(),
            "",
            false,
            u64::MAX,
        )
        .unwrap();
    let shown = serde_json::json!({
        "document": signet_agent::json::to_json(bricked.signed().as_bytes()).unwrap(),
    });
    let path = format!("/admin/v1/agents/{}", bricked.id());
    world.admin(Method::PUT, &path, Some(&shown)).expect(400);
}

#[test]
fn a_disabled_person_has_no_agents() {
    let world = World::new();
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    let path = format!("/admin/v1/users/{}/disable", world.user_id);
    world.admin(Method::POST, &path, None).expect(200);
    assert!(!world.is_active(&token));
    world
        .exchange(&world.carol, &links)
        .expect_error(400, "invalid_request");
    // Let in again, the person has to bind and to grant again.
    let path = format!("/admin/v1/users/{}/enable", world.user_id);
    world.admin(Method::POST, &path, None).expect(200);
    world.refused(
        world.exchange(&world.carol, &links),
        "invalid_request",
        "wrong_root",
    );
}
