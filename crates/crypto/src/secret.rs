/// A value that does not print and is wiped on drop.
pub struct Secret<T: zeroize::Zeroize>(T);
impl<T: zeroize::Zeroize> Secret<T> {
    pub fn new(value: T) -> Self {
        Secret(value)
    }
    /// The only way to see the value: easy to search for in a review.
    pub fn expose(&self) -> &T {
        &self.0
    }
}
/// Constant-time equality (lengths may leak).
pub fn ct_eq(_a: &[u8], _b: &[u8]) -> bool {
    todo!()
}
