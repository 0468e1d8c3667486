use super::world::*;
use crate::common::{
    SECRET, block_on,
    client::Call,
    made::{self, claims},
    people::add_user,
};
use serde_json::json;
use signet_agent::{
    constraint::{Budget, Constraints},
    declaration::Declaration,
    object::Signed,
    text_map::TextMap,
};
use signet_crypto::Algorithm;
use signet_encoding::base64url;
use signet_oauth::issued::format::AccessTokenFormat;

#[test]
fn a_chain_becomes_a_bound_token_for_the_person_that_names_its_actors_and_says_what_it_may() {
    let world = World::new();
    let links = world.chain();
    let shown = world.present(&world.carol, &links).to_text();
    let reply = world
        .ask(&shown, Some(&world.key), &[("scope", "openid")])
        .expect(200);
    assert_eq!(reply.member("token_type"), "DPoP");
    assert_eq!(
        reply.member("issued_token_type"),
        "urn:ietf:params:oauth:token-type:access_token"
    );
    assert!(reply.json().get("refresh_token").is_none());
    let details = json!([{
        "type": "signet_agent_capability",
        "locations": [world.server.issuer()],
        "actions": ["read"],
        "resources": ["files/*"],
    }]);
    assert_eq!(reply.json()["authorization_details"], details);
    let token = reply.member("access_token");
    let said = claims(&token);
    let ids: Vec<String> = links.iter().map(|link| link.id().to_string()).collect();
    let act = json!({
        "sub": world.carol.document.id().to_string(),
        "act": { "sub": world.bob.document.id().to_string() },
    });
    for said in [&said, &world.introspect(&token)] {
        assert_eq!(said["sub"], world.user_id);
        assert_eq!(said["client_id"], "platform");
        assert_eq!(said["scope"], "openid");
        assert_eq!(said["aud"], world.server.issuer());
        assert_eq!(said["act"], act);
        assert_eq!(said["authorization_details"], details);
        assert_eq!(said["agent_grants"], json!(ids));
        assert_eq!(
            said["cnf"]["jkt"],
            base64url::encode(&thumbprint(&world.key))
        );
    }
    assert_eq!(
        world.userinfo(&token).expect(200).member("sub"),
        world.user_id
    );
}

#[test]
fn without_asking_a_token_has_no_scope_and_a_scope_needs_its_capability() {
    let world = World::new();
    let links = world.chain();
    let token = world
        .exchange(&world.carol, &links)
        .expect(200)
        .member("access_token");
    assert!(claims(&token).get("scope").is_none());
    for (scope, error) in [
        ("email", "invalid_scope"),
        ("offline_access", "invalid_scope"),
        ("signet:admin", "invalid_scope"),
    ] {
        let shown = world.present(&world.carol, &links).to_text();
        world
            .ask(&shown, Some(&world.key), &[("scope", scope)])
            .expect_error(400, error);
    }
}

#[test]
fn the_client_needs_the_grant_the_flag_and_a_secret_and_the_server_its_setting() {
    let world = World::new();
    let shown = world.present(&world.carol, &world.chain()).to_text();
    world
        .ask_as("plain", &shown, Some(&world.key), &[])
        .expect_error(400, "unauthorized_client");
    let without = World::with(|client| {
        client
            .grant_types
            .retain(|grant| *grant != signet_oauth::client::GrantType::TokenExchange);
    });
    let shown = without.present(&without.carol, &without.chain()).to_text();
    without
        .ask(&shown, Some(&without.key), &[])
        .expect_error(400, "unauthorized_client");
    world
        .server
        .configure(|settings, _| settings.agents.enabled = false);
    let shown = world.present(&world.carol, &world.chain()).to_text();
    let refused = world.ask(&shown, Some(&world.key), &[]);
    world.refused(
        refused,
        "invalid_request",
        "the token type is not supported",
    );
}

#[test]
fn the_metadata_names_the_type_where_chains_are_exchanged() {
    let world = World::new();
    let path = "/.well-known/oauth-authorization-server";
    let metadata = Call::get(path).send(&world.server).json();
    let types = &metadata["signet_subject_token_types_supported"];
    assert!(types.to_string().contains("agent-grant-chain"), "{types}");
    assert_eq!(
        metadata["authorization_details_types_supported"],
        json!(["signet_agent_capability"])
    );
    assert!(metadata["signet_agent_statements_endpoint"].is_string());
    let plain = crate::common::Server::start(crate::common::Setup::default());
    let metadata = Call::get(path).send(&plain).json().to_string();
    assert!(!metadata.contains("agent"), "{metadata}");
    let statement = Call::post("/agent-statements").body("application/json", b"{}");
    statement.send(&plain).expect(404);
}

