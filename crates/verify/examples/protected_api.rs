//! An API behind its tokens, from the issuer's key to each refusal:
//! `cargo run -p signet-verify --features axum --example protected_api`.
//!
//! The program plays the issuer, too, so that it needs no network: it makes a key, signs tokens
//! and hands the public half to the API. A real API names the issuer and reads its keys from
//! there: `KeySource::Discovery`, on the crate's front page.

#![allow(clippy::print_stdout, reason = "a program that says what it did")]

use axum::{Router, body::Body, routing::get};
use http::{Request, Response, header};
use signet_crypto::{Algorithm, KeyError, SigningKey};
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jwt::{JwtSigner, Typ},
};
use signet_verify::{
    Issuer, KeySource, MemoryRevocations, OnStreamLoss, Policy, RevocationsByIssuer, Subject,
    Verified, Verifier, tower::Protect,
};
use std::{error::Error, sync::Arc, time::UNIX_EPOCH};
use tower_service::Service;

const ISSUER: &str = "https://id.example.com";
const ORDERS: &str = "https://orders.example.com";

fn unix_seconds() -> u64 {
    UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs())
}

/// The API: a request that arrives here was verified.
async fn orders(token: Verified) -> String {
    format!("orders of {}", token.claims().sub().unwrap_or("nobody"))
}

/// The issuer's side: an access token as RFC 9068 describes it.
fn access_token(
    signer: &JwtSigner,
    id: &str,
    audience: &str,
    scope: &str,
    lifetime: u64,
) -> Result<String, KeyError> {
    let now = unix_seconds();
    // A token that has expired was issued before that.
    let issued = now - 600;
    signer.sign(Typ::AccessToken, |claims| {
        claims.member("iss").string(ISSUER);
        claims.member("sub").string("alice");
        claims.member("aud").string(audience);
        claims.member("client_id").string("shop");
        claims.member("jti").string(id);
        claims.member("scope").string(scope);
        claims.member("iat").number(issued);
        claims.member("exp").number(issued + lifetime);
    })
}

/// What a client meets, without a socket between them.
async fn ask(api: &mut Router, token: Option<&str>) -> Result<Response<Body>, Box<dyn Error>> {
    let mut request = Request::get("/orders");
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    Ok(api.call(request.body(Body::empty())?).await?)
}

/// Runs the story; every step that must be refused is asserted.
pub async fn run() -> Result<(), Box<dyn Error>> {
    let key = SigningKey::generate(Algorithm::Es256)?;
    let public = key
        .public()
        .ok_or("an ES256 key has a public half")?
        .clone();
    let published = JwkSet {
        keys: vec![Jwk::for_signatures(public, Algorithm::Es256, "2026-11")],
    };
    let signer = JwtSigner::new(key, "2026-11");

    // Revocations are asked about at every request, from memory. Here they are filled by hand; a
    // `fetch::RevocationReader` follows a Signet server's stream.
    let revoked = Arc::new(MemoryRevocations::new(OnStreamLoss::FailOpen));
    let verifier = Verifier::builder()
        .issuer(Issuer::new(ISSUER, KeySource::Memory(published)))
        .policy(Policy::access_token(ORDERS).scope("orders"))
        .revocations(Arc::new(
            RevocationsByIssuer::new().and(ISSUER, revoked.clone()),
        ))
        .build()?;
    let protect = Protect::new(Arc::new(verifier), ORDERS, unix_seconds);
    let mut api = Router::new().route("/orders", get(orders)).layer(protect);

    let good = access_token(&signer, "1", ORDERS, "orders", 1_200)?;
    let expired = access_token(&signer, "2", ORDERS, "orders", 300)?;
    let elsewhere = access_token(&signer, "3", "https://files.example.com", "orders", 1_200)?;
    let unscoped = access_token(&signer, "4", ORDERS, "profile", 1_200)?;
    let forged = {
        let other = JwtSigner::new(SigningKey::generate(Algorithm::Es256)?, "2026-11");
        access_token(&other, "5", ORDERS, "orders", 1_200)?
    };
    for (what, token, status) in [
        ("no token", None, 401),
        ("a good token", Some(&good), 200),
        ("an expired one", Some(&expired), 401),
        ("one for another API", Some(&elsewhere), 401),
        ("one signed by another key", Some(&forged), 401),
        ("one without the scope", Some(&unscoped), 403),
    ] {
        let answer = ask(&mut api, token.map(String::as_str)).await?;
        let challenge = answer.headers().get(header::WWW_AUTHENTICATE);
        let challenge = challenge.and_then(|value| value.to_str().ok());
        println!(
            "{what}: {} {}",
            answer.status(),
            challenge.unwrap_or_default()
        );
        assert_eq!(answer.status(), status, "{what}");
        assert_eq!(challenge.is_some(), status != 200, "{what}");
    }

    revoked.revoke(Subject::Jti("1"), unix_seconds() + 1_200);
    let answer = ask(&mut api, Some(&good)).await?;
    println!("the good token, revoked: {}", answer.status());
    assert_eq!(answer.status(), 401);
    Ok(())
}

#[allow(dead_code, reason = "the tests call `run`")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    run().await
}
