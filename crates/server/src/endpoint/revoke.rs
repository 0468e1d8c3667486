//! `/revoke` (RFC 7009): durable and in effect before the answer.
//!
//! RFC 7009 section 2.2 answers 200 to whatever revokes nothing, and public clients need no secret:
//! what revokes nothing, or what is revoked already, writes nothing and is counted.
use super::client_endpoint::ClientRequest;
use http::StatusCode;
use signet_audit::Action;
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::OAuthError;
use signet_oauth::token::revoke::{self, Revocation};
use signet_request::http::{Context, Response, response};
use signet_store::Subject;

pub(super) async fn handle(context: Context) -> Response {
    let client_request = match ClientRequest::read(context, EndpointId::Revoke).await {
        Ok(client_request) => client_request,
        Err(answer) => return *answer,
    };
    match answer(&client_request).await {
        Ok(()) => response::empty(StatusCode::OK),
        Err(error) => client_request.refuse_counted(&error).await,
    }
}

async fn answer(client_request: &ClientRequest) -> Result<(), OAuthError> {
    let client = client_request.authenticate().await?.client;
    let revocation =
        client_request.decide(|rules| revoke::decide(rules, &client, &client_request.params))?;
    let realm = &client_request.context.realm;
    let event = client_request.event(Action::REVOKE);
    let audit = realm.audit();
    let failed = |_: &signet_store::StoreError| "temporarily_unavailable";
    let done = match revocation {
        Revocation::Nothing => {
            audit.record_counted(event.operation("nothing"));
            return Ok(());
        }
        Revocation::AccessToken { jti, end } => {
            let revoked = async {
                // What is in the index is durable.
                let subject = Subject::Jti(jti);
                match realm.revocations.holds(&subject, end) {
                    true => Ok(()),
                    false => {
                        realm
                            .revocations
                            .revoke(subject, end, client_request.now())
                            .await
                    }
                }
            };
            let event = event.operation("access_token").token(jti.as_bytes());
            audit.act_counted(event, revoked, failed).await
        }
        Revocation::Grant {
            grant_id,
            user_id,
            end,
        } => {
            let ended = async {
                match realm.is_grant_ended(grant_id, end).await? {
                    true => Ok(()),
                    false => realm.end_grant(grant_id, Some(&user_id), end).await,
                }
            };
            let event = event
                .operation("grant")
                .subject(&user_id)
                .grant(Some(grant_id.as_bytes()));
            audit.act_counted(event, ended, failed).await
        }
    };
    done.map_err(|error| client_request.store_failed(&error))
}
