//! What a compact token says, as JSON.

use serde_json::{Map, Value, json};
use signet_compact::{Confirmation, Token, Version};
use signet_encoding::base64url;

use super::{Failure, Output, output};

/// Prints what a token says: anybody can write it.
///
/// # Errors
/// Exit 1 for what is no compact token.
pub fn inspect(text: &str, output: &Output) -> Result<(), Failure> {
    let refused = |why: &dyn std::fmt::Display| {
        Failure::no("invalid_token", format!("not a compact token: {why}"))
    };
    let bytes = base64url::decode(text.as_bytes()).map_err(|e| refused(&e))?;
    let token = Token::parse(&bytes).map_err(|e| refused(&e))?;
    let claims = claims_of(&token)?;
    if !output.json {
        output::note("a compact token, not verified: anybody can write this");
    }
    let answer = json!({ "verified": false, "format": "compact", "claims": claims });
    output.print(&answer, || {
        let mut text = output::pretty(&Value::Object(claims.clone()));
        for (name, label) in [
            ("issued_at", "issued"),
            ("not_before", "valid from"),
            ("expires_at", "valid until"),
        ] {
            if let Some(at) = claims.get(name).and_then(Value::as_u64) {
                text.push_str(&format!("\n{label}: {}", output::date(at)));
            }
        }
        text
    })
}

/// Whether a text is a compact token, by its form.
pub fn is_compact(text: &str) -> bool {
    base64url::decode(text.as_bytes()).is_ok_and(|bytes| Token::parse(&bytes).is_ok())
}

/// The claims by the names of the format; times that are unset are left out.
pub fn claims_of(token: &Token<'_>) -> Result<Map<String, Value>, Failure> {
    let payload = token.unverified_payload();
    let (kind, key_id) = token.key_id();
    let mut claims = Map::new();
    let mut put = |name: &str, value: Value| claims.insert(name.into(), value);
    put("version", u32::from(token.version() == Version::V1).into());
    put("algorithm", token.algorithm().name().into());
    put("key_id_type", kind.number().into());
    put("key_id", base64url::encode(key_id).into());
    put("expires_at", payload.expires_at.into());
    if payload.not_before != 0 {
        put("not_before", payload.not_before.into());
    }
    if payload.issued_at != 0 {
        put("issued_at", payload.issued_at.into());
    }
    put("subject", payload.subject.into());
    put("audience", payload.audience.into());
    put("scope", payload.scopes.iter().collect::<Vec<_>>().into());
    if !payload.issuer.is_empty() {
        put("issuer", payload.issuer.into());
    }
    if let Some(id) = payload.token_id {
        put("token_id", base64url::encode(id).into());
    }
    match payload.confirmation {
        Some(Confirmation::Jkt(jkt)) => {
            put("confirmation", json!({ "jkt": base64url::encode(jkt) }))
        }
        Some(Confirmation::X5tS256(x5t)) => put(
            "confirmation",
            json!({ "x5t#S256": base64url::encode(x5t) }),
        ),
        None => None,
    };
    if let Some(id) = payload.certificate {
        put("certificate", base64url::encode(id).into());
    }
    if !payload.claims.is_empty() {
        let mut named = Map::new();
        for claim in payload.claims.iter() {
            let value = serde_json::from_str(claim.json).map_err(|e| {
                Failure::no(
                    "invalid_token",
                    format!("the claim {} is not JSON: {e}", claim.name),
                )
            })?;
            named.insert(claim.name.into(), value);
        }
        put("claims", Value::Object(named));
    }
    Ok(claims)
}
