//! The token endpoint of a provider: codes become tokens.
use bytes::Bytes;
use http::HeaderValue;
use serde::Deserialize;
use signet_crypto::{Algorithm, Secret, SigningKey, hash::sha256};
use signet_encoding::base64url;
use signet_jose::jwt::{JwtSigner, Typ};
use signet_oauth::people::provider::ProviderAuth;
use signet_oauth::scope::ScopeSet;

use super::{Asking, Metadata, Trouble};
use signet_realm::outbound::{Call, Reply};
use signet_registry::providers::open_secret;

/// How long an assertion of ours is good, seconds.
const ASSERTION_LIFETIME: u64 = 60;
/// The longest token that is taken from a provider, in bytes.
const MAX_TOKEN: usize = 16 * 1024;
/// The longest refresh token that is kept of a provider, in bytes
const MAX_REFRESH_TOKEN: usize = 4096;
pub(super) const JSON: &str = "application/json";

/// What a provider gave.
pub struct Tokens {
    /// For its API.
    pub access_token: Secret<String>,
    /// Who the person is.
    pub id_token: Option<String>,
    /// For more access tokens.
    pub refresh_token: Option<Secret<String>>,
    /// How long the access token lives, seconds, where that was said.
    pub expires_in: Option<u64>,
    /// What it is good for, where that was said.
    pub scope: Option<String>,
    /// The key that they are bound to (RFC 9449), where they are.
    pub proof_key: Option<ProofKey>,
}

/// Why a provider gave no other access token.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotRefreshed {
    /// The refresh token is good no more.
    #[error("the refresh token is good no more")]
    Ended,
    /// The scope that was asked for is not one that the person gave.
    #[error("the scope is wider than what was given")]
    Scope,
    /// It may be good later.
    #[error("not now: {0}")]
    Later(Trouble),
    /// Anything else: somebody has to mend something.
    #[error(transparent)]
    Trouble(Trouble),
}

impl NotRefreshed {
    /// By RFC 6749 section 5.2.
    fn of(trouble: Trouble) -> NotRefreshed {
        let code = match &trouble {
            Trouble::Refused(code) => code.as_str(),
            Trouble::TooMany | Trouble::Fetch(_) => return NotRefreshed::Later(trouble),
            Trouble::Metadata(_)
            | Trouble::Answer(_)
            | Trouble::Directory(_)
            | Trouble::Token(_)
            | Trouble::Own(_) => {
                return NotRefreshed::Trouble(trouble);
            }
        };
        match code {
            // GitHub's own name for it is the second.
            "invalid_grant" | "bad_refresh_token" => NotRefreshed::Ended,
            "invalid_scope" => NotRefreshed::Scope,
            "temporarily_unavailable" | "server_error" | "slow_down" => {
                NotRefreshed::Later(trouble)
            }
            _ => NotRefreshed::Trouble(trouble),
        }
    }
}

impl From<Trouble> for NotRefreshed {
    fn from(trouble: Trouble) -> NotRefreshed {
        NotRefreshed::of(trouble)
    }
}

/// A key of DPoP proofs, made for one login.
pub struct ProofKey(JwtSigner);

impl ProofKey {
    fn new() -> Result<ProofKey, Trouble> {
        let key = SigningKey::generate(Algorithm::Es256);
        let key = key.map_err(|_| Trouble::Own("no key of DPoP proofs could be made"))?;
        Ok(ProofKey(JwtSigner::new(key, "")))
    }

    /// RFC 9449 section 4.2.
    fn proof(&self, of: &Proof<'_>) -> Result<HeaderValue, Trouble> {
        let jti = base64url::encode(&signet_crypto::random::bytes::<16>());
        // Without query and fragment.
        let htu = of.url.split(['?', '#']).next().unwrap_or(of.url);
        let signed = self.0.sign(Typ::DpopProof, |w| {
            w.member("jti").string(&jti);
            w.member("htm").string(of.method);
            w.member("htu").string(htu);
            w.member("iat").number(of.now);
            if let Some(nonce) = of.nonce {
                w.member("nonce").string(nonce);
            }
            if let Some(token) = of.token {
                w.member("ath")
                    .string(&signet_jose::dpop::ath(token.expose()));
            }
        });
        let signed = signed.map_err(|_| Trouble::Own("a DPoP proof could not be signed"))?;
        HeaderValue::from_str(&signed).map_err(|_| Trouble::Own("a DPoP proof is no header"))
    }
}

