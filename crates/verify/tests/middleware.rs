//! The tower layer: what passes, and what a refused request receives.

use crate::support::*;
use signet_verify::{Policy, Verified, tower::Protect};
use std::{
    convert::Infallible,
    future::Ready,
    sync::Arc,
    task::{Context, Poll, Waker},
};
use tower_layer::Layer;
use tower_service::Service;

/// Answers with the subject that it received.
#[derive(Clone)]
struct Orders;

impl Service<http::Request<()>> for Orders {
    type Response = http::Response<String>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<()>) -> Self::Future {
        let token = request.extensions().get::<Verified>().unwrap();
        std::future::ready(Ok(http::Response::new(
            token.claims().sub().unwrap().to_owned(),
        )))
    }
}

fn ask(fields: &[(&str, &str)]) -> http::Response<String> {
    let v = Arc::new(verifier_of(Policy::access_token(AUDIENCE).realm("orders")));
    let mut service = Protect::new(v, AUDIENCE, || NOW).layer(Orders);
    let mut request = http::Request::get("/orders/1");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let mut answer = Box::pin(service.call(request.body(()).unwrap()));
    match answer
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(Ok(response)) => response,
        _ => panic!("it answers at once"),
    }
}

#[test]
fn a_verified_request_passes_with_its_token() {
    let bearer = format!("Bearer {}", access().signed());
    let response = ask(&[("authorization", &bearer)]);
    assert_eq!(
        (response.status().as_u16(), response.body().as_str()),
        (200, "alice")
    );
}

#[test]
fn a_refused_request_is_challenged_and_never_reaches_the_service() {
    for (fields, status, start) in [
        (&[][..], 401, "Bearer realm=\"orders\""),
        (
            &[("authorization", "Bearer junk")],
            401,
            "Bearer realm=\"orders\", error=\"invalid_token\"",
        ),
        (
            &[("authorization", "Bearer a"), ("authorization", "Bearer b")],
            400,
            "Bearer realm=\"orders\", error=\"invalid_request\"",
        ),
        (
            &[("authorization", "DPoP junk"), ("dpop", "a"), ("dpop", "b")],
            400,
            "Bearer realm=\"orders\", error=\"invalid_request\"",
        ),
    ] {
        let response = ask(fields);
        assert_eq!(response.status().as_u16(), status);
        let challenge = response.headers()["www-authenticate"].to_str().unwrap();
        assert!(challenge.starts_with(start), "{challenge}");
        assert!(response.body().is_empty());
    }
}

#[test]
fn a_call_passes_the_interceptor_with_its_token_and_is_refused_with_a_status_and_a_challenge() {
    use signet_verify::tonic::Protect;
    use tonic::{Code, Request, service::Interceptor};
    let v = Arc::new(verifier_of(Policy::access_token(AUDIENCE).scope("orders")));
    let mut protect = Protect::new(v, || NOW);
    let mut call = |values: &[String]| {
        let mut request = Request::new(());
        for value in values {
            let value = value.parse().unwrap();
            request.metadata_mut().append("authorization", value);
        }
        protect.call(request)
    };
    let good = format!("Bearer {}", access().signed());
    let request = call(std::slice::from_ref(&good)).unwrap();
    let token = request.extensions().get::<Verified>().unwrap();
    assert_eq!(token.claims().sub(), Some("alice"));
    let poor = access().with("orders read", "read").signed();
    for (values, code, start) in [
        (vec![], Code::Unauthenticated, "Bearer"),
        (
            vec!["Bearer junk".to_owned()],
            Code::Unauthenticated,
            "Bearer error=\"invalid_token\"",
        ),
        (
            vec![format!("Bearer {poor}")],
            Code::PermissionDenied,
            "Bearer error=\"insufficient_scope\"",
        ),
        (
            vec![good.clone(), good],
            Code::InvalidArgument,
            "Bearer error=\"invalid_request\"",
        ),
    ] {
        let refused = call(&values).unwrap_err();
        assert_eq!(refused.code(), code, "{refused:?}");
        let challenge = refused.metadata().get("www-authenticate").unwrap();
        assert!(challenge.to_str().unwrap().starts_with(start));
    }
}
