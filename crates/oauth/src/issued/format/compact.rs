//! Version 1 of the compact format, base64url on the wire.
//!
//! What a payload has a field for is in that field; every other claim is carried by its JWT name as
//! JSON text, so that both formats say the same. `expires_at` is the last second in which the token
//! lives, so it is `exp - 1`. A token has one audience.
use super::{Format, NotWritten, Stamp};
use crate::error::{ErrorCode, OAuthError};
use crate::id::write_jti;
use crate::issued::sealed;
use crate::issued::token_facts::{MAX_BYTES, VerifiedAccessToken};
use crate::people::mapped_claims::{Mapped, Room};
use crate::request::{IssuerKeys, IssuerSigners};
use crate::scope::{Scope, ScopeSet};
use crate::token::decision::AccessToken;
use signet_compact::{
    Claim, Claims, Confirmation, MAX_CLAIM_BYTES, MAX_CLAIMS, MAX_SCOPES, MAX_STRING_BYTES,
    Payload, Policy, Scopes, SignError, Token, Version,
};
use signet_encoding::{base64url, json::Writer};

pub(super) struct Compact;

/// The most that the scopes and named claims of one compact access token may take together, in
/// bytes: with the largest signature it stays within what requests may carry.
const MAX_SAID_BYTES: usize = 6144;

impl Format for Compact {
    /// A string of this length that parses as a canonical token and is none is not to be expected
    /// of sealed values, which look random.
    fn has_form(&self, token: &str) -> bool {
        decode(token).is_some_and(|bytes| Token::parse(&bytes).is_ok())
    }

    fn admits(&self, token: &AccessToken, issuer: &str) -> Result<(), OAuthError> {
        if token.audience.len() != 1 {
            return Err(OAuthError::new(
                ErrorCode::InvalidTarget,
                "a compact access token is for one resource: ask for one",
            ));
        }
        let claims = NamedClaims::of(token);
        let said: usize = claims.json.len() + token.scope.iter().map(str::len).sum::<usize>();
        let fits = token.scope.iter().count() <= MAX_SCOPES
            && said <= MAX_SAID_BYTES
            && [issuer, token.sub.as_str(), token.audience[0].as_str()]
                .iter()
                .all(|text| text.len() <= MAX_STRING_BYTES)
            && claims.longest() <= MAX_CLAIM_BYTES;
        match fits {
            true => Ok(()),
            false => Err(OAuthError::invalid_request(
                "the request asks for more than a compact access token can say",
            )),
        }
    }

    fn room(&self, token: &AccessToken) -> Room {
        let claims = NamedClaims::of(token);
        let said: usize = claims.json.len() + token.scope.iter().map(str::len).sum::<usize>();
        Room {
            one: MAX_CLAIM_BYTES,
            all: MAX_SAID_BYTES.saturating_sub(said),
            // One more names those that did not fit.
            count: MAX_CLAIMS - NAMES - 1,
        }
    }

    fn write(
        &self,
        token: &AccessToken,
        stamp: &Stamp<'_>,
        keys: &dyn IssuerSigners,
        out: &mut Vec<u8>,
    ) -> Result<(), NotWritten> {
        let key = keys.compact_signer().ok_or(NotWritten::NoKey)?;
        let [audience] = &token.audience[..] else {
            return Err(NotWritten::DoesNotFit);
        };
        let mut scopes: Vec<&str> = token.scope.iter().collect();
        scopes.sort_unstable();
        let named = NamedClaims::of(token);
        let mut claims = [Claim { name: "", json: "" }; MAX_CLAIMS];
        let claims = named.put(stamp.mapped, &mut claims);
        let claims = claims.ok_or(NotWritten::DoesNotFit)?;
        let mut thumbprint = [0; 32];
        let payload = Payload {
            expires_at: (stamp.now + token.lifetime).saturating_sub(1),
            issued_at: stamp.now,
            subject: &token.sub,
            audience,
            scopes: Scopes::new(&scopes).map_err(|_| NotWritten::DoesNotFit)?,
            issuer: stamp.issuer,
            token_id: Some(stamp.id.as_bytes()),
            confirmation: confirmation(token.confirmation.as_ref(), &mut thumbprint)?,
            claims: Claims::new(claims).map_err(|_| NotWritten::DoesNotFit)?,
            ..Payload::default()
        };
        let mut bytes = Vec::with_capacity(512);
        key.sign_into(Version::V1, &payload, &mut bytes)
            .map_err(|error| match error {
                SignError::Library | SignError::Proof | SignError::NoProver => NotWritten::Signing,
                SignError::Bounds(_)
                | SignError::Characters(_)
                | SignError::Order(_)
                | SignError::Version(_)
                | SignError::NoEnd => NotWritten::DoesNotFit,
            })?;
        base64url::encode_into(&bytes, out);
        Ok(())
    }

    fn read(&self, keys: &dyn IssuerKeys, token: &str) -> Option<VerifiedAccessToken> {
        let bytes = decode(token)?;
        let claimed = Token::parse(&bytes).ok()?;
        let policy = Policy {
            min_version: Version::V1,
            // Time and possession are judged at every use, for all formats in one place; here they
            // refuse nothing.
            leeway: u64::MAX,
            confirmation: claimed.unverified_payload().confirmation,
            ..Policy::any_audience(0)
        };
        let verified = keys.compact_keys()?.verify(&bytes, &policy).ok()?;
        facts(verified.payload())
    }
}

fn decode(token: &str) -> Option<Vec<u8>> {
    if token.len() > MAX_BYTES {
        return None;
    }
    base64url::decode(token.as_bytes()).ok()
}

