//! Claims, read once by schema: registered members become spans of the text, every other member
//! stays reachable by name.
//!
//! A claim of the wrong JSON type refuses the token: nothing is converted, so that the number 1 is
//! never the user "1" (known fault V9). The whole document is held to strict JSON, members that no
//! schema names included.

use signet_encoding::json::{JsonError, Kind, Limits, Object, Reader, Value};
use std::borrow::Cow;

/// A piece of [`Claims::text`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    at: u32,
    length: u32,
}

/// How a token is bound to its sender (`cnf`, RFC 7800).
#[derive(Clone, Copy, Debug, Default)]
struct Cnf {
    there: bool,
    /// RFC 9449 section 6.1
    jkt: Option<Span>,
    /// RFC 8705 section 3.1
    x5t_s256: Option<Span>,
    /// any other member: a confirmation method that is not known here
    other: bool,
}

/// The claims of a token: of a verified one, wherever a caller can get hold of them.
#[derive(Clone, Debug)]
pub struct Claims {
    /// the JSON text, behind it the values that had to be unescaped, and last the token
    text: String,
    json_length: usize,
    token: Option<Span>,
    iss: Option<Span>,
    sub: Option<Span>,
    jti: Option<Span>,
    client_id: Option<Span>,
    azp: Option<Span>,
    nonce: Option<Span>,
    at_hash: Option<Span>,
    c_hash: Option<Span>,
    acr: Option<Span>,
    sid: Option<Span>,
    grant_id: Option<Span>,
    /// grants of the agent chain
    agent_grants: Vec<Span>,
    /// ids of the tokens that this one was exchanged from
    subject_jtis: Vec<Span>,
    /// `sub` of each actor in `act`
    actors: Vec<Span>,
    payload_type: Option<Span>,
    scope: Option<Span>,
    scopes: Vec<Span>,
    /// nearly always one
    aud: Option<Span>,
    more_aud: Vec<Span>,
    exp: Option<u64>,
    nbf: Option<u64>,
    iat: Option<u64>,
    auth_time: Option<u64>,
    cnf: Cnf,
    has_events: bool,
    logout_event: bool,
}

/// Where spans are made: pieces of the text itself, or of what is appended to it.
struct Spans<'a> {
    text: &'a str,
    unescaped: String,
}

impl Spans<'_> {
    #[expect(clippy::ptr_arg, reason = "borrowed or not is what it asks")]
    fn span(&mut self, value: &Cow<'_, str>) -> Span {
        let at = match value {
            // The reader borrows from `text`, so the difference is an offset into it.
            Cow::Borrowed(value) => value.as_ptr() as usize - self.text.as_ptr() as usize,
            Cow::Owned(value) => {
                self.unescaped.push_str(value);
                self.text.len() + self.unescaped.len() - value.len()
            }
        };
        // Invariant: claims are at most `limits.bytes` long, far below 4 GiB.
        Span {
            at: u32::try_from(at).unwrap_or(u32::MAX),
            length: u32::try_from(value.len()).unwrap_or(0),
        }
    }
}

const LOGOUT_EVENT: &str = "http://schemas.openid.net/event/backchannel-logout";

impl Claims {
    /// Reads a payload.
    ///
    /// # Errors
    /// [`JsonError`] where it is not strict JSON within the limits, or a registered claim has
    /// another type than its specification says.
    pub(crate) fn parse(payload: Vec<u8>, limits: &Limits) -> Result<Claims, JsonError> {
        if payload.len() > limits.bytes.min(u32::MAX as usize / 4) {
            return Err(JsonError::Limit);
        }
        let text = String::from_utf8(payload)
            .map_err(|error| JsonError::Malformed(error.utf8_error().valid_up_to()))?;
        let mut claims = Claims::empty();
        let mut spans = Spans {
            text: &text,
            unescaped: String::new(),
        };
        let mut reader = Reader::of_text(&text, limits)?;
        reader.object(|r, name| claims.member(r, &name, &mut spans))?;
        reader.finish()?;
        let unescaped = spans.unescaped;
        claims.json_length = text.len();
        claims.text = text;
        if !unescaped.is_empty() {
            claims.text.push_str(&unescaped);
        }
        Ok(claims)
    }

    /// Claims that the caller vouches for, from a record of its own (a session that it sealed, say)
    /// and not from a token. They are read as strictly as a token's; nothing makes a
    /// [`crate::Verified`] of them.
    ///
    /// # Errors
    /// [`JsonError`] where it is not strict JSON within the default limits, or a registered claim
    /// has another type than its specification says.
    pub fn vouched(json: Vec<u8>) -> Result<Claims, JsonError> {
        Claims::parse(json, &Limits::default())
    }

