/// `application/x-www-form-urlencoded` or a query, strictly: bounded count and sizes, UTF-8, a parameter at most once (but `resource`, `audience`: RFC 8707, RFC 8693).
/// An empty value is as if omitted (RFC 6749 section 3.1).
#[derive(Clone, Debug, Default)]
pub struct Params {
    pairs: Vec<(String, String)>,
}
impl Params {
    pub fn parse(_body: &[u8]) -> Result<Params, crate::error::OAuthError> {
        todo!()
    }
    pub fn get(&self, _name: &str) -> Option<&str> {
        todo!()
    }
    pub fn all(&self, _name: &str) -> Vec<&str> {
        todo!()
    }
    pub fn require(&self, _name: &'static str) -> Result<&str, crate::error::OAuthError> {
        todo!()
    }
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(a, b)| (a.as_str(), b.as_str()))
    }
}
