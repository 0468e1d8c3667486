//! `WWW-Authenticate`: what a refused request receives, exactly as RFC 6750, RFC 9449 and RFC 9470
//! write it.

use crate::{Answer, Binding, Policy, Refusal, Scheme};
use signet_jose::dpop::PROOF_ALGORITHMS;

/// A challenge under a policy. Its text never repeats anything that a peer sent.
#[derive(Clone, Copy, Debug)]
pub struct Challenge<'a> {
    policy: &'a Policy,
    refusal: Refusal,
    scope: Option<&'a str>,
    dpop: bool,
}

impl<'a> Challenge<'a> {
    /// The challenge for a refusal. `scheme`: what the token came with, if it came.
    pub fn new(policy: &'a Policy, refusal: Refusal, scheme: Option<Scheme>) -> Challenge<'a> {
        let about_proof = matches!(
            refusal.answer(),
            Answer::InvalidDpopProof | Answer::UseDpopNonce
        ) || refusal == Refusal::ProofKey;
        Challenge {
            policy,
            refusal,
            scope: None,
            // RFC 9449 section 7.1: the scheme of the challenge is the one that would work.
            dpop: policy.binding == Binding::Dpop || scheme == Some(Scheme::Dpop) || about_proof,
        }
    }

    /// With the scope that the request needs, where it was not the policy that demanded it.
    #[must_use]
    pub fn scope(mut self, scope: &'a str) -> Challenge<'a> {
        self.scope = Some(scope);
        self
    }

    /// The HTTP status that goes with it.
    pub fn status(&self) -> u16 {
        self.refusal.answer().status()
    }

    /// The value of the header field; none where the fault is not the request's.
    pub fn header(&self) -> Option<String> {
        let answer = self.refusal.answer();
        if answer == Answer::Unavailable {
            return None;
        }
        let mut text = String::with_capacity(96);
        text.push_str(if self.dpop { "DPoP" } else { "Bearer" });
        let mut separator = ' ';
        let mut parameter = |name: &str, value: &str| {
            if separator == ',' {
                text.push(',');
            }
            text.push(' ');
            separator = ',';
            text.push_str(name);
            text.push_str("=\"");
            // RFC 6750 section 3 allows these characters and no others; the values are the
            // operator's.
            let allowed = |c: &char| matches!(c, ' ' | '!' | '#'..='[' | ']'..='~');
            text.extend(value.chars().filter(allowed));
            text.push('"');
        };
        if !self.policy.realm.is_empty() {
            parameter("realm", &self.policy.realm);
        }
        // RFC 6750 section 3.1: no error code where the request had no token.
        if let Some(error) = answer.error() {
            parameter("error", error);
            parameter("error_description", public(answer));
        }
        if answer == Answer::InsufficientScope {
            match self.scope {
                Some(scope) => parameter("scope", scope),
                None if self.policy.scopes.is_empty() => {}
                None => parameter("scope", &self.policy.scopes.join(" ")),
            }
        }
        // RFC 9470 section 3.
        if answer == Answer::InsufficientUserAuthentication {
            if !self.policy.acr.is_empty() {
                parameter("acr_values", &self.policy.acr.join(" "));
            }
            if let Some(age) = self.policy.auth_max_age {
                parameter("max_age", &age.to_string());
            }
        }
        if self.dpop {
            parameter("algs", PROOF_ALGORITHMS);
        }
        Some(text)
    }
}

/// One sentence for each answer and not for each reason (known fault V16).
pub(crate) fn public(answer: Answer) -> &'static str {
    match answer {
        Answer::Unauthenticated | Answer::Unavailable => "",
        Answer::InvalidRequest => "the request carries its token in an unexpected way",
        Answer::InvalidToken => "the token is not valid here",
        Answer::InsufficientScope => "the token lacks a scope",
        Answer::InsufficientUserAuthentication => "a different authentication is required",
        Answer::UseDpopNonce => "the DPoP proof must carry the nonce of this answer",
        Answer::InvalidDpopProof => "the DPoP proof is not valid for this request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(policy: &Policy, refusal: Refusal, scheme: Option<Scheme>) -> Option<String> {
        Challenge::new(policy, refusal, scheme).header()
    }

    #[test]
    fn a_request_without_a_token_gets_a_bare_challenge() {
        let policy = Policy::access_token("a");
        assert_eq!(
            header(&policy, Refusal::NoToken, None).as_deref(),
            Some("Bearer")
        );
        let policy = policy.realm("orders");
        assert_eq!(
            header(&policy, Refusal::NoToken, None).as_deref(),
            Some("Bearer realm=\"orders\"")
        );
    }

    #[test]
    fn all_reasons_of_an_invalid_token_look_alike_from_outside() {
        let policy = Policy::access_token("a");
        let expected =
            "Bearer error=\"invalid_token\", error_description=\"the token is not valid here\"";
        for refusal in [
            Refusal::Signature,
            Refusal::Expired,
            Refusal::Audience,
            Refusal::UnknownKey,
        ] {
            assert_eq!(
                header(&policy, refusal, Some(Scheme::Bearer)).as_deref(),
                Some(expected)
            );
        }
    }

    #[test]
    fn a_missing_scope_and_a_weak_authentication_say_what_is_needed() {
        let policy = Policy::access_token("a")
            .scope("read")
            .scope("write")
            .acr("mfa")
            .acr("hw\"k")
            .authentication_max_age(300);
        let text = header(&policy, Refusal::Scope, None).unwrap();
        assert!(text.ends_with("error=\"insufficient_scope\", error_description=\"the token lacks a scope\", scope=\"read write\""), "{text}");
        let text = header(&policy, Refusal::AuthenticationAge, None).unwrap();
        assert!(
            text.contains("error=\"insufficient_user_authentication\""),
            "{text}"
        );
        assert!(
            text.ends_with("acr_values=\"mfa hwk\", max_age=\"300\""),
            "{text}"
        );
    }

    #[test]
    fn a_proof_that_does_not_hold_is_challenged_with_dpop() {
        let policy = Policy::access_token("a");
        let text = header(&policy, Refusal::Proof, Some(Scheme::Dpop)).unwrap();
        assert!(
            text.starts_with("DPoP error=\"invalid_dpop_proof\""),
            "{text}"
        );
        assert!(text.contains("algs=\"ES256 "), "{text}");
        // A client with a post-quantum key reads here that its proof will do.
        for name in ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"] {
            assert!(text.contains(name), "{text}");
        }
        assert_eq!(header(&policy, Refusal::KeysUnavailable, None), None);
    }
}