    fn empty() -> Claims {
        Claims {
            text: String::new(),
            json_length: 0,
            token: None,
            iss: None,
            sub: None,
            jti: None,
            client_id: None,
            azp: None,
            nonce: None,
            at_hash: None,
            c_hash: None,
            acr: None,
            sid: None,
            grant_id: None,
            agent_grants: Vec::new(),
            subject_jtis: Vec::new(),
            actors: Vec::new(),
            payload_type: None,
            scope: None,
            scopes: Vec::new(),
            aud: None,
            more_aud: Vec::new(),
            exp: None,
            nbf: None,
            iat: None,
            auth_time: None,
            cnf: Cnf::default(),
            has_events: false,
            logout_event: false,
        }
    }

    fn member(
        &mut self,
        r: &mut Reader<'_>,
        name: &str,
        spans: &mut Spans<'_>,
    ) -> Result<(), JsonError> {
        let slot = match name {
            "iss" => &mut self.iss,
            "sub" => &mut self.sub,
            "jti" => &mut self.jti,
            "client_id" => &mut self.client_id,
            "azp" => &mut self.azp,
            "nonce" => &mut self.nonce,
            "at_hash" => &mut self.at_hash,
            "c_hash" => &mut self.c_hash,
            "acr" => &mut self.acr,
            "sid" => &mut self.sid,
            "grant_id" => &mut self.grant_id,
            "scope" => &mut self.scope,
            // Keycloak says in the payload what kind of token this is. Others may mean something
            // else by it: only a string counts.
            "typ" if r.kind()? == Kind::String => &mut self.payload_type,
            "exp" => return Self::date(r, &mut self.exp),
            "nbf" => return Self::date(r, &mut self.nbf),
            "iat" => return Self::date(r, &mut self.iat),
            "auth_time" => return Self::date(r, &mut self.auth_time),
            "aud" if r.kind()? == Kind::String => &mut self.aud,
            "aud" => return Self::strings(r, spans, &mut self.more_aud),
            "agent_grants" => return Self::strings(r, spans, &mut self.agent_grants),
            "subject_jtis" => return Self::strings(r, spans, &mut self.subject_jtis),
            // Others may mean something else by it: only an object has actors (RFC 8693 section
            // 4.1).
            "act" if r.kind()? == Kind::Object => {
                return Self::actors_in(r, spans, &mut self.actors);
            }
            // Okta: an array; Entra: a string with spaces.
            "scp" => match r.kind()? {
                Kind::Array => return Self::strings(r, spans, &mut self.scopes),
                _ if self.scope.is_none() => &mut self.scope,
                Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Object => {
                    return r.skip();
                }
            },
            "cnf" => return self.confirmation(r, spans),
            "events" => {
                self.has_events = true;
                let logout_event = &mut self.logout_event;
                return r.object(|r, event| -> Result<(), JsonError> {
                    if event == LOGOUT_EVENT {
                        // OpenID Connect Back-Channel Logout section 2.4: its value is an object.
                        *logout_event = r.kind()? == Kind::Object;
                    }
                    Ok(())
                });
            }
            _ => return Ok(()),
        };
        *slot = Some(spans.span(&r.string()?));
        Ok(())
    }

    fn date(r: &mut Reader<'_>, slot: &mut Option<u64>) -> Result<(), JsonError> {
        *slot = Some(r.numeric_date()?);
        Ok(())
    }

    fn strings(
        r: &mut Reader<'_>,
        spans: &mut Spans<'_>,
        into: &mut Vec<Span>,
    ) -> Result<(), JsonError> {
        match r.kind()? {
            Kind::Array => r.array(|r| -> Result<(), JsonError> {
                into.push(spans.span(&r.string()?));
                Ok(())
            }),
            Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Object => {
                into.push(spans.span(&r.string()?));
                Ok(())
            }
        }
    }

    /// Each `sub`, however deep: who acted before is named inside. The reader bounds the depth.
    fn actors_in(
        r: &mut Reader<'_>,
        spans: &mut Spans<'_>,
        into: &mut Vec<Span>,
    ) -> Result<(), JsonError> {
        r.object(|r, name| -> Result<(), JsonError> {
            match &*name {
                "sub" => into.push(spans.span(&r.string()?)),
                "act" => Self::actors_in(r, spans, into)?,
                _ => {}
            }
            Ok(())
        })
    }

