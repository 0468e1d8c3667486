//! Client authentication: one method a file, one row each in [`METHODS`].
//!
//! A request shows exactly one kind of credential, and it must be the one that the client
//! registered; there is no fallback from one to another, but for a client that nobody chose a
//! method for, whose secret may come in the header or in the body. Every failure is the same
//! `invalid_client`, unless the secret was right and came the wrong way; an unknown client costs
//! about what a known one costs.
mod assertion;
mod client_secret_basic;
mod client_secret_jwt;
mod client_secret_post;
mod keys;
mod none;
mod private_key_jwt;
mod secret;
mod self_signed_tls_client_auth;
mod tls_client_auth;

pub use assertion::{ASSERTION_TYPE, MAX_ASSERTION_LIFETIME};
pub use keys::ClientKeys;
pub use secret::seal_secret;

use crate::client::{AuthMethod, Client};
use crate::error::{ErrorCode, OAuthError};
use crate::request::{Context, PeerCertificate, Request};
use crate::token::decision::SingleUse;
use assertion::Assertion;
use signet_crypto::hash::sha256;
use std::{borrow::Cow, sync::Arc};

/// Longest `client_id` that is looked up, in bytes.
const MAX_CLIENT_ID_BYTES: usize = 512;

/// One row: a method and how it is checked. `Err` carries the reason, for the log only.
pub struct Method {
    /// the registered name is its `as_str`
    pub method: AuthMethod,
    verify: fn(&Attempt<'_>) -> Result<Option<SingleUse>, &'static str>,
}

/// Every method. The metadata's `token_endpoint_auth_methods_supported` is this list.
pub const METHODS: &[Method] = &[
    Method {
        method: AuthMethod::ClientSecretBasic,
        verify: client_secret_basic::verify,
    },
    Method {
        method: AuthMethod::ClientSecretPost,
        verify: client_secret_post::verify,
    },
    Method {
        method: AuthMethod::ClientSecretJwt,
        verify: client_secret_jwt::verify,
    },
    Method {
        method: AuthMethod::PrivateKeyJwt,
        verify: private_key_jwt::verify,
    },
    Method {
        method: AuthMethod::TlsClientAuth,
        verify: tls_client_auth::verify,
    },
    Method {
        method: AuthMethod::SelfSignedTlsClientAuth,
        verify: self_signed_tls_client_auth::verify,
    },
    Method {
        method: AuthMethod::None,
        verify: none::verify,
    },
];

/// What the request shows, sorted but not yet checked.
pub struct Credentials<'a> {
    /// whom the request says it is from
    pub client_id: Cow<'a, str>,
    proof: Proof<'a>,
}

enum Proof<'a> {
    Basic(String),
    Post(&'a str),
    Assertion(Box<Assertion<'a>>),
    /// a public client, or one whose certificate speaks
    Nothing,
}

impl Proof<'_> {
    /// The secret that the request has in it, and the method that sends it so.
    fn secret(&self) -> Option<(AuthMethod, &str)> {
        match self {
            Proof::Basic(secret) => Some((AuthMethod::ClientSecretBasic, secret.as_str())),
            Proof::Post(secret) => Some((AuthMethod::ClientSecretPost, *secret)),
            Proof::Assertion(_) | Proof::Nothing => None,
        }
    }
}

/// One check of one client.
struct Attempt<'a> {
    context: &'a Context<'a>,
    client: &'a Client,
    proof: &'a Proof<'a>,
    keys: Option<&'a ClientKeys>,
    certificate: Option<PeerCertificate<'a>>,
}

/// A client that has proven who it is (or, for a public one, only said so).
#[derive(Clone, Debug)]
pub struct Authenticated {
    /// its record in the snapshot
    pub client: Arc<Client>,
    /// to be committed before anything is answered: the assertion's id
    pub single_use: Option<SingleUse>,
}

