//! What an access token of this issuer says, read from claims whose signature held.
//!
//! One model for every [format](crate::issued::format). Who issued it, and whether it has expired
//! or was revoked, is judged by [`crate::issued::access_token`].
use crate::id::{GrantId, Jti, read_jti};
use crate::issued::sealed::Confirmation;
use crate::scope::ScopeSet;
use crate::token::decision::RevocationQuery;
use signet_encoding::base64url;
use signet_encoding::json::{JsonError, Kind, Limits, Reader};

/// Longest token that is looked at, in bytes.
pub const MAX_BYTES: usize = 16 * 1024;
/// How deep `act` may nest: actors behind actors.
pub const MAX_ACT_DEPTH: usize = 8;

/// The claims of an access token that this issuer signed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VerifiedAccessToken {
    /// `iss`
    pub issuer: String,
    /// `sub`
    pub sub: String,
    /// `aud`
    pub audience: Vec<String>,
    /// `exp`, Unix seconds
    pub exp: u64,
    /// `iat`, Unix seconds
    pub iat: u64,
    /// `jti`
    pub jti: String,
    /// `client_id`
    pub client_id: String,
    /// `scope`
    pub scope: ScopeSet,
    /// `auth_time`, Unix seconds
    pub auth_time: Option<u64>,
    /// `acr`
    pub acr: Option<String>,
    /// `amr`
    pub amr: Vec<String>,
    /// `cnf`
    pub confirmation: Option<Confirmation>,
    /// `act`, checked JSON (RFC 8693 section 4.1)
    pub act: Option<String>,
    /// the `sub` of every actor in `act`, the present one first
    pub actors: Vec<String>,
    /// `subject_jtis`: the ids of the tokens that it was exchanged from, the latest first
    pub subject_jtis: Vec<Jti>,
    /// `agent_grants`: the ids of all grants of the agent chain that it was made from
    pub agent_grants: Vec<[u8; 32]>,
    /// `authorization_details`, an array (RFC 9396 section 9.1)
    pub authorization_details: Option<String>,
    /// `may_act` (RFC 8693 section 4.4)
    pub may_act: Option<MayAct>,
    /// `sid`
    pub sid: Option<String>,
    /// `grant_id`
    pub grant_id: Option<GrantId>,
    /// the `claims` request parameter, for userinfo
    pub claims: Option<String>,
}

/// Who may act for the subject; every member that is there must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MayAct {
    /// the actor's `sub`
    pub sub: Option<String>,
    /// the actor's client
    pub client_id: Option<String>,
    /// a member that is not understood: nobody matches
    pub unknown: bool,
}

impl VerifiedAccessToken {
    /// Reads the payload of a token whose signature held. A required claim that is missing or of
    /// another type refuses it (RFC 9068 section 2.2).
    pub fn parse(payload: &[u8]) -> Result<Self, JsonError> {
        let mut facts = VerifiedAccessToken::default();
        let (mut exp, mut iat) = (None, None);
        let limits = Limits {
            bytes: MAX_BYTES,
            ..Limits::default()
        };
        let mut reader = Reader::new(payload, &limits)?;
        reader.object(|r, name| -> Result<(), JsonError> {
            match &*name {
                "iss" => facts.issuer = r.string()?.into_owned(),
                "sub" => facts.sub = r.string()?.into_owned(),
                "aud" => {
                    facts.audience = match r.kind()? {
                        Kind::Array => r
                            .strings()?
                            .into_iter()
                            .map(|aud| aud.into_owned())
                            .collect(),
                        Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Object => {
                            vec![r.string()?.into_owned()]
                        }
                    }
                }
                "exp" => exp = Some(r.numeric_date()?),
                "iat" => iat = Some(r.numeric_date()?),
                "jti" => facts.jti = r.string()?.into_owned(),
                "scope" => {
                    facts.scope = ScopeSet::parse(&r.string()?).map_err(|_| JsonError::Type)?
                }
                "cnf" => facts.confirmation = Some(confirmation(r)?),
                _ => facts.claim(&name, r)?,
            }
            Ok(())
        })?;
        reader.finish()?;
        facts.exp = exp.ok_or(JsonError::Type)?;
        facts.iat = iat.ok_or(JsonError::Type)?;
        facts.whole()
    }

