//! The session's key of an agent: an Ed25519 key that tokens are bound to (DPoP, RFC 9449), as a
//! private JWK (RFC 8037) in a file that only its owner reads. The identity's own key stays in its
//! file; it certifies this one in the proof that an exchange is made with.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use signet_crypto::{Algorithm, Secret, SigningKey};
use signet_encoding::base64url;
use signet_jose::{
    dpop,
    jwk::Jwk,
    jwt::{JwtSigner, Typ},
};

use super::now;
use crate::cli::{Failure, Output};
use signet_crypto::private_file;
use signet_terminal::input;

/// `signet agent dpop`
#[derive(Debug, Args)]
pub struct Dpop {
    /// The session's key, as `signet agent exchange` left it.
    #[arg(long)]
    key: PathBuf,
    /// The request's method.
    #[arg(long, default_value = "GET")]
    method: String,
    /// The request's URL.
    #[arg(long)]
    url: String,
    /// The nonce that the last answer brought in `DPoP-Nonce`.
    #[arg(long)]
    nonce: Option<String>,
    /// The access token, or `-` for standard input; none at a token endpoint.
    token: Option<String>,
}

/// A key that signs DPoP proofs.
pub struct SessionKey {
    signer: JwtSigner,
    thumbprint: [u8; 32],
}

impl SessionKey {
    fn new(key: SigningKey) -> Result<SessionKey, Failure> {
        let public = key
            .public()
            .cloned()
            .ok_or_else(|| Failure::unusable("the key has no public half"))?;
        Ok(SessionKey {
            thumbprint: Jwk::new(public).thumbprint(),
            signer: JwtSigner::new(key, ""),
        })
    }

    /// The key of a file; made, and written there, where the file does not exist yet.
    pub fn open_or_make(path: &Path) -> Result<SessionKey, Failure> {
        if path.exists() {
            return SessionKey::open(path);
        }
        let failed = |e: &dyn std::fmt::Display| {
            Failure::unusable(format!("cannot make {}: {e}", path.display()))
        };
        let key = SigningKey::generate(Algorithm::EdDsa).map_err(|e| failed(&e))?;
        let seed = key.ed25519_seed().map_err(|e| failed(&e))?;
        let mut public = Vec::new();
        let jwk = Jwk::new(
            key.public()
                .cloned()
                .ok_or_else(|| failed(&"no public half"))?,
        );
        jwk.write(&mut signet_encoding::json::Writer::new(&mut public));
        let mut jwk: Value = serde_json::from_slice(&public).map_err(|e| failed(&e))?;
        let secret = Secret::new(base64url::encode(seed.expose()));
        jwk["d"] = Value::String(secret.expose().clone());
        let text = Secret::new(jwk.to_string());
        private_file::write(path, text.expose().as_bytes()).map_err(|e| failed(&e))?;
        SessionKey::new(key)
    }

    /// The key of a file.
    pub fn open(path: &Path) -> Result<SessionKey, Failure> {
        let bad = |e: &dyn std::fmt::Display| {
            Failure::unusable(format!("cannot use the key in {}: {e}", path.display()))
        };
        let text = Secret::new(std::fs::read(path).map_err(|e| bad(&e))?);
        let jwk: Value = serde_json::from_slice(text.expose()).map_err(|e| bad(&e))?;
        let ed25519 = jwk["kty"] == "OKP" && jwk["crv"] == "Ed25519";
        let seed = jwk["d"].as_str().filter(|_| ed25519);
        let seed = seed.ok_or_else(|| bad(&"it is no private Ed25519 JWK"))?;
        let seed: [u8; 32] = base64url::decode_array(seed.as_bytes())
            .map_err(|_| bad(&"it is no private Ed25519 JWK"))?;
        let seed = Secret::new(seed);
        let key = SigningKey::ed25519_from_seed(seed.expose()).map_err(|e| bad(&e))?;
        SessionKey::new(key)
    }

    /// RFC 7638: what tokens and proofs name it by.
    pub fn thumbprint(&self) -> &[u8; 32] {
        &self.thumbprint
    }

    /// A DPoP proof (RFC 9449 section 4.2) of a request now.
    pub fn proof(
        &self,
        method: &str,
        url: &str,
        nonce: Option<&str>,
        token: Option<&str>,
    ) -> Result<String, Failure> {
        // Section 4.3 item 9: query and fragment are no part of `htu`.
        let htu = url.split(['?', '#']).next().unwrap_or(url);
        let jti = base64url::encode(&signet_crypto::random::bytes::<16>());
        self.signer
            .sign(Typ::DpopProof, |w| {
                w.member("jti").string(&jti);
                w.member("htm").string(method);
                w.member("htu").string(htu);
                w.member("iat").number(now());
                if let Some(nonce) = nonce {
                    w.member("nonce").string(nonce);
                }
                if let Some(token) = token {
                    w.member("ath").string(&dpop::ath(token));
                }
            })
            .map_err(|e| Failure::unusable(format!("the proof cannot be signed: {e}")))
    }
}

/// `signet agent dpop`
pub fn dpop(arguments: &Dpop, output: &Output) -> Result<(), Failure> {
    let key = SessionKey::open(&arguments.key)?;
    let token = arguments.token.as_deref().map(input::token).transpose()?;
    let proof = key.proof(
        &arguments.method,
        &arguments.url,
        arguments.nonce.as_deref(),
        token.as_deref(),
    )?;
    let jkt = base64url::encode(key.thumbprint());
    output.print(&json!({ "proof": proof, "jkt": jkt }), || proof.clone())
}
