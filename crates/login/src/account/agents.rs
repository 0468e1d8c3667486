//! The part of `/account` that is about agents: binding an identity, taking it off, ending
//! delegations that were issued under it.
//!
//! Binding is the person's own act: of who has just shown everything that the account has
//! ([`freshness`]), over a challenge that only this page carried. The proof is signed with the
//! identity's current key and names the document, so that neither half can be swapped for another.
use super::{about, answer, factors};
use crate::failure::Failure;
use crate::freshness::{self, Fresh};
use signet_agent::{
    AgentId, Hash, Refusal,
    anchor::Anchors,
    identity::VerifiedDocument,
    json::File,
    proof::{Expected, Proof},
};
use signet_encoding::base64url;
use signet_oauth::params::Params;
use signet_oauth::token::decision::SingleUse;
use signet_pages::{AgentGrantView, AgentsView, IdentityView};
use signet_realm::agents::delegation_index::{self, Holder};
use signet_realm::agents::statement::Authority;
use signet_realm::agents::{AgentError, binding, registry};
use signet_realm::attempts::Refused;
use signet_realm::single_use::{self, Proofs, SingleUseError};
use signet_request::browser_request::{BrowserRequest, LoggedIn};
use signet_request::http::Response;
use signet_request::interaction::Interaction;
use signet_request::security_mail::{self, SecurityEvent};
use signet_store::StoreError;

/// How long a challenge can be answered, in seconds.
pub const CHALLENGE_LIFETIME: u64 = 600;
/// Longest document and longest proof that are read from the form, in bytes; longer documents are
/// an administrator's to register.
pub const MAX_FORM_OBJECT: usize = 16 * 1024;

/// A new challenge: 32 random bytes as text, which is what the proof's nonce is.
pub(super) fn challenge() -> String {
    base64url::encode(&signet_crypto::random::bytes::<32>())
}

/// What the page shows; none where agents are not offered.
pub(super) async fn view(
    browser: &BrowserRequest,
    user_id: &str,
    challenge: &str,
) -> Result<Option<AgentsView>, StoreError> {
    let settings = &browser.context.snapshot.settings;
    if !settings.agents.enabled {
        return Ok(None);
    }
    let (store, now) = (&*browser.context.realm.store, browser.context.now());
    let mut identities = Vec::new();
    for id in binding::list(store, user_id, now).await? {
        let agent = registry::get(store, id, now).await?;
        let document = agent.and_then(|agent| agent.document);
        let since = binding::get(store, id, now)
            .await?
            .map_or(0, |b| b.bound_at);
        identities.push(IdentityView {
            id: id.to_string(),
            name: document
                .as_ref()
                .map_or_else(String::new, |document| document.body().name.clone()),
            rotations: document.map_or(0, |document| document.by().key),
            since,
        });
    }
    let mut grants = Vec::new();
    for held in delegation_index::grants(store, Holder::User(user_id), now).await? {
        if signet_realm::agents::delegation_index::is_ended(store, &held, now).await? {
            continue;
        }
        let body = held.grant.body();
        let to = registry::get(store, body.to.agent, now).await?;
        let name = to
            .and_then(|agent| agent.document)
            .map(|d| d.body().name.clone());
        grants.push(AgentGrantView {
            id: held.grant.id().to_string(),
            to: body.to.agent.to_string(),
            name,
            direct: held.above.is_empty(),
            capabilities: body
                .capabilities
                .iter()
                .map(|capability| capability.as_str().to_owned())
                .collect(),
            first_seen: held.first_seen,
            ends_at: body.not_after,
        });
    }
    Ok(Some(AgentsView {
        issuer: settings.issuer.clone(),
        challenge: challenge.to_owned(),
        identities,
        grants,
    }))
}