struct Proof<'a> {
    method: &'static str,
    url: &'a str,
    now: u64,
    nonce: Option<&'a str>,
    token: Option<&'a Secret<String>>,
}

#[derive(Deserialize)]
struct Answer {
    access_token: Option<String>,
    token_type: Option<String>,
    id_token: Option<String>,
    error: Option<String>,
    // What is of no use in them is passed over.
    #[serde(default)]
    refresh_token: serde_json::Value,
    #[serde(default)]
    expires_in: serde_json::Value,
    #[serde(default)]
    scope: serde_json::Value,
}

impl Asking<'_> {
    /// Redeems a code (RFC 6749 section 4.1.3) with its PKCE verifier.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub async fn redeem(
        &self,
        metadata: &Metadata,
        code: &str,
        verifier: &str,
        redirect_uri: &str,
    ) -> Result<Tokens, Trouble> {
        let proof_key = match metadata.takes_dpop() {
            true => Some(ProofKey::new()?),
            false => None,
        };
        let fields = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier),
        ];
        self.token(metadata, &fields, proof_key).await
    }

    /// Asks for another access token (RFC 6749 section 6): `scope` narrows it. It is a bearer
    /// token, for whoever it is handed on to has no key of ours. A client that authenticates need
    /// not show the key of the login (RFC 9449 section 5), and no other keeps refresh tokens here.
    ///
    /// # Errors
    /// See [`NotRefreshed`].
    pub async fn refresh(
        &self,
        metadata: &Metadata,
        refresh_token: &Secret<String>,
        scope: Option<&str>,
    ) -> Result<Tokens, NotRefreshed> {
        let mut fields = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh_token.expose().as_str()),
        ];
        fields.extend(scope.map(|scope| ("scope", scope)));
        let url = &metadata.token_endpoint;
        let (authorization, form) = self.form(metadata, &fields)?;
        let call = Call {
            url,
            accept: JSON,
            authorization,
            dpop: None,
            form: Some(form),
        };
        let reply = self.call(&call).await?;
        // What it says beside that is a proxy's page as often as not.
        if reply.status == 429 || reply.status >= 500 {
            return Err(NotRefreshed::Later(Trouble::Refused(format!(
                "status {}",
                reply.status
            ))));
        }
        read(&reply, None).map_err(NotRefreshed::of)
    }

    pub(super) async fn token(
        &self,
        metadata: &Metadata,
        fields: &[(&str, &str)],
        proof_key: Option<ProofKey>,
    ) -> Result<Tokens, Trouble> {
        let url = &metadata.token_endpoint;
        let mut nonce = None;
        // RFC 9449 section 8: once more, with the nonce that was asked for.
        for attempt in 0..2 {
            let (authorization, form) = self.form(metadata, fields)?;
            let proof = proof_key.as_ref().map(|key| {
                key.proof(&Proof {
                    method: "POST",
                    url,
                    now: self.now,
                    nonce: nonce.as_deref(),
                    token: None,
                })
            });
            let call = Call {
                url,
                accept: JSON,
                authorization,
                dpop: proof.transpose()?,
                form: Some(form),
            };
            let reply = self.call(&call).await?;
            if attempt == 0
                && reply.status == 400
                && reply.dpop_nonce.is_some()
                && proof_key.is_some()
            {
                nonce = reply.dpop_nonce;
                continue;
            }
            return read(&reply, proof_key);
        }
        Err(Trouble::Refused("use_dpop_nonce".to_owned()))
    }

    /// The form with who we are, and the header field that says it.
    pub(super) fn form(
        &self,
        metadata: &Metadata,
        fields: &[(&str, &str)],
    ) -> Result<(Option<HeaderValue>, Bytes), Trouble> {
        let provider = self.provider;
        let secret = || {
            let secret = open_secret(&self.realm.keyring(), provider);
            secret.ok_or(Trouble::Own(
                "the client secret is missing, or does not open",
            ))
        };
        let mut form = String::new();
        let mut add = |name: &str, value: &str| {
            if !form.is_empty() {
                form.push('&');
            }
            encode(name, &mut form);
            form.push('=');
            encode(value, &mut form);
        };
        for (name, value) in fields {
            add(name, value);
        }
        let mut authorization = None;
        match provider.auth {
            ProviderAuth::ClientSecretBasic => {
                authorization = Some(basic(&provider.client_id, &secret()?)?);
            }
            ProviderAuth::ClientSecretPost => {
                add("client_id", &provider.client_id);
                add("client_secret", secret()?.expose());
            }
            ProviderAuth::PrivateKeyJwt => {
                add("client_id", &provider.client_id);
                add(
                    "client_assertion_type",
                    "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                );
                add("client_assertion", &self.assertion(metadata)?);
            }
            ProviderAuth::None => add("client_id", &provider.client_id),
        }
        Ok((authorization, form.into()))
    }

    /// RFC 7523 section 2.2, for the provider alone: its issuer identifier is the audience.
    fn assertion(&self, metadata: &Metadata) -> Result<String, Trouble> {
        let snapshot = self.realm.snapshot();
        let offered = &metadata.token_endpoint_auth_signing_alg_values_supported;
        let fits = |algorithm: &&Algorithm| {
            offered.is_empty() || offered.iter().any(|name| name == algorithm.name())
        };
        let preferred = [
            Algorithm::Es256,
            Algorithm::EdDsa,
            Algorithm::Ps256,
            Algorithm::Rs256,
        ];
        let signer = preferred
            .iter()
            .filter(fits)
            .find_map(|algorithm| snapshot.keys.signer(*algorithm));
        let signer = signer.ok_or(Trouble::Own(
            "no signing key is of an algorithm that it takes",
        ))?;
        let (client_id, now) = (&self.provider.client_id, self.now);
        let jti = base64url::encode(&signet_crypto::random::bytes::<16>());
        let signed = signer.sign(Typ::Jwt, |w| {
            w.member("iss").string(client_id);
            w.member("sub").string(client_id);
            w.member("aud").string(&self.provider.issuer);
            w.member("jti").string(&jti);
            w.member("iat").number(now);
            w.member("exp")
                .number(now.saturating_add(ASSERTION_LIFETIME));
        });
        signed.map_err(|_| Trouble::Own("a client assertion could not be signed"))
    }

    /// What an API of the provider answers an access token, as JSON.
    ///
    /// # Errors
    /// See [`Trouble`].
    pub async fn api(&self, url: &str, tokens: &Tokens) -> Result<serde_json::Value, Trouble> {
        let mut nonce: Option<String> = None;
        for attempt in 0..2 {
            let scheme = match tokens.proof_key {
                Some(_) => "DPoP",
                None => "Bearer",
            };
            let proof = tokens.proof_key.as_ref().map(|key| {
                key.proof(&Proof {
                    method: "GET",
                    url,
                    now: self.now,
                    nonce: nonce.as_deref(),
                    token: Some(&tokens.access_token),
                })
            });
            let call = Call {
                url,
                accept: JSON,
                authorization: Some(sensitive(&[scheme, " ", tokens.access_token.expose()])?),
                dpop: proof.transpose()?,
                form: None,
            };
            let reply = self.call(&call).await?;
            if attempt == 0 && reply.status == 401 && reply.dpop_nonce.is_some() {
                nonce = reply.dpop_nonce;
                continue;
            }
            if reply.status != 200 {
                return Err(Trouble::Answer("its API refused the access token"));
            }
            let read = serde_json::from_slice(&reply.body);
            return read.map_err(|_| Trouble::Answer("its API answered no JSON"));
        }
        Err(Trouble::Answer("its API refused the proof"))
    }
}

