//! What the endpoints that clients call directly have in common: the form, the headers that must be
//! alone, client authentication with its keys, and how an error leaves.
use super::rules;
use http::{HeaderName, HeaderValue, StatusCode, header};
use signet_audit::{self as audit, Action, Event};
use signet_fetched::Payer;
use signet_http::PresentedCertificate;
use signet_oauth::client::{Client, GrantType};
use signet_oauth::endpoint::EndpointId;
use signet_oauth::error::{ErrorCode, OAuthError};
use signet_oauth::id::GrantId;
use signet_oauth::params::Params;
use signet_oauth::request::{self, PeerCertificate, Request};
use signet_oauth::token::client_auth::{self, Authenticated, ClientKeys, Credentials};
use signet_oauth::token::decision::SingleUse;
use signet_oauth::token::dpop_policy;
use signet_oauth::token::grant::{self, Gives};
use signet_realm::attempts::{self, Kind, Refused};
use signet_realm::budgets::Act;
use signet_realm::single_use::{self, Proofs, Refusal, SingleUseError};
use signet_realm::state::Snapshot;
use signet_request::http::{Context, Response, response};
use signet_store::{Op, StoreError};
use signet_telemetry::trace;
use std::sync::{Arc, atomic::Ordering::Relaxed};

/// What the audit trail calls the exchange for a token of an identity provider.
pub(super) const UPSTREAM_EXCHANGE: &str = "upstream-exchange";

/// What is recorded where the store fails.
const STORE_FAILED: &str = "temporarily_unavailable";

const DPOP: HeaderName = HeaderName::from_static("dpop");
const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// A request at such an endpoint, taken apart.
pub(super) struct ClientRequest {
    pub context: Context,
    pub params: Params,
    endpoint: EndpointId,
    authorization: Option<String>,
    dpop: Option<String>,
    certificate: Option<Arc<PresentedCertificate>>,
    htu: String,
}

impl ClientRequest {
    /// Reads the form and the headers that decide. `Err` is the answer, boxed because it is large
    /// and rare.
    pub(super) async fn read(
        mut context: Context,
        endpoint: EndpointId,
    ) -> Result<ClientRequest, Box<Response>> {
        let params = match context.form().await {
            Ok(params) => params,
            Err(failure) => return Err(Box::new(response::form_error(&failure))),
        };
        ClientRequest::with_params(context, endpoint, params)
    }

    /// As `read`, for requests without a form.
    pub(super) fn with_params(
        context: Context,
        endpoint: EndpointId,
        params: Params,
    ) -> Result<ClientRequest, Box<Response>> {
        let alone = |name: HeaderName, code, text| -> Result<Option<String>, Box<Response>> {
            let mut values = context.headers.get_all(name).iter();
            let Some(first) = values.next() else {
                return Ok(None);
            };
            match (first.to_str(), values.next()) {
                (Ok(value), None) => Ok(Some(value.to_owned())),
                _ => Err(Box::new(response::error(&OAuthError::new(code, text)))),
            }
        };
        let authorization = alone(
            header::AUTHORIZATION,
            ErrorCode::InvalidRequest,
            "there must be one Authorization header, in ASCII",
        )?;
        let dpop = alone(
            DPOP,
            ErrorCode::InvalidDpopProof,
            "there must be one DPoP header, in ASCII",
        )?;
        let htu = match &dpop {
            Some(dpop) => context.endpoint_url(endpoint, dpop),
            None => String::new(),
        };
        Ok(ClientRequest {
            certificate: context.certificate.clone(),
            context,
            params,
            endpoint,
            authorization,
            dpop,
            htu,
        })
    }

