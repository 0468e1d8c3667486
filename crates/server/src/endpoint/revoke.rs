//! `/revoke` (RFC 7009): durable and in effect before the answer.
use super::backchannel::Call;
use crate::{
    http::{Context, Response, response},
    revoke::jti_bytes,
};
use http::StatusCode;
use signet_oauth::{
    endpoint::EndpointId,
    error::OAuthError,
    revoke::{self, Revocation},
};
use signet_store::Subject;

pub(super) async fn handle(context: Context) -> Response {
    let call = match Call::read(context, EndpointId::Revoke).await {
        Ok(call) => call,
        Err(answer) => return *answer,
    };
    match answer(&call).await {
        Ok(()) => response::empty(StatusCode::OK),
        Err(error) => call.refuse_counted(&error).await,
    }
}

async fn answer(call: &Call) -> Result<(), OAuthError> {
    let client = call.authenticate().await?.client;
    let revocation = {
        let keyring = call.context.app.keyring();
        let index = call.index();
        revoke::decide(&call.rules(&keyring, &index), &client, &call.params)?
    };
    let app = &call.context.app;
    let done = match revocation {
        Revocation::Nothing => return Ok(()),
        Revocation::AccessToken { jti, end } => match jti_bytes(&jti) {
            // The signature held, so the id is one of ours; another shape could never be looked up.
            None => return Ok(()),
            Some(jti) => {
                app.revocations
                    .revoke(Subject::Jti(jti), end, call.now())
                    .await
            }
        },
        Revocation::Grant {
            grant_id,
            user_id,
            end,
        } => app.end_grant(grant_id, Some(&user_id), end).await,
    };
    done.map_err(|error| call.store_failed(&error))
}