    /// One claim by its name, where it is one that no format has a field for. What is not known is
    /// skipped.
    fn claim(&mut self, name: &str, r: &mut Reader<'_>) -> Result<(), JsonError> {
        match name {
            "client_id" => self.client_id = r.string()?.into_owned(),
            "auth_time" => self.auth_time = Some(r.numeric_date()?),
            "acr" => self.acr = Some(r.string()?.into_owned()),
            "amr" => {
                self.amr = r
                    .strings()?
                    .into_iter()
                    .map(|amr| amr.into_owned())
                    .collect()
            }
            "act" => {
                let act = r.raw()?;
                if !act.starts_with('{') {
                    return Err(JsonError::Type);
                }
                self.actors = actors(act)?;
                self.act = Some(act.to_owned());
            }
            "subject_jtis" => {
                let ids = r.strings()?.into_iter().map(|id| read_jti(&id));
                self.subject_jtis = ids.collect::<Option<_>>().ok_or(JsonError::Type)?;
            }
            "agent_grants" => {
                for id in r.strings()? {
                    let id = base64url::decode(id.as_bytes()).map_err(|_| JsonError::Type)?;
                    self.agent_grants
                        .push(id.try_into().map_err(|_| JsonError::Type)?);
                }
            }
            "authorization_details" => {
                let details = r.raw()?;
                if !details.starts_with('[') {
                    return Err(JsonError::Type);
                }
                self.authorization_details = Some(details.to_owned());
            }
            "may_act" => self.may_act = Some(may_act(r)?),
            "sid" => self.sid = Some(r.string()?.into_owned()),
            "grant_id" => {
                let bytes =
                    base64url::decode(r.string()?.as_bytes()).map_err(|_| JsonError::Type)?;
                self.grant_id = Some(GrantId::from_slice(&bytes).ok_or(JsonError::Type)?);
            }
            "claims" => self.claims = Some(r.raw()?.to_owned()),
            _ => r.skip()?,
        }
        Ok(())
    }

    /// One claim of a format that carries it as JSON text beside its fields.
    pub(crate) fn named_claim(&mut self, name: &str, json: &str) -> Result<(), JsonError> {
        let mut reader = Reader::new(json.as_bytes(), &Limits::default())?;
        self.claim(name, &mut reader)?;
        reader.finish()
    }

    /// Itself, if everything is there that an access token must say (RFC 9068 section 2.2).
    pub(crate) fn whole(self) -> Result<Self, JsonError> {
        let whole = [&self.issuer, &self.sub, &self.jti, &self.client_id]
            .iter()
            .all(|claim| !claim.is_empty());
        match whole && !self.audience.is_empty() {
            true => Ok(self),
            false => Err(JsonError::Type),
        }
    }

    /// The person; none for a client's own token.
    pub fn user_id(&self) -> Option<&str> {
        (self.sub != self.client_id).then_some(&self.sub)
    }
    /// When it was issued, in milliseconds: the first six bytes of `jti`.
    pub fn issued_at_ms(&self) -> u64 {
        jti_time_ms(&self.jti).unwrap_or(self.iat.saturating_mul(1000))
    }
    /// What the revocation index is asked about. None where the token's id is no id of ours: it
    /// cannot be looked up, so nobody can say that it was not revoked (known fault A7).
    pub fn revocation_query(&self) -> Option<RevocationQuery<'_>> {
        Some(RevocationQuery {
            jti: Some(read_jti(&self.jti)?),
            subject_jtis: &self.subject_jtis,
            issued_at_ms: self.issued_at_ms(),
            grant_id: self.grant_id,
            sid: self.sid.as_deref(),
            user_id: self.user_id(),
            client_id: Some(&self.client_id),
            agent_grants: &self.agent_grants,
            agents: &self.actors,
        })
    }
}

/// The time inside an access token's id, in milliseconds.
pub fn jti_time_ms(jti: &str) -> Option<u64> {
    Some(read_jti(jti)?.issued_ms())
}

fn confirmation(r: &mut Reader<'_>) -> Result<Confirmation, JsonError> {
    let mut found = None;
    let mut members = 0;
    r.object(|r, name| -> Result<(), JsonError> {
        members += 1;
        match &*name {
            "jkt" => found = Some(Confirmation::Jkt(r.string()?.into_owned())),
            "x5t#S256" => found = Some(Confirmation::X5tS256(r.string()?.into_owned())),
            _ => {}
        }
        Ok(())
    })?;
    // A confirmation that is not understood must not turn into a bearer token (known fault V11).
    match (found, members) {
        (Some(found), 1) => Ok(found),
        _ => Err(JsonError::Type),
    }
}

