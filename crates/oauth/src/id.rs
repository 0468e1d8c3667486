//! The ids of the protocol's once-only things, each a type of its own: what is random 16 bytes
//! everywhere must not be taken for one another.

use signet_revocation::id_of_16_bytes;
pub use signet_revocation::{GrantId, Jti};

id_of_16_bytes! {
    /// An authorization code's: it names the row that its use writes.
    CodeId
}

id_of_16_bytes! {
    /// A device authorization's: it names its record, and is sealed into the device code.
    DeviceId
}

id_of_16_bytes! {
    /// A pushed authorization request's: it names the row that its use writes.
    PushedId
}

/// The bytes of a `jti` of this server: 16, as base64url. None for any other text, which can be
/// looked up nowhere.
pub fn read_jti(text: &str) -> Option<Jti> {
    if text.len() != 22 {
        return None;
    }
    Jti::from_slice(&signet_encoding::base64url::decode(text.as_bytes()).ok()?)
}

/// A `jti` as tokens have it: base64url.
pub fn write_jti(jti: &Jti) -> String {
    signet_encoding::base64url::encode(jti.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_id_of_ours_is_none() {
        let good = signet_encoding::base64url::encode(&[1; 16]);
        assert_eq!(read_jti(&good), Some(Jti::new([1; 16])));
        assert_eq!(write_jti(&Jti::new([1; 16])), good);
        for bad in ["", "x", "AAAAAAAAAAAAAAAAAAAAAB", &good[1..]] {
            assert_eq!(read_jti(bad), None, "{bad}");
        }
    }
}
