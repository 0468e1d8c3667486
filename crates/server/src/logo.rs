//! `/client-logo/...` and `/provider-logo/...`: pictures of clients and of identity providers,
//! fetched and kept by this server.
//!
//! A page that loaded one from where its owner keeps it would tell that place who is logging in,
//! from where and when, before the person has agreed to anything. So the server fetches it, and
//! nobody but an administrator chose from where: of a client that registered itself none is shown,
//! because a picture can say what a name may not.

use std::sync::Arc;

use http::HeaderValue;
use signet_encoding::base64url;
use signet_oauth::client::Client;

use crate::home;
use signet_request::http::{Context, Response, Router};

/// The route.
pub(crate) fn routes(router: &mut Router) {
    router.get("/client-logo/{client}", of_client);
    router.get("/provider-logo/{provider}", of_provider);
}

async fn of_provider(context: Context) -> Response {
    let snapshot = context.snapshot.clone();
    let name = context.param("provider");
    let provider = name.and_then(|name| snapshot.registry.providers.usable(name));
    match provider.and_then(|provider| provider.logo_uri.as_deref()) {
        Some(url) => picture(context, url).await,
        None => home::not_found(context).await,
    }
}

async fn of_client(context: Context) -> Response {
    let client = context.param("client");
    let client_id = client
        .and_then(|text| base64url::decode(text.as_bytes()).ok())
        .and_then(|bytes| String::from_utf8(bytes).ok());
    let snapshot = context.snapshot.clone();
    let record: Option<&Arc<Client>> =
        client_id.and_then(|client_id| snapshot.registry.clients.get(&client_id));
    match record.and_then(|client| client.shown_logo()) {
        Some(url) => picture(context, url).await,
        None => home::not_found(context).await,
    }
}

async fn picture(context: Context, url: &str) -> Response {
    let (realm, now) = (context.realm.clone(), context.now());
    match realm.logos.of(&realm.host.outbound, url, now).await {
        Some(logo) => {
            let mut response = home::picture(logo.media_type, logo.bytes);
            // Pages of this server show it, and no others (Fetch, cross-origin resource policy).
            response.headers_mut().insert(
                "cross-origin-resource-policy",
                HeaderValue::from_static("same-origin"),
            );
            response
        }
        None => home::not_found(context).await,
    }
}
