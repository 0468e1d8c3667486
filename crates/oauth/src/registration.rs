//! Dynamic client registration and management (RFC 7591, RFC 7592, OpenID Connect Registration 1.0).
//!
//! ```text
//! POST   /register              sector_identifier_uri(body) -> the caller fetches that list, if one is named
//!                               register(body, ..)          -> Registered: a record to insert, and the answer (201)
//! GET    /register/{client_id}  authorize_management(client, token), then registration_response(client, ..)
//! PUT    /register/{client_id}  the same, then update(client, body, ..) -> Registered: a record to replace with compare
//! DELETE /register/{client_id}  the same, then the record is removed and its tokens are revoked (204)
//! ```
//!
//! Members that are not understood are ignored (RFC 7591 section 2), but those whose being ignored would leave the
//! client less safe than it asked for (encryption, pairwise subjects, signed requests) are refused.
use crate::{
    client::{
        AuthMethod, Client, ClientSecret, ConsentPolicy, RefreshRotation,
        metadata::{self, Rules},
    },
    endpoint::EndpointId,
    error::{Challenge, ErrorCode, OAuthError},
    scope::{self, ScopeSet},
    settings::Settings,
};
use signet_crypto::{
    ct_eq,
    hash::sha256,
    seal::{Keyring, Purpose},
};
use signet_jose::{
    base64url,
    json::{self, Limits, Object, Writer},
};

/// The longest registration document, in bytes.
pub const MAX_REGISTRATION_BYTES: usize = 64 * 1024;
/// The shortest secret that an operator may choose, in bytes.
pub const MIN_SECRET_BYTES: usize = 32;

/// Fresh randomness of one registration.
#[derive(Clone)]
pub struct Random {
    /// becomes the client_id
    pub client_id: [u8; 16],
    /// becomes the client_secret: 64 characters, enough for HS512 (RFC 7518 section 3.2)
    pub secret: [u8; 48],
    /// becomes the registration access token
    pub token: [u8; 32],
}

/// A record to be stored, and what the client is told.
#[derive(Clone)]
pub struct Registered {
    /// to insert, or to replace the record of the revision before
    pub client: Client,
    /// the JSON answer; it may hold secrets
    pub response: Vec<u8>,
}

/// The members of a registration document that its caller must fetch before it is checked: `sector_identifier_uri`.
///
/// # Errors
/// `invalid_client_metadata` for what is no JSON object, or a URI that is not https.
pub fn sector_identifier_uri(body: &[u8]) -> Result<Option<String>, OAuthError> {
    metadata::sector_identifier_uri(&parse(body)?)
}

/// Registers a client. `sector`: the JSON array that `sector_identifier_uri` led to. `now`: Unix seconds.
///
/// # Errors
/// `invalid_redirect_uri`, `invalid_client_metadata`.
pub fn register(
    body: &[u8],
    settings: &Settings,
    keyring: &Keyring,
    sector: Option<&[String]>,
    random: &Random,
    now: u64,
) -> Result<Registered, OAuthError> {
    let document = parse(body)?;
    refuse_unsafe_members(&document)?;
    let mut client = Client::new(base64url::encode(&random.client_id), now);
    metadata::read(&document, &mut client, &Rules::dynamic(settings))?;
    apply_policy(&document, &mut client, settings);
    metadata::check(&client, settings)?;
    metadata::check_sector(&client, sector)?;
    let secret = give_secret(&mut client, random, keyring)?;
    let token = base64url::encode(&random.token);
    client.registration_token_hash = Some(sha256(token.as_bytes()));
    let response = registration_response(&client, settings, Some(&token), secret.as_deref());
    Ok(Registered { client, response })
}

