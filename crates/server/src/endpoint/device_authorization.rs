//! `/device_authorization` (RFC 8628): a device asks for its codes.
use super::client_endpoint::ClientRequest;
use http::StatusCode;
use signet_audit::{self as audit, Action};
use signet_oauth::client::{Client, GrantType};
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::DeviceId;
use signet_oauth::token::device_authorization::{DeviceRecord, DeviceResponse, authorize_device};
use signet_realm::budgets::Act;
use signet_request::http::{Context, Response, response};
use signet_store::{Change, Key, Op, Outcome, Table};
use std::sync::Arc;

/// Of 20^8 user codes a taken one is drawn about never; three in a row mean that the store is
/// wrong.
const TRIES: usize = 3;

pub(super) async fn handle(context: Context) -> Response {
    let client_request = match ClientRequest::read(context, EndpointId::DeviceAuthorization).await {
        Ok(client_request) => client_request,
        Err(answer) => return *answer,
    };
    match answer(&client_request).await {
        Ok(body) => response::json(StatusCode::OK, body),
        Err(error) => client_request.refuse_counted(&error).await,
    }
}

async fn answer(client_request: &ClientRequest) -> Result<Vec<u8>, OAuthError> {
    let client = client_request.authenticate().await?.client;
    if !client.may_use(GrantType::DeviceCode) {
        return Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "the client may not use this grant",
        ));
    }
    client_request.spend(Act::DeviceCode, &client)?;
    for _ in 0..TRIES {
        let (answer, record) = draw(client_request, &client)?;
        let end = Some(record.expires_at);
        let change = Change {
            first: Op::Insert {
                key: Key::new(Table::UserCode, record.user_code.as_bytes()),
                value: record.id.as_bytes().to_vec(),
                end,
            },
            then: vec![Op::Put {
                key: Key::new(Table::DeviceCode, record.id.as_bytes().to_vec()),
                value: record.to_bytes(),
                end,
            }],
        };
        let committed = client_request
            .context
            .realm
            .store
            .commit(change, client_request.now());
        let event = client_request.event(Action::DEVICE);
        let is_public = client.is_public();
        let committed = match is_public {
            // Whoever knows a public client's id may ask for the next code.
            true => committed.await,
            false => audit::with_record(event, committed).await.0,
        };
        match committed {
            Ok(Outcome::Done { .. }) => {
                if is_public {
                    client_request.context.realm.audit().record_counted(event);
                }
                return Ok(answer.to_json());
            }
            Ok(Outcome::Refused(_)) => {}
            Err(error) => return Err(client_request.store_failed(&error)),
        }
    }
    Err(OAuthError::new(
        ErrorCode::ServerError,
        "no user code is free",
    ))
}

fn draw(
    client_request: &ClientRequest,
    client: &Arc<Client>,
) -> Result<(DeviceResponse, DeviceRecord), OAuthError> {
    let id = signet_crypto::random::bytes();
    client_request.decide(|rules| {
        authorize_device(
            &client_request.params,
            client,
            DeviceId::new(id),
            signet_crypto::random::below,
            rules,
        )
    })
}
