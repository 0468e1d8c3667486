//! Middleware for `tower`: requests pass with a token that was verified, or are answered with a
//! challenge.
//!
//! ```
//! use signet_verify::{Issuer, KeySource, Policy, Verified, Verifier, tower::Protect};
//! use std::{convert::Infallible, sync::Arc};
//! use tower_layer::Layer;
//! # let keys = signet_jose::jwk::JwkSet::parse(br#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"1","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#).unwrap();
//! # let verifier = Verifier::builder()
//! #     .issuer(Issuer::new("https://id.example.com", KeySource::Memory(keys)))
//! #     .policy(Policy::access_token("https://orders.example.com"))
//! #     .build()
//! #     .unwrap();
//!
//! // Anything that answers requests; `Verified` is among a request's extensions.
//! #[derive(Clone)]
//! struct Orders;
//! impl tower_service::Service<http::Request<()>> for Orders {
//!     type Response = http::Response<String>;
//!     type Error = Infallible;
//!     type Future = std::future::Ready<Result<Self::Response, Infallible>>;
//!     fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> std::task::Poll<Result<(), Infallible>> {
//!         std::task::Poll::Ready(Ok(()))
//!     }
//!     fn call(&mut self, request: http::Request<()>) -> Self::Future {
//!         let token = request.extensions().get::<Verified>().expect("Protect was here");
//!         std::future::ready(Ok(http::Response::new(token.claims().sub().unwrap_or("").to_owned())))
//!     }
//! }
//!
//! let clock = || std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
//! let _protected = Protect::new(Arc::new(verifier), "https://orders.example.com", clock).layer(Orders);
//! ```

use crate::{Challenge, PolicyId, Presented, Proof, Refusal, Scheme, Verified, Verifier};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, header};
use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};
use tower_layer::Layer;
use tower_service::Service;

/// The SHA-256 of a client's certificate (DER), which a TLS acceptor puts among a request's
/// extensions.
#[derive(Clone, Copy, Debug)]
pub struct ClientCertificate(pub [u8; 32]);

struct Rules {
    verifier: Arc<Verifier>,
    policy: PolicyId,
    /// scheme and authority, as senders see them
    base: String,
    now: Box<dyn Fn() -> u64 + Send + Sync>,
}

/// The layer. It decides without waiting: a token that an issuer would have to be asked about
/// ([`Policy::introspect`](crate::Policy)) is refused here, unless the answer is known already.
#[derive(Clone)]
pub struct Protect(Arc<Rules>);

impl Protect {
    /// Demands the verifier's first policy. `base`: scheme and authority by which senders know this
    /// resource, for DPoP; it is configured and not read from `Host`, which is the sender's word.
    /// `now` gives Unix seconds.
    pub fn new(
        verifier: Arc<Verifier>,
        base: &str,
        now: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Protect {
        let policy = verifier.default_policy();
        Protect::under(verifier, policy, base, now)
    }

    /// Demands another policy.
    pub fn under(
        verifier: Arc<Verifier>,
        policy: PolicyId,
        base: &str,
        now: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Protect {
        Protect(Arc::new(Rules {
            verifier,
            policy,
            base: base.trim_end_matches('/').to_owned(),
            now: Box::new(now),
        }))
    }
}

impl<S> Layer<S> for Protect {
    type Service = Protected<S>;

    fn layer(&self, inner: S) -> Protected<S> {
        Protected {
            inner,
            rules: self.0.clone(),
        }
    }
}

/// A service behind [`Protect`].
#[derive(Clone)]
pub struct Protected<S> {
    inner: S,
    rules: Arc<Rules>,
}

impl<S, B, R> Service<Request<B>> for Protected<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    R: Default + Unpin,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Answer<S::Future, R>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        match self.rules.decide(&request) {
            Ok(verified) => {
                request.extensions_mut().insert(verified);
                Answer::Inner(Box::pin(self.inner.call(request)))
            }
            Err((refusal, scheme)) => Answer::Refused(Some(self.rules.refuse(refusal, scheme))),
        }
    }
}

/// The answer of a protected service.
pub enum Answer<F, R> {
    /// The request passed.
    Inner(Pin<Box<F>>),
    /// It did not; empty once it was given.
    Refused(Option<Response<R>>),
}

impl<F, R, E> Future for Answer<F, R>
where
    F: Future<Output = Result<Response<R>, E>>,
    R: Unpin,
{
    type Output = Result<Response<R>, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Answer::Inner(future) => future.as_mut().poll(context),
            Answer::Refused(response) => match response.take() {
                Some(response) => Poll::Ready(Ok(response)),
                // Polled after its end, which no executor does.
                None => Poll::Pending,
            },
        }
    }
}

fn single<'h>(headers: &'h HeaderMap, name: &str) -> Result<Option<&'h str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Refusal::Ambiguous),
        _ => Err(Refusal::Ambiguous),
    }
}

impl Rules {
    fn decide<B>(&self, request: &Request<B>) -> Result<Verified, (Refusal, Option<Scheme>)> {
        let headers = request.headers();
        let early = |refusal| {
            self.verifier.counters().refuse(refusal);
            (refusal, None)
        };
        let value =
            single(headers, "authorization").and_then(|value| value.ok_or(Refusal::NoToken));
        let mut presented = value.and_then(Presented::authorization).map_err(early)?;
        let scheme = presented.authorization_scheme();
        if let Some(ClientCertificate(thumbprint)) = request.extensions().get() {
            presented = presented.certificate(*thumbprint);
        }
        let url;
        if let Some(jwt) = single(headers, "dpop").map_err(early)? {
            url = [&self.base, request.uri().path()].concat();
            let method = request.method().as_str();
            presented = presented.proof(Proof {
                jwt,
                method,
                url: &url,
            });
        }
        self.verifier
            .verify_under(self.policy, &presented, (self.now)())
            .map_err(|refusal| (refusal, scheme))
    }

    fn refuse<R: Default>(&self, refusal: Refusal, scheme: Option<Scheme>) -> Response<R> {
        let challenge = Challenge::new(self.verifier.rules(self.policy), refusal, scheme);
        let mut response = Response::new(R::default());
        *response.status_mut() =
            StatusCode::from_u16(challenge.status()).unwrap_or(StatusCode::UNAUTHORIZED);
        if let Some(value) = challenge.header()
            && let Ok(value) = HeaderValue::from_str(&value)
        {
            response
                .headers_mut()
                .insert(header::WWW_AUTHENTICATE, value);
        }
        if let Some(nonce) = self.verifier.nonce_for(refusal, (self.now)())
            && let Ok(nonce) = HeaderValue::from_str(&nonce)
        {
            response.headers_mut().insert("dpop-nonce", nonce);
        }
        response
    }
}