fn read(reply: &Reply, proof_key: Option<ProofKey>) -> Result<Tokens, Trouble> {
    let answer: Answer = serde_json::from_slice(&reply.body)
        .map_err(|_| Trouble::Answer("the token endpoint answered no JSON"))?;
    // GitHub answers errors with 200.
    if let Some(error) = answer.error {
        let error: String = error
            .chars()
            .filter(char::is_ascii_graphic)
            .take(64)
            .collect();
        return Err(Trouble::Refused(error));
    }
    if reply.status != 200 {
        return Err(Trouble::Refused(format!("status {}", reply.status)));
    }
    let access_token = answer.access_token.unwrap_or_default();
    let fits = |token: &str| {
        !token.is_empty() && token.len() <= MAX_TOKEN && token.bytes().all(|b| b.is_ascii_graphic())
    };
    if !fits(&access_token) {
        return Err(Trouble::Answer(
            "the token endpoint gave no usable access token",
        ));
    }
    let refresh_token = answer.refresh_token.as_str();
    let refresh_token =
        refresh_token.filter(|token| fits(token) && token.len() <= MAX_REFRESH_TOKEN);
    let scope = answer.scope.as_str();
    let scope = scope.filter(|scope| ScopeSet::parse(scope).is_ok());
    let kind = answer.token_type.unwrap_or_default();
    // RFC 9449 section 5: a provider that does not bind the token says Bearer.
    let proof_key = match kind.to_ascii_lowercase().as_str() {
        "dpop" if proof_key.is_some() => proof_key,
        "bearer" => None,
        _ => {
            return Err(Trouble::Answer(
                "the token endpoint gave a token of an unknown type",
            ));
        }
    };
    Ok(Tokens {
        access_token: Secret::new(access_token),
        id_token: answer.id_token,
        refresh_token: refresh_token.map(|token| Secret::new(token.to_owned())),
        expires_in: answer.expires_in.as_u64(),
        scope: scope.map(str::to_owned),
        proof_key,
    })
}

