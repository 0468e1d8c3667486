//! RFC 4648 section 5 without padding; the one canonical encoding (unused trailing bits are zero, no white space).
pub fn encode(_data: &[u8]) -> String {
    todo!()
}
pub fn encode_into(_data: &[u8], _out: &mut Vec<u8>) {
    todo!()
}
pub fn decode(_text: &[u8]) -> Result<Vec<u8>, NotCanonical> {
    todo!()
}
/// Appends.
pub fn decode_into(_text: &[u8], _out: &mut Vec<u8>) -> Result<(), NotCanonical> {
    todo!()
}
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not canonical base64url")]
pub struct NotCanonical;
