/// HMAC-SHA256 with the key's two inner states computed once.
#[derive(Clone)]
pub struct HmacSha256Key {/* private */}
impl HmacSha256Key {
    pub fn new(_key: &[u8]) -> Self {
        todo!()
    }
    pub fn sign(&self, _message: &[u8]) -> [u8; 32] {
        todo!()
    }
    /// Constant-time.
    pub fn verify(&self, _message: &[u8], _tag: &[u8]) -> bool {
        todo!()
    }
}