/// Replaces a client's metadata (RFC 7592 section 2.2). What is left out goes back to its default; policy, secrets
/// and the registration access token stay. `token`: as presented, and checked by [`authorize_management`].
///
/// # Errors
/// As [`register`]; also for another `client_id`, another secret, or members that only the server sets.
pub fn update(
    current: &Client,
    body: &[u8],
    token: &str,
    settings: &Settings,
    keyring: &Keyring,
    sector: Option<&[String]>,
    random: &Random,
) -> Result<Registered, OAuthError> {
    let document = parse(body)?;
    refuse_unsafe_members(&document)?;
    if document.string("client_id").ok().flatten() != Some(current.client_id.as_str()) {
        return Err(invalid("client_id must be the client's own"));
    }
    for name in [
        "registration_access_token",
        "registration_client_uri",
        "client_secret_expires_at",
        "client_id_issued_at",
    ] {
        if document.get(name).is_some() {
            return Err(invalid(
                "an update must not contain members that only the server sets (RFC 7592 section 2.2)",
            ));
        }
    }
    if let Some(secret) = document.get("client_secret")
        && !secret
            .as_str()
            .is_some_and(|s| secret_matches(current, s, keyring))
    {
        return Err(invalid("client_secret is not the client's current one"));
    }
    let mut client = Client::new(current.client_id.clone(), current.created_at);
    // The operator's policy is not the client's to change.
    client.revision = current.revision + 1;
    client.enabled = current.enabled;
    client.resources.clone_from(&current.resources);
    client.may_act_for.clone_from(&current.may_act_for);
    client.allowed_origins.clone_from(&current.allowed_origins);
    client.access_token_signed_response_alg = current.access_token_signed_response_alg;
    client.access_token_lifetime = current.access_token_lifetime;
    client.refresh_token_lifetime = current.refresh_token_lifetime;
    client.registration_token_hash = current.registration_token_hash;
    client.expires_at = current.expires_at;
    client.consent = current.consent;
    metadata::read(&document, &mut client, &Rules::dynamic(settings))?;
    apply_policy(&document, &mut client, settings);
    client.require_pkce |= current.require_pkce;
    // An operator may have given a registered client more than registration gives.
    if let Ok(Some(text)) = document.string("scope") {
        client.scope = client
            .scope
            .union(&ScopeSet::parse(text)?.intersection(&current.scope));
    }
    metadata::check(&client, settings)?;
    metadata::check_sector(&client, sector)?;
    let hmac = AuthMethod::ClientSecretJwt;
    let same_kind =
        (client.token_endpoint_auth_method == hmac) == (current.token_endpoint_auth_method == hmac);
    let secret = if client.token_endpoint_auth_method.needs_secret()
        && same_kind
        && !current.secrets.is_empty()
    {
        client.secrets.clone_from(&current.secrets);
        None
    } else {
        give_secret(&mut client, random, keyring)?
    };
    let response = registration_response(&client, settings, Some(token), secret.as_deref());
    Ok(Registered { client, response })
}

/// May the bearer of `token` manage this client? An unknown client and a wrong token are answered alike.
///
/// # Errors
/// `invalid_token`, 401 (RFC 7592 section 2).
pub fn authorize_management(
    client: Option<&Client>,
    token: Option<&str>,
) -> Result<(), OAuthError> {
    let hash = sha256(token.unwrap_or_default().as_bytes());
    let expected = client.and_then(|c| c.registration_token_hash);
    if token.is_some() && ct_eq(&hash, &expected.unwrap_or_default()) && expected.is_some() {
        Ok(())
    } else {
        Err(OAuthError::new(
            ErrorCode::InvalidToken,
            "the registration access token is not valid for this client",
        )
        .with_challenge(Challenge::Bearer))
    }
}

