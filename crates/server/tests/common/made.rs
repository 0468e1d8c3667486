//! What flows start from: a person, a code, a proof, an assertion.
use super::{Server, block_on, scope};
use signet_crypto::{Algorithm, SigningKey};
use signet_directory::NewUser;
use signet_encoding::base64url;
use signet_jose::{
    dpop,
    jwt::{JwtSigner, Typ},
};
use signet_oauth::id::{CodeId, GrantId};
use signet_oauth::issued::sealed::AuthorizationCode;

pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub const REDIRECT: &str = "https://client.example/cb";

/// A person's id.
pub fn alice(server: &Server) -> String {
    let new = NewUser {
        username: "alice".to_owned(),
        email: Some("alice@example.test".to_owned()),
        email_verified: true,
        ..NewUser::default()
    };
    let users = &server.realm.people.users;
    block_on(users.create(new, server.realm.now())).unwrap().id
}

/// What `/authorize` would give for a person's yes.
pub fn code_content(server: &Server, client_id: &str, user_id: &str) -> AuthorizationCode {
    AuthorizationCode {
        id: CodeId::new(signet_crypto::random::bytes()),
        grant_id: GrantId::new(signet_crypto::random::bytes()),
        client_id: client_id.to_owned(),
        redirect_uri: REDIRECT.to_owned(),
        redirect_uri_was_sent: true,
        code_challenge: Some(CHALLENGE.to_owned()),
        nonce: Some("n-1".to_owned()),
        scope: scope("openid email offline_access"),
        resources: Vec::new(),
        user_id: user_id.to_owned(),
        sid: "sid-1".to_owned(),
        auth_time: server.realm.now() - 5,
        acr: "urn:signet:acr:password".to_owned(),
        amr: vec!["pwd".to_owned()],
        session_ends_at: u64::MAX,
        claims: None,
        dpop_jkt: None,
        issued_at_ms: server.realm.now_ms(),
        expires_at: server.realm.now() + 60,
    }
}

pub fn code(server: &Server, client_id: &str, user_id: &str) -> String {
    let keyring = server.realm.keyring();
    code_content(server, client_id, user_id)
        .seal(&keyring)
        .unwrap()
}

/// The form that redeems a code.
pub fn redeem(code: &str) -> Vec<(&'static str, &str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ]
}

pub fn signer(algorithm: Algorithm) -> JwtSigner {
    JwtSigner::new(SigningKey::generate(algorithm).unwrap(), "k1")
}

pub fn random_id() -> String {
    base64url::encode(&signet_crypto::random::bytes::<16>())
}

/// A client assertion, in the present form of the draft: the issuer, alone, is the audience.
pub fn assertion(
    signer: &JwtSigner,
    client_id: &str,
    audience: &str,
    jti: &str,
    now: u64,
) -> String {
    signer
        .sign(Typ::Jwt, |w| {
            w.member("iss").string(client_id);
            w.member("sub").string(client_id);
            w.member("aud").string(audience);
            w.member("jti").string(jti);
            w.member("iat").number(now);
            w.member("exp").number(now + 60);
        })
        .unwrap()
}

/// A DPoP proof of a POST or GET to a path of the public listener.
pub struct Proof<'a> {
    pub htm: &'a str,
    pub path: &'a str,
    pub jti: &'a str,
    pub nonce: Option<&'a str>,
    pub token: Option<&'a str>,
}

pub fn proof(server: &Server, signer: &JwtSigner, proof: &Proof<'_>) -> String {
    signer
        .sign(Typ::DpopProof, |w| {
            w.member("htm").string(proof.htm);
            w.member("htu")
                .string(&format!("{}{}", server.issuer(), proof.path));
            w.member("jti").string(proof.jti);
            w.member("iat").number(server.realm.now());
            if let Some(nonce) = proof.nonce {
                w.member("nonce").string(nonce);
            }
            if let Some(token) = proof.token {
                w.member("ath").string(&dpop::ath(token));
            }
        })
        .unwrap()
}

/// The header of a JWT, unverified.
pub fn header(token: &str) -> serde_json::Value {
    let header = token.split('.').next().unwrap();
    serde_json::from_slice(&base64url::decode(header.as_bytes()).unwrap()).unwrap()
}

/// The claims of a JWT, unverified.
pub fn claims(token: &str) -> serde_json::Value {
    let payload = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&base64url::decode(payload.as_bytes()).unwrap()).unwrap()
}

/// How many rows a table has.
pub fn rows(server: &Server, table: signet_store::Table) -> usize {
    block_on(
        server
            .realm
            .store
            .page(table, None, 1000, server.realm.now()),
    )
    .unwrap()
    .len()
}