#[test]
fn a_token_is_bound_to_the_key_or_certificate_that_the_holders_proof_names_and_never_a_bearer_token()
 {
    let world = World::with(|client| client.tls_client_certificate_bound_access_tokens = false);
    let links = world.chain();
    let shown = world.present(&world.carol, &links).to_text();
    world.refused(
        world.ask(&shown, None, &[]),
        "invalid_request",
        "the token will be bound: send a DPoP proof or a certificate",
    );
    // Another key than the proof names.
    let other = made::signer(Algorithm::Es256);
    let refused = world.ask(&shown, Some(&other), &[]);
    world.refused(refused, "invalid_request", "proof_nonce_mismatch");
    // A nonce that names no key at all.
    let mut proof = world.prove(&world.carol, &links);
    proof.nonce.truncate(16);
    let shown = world.present_with(&world.carol, &links, &proof).to_text();
    let refused = world.ask(&shown, Some(&world.key), &[]);
    world.refused(refused, "invalid_request", "proof_nonce_mismatch");
}

#[test]
fn a_certificate_binds_as_a_key_does() {
    let world = World::with(|client| client.tls_client_certificate_bound_access_tokens = true);
    let links = world.chain();
    let certificate = world.server.ca.issue_client("platform").unwrap();
    let pair = (certificate.0, certificate.1.expose().to_owned());
    let mut proof = world.prove(&world.carol, &links);
    proof.nonce.truncate(16);
    proof.nonce.extend(certificate_thumbprint(&pair.0));
    let shown = world.present_with(&world.carol, &links, &proof).to_text();
    let form = [
        ("grant_type", EXCHANGE),
        (
            "subject_token_type",
            signet_oauth::issued::agent_grants::CHAIN_TYPE,
        ),
        ("subject_token", &*shown),
    ];
    let reply = Call::post("/token")
        .basic("platform", SECRET)
        .form(&form)
        .certificate(&pair)
        .send(&world.server)
        .expect(200);
    let said = claims(&reply.member("access_token"));
    assert_eq!(
        said["cnf"]["x5t#S256"],
        base64url::encode(&certificate_thumbprint(&pair.0))
    );
}

// Known fault G4: a chain needs no root, and its links' keys are not compared.
#[test]
fn g04_a_chain_begins_at_an_identity_that_a_person_bound_and_every_link_is_by_the_one_before() {
    let world = World::new();
    let mallory = agent("mallory");
    // From nobody's identity.
    let body = world.grant(&mallory, &world.bob, &["read:*"], 2);
    let rootless = [sign(&mallory, &body)];
    let refused = world.exchange(&world.bob, &rootless);
    world.refused(refused, "invalid_request", "wrong_root");
    // In Alice's name, by Mallory's key.
    let body = world.grant(&world.alice, &world.bob, &["read:*"], 2);
    let forged = Signed::sign(
        &body,
        &signet_agent::object::Signer {
            by: body.by,
            keys: &mallory.keys,
        },
    );
    let refused = world.exchange(&world.bob, &[forged.unwrap()]);
    world.refused(refused, "invalid_request", "signature_invalid");
    // A second link by somebody who was granted nothing.
    let first = world.direct().remove(0);
    let mut body = world.grant(&mallory, &world.carol, &["read:files/*"], 0);
    body.parent = Some(first.id());
    let refused = world.exchange(&world.carol, &[first.clone(), sign(&mallory, &body)]);
    world.refused(refused, "invalid_request", "grantor_mismatch");
    // The links in another order.
    let mut links = world.chain();
    links.reverse();
    let refused = world.exchange(&world.bob, &links);
    world.refused(refused, "invalid_request", "wrong_root");
    // An identity that the operator does not trust.
    world.server.configure(|settings, _| {
        settings.agents.roots = vec![mallory.document.id()];
    });
    let refused = world.exchange(&world.carol, &world.chain());
    world.refused(refused, "invalid_request", "wrong_root");
}