impl<'a> Credentials<'a> {
    /// Sorts the request's credentials. More than one kind is `invalid_request` (RFC 6749 section
    /// 2.3), none is `invalid_client`.
    pub fn of(request: &Request<'a>) -> Result<Credentials<'a>, OAuthError> {
        let params = request.params;
        let (post, assertion) = (params.get("client_secret"), params.get("client_assertion"));
        let kinds = [
            request.authorization.is_some(),
            post.is_some(),
            assertion.is_some(),
        ];
        if kinds.iter().filter(|&&shown| shown).count() > 1 {
            return Err(OAuthError::invalid_request(
                "more than one method of client authentication",
            ));
        }
        if assertion.is_some() != params.contains("client_assertion_type") {
            return Err(OAuthError::invalid_request(
                "client_assertion and client_assertion_type go together",
            ));
        }
        let named = params.get("client_id");
        let (own, proof) = if let Some(header) = request.authorization {
            let (client_id, secret) = client_secret_basic::parse(header).map_err(refused)?;
            (Some(Cow::Owned(client_id)), Proof::Basic(secret))
        } else if let Some(assertion) = assertion {
            let assertion = Assertion::parse(assertion, params.get("client_assertion_type"))
                .map_err(refused)?;
            (
                Some(Cow::Owned(assertion.subject.clone())),
                Proof::Assertion(Box::new(assertion)),
            )
        } else if let Some(secret) = post {
            (None, Proof::Post(secret))
        } else {
            (None, Proof::Nothing)
        };
        let client_id = match (own, named) {
            (Some(own), Some(named)) if *own != *named => {
                return Err(refused("client_id is not the authenticated client"));
            }
            (Some(own), _) => own,
            (None, Some(named)) => Cow::Borrowed(named),
            (None, None) => return Err(refused("no client_id")),
        };
        if client_id.len() > MAX_CLIENT_ID_BYTES {
            return Err(refused("client_id is too long"));
        }
        Ok(Credentials { client_id, proof })
    }

    /// The key that the assertion names, where it is signed with one of the client's keys: a set
    /// without it may be fetched again (within the fetcher's bounds) before [`authenticate`] is
    /// called.
    pub fn key_id(&self) -> Option<&str> {
        match &self.proof {
            Proof::Assertion(assertion) if !assertion.header.alg.is_symmetric() => {
                assertion.header.kid.as_deref()
            }
            Proof::Basic(_) | Proof::Post(_) | Proof::Assertion(_) | Proof::Nothing => None,
        }
    }
    /// Which credential was shown, as a digest: the same for two requests that showed the same
    /// secret, named the same key, or came with the same certificate. It proves nothing by itself.
    pub(crate) fn digest(&self, certificate: Option<PeerCertificate<'_>>) -> [u8; 32] {
        match &self.proof {
            Proof::Basic(secret) => sha256(&[b"secret:", secret.as_bytes()].concat()),
            Proof::Post(secret) => sha256(&[b"secret:", secret.as_bytes()].concat()),
            Proof::Assertion(assertion) => {
                let kid = assertion.header.kid.as_deref().unwrap_or_default();
                let alg = assertion.header.alg.name();
                // No name of an algorithm has a colon.
                sha256(format!("assertion:{alg}:{kid}").as_bytes())
            }
            Proof::Nothing => match certificate {
                Some(peer) => {
                    sha256(&[&b"certificate:"[..], &peer.certificate.thumbprint].concat())
                }
                None => sha256(b"none"),
            },
        }
    }

    /// Whether the client's own public keys decide: those of `jwks_uri` must be handed to
    /// [`authenticate`] then.
    pub fn needs_keys(&self, client: &Client) -> bool {
        matches!(
            client.token_endpoint_auth_method,
            AuthMethod::PrivateKeyJwt | AuthMethod::SelfSignedTlsClientAuth
        )
    }
}

/// Decides who the client is.
///
/// `keys`: the client's public keys as fetched from its `jwks_uri` or prepared earlier; where there
/// are none, those of its inline `jwks` are prepared for this one call. The returned `once` must be
/// committed before anything is answered.
pub fn authenticate(
    context: &Context<'_>,
    request: &Request<'_>,
    credentials: &Credentials<'_>,
    keys: Option<&ClientKeys>,
) -> Result<Authenticated, OAuthError> {
    let Some(client) = context
        .registry
        .client(&credentials.client_id, context.now())
    else {
        decoy(&credentials.proof);
        return Err(refused("unknown client"));
    };
    let attempt = Attempt {
        context,
        client,
        proof: &credentials.proof,
        keys,
        certificate: request.certificate,
    };
    let method = match credentials.proof.secret() {
        Some((sent_as, _)) if client.any_secret_method => sent_as,
        Some(_) | None => client.token_endpoint_auth_method,
    };
    let row = METHODS.iter().find(|row| row.method == method);
    match row.map_or(Err("no such method"), |row| (row.verify)(&attempt)) {
        Ok(single_use) => Ok(Authenticated {
            client: Arc::clone(client),
            single_use,
        }),
        Err(reason) => {
            let known = refused(format!("{reason} (client {})", client.client_id));
            if reason != WRONG_METHOD {
                return Err(known);
            }
            Err(wrong_way(&attempt).unwrap_or(known))
        }
    }
}

/// A caller that has the client's secret and sends it the wrong way learns the right one: an honest
/// developer, and nobody who guesses. Costs what [`decoy`] does.
fn wrong_way(attempt: &Attempt<'_>) -> Option<OAuthError> {
    let Some((sent_as, secret)) = attempt.proof.secret() else {
        decoy(attempt.proof);
        return None;
    };
    let context = attempt.context;
    if !secret::matches(context.keyring, attempt.client, secret, context.now()) {
        return None;
    }
    let said = match attempt.client.token_endpoint_auth_method {
        AuthMethod::ClientSecretBasic => {
            "this client is registered with client_secret_basic: its secret comes in the Authorization header, not in the body"
        }
        AuthMethod::ClientSecretPost => {
            "this client is registered with client_secret_post: its secret comes in the body, not in the Authorization header"
        }
        AuthMethod::ClientSecretJwt => {
            "this client is registered with client_secret_jwt: its secret signs an assertion, and is not sent"
        }
        AuthMethod::PrivateKeyJwt
        | AuthMethod::TlsClientAuth
        | AuthMethod::SelfSignedTlsClientAuth
        | AuthMethod::None => return None,
    };
    let id = &attempt.client.client_id;
    let hint = format!("{WRONG_METHOD} (client {id}): the secret came as {sent_as}");
    Some(OAuthError::new(ErrorCode::InvalidClient, said).with_hint(hint))
}

/// The reason of a method that was shown another kind of credential.
const WRONG_METHOD: &str = "not the registered authentication method";

/// Does the work of a check that cannot succeed, so that time does not tell who exists.
fn decoy(proof: &Proof<'_>) {
    match proof {
        Proof::Basic(secret) => secret::decoy(secret),
        Proof::Post(secret) => secret::decoy(secret),
        Proof::Assertion(assertion) => assertion.decoy(),
        Proof::Nothing => {}
    }
}

/// The one public answer of every failure, but for [`wrong_way`].
fn refused(reason: impl Into<String>) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidClient, "client authentication failed").with_hint(reason)
}
