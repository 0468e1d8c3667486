//! `urn:ietf:params:oauth:grant-type:device_code`: RFC 8628 section 3.4.
//!
//! The decision is made on the record that the caller read; the approved record is then taken by one atomic call. Who approved comes
//! from the record, where a page with a session wrote it, never from a request (known fault A2).
use super::{GrantRequest, invalid_grant, person::PersonGrant};
use crate::{
    decision::{Decision, Once, Refresh, TokenIdentity},
    error::{ErrorCode, OAuthError},
    scope::ScopeSet,
};
use signet_crypto::seal::{Keyring, Purpose};
use signet_jose::base64url;

/// A device authorization as the store has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRecord {
    /// the row
    pub id: [u8; 16],
    /// whom the device code was given to
    pub client_id: String,
    /// what was asked for
    pub scope: ScopeSet,
    /// resources that were asked for
    pub resources: Vec<String>,
    /// Unix seconds
    pub expires_at: u64,
    /// this poll came sooner than the interval allows
    pub polled_too_soon: bool,
    /// what the person did
    pub status: DeviceStatus,
}

/// What the person did with a device's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceStatus {
    /// nothing yet
    Pending,
    /// said no
    Denied,
    /// said yes
    Approved(Box<Approval>),
}

/// A person's yes, from a page with a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// the grant that begins
    pub grant_id: [u8; 16],
    /// what was granted
    pub scope: ScopeSet,
    /// who
    pub user_id: String,
    /// public session id
    pub sid: String,
    /// when the person was authenticated
    pub auth_time: u64,
    /// what was done then
    pub acr: String,
    /// how
    pub amr: Vec<String>,
    /// milliseconds: compared with the epoch of a revoked user
    pub approved_at_ms: u64,
}

/// The device code of a row, as the device gets it: the row's id, sealed. None only if the cryptography library fails.
pub fn device_code_for(keyring: &Keyring, id: &[u8; 16]) -> Option<String> {
    keyring
        .seal(Purpose::DeviceCode, id)
        .ok()
        .map(|sealed| base64url::encode(&sealed))
}

/// The row that a device code names. None: not ours.
pub fn device_code_id(keyring: &Keyring, device_code: &str) -> Option<[u8; 16]> {
    if device_code.len() > 256 {
        return None;
    }
    let sealed = base64url::decode(device_code.as_bytes()).ok()?;
    keyring
        .open(Purpose::DeviceCode, &sealed)
        .ok()?
        .try_into()
        .ok()
}

pub(super) fn decide(request: &GrantRequest<'_>) -> Result<Decision, OAuthError> {
    let context = request.context;
    let code = request.params.require("device_code")?;
    let id = device_code_id(context.keyring, code)
        .ok_or_else(|| invalid_grant("the device code was not sealed here"))?;
    let ended = || OAuthError::new(ErrorCode::ExpiredToken, "the device code has ended");
    // The row of an ended code is swept; that of a used one was taken.
    let device = request
        .device
        .filter(|device| device.id == id)
        .ok_or_else(ended)?;
    if device.client_id != request.client.client_id {
        return Err(invalid_grant("the device code was given to another client"));
    }
    if context.now() >= device.expires_at {
        return Err(ended());
    }
    let approval = match &device.status {
        // RFC 8628 section 3.5
        _ if device.polled_too_soon => {
            return Err(OAuthError::new(ErrorCode::SlowDown, "poll more slowly"));
        }
        DeviceStatus::Pending => {
            return Err(OAuthError::new(
                ErrorCode::AuthorizationPending,
                "the person has not decided yet",
            ));
        }
        DeviceStatus::Denied => {
            return Err(OAuthError::new(
                ErrorCode::AccessDenied,
                "the person said no",
            ));
        }
        DeviceStatus::Approved(approval) => approval,
    };
    request.refuse_revoked(&TokenIdentity {
        jti: None,
        issued_at_ms: approval.approved_at_ms,
        grant_id: Some(&approval.grant_id),
        sid: Some(&approval.sid),
        user_id: Some(&approval.user_id),
        client_id: &device.client_id,
    })?;
    let grant = PersonGrant {
        grant_id: approval.grant_id,
        scope: &approval.scope,
        resources: &device.resources,
        user_id: &approval.user_id,
        sid: Some(&approval.sid),
        auth_time: approval.auth_time,
        acr: &approval.acr,
        amr: &approval.amr,
        claims: None,
        nonce: None,
    };
    let refresh = grant.begin_family(request);
    let family_end = refresh.as_ref().map(|token| token.family_expires_at);
    let issue = grant.issue(
        request,
        &approval.scope,
        refresh.map(|token| Refresh::New(Box::new(token))),
    )?;
    let once = Once::DeviceCode {
        id,
        grant_id: approval.grant_id,
        family_end,
    };
    Ok(Decision {
        once: vec![once],
        issue,
    })
}