/// The client information response (RFC 7591 section 3.2.1). `token`: the registration access token, which only its
/// bearer still knows; `secret`: where one has just been made.
pub fn registration_response(
    client: &Client,
    settings: &Settings,
    token: Option<&str>,
    secret: Option<&str>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    Writer::new(&mut out).object(|w| {
        w.member("client_id").string(&client.client_id);
        w.member("client_id_issued_at").number(client.created_at);
        if let Some(secret) = secret {
            w.member("client_secret").string(secret);
        }
        if client.token_endpoint_auth_method.needs_secret() {
            // Required wherever there is a secret; 0: it does not end.
            w.member("client_secret_expires_at").number(0);
        }
        if let Some(token) = token {
            let uri = settings.url(EndpointId::RegisterClient);
            w.member("registration_access_token").string(token);
            w.member("registration_client_uri")
                .string(&uri.replace("{client_id}", &client.client_id));
        }
        metadata::write(w, client);
    });
    out
}

/// A secret as it rests: hashed, or sealed where HMAC needs its value.
///
/// # Errors
/// `invalid_client_metadata` for a secret under [`MIN_SECRET_BYTES`], `server_error` if it cannot be sealed.
pub fn client_secret(
    method: AuthMethod,
    secret: &str,
    client_id: &str,
    expires_at: Option<u64>,
    keyring: &Keyring,
) -> Result<ClientSecret, OAuthError> {
    if secret.len() < MIN_SECRET_BYTES {
        return Err(invalid("a client secret must have at least 32 bytes"));
    }
    if method != AuthMethod::ClientSecretJwt {
        return Ok(ClientSecret::Sha256 {
            hash: sha256(secret.as_bytes()),
            expires_at,
        });
    }
    let sealed = keyring
        .seal_with(
            Purpose::ClientSecret,
            client_id.as_bytes(),
            secret.as_bytes(),
        )
        .map_err(|_| OAuthError::new(ErrorCode::ServerError, "the secret could not be kept"))?;
    Ok(ClientSecret::Sealed { sealed, expires_at })
}

fn give_secret(
    client: &mut Client,
    random: &Random,
    keyring: &Keyring,
) -> Result<Option<String>, OAuthError> {
    let method = client.token_endpoint_auth_method;
    if !method.needs_secret() {
        return Ok(None);
    }
    let secret = base64url::encode(&random.secret);
    client.secrets = vec![client_secret(
        method,
        &secret,
        &client.client_id,
        None,
        keyring,
    )?];
    Ok(Some(secret))
}

fn secret_matches(client: &Client, secret: &str, keyring: &Keyring) -> bool {
    client.secrets.iter().any(|s| match s {
        ClientSecret::Sha256 { hash, .. } => ct_eq(&sha256(secret.as_bytes()), hash),
        ClientSecret::Sealed { sealed, .. } => keyring
            .open_with(Purpose::ClientSecret, client.client_id.as_bytes(), sealed)
            .is_ok_and(|value| ct_eq(&value, secret.as_bytes())),
    })
}

/// What the server decides about a registered client, whatever it asked for.
fn apply_policy(document: &Object<'_>, client: &mut Client, settings: &Settings) {
    let rules = &settings.registration;
    let most = rules.default_scope.filter(|s| {
        s != scope::ADMIN
            && (s != scope::OFFLINE_ACCESS
                || client.may_use(crate::client::GrantType::RefreshToken))
    });
    client.scope = if document.get("scope").is_some() {
        client.scope.intersection(&most)
    } else {
        most
    };
    client.require_pkce = rules.require_pkce || client.is_public();
    client.refresh_rotation = match rules.refresh_rotation {
        RefreshRotation::Keep if !client.is_public() && client.is_sender_constrained() => {
            RefreshRotation::Keep
        }
        _ => RefreshRotation::Rotate,
    };
    if client.id_token_signed_response_alg.is_none() {
        client.id_token_signed_response_alg = Some(settings.id_token_alg);
    }
    if client.is_public() && client.allowed_origins.is_empty() {
        // A browser application calls the token endpoint from where it is redirected to.
        for uri in &client.redirect_uris {
            let origin = crate::uri::Uri::parse(uri.as_str())
                .filter(|u| u.scheme.starts_with("http"))
                .and_then(|u| u.origin());
            client
                .allowed_origins
                .extend(origin.filter(|o| !client.allowed_origins.contains(o)));
        }
    }
    if client.revision == 0 {
        client.revision = 1;
        client.consent = ConsentPolicy::Ask;
    }
}