// Known fault G5: delegation depth is a field that the delegate fills in.
#[test]
fn g05_the_depth_of_delegation_is_the_grantors_to_say() {
    let world = World::new();
    let dave = agent("dave");
    let mut links = world.chain();
    // Carol's grant allows none; she writes one all the same.
    let mut body = world.grant(&world.carol, &dave, &["read:files/a"], 7);
    body.parent = Some(links[1].id());
    links.push(sign(&world.carol, &body));
    let refused = world.exchange(&dave, &links);
    world.refused(refused, "invalid_request", "depth_exceeded");
    // And no chain is longer than a token can name its actors.
    let mut long = vec![sign(
        &world.alice,
        &world.grant(&world.alice, &world.bob, &["read:*"], 20),
    )];
    let (mut from, mut to) = (&world.bob, &world.carol);
    for depth in (11..20).rev() {
        let body = world.grant(from, to, &["read:*"], depth);
        let parent = long.last().unwrap();
        long.push(sign(from, &body.under(parent).unwrap()));
        std::mem::swap(&mut from, &mut to);
    }
    let refused = world.exchange(from, &long);
    world.refused(refused, "invalid_request", "too_large");
}

// Known fault G7: network, geographic, use-count and custom constraints are stored and never
// evaluated.
#[test]
fn g07_every_constraint_is_evaluated_at_the_exchange() {
    let world = World::new();
    let custom = |pairs: &[(&str, &str)]| {
        let pairs = pairs
            .iter()
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()));
        TextMap::new(pairs.collect()).unwrap()
    };
    let with = |constraints: Constraints| {
        let mut body = world.grant(&world.alice, &world.bob, &["read:*"], 0);
        body.constraints = constraints;
        [sign(&world.alice, &body)]
    };
    let network = |text: &str| Constraints {
        networks: vec![text.parse().unwrap()],
        ..Constraints::default()
    };
    let refused = |links: &[_], error, reason| {
        world.refused(world.exchange(&world.bob, links), error, reason);
    };
    refused(
        &with(network("192.0.2.0/24")),
        "invalid_request",
        "network_refused",
    );
    world
        .exchange(&world.bob, &with(network("127.0.0.0/8")))
        .expect(200);
    refused(
        &with(Constraints {
            custom: custom(&[("x-region", "eu")]),
            ..Constraints::default()
        }),
        "invalid_request",
        "custom_unknown",
    );
    refused(
        &with(Constraints {
            custom: custom(&[("x-env", "production")]),
            ..Constraints::default()
        }),
        "invalid_request",
        "custom_refused",
    );
    let known = with(Constraints {
        custom: custom(&[("x-env", "test")]),
        ..Constraints::default()
    });
    let reply = world.exchange(&world.bob, &known).expect(200);
    let details = &reply.json()["authorization_details"][0];
    assert_eq!(details["constraints"], json!({ "x-env": "test" }));
    // Uses are counted where they are spent, however often the chain is shown.
    let twice = with(Constraints {
        max_uses: Some(2),
        ..Constraints::default()
    });
    world.exchange(&world.bob, &twice).expect(200);
    world.exchange(&world.bob, &twice).expect(200);
    refused(&twice, "invalid_request", "uses_exhausted");
    // Time.
    let mut body = world.grant(&world.alice, &world.bob, &["read:*"], 0);
    body.not_before = world.now() + 600;
    refused(
        &[sign(&world.alice, &body)],
        "invalid_request",
        "not_yet_valid",
    );
    let ending = world.direct();
    world.server.pass(3602);
    refused(&ending, "invalid_request", "expired");
}

#[test]
fn a_use_of_a_child_is_a_use_of_its_parent_and_a_refused_exchange_costs_none() {
    let world = World::new();
    let mut body = world.grant(&world.alice, &world.bob, &["read:*"], 1);
    body.constraints.max_uses = Some(2);
    let first = sign(&world.alice, &body);
    let child = world.grant(&world.bob, &world.carol, &["read:files/*"], 0);
    let child = sign(&world.bob, &child.under(&first).unwrap());
    let links = [first.clone(), child];
    let shown = world.present(&world.carol, &links).to_text();
    // Refused: no proof of the key.
    world.ask(&shown, None, &[]).expect(400);
    world.exchange(&world.carol, &links).expect(200);
    world.exchange(&world.bob, &links[..1]).expect(200);
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "uses_exhausted");
}

