use crate::support::*;
use signet_oauth::client::GrantType;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::{DeviceId, GrantId};
use signet_oauth::issued::session::Session;
use signet_oauth::params::Params;
use signet_oauth::request::Request;
use signet_oauth::token::client_auth::Credentials;
use signet_oauth::token::decision::StoredRow;
use signet_oauth::token::decision::{Decision, SingleUse};
use signet_oauth::token::device_authorization::{DeviceRecord, authorize_device};
use signet_oauth::token::grant::GRANTS;
use signet_oauth::token::{self, LookedUp};

#[test]
fn every_grant_of_the_registry_has_its_row() {
    let rows: Vec<_> = GRANTS.iter().map(|row| row.grant_type).collect();
    assert_eq!(rows, GrantType::ALL);
}

#[test]
fn the_grant_must_exist_and_be_allowed() {
    let mut world = World::new();
    world.change("web", |client| {
        client.grant_types = vec![GrantType::AuthorizationCode]
    });
    let code = |form| world.ask_as("web", form).unwrap_err().code;
    assert_eq!(
        code("grant_type=password&username=a&password=b"),
        ErrorCode::UnsupportedGrantType
    );
    assert_eq!(
        code("grant_type=client_credentials"),
        ErrorCode::UnauthorizedClient
    );
    assert_eq!(code("scope=a"), ErrorCode::InvalidRequest);
}

#[test]
fn client_credentials_gives_the_clients_own_scope_and_no_persons() {
    let world = World::new();
    let decision = world
        .ask_as("web", "grant_type=client_credentials")
        .unwrap();
    let token = &decision.issue.access_token;
    assert!(
        decision.single_use.is_empty()
            && decision.issue.refresh.is_none()
            && decision.issue.id_token.is_none()
    );
    assert_eq!(
        (token.sub.as_str(), token.scope.to_string().as_str()),
        ("web", "api:read api:write")
    );
    assert_eq!(token.audience, [ISSUER]);
    let code = |scope| {
        world
            .ask_as(
                "web",
                &format!("grant_type=client_credentials&scope={scope}"),
            )
            .unwrap_err()
            .code
    };
    assert_eq!(code("openid"), ErrorCode::InvalidScope);
    assert_eq!(code("signet:admin"), ErrorCode::InvalidScope);
}

#[test]
fn a_public_client_gets_no_token_of_its_own() {
    let world = World::new();
    assert_eq!(
        world
            .ask_public("grant_type=client_credentials", None)
            .unwrap_err()
            .code,
        ErrorCode::UnauthorizedClient
    );
}

#[test]
fn a_resource_must_be_known_and_the_clients() {
    let mut world = World::new();
    let ask = |world: &World, resource: &str| {
        world.ask_as(
            "web",
            &format!("grant_type=client_credentials&resource={resource}"),
        )
    };
    assert_eq!(ask(&world, API).unwrap().issue.access_token.audience, [API]);
    for bad in [
        "https://other.example",
        "relative",
        "https://api.example%23f",
    ] {
        assert_eq!(
            ask(&world, bad).unwrap_err().code,
            ErrorCode::InvalidTarget,
            "{bad}"
        );
    }
    world.change("web", |client| client.resources.clear());
    assert_eq!(ask(&world, API).unwrap_err().code, ErrorCode::InvalidTarget);
}

fn poll(
    world: &World,
    client_id: &str,
    device_code: &str,
    device: Option<&DeviceRecord>,
) -> Result<Decision, OAuthError> {
    let form = format!(
        "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code={device_code}&user_id=admin"
    );
    let params = Params::parse(form.as_bytes()).unwrap();
    let authorization = basic(client_id, SECRET);
    let request = Request {
        params: &params,
        authorization: Some(&authorization),
        certificate: None,
        dpop: None,
        htm: "POST",
        htu: HTU,
    };
    let credentials = Credentials::of(&request).unwrap();
    let context = world.context();
    let begun = token::begin(&context, &request, &credentials, None).unwrap();
    let named = begun.needs(&context, &request).row;
    assert_eq!(named.is_some(), client_id == "web");
    let bytes = device.map(DeviceRecord::to_bytes);
    token::decide(
        &context,
        &request,
        &credentials,
        LookedUp {
            row: device.zip(bytes.as_deref()).map(stored),
            ..LookedUp::default()
        },
    )
}

/// Known fault A2: who approved is the session's, never the request's.
#[test]
fn a_device_code_gives_what_the_session_approved_to_its_own_client() {
    let mut world = World::new();
    let context = world.context();
    let params = Params::parse(b"scope=openid+profile").unwrap();
    let (response, record) = authorize_device(
        &params,
        &world.client("web"),
        DeviceId::new([7; 16]),
        |_| 0,
        &context,
    )
    .unwrap();
    let code = &response.device_code;
    assert_eq!(
        poll(&world, "web", code, Some(&record)).unwrap_err().code,
        ErrorCode::AuthorizationPending
    );
    assert_eq!(
        poll(&world, "web", code, None).unwrap_err().code,
        ErrorCode::ExpiredToken
    );
    assert_eq!(
        poll(&world, "web", code, Some(&record.deny(NOW).unwrap()))
            .unwrap_err()
            .code,
        ErrorCode::AccessDenied
    );

    let session = Session {
        sid: "sid-9".into(),
        user_id: "user-9".into(),
        auth_time: NOW - 5,
        acr: "a".into(),
        amr: vec!["pwd".into()],
        methods: vec!["password".into()],
        ends_at: u64::MAX,
    };
    let approved = record
        .approve(&session, false, GrantId::new([9; 16]), world.now_ms)
        .unwrap();
    assert_eq!(
        poll(&world, "another", code, Some(&approved))
            .unwrap_err()
            .code,
        ErrorCode::InvalidGrant
    );
    let decision = poll(&world, "web", code, Some(&approved)).unwrap();
    assert_eq!(decision.issue.access_token.sub, "user-9");
    assert!(
        matches!(decision.single_use[..], [SingleUse::DeviceCode { id, version: 3, grant_id, family_end: Some(_), .. }] if id == DeviceId::new([7; 16]) && grant_id == GrantId::new([9; 16]))
    );
    *world.index.borrow_mut() = Index::Down;
    assert_eq!(
        poll(&world, "web", code, Some(&approved)).unwrap_err().code,
        ErrorCode::TemporarilyUnavailable
    );
    *world.index.borrow_mut() = Index::Clear;
    world.now_ms += 3_600_000;
    let expired = token_error(&world, code, &approved);
    assert_eq!(expired, ErrorCode::ExpiredToken);
}

