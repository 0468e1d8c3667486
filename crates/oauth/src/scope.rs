/// One scope token (RFC 6749 section 3.3 characters, bounded).
#[derive(Clone, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Scope(String);
/// A set in order of request, no doubles; `is_subset`, `intersection`, `Display` joins with spaces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ScopeSet(Vec<Scope>);
impl ScopeSet {
    pub fn parse(_text: &str) -> Result<ScopeSet, crate::error::OAuthError> {
        todo!()
    }
    pub fn contains(&self, _s: &str) -> bool {
        todo!()
    }
    pub fn is_subset(&self, _of: &ScopeSet) -> bool {
        todo!()
    }
    pub fn intersection(&self, _with: &ScopeSet) -> ScopeSet {
        todo!()
    }
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|s| s.0.as_str())
    }
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