#[test]
fn what_may_be_spent_is_set_aside_at_the_exchange_in_the_grants_own_unit() {
    let world = World::new();
    let mut body = world.grant(&world.alice, &world.bob, &["pay:invoices"], 0);
    body.constraints.budget = Some(Budget {
        amount: 10,
        unit: "eur".to_owned(),
    });
    let links = [sign(&world.alice, &body)];
    let spend = |amount: u64, unit: &str| {
        let details = json!([{
            "type": "signet_agent_capability",
            "actions": ["pay"],
            "resources": ["invoices"],
            "constraints": { "budget": { "amount": amount, "unit": unit } },
        }])
        .to_string();
        let shown = world.present(&world.bob, &links).to_text();
        world.ask(
            &shown,
            Some(&world.key),
            &[("authorization_details", &details)],
        )
    };
    let reply = spend(7, "eur").expect(200);
    assert_eq!(
        reply.json()["authorization_details"][0]["constraints"]["budget"],
        json!({ "amount": 7, "unit": "eur" })
    );
    world.refused(spend(4, "eur"), "invalid_request", "budget_exhausted");
    world.refused(spend(1, "usd"), "invalid_request", "context_missing");
    spend(3, "eur").expect(200);
    // Nothing asked for is nothing to spend.
    let reply = world.exchange(&world.bob, &links).expect(200);
    assert_eq!(
        reply.json()["authorization_details"][0]["constraints"]["budget"]["amount"],
        0
    );
}

// Known fault G15: grants and proofs are replayable: no audience, no nonce, no proof of possession.
#[test]
fn g15_a_proof_is_for_this_server_this_moment_this_grant_and_once() {
    let world = World::new();
    let links = world.chain();
    let shown = world.present(&world.carol, &links).to_text();
    world.ask(&shown, Some(&world.key), &[]).expect(200);
    world.refused(
        world.ask(&shown, Some(&world.key), &[]),
        "invalid_request",
        "the holder's proof of possession was used before",
    );
    let with = |change: &dyn Fn(&mut signet_agent::proof::Proof)| {
        let mut proof = world.prove(&world.carol, &links);
        change(&mut proof);
        let shown = world.present_with(&world.carol, &links, &proof).to_text();
        world.ask(&shown, Some(&world.key), &[])
    };
    let refused = with(&|proof| proof.audience = "https://other.example".to_owned());
    world.refused(refused, "invalid_request", "proof_audience_mismatch");
    let refused = with(&|proof| proof.at -= 120);
    world.refused(refused, "invalid_request", "proof_time_mismatch");
    let refused = with(&|proof| proof.at += 120);
    world.refused(refused, "invalid_request", "proof_time_mismatch");
    // Made for another chain: Carol's for the chain of somebody else who trusts her.
    let other = world.direct();
    let refused = with(&|proof| proof.grant = other[0].id());
    world.refused(refused, "invalid_request", "proof_grant_mismatch");
    // By another than the holder.
    let proof = world.prove(&world.bob, &links);
    let shown = world.present_with(&world.bob, &links, &proof).to_text();
    let refused = world.ask(&shown, Some(&world.key), &[]);
    world.refused(refused, "invalid_request", "wrong_signer");
    // In the holder's name, by another's key.
    let proof = world.prove(&world.carol, &links);
    let mut shown = world.present(&world.carol, &links);
    shown.proof = Signed::sign(
        &proof,
        &signet_agent::object::Signer {
            by: proof.by,
            keys: &world.bob.keys,
        },
    )
    .unwrap();
    let refused = world.ask(&shown.to_text(), Some(&world.key), &[]);
    world.refused(refused, "invalid_request", "signature_invalid");
}

#[test]
fn of_racing_exchanges_of_one_proof_one_succeeds() {
    let world = World::new();
    let shown = world.present(&world.carol, &world.chain()).to_text();
    let won = std::thread::scope(|scope| {
        let racing: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| world.ask(&shown, Some(&world.key), &[]).status))
            .collect();
        let results = racing.into_iter().map(|race| race.join().unwrap());
        results.filter(|status| *status == 200).count()
    });
    assert_eq!(won, 1);
}

#[test]
fn of_racing_exchanges_as_many_succeed_as_the_grant_has_uses() {
    let world = World::new();
    let mut body = world.grant(&world.alice, &world.bob, &["read:*"], 0);
    body.constraints.max_uses = Some(3);
    let links = [sign(&world.alice, &body)];
    let won = std::thread::scope(|scope| {
        let racing: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| world.exchange(&world.bob, &links).status))
            .collect();
        let results = racing.into_iter().map(|race| race.join().unwrap());
        results.filter(|status| *status == 200).count()
    });
    assert_eq!(won, 3);
}

