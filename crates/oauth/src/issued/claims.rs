//! The `claims` request parameter (OpenID Connect Core section 5.5), strictly.
//!
//! Members other than `userinfo` and `id_token`, and members of a claim's request other than
//! `essential`, `value` and `values`, are not understood and so ignored (section 5.5); what is
//! understood must have its type.
use crate::error::OAuthError;
use signet_encoding::json::{self, Limits, Object, Value, Writer};

/// The longest `claims` parameter, in bytes.
pub const MAX_CLAIMS_BYTES: usize = 8 * 1024;
const LIMITS: Limits = Limits {
    bytes: MAX_CLAIMS_BYTES,
    depth: 6,
    // How many claims there are is the realm's: its length bounds a request.
    members: MAX_CLAIMS_BYTES / 8,
};

/// A checked `claims` parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimsRequest {
    /// for the userinfo answer
    pub userinfo: Vec<ClaimRequest>,
    /// for the ID token
    pub id_token: Vec<ClaimRequest>,
}

/// One claim that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// its name
    pub name: String,
    /// the task cannot go on smoothly without it
    pub essential: bool,
    /// the values that would do, best first, where they are strings; empty: any
    pub values: Vec<String>,
}

impl ClaimsRequest {
    /// Reads the parameter.
    ///
    /// # Errors
    /// `invalid_request` for malformed JSON, doubles, wrong types, or beyond the bounds.
    pub fn parse(text: &str) -> Result<ClaimsRequest, OAuthError> {
        Self::read(text).ok_or_else(|| {
            OAuthError::invalid_request("the claims parameter is malformed or too large")
        })
    }

    fn read(text: &str) -> Option<ClaimsRequest> {
        let object = json::parse_object(text.as_bytes(), &LIMITS).ok()?;
        let member = |name| match object.get(name) {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Object(claims)) => read_claims(claims),
            Some(_) => None,
        };
        Some(ClaimsRequest {
            userinfo: member("userinfo")?,
            id_token: member("id_token")?,
        })
    }

    /// The parameter again, without what was not understood: what codes and tokens carry.
    pub fn to_json(&self) -> String {
        let mut out = Vec::new();
        Writer::new(&mut out).object(|w| {
            for (target, claims) in [("userinfo", &self.userinfo), ("id_token", &self.id_token)] {
                if !claims.is_empty() {
                    w.member(target).object(|w| {
                        for claim in claims {
                            w.member(&claim.name);
                            claim.write(w);
                        }
                    });
                }
            }
        });
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Does it ask for nothing that is understood?
    pub fn is_empty(&self) -> bool {
        self.userinfo.is_empty() && self.id_token.is_empty()
    }

    /// The request without these claims.
    #[must_use]
    pub fn without(mut self, names: &[&str]) -> ClaimsRequest {
        for claims in [&mut self.userinfo, &mut self.id_token] {
            claims.retain(|claim| !names.contains(&claim.name.as_str()));
        }
        self
    }

    /// Every request for `name`, in either place.
    pub fn requests<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a ClaimRequest> {
        self.id_token
            .iter()
            .chain(&self.userinfo)
            .filter(move |c| c.name == name)
    }

    /// The classes of an essential `acr` in the ID token: one of them must be reached (section
    /// 5.5.1.1).
    pub fn essential_acr(&self) -> Option<&[String]> {
        self.id_token
            .iter()
            .find(|c| c.name == "acr" && c.essential && !c.values.is_empty())
            .map(|c| c.values.as_slice())
    }

    /// The classes of a voluntary `acr` in the ID token.
    pub fn voluntary_acr(&self) -> &[String] {
        self.id_token
            .iter()
            .find(|c| c.name == "acr" && !c.essential)
            .map_or(&[], |c| c.values.as_slice())
    }

    /// The one `sub` that is asked for: Ok(None) where none is, Err where two differ or a list is
    /// given.
    pub(crate) fn required_sub(&self) -> Result<Option<&str>, OAuthError> {
        let mut required = None;
        for request in self.requests("sub") {
            match (request.values.as_slice(), required) {
                ([], _) => {}
                ([one], None) => required = Some(one.as_str()),
                ([one], Some(other)) if one == other => {}
                _ => {
                    return Err(OAuthError::invalid_request(
                        "the claims parameter asks for several subjects",
                    ));
                }
            }
        }
        Ok(required)
    }
}

