use super::world::*;
use http::Method;
use serde_json::{Value, json};
use signet_agent::{identity::Created, json::to_json};

fn document(of: &Created) -> Value {
    json!({ "document": to_json(of.document.signed().as_bytes()).unwrap() })
}

#[test]
fn an_operator_registers_an_agent_and_sees_what_it_holds() {
    let world = World::new();
    let path = "/admin/v1/agents";
    let made = world
        .admin(Method::POST, path, Some(&document(&world.carol)))
        .expect(201)
        .json();
    assert_eq!(made["agent_id"], world.carol.document.id().to_string());
    assert_eq!(
        (&made["name"], &made["registered"]),
        (&json!("carol"), &json!(true))
    );
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    let one = format!("{path}/{}", world.carol.document.id());
    let shown = world.admin(Method::GET, &one, None).expect(200).json();
    assert_eq!(shown["grants"].as_array().unwrap().len(), 1);
    assert_eq!(shown["grants"][0]["role"], "holds");
    assert_eq!(shown["grants"][0]["user_id"], world.user_id);
    assert_eq!(shown["grants"][0]["parent"], links[0].id().to_string());
    assert_eq!(shown["tokens"][0]["client_id"], "platform");
    assert_eq!(
        shown["tokens"][0]["jti"],
        crate::common::made::claims(&token)["jti"]
    );
    // The root is bound, the middle was seen.
    let all = world.admin(Method::GET, path, None).expect(200).json();
    let items = all["items"].as_array().unwrap();
    assert_eq!(items.len(), 3);
    let bound = items
        .iter()
        .find(|item| item["user_id"].is_string())
        .unwrap();
    assert_eq!(bound["agent_id"], world.alice.document.id().to_string());
    let of_user = format!("/admin/v1/users/{}/agents", world.user_id);
    let own = world.admin(Method::GET, &of_user, None).expect(200).json();
    assert_eq!(own["items"].as_array().unwrap().len(), 1);
    // Page by page.
    let page = world
        .admin(Method::GET, &format!("{path}?limit=2"), None)
        .expect(200)
        .json();
    let next = page["next"].as_str().unwrap();
    let rest = world
        .admin(Method::GET, &format!("{path}?limit=2&after={next}"), None)
        .expect(200)
        .json();
    assert_eq!(rest["items"].as_array().unwrap().len(), 1);
    assert!(rest.get("next").is_none());
}

#[test]
fn a_stopped_agent_holds_nothing_and_is_accepted_nowhere() {
    let world = World::new();
    let links = world.chain();
    let (below, above) = (
        world.token_of(&world.carol, &links),
        world.token_of(&world.bob, &links[..1]),
    );
    let one = format!("/admin/v1/agents/{}", world.bob.document.id());
    let stopped = world
        .admin(Method::POST, &format!("{one}/stop"), None)
        .expect(200)
        .json();
    assert_eq!(stopped["grants_ended"], 2);
    assert_eq!(stopped["nodes"].as_array().unwrap().len(), 1);
    assert!(!world.is_active(&below) && !world.is_active(&above));
    let refused = world.exchange(&world.bob, &links[..1]);
    world.refused(refused, "invalid_request", "agent_revoked");
    let shown = world.admin(Method::GET, &one, None).expect(200).json();
    assert!(shown["stopped_at"].is_u64());
    assert_eq!(shown["tokens"], json!([]));
    // A grant made after the stop is worth no more.
    let later = world.direct();
    let refused = world.exchange(&world.bob, &later);
    world.refused(refused, "invalid_request", "agent_revoked");
}

#[test]
fn everything_of_a_person_stops_at_once_with_the_time_it_took_on_every_node() {
    let world = World::new();
    let second = agent("second");
    world.bind(&world.user_id, &second);
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    let other = [sign(
        &second,
        &world.grant(&second, &world.bob, &["read:*", "scope:openid"], 0),
    )];
    let other_token = world.token_of(&world.bob, &other);
    let path = format!("/admin/v1/users/{}/agents/stop", world.user_id);
    let stopped = world.admin(Method::POST, &path, None).expect(200).json();
    assert_eq!(stopped["identities_unbound"], 2);
    assert_eq!(stopped["grants_ended"], 3);
    assert!(stopped["nodes"][0]["milliseconds"].is_u64());
    assert!(!world.is_active(&token) && !world.is_active(&other_token));
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "wrong_root");
    // Bound again, the identity has to grant again.
    world.bind(&world.user_id, &world.alice);
    let refused = world.exchange(&world.carol, &links);
    world.refused(refused, "invalid_request", "revoked");
    world.exchange(&world.carol, &world.chain()).expect(200);
    let nobody = "/admin/v1/users/nobody/agents/stop";
    world.admin(Method::POST, nobody, None).expect(404);
}

#[test]
fn an_operator_ends_one_grant_or_one_binding() {
    let world = World::new();
    let links = world.chain();
    let token = world.token_of(&world.carol, &links);
    let base = "/admin/v1/agents";
    let grant = format!(
        "{base}/{}/grants/{}",
        world.carol.document.id(),
        links[1].id()
    );
    world.admin(Method::DELETE, &grant, None).expect(200);
    assert!(!world.is_active(&token));
    let unknown = format!(
        "{base}/{}/grants/{}",
        world.carol.document.id(),
        links[0].id()
    );
    world.admin(Method::DELETE, &unknown, None).expect(404);
    let token = world.token();
    let binding = format!("{base}/{}/binding", world.alice.document.id());
    world.admin(Method::DELETE, &binding, None).expect(200);
    assert!(!world.is_active(&token));
    world.admin(Method::DELETE, &binding, None).expect(404);
}

#[test]
fn what_is_no_agent_is_refused_and_found_nowhere() {
    let world = World::new();
    let path = "/admin/v1/agents";
    for bad in [
        json!({}),
        json!({ "document": 1 }),
        json!({ "document": {}, "more": 1 }),
        json!({ "document": { "type": "grant" } }),
    ] {
        world.admin(Method::POST, path, Some(&bad)).expect(400);
    }
    let mut forged = document(&world.carol);
    forged["document"]["name"] = "alice".into();
    let reply = world.admin(Method::POST, path, Some(&forged)).expect(400);
    assert_eq!(reply.member("code"), "invalid_document");
    let other = format!("{path}/{}", world.bob.document.id());
    world
        .admin(Method::PUT, &other, Some(&document(&world.carol)))
        .expect(400);
    for nobody in ["agent:AAAA", &world.carol.document.id().to_string()] {
        let one = format!("{path}/{nobody}");
        world.admin(Method::GET, &one, None).expect(404);
    }
}