/// The challenge of a PKCE verifier (RFC 7636 section 4.2).
pub fn challenge(verifier: &str) -> String {
    base64url::encode(&sha256(verifier.as_bytes()))
}

fn basic(client_id: &str, secret: &Secret<String>) -> Result<HeaderValue, Trouble> {
    // RFC 6749 section 2.3.1: encoded before they are joined.
    let mut pair = String::new();
    encode(client_id, &mut pair);
    pair.push(':');
    encode(secret.expose(), &mut pair);
    let pair = Secret::new(pair);
    let mut encoded = base64url::encode(pair.expose().as_bytes())
        .replace('-', "+")
        .replace('_', "/");
    while !encoded.len().is_multiple_of(4) {
        encoded.push('=');
    }
    let encoded = Secret::new(encoded);
    sensitive(&["Basic ", encoded.expose()])
}

fn sensitive(parts: &[&str]) -> Result<HeaderValue, Trouble> {
    let text = Secret::new(parts.concat());
    let mut value = HeaderValue::from_str(text.expose())
        .map_err(|_| Trouble::Own("a credential is no header"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// `application/x-www-form-urlencoded`.
fn encode(text: &str, out: &mut String) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(status: u16, body: &str) -> Reply {
        Reply {
            status,
            dpop_nonce: None,
            body: Bytes::copy_from_slice(body.as_bytes()),
        }
    }

    #[test]
    fn only_tokens_that_can_be_used_are_taken() {
        let good = r#"{"access_token":"a","token_type":"bearer","expires_in":60}"#;
        assert!(read(&reply(200, good), None).is_ok());
        for (status, body) in [
            (400, r#"{"error":"invalid_grant"}"#),
            (200, r#"{"error":"bad_verification_code"}"#),
            (500, good),
            (200, "{}"),
            (200, "<html>"),
            (200, r#"{"access_token":"a"}"#),
            (200, r#"{"access_token":"a","token_type":"mac"}"#),
            (200, r#"{"access_token":"a b","token_type":"Bearer"}"#),
            // Bound to a key that was never shown.
            (200, r#"{"access_token":"a","token_type":"DPoP"}"#),
        ] {
            assert!(read(&reply(status, body), None).is_err(), "{body}");
        }
    }

    #[test]
    fn what_is_sent_of_the_secret_is_encoded_and_marked() {
        let value = basic("a:b", &Secret::new("p w%?\u{e9}".to_owned())).unwrap();
        assert!(value.is_sensitive());
        assert_eq!(value.as_bytes(), b"Basic YSUzQWI6cCt3JTI1JTNGJUMzJUE5");
    }

    #[test]
    fn the_challenge_is_that_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(
            challenge(verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }
}
