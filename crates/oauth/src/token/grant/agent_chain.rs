//! Token exchange of a chain of agents' grants: RFC 8693 with a `subject_token_type` of its own.
//!
//! signet-agent's checker proves the chain, from the identity that a person bound to their account
//! to the holder; nothing is taken from the request that the chain does not say. The token is for
//! that person (`sub`), names the chain (`act`, outermost the holder), and is nowhere wider than
//! chain and client together. It is always bound to the key or certificate that the holder's proof
//! of possession names: the agent's identity key certifies the session's key in the very message
//! that it signs for this exchange.
//!
//! No actor token goes with a chain, for the chain says who acts: what a chain and a token of
//! another context would say together is nothing that anybody granted (known fault A23).
use super::{
    GrantRequest,
    token_type::{self, JWT_TYPE},
};
use crate::error::{ErrorCode, OAuthError};
use crate::issued::access_token::MAX_ACT_DEPTH;
use crate::issued::agent_grants::standing::{Known, WithThisUse};
use crate::issued::agent_grants::{
    Details, NONCE_BYTES, NONCE_RANDOM_BYTES, PresentedChain, Root, refused,
};
use crate::issued::format::AccessTokenFormat;
use crate::issued::sealed::Confirmation;
use crate::scope::{self, ScopeSet};
use crate::token::decision::{AccessToken, ChainClaims, Decision, GrantState, Issue, SingleUse};
use crate::token::target::{self, MAX_RESOURCES, Target};
use signet_agent::{
    AgentId, Refusal,
    anchor::Anchors,
    capability::Capability,
    chain::{Accepted, Cache, ChainRefusal, Check},
    constraint::Context,
    lineage::VerifiedLineage,
    proof::Expected,
};
use signet_crypto::ct_eq;
use signet_encoding::{base64url, json::Writer};

/// The action of a capability whose resource is the name of a scope: only such a capability lets a
/// token have that scope.
pub const SCOPE_ACTION: &str = "scope";

pub(super) fn decide(request: &GrantRequest<'_>) -> Result<Decision, OAuthError> {
    let (context, client, params) = (request.context, request.client, request.params);
    if !context.settings.agents.enabled {
        return Err(OAuthError::invalid_request(
            "the token type is not supported",
        ));
    }
    if client.is_public() || !client.may_exchange_agent_grants {
        return Err(OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "the client may not exchange agents' grants",
        ));
    }
    if params.get("actor_token").is_some() || params.get("actor_token_type").is_some() {
        return Err(OAuthError::invalid_request(
            "a chain of grants says who acts: no actor token goes with it",
        ));
    }
    let issued_token_type = token_type::issued_token_type(params)?;
    let confirmation = request.confirmation.as_ref().ok_or_else(|| {
        OAuthError::invalid_request("the token will be bound: send a DPoP proof or a certificate")
    })?;
    let chain = request.chain.ok_or_else(|| {
        OAuthError::new(ErrorCode::ServerError, "internal error").with_hint("no chain was read")
    })?;
    let root = trusted_root(request, chain)?;
    // Not empty: a presentation has one grant at least.
    let last = &chain.shown.grants[chain.shown.grants.len() - 1];
    check_binding(&chain.shown.proof.body().nonce, confirmation)?;

    let target = chosen_target(request, chain)?;
    let scope = chosen_scope(request, &target)?;
    let details = match params.get("authorization_details") {
        Some(text) => Details::parse(text)?,
        None => Details::of(granted(&last.body().capabilities)),
    };
    let accepted = check(request, chain, root, &target, &scope, &details)?;
    let now = context.now();
    // A grant counts to the end of its last second.
    let left = accepted.not_after.saturating_add(1).saturating_sub(now);
    let authorization_details = details.write(&target.audience, &last.body().constraints)?;
    let proof = chain.shown.proof.body();
    let settings = context.settings;
    let mut single_use = vec![SingleUse::AgentProof {
        by: proof.by.agent.to_string(),
        id: chain.shown.proof.id().0,
        end: proof
            .at
            .saturating_add(settings.dpop_proof_max_age)
            .saturating_add(settings.clock_leeway)
            .saturating_add(1),
    }];
    let spend = details.budget.as_ref().map_or(0, |budget| budget.amount);
    // The holder's own grant first: what is refused further up has cost nobody else a use.
    for grant in chain.shown.grants.iter().rev() {
        let of = &grant.body().constraints;
        if of.max_uses.is_some() || of.budget.is_some() {
            single_use.push(SingleUse::AgentUse {
                grant: grant.id().0,
                max_uses: of.max_uses,
                budget: of.budget.as_ref().map(|budget| budget.amount),
                spend: if of.budget.is_some() { spend } else { 0 },
                end: grant.body().not_after.saturating_add(2),
            });
        }
    }
    Ok(Decision {
        single_use,
        grant: GrantState::None,
        issue: Issue {
            access_token: AccessToken {
                client_id: client.client_id.clone(),
                sub: root.user_id.clone(),
                audience: target.audience.clone(),
                scope,
                lifetime: target.lifetime.min(left),
                format: match issued_token_type {
                    JWT_TYPE => AccessTokenFormat::Jwt,
                    _ => target.format,
                },
                algorithm: target.algorithm,
                grant_id: None,
                sid: None,
                auth_time: None,
                acr: None,
                amr: Vec::new(),
                confirmation: Some(confirmation.clone()),
                act: Some(act(&accepted.agents)?),
                subject_jtis: Vec::new(),
                claims: None,
                chain: Some(Box::new(ChainClaims {
                    grants: accepted.grants.iter().map(|grant| grant.0).collect(),
                    authorization_details,
                })),
            },
            id_token: None,
            refresh: None,
            issued_token_type: Some(issued_token_type),
        },
    })
}