/// Ignoring these would leave the client with less protection than it believes to have (known fault A16).
fn refuse_unsafe_members(document: &Object<'_>) -> Result<(), OAuthError> {
    for name in [
        "software_statement",
        "id_token_encrypted_response_alg",
        "id_token_encrypted_response_enc",
        "userinfo_encrypted_response_alg",
        "userinfo_encrypted_response_enc",
        "introspection_encrypted_response_alg",
        "authorization_signed_response_alg",
        "authorization_encrypted_response_alg",
    ] {
        if document.get(name).is_some_and(|v| *v != json::Value::Null) {
            return Err(invalid(
                "software statements, encrypted responses and signed authorization responses are not supported",
            )
            .with_hint(format!("unsupported member: {name}")));
        }
    }
    match document.get("subject_type").map(|v| v.as_str()) {
        None | Some(Some("public")) => {}
        _ => return Err(invalid("the only supported subject_type is public")),
    }
    if document
        .get("require_signed_request_object")
        .is_some_and(|v| v.as_bool() != Some(false))
    {
        return Err(invalid("signed request objects are not supported"));
    }
    Ok(())
}

fn parse(body: &[u8]) -> Result<Object<'_>, OAuthError> {
    let limits = Limits {
        bytes: MAX_REGISTRATION_BYTES,
        ..Limits::default()
    };
    json::parse_object(body, &limits)
        .map_err(|e| invalid("the body must be one JSON object").with_hint(e.to_string()))
}

