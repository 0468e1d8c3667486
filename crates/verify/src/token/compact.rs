//! Compact tokens under the same policies: checked by signet-compact, then described by claims of
//! the same names as a JWT's.

use crate::token::claim_checks;
use crate::verifier::{Active, Checked, usable};
use crate::{Claims, Form, Policy, Refusal, Verified, Verifier};
use signet_compact::{Confirmation, KeySet, Token};
use signet_encoding::{base64url, json::Writer};

impl Verifier {
    pub(crate) fn check_compact(
        &self,
        active: &Active,
        keys: &KeySet,
        token: &str,
        now: u64,
    ) -> Result<Checked, Refusal> {
        let policy = &active.policy;
        let bytes = base64url::decode(token.as_bytes()).map_err(|_| Refusal::Malformed)?;
        let (json, form, identity) = verify(&bytes, keys, policy, now)?;
        let claims = Claims::parse(json, &self.limits).map_err(|_| Refusal::Claims)?;
        // A version 1 token names its issuer; a version 0 token is its key's owner's.
        let issuer = match claims.iss() {
            Some(iss) => {
                let of = |index: &&usize| self.issuers[**index].issuer.name == iss;
                let index = *active.issuers.iter().find(of).ok_or(Refusal::Issuer)?;
                if !self.issuers[index].is_enabled() {
                    return Err(Refusal::IssuerDisabled);
                }
                index
            }
            None => usize::MAX,
        };
        claim_checks::check_policy_of_compact(&claims, policy)?;
        claim_checks::check_freshness(&claims, policy, now)?;
        let verified = Verified::new(claims, policy.kind, form, token).with_identity(identity);
        Ok(Checked {
            verified,
            issuer,
            key: None,
            compact: None,
        })
    }

    /// Under the keys of the issuer that the token names. Its word is believed when a key of that
    /// very issuer made the signature.
    pub(crate) fn check_compact_of_issuer(
        &self,
        active: &Active,
        token: &str,
        now: u64,
    ) -> Result<Checked, Refusal> {
        let bytes = base64url::decode(token.as_bytes()).map_err(|_| Refusal::Malformed)?;
        let parsed = Token::parse(&bytes).map_err(refusal)?;
        let named = parsed.unverified_payload().issuer;
        // A version 0 token names none.
        if named.is_empty() {
            return Err(Refusal::MissingClaim);
        }
        let of = |index: &&usize| self.issuers[**index].issuer.name == named;
        let index = active.issuers.iter().find(of).ok_or(Refusal::Issuer)?;
        let issuer = &self.issuers[*index];
        usable(issuer, now)?;
        let unknown = || {
            issuer.want_keys();
            Refusal::UnknownKey
        };
        let keys = issuer.compact.load_full().ok_or_else(unknown)?;
        let checked = self
            .check_compact(active, &keys.set, token, now)
            .map_err(|refusal| match refusal {
                Refusal::UnknownKey => unknown(),
                other => other,
            })?;
        Ok(Checked {
            compact: Some(keys),
            ..checked
        })
    }
}

/// The claims as JSON, the form, and the name of the token.
fn verify(
    bytes: &[u8],
    keys: &KeySet,
    policy: &Policy,
    now: u64,
) -> Result<(Vec<u8>, Form, [u8; 32]), Refusal> {
    let parsed = Token::parse(bytes).map_err(refusal)?;
    // The binding is proven with the request, as a JWT's is; audiences, of which a policy may have
    // several, are compared there too.
    let demands = signet_compact::Policy {
        leeway: policy.leeway,
        confirmation: parsed.unverified_payload().confirmation,
        ..signet_compact::Policy::any_audience(now)
    };
    let verified = keys.verify(bytes, &demands).map_err(refusal)?;
    let payload = verified.payload();
    // Each value must be one JSON value by itself, or its text could close the object around it;
    // and what has a field is not said twice.
    let limits = signet_encoding::json::Limits::default();
    let is_value = |text: &str| signet_encoding::json::parse(text.as_bytes(), &limits).is_ok();
    let is_good = |claim: signet_compact::Claim<'_>| !claim.has_field() && is_value(claim.json);
    // Scopes are joined by spaces below: a space within one (version 0 allows any text) would make
    // two of it.
    if !payload.claims.iter().all(is_good) || !payload.scopes.are_tokens() {
        return Err(Refusal::Claims);
    }
    let mut json = Vec::with_capacity(256);
    Writer::new(&mut json).object(|w| {
        if !payload.issuer.is_empty() {
            w.member("iss").string(payload.issuer);
        }
        if !payload.subject.is_empty() {
            w.member("sub").string(payload.subject);
        }
        if !payload.audience.is_empty() {
            w.member("aud").string(payload.audience);
        }
        // The last second in which a compact token is valid is the one before a JWT's end.
        w.member("exp")
            .number(payload.expires_at.saturating_add(1).min(i64::MAX as u64));
        if payload.not_before > 0 {
            w.member("nbf").number(payload.not_before);
        }
        if payload.issued_at > 0 {
            w.member("iat").number(payload.issued_at);
        }
        if !payload.scopes.is_empty() {
            let scopes: Vec<&str> = payload.scopes.iter().collect();
            w.member("scope").string(&scopes.join(" "));
        }
        if let Some(id) = payload.token_id {
            w.member("jti").base64url(id);
        }
        match payload.confirmation {
            Some(Confirmation::Jkt(key)) => {
                w.member("cnf").object(|w| w.member("jkt").base64url(key));
            }
            Some(Confirmation::X5tS256(certificate)) => {
                w.member("cnf")
                    .object(|w| w.member("x5t#S256").base64url(certificate));
            }
            None => {}
        }
        // `client_id`, `sid`, `grant_id` and the like stand where a JWT has them; none of them is
        // one of those above.
        for claim in payload.claims.iter() {
            w.member(claim.name).raw(claim.json.as_bytes());
        }
    });
    let identity = signet_crypto::hash::sha256(verified.token().payload_bytes());
    Ok((json, Form::Compact(parsed.algorithm()), identity))
}

fn refusal(refusal: signet_compact::Refusal) -> Refusal {
    use signet_compact::Refusal as Compact;
    match refusal {
        Compact::TooLarge => Refusal::TooLarge,
        Compact::NoKey => Refusal::UnknownKey,
        Compact::Signature => Refusal::Signature,
        Compact::Expired => Refusal::Expired,
        Compact::NotYetValid => Refusal::NotYetValid,
        Compact::Audience => Refusal::Audience,
        Compact::Issuer => Refusal::Issuer,
        Compact::Scope => Refusal::Scope,
        Compact::Confirmation => Refusal::UnknownConfirmation,
        Compact::NotCanonical
        | Compact::Bounds
        | Compact::Characters
        | Compact::Unknown
        | Compact::Shape
        | Compact::Certificate => Refusal::Malformed,
    }
}