/// The person's identity that the chain begins at, if the operator trusts it.
fn trusted_root<'a>(
    request: &GrantRequest<'_>,
    chain: &'a PresentedChain,
) -> Result<&'a Root, OAuthError> {
    let root = chain
        .standing
        .root
        .as_ref()
        .ok_or_else(|| refused(Refusal::WrongRoot))?;
    let trusted = &request.context.settings.agents.roots;
    match trusted.is_empty() || trusted.contains(&root.document.id()) {
        true => Ok(root),
        false => Err(refused(Refusal::WrongRoot)),
    }
}

/// The holder's proof names what the token is bound to: nobody else's key gets a token by this
/// proof (known fault G15).
fn check_binding(nonce: &[u8], confirmation: &Confirmation) -> Result<(), OAuthError> {
    let (Confirmation::Jkt(thumbprint) | Confirmation::X5tS256(thumbprint)) = confirmation;
    let thumbprint = base64url::decode(thumbprint.as_bytes()).unwrap_or_default();
    let named = nonce.get(NONCE_RANDOM_BYTES..).unwrap_or_default();
    match nonce.len() == NONCE_BYTES && ct_eq(named, &thumbprint) {
        true => Ok(()),
        false => Err(refused(Refusal::ProofNonceMismatch)),
    }
}

/// What the request names, else what the last grant names, else the default; always within what the
/// client may ask for.
fn chosen_target(request: &GrantRequest<'_>, chain: &PresentedChain) -> Result<Target, OAuthError> {
    let (context, client) = (request.context, request.client);
    let mut named = request.params.all("resource");
    named.extend(request.params.all("audience"));
    if named.is_empty() {
        let last = &chain.shown.grants[chain.shown.grants.len() - 1];
        named.extend(last.body().constraints.audience.iter().map(String::as_str));
    }
    named.sort_unstable();
    named.dedup();
    if named.len() > MAX_RESOURCES {
        return Err(OAuthError::new(
            ErrorCode::InvalidTarget,
            "the chain has many audiences: name those that the token is for",
        ));
    }
    let checked = target::requested(context.settings, context.registry, client, &named)?;
    Ok(target::target(context, client, &checked))
}

/// Only what is asked for, within the client's own. Neither administration nor a refresh of any
/// kind is ever delegated.
fn chosen_scope(request: &GrantRequest<'_>, target: &Target) -> Result<ScopeSet, OAuthError> {
    let Some(text) = request.params.get("scope") else {
        return Ok(ScopeSet::default());
    };
    let asked = ScopeSet::parse(text)?;
    let allowed = request
        .client
        .scope
        .filter(|name| !scope::PRIVILEGED.contains(&name) && name != scope::OFFLINE_ACCESS);
    match asked.is_subset(&allowed) {
        true => Ok(target.narrow(&asked)),
        false => Err(OAuthError::new(
            ErrorCode::InvalidScope,
            "the scope is wider than the client's",
        )),
    }
}

/// What a chain grants besides scopes, which are asked for by `scope`; a chain of scopes alone has
/// its capabilities as they are.
fn granted(all: &[Capability]) -> Vec<Capability> {
    let others = all.iter().filter(|c| c.action() != SCOPE_ACTION);
    let others: Vec<Capability> = others.cloned().collect();
    if others.is_empty() {
        return all.to_vec();
    }
    others
}