/// As the store gave it.
fn stored<'a>((record, value): (&DeviceRecord, &'a [u8])) -> StoredRow<'a> {
    StoredRow {
        value,
        version: 3,
        end: Some(record.expires_at),
    }
}

fn token_error(world: &World, code: &str, device: &DeviceRecord) -> ErrorCode {
    let form =
        format!("grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code={code}");
    let params = Params::parse(form.as_bytes()).unwrap();
    let authorization = basic("web", SECRET);
    let request = Request {
        params: &params,
        authorization: Some(&authorization),
        certificate: None,
        dpop: None,
        htm: "POST",
        htu: HTU,
    };
    let credentials = Credentials::of(&request).unwrap();
    token::decide(
        &world.context(),
        &request,
        &credentials,
        LookedUp {
            row: Some(stored((device, &device.to_bytes()))),
            ..LookedUp::default()
        },
    )
    .unwrap_err()
    .code
}

#[test]
fn power_over_the_server_is_given_only_to_who_asks_for_it_by_name() {
    let mut world = World::new();
    world.change("web", |client| {
        client.scope = scope("api:read signet:admin signet:admin.read signet:revocations");
    });
    let scope = |more: &str| {
        let decision = world.ask_as("web", &format!("grant_type=client_credentials{more}"));
        decision.unwrap().issue.access_token.scope.to_string()
    };
    assert_eq!(scope(""), "api:read");
    assert_eq!(scope("&scope=signet:admin"), "signet:admin");
    assert_eq!(scope("&scope=signet:admin.read"), "signet:admin.read");
    assert_eq!(
        scope("&scope=api:read+signet:revocations"),
        "api:read signet:revocations"
    );
}

/// RFC 9396 section 5: what is not understood is refused, not dropped, whether or not chains of
/// delegations are exchanged here.
#[test]
fn authorization_details_are_refused_where_no_chain_is_presented() {
    let mut world = World::new();
    for enabled in [false, true] {
        world.settings.agents.enabled = enabled;
        for kind in ["payment_initiation", "signet_agent_capability"] {
            let form = format!(
                "grant_type=client_credentials&authorization_details=[{{\"type\":\"{kind}\"}}]"
            );
            assert_eq!(
                world.ask_as("web", &form).unwrap_err().code,
                ErrorCode::InvalidAuthorizationDetails,
                "{enabled} {kind}"
            );
        }
    }
}

/// What is read for a request is read for who authenticated and may use its grant, and nothing for
/// anybody else.
#[test]
fn a_grants_rows_are_needed_only_of_a_client_that_may_use_it() {
    let mut world = World::new();
    let needs = |world: &World, secret: &str, grant: &str, kind: &str| {
        let form = format!("grant_type={grant}&subject_token=x&subject_token_type={kind}");
        let params = Params::parse(form.as_bytes()).unwrap();
        let authorization = basic("service", secret);
        let request = Request {
            params: &params,
            authorization: Some(&authorization),
            certificate: None,
            dpop: None,
            htm: "POST",
            htu: HTU,
        };
        let credentials = Credentials::of(&request).unwrap();
        let context = world.context();
        let begun = token::begin(&context, &request, &credentials, None);
        begun
            .map(|begun| begun.needs(&context, &request).chain)
            .map_err(|error| error.code)
    };
    let exchange = GrantType::TokenExchange.as_str();
    let chain = signet_oauth::issued::agent_grants::CHAIN_TYPE;
    assert_eq!(needs(&world, SECRET, exchange, chain), Ok(false));
    world.settings.agents.enabled = true;
    assert_eq!(needs(&world, SECRET, exchange, chain), Ok(false));
    world.change("service", |client| client.may_exchange_agent_grants = true);
    assert_eq!(needs(&world, SECRET, exchange, chain), Ok(true));
    let access_token = "urn:ietf:params:oauth:token-type:access_token";
    assert_eq!(needs(&world, SECRET, exchange, access_token), Ok(false));
    let wrong = "not-the-secret-not-the-secret-not-the-secret";
    assert_eq!(
        needs(&world, wrong, exchange, chain),
        Err(ErrorCode::InvalidClient)
    );
    world.change("service", |client| {
        client.grant_types = vec![GrantType::ClientCredentials]
    });
    assert_eq!(
        needs(&world, SECRET, exchange, chain),
        Err(ErrorCode::UnauthorizedClient)
    );
}
