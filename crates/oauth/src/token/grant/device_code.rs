//! `urn:ietf:params:oauth:grant-type:device_code`: RFC 8628 section 3.4.
//!
//! The decision is made on the record that the caller read. Who approved comes from the record,
//! where a page with a session wrote it, never from a request (known fault A2). The record is
//! replaced under its version by what the poll makes of it: with the decision's
//! [`SingleUse::DeviceCode`] on success, and with the refusal ([`Refused::row`]) after
//! `authorization_pending` and `slow_down`, to remember the poll.
use super::{GrantRequest, Needs, person::PersonGrant};
use crate::client::Client;
use crate::error::{ErrorCode, OAuthError};
use crate::params::Params;
use crate::request::Context;
use crate::token::decision::{
    Decision, GrantState, Refresh, Refused, RevocationQuery, RowName, SingleUse,
};
use crate::token::device_authorization::{DeviceRecord, open_device_code};

/// The row of a code of this client that has not expired.
pub(super) fn needs(context: &Context<'_>, params: &Params, client: &Client) -> Needs {
    let code = params.get("device_code");
    let code = code.and_then(|code| {
        open_device_code(context.keyring, code, &client.client_id, context.now()).ok()
    });
    Needs {
        row: code.map(|code| RowName::DeviceCode(code.id)),
        ..Needs::default()
    }
}

pub(super) fn decide(request: &GrantRequest<'_>) -> Result<Decision, Refused> {
    let (context, client_id) = (request.context, &request.client.client_id);
    let wire = request.params.require("device_code")?;
    let code = open_device_code(context.keyring, wire, client_id, context.now())?;
    let expired = || OAuthError::new(ErrorCode::ExpiredToken, "the device_code has expired");
    let row = request.row.ok_or_else(expired)?;
    let device = DeviceRecord::from_bytes(row.value)
        .map_err(|_| OAuthError::new(ErrorCode::ServerError, "the device code cannot be read"))?;
    if device.id != code.id {
        return Err(expired().into());
    }
    let poll = device.poll(client_id, context.now());
    let approval = match poll.answer {
        Ok(approval) => approval,
        Err(error) => {
            let waits = matches!(
                error.code,
                ErrorCode::AuthorizationPending | ErrorCode::SlowDown
            );
            let next = poll.replace.filter(|_| waits);
            return Err(Refused {
                error,
                row: next.map(|record| record.to_bytes()),
            });
        }
    };
    // Every approval comes with the record that is consumed by it.
    let consumed = poll.replace.ok_or_else(expired)?;
    let session = &approval.session;
    request.refuse_revoked(&RevocationQuery {
        jti: None,
        subject_jtis: &[],
        issued_at_ms: approval.approved_at_ms,
        grant_id: Some(approval.grant_id),
        sid: Some(&session.sid),
        user_id: Some(&session.user_id),
        client_id: Some(client_id),
        agent_grants: &[],
        agents: &[],
    })?;
    let grant = PersonGrant {
        grant_id: approval.grant_id,
        scope: &approval.scope,
        resources: &device.resources,
        user_id: &session.user_id,
        sid: Some(&session.sid),
        session_ends_at: session.ends_at,
        auth_time: session.auth_time,
        acr: &session.acr,
        amr: &session.amr,
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
    let single_use = SingleUse::DeviceCode {
        id: device.id,
        version: row.version,
        consumed: consumed.to_bytes(),
        end: row.end,
        grant_id: approval.grant_id,
        family_end,
    };
    Ok(Decision {
        single_use: vec![single_use],
        grant: GrantState::Begins {
            grant_id: approval.grant_id,
            family_end,
        },
        issue,
    })
}
