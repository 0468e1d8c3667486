//! Where access rules are asked: what the rules of `signet-oauth` decide is looked up, recorded and
//! answered here. Authorization and the approval of a device ask with the person there
//! (`endpoint/authorize.rs`, `endpoint/device.rs`), every grant of the token endpoint without.
//!
//! A realm without rules whose mode allows has nothing to ask, and pays a look at both.
use crate::http::Context;
use signet_audit::Event;
use signet_oauth::{
    access_rules::{Origin, Question},
    client::GrantType,
    decision::Decision,
    error::{ErrorCode, OAuthError},
    scope::ScopeSet,
    session::UserClaims,
};

/// What a line says where no rule decided, but the realm's mode.
const MODE: &str = "access_mode";
/// What a line says where a rule did, whose name is its target.
const RULE: &str = "access_rule";

/// The line of something that access rules refuse: the rule's name.
pub fn noted<'a>(event: Event<'a>, rule: Option<&'a str>) -> Event<'a> {
    match rule {
        Some(rule) => event.operation(RULE).target(rule),
        None => event.operation(MODE),
    }
}

/// The line of something that they let through: the rule's name, where one was needed.
pub fn let_in<'a>(event: Event<'a>, rule: Option<&'a str>) -> Event<'a> {
    match rule {
        Some(rule) => event.target(rule),
        None => event,
    }
}

/// Whether a token may be issued, and the rule that let it through. To be asked before anything is
/// committed. `person`: the token's, as the directory has them now.
///
/// # Errors
/// As the grant's specification says it: `access_denied` to a device (RFC 8628 section 3.5),
/// `unauthorized_client` to a client for itself and `invalid_grant` for a grant (RFC 6749 section
/// 5.2), `invalid_request` in an exchange (RFC 8693 section 2.2.2).
pub fn of_token(
    context: &Context,
    decision: &Decision,
    person: Option<&UserClaims>,
    grant_type: &str,
) -> Result<Option<String>, OAuthError> {
    let token = &decision.issue.access_token;
    let power = Power {
        sub: &token.sub,
        client_id: &token.client_id,
        scope: &token.scope,
        audience: &token.audience,
    };
    of_power(context, &power, person, grant_type)
}

/// What somebody gets.
pub struct Power<'a> {
    /// Of whom.
    pub sub: &'a str,
    /// The client that gets it.
    pub client_id: &'a str,
    /// What it is good for.
    pub scope: &'a ScopeSet,
    /// Where.
    pub audience: &'a [String],
}

/// As [`of_token`], of what is not a token of this issuer.
///
/// # Errors
/// As there.
pub fn of_power(
    context: &Context,
    power: &Power<'_>,
    person: Option<&UserClaims>,
    grant_type: &str,
) -> Result<Option<String>, OAuthError> {
    let snapshot = &context.snapshot;
    let access = snapshot.registry.access(snapshot.settings.access);
    if access.is_open() {
        return Ok(None);
    }
    let client = snapshot.registry.clients.get(power.client_id);
    // The application of a public client is where its person is, and a client that speaks for
    // itself is where it is.
    let is_there = person.is_none() || client.is_some_and(|client| client.is_public());
    let verdict = access.decide(&Question {
        person: person.map(|person| (person.sub.as_str(), &person.held)),
        client_id: power.client_id,
        scope: power.scope,
        audience: power.audience,
        origin: match is_there {
            true => Origin::Address(context.peer),
            false => Origin::Earlier,
        },
        // How the person logged in was asked then; a client for itself did not log in.
        classes: person.is_none().then_some(&[]),
        now: context.now(),
    });
    if verdict.allowed {
        return Ok(verdict.rule.map(str::to_owned));
    }
    let error = refusal(grant_type).with_hint(verdict.rule.unwrap_or("the mode of the realm"));
    let event = context
        .event(signet_audit::Action::ACCESS)
        .subject(power.sub)
        .client(power.client_id)
        .method(grant_type)
        .refused(error.code.as_str());
    context.realm.audit().record(noted(event, verdict.rule));
    Err(error)
}

fn refusal(grant_type: &str) -> OAuthError {
    const PERSON: &str = "an access rule does not let this person in";
    match GrantType::from_name(grant_type) {
        Some(GrantType::DeviceCode) => OAuthError::new(ErrorCode::AccessDenied, PERSON),
        Some(GrantType::ClientCredentials) => OAuthError::new(
            ErrorCode::UnauthorizedClient,
            "an access rule does not let this client in",
        ),
        Some(GrantType::TokenExchange) => OAuthError::new(ErrorCode::InvalidRequest, PERSON),
        Some(GrantType::AuthorizationCode | GrantType::RefreshToken) | None => {
            OAuthError::invalid_grant(PERSON)
        }
    }
}