// Known fault A23, for chains: what belongs to one context is not joined to another.
#[test]
fn a_chain_of_one_context_is_not_spliced_to_a_subject_or_actor_of_another() {
    let world = World::new();
    let bill = add_user(&world.server, "bill");
    let root = agent("bill");
    world.bind(&bill.id, &root);
    // An actor token beside the chain, even one that was issued under the same chain.
    for actor in [
        world.token(),
        Call::post("/token")
            .basic("platform", SECRET)
            .form(&[("grant_type", "client_credentials")])
            .send(&world.server)
            .member("access_token"),
    ] {
        let shown = world.present(&world.carol, &world.chain()).to_text();
        let more = [
            ("actor_token", &*actor),
            (
                "actor_token_type",
                "urn:ietf:params:oauth:token-type:access_token",
            ),
        ];
        let refused = world.ask(&shown, Some(&world.key), &more);
        world.refused(
            refused,
            "invalid_request",
            "a chain of grants says who acts: no actor token goes with it",
        );
    }
    // Bill's first grant and Alice's agent's second.
    let theirs = world.grant(&root, &world.bob, &["read:*"], 2);
    let theirs = sign(&root, &theirs);
    let spliced = [theirs.clone(), world.chain().remove(1)];
    let refused = world.exchange(&world.carol, &spliced);
    world.refused(refused, "invalid_request", "parent_mismatch");
    // Bill's chain with Alice's document beside it is for Bill all the same.
    let mut shown = world.present(&world.bob, std::slice::from_ref(&theirs));
    shown.documents.push(world.alice.document.clone());
    let reply = world
        .ask(&shown.to_text(), Some(&world.key), &[])
        .expect(200);
    assert_eq!(claims(&reply.member("access_token"))["sub"], bill.id);
    // A token that was issued under a chain is no subject and no actor of another exchange: its
    // chain would be lost.
    let token = world.token();
    let proof = made::proof(
        &world.server,
        &world.key,
        &made::Proof {
            htm: "POST",
            path: "/token",
            jti: &made::random_id(),
            nonce: None,
            token: None,
        },
    );
    Call::post("/token")
        .basic("platform", SECRET)
        .form(&[
            ("grant_type", EXCHANGE),
            ("subject_token", &token),
            (
                "subject_token_type",
                "urn:ietf:params:oauth:token-type:access_token",
            ),
        ])
        .header("dpop", &proof)
        .send(&world.server)
        .expect_error(400, "invalid_request");
}

#[test]
fn audience_and_end_are_no_wider_than_chain_and_client() {
    let world = World::new();
    let with = |audience: &[&str], seconds: u64| {
        let mut body = world.grant(&world.alice, &world.bob, &["read:*"], 0);
        body.not_after = world.now() + seconds;
        body.constraints.audience = audience.iter().map(|a| (*a).to_owned()).collect();
        [sign(&world.alice, &body)]
    };
    let ask = |links: &[_], more: &[(&str, &str)]| {
        let shown = world.present(&world.bob, links).to_text();
        world.ask(&shown, Some(&world.key), more)
    };
    // What the chain names is what the token is for.
    let reply = ask(&with(&[API], 3600), &[]).expect(200);
    assert_eq!(claims(&reply.member("access_token"))["aud"], API);
    let refused = ask(
        &with(&["https://other.example"], 3600),
        &[("resource", API)],
    );
    world.refused(refused, "invalid_target", "audience_refused");
    ask(&with(&["https://other.example"], 3600), &[]).expect_error(400, "invalid_target");
    let unknown = [("resource", "https://unknown.example")];
    ask(&with(&[], 3600), &unknown).expect_error(400, "invalid_target");
    // The grant ends before the token would.
    let reply = ask(&with(&[], 30), &[]).expect(200).json();
    let lifetime = reply["expires_in"].as_u64().unwrap();
    assert!((1..=31).contains(&lifetime), "{lifetime}");
}

#[test]
fn authorization_details_ask_for_less_and_never_for_more() {
    let world = World::new();
    let ask = |action: &str, resource: &str| {
        let details = json!([{
            "type": "signet_agent_capability",
            "actions": [action],
            "resources": [resource],
        }])
        .to_string();
        let shown = world.present(&world.carol, &world.chain()).to_text();
        world.ask(
            &shown,
            Some(&world.key),
            &[("authorization_details", &details)],
        )
    };
    let reply = ask("read", "files/a").expect(200).json();
    assert_eq!(
        reply["authorization_details"][0]["resources"],
        json!(["files/a"])
    );
    let code = "invalid_authorization_details";
    world.refused(ask("read", "*"), code, "capability_not_granted");
    world.refused(ask("write", "files/a"), code, "capability_not_granted");
    ask("a:b", "c").expect_error(400, code);
}

