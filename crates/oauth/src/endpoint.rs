//! The one table of endpoints: routes and metadata documents are generated from it.
/// One row: path, methods, metadata member (if advertised), and whether an mTLS alias is published.
pub struct Endpoint {
    pub id: EndpointId,
    pub path: &'static str,
    pub metadata: Option<&'static str>,
    pub mtls_alias: bool,
    pub cors: bool,
}
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
#[non_exhaustive]
pub enum EndpointId {
    OauthMetadata,
    OpenidMetadata,
    Jwks,
    Authorize,
    Token,
    Introspect,
    Revoke,
    Userinfo,
    Par,
    Register,
    RegisterClient,
    DeviceAuthorization,
    DeviceVerification,
    Logout,
}
