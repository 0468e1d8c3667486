//! The device code: sealed, so that no row is needed to say whose it is and when it ends.
use super::{DeviceRecord, expired};
use crate::id::DeviceId;
use crate::{
    codec::{Decoder, Encoder},
    error::{ErrorCode, OAuthError},
};
use signet_crypto::seal::{Keyring, Purpose};
use signet_encoding::base64url;

const CODE_VERSION: u8 = 1;

/// What a device code says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCode {
    /// the record's
    pub id: DeviceId,
    /// whom it was given to
    pub client_id: String,
    /// Unix seconds
    pub expires_at: u64,
}

pub(super) fn seal_device_code(
    keyring: &Keyring,
    record: &DeviceRecord,
) -> Result<String, OAuthError> {
    let mut e = Encoder::new(CODE_VERSION);
    e.fixed(record.id.as_bytes())
        .text(&record.client_id)
        .number(record.expires_at);
    keyring
        .seal(Purpose::DeviceCode, &e.finish())
        .map(|sealed| base64url::encode(&sealed))
        .map_err(|_| OAuthError::new(ErrorCode::ServerError, "no device code could be made"))
}

/// Opens a device code, for this client and this moment.
///
/// # Errors
/// `invalid_grant` if it is none of ours or another client's, `expired_token` from its end on.
pub fn open_device_code(
    keyring: &Keyring,
    device_code: &str,
    client_id: &str,
    now: u64,
) -> Result<DeviceCode, OAuthError> {
    let read = || {
        if device_code.len() > 1024 {
            return None;
        }
        let sealed = base64url::decode(device_code.as_bytes()).ok()?;
        let bytes = keyring.open(Purpose::DeviceCode, &sealed).ok()?;
        let mut d = Decoder::new(&bytes, CODE_VERSION).ok()?;
        let code = DeviceCode {
            id: DeviceId::new(d.fixed().ok()?),
            client_id: d.string().ok()?,
            expires_at: d.number().ok()?,
        };
        d.finish().ok()?;
        Some(code)
    };
    let code = read()
        .filter(|c| c.client_id == client_id)
        .ok_or_else(|| OAuthError::invalid_grant("the device_code is not valid for this client"))?;
    if now >= code.expires_at {
        return Err(expired());
    }
    Ok(code)
}