#[test]
fn an_agents_declaration_of_refusal_counts_whether_shown_or_left_with_the_server() {
    let world = World::new();
    let declare = |what: &str| {
        let body = Declaration {
            by: world.carol.document.by(),
            capabilities: capabilities(&[what]),
            reason: "not my business".to_owned(),
            from: world.now() - 10,
            until: None,
        };
        Signed::sign(&body, &world.carol.document.signer(&world.carol.keys)).unwrap()
    };
    let mut shown = world.present(&world.carol, &world.chain());
    shown.declarations.push(declare("read:files/secret"));
    let refused = world.ask(&shown.to_text(), Some(&world.key), &[]);
    world.refused(refused, "invalid_request", "declared_refusal");
    // Seen in a chain, Carol is known, and what she leaves with the server she cannot leave out.
    world.exchange(&world.carol, &world.chain()).expect(200);
    let file = signet_agent::json::File::of(&declare("read:files/secret"));
    let text = file.with_signer(&world.carol.document).write().unwrap();
    world.state(&text).expect(200);
    let refused = world.exchange(&world.carol, &world.chain());
    world.refused(refused, "invalid_request", "declared_refusal");
}

#[test]
fn a_compact_token_carries_a_chain_that_fits_and_is_refused_one_that_does_not() {
    let world = World::with(|client| client.access_token_format = Some(AccessTokenFormat::Compact));
    let token = world.token();
    let said = world.introspect(&token);
    assert_eq!(said["active"], true);
    assert_eq!(said["agent_grants"].as_array().unwrap().len(), 2);
    assert_eq!(
        said["act"]["act"]["sub"],
        world.bob.document.id().to_string()
    );
    assert_eq!(said["authorization_details"][0]["actions"], json!(["read"]));
    let names: Vec<String> = (0..20)
        .map(|i| format!("read:files/{}-{i}", "a".repeat(120)))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let links = [sign(
        &world.alice,
        &world.grant(&world.alice, &world.bob, &names, 0),
    )];
    let refused = world.exchange(&world.bob, &links);
    world.refused(
        refused,
        "invalid_request",
        "the request asks for more than a compact access token can say",
    );
}

#[test]
fn a_rotated_holder_shows_the_document_that_continues_its_history() {
    let world = World::new();
    let links = world.chain();
    let after = agent("spare").keys.set().commitment();
    let rotated = world
        .carol
        .document
        .rotate(
            &world.carol.keys,
            &world.carol.next,
            after,
            "",
            false,
            world.now(),
        )
        .unwrap();
    let mut proof = world.prove(&world.carol, &links);
    proof.by = rotated.by();
    let signed = Signed::sign(&proof, &rotated.signer(&world.carol.next)).unwrap();
    let mut shown = world.present(&world.carol, &links);
    shown.proof = signed;
    let refused = world.ask(&shown.to_text(), Some(&world.key), &[]);
    world.refused(refused, "invalid_request", "document_missing");
    shown.documents.push(rotated.clone());
    world
        .ask(&shown.to_text(), Some(&world.key), &[])
        .expect(200);
    // From now on the server knows: who was given up as compromised stays so, whatever is shown.
    let known = block_on(signet_realm::agents::registry::get(
        &*world.server.realm.store,
        rotated.id(),
        world.now(),
    ));
    assert_eq!(known.unwrap().unwrap().document.unwrap().by().key, 1);
}

#[test]
fn what_is_no_chain_is_refused_by_name() {
    let world = World::new();
    for (shown, reason) in [
        ("AAAA", "malformed"),
        ("not base64url!", "malformed"),
        ("gQE", "malformed"),
    ] {
        world.refused(
            world.ask(shown, Some(&world.key), &[]),
            "invalid_request",
            reason,
        );
    }
    world
        .ask("", Some(&world.key), &[])
        .expect_error(400, "invalid_request");
    let wrong = Call::post("/token")
        .basic("platform", "wrong-wrong-wrong-wrong-wrong-wrong")
        .form(&[
            ("grant_type", EXCHANGE),
            (
                "subject_token_type",
                signet_oauth::issued::agent_grants::CHAIN_TYPE,
            ),
            ("subject_token", "AAAA"),
        ])
        .send(&world.server);
    wrong.expect_error(401, "invalid_client");
}
