//! Which claims about a person go where: scopes and the `claims` parameter (OpenID Connect Core
//! sections 5.3 to 5.5).
//!
//! In the code flow, scopes give the standard claims at userinfo only; the ID token gets the single
//! claims that were asked for there. A claim that the record has no value for is left out, never
//! null. What tables of claims add comes from [`crate::people::mapped_claims`].
pub use crate::people::standard_claims::{LOGIN_CLAIMS, SCOPE_CLAIMS, ScopeClaims};

use crate::client::Client;
use crate::error::{Challenge, ErrorCode, OAuthError};
use crate::issued::claims::{ClaimRequest, ClaimsRequest};
use crate::issued::session::UserClaims;
use crate::people::access_rules::{Access, Question};
use crate::people::mapped_claims::Mapped;
use crate::people::standard_claims;
use crate::registry::Registry;
use crate::scope::{OPENID, ScopeSet};
use crate::settings::Settings;
use crate::token::target;
use signet_encoding::json::Writer;

/// `claims_supported`: everything that can come out of this server about a person and a login,
/// where the client's own table says nothing else.
pub fn claims_supported(registry: &Registry) -> Vec<&str> {
    let mut names: Vec<&str> = LOGIN_CLAIMS
        .iter()
        .chain(SCOPE_CLAIMS.iter().flat_map(|s| s.claims))
        .copied()
        .collect();
    let published = registry.scopes.iter().filter(|scope| scope.published);
    for rule in published.flat_map(|scope| &scope.claims) {
        if !names.contains(&rule.name()) {
            names.push(rule.name());
        }
    }
    names
}

/// A userinfo request needs a token with `openid` (section 5.3.1).
///
/// # Errors
/// `insufficient_scope` with a Bearer challenge.
pub fn require_openid(scope: &ScopeSet) -> Result<(), OAuthError> {
    if scope.contains(OPENID) {
        Ok(())
    } else {
        Err(OAuthError::new(
            ErrorCode::InsufficientScope,
            "the access token lacks the scope openid",
        )
        .with_challenge(Challenge::Bearer))
    }
}

/// Userinfo is a resource of the issuer's own: a token that a person let a client have for another
/// resource server does not open it, whatever its scope (RFC 9068 section 4, RFC 8707 section 2).
/// Or that server could read the person's profile with it.
///
/// # Errors
/// `invalid_token` with a Bearer challenge where neither the issuer nor the default audience is in
/// `aud`.
pub fn require_audience(audience: &[String], settings: &Settings) -> Result<(), OAuthError> {
    let own = [settings.issuer.as_str(), target::default_audience(settings)];
    match audience.iter().any(|aud| own.contains(&aud.as_str())) {
        true => Ok(()),
        false => Err(OAuthError::new(
            ErrorCode::InvalidToken,
            "the access token is for another resource server",
        )
        .with_challenge(Challenge::Bearer)),
    }
}

/// The userinfo answer as JSON text: `sub`, the scopes' claims, the single ones, and the mapped
/// ones that are not among those. `signed_for`: (issuer, client_id) of an answer that will be
/// signed, which must say both (section 5.3.2).
pub fn userinfo_payload(
    user: &UserClaims,
    scope: &ScopeSet,
    claims: Option<&ClaimsRequest>,
    mut mapped: Mapped,
    signed_for: Option<(&str, &str)>,
) -> Vec<u8> {
    let mut out = Vec::with_capacity(512);
    let single = claims.map_or(&[][..], |c| &c.userinfo);
    let gives = |row: &ScopeClaims, claim: &str| {
        let asked = || single.iter().find(|c| c.name == claim);
        scope.contains(row.scope) || asked().is_some_and(|c| would_do(c, claim, user))
    };
    mapped.without(|name| {
        let row = SCOPE_CLAIMS.iter().find(|row| row.claims.contains(&name));
        row.is_some_and(|row| gives(row, name))
    });
    Writer::new(&mut out).object(|w| {
        if let Some((issuer, client_id)) = signed_for {
            w.member("iss").string(issuer);
            w.member("aud").string(client_id);
        }
        w.member("sub").string(&user.sub);
        for row in SCOPE_CLAIMS {
            for claim in row.claims.iter().filter(|claim| gives(row, claim)) {
                standard_claims::write(w, claim, user);
            }
        }
        mapped.write(w);
    });
    out
}

/// Writes the members that the `claims` parameter asked for in the ID token, but those of
/// [`LOGIN_CLAIMS`], which the issuer of the token writes itself; and the mapped ones that are not
/// among those.
pub fn write_id_token_claims(
    w: &mut Writer<'_>,
    user: &UserClaims,
    claims: Option<&ClaimsRequest>,
    mapped: &mut Mapped,
) {
    let single = claims.map_or(&[][..], |claims| &claims.id_token);
    let gives = |claim: &str| {
        let mut asked = single.iter().filter(|c| c.name == claim);
        standard_claims::is_standard(claim) && asked.any(|c| would_do(c, claim, user))
    };
    for claim in SCOPE_CLAIMS.iter().flat_map(|s| s.claims) {
        if gives(claim) {
            standard_claims::write(w, claim, user);
        }
    }
    mapped.without(gives);
    mapped.write(w);
}