fn invalid(description: &'static str) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidClientMetadata, description)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{client::GrantType, testing::keyring};
    use proptest::prelude::*;

    const NOW: u64 = 1_800_000_000;

    fn settings() -> Settings {
        let mut s = Settings::new("https://id.example");
        s.registration.enabled = true;
        s.mtls_base = Some("https://id.example:9443".into());
        s
    }
    fn random() -> Random {
        Random {
            client_id: [1; 16],
            secret: [2; 48],
            token: [3; 32],
        }
    }
    fn try_register(body: &str) -> Result<Registered, OAuthError> {
        register(
            body.as_bytes(),
            &settings(),
            &keyring(),
            None,
            &random(),
            NOW,
        )
    }
    /// The good document with one member more, or another value of it.
    fn with(member: &str) -> String {
        let name = member.split('"').nth(1).unwrap_or_default();
        if name == "redirect_uris" {
            format!("{{{member}}}")
        } else {
            format!(r#"{{"redirect_uris":["https://rp.example/cb"],{member}}}"#)
        }
    }
    fn ok(member: &str) -> Client {
        try_register(&with(member))
            .unwrap_or_else(|e| panic!("{member}: {e:?}"))
            .client
    }
    fn refused(member: &str) -> OAuthError {
        try_register(&with(member)).map(|_| ()).expect_err(member)
    }

    const KEY: &str = r#"{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}"#;

    #[test]
    fn the_defaults_are_those_of_the_specifications() {
        let registered = try_register(r#"{"redirect_uris":["https://rp.example/cb"]}"#).unwrap();
        let client = &registered.client;
        assert_eq!(
            client.token_endpoint_auth_method,
            AuthMethod::ClientSecretBasic
        );
        assert_eq!(client.grant_types, [GrantType::AuthorizationCode]);
        assert_eq!(client.response_types, ["code"]);
        assert!(client.require_pkce && client.consent == ConsentPolicy::Ask);
        assert!(!client.scope.contains("offline_access"));
        let answer = json::parse_object(&registered.response, &Limits::default()).unwrap();
        let secret = answer.string("client_secret").unwrap().unwrap();
        assert_eq!(secret.len(), 64);
        assert_eq!(answer.u64("client_secret_expires_at"), Ok(Some(0)));
        assert_eq!(
            answer.string("registration_client_uri").unwrap(),
            Some(format!("https://id.example/register/{}", client.client_id).as_str())
        );
        assert_eq!(
            answer.string("id_token_signed_response_alg"),
            Ok(Some("RS256"))
        );
        assert_eq!(
            client.secrets,
            [ClientSecret::Sha256 {
                hash: sha256(secret.as_bytes()),
                expires_at: None
            }]
        );
        let token = answer.string("registration_access_token").unwrap();
        assert_eq!(authorize_management(Some(client), token), Ok(()));
    }

    #[test]
    fn members_that_are_not_understood_are_ignored() {
        let client = ok(
            r#""client_name#de":"x","frontchannel_logout_uri":"https://x","request_object_signing_alg":"none","consent":"implicit","may_act_for":["x"],"require_pkce":false,"enabled":false,"resources":["x"]"#,
        );
        assert!(client.enabled && client.require_pkce && client.may_act_for.is_empty());
        assert_eq!(client.consent, ConsentPolicy::Ask);
        assert!(client.resources.is_empty());
    }

    #[test]
    fn what_would_leave_the_client_less_safe_than_it_thinks_is_refused() {
        for member in [
            r#""software_statement":"a.b.c""#,
            r#""id_token_encrypted_response_alg":"RSA-OAEP""#,
            r#""userinfo_encrypted_response_alg":"RSA-OAEP""#,
            r#""subject_type":"pairwise""#,
            r#""subject_type":7"#,
            r#""require_signed_request_object":true"#,
            r#""id_token_signed_response_alg":"none""#,
            r#""userinfo_signed_response_alg":"none""#,
            r#""id_token_signed_response_alg":"HS256""#,
            r#""id_token_signed_response_alg":"PS512""#,
            r#""token_endpoint_auth_signing_alg":"none""#,
            r#""token_endpoint_auth_method":"private_key_jwt""#,
            r#""token_endpoint_auth_method":"tls_client_auth""#,
            r#""token_endpoint_auth_method":"self_signed_tls_client_auth""#,
            r#""token_endpoint_auth_method":"client_secret_magic""#,
            r#""token_endpoint_auth_method":"client_secret_jwt","token_endpoint_auth_signing_alg":"ES256""#,
            r#""token_endpoint_auth_method":"none","grant_types":["authorization_code","client_credentials"]"#,
            r#""grant_types":["implicit"]"#,
            r#""grant_types":["urn:ietf:params:oauth:grant-type:token-exchange"]"#,
            r#""grant_types":["authorization_code","authorization_code"]"#,
            r#""grant_types":["client_credentials"],"response_types":["code"]"#,
            r#""response_types":["code id_token"]"#,
            r#""response_types":[]"#,
            r#""jwks_uri":"http://rp.example/jwks""#,
            r#""jwks":{"keys":[]}"#,
            r#""jwks":[]"#,
            r#""jwks_uri":"https://rp.example/jwks","jwks":{"keys":[]}"#,
            r#""scope":7"#,
            r#""client_name":7"#,
            r#""logo_uri":"javascript:x""#,
            r#""initiate_login_uri":"http://127.0.0.1/""#,
            r#""default_max_age":"x""#,
            r#""sector_identifier_uri":"http://rp.example/list""#,
            r#""sector_identifier_uri":"https://rp.example/list""#,
            r#""tls_client_auth_san_dns":"a","tls_client_auth_san_email":"b""#,
        ] {
            assert_eq!(
                refused(member).code,
                ErrorCode::InvalidClientMetadata,
                "{member}"
            );
        }
        for body in [
            "",
            "[]",
            "null",
            "{",
            r#"{"redirect_uris":[],"redirect_uris":[]}"#,
        ] {
            assert!(try_register(body).is_err(), "{body}");
        }
    }

    #[test]
    fn redirect_uris_are_checked_by_application_type() {
        for member in [
            r#""redirect_uris":[]"#,
            r#""redirect_uris":["https://rp.example/cb#fragment"]"#,
            r#""redirect_uris":["http://rp.example/cb"]"#,
            r#""redirect_uris":["com.example.app:/cb"]"#,
            r#""redirect_uris":"https://rp.example/cb""#,
            r#""redirect_uris":[7]"#,
            r#""redirect_uris":["myapp:/cb"],"application_type":"native""#,
            r#""post_logout_redirect_uris":["https://rp.example/#x"]"#,
        ] {
            assert_eq!(
                refused(member).code,
                ErrorCode::InvalidRedirectUri,
                "{member}"
            );
        }
        ok(r#""redirect_uris":["com.example.app:/cb"],"application_type":"native""#);
        ok(r#""redirect_uris":["https://rp.example/cb?x=y"]"#);
    }

    #[test]
    fn each_method_gets_what_it_needs() {
        let keys = format!(r#""jwks":{{"keys":[{KEY}]}}"#);
        let client = ok(&format!(
            r#""token_endpoint_auth_method":"private_key_jwt",{keys},"token_endpoint_auth_signing_alg":"ES256""#
        ));
        assert!(client.secrets.is_empty() && client.jwks.is_some());
        let client = ok(r#""token_endpoint_auth_method":"client_secret_jwt""#);
        assert!(matches!(client.secrets[..], [ClientSecret::Sealed { .. }]));
        let client = ok(
            r#""token_endpoint_auth_method":"tls_client_auth","tls_client_auth_subject_dn":"CN=rp","tls_client_certificate_bound_access_tokens":true"#,
        );
        assert!(client.tls_client_auth.is_some() && client.is_sender_constrained());
        let client = ok(r#""token_endpoint_auth_method":"none""#);
        assert!(client.is_public() && client.secrets.is_empty());
        assert_eq!(client.allowed_origins, ["https://rp.example"]);
        // A private key in the set is refused, not stripped.
        let private = KEY.replace(
            "\"kty\"",
            "\"d\":\"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI\",\"kty\"",
        );
        refused(&format!(r#""jwks":{{"keys":[{private}]}}"#));
    }

    #[test]
    fn certificates_are_refused_where_nobody_asks_for_them() {
        let mut s = settings();
        s.mtls_base = None;
        for member in [
            r#""token_endpoint_auth_method":"tls_client_auth","tls_client_auth_subject_dn":"CN=rp""#,
            r#""tls_client_certificate_bound_access_tokens":true"#,
        ] {
            let body = with(member);
            assert!(register(body.as_bytes(), &s, &keyring(), None, &random(), NOW).is_err());
        }
    }

    #[test]
    fn registration_never_gives_the_admin_scope_or_more_than_its_default() {
        let mut s = settings();
        s.registration.default_scope =
            ScopeSet::parse("openid email offline_access signet:admin").unwrap();
        let get = |member: &str| {
            let body = with(member);
            register(body.as_bytes(), &s, &keyring(), None, &random(), NOW)
                .unwrap()
                .client
                .scope
                .to_string()
        };
        assert_eq!(get(r#""x":1"#), "openid email");
        assert_eq!(get(r#""scope":"openid signet:admin api:write""#), "openid");
        assert_eq!(
            get(r#""grant_types":["authorization_code","refresh_token"]"#),
            "openid email offline_access"
        );
    }

    #[test]
    fn pkce_is_what_the_setting_says_but_always_for_public_clients() {
        let mut s = settings();
        s.registration.require_pkce = false;
        let get = |member: &str| {
            let body = with(member);
            let registered = register(body.as_bytes(), &s, &keyring(), None, &random(), NOW);
            registered.unwrap().client.require_pkce
        };
        assert!(!get(r#""x":1"#));
        assert!(get(r#""token_endpoint_auth_method":"none""#));
    }

    #[test]
    fn redirect_uris_must_be_in_the_sectors_list() {
        let body = with(r#""sector_identifier_uri":"https://rp.example/list""#);
        assert_eq!(
            sector_identifier_uri(body.as_bytes()).unwrap().as_deref(),
            Some("https://rp.example/list")
        );
        let run = |list: &[&str]| {
            let list: Vec<String> = list.iter().map(|s| (*s).to_owned()).collect();
            register(
                body.as_bytes(),
                &settings(),
                &keyring(),
                Some(&list),
                &random(),
                NOW,
            )
            .is_ok()
        };
        assert!(run(&["https://rp.example/other", "https://rp.example/cb"]));
        assert!(!run(&["https://rp.example/other"]));
        assert!(!run(&[]));
    }

    #[test]
    fn management_needs_the_clients_own_token() {
        let client = ok(r#""x":1"#);
        let token = base64url::encode(&[3; 32]);
        assert!(authorize_management(Some(&client), Some(&token)).is_ok());
        for (c, t) in [
            (Some(&client), None),
            (Some(&client), Some("")),
            (Some(&client), Some("wrong")),
            (None, Some(token.as_str())),
        ] {
            assert_eq!(authorize_management(c, t).unwrap_err().status(), 401);
        }
        // A client that was not registered dynamically has no such token: nothing opens it.
        let mut operators = client.clone();
        operators.registration_token_hash = None;
        assert!(authorize_management(Some(&operators), Some("")).is_err());
    }

    #[test]
    fn an_update_replaces_metadata_and_keeps_policy_and_secret() {
        let keyring = keyring();
        let registered = register(
            with(r#""client_name":"Old""#).as_bytes(),
            &settings(),
            &keyring,
            None,
            &random(),
            NOW,
        )
        .unwrap();
        let mut current = registered.client;
        current.resources = vec!["https://api.example".into()];
        let run = |member: &str| {
            let body = format!(
                r#"{{"client_id":"{}","redirect_uris":["https://rp.example/new"],{member}}}"#,
                current.client_id
            );
            update(
                &current,
                body.as_bytes(),
                "t",
                &settings(),
                &keyring,
                None,
                &random(),
            )
        };
        let updated = run(r#""client_uri":"https://rp.example/""#).unwrap().client;
        assert_eq!(updated.client_name, None);
        assert_eq!(updated.redirect_uris[0].as_str(), "https://rp.example/new");
        assert_eq!(updated.revision, current.revision + 1);
        assert_eq!(updated.secrets, current.secrets);
        assert_eq!(updated.resources, current.resources);
        assert_eq!(
            updated.registration_token_hash,
            current.registration_token_hash
        );
        let secret = base64url::encode(&[2; 48]);
        assert!(run(&format!(r#""client_secret":"{secret}""#)).is_ok());
        for bad in [
            r#""client_secret":"another""#,
            r#""registration_access_token":"x""#,
            r#""client_id_issued_at":1"#,
            r#""software_statement":"x""#,
            r#""sector_identifier_uri":"https://rp.example/list""#,
        ] {
            assert!(run(bad).is_err(), "{bad}");
        }
        let stolen = r#"{"client_id":"another","redirect_uris":["https://rp.example/new"]}"#;
        assert!(
            update(
                &current,
                stolen.as_bytes(),
                "t",
                &settings(),
                &keyring,
                None,
                &random()
            )
            .is_err()
        );
        // To client_secret_jwt the hash is of no use: a new secret is made and told.
        let jwt = run(r#""token_endpoint_auth_method":"client_secret_jwt""#).unwrap();
        assert!(matches!(
            jwt.client.secrets[..],
            [ClientSecret::Sealed { .. }]
        ));
        assert!(
            String::from_utf8(jwt.response)
                .unwrap()
                .contains("client_secret\"")
        );
    }

    #[test]
    fn a_stored_client_is_read_back_whole() {
        let registered = try_register(&format!(
            r#"{{"redirect_uris":["https://rp.example/cb"],"post_logout_redirect_uris":["https://rp.example/out"],
            "client_name":"Caf\u00e9","contacts":["a@rp.example"],"grant_types":["authorization_code","refresh_token"],
            "token_endpoint_auth_method":"self_signed_tls_client_auth","jwks":{{"keys":[{KEY}]}},"default_max_age":60,
            "require_auth_time":true,"default_acr_values":["a"],"tls_client_auth_san_ip":"192.0.2.1",
            "userinfo_signed_response_alg":"RS256","require_pushed_authorization_requests":true,
            "dpop_bound_access_tokens":true,"software_id":"s","software_version":"1",
            "tls_client_certificate_bound_access_tokens":true,"initiate_login_uri":"https://rp.example/login"}}"#
        ))
        .unwrap();
        let mut client = registered.client;
        client.enabled = false;
        client.revision = 7;
        client.allowed_origins = vec!["https://spa.example".into()];
        client.resources = vec!["https://api.example".into()];
        client.may_act_for = vec!["web".into()];
        client.access_token_signed_response_alg = Some(signet_crypto::Algorithm::MlDsa65);
        client.introspection_signed_response_alg = Some(signet_crypto::Algorithm::Es256);
        client.refresh_rotation = RefreshRotation::Keep;
        client.consent = ConsentPolicy::Implicit;
        client.access_token_lifetime = Some(1);
        client.refresh_token_lifetime = Some(2);
        client.expires_at = Some(3);
        client.sector_identifier_uri = Some("https://rp.example/list".into());
        client.secrets = vec![
            ClientSecret::Sha256 {
                hash: [5; 32],
                expires_at: Some(9),
            },
            ClientSecret::Sealed {
                sealed: vec![1, 2, 3],
                expires_at: None,
            },
        ];
        assert_eq!(Client::from_json(&client.to_json()), Ok(client.clone()));
        client.jwks = None;
        client.jwks_uri = Some("https://rp.example/jwks".into());
        client.token_endpoint_auth_method = AuthMethod::PrivateKeyJwt;
        client.token_endpoint_auth_signing_alg = Some(signet_crypto::Algorithm::Ps256);
        client.grant_types = GrantType::ALL.to_vec();
        assert_eq!(Client::from_json(&client.to_json()), Ok(client.clone()));
        let public = Client::new("bare", 1);
        assert_eq!(Client::from_json(&public.to_json()), Ok(public));
        // Neither the public form nor the answer shows a hash.
        let mut out = Vec::new();
        Writer::new(&mut out).object(|w| client.write_public(w));
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains("sha256") && !text.contains("secrets") && !text.contains("sealed"));
    }

    #[test]
    fn an_operators_secret_is_long_enough() {
        let make =
            |secret| client_secret(AuthMethod::ClientSecretPost, secret, "c", None, &keyring());
        assert!(make("0123456789abcdef0123456789abcde").is_err());
        assert!(make("0123456789abcdef0123456789abcdef").is_ok());
    }

    proptest! {
        #[test]
        fn registering_any_text_never_panics(text in ".{0,120}") {
            let _ = try_register(&text);
            let _ = sector_identifier_uri(text.as_bytes());
            let _ = Client::from_json(text.as_bytes());
        }
        #[test]
        fn registering_any_member_never_panics(
            name in prop_oneof![Just("grant_types"), Just("response_types"), Just("jwks"), Just("scope"), Just("contacts"),
                Just("tls_client_auth_san_ip"), Just("application_type"), Just("default_max_age"), Just("post_logout_redirect_uris")],
            value in prop_oneof![Just("null".to_owned()), Just("[]".to_owned()), Just("{}".to_owned()), Just("7".to_owned()),
                Just("[null]".to_owned()), Just("\"x\"".to_owned()), Just("[\"code\"]".to_owned()), Just("-1".to_owned())],
        ) {
            if let Ok(registered) = try_register(&with(&format!("\"{name}\":{value}"))) {
                prop_assert_eq!(Client::from_json(&registered.client.to_json()), Ok(registered.client));
            }
        }
    }
}