impl ClaimRequest {
    fn write(&self, w: &mut Writer<'_>) {
        if !self.essential && self.values.is_empty() {
            return w.null();
        }
        w.object(|w| {
            if self.essential {
                w.member("essential").bool(true);
            }
            match self.values.as_slice() {
                [] => {}
                [one] => w.member("value").string(one),
                more => w.member("values").strings(more),
            }
        });
    }
}

fn read_claims(claims: &Object<'_>) -> Option<Vec<ClaimRequest>> {
    claims
        .iter()
        .map(|(name, request)| {
            let mut claim = ClaimRequest {
                name: name.to_owned(),
                essential: false,
                values: Vec::new(),
            };
            match request {
                Value::Null => {}
                Value::Object(request) => {
                    if let Some(essential) = request.get("essential") {
                        claim.essential = essential.as_bool()?;
                    }
                    let (value, values) = (request.get("value"), request.get("values"));
                    match (value, values) {
                        (Some(_), Some(_)) => return None,
                        (Some(value), None) => claim.values.extend(value.as_str().map(str::to_owned)),
                        (None, Some(values)) => {
                            let values = values.as_array()?;
                            if values.is_empty() {
                                return None;
                            }
                            claim
                                .values
                                .extend(values.iter().filter_map(|v| v.as_str()).map(str::to_owned));
                        }
                        (None, None) => {}
                    }
                }
                Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => return None,
            }
            // A value of another type than the claim has can never be met; for those that decide
            // something, say so.
            let asked = matches!(request, Value::Object(r) if r.get("value").is_some() || r.get("values").is_some());
            if asked && claim.values.is_empty() && matches!(name, "sub" | "acr") {
                return None;
            }
            Some(claim)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> ClaimsRequest {
        ClaimsRequest::parse(text).expect(text)
    }

    #[test]
    fn as_many_claims_can_be_asked_for_as_a_request_has_room_for() {
        let asked: Vec<String> = (0..120)
            .map(|number| format!(r#""claim_{number}":{{"essential":true}}"#))
            .collect();
        let asked = asked.join(",");
        let text = format!(r#"{{"id_token":{{{asked}}},"userinfo":{{{asked}}}}}"#);
        assert!(text.len() < MAX_CLAIMS_BYTES);
        let read = ClaimsRequest::parse(&text).unwrap();
        assert_eq!((read.id_token.len(), read.userinfo.len()), (120, 120));
        let longer = format!("{text}{}", " ".repeat(MAX_CLAIMS_BYTES));
        assert!(ClaimsRequest::parse(&longer).is_err());
    }

    #[test]
    fn the_example_of_core_section_5_5_is_read() {
        let claims = parse(
            r#"{"userinfo":{"given_name":{"essential":true},"nickname":null,"http://example.info/claims/groups":null},
                "id_token":{"auth_time":{"essential":true},"acr":{"values":["urn:mace:incommon:iap:silver"]}}}"#,
        );
        assert_eq!(claims.userinfo.len(), 3);
        assert!(claims.userinfo[0].essential);
        assert_eq!(claims.voluntary_acr(), ["urn:mace:incommon:iap:silver"]);
        assert_eq!(claims.essential_acr(), None);
        assert_eq!(parse(&claims.to_json()), claims);
    }

    #[test]
    fn what_is_not_understood_is_ignored_and_what_is_understood_has_its_type() {
        assert!(parse(r#"{"other":{"x":1}}"#).is_empty());
        assert!(
            parse(r#"{"userinfo":{"name":{"purpose":"x"}}}"#).userinfo[0]
                .values
                .is_empty()
        );
        for bad in [
            "",
            "[]",
            "{",
            r#"{"userinfo":[]}"#,
            r#"{"userinfo":{"name":true}}"#,
            r#"{"userinfo":{"name":{"essential":"yes"}}}"#,
            r#"{"userinfo":{"name":{"value":"a","values":["b"]}}}"#,
            r#"{"userinfo":{"name":{"values":"a"}}}"#,
            r#"{"userinfo":{"name":null,"name":null}}"#,
            r#"{"id_token":{"sub":{"value":1}}}"#,
        ] {
            assert!(ClaimsRequest::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn one_subject_may_be_asked_for_and_not_two() {
        let one = parse(r#"{"id_token":{"sub":{"value":"u1"}},"userinfo":{"sub":{"value":"u1"}}}"#);
        assert_eq!(one.required_sub(), Ok(Some("u1")));
        let two = parse(r#"{"id_token":{"sub":{"value":"u1"}},"userinfo":{"sub":{"value":"u2"}}}"#);
        assert!(two.required_sub().is_err());
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in ".{0,100}") {
            let _ = ClaimsRequest::parse(&text);
        }
    }
}
