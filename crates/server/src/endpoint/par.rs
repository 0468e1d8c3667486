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
    let call = match ClientRequest::read(context, EndpointId::Par).await {
        Ok(call) => call,
        Err(answer) => return *answer,
    };
    match answer(&call).await {
        Ok((client, body)) => {
            let (audit, event) = (call.context.realm.audit(), call.event(Action::PUSHED));
            // Nothing is kept of it, and whoever knows a public client's id may push again.
            match client.is_public() {
                true => audit.record_counted(event),
                false => audit.record(event),
            }
            let mut answer = response::json(StatusCode::CREATED, body);
            call.add_next_nonce(&mut answer);
            answer
        }
        Err(error) => call.refuse_counted(&error).await,
    }
}

async fn answer(call: &ClientRequest) -> Result<(Arc<Client>, Vec<u8>), OAuthError> {
    let client = call.authenticate().await?.client;
    call.spend(Act::PushedRequest, &client)?;
    let request = call.request();
    let possession =
        call.decide(|rules| dpop_policy::check(rules, request.dpop, request.htm, request.htu))?;
    if let Some(possession) = &possession {
        let once = std::slice::from_ref(&possession.once);
        call.commit(once, Vec::new()).await?;
    }
    let jkt = possession.as_ref().map(|p| p.jkt.as_str());
    let id = signet_crypto::random::bytes();
    let incoming = Incoming::at_par(call.params.clone());
    let pushed =
        call.decide(|rules| par::push(incoming, &client, jkt, PushedId::new(id), rules))?;
    Ok((client, pushed.to_json()))
}
