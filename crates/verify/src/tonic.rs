//! For `tonic`: an interceptor that lets calls pass with a token that was verified, which is then
//! among the request's extensions.
//!
//! An interceptor does not know which method is called, so it cannot check a DPoP proof: tokens
//! that are bound to a key are refused. Where such tokens are due, put [`crate::tower::Protect`]
//! around the server instead, which sees the whole request.
//!
//! ```
//! use signet_verify::{Issuer, KeySource, Policy, Verified, Verifier, tonic::Protect};
//! use std::sync::Arc;
//! use tonic::{Request, Response, Status, service::Interceptor};
//! # let keys = signet_jose::jwk::JwkSet::parse(br#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"1","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#).unwrap();
//! # let verifier = Verifier::builder()
//! #     .issuer(Issuer::new("https://id.example.com", KeySource::Memory(keys)))
//! #     .policy(Policy::access_token("https://orders.example.com"))
//! #     .build()
//! #     .unwrap();
//!
//! // A method of a generated service.
//! async fn list(request: Request<()>) -> Result<Response<String>, Status> {
//!     let token = request.extensions().get::<Verified>().expect("Protect was here");
//!     Ok(Response::new(token.claims().sub().unwrap_or("").to_owned()))
//! }
//!
//! let clock = || std::time::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
//! let mut protect = Protect::new(Arc::new(verifier), clock);
//! // OrdersServer::with_interceptor(orders, protect)
//! let refused = protect.call(Request::new(())).unwrap_err();
//! assert_eq!(refused.code(), tonic::Code::Unauthenticated);
//! # let _ = list;
//! ```

use crate::{Answer, Challenge, PolicyId, Presented, Refusal, Scheme, Verified, Verifier};
use std::sync::Arc;
use tonic::{
    Code, Request, Status,
    metadata::{MetadataMap, MetadataValue},
    service::Interceptor,
};

/// The interceptor.
#[derive(Clone)]
pub struct Protect {
    verifier: Arc<Verifier>,
    policy: PolicyId,
    now: Arc<dyn Fn() -> u64 + Send + Sync>,
}

impl Protect {
    /// Demands the verifier's first policy. `now` gives Unix seconds.
    pub fn new(verifier: Arc<Verifier>, now: impl Fn() -> u64 + Send + Sync + 'static) -> Protect {
        let policy = verifier.default_policy();
        Protect::under(verifier, policy, now)
    }

    /// Demands another policy.
    pub fn under(
        verifier: Arc<Verifier>,
        policy: PolicyId,
        now: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Protect {
        Protect {
            verifier,
            policy,
            now: Arc::new(now),
        }
    }

    fn decide(&self, request: &Request<()>) -> Result<Verified, (Refusal, Option<Scheme>)> {
        let early = |refusal| {
            self.verifier.counters().refuse(refusal);
            (refusal, None)
        };
        let mut values = request.metadata().get_all("authorization").iter();
        let value = match (values.next(), values.next()) {
            (None, _) => Err(Refusal::NoToken),
            (Some(value), None) => value.to_str().map_err(|_| Refusal::Ambiguous),
            _ => Err(Refusal::Ambiguous),
        };
        let mut presented = value.and_then(Presented::authorization).map_err(early)?;
        let scheme = presented.authorization_scheme();
        let certificate = request.extensions().get();
        if let Some(crate::tower::ClientCertificate(thumbprint)) = certificate {
            presented = presented.certificate(*thumbprint);
        }
        self.verifier
            .verify_under(self.policy, &presented, (self.now)())
            .map_err(|refusal| (refusal, scheme))
    }

    /// The challenge goes where HTTP has it, beside the status that gRPC has for it.
    fn refuse(&self, refusal: Refusal, scheme: Option<Scheme>) -> Status {
        let answer = refusal.answer();
        let code = match answer {
            Answer::InvalidRequest => Code::InvalidArgument,
            Answer::InsufficientScope => Code::PermissionDenied,
            Answer::Unavailable => Code::Unavailable,
            Answer::Unauthenticated
            | Answer::InvalidToken
            | Answer::InsufficientUserAuthentication
            | Answer::InvalidDpopProof
            | Answer::UseDpopNonce => Code::Unauthenticated,
        };
        let challenge = Challenge::new(self.verifier.rules(self.policy), refusal, scheme);
        let mut metadata = MetadataMap::new();
        if let Some(value) = challenge.header()
            && let Ok(value) = MetadataValue::try_from(value)
        {
            metadata.insert("www-authenticate", value);
        }
        Status::with_metadata(code, crate::challenge::public(answer), metadata)
    }
}

impl Interceptor for Protect {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        match self.decide(&request) {
            Ok(verified) => {
                request.extensions_mut().insert(verified);
                Ok(request)
            }
            Err((refusal, scheme)) => Err(self.refuse(refusal, scheme)),
        }
    }
}
