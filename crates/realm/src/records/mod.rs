//! Who may change which records: how a change is committed and comes into effect.
mod changes;
pub mod clients;
pub mod declared;
pub mod groups;
pub mod issuer;
pub mod providers;
pub mod realms;
pub mod together;
pub mod write;

pub use together::Together;
pub use write::RecordError;
