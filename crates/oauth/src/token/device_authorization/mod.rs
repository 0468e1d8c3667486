//! Device authorization (RFC 8628): the codes, and the record's life.
//!
//! ```text
//! POST /device_authorization   authorize_device(..)             -> codes and a DeviceRecord (Pending) to be stored
//! /device (page, session)      normalize_user_code, record.approve(&session, ..) or record.deny()
//! POST /token, polled          open_device_code, record.poll(..) -> error, or the approval; consumed with it
//! ```
//!
//! Every change is a new record that replaces the stored one under its version, so that of two
//! racing polls one gets the tokens. An approval takes its person from the server's session and
//! from nothing else (known fault A2).
use crate::id::DeviceId;
mod device_code;
mod record;
mod user_code;

pub use device_code::{DeviceCode, open_device_code};
pub use record::{Approval, DeviceRecord, DeviceState, Poll};
pub use user_code::{
    USER_CODE_ALPHABET, USER_CODE_LETTERS, display_user_code, new_user_code, normalize_user_code,
};

use crate::{
    authorize::validate_device,
    client::Client,
    endpoint::EndpointId,
    error::{ErrorCode, OAuthError},
    params::{self, Params},
    request::Context,
};
use signet_encoding::json::Writer;
use std::sync::Arc;

/// The answer of the device authorization endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceResponse {
    /// sealed; for the device only
    pub device_code: String,
    /// with its dash, for the person
    pub user_code: String,
    /// where to type it
    pub verification_uri: String,
    /// seconds
    pub expires_in: u64,
    /// seconds
    pub interval: u64,
}

impl DeviceResponse {
    /// The JSON body (section 3.2).
    pub fn to_json(&self) -> Vec<u8> {
        let mut complete = format!("{}?user_code=", self.verification_uri);
        params::encode_into(&self.user_code, &mut complete);
        let mut out = Vec::with_capacity(512);
        Writer::new(&mut out).object(|w| {
            w.member("device_code").string(&self.device_code);
            w.member("user_code").string(&self.user_code);
            w.member("verification_uri").string(&self.verification_uri);
            w.member("verification_uri_complete").string(&complete);
            w.member("expires_in").number(self.expires_in);
            w.member("interval").number(self.interval);
        });
        out
    }
}

/// Checks a device authorization request of an authenticated client. `id` is random; `below(n)`
/// gives a uniform random number below `n`. The record is to be inserted with its user code; on a
/// collision, call again.
///
/// # Errors
/// `unauthorized_client`, `invalid_scope`, `invalid_target`, `invalid_request`.
pub fn authorize_device(
    params: &Params,
    client: &Arc<Client>,
    id: DeviceId,
    below: impl FnMut(u32) -> u32,
    context: &Context<'_>,
) -> Result<(DeviceResponse, DeviceRecord), OAuthError> {
    if params
        .get("client_id")
        .is_some_and(|c| c != client.client_id)
    {
        return Err(OAuthError::invalid_request(
            "client_id is not the authenticated client's",
        ));
    }
    let (scope, resources) = validate_device(params, client, context)?;
    let settings = context.settings;
    let record = DeviceRecord {
        id,
        user_code: new_user_code(below),
        client_id: client.client_id.clone(),
        scope,
        resources,
        interval: settings.device_poll_interval,
        last_poll: 0,
        expires_at: context.now() + settings.device_code_lifetime,
        state: DeviceState::Pending,
    };
    let response = DeviceResponse {
        device_code: device_code::seal_device_code(context.keyring, &record)?,
        user_code: display_user_code(&record.user_code),
        verification_uri: settings.url(EndpointId::DeviceVerification),
        expires_in: settings.device_code_lifetime,
        interval: settings.device_poll_interval,
    };
    Ok((response, record))
}

fn expired() -> OAuthError {
    OAuthError::new(ErrorCode::ExpiredToken, "the device_code has expired")
}
