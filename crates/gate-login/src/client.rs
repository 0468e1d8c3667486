//! How the gate shows the issuer which client it is (RFC 6749 section 2.3, RFC 7523 section 2.2).

use bytes::Bytes;
use http::HeaderValue;
use signet_crypto::{Secret, random};
use signet_encoding::base64url;
use signet_jose::jwt::{JwtSigner, Typ};
use signet_oauth::params::encode_into;
use signet_verify::fetch::Credentials;
use std::fmt;

/// Seconds that a client assertion is good for.
const ASSERTION_LIFE: u64 = 60;

/// One way of it.
pub enum ClientAuthentication {
    /// `client_secret_basic`
    Secret(Credentials),
    /// `private_key_jwt`
    PrivateKey(Box<JwtSigner>),
}

impl fmt::Debug for ClientAuthentication {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClientAuthentication::Secret(_) => "client_secret_basic",
            ClientAuthentication::PrivateKey(_) => "private_key_jwt",
        })
    }
}

/// A form that the client posts, and who posts it.
pub(crate) struct Posted {
    pub(crate) authorization: Option<HeaderValue>,
    pub(crate) form: Bytes,
}

impl ClientAuthentication {
    /// Puts who asks beside a form. None where no assertion could be signed.
    pub(crate) fn post(
        &self,
        issuer: &str,
        client_id: &str,
        form: Vec<(&str, &str)>,
        now: u64,
    ) -> Option<Posted> {
        let names_client = form.iter().any(|(name, _)| *name == "client_id");
        let mut text = Form::of(form);
        let authorization = match self {
            ClientAuthentication::Secret(credentials) => Some(credentials.authorization()),
            ClientAuthentication::PrivateKey(signer) => {
                let assertion = signer.sign(Typ::Jwt, |w| {
                    w.member("iss").string(client_id);
                    w.member("sub").string(client_id);
                    w.member("aud").string(issuer);
                    let jti = base64url::encode(&random::bytes::<16>());
                    w.member("jti").string(&jti);
                    w.member("iat").number(now);
                    w.member("exp").number(now.saturating_add(ASSERTION_LIFE));
                });
                let assertion = Secret::new(assertion.ok()?);
                if !names_client {
                    text.add("client_id", client_id);
                }
                let of_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
                text.add("client_assertion_type", of_type);
                text.add("client_assertion", assertion.expose());
                None
            }
        };
        Some(Posted {
            authorization,
            form: text.0.into(),
        })
    }
}

/// `application/x-www-form-urlencoded`.
pub(crate) struct Form(pub(crate) String);

impl Form {
    pub(crate) fn of<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Form {
        let mut form = Form(String::new());
        for (name, value) in pairs {
            form.add(name, value);
        }
        form
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        encode_into(name, &mut self.0);
        self.0.push('=');
        encode_into(value, &mut self.0);
    }
}
