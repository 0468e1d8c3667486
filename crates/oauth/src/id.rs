//! The ids of the protocol's once-only things, each a type of its own: what is random 16 bytes everywhere must not be taken for one another.

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
