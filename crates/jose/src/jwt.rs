use signet_crypto::SigningKey;
/// Signs JWTs with one key: the encoded header is kept, so that a token costs its payload and its signature.
pub struct JwtSigner {/* key, kid */}
impl JwtSigner {
    pub fn new(_key: SigningKey, _kid: &str) -> Self {
        todo!()
    }
    pub fn algorithm(&self) -> signet_crypto::Algorithm {
        todo!()
    }
    pub fn kid(&self) -> &str {
        todo!()
    }
    /// Appends header.payload.signature. `typ` is one of the constants below; `payload` is JSON text.
    pub fn sign_into(
        &self,
        _typ: Typ,
        _payload: &[u8],
        _out: &mut Vec<u8>,
    ) -> Result<(), signet_crypto::KeyError> {
        todo!()
    }
}
/// Explicit types (RFC 8725 section 3.11).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Typ {
    AccessToken,
    Jwt,
    LogoutToken,
    DpopProof,
    TokenIntrospection,
}
impl Typ {
    /// "at+jwt", "JWT", "logout+jwt", "dpop+jwt", "token-introspection+jwt"
    pub fn as_str(self) -> &'static str {
        todo!()
    }
}
/// The registered claims, read by schema from a payload whose signature held; others stay reachable by name.
#[derive(Clone, Debug, Default)]
pub struct Claims<'a> {
    pub iss: Option<std::borrow::Cow<'a, str>>,
    pub sub: Option<std::borrow::Cow<'a, str>>,
    pub aud: Vec<std::borrow::Cow<'a, str>>,
    pub exp: Option<u64>,
    pub nbf: Option<u64>,
    pub iat: Option<u64>,
    pub jti: Option<std::borrow::Cow<'a, str>>,
    pub other: crate::json::Object<'a>,
}
impl<'a> Claims<'a> {
    pub fn parse(_payload: &'a [u8]) -> Result<Claims<'a>, crate::json::JsonError> {
        todo!()
    }
}
/// at_hash / c_hash of OpenID Connect Core: left half of the algorithm's hash, base64url.
pub fn half_hash(_alg: signet_crypto::Algorithm, _value: &str) -> String {
    todo!()
}
