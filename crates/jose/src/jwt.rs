//! JSON Web Tokens (RFC 7519): signing with prepared headers, and claims read by schema.

use crate::jwk::Jwk;
use signet_crypto::{Algorithm, KeyError, SigningKey};
use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Kind, Limits, Object, Reader, Writer};
use std::borrow::Cow;

/// Signs JWTs with one key. The encoded headers are kept, one for each [`Typ`], so that a token
/// costs its payload and its signature.
pub struct JwtSigner {
    key: SigningKey,
    kid: String,
    /// base64url of the header, in the order of [`Typ::ALL`]; empty where the key cannot sign that
    /// type
    headers: [Vec<u8>; Typ::ALL.len()],
}

impl JwtSigner {
    /// A signer whose tokens carry `kid`.
    pub fn new(key: SigningKey, kid: &str) -> Self {
        let headers = Typ::ALL.map(|typ| encoded_header(typ, &key, kid));
        JwtSigner {
            key,
            kid: kid.to_owned(),
            headers,
        }
    }

    /// The key's one algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.key.algorithm()
    }

    /// The key id.
    pub fn kid(&self) -> &str {
        &self.kid
    }

    /// The key itself, for its public half.
    pub fn key(&self) -> &SigningKey {
        &self.key
    }

    /// The encoded protected header of every token of this type. A token whose header part equals
    /// it names this key, this algorithm and this type, and needs no parsing to know it.
    pub fn header(&self, typ: Typ) -> &[u8] {
        &self.headers[typ as usize]
    }

    /// Appends header.payload.signature to `out`, which is left as it was on an error. `payload` is
    /// JSON text.
    ///
    /// Fails where the cryptography library does, and for a DPoP proof with a symmetric key.
    pub fn sign_into(&self, typ: Typ, payload: &[u8], out: &mut Vec<u8>) -> Result<(), KeyError> {
        let header = self.header(typ);
        if header.is_empty() {
            return Err(KeyError::WrongKeyType);
        }
        let start = out.len();
        let signed = header.len() + 1 + base64url::encoded_len(payload.len());
        out.reserve(signed + 1 + base64url::encoded_len(self.key.signature_len()));
        out.extend_from_slice(header);
        out.push(b'.');
        base64url::encode_into(payload, out);
        let mut signature = Vec::with_capacity(self.key.signature_len());
        if let Err(error) = self.key.sign_into(&out[start..], &mut signature) {
            out.truncate(start);
            return Err(error);
        }
        out.push(b'.');
        base64url::encode_into(&signature, out);
        Ok(())
    }

    /// As [`JwtSigner::sign_into`], of an object whose members `claims` writes, into a new string.
    pub fn sign(&self, typ: Typ, claims: impl FnOnce(&mut Writer<'_>)) -> Result<String, KeyError> {
        let mut payload = Vec::with_capacity(512);
        Writer::new(&mut payload).object(claims);
        let mut out = Vec::new();
        self.sign_into(typ, &payload, &mut out)?;
        // Invariant: base64url and dots are ASCII.
        Ok(String::from_utf8(out).expect("a compact JWS is ASCII"))
    }
}

fn encoded_header(typ: Typ, key: &SigningKey, kid: &str) -> Vec<u8> {
    let mut json = Vec::new();
    let mut encoded = Vec::new();
    // RFC 9449 section 4.2: a proof carries its public key, and no other name for it.
    if typ == Typ::DpopProof && key.public().is_none() {
        return encoded;
    }
    Writer::new(&mut json).object(|w| {
        w.member("typ").string(typ.as_str());
        w.member("alg").string(key.algorithm().name());
        match key.public() {
            Some(public) if typ == Typ::DpopProof => {
                Jwk::new(public.clone()).write(w.member("jwk"))
            }
            _ => w.member("kid").string(kid),
        }
    });
    base64url::encode_into(&json, &mut encoded);
    encoded
}

/// Explicit types (RFC 8725 section 3.11): a token of one kind is not accepted as another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Typ {
    /// `at+jwt`, RFC 9068
    AccessToken,
    /// `JWT`: ID tokens and client assertions
    Jwt,
    /// `logout+jwt`, OpenID Connect Back-Channel Logout
    LogoutToken,
    /// `dpop+jwt`, RFC 9449
    DpopProof,
    /// `token-introspection+jwt`, RFC 9701
    TokenIntrospection,
}

impl Typ {
    /// All of them, in the order of declaration.
    pub const ALL: [Typ; 5] = [
        Typ::AccessToken,
        Typ::Jwt,
        Typ::LogoutToken,
        Typ::DpopProof,
        Typ::TokenIntrospection,
    ];

    /// As it stands in the header.
    pub const fn as_str(self) -> &'static str {
        match self {
            Typ::AccessToken => "at+jwt",
            Typ::Jwt => "JWT",
            Typ::LogoutToken => "logout+jwt",
            Typ::DpopProof => "dpop+jwt",
            Typ::TokenIntrospection => "token-introspection+jwt",
        }
    }
}

/// The registered claims (RFC 7519 section 4.1), read by schema from a payload; others stay
/// reachable by name.
///
/// A claim of the wrong JSON type refuses the whole set: nothing is converted, so that the number 1
/// is never the user "1" (known fault V9). Times are seconds since 1970, fractions cut.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims<'a> {
    /// issuer
    pub iss: Option<Cow<'a, str>>,
    /// subject
    pub sub: Option<Cow<'a, str>>,
    /// audiences: one for a string, as many as there are for an array of strings
    pub aud: Vec<Cow<'a, str>>,
    /// whether `aud` was an array
    pub aud_is_array: bool,
    /// end
    pub exp: Option<u64>,
    /// begin
    pub nbf: Option<u64>,
    /// time of issue
    pub iat: Option<u64>,
    /// token id
    pub jti: Option<Cow<'a, str>>,
    /// every other member, in order
    pub other: Object<'a>,
}

impl<'a> Claims<'a> {
    /// Reads claims within the default [`Limits`].
    pub fn parse(payload: &'a [u8]) -> Result<Claims<'a>, JsonError> {
        let mut claims = Claims::default();
        let mut reader = Reader::new(payload, &Limits::default())?;
        reader.object(|r, name| -> Result<(), JsonError> {
            match &*name {
                "iss" => claims.iss = Some(r.string()?),
                "sub" => claims.sub = Some(r.string()?),
                "jti" => claims.jti = Some(r.string()?),
                "exp" => claims.exp = Some(r.numeric_date()?),
                "nbf" => claims.nbf = Some(r.numeric_date()?),
                "iat" => claims.iat = Some(r.numeric_date()?),
                "aud" => {
                    claims.aud_is_array = r.kind()? == Kind::Array;
                    claims.aud = match claims.aud_is_array {
                        true => r.strings()?,
                        false => vec![r.string()?],
                    };
                }
                _ => {
                    let value = r.value()?;
                    claims.other.push_unique(name, value);
                }
            }
            Ok(())
        })?;
        reader.finish()?;
        Ok(claims)
    }

    /// Whether `audience` is among the audiences; exact comparison (RFC 7519 section 4.1.3).
    pub fn has_audience(&self, audience: &str) -> bool {
        self.aud.iter().any(|own| own == audience)
    }
}

/// `at_hash` and `c_hash` of OpenID Connect Core section 3.1.3.6: the left half of the algorithm's
/// hash, base64url.
pub fn half_hash(alg: Algorithm, value: &str) -> String {
    let digest = alg.hash().digest(value.as_bytes());
    let digest = digest.as_ref();
    base64url::encode(&digest[..digest.len() / 2])
}
