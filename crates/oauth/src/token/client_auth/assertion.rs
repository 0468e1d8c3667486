//! What `client_secret_jwt` and `private_key_jwt` share: the assertion of RFC 7523 section 2.2,
//! with the audience rule of draft-ietf-oauth-rfc7523bis: the issuer, alone, as a string. An
//! assertion made for another server's token endpoint is worth nothing here (known fault A20).
//!
//! OpenID Connect Core section 9 says that the audience SHOULD be the token endpoint's URL, and
//! older libraries know nothing else. A client's record may allow it, alone, as a string, too;
//! never where the client belongs to a profile that forbids it
//! ([`Client::accepts_token_endpoint_audience`]).
use crate::client::Client;
use crate::endpoint::EndpointId;
use crate::request::Context;
use crate::token::decision::SingleUse;
use signet_crypto::{Algorithm, PublicKey, VerifyingKey};
use signet_jose::{
    jws::{self, Compact, Header},
    jwt::Claims,
};
use std::sync::OnceLock;

/// The only `client_assertion_type`.
pub const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// How far in the future `exp` may lie, in seconds: the id is kept that long.
pub const MAX_ASSERTION_LIFETIME: u64 = 3600;
/// Longest assertion that is read, in bytes.
const MAX_BYTES: usize = 16 * 1024;
/// Longest `jti`, in bytes.
const MAX_JTI_BYTES: usize = 256;
/// How far ahead a client's clock may be for `iat` and `nbf`, in seconds. FAPI 2.0 section 5.3.2.1:
/// 10 must pass, over 60 must not; between them, so that a slow request changes neither.
const MAX_AHEAD: u64 = 30;
/// The once-row outlives the assertion by this many seconds: nodes' clocks differ.
const ROW_MARGIN: u64 = 60;
/// The types of an assertion: RFC 7519's, and the explicit one of the draft.
const TYPES: [&str; 2] = ["JWT", "client-authentication+jwt"];

/// An assertion, read but not believed.
pub(super) struct Assertion<'a> {
    pub(super) header: Header,
    /// `sub`, unverified: whose keys to try
    pub(super) subject: String,
    compact: Compact<'a>,
    payload: Vec<u8>,
}

impl<'a> Assertion<'a> {
    pub(super) fn parse(text: &'a str, kind: Option<&str>) -> Result<Self, &'static str> {
        if kind != Some(ASSERTION_TYPE) {
            return Err("unknown client_assertion_type");
        }
        let compact = jws::split(text.as_bytes(), MAX_BYTES).map_err(|_| "malformed assertion")?;
        let header = compact
            .decode_header()
            .map_err(|_| "malformed assertion header")?;
        let payload = compact
            .unverified_payload()
            .map_err(|_| "malformed assertion payload")?;
        let claims = Claims::parse(&payload).map_err(|_| "malformed assertion claims")?;
        let subject = claims.sub.ok_or("the assertion has no sub")?.into_owned();
        Ok(Assertion {
            header,
            subject,
            compact,
            payload,
        })
    }

    pub(super) fn signature_holds(&self, key: &VerifyingKey) -> bool {
        self.header.alg == key.algorithm() && self.compact.verify_signature(key).is_ok()
    }

    /// Checks the claims, once the signature held; the id must then be seen for the first time.
    pub(super) fn check(
        &self,
        context: &Context<'_>,
        client: &Client,
    ) -> Result<SingleUse, &'static str> {
        let client_id = client.client_id.as_str();
        let typ = self.header.typ.as_deref();
        // RFC 8725 section 3.11: an ID token, a DPoP proof or an access token under the same key is
        // no assertion.
        if typ.is_some() && !TYPES.iter().any(|expected| jws::typ_is(typ, expected)) {
            return Err("the assertion has another type");
        }
        let claims = Claims::parse(&self.payload).map_err(|_| "malformed assertion claims")?;
        if claims.iss.as_deref() != Some(client_id) || claims.sub.as_deref() != Some(client_id) {
            return Err("the assertion's iss and sub are not the client");
        }
        let settings = context.settings;
        match &claims.aud[..] {
            // FAPI 2.0 section 5.3.2.1: a string. An array has room for another server's name.
            [_] if claims.aud_is_array => {
                return Err("the assertion's aud is an array, not a string");
            }
            [only] if settings.is_issuer(only) => {}
            [only]
                if client.accepts_token_endpoint_audience(settings)
                    && settings.urls(EndpointId::Token).any(|url| *only == url) => {}
            _ => return Err("the assertion's aud is not the issuer alone, as a string"),
        }
        let now = context.now();
        let exp = claims.exp.ok_or("the assertion has no exp")?;
        if exp <= now {
            return Err("the assertion has expired");
        }
        if exp > now + MAX_ASSERTION_LIFETIME + MAX_AHEAD {
            return Err("the assertion lives too long");
        }
        if claims.nbf.is_some_and(|nbf| nbf > now + MAX_AHEAD)
            || claims.iat.is_some_and(|iat| iat > now + MAX_AHEAD)
        {
            return Err("the assertion is from the future");
        }
        let jti = claims.jti.ok_or("the assertion has no jti")?;
        if !(1..=MAX_JTI_BYTES).contains(&jti.len()) {
            return Err("the assertion's jti is empty or too long");
        }
        Ok(SingleUse::Assertion {
            client_id: client_id.to_owned(),
            jti: jti.into_owned(),
            end: exp + ROW_MARGIN,
        })
    }

    /// The work of a signature check that cannot succeed.
    pub(super) fn decoy(&self) {
        if self.header.alg.is_symmetric() {
            if let Ok(key) = VerifyingKey::hmac(self.header.alg, &[0; 64]) {
                std::hint::black_box(self.compact.verify_signature(&key).is_ok());
            }
        } else if let Some(key) = decoy_key() {
            std::hint::black_box(self.compact.verify_signature(key).is_ok());
        }
    }
}

/// P-256's base point: a valid public key whose private key (1) signs nothing that is believed,
/// since it belongs to nobody.
fn decoy_key() -> Option<&'static VerifyingKey> {
    static KEY: OnceLock<Option<VerifyingKey>> = OnceLock::new();
    #[rustfmt::skip]
    const X: [u8; 32] = [
        0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2,
        0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96,
    ];
    #[rustfmt::skip]
    const Y: [u8; 32] = [
        0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16,
        0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
    ];
    KEY.get_or_init(|| VerifyingKey::new(Algorithm::Es256, &PublicKey::P256 { x: X, y: Y }).ok())
        .as_ref()
}