    fn confirmation(&mut self, r: &mut Reader<'_>, spans: &mut Spans<'_>) -> Result<(), JsonError> {
        let cnf = &mut self.cnf;
        cnf.there = true;
        r.object(|r, method| -> Result<(), JsonError> {
            match &*method {
                "jkt" => cnf.jkt = Some(spans.span(&r.string()?)),
                "x5t#S256" => cnf.x5t_s256 = Some(spans.span(&r.string()?)),
                _ => cnf.other = true,
            }
            Ok(())
        })
    }

    /// Keeps the token that said all this.
    pub(crate) fn keep_token(&mut self, token: &str) {
        // Invariant: as every span; a token is at most as long as its policy allows.
        let at = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        let length = u32::try_from(token.len()).unwrap_or(0);
        self.text.push_str(token);
        self.token = Some(Span { at, length });
    }

    /// The token; empty where none was kept.
    pub(crate) fn token(&self) -> &str {
        self.str(self.token).unwrap_or("")
    }

    fn str(&self, span: Option<Span>) -> Option<&str> {
        let Span { at, length } = span?;
        self.text.get(at as usize..at as usize + length as usize)
    }

    /// The claims as the issuer wrote them: one JSON object.
    pub fn json(&self) -> &str {
        &self.text[..self.json_length]
    }