/// The claims that are asked for singly, exist here for this client, and come with no granted
/// scope: what a consent page must name.
pub fn claims_beyond_scope(
    claims: &ClaimsRequest,
    scope: &ScopeSet,
    registry: &Registry,
    client: &Client,
) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (_, name) in scopes_beyond(claims, scope, registry, client) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The scopes that were not granted and answer a claim that is asked for singly, each with the
/// claim: what is asked for by the claim is what the scope protects.
pub fn scopes_beyond<'a>(
    claims: &'a ClaimsRequest,
    scope: &'a ScopeSet,
    registry: &'a Registry,
    client: &'a Client,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let standard = SCOPE_CLAIMS
        .iter()
        .filter(move |row| !scope.contains(row.scope))
        .flat_map(|row| row.claims.iter().map(move |claim| (row.scope, *claim)));
    let mapped = registry
        .scopes
        .iter()
        .filter(move |entry| !scope.contains(&entry.name) && client.scope.contains(&entry.name))
        .flat_map(|entry| {
            let rows = entry.claims.iter();
            rows.map(move |row| (entry.name.as_str(), row.name()))
        });
    let asked = move |(_, name): &(&str, &str)| claims.requests(name).next().is_some();
    standard.chain(mapped).filter(asked)
}

/// The `claims` parameter without what access rules deny. A claim is left out where they deny a
/// scope that answers it and was not granted: else the parameter would give what a rule keeps, in
/// another way. It is no error that a claim is left out (OpenID Connect Core section 5.5.1).
pub fn allowed_claims(
    claims: &ClaimsRequest,
    question: &Question<'_>,
    access: Access<'_>,
    registry: &Registry,
    client: &Client,
) -> ClaimsRequest {
    if access.is_open() {
        return claims.clone();
    }
    let denied = |scope: &str| {
        let Ok(scope) = ScopeSet::parse(scope) else {
            return true;
        };
        let question = Question {
            scope: &scope,
            ..*question
        };
        !access.decide(&question).allowed
    };
    let beyond = scopes_beyond(claims, question.scope, registry, client);
    let left_out: Vec<&str> = beyond
        .filter(|(scope, _)| denied(scope))
        .map(|(_, claim)| claim)
        .collect();
    claims.clone().without(&left_out)
}

/// Section 5.5.1: a claim that was asked for with values is given if its value is one of them.
fn would_do(request: &ClaimRequest, claim: &str, user: &UserClaims) -> bool {
    request.values.is_empty()
        || standard_claims::text(claim, user)
            .is_some_and(|value| request.values.iter().any(|v| v == value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alice() -> UserClaims {
        UserClaims {
            sub: "u1".into(),
            name: Some("Alice".into()),
            email: Some("alice@example.test".into()),
            email_verified: true,
            address: Some("1 Road".into()),
            updated_at: Some(7),
            ..UserClaims::default()
        }
    }
    fn answer(scope: &str, claims: &str) -> String {
        let claims = ClaimsRequest::parse(claims).unwrap();
        let scope = ScopeSet::parse(scope).unwrap();
        String::from_utf8(userinfo_payload(
            &alice(),
            &scope,
            Some(&claims),
            Mapped::default(),
            None,
        ))
        .unwrap()
    }

    #[test]
    fn userinfo_gives_what_the_scopes_give_and_no_more() {
        assert_eq!(answer("openid", "{}"), r#"{"sub":"u1"}"#);
        assert_eq!(
            answer("openid email address", "{}"),
            r#"{"sub":"u1","email":"alice@example.test","email_verified":true,"address":{"formatted":"1 Road"}}"#
        );
        assert_eq!(
            answer("openid profile phone", "{}"),
            r#"{"sub":"u1","name":"Alice","updated_at":7}"#
        );
    }

    #[test]
    fn single_claims_go_where_they_were_asked_for() {
        let claims = r#"{"userinfo":{"name":{"essential":true}},"id_token":{"email":null}}"#;
        assert_eq!(answer("openid", claims), r#"{"sub":"u1","name":"Alice"}"#);
        let parsed = ClaimsRequest::parse(claims).unwrap();
        let mut out = Vec::new();
        Writer::new(&mut out)
            .object(|w| write_id_token_claims(w, &alice(), Some(&parsed), &mut Mapped::default()));
        assert_eq!(out, br#"{"email":"alice@example.test"}"#);
        assert_eq!(
            claims_beyond_scope(
                &parsed,
                &ScopeSet::parse("openid email").unwrap(),
                &Registry::default(),
                &Client::new("c", 0)
            ),
            ["name"]
        );
    }

    #[test]
    fn a_claim_with_another_value_than_asked_for_is_left_out() {
        assert_eq!(
            answer("openid", r#"{"userinfo":{"name":{"value":"Bob"}}}"#),
            r#"{"sub":"u1"}"#
        );
    }

    #[test]
    fn a_signed_answer_names_issuer_and_audience() {
        let out = userinfo_payload(
            &alice(),
            &ScopeSet::EMPTY,
            None,
            Mapped::default(),
            Some(("i", "c")),
        );
        assert_eq!(out, br#"{"iss":"i","aud":"c","sub":"u1"}"#);
    }

    #[test]
    fn userinfo_needs_openid() {
        let error = require_openid(&ScopeSet::parse("email").unwrap()).unwrap_err();
        assert_eq!(error.status(), 403);
    }

    #[test]
    fn a_token_for_another_resource_server_does_not_open_userinfo() {
        let mut settings = Settings::new("https://as.example");
        let code = |settings: &Settings, audience: &[&str]| {
            let audience: Vec<String> = audience.iter().map(|&aud| aud.to_owned()).collect();
            require_audience(&audience, settings).map_err(|error| error.code)
        };
        let api = "https://api.example";
        assert_eq!(code(&settings, &["https://as.example"]), Ok(()));
        assert_eq!(code(&settings, &[api, "https://as.example"]), Ok(()));
        assert_eq!(code(&settings, &[api]), Err(ErrorCode::InvalidToken));
        settings.default_audience = Some("https://default.example".into());
        assert_eq!(code(&settings, &["https://default.example"]), Ok(()));
        assert_eq!(code(&settings, &[api]), Err(ErrorCode::InvalidToken));
    }
}