/// The claims model from a payload whose signature held.
fn facts(payload: &Payload<'_>) -> Option<VerifiedAccessToken> {
    let mut facts = VerifiedAccessToken {
        issuer: payload.issuer.to_owned(),
        sub: payload.subject.to_owned(),
        audience: Some(payload.audience)
            .filter(|audience| !audience.is_empty())
            .map(str::to_owned)
            .into_iter()
            .collect(),
        exp: payload.expires_at.checked_add(1)?,
        iat: Some(payload.issued_at).filter(|issued_at| *issued_at != 0)?,
        jti: base64url::encode(payload.token_id?),
        scope: scope(&payload.scopes)?,
        confirmation: payload.confirmation.map(|confirmation| match confirmation {
            Confirmation::Jkt(hash) => sealed::Confirmation::Jkt(base64url::encode(hash)),
            Confirmation::X5tS256(hash) => sealed::Confirmation::X5tS256(base64url::encode(hash)),
        }),
        ..VerifiedAccessToken::default()
    };
    for claim in payload.claims.iter() {
        if claim.has_field() {
            return None;
        }
        facts.named_claim(claim.name, claim.json).ok()?;
    }
    facts.whole().ok()
}

fn scope(scopes: &Scopes<'_>) -> Option<ScopeSet> {
    let mut set = ScopeSet::default();
    for scope in scopes.iter() {
        set.insert(Scope::parse(scope).ok()?);
    }
    Some(set)
}

/// A thumbprint is the SHA-256 of a key or certificate.
fn confirmation<'a>(
    confirmation: Option<&sealed::Confirmation>,
    thumbprint: &'a mut [u8; 32],
) -> Result<Option<Confirmation<'a>>, NotWritten> {
    let mut decode = |text: &str| {
        *thumbprint =
            base64url::decode_array(text.as_bytes()).map_err(|_| NotWritten::DoesNotFit)?;
        Ok(())
    };
    match confirmation {
        None => Ok(None),
        Some(sealed::Confirmation::Jkt(text)) => {
            decode(text).map(|()| Some(Confirmation::Jkt(thumbprint)))
        }
        Some(sealed::Confirmation::X5tS256(text)) => {
            decode(text).map(|()| Some(Confirmation::X5tS256(thumbprint)))
        }
    }
}

/// How many claims a token can have by name.
const NAMES: usize = 11;

/// JSON text of the claims that have no field, ascending by name as the format wants them.
struct NamedClaims {
    json: Vec<u8>,
    claims: [(&'static str, usize); NAMES],
    count: usize,
}

impl NamedClaims {
    fn of(token: &AccessToken) -> NamedClaims {
        let mut named = NamedClaims {
            json: Vec::with_capacity(128),
            claims: [("", 0); NAMES],
            count: 0,
        };
        if let Some(acr) = &token.acr {
            named.add("acr", |w| w.string(acr));
        }
        if let Some(act) = &token.act {
            named.add("act", |w| w.raw(act.as_bytes()));
        }
        if let Some(chain) = &token.chain {
            let grants = chain.grants.iter().map(|id| base64url::encode(id));
            named.add("agent_grants", |w| w.strings(grants));
        }
        if !token.amr.is_empty() {
            named.add("amr", |w| w.strings(&token.amr));
        }
        if let Some(auth_time) = token.auth_time {
            named.add("auth_time", |w| w.number(auth_time));
        }
        if let Some(chain) = &token.chain {
            let details = chain.authorization_details.as_bytes();
            named.add("authorization_details", |w| w.raw(details));
        }
        if let Some(claims) = &token.claims {
            named.add("claims", |w| w.raw(claims.as_bytes()));
        }
        named.add("client_id", |w| w.string(&token.client_id));
        if let Some(grant_id) = &token.grant_id {
            named.add("grant_id", |w| w.base64url(grant_id.as_bytes()));
        }
        if let Some(sid) = &token.sid {
            named.add("sid", |w| w.string(sid));
        }
        if !token.subject_jtis.is_empty() {
            named.add("subject_jtis", |w| {
                w.strings(token.subject_jtis.iter().map(write_jti))
            });
        }
        named
    }

    fn add(&mut self, name: &'static str, write: impl FnOnce(&mut Writer<'_>)) {
        write(&mut Writer::new(&mut self.json));
        self.claims[self.count] = (name, self.json.len());
        self.count += 1;
    }

    fn parts(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let mut start = 0;
        self.claims[..self.count].iter().map(move |&(name, end)| {
            let json = &self.json[start..end];
            start = end;
            (name, json)
        })
    }

    fn longest(&self) -> usize {
        self.parts().map(|(_, json)| json.len()).max().unwrap_or(0)
    }

    /// With the mapped ones, ascending. None where there is no place for them, or the writer's JSON
    /// were not UTF-8, which it always is.
    fn put<'a>(
        &'a self,
        mapped: &'a Mapped,
        out: &'a mut [Claim<'a>; MAX_CLAIMS],
    ) -> Option<&'a [Claim<'a>]> {
        let mut count = 0;
        for (name, json) in self.parts().chain(mapped.members()) {
            *out.get_mut(count)? = Claim {
                name,
                json: std::str::from_utf8(json).ok()?,
            };
            count += 1;
        }
        let given = out.get_mut(..count)?;
        if !mapped.is_empty() {
            given.sort_unstable_by_key(|claim| claim.name.as_bytes());
        }
        Some(given)
    }
}