impl From<AgentError> for Failure {
    fn from(error: AgentError) -> Failure {
        Failure::Invalid(match error {
            AgentError::Store(error) => return Failure::Store(error),
            AgentError::Taken => "agents-refused-taken",
            AgentError::Rollback => "agents-refused-rollback",
            AgentError::Stopped => "agents-refused-stopped",
            AgentError::TooMany => "agents-refused-many",
            AgentError::NotFound => "agents-refused-gone",
            AgentError::NotTheirs | AgentError::NoRoom | AgentError::Refused(_) => {
                "agents-refused-object"
            }
        })
    }
}

fn refusal(reason: Refusal) -> Failure {
    Failure::Invalid(match reason {
        Refusal::ProofNonceMismatch => "agents-refused-challenge",
        Refusal::ProofAudienceMismatch => "agents-refused-server",
        Refusal::ProofTimeMismatch => "agents-refused-time",
        Refusal::ProofGrantMismatch => "agents-refused-document",
        Refusal::SignatureInvalid => "agents-refused-signature",
        Refusal::WrongSigner | Refusal::UnknownKey | Refusal::KeyCompromised => {
            "agents-refused-key"
        }
        Refusal::DocumentMissing => "agents-refused-no-document",
        Refusal::TooLarge => "agents-refused-large",
        _ => "agents-refused-unreadable",
    })
}

/// The form that binds an identity, or renews the document of one that is bound.
pub(super) async fn bind(
    browser: BrowserRequest,
    present: &LoggedIn,
    form: &Params,
    interaction: &Interaction,
) -> Response {
    // Whoever finds an open browser must not be able to act for its person from elsewhere.
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return factors::ask_fresh(browser, present).await;
    };
    let event = about(&browser, present, "bind-agent");
    let bound = try_bind(&browser, &fresh, form, interaction);
    let realm = browser.context.realm.clone();
    let outcome = realm.audit().act(event, bound, Failure::code).await;
    answer(browser, outcome).await
}

async fn try_bind(
    browser: &BrowserRequest,
    fresh: &Fresh<'_>,
    form: &Params,
    interaction: &Interaction,
) -> Result<&'static str, Failure> {
    let (realm, now) = (&browser.context.realm, browser.context.now());
    let settings = &browser.context.snapshot.settings;
    if !settings.agents.enabled {
        return Err(Failure::Invalid("agents-refused-off"));
    }
    let (document, proof) = read(form).map_err(refusal)?;
    let challenge = interaction.challenge.as_deref().unwrap_or_default();
    if challenge.is_empty() {
        return Err(refusal(Refusal::ProofNonceMismatch));
    }
    check(
        &document,
        &proof,
        challenge,
        &settings.issuer,
        now,
        settings.clock_leeway,
    )
    .map_err(refusal)?;
    let single_use = SingleUse::AgentProof {
        by: fresh.user().id.clone(),
        id: signet_crypto::hash::sha256(challenge.as_bytes()),
        end: now + CHALLENGE_LIFETIME.max(settings.interaction_lifetime) + 1,
    };
    let proofs = Proofs::of_anybody(&realm.budgets);
    match single_use::commit(&*realm.store, proofs, &[single_use], Vec::new(), now).await {
        Ok(()) => {}
        Err(SingleUseError::TooMany { retry_after }) => {
            return Err(Refused::TooMany { retry_after }.into());
        }
        Err(SingleUseError::Refused(_)) => {
            return Err(Failure::Invalid("agents-refused-answered"));
        }
        Err(SingleUseError::Store(error)) => return Err(error.into()),
    }
    let (user, id) = (fresh.user(), document.id());
    let before = binding::get(&*realm.store, id, now).await?;
    binding::bind(&*realm.store, &user.id, &document, now).await?;
    // A newer document of one that is bound tells nothing new.
    if before.is_none_or(|before| before.user_id != user.id) {
        security_mail::send(browser, user, SecurityEvent::AgentBound).await;
    }
    realm.end_compromised(&document).await?;
    tracing::info!(target: "signet::agents", user = %user.id, agent = %id, "bound an agent identity");
    Ok("agents-bound")
}

