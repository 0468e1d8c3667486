//! The verifier behind the service: decisions about presented tokens, measured.
use crate::{
    metrics::{GateMetrics, Stage},
    notices::Notices,
    setup::Setup,
};
use arc_swap::ArcSwap;
use http::HeaderValue;
use signet_crypto::Clock;
use signet_http::{Connections, Limits, Response};
use signet_verify::{Decision, PolicyId, Presented, Refusal};
use std::{sync::Arc, time::Instant};

/// The service.
pub struct Gate {
    pub(crate) setup: ArcSwap<Setup>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) limits: Limits,
    pub(crate) metrics: GateMetrics,
    pub(crate) connections: Connections,
    pub(crate) notices: Notices,
}

impl Gate {
    /// A service that begins with this setup.
    pub fn new(setup: Setup, clock: Arc<dyn Clock>, limits: Limits) -> Arc<Gate> {
        Arc::new(Gate {
            setup: ArcSwap::from_pointee(setup),
            clock,
            limits,
            metrics: GateMetrics::default(),
            connections: Connections::default(),
            notices: Notices::default(),
        })
    }

    /// Puts another setup in place. Requests under way keep the one that they began with.
    pub fn replace(&self, setup: Setup) {
        self.setup.store(Arc::new(setup));
    }

    /// The setup in place.
    pub fn setup(&self) -> Arc<Setup> {
        self.setup.load_full()
    }

    /// Decides, and measures it.
    pub(crate) async fn decide(
        &self,
        setup: &Setup,
        policy: PolicyId,
        presented: &Presented<'_>,
    ) -> Result<signet_verify::Verified, Refusal> {
        let begun = Instant::now();
        let Decision { outcome, cached } = setup
            .verifier
            .decide_asking(policy, presented, || self.clock.now())
            .await;
        let stage = match (&outcome, cached) {
            (Ok(_), true) => Stage::Cached,
            (Ok(_), false) => Stage::Verified,
            (Err(_), _) => Stage::Refused,
        };
        self.metrics.took(stage, begun.elapsed());
        outcome
    }

    /// The nonce that a client must put into its next DPoP proof, where the refusal asks for one
    /// (RFC 9449 section 9).
    pub(crate) fn hand_nonce(&self, setup: &Setup, refusal: Refusal, response: &mut Response) {
        if let Some(nonce) = setup.verifier.nonce_for(refusal, self.clock.now())
            && let Ok(nonce) = HeaderValue::from_str(&nonce)
        {
            response.headers_mut().insert("dpop-nonce", nonce);
        }
    }
}
