//! The hot paths, one call each: what instructions are counted of.

use std::time::Duration;

use signet_compact::{Algorithm as CompactAlgorithm, SigningKey as CompactKey, Version};
use signet_crypto::{Algorithm, SigningKey, hash, key::VERIFICATIONS_BEFORE_TABLE};
use signet_encoding::base64url;
use signet_jose::{
    jwk::{Jwk, JwkSet},
    jwt::{JwtSigner, Typ},
};
use signet_verify::{Issuer, KeySource, Policy, Presented, Verifier};

use crate::{client::Failure, compact};

const ISSUER: &str = "https://id.example.com";
const AUDIENCE: &str = "https://orders.example.com";
const NOW: u64 = 1_795_000_000;
/// Different tokens that are verified in turns; the calls that are counted are a multiple.
const TOKENS: u32 = 20;

/// A hot path that is prepared: each call does it once.
pub type Call = Box<dyn FnMut() -> Result<(), Failure>>;

/// A row of [`TABLE`].
pub struct Path {
    /// As it is kept.
    pub name: &'static str,
    /// Makes what a call needs.
    pub prepare: fn() -> Result<Call, Failure>,
}

/// What is counted. Signing with ML-DSA is not here: how often it tries depends on the message.
#[rustfmt::skip]
pub const TABLE: [Path; 11] = [
    Path { name: "base64url of 300 bytes", prepare: encoding },
    Path { name: "SHA-256 of 300 bytes", prepare: digest },
    Path { name: "sign a JWT, ES256", prepare: || sign(Algorithm::Es256) },
    Path { name: "sign a JWT, EdDSA", prepare: || sign(Algorithm::EdDsa) },
    Path { name: "verify a JWT never seen, ES256", prepare: || verify(Algorithm::Es256, 0) },
    Path { name: "verify a JWT never seen, EdDSA", prepare: || verify(Algorithm::EdDsa, 0) },
    Path { name: "verify a JWT seen before", prepare: || verify(Algorithm::Es256, 1024) },
    Path { name: "compact HMAC-SHA256, sign", prepare: || compact_sign(CompactAlgorithm::HmacSha256) },
    Path { name: "compact HMAC-SHA256, verify", prepare: || compact_verify(CompactAlgorithm::HmacSha256) },
    Path { name: "compact Ed25519, sign", prepare: || compact_sign(CompactAlgorithm::Ed25519) },
    Path { name: "compact Ed25519, verify", prepare: || compact_verify(CompactAlgorithm::Ed25519) },
];

fn encoding() -> Result<Call, Failure> {
    let bytes = [7_u8; 300];
    Ok(Box::new(move || {
        let text = base64url::encode(std::hint::black_box(&bytes));
        (!text.is_empty())
            .then_some(())
            .ok_or_else(|| "no text".into())
    }))
}

fn digest() -> Result<Call, Failure> {
    let bytes = [7_u8; 300];
    Ok(Box::new(move || {
        let digest = hash::sha256(std::hint::black_box(&bytes));
        (digest != [0; 32])
            .then_some(())
            .ok_or_else(|| "no digest".into())
    }))
}

fn token(signer: &JwtSigner, n: u32) -> Result<String, Failure> {
    let token = signer.sign(Typ::AccessToken, |w| {
        w.member("iss").string(ISSUER);
        w.member("sub").string("248289761001");
        w.member("aud").string(AUDIENCE);
        w.member("exp").number(NOW + 600);
        w.member("iat").number(NOW);
        w.member("jti").string(&format!("AaH8mfJ1qzIdsTgm0Z{n:04}"));
        w.member("client_id").string("web");
        w.member("scope").string("openid orders:read orders:write");
    });
    Ok(token?)
}

fn signer(algorithm: Algorithm) -> Result<(JwtSigner, JwkSet), Failure> {
    let key = SigningKey::generate(algorithm)?;
    let public = key.public().ok_or("an asymmetric key")?.clone();
    let keys = vec![Jwk::for_signatures(public, algorithm, "k1")];
    Ok((JwtSigner::new(key, "k1"), JwkSet { keys }))
}

fn sign(algorithm: Algorithm) -> Result<Call, Failure> {
    let (signer, _) = signer(algorithm)?;
    Ok(Box::new(move || token(&signer, 1).map(drop)))
}

fn verify(algorithm: Algorithm, cached: usize) -> Result<Call, Failure> {
    let (signer, keys) = signer(algorithm)?;
    // What a check costs differs a little with the signature: over many it is the same.
    let tokens: Result<Vec<String>, Failure> = (0..TOKENS).map(|n| token(&signer, n)).collect();
    let tokens = tokens?;
    let policy = Policy::access_token(AUDIENCE).algorithms(&[algorithm]);
    let verifier = Verifier::builder()
        .issuer(Issuer::new(ISSUER, KeySource::Memory(keys)))
        .policy(policy)
        .cache(cached, 1 << 20)
        .build()
        .map_err(|error| format!("{error:?}"))?;
    let mut next = 0;
    let mut call = move || {
        next = (next + 1) % tokens.len();
        let verified = verifier.verify(&Presented::token(&tokens[next]), NOW);
        verified
            .map(drop)
            .map_err(|refusal| format!("{refusal:?}").into())
    };
    if algorithm == Algorithm::Es256 {
        // The key's table is made after some, on a thread of its own.
        for _ in 0..2 * VERIFICATIONS_BEFORE_TABLE {
            call()?;
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    Ok(Box::new(call))
}

fn compact_sign(algorithm: CompactAlgorithm) -> Result<Call, Failure> {
    let key = CompactKey::generate(algorithm)?;
    let claims = compact::payload(1);
    let mut out = Vec::with_capacity(256);
    Ok(Box::new(move || {
        out.clear();
        key.sign_into(Version::V0, &claims, &mut out)?;
        Ok(())
    }))
}

fn compact_verify(algorithm: CompactAlgorithm) -> Result<Call, Failure> {
    let key = CompactKey::generate(algorithm)?;
    let token = compact::token(&key, Version::V0, 1);
    let verifying = key.verifying_key()?;
    Ok(Box::new(move || {
        let verified = verifying.verify(&token, &compact::policy());
        verified
            .map(drop)
            .map_err(|error| format!("{error:?}").into())
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hot_path_does_what_it_is_counted_for() {
        for path in &TABLE {
            let mut call = (path.prepare)().expect(path.name);
            for _ in 0..3 {
                call().expect(path.name);
            }
        }
    }
}