/// The whole check: the chain for everything that is asked of it, at every audience, with the proof
/// once.
fn check(
    request: &GrantRequest<'_>,
    chain: &PresentedChain,
    root: &Root,
    target: &Target,
    scope: &ScopeSet,
    details: &Details,
) -> Result<Accepted, OAuthError> {
    let context = request.context;
    let mut capabilities = details.capabilities();
    for name in scope.iter() {
        let capability = format!("{SCOPE_ACTION}:{name}").parse();
        capabilities.push(capability.map_err(|_| outside(name))?);
    }
    let documents = chain.documents();
    // The chain's checker asks this of its agents; the holder's ancestors need not be among them.
    for document in &documents {
        document
            .check_time(context.now(), context.settings.clock_leeway)
            .map_err(refused)?;
    }
    let lineages = lineages(chain, &documents)?;
    let budget = details.budget.as_ref();
    let ledger = WithThisUse {
        counters: &chain.standing.counters,
        amount: budget.map_or(0, |budget| budget.amount),
        unit: budget.map(|budget| budget.unit.as_str()),
    };
    let custom = Known(&context.settings.agents.constraints);
    let anchors = Anchors::none();
    let expected = Expected {
        audience: &context.settings.issuer,
        // Its own: random, and seen once.
        nonce: None,
        max_age: context.settings.dpop_proof_max_age,
    };
    let mut cache = Cache::default();
    let mut run = |capability: &Capability, audience: &str, with_proof: bool| {
        let check = Check {
            root: &root.document,
            documents: &documents,
            capability,
            context: Context {
                audience: Some(audience),
                network: Some(chain.peer),
                ledger: &ledger,
                custom: &custom,
            },
            now: context.now(),
            leeway: context.settings.clock_leeway,
            revocations: &chain.standing.revocations,
            max_staleness: None,
            declarations: &chain.shown.declarations,
            kept_declarations: &chain.standing.declarations,
            lineages: &lineages,
            anchors: &anchors,
            proof: with_proof.then_some((&chain.shown.proof, expected)),
        };
        check.run_cached(&chain.shown.grants, &mut cache)
    };
    // There is one of each: details name a capability, and a token has an audience.
    let (first, audience) = (&capabilities[0], &target.audience[0]);
    let accepted = run(first, audience, true).map_err(explained)?;
    for capability in &capabilities[1..] {
        run(capability, audience, false).map_err(|refusal| match capability.action() {
            SCOPE_ACTION if refusal.reason == Refusal::CapabilityNotGranted => {
                outside(capability.resource())
            }
            _ => explained(refusal),
        })?;
    }
    for audience in &target.audience[1..] {
        run(first, audience, false).map_err(explained)?;
    }
    Ok(accepted)
}

fn outside(scope: &str) -> OAuthError {
    OAuthError::new(
        ErrorCode::InvalidScope,
        "the chain does not grant the scope: it needs the capability scope:NAME",
    )
    .with_hint(scope)
}

fn explained(refusal: ChainRefusal) -> OAuthError {
    let error = refused(refusal.reason).with_hint(refusal.to_string());
    match refusal.reason {
        // RFC 8693 section 2.2.2.
        Refusal::AudienceRefused => OAuthError {
            code: ErrorCode::InvalidTarget,
            ..error
        },
        Refusal::CapabilityNotGranted => OAuthError {
            code: ErrorCode::InvalidAuthorizationDetails,
            ..error
        },
        _ => error,
    }
}

fn lineages(
    chain: &PresentedChain,
    documents: &[signet_agent::identity::VerifiedDocument],
) -> Result<Vec<VerifiedLineage>, OAuthError> {
    if chain.shown.births.is_empty() {
        return Ok(Vec::new());
    }
    let mut all = documents.to_vec();
    all.extend(chain.standing.root.iter().map(|root| root.document.clone()));
    VerifiedLineage::verify(&chain.shown.births, &all, &Anchors::none())
        .map(|lineage| vec![lineage])
        .map_err(refused)
}

/// RFC 8693 section 4.1: the holder outermost, those who delegated to it nested. The root is the
/// person, whom `sub` names.
fn act(agents: &[AgentId]) -> Result<String, OAuthError> {
    let actors = agents.get(1..).unwrap_or_default();
    if actors.is_empty() || actors.len() > MAX_ACT_DEPTH {
        return Err(refused(Refusal::TooLarge));
    }
    fn nest(w: &mut Writer<'_>, actors: &[AgentId]) {
        if let Some((outermost, earlier)) = actors.split_last() {
            w.object(|w| {
                w.member("sub").string(&outermost.to_string());
                if !earlier.is_empty() {
                    nest(w.member("act"), earlier);
                }
            });
        }
    }
    let mut out = Vec::with_capacity(128);
    nest(&mut Writer::new(&mut out), actors);
    // The writer gives UTF-8 and nothing else.
    String::from_utf8(out).map_err(|_| OAuthError::new(ErrorCode::ServerError, "internal error"))
}
