//! The claims of an access token as JSON, and the members that other answers about it share.
use super::Stamp;
use crate::id::write_jti;
use crate::issued::sealed::Confirmation;
use crate::token::decision::AccessToken;
use signet_encoding::base64url;
use signet_encoding::json::Writer;

/// Appends the claims of an RFC 9068 access token.
pub fn write_access_token(token: &AccessToken, stamp: &Stamp<'_>, out: &mut Vec<u8>) {
    let now = stamp.now;
    Writer::new(out).object(|w| {
        w.member("iss").string(stamp.issuer);
        w.member("sub").string(&token.sub);
        match &token.audience[..] {
            [one] => w.member("aud").string(one),
            several => w.member("aud").strings(several),
        }
        w.member("exp").number(now + token.lifetime);
        w.member("iat").number(now);
        w.member("jti").string(&stamp.jti());
        w.member("client_id").string(&token.client_id);
        if !token.scope.is_empty() {
            w.member("scope").string(&token.scope.to_string());
        }
        if let Some(auth_time) = token.auth_time {
            w.member("auth_time").number(auth_time);
        }
        if let Some(acr) = &token.acr {
            w.member("acr").string(acr);
        }
        if !token.amr.is_empty() {
            w.member("amr").strings(&token.amr);
        }
        write_confirmation(token.confirmation.as_ref(), w);
        if let Some(act) = &token.act {
            w.member("act").raw(act.as_bytes());
        }
        if !token.subject_jtis.is_empty() {
            w.member("subject_jtis")
                .strings(token.subject_jtis.iter().map(write_jti));
        }
        if let Some(sid) = &token.sid {
            w.member("sid").string(sid);
        }
        if let Some(grant_id) = &token.grant_id {
            w.member("grant_id").base64url(grant_id.as_bytes());
        }
        if let Some(claims) = &token.claims {
            w.member("claims").raw(claims.as_bytes());
        }
        if let Some(chain) = &token.chain {
            let details = chain.authorization_details.as_bytes();
            w.member("authorization_details").raw(details);
            write_agent_grants(&chain.grants, w);
        }
        stamp.mapped.write(w);
    });
}

/// `agent_grants`, where there are any.
pub(crate) fn write_agent_grants(grants: &[[u8; 32]], w: &mut Writer<'_>) {
    if !grants.is_empty() {
        w.member("agent_grants")
            .strings(grants.iter().map(|id| base64url::encode(id)));
    }
}

/// `token_type`: only a DPoP key changes it (RFC 9449 section 5); a certificate-bound token stays
/// `Bearer` (RFC 8705 section 3).
pub(crate) fn token_type(confirmation: Option<&Confirmation>) -> &'static str {
    match confirmation {
        Some(Confirmation::Jkt(_)) => "DPoP",
        _ => "Bearer",
    }
}

/// `cnf` (RFC 7800), where there is one.
pub(crate) fn write_confirmation(confirmation: Option<&Confirmation>, w: &mut Writer<'_>) {
    let (name, value) = match confirmation {
        None => return,
        Some(Confirmation::Jkt(value)) => ("jkt", value),
        Some(Confirmation::X5tS256(value)) => ("x5t#S256", value),
    };
    w.member("cnf").object(|w| w.member(name).string(value));
}