    /// Any member by its name. Reads the document again: for members that have no method of their
    /// own.
    pub fn get(&self, name: &str) -> Option<Value<'_>> {
        self.object()?.remove(name)
    }

    /// The whole document as a tree.
    pub fn object(&self) -> Option<Object<'_>> {
        // It was read once already, under limits that may have been wider than the default.
        let limits = Limits {
            bytes: self.json_length,
            depth: signet_encoding::json::MAX_DEPTH,
            members: usize::MAX,
        };
        signet_encoding::json::parse_object(self.json().as_bytes(), &limits).ok()
    }

    /// Issuer.
    pub fn iss(&self) -> Option<&str> {
        self.str(self.iss)
    }
    /// Subject. Unique only together with the issuer.
    pub fn sub(&self) -> Option<&str> {
        self.str(self.sub)
    }
    /// Token id.
    pub fn jti(&self) -> Option<&str> {
        self.str(self.jti)
    }
    /// The client that the token was issued to (RFC 9068 section 2.2).
    pub fn client_id(&self) -> Option<&str> {
        self.str(self.client_id)
    }
    /// Authorized party (OpenID Connect Core section 2).
    pub fn azp(&self) -> Option<&str> {
        self.str(self.azp)
    }
    /// The nonce of the authentication request.
    pub fn nonce(&self) -> Option<&str> {
        self.str(self.nonce)
    }
    /// Hash of the access token that was issued beside an ID token.
    pub fn at_hash(&self) -> Option<&str> {
        self.str(self.at_hash)
    }
    /// Hash of the code that was issued beside an ID token.
    pub fn c_hash(&self) -> Option<&str> {
        self.str(self.c_hash)
    }
    /// Authentication context class.
    pub fn acr(&self) -> Option<&str> {
        self.str(self.acr)
    }
    /// Session id.
    pub fn sid(&self) -> Option<&str> {
        self.str(self.sid)
    }
    /// The grant that the token came from (Signet).
    pub fn grant_id(&self) -> Option<&str> {
        self.str(self.grant_id)
    }
    /// Every grant of the agent chain that the token was made from (Signet): base64url of 32 bytes
    /// each.
    pub fn agent_grants(&self) -> impl Iterator<Item = &str> {
        self.agent_grants
            .iter()
            .filter_map(|span| self.str(Some(*span)))
    }
    /// `jti` of every token that this one was exchanged from, the latest first (Signet): with one
    /// of them revoked, this one is (RFC 7009 section 2.1 leaves that to the server).
    pub fn subject_jtis(&self) -> impl Iterator<Item = &str> {
        self.subject_jtis
            .iter()
            .filter_map(|span| self.str(Some(*span)))
    }
    /// The `sub` of every actor (RFC 8693 section 4.1), in the order of the text.
    pub fn actors(&self) -> impl Iterator<Item = &str> {
        self.actors.iter().filter_map(|span| self.str(Some(*span)))
    }
    /// What the payload says of itself (`typ`; Keycloak).
    pub(crate) fn payload_type(&self) -> Option<&str> {
        self.str(self.payload_type)
    }
    /// End, Unix seconds; a fraction is cut.
    pub fn exp(&self) -> Option<u64> {
        self.exp
    }
    /// Begin, Unix seconds.
    pub fn nbf(&self) -> Option<u64> {
        self.nbf
    }
    /// Issued at, Unix seconds.
    pub fn iat(&self) -> Option<u64> {
        self.iat
    }
    /// When the user was authenticated, Unix seconds.
    pub fn auth_time(&self) -> Option<u64> {
        self.auth_time
    }
    /// Audiences: one for a string, as many as there are for an array.
    pub fn aud(&self) -> impl ExactSizeIterator<Item = &str> {
        // A string or an array: never both.
        let spans = match &self.aud {
            Some(one) => std::slice::from_ref(one),
            None => &self.more_aud,
        };
        spans.iter().map(|span| self.str(Some(*span)).unwrap_or(""))
    }
    /// Whether this is one of the audiences; exact (RFC 7519 section 4.1.3).
    pub fn has_audience(&self, audience: &str) -> bool {
        self.aud().any(|own| own == audience)
    }
    /// Scopes: of `scope` (RFC 9068 section 2.2.3), or of `scp`.
    pub fn scopes(&self) -> impl Iterator<Item = &str> {
        let listed = self.scopes.iter().filter_map(|span| self.str(Some(*span)));
        let spaced = self.str(self.scope).unwrap_or("").split(' ');
        spaced.filter(|scope| !scope.is_empty()).chain(listed)
    }
    /// Whether this scope is among them; exact.
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes().any(|own| own == scope)
    }
    /// Thumbprint of the DPoP key that the token is bound to.
    pub fn jkt(&self) -> Option<&str> {
        self.str(self.cnf.jkt)
    }
    /// Thumbprint of the certificate that the token is bound to.
    pub fn x5t_s256(&self) -> Option<&str> {
        self.str(self.cnf.x5t_s256)
    }
    /// Whether there is a `cnf` at all.
    pub fn is_bound(&self) -> bool {
        self.cnf.there
    }
    /// A `cnf` that is empty, or has a member that is not known here: it cannot be enforced (known
    /// fault V11).
    pub(crate) fn has_unknown_confirmation(&self) -> bool {
        self.cnf.there
            && (self.cnf.other || (self.cnf.jkt.is_none() && self.cnf.x5t_s256.is_none()))
    }
    pub(crate) fn has_events(&self) -> bool {
        self.has_events
    }
    pub(crate) fn is_logout(&self) -> bool {
        self.logout_event
    }
    /// Bytes that the claims take.
    pub(crate) fn weight(&self) -> usize {
        size_of::<Claims>()
            + self.text.capacity()
            + 8 * (self.more_aud.capacity()
                + self.scopes.capacity()
                + self.agent_grants.capacity()
                + self.subject_jtis.capacity()
                + self.actors.capacity())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Claims, JsonError> {
        Claims::parse(json.as_bytes().to_vec(), &Limits::default())
    }

    #[test]
    fn values_round_trip_with_and_without_escapes() {
        let json = r#"{"sub":"al\u0069ce \ud83d\ude00","iss":"https://a","aud":["b","\u0063"],"scope":"x y","exp":1795000000.5}"#;
        let claims = parse(json).unwrap();
        assert_eq!(claims.sub(), Some("alice \u{1f600}"));
        assert_eq!(claims.iss(), Some("https://a"));
        assert_eq!(claims.aud().collect::<Vec<_>>(), ["b", "c"]);
        assert_eq!(claims.scopes().collect::<Vec<_>>(), ["x", "y"]);
        assert_eq!(claims.exp(), Some(1_795_000_000));
        assert_eq!(claims.json(), json);
    }

    #[test]
    fn a_claim_of_another_type_refuses_the_whole() {
        for json in [
            r#"{"sub":1}"#,
            r#"{"sub":{}}"#,
            r#"{"aud":["a",1]}"#,
            r#"{"aud":1}"#,
            r#"{"aud":[["a"]]}"#,
            r#"{"exp":"1795000000"}"#,
            r#"{"exp":1e309}"#,
            r#"{"exp":-1}"#,
            r#"{"exp":null}"#,
            r#"{"iat":[1]}"#,
            r#"{"scope":["a"]}"#,
            r#"{"cnf":"x"}"#,
            r#"{"cnf":{"jkt":1}}"#,
            r#"{"events":[]}"#,
            r#"{"jti":true}"#,
            r#"{"act":{"sub":1}}"#,
            r#"{"agent_grants":[1]}"#,
            r#"{"subject_jtis":[1]}"#,
            r#"{"subject_jtis":{}}"#,
            r#"[]"#,
            r#""x""#,
            "",
        ] {
            assert!(parse(json).is_err(), "{json}");
        }
    }
}