/// The proof and the document: its companion, or pasted for itself.
fn read(form: &Params) -> Result<(VerifiedDocument, signet_agent::object::Signed<Proof>), Refusal> {
    let object = |name: &str| -> Result<Option<File>, Refusal> {
        let text = form.get(name).map(str::trim).unwrap_or_default();
        match text.len() {
            0 => Ok(None),
            1..=MAX_FORM_OBJECT => File::read(text.as_bytes()).map(Some),
            _ => Err(Refusal::TooLarge),
        }
    };
    let proof = object("proof")?.ok_or(Refusal::Malformed)?;
    let document = match object("document")? {
        Some(file) => VerifiedDocument::new(file.object()?)?,
        None => proof.signer.clone().ok_or(Refusal::DocumentMissing)?,
    };
    Ok((document, proof.object()?))
}

/// Whether the proof shows, for this challenge and server, that the document's current key is in
/// its sender's hands.
fn check(
    document: &VerifiedDocument,
    proof: &signet_agent::object::Signed<Proof>,
    challenge: &str,
    issuer: &str,
    now: u64,
    leeway: u64,
) -> Result<(), Refusal> {
    // A session's or device's key does not speak for the whole identity.
    if proof.body().by != document.by() || proof.body().method.is_some() {
        return Err(Refusal::WrongSigner);
    }
    let expected = Expected {
        audience: issuer,
        nonce: Some(challenge.as_bytes()),
        max_age: CHALLENGE_LIFETIME,
    };
    // In place of a grant, the document: no proof for a chain can be shown here, and none from here
    // for a chain.
    proof
        .body()
        .check(&document.signed().id(), &expected, now, leeway)?;
    proof.verify_by(document, &Anchors::none())
}

/// Takes an identity off the account, and revokes what was issued under it. It changes what the
/// account has, as binding does; who only wants an agent stopped at once ends its grants
/// ([`stop_all`]), in whatever session.
pub(super) async fn unbind(browser: BrowserRequest, present: &LoggedIn, agent: &str) -> Response {
    let Some(fresh) = freshness::of(&browser.context, present) else {
        return factors::ask_fresh(browser, present).await;
    };
    let realm = browser.context.realm.clone();
    let unbound = async {
        let id: AgentId = agent.parse().map_err(|_| AgentError::NotFound)?;
        realm
            .unbind_identity(&fresh.user().id, id, Authority::Person)
            .await?;
        security_mail::send(&browser, fresh.user(), SecurityEvent::AgentUnbound).await;
        Ok("agents-unbound")
    };
    let event = about(&browser, present, "unbind-agent").target(agent);
    let outcome = realm.audit().act(event, unbound, Failure::code).await;
    answer(browser, outcome).await
}

/// Ends a grant and everything under it.
pub(super) async fn revoke(browser: BrowserRequest, present: &LoggedIn, grant: &str) -> Response {
    let realm = browser.context.realm.clone();
    let revoked = async {
        let id: Hash = grant.parse().map_err(|_| AgentError::NotFound)?;
        realm
            .end_grant_of_person(&present.user.id, id, Authority::Person)
            .await?;
        Ok("agents-grant-ended")
    };
    let event = about(&browser, present, "revoke-agent-grant").target(grant);
    let outcome = realm.audit().act(event, revoked, Failure::code).await;
    answer(browser, outcome).await
}

/// Ends everything that acts for the person by grants.
pub(super) async fn stop_all(browser: BrowserRequest, present: &LoggedIn) -> Response {
    let realm = browser.context.realm.clone();
    let stopped = async {
        realm
            .stop_agents_of(&present.user.id, Authority::Person)
            .await?;
        Ok("agents-stopped")
    };
    let event = about(&browser, present, "stop-agents");
    let outcome = realm.audit().act(event, stopped, Failure::code).await;
    answer(browser, outcome).await
}