    pub(super) fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    pub(super) fn request(&self) -> Request<'_> {
        Request {
            params: &self.params,
            authorization: self.authorization(),
            certificate: self.certificate.as_deref().map(|peer| PeerCertificate {
                certificate: &peer.certificate,
                trusted: peer.chain_trusted,
            }),
            dpop: self.dpop.as_deref(),
            htm: self.context.method.as_str(),
            htu: &self.htu,
        }
    }

    pub(super) fn snapshot(&self) -> &Arc<Snapshot> {
        &self.context.snapshot
    }

    pub(super) fn now(&self) -> u64 {
        self.context.now()
    }

    /// Asks the rules, with their view of this request's snapshot.
    pub(super) fn decide<T>(&self, decide: impl FnOnce(&request::Context<'_>) -> T) -> T {
        rules::with(&self.context, decide)
    }

    /// The public keys that decide about the client, where they do. A set that cannot be fetched is
    /// as if empty: the authentication fails, and the log says why.
    pub(super) async fn keys(&self, credentials: &Credentials<'_>) -> Option<Arc<ClientKeys>> {
        let now = self.now();
        let registry = &self.context.snapshot.registry;
        let client = registry.client(&credentials.client_id, now)?;
        if !credentials.needs_keys(client) {
            return None;
        }
        // Boxed, as whatever is seldom awaited on the way of a token: it would make every request's
        // future larger.
        Box::pin(self.published_keys(credentials, client)).await
    }

    async fn published_keys(
        &self,
        credentials: &Credentials<'_>,
        client: &Client,
    ) -> Option<Arc<ClientKeys>> {
        let realm = &self.context.realm;
        let payer = Payer {
            budgets: &realm.budgets,
            peer: self.context.peer,
        };
        let (kid, now) = (credentials.key_id(), self.now());
        match realm
            .client_keys
            .of(&realm.host.outbound, payer, client, kid, now)
            .await
        {
            Ok(keys) => keys,
            Err(error) => {
                tracing::info!(request_id = %self.context.request_id, %error, "failed to get the client's keys");
                None
            }
        }
    }

    /// Authenticates the client and commits what that consumed. For endpoints other than the token
    /// endpoint, where it is part of the one decision.
    pub(super) async fn authenticate(&self) -> Result<Authenticated, OAuthError> {
        let authenticated = self.authenticate_uncommitted().await?;
        if let Some(single_use) = &authenticated.single_use {
            let single_use = std::slice::from_ref(single_use);
            // An assertion: the client has authenticated.
            self.commit(Proofs::uncounted(), single_use, Vec::new())
                .await?;
        }
        self.context.note_client(&authenticated.client.client_id);
        Ok(authenticated)
    }

    async fn authenticate_uncommitted(&self) -> Result<Authenticated, OAuthError> {
        let request = self.request();
        let credentials = Credentials::of(&request)?;
        let keys = self.keys(&credentials).await;
        trace::within("authenticate the client", || {
            self.decide(|rules| {
                client_auth::authenticate(rules, &request, &credentials, keys.as_deref())
            })
        })
    }

    /// Commits once-only conditions; `proofs`: whether those among them are counted. A replayed
    /// code or refresh token ends its grant here, before anything is answered.
    pub(super) async fn commit(
        &self,
        proofs: Proofs<'_>,
        single_use: &[SingleUse],
        then: Vec<Op>,
    ) -> Result<(), OAuthError> {
        let realm = &self.context.realm;
        if single_use.is_empty() && then.is_empty() {
            return Ok(());
        }
        let store = &*realm.store;
        let refusal = match single_use::commit(store, proofs, single_use, then, self.now()).await {
            Ok(()) => return Ok(()),
            Err(SingleUseError::Store(error)) => return Err(self.store_failed(&error)),
            Err(SingleUseError::TooMany { retry_after }) => {
                let text = "too many proofs of this key";
                return Err(OAuthError::too_many(text, retry_after));
            }
            Err(SingleUseError::Refused(refusal)) => refusal,
        };
        Err(match refusal {
            Refusal::Assertion => {
                OAuthError::new(ErrorCode::InvalidClient, "client authentication failed")
                    .with_hint("the assertion was used before")
            }
            Refusal::DpopProof => OAuthError::new(
                ErrorCode::InvalidDpopProof,
                "the DPoP proof was used before",
            ),
            // RFC 8693 section 2.2.2: what is wrong with a subject token is `invalid_request`.
            Refusal::AgentProof => {
                OAuthError::invalid_request("the holder's proof of possession was used before")
            }
            Refusal::AgentUses => OAuthError::invalid_request("uses_exhausted"),
            Refusal::AgentBudget => OAuthError::invalid_request("budget_exhausted"),
            Refusal::DeviceCode => invalid_grant("the device code was taken already"),
            Refusal::FamilyEnded => {
                invalid_grant("the refresh token's family was revoked or has expired")
            }
            Refusal::CodeReplay { grant_id } => {
                Box::pin(self.end_replayed(grant_id, "an authorization code")).await?;
                invalid_grant("the code was used before; its grant is revoked")
            }
            Refusal::RefreshReplay { grant_id } => {
                Box::pin(self.end_replayed(grant_id, "a refresh token")).await?;
                invalid_grant("an old refresh token; its family is revoked")
            }
        })
    }

    /// Whether the proofs of a request of this client are counted.
    pub(super) fn proofs(&self, client_id: &str) -> Proofs<'_> {
        let budgets = &self.context.realm.budgets;
        match self.snapshot().registry.clients.get(client_id) {
            Some(client) => Proofs::of_client(budgets, client),
            None => Proofs::of_anybody(budgets),
        }
    }

    async fn end_replayed(&self, grant_id: GrantId, what: &str) -> Result<(), OAuthError> {
        let realm = &self.context.realm;
        realm.host.metrics.replays.fetch_add(1, Relaxed);
        tracing::warn!(
            request_id = %self.context.request_id,
            peer = %self.context.peer,
            grant = %signet_encoding::base64url::encode(grant_id.as_bytes()),
            what,
            "revoked the grant of a replayed value"
        );
        let event = self
            .event(Action::REPLAY)
            .grant(Some(grant_id.as_bytes()))
            .operation("revoke_grant");
        // Not a part of what was asked for.
        let ended = realm
            .audit()
            .act(event, realm.revoke_grant(grant_id), |_| STORE_FAILED);
        audit::outside_act(ended)
            .await
            .map_err(|error| self.store_failed(&error))
    }

    /// A line of this request, about its client where that is known.
    pub(super) fn event(&self, action: Action) -> Event<'_> {
        let event = self.context.event(action);
        match self.context.log.client_id.get() {
            Some(client_id) => event.client(client_id),
            None => event,
        }
    }

    /// Records a refusal. What a client typed is only named where it is the name of one: it could
    /// be anything.
    fn record_refusal(&self, error: &OAuthError) {
        let action = match self.endpoint {
            EndpointId::Introspect => Action::INTROSPECT,
            EndpointId::RevocationStream => Action::REVOCATION_STREAM,
            EndpointId::Revoke => Action::REVOKE,
            EndpointId::Par => Action::PUSHED,
            EndpointId::DeviceAuthorization => Action::DEVICE,
            EndpointId::Userinfo => Action::USERINFO,
            EndpointId::Token
            | EndpointId::PasswordLogin
            | EndpointId::OauthMetadata
            | EndpointId::OpenidMetadata
            | EndpointId::Jwks
            | EndpointId::CompactKeys
            | EndpointId::Authorize
            | EndpointId::Register
            | EndpointId::RegisterClient
            | EndpointId::DeviceVerification
            | EndpointId::Logout
            | EndpointId::CheckSession
            | EndpointId::AgentStatements => Action::TOKEN,
        };
        // These say "not yet" and decide nothing.
        if matches!(
            error.code,
            ErrorCode::AuthorizationPending | ErrorCode::SlowDown | ErrorCode::UseDpopNonce
        ) {
            return;
        }
        let request = self.request();
        let claimed = Credentials::of(&request).ok();
        let registry = &self.context.snapshot.registry;
        let claimed = claimed.filter(|c| registry.clients.contains_key(&c.client_id));
        let mut event = self.context.event(action).refused(error.code.as_str());
        if let Some(claimed) = &claimed {
            event = event.client(&claimed.client_id);
        }
        let grant_type = self.params.get("grant_type");
        if let Some(grant_type) = grant_type.and_then(GrantType::from_name) {
            event = event.method(grant_type.as_str());
        }
        if grant::asked_for(&self.params) == Some(Gives::ProviderToken) {
            event = event.operation(UPSTREAM_EXCHANGE);
            let named = self.params.all("audience");
            let known = named.iter().find_map(|name| registry.providers.get(name));
            if let Some(known) = known {
                event = event.target(&known.name);
            }
        }
        self.context.realm.audit().record(event);
    }

    /// The store's failure: counted, logged, and said in no detail.
    pub(super) fn store_failed(&self, error: &StoreError) -> OAuthError {
        store_failed(&self.context, error)
    }

    /// `refuse`, where clients authenticate: a failed one is counted against its address, and one
    /// that fails too often hears 429. Only failures ask the store for this: a good secret is never
    /// held up. What counts is guessed secrets: an assertion or a certificate that does not hold is
    /// no guess, and a client's own retry must not shut it out.
    pub(super) async fn refuse_counted(&self, error: &OAuthError) -> Response {
        let secret = self.params.get("client_secret").is_some()
            || self.context.headers.contains_key(header::AUTHORIZATION);
        if error.code != ErrorCode::InvalidClient || !secret {
            return self.refuse(error);
        }
        let realm = &self.context.realm;
        let limits = &realm.people.limits;
        let budgets = limits.of_networks(Kind::ClientSecret, self.context.peer);
        match attempts::count_all(&*realm.store, &budgets, self.now()).await {
            Err(Refused::TooMany { retry_after }) => {
                let mut answer = self.refuse(error);
                *answer.status_mut() = StatusCode::TOO_MANY_REQUESTS;
                answer
                    .headers_mut()
                    .insert(header::RETRY_AFTER, HeaderValue::from(retry_after));
                answer
            }
            Err(Refused::Store(failure)) => {
                let failure = self.store_failed(&failure);
                self.refuse(&failure)
            }
            Ok(()) => self.refuse(error),
        }
    }

    /// What a client without a secret causes is counted; nobody else's is. The answer where it is
    /// one too many.
    pub(super) fn spend(&self, act: Act, client: &Client) -> Result<(), OAuthError> {
        if !client.is_public() {
            return Ok(());
        }
        let (context, now) = (&self.context, self.now());
        let spent = context.realm.budgets.spend(act, context.peer, now);
        spent.map_err(|_| {
            OAuthError::new(
                ErrorCode::TemporarilyUnavailable,
                "too many requests of this kind",
            )
            .with_hint("the budget of the address, or of all of them, is used up")
        })
    }

    /// The answer of an error, with a fresh nonce where one is asked for.
    pub(super) fn refuse(&self, error: &OAuthError) -> Response {
        self.context.note_error(error);
        self.record_refusal(error);
        let mut answer = response::error(error);
        if matches!(
            error.code,
            ErrorCode::UseDpopNonce | ErrorCode::InvalidDpopProof
        ) {
            self.add_nonce(&mut answer);
        }
        answer
    }

    /// Where nonces are required, every answer to a proof brings the next one (RFC 9449 section
    /// 8.2).
    pub(super) fn add_next_nonce(&self, answer: &mut Response) {
        if self.dpop.is_some() && self.context.snapshot.settings.dpop_nonce_required {
            self.add_nonce(answer);
        }
    }

    fn add_nonce(&self, answer: &mut Response) {
        let nonce = dpop_policy::new_nonce(&self.context.realm.keyring(), self.now());
        if let Some(Ok(nonce)) = nonce.map(HeaderValue::try_from) {
            answer.headers_mut().insert(DPOP_NONCE, nonce);
        }
    }
}

pub(super) fn store_failed(context: &Context, error: &StoreError) -> OAuthError {
    context
        .realm
        .host
        .metrics
        .store_errors
        .fetch_add(1, Relaxed);
    tracing::error!(request_id = %context.request_id, %error, "failed to read or write the store");
    OAuthError::new(
        ErrorCode::TemporarilyUnavailable,
        "temporarily unavailable, try again later",
    )
}

fn invalid_grant(hint: &'static str) -> OAuthError {
    OAuthError::invalid_grant(
        "the grant is invalid, expired, revoked, or was issued to another client",
    )
    .with_hint(hint)
}
