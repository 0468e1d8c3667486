/// An absolute URI without fragment, registered or requested. Matching is exact, but for the port of a loopback redirect (RFC 8252 section 7.3).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct RedirectUri(String);
impl RedirectUri {
    /// `native`: also private-use schemes and http loopback
    pub fn parse(_text: &str, _native: bool) -> Result<Self, crate::error::OAuthError> {
        todo!()
    }
    pub fn as_str(&self) -> &str {
        &self.0
    }
    pub fn matches(&self, _requested: &str) -> bool {
        todo!()
    }
}
