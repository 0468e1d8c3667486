//! `/par` (RFC 9126): the request itself comes back sealed, as a `request_uri`.
use super::client_endpoint::ClientRequest;
use http::StatusCode;
use signet_audit::Action;
use signet_oauth::authorize::{Incoming, par};
use signet_oauth::client::Client;
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::OAuthError;
use signet_oauth::id::PushedId;
use signet_oauth::token::dpop_policy;
use signet_realm::budgets::Act;
use signet_request::http::{Context, Response, response};
use std::sync::Arc;

pub(super) async fn handle(context: Context) -> Response {
    let client_request = match ClientRequest::read(context, EndpointId::Par).await {
        Ok(client_request) => client_request,
        Err(answer) => return *answer,
    };
    match answer(&client_request).await {
        Ok((client, body)) => {
            let (audit, event) = (
                client_request.context.realm.audit(),
                client_request.event(Action::PUSHED),
            );
            // Nothing is kept of it, and whoever knows a public client's id may push again.
            match client.is_public() {
                true => audit.record_counted(event),
                false => audit.record(event),
            }
            let mut answer = response::json(StatusCode::CREATED, body);
            client_request.add_next_nonce(&mut answer);
            answer
        }
        Err(error) => client_request.refuse_counted(&error).await,
    }
}

async fn answer(client_request: &ClientRequest) -> Result<(Arc<Client>, Vec<u8>), OAuthError> {
    let client = client_request.authenticate().await?.client;
    client_request.spend(Act::PushedRequest, &client)?;
    let request = client_request.request();
    let possession = client_request
        .decide(|rules| dpop_policy::check(rules, request.dpop, request.htm, request.htu))?;
    if let Some(possession) = &possession {
        let single_use = std::slice::from_ref(&possession.single_use);
        let proofs = client_request.proofs(&client.client_id);
        client_request
            .commit(proofs, single_use, Vec::new())
            .await?;
    }
    let jkt = possession.as_ref().map(|p| p.jkt.as_str());
    let id = signet_crypto::random::bytes();
    let incoming = Incoming::at_par(client_request.params.clone());
    let pushed = client_request
        .decide(|rules| par::push(incoming, &client, jkt, PushedId::new(id), rules))?;
    Ok((client, pushed.to_json()))
}