/// Each `sub` of an `act`, from the outside in (RFC 8693 section 4.1).
fn actors(act: &str) -> Result<Vec<String>, JsonError> {
    fn walk(r: &mut Reader<'_>, found: &mut Vec<String>) -> Result<(), JsonError> {
        let at = found.len();
        r.object(|r, name| -> Result<(), JsonError> {
            match &*name {
                // Whichever member came first: the outer actor stands before the inner ones.
                "sub" => found.insert(at, r.string()?.into_owned()),
                // The reader bounds the depth.
                "act" => walk(r, found)?,
                _ => r.skip()?,
            }
            Ok(())
        })
    }
    let mut found = Vec::new();
    let mut reader = Reader::new(act.as_bytes(), &Limits::default())?;
    walk(&mut reader, &mut found)?;
    reader.finish()?;
    Ok(found)
}

fn may_act(r: &mut Reader<'_>) -> Result<MayAct, JsonError> {
    let mut may_act = MayAct::default();
    r.object(|r, name| -> Result<(), JsonError> {
        match &*name {
            "sub" => may_act.sub = Some(r.string()?.into_owned()),
            "client_id" => may_act.client_id = Some(r.string()?.into_owned()),
            _ => may_act.unknown = true,
        }
        Ok(())
    })?;
    Ok(may_act)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str =
        r#"{"iss":"i","sub":"s","aud":"a","exp":2,"iat":1,"jti":"j","client_id":"c"}"#;

    #[test]
    fn required_claims_and_their_types_are_required() {
        assert!(VerifiedAccessToken::parse(GOOD.as_bytes()).is_ok());
        for (from, to) in [
            (r#""iss":"i","#, ""),
            (r#""sub":"s","#, ""),
            (r#""aud":"a","#, ""),
            (r#""exp":2,"#, ""),
            (r#""iat":1,"#, ""),
            (r#""jti":"j","#, ""),
            (r#","client_id":"c""#, ""),
            (r#""sub":"s""#, r#""sub":1"#),
            (r#""sub":"s""#, r#""sub":"""#),
            (r#""aud":"a""#, r#""aud":[]"#),
            (r#""aud":"a""#, r#""aud":["a",1]"#),
            (r#""exp":2"#, r#""exp":"2""#),
            (r#""exp":2"#, r#""exp":2,"exp":3"#),
            (r#""exp":2"#, r#""exp":2,"act":[]"#),
            (r#""exp":2"#, r#""exp":2,"act":{"sub":1}"#),
            (r#""exp":2"#, r#""exp":2,"grant_id":"AAAA""#),
            (r#""exp":2"#, r#""exp":2,"agent_grants":"AAAA""#),
            (r#""exp":2"#, r#""exp":2,"agent_grants":["AAAA"]"#),
            (r#""exp":2"#, r#""exp":2,"agent_grants":[1]"#),
        ] {
            let bad = GOOD.replace(from, to);
            assert_ne!(bad, GOOD);
            assert!(VerifiedAccessToken::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn every_actor_and_every_grant_of_the_chain_can_be_revoked() {
        let id = base64url::encode(&[7; 32]);
        let token = GOOD.replace(
            r#""iat":1"#,
            &format!(
                r#""iat":1,"agent_grants":["{id}"],"act":{{"act":{{"sub":"inner","iss":"x"}},"sub":"outer"}}"#
            ),
        );
        let mut facts = VerifiedAccessToken::parse(token.as_bytes()).unwrap();
        // Known fault A7: what cannot be looked up is never called unrevoked.
        assert_eq!(facts.revocation_query(), None);
        facts.jti = base64url::encode(&[1; 16]);
        assert_eq!(facts.revocation_query().unwrap().agent_grants, [[7; 32]]);
        assert_eq!(facts.revocation_query().unwrap().agents, ["outer", "inner"]);
    }

    /// A confirmation that this version does not know must not turn into a bearer token.
    #[test]
    fn an_unknown_confirmation_refuses_the_token() {
        for cnf in [
            r#"{"kid":"x"}"#,
            "{}",
            r#"{"jkt":"x","x5t#S256":"y"}"#,
            r#""x""#,
        ] {
            let bad = GOOD.replace(r#""iat":1"#, &format!(r#""iat":1,"cnf":{cnf}"#));
            assert!(VerifiedAccessToken::parse(bad.as_bytes()).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_id_without_a_time_falls_back_to_iat() {
        assert_eq!(
            VerifiedAccessToken::parse(GOOD.as_bytes())
                .unwrap()
                .issued_at_ms(),
            1000
        );
        assert_eq!(jti_time_ms("not base64url of sixteen bytes"), None);
    }

    proptest! {
        #[test]
        fn parsing_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = VerifiedAccessToken::parse(&bytes);
        }
        #[test]
        fn a_damaged_payload_never_panics(at in 0..GOOD.len(), byte: u8) {
            let mut bytes = GOOD.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = VerifiedAccessToken::parse(&bytes);
        }
    }
}
