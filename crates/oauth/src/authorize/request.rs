//! A checked authorization request, and its form inside a seal (interactions and pushed requests).
use super::response_mode::{ResponseMode, ReturnTo};
use crate::id::PushedId;
use crate::issued::claims::ClaimsRequest;
use crate::{
    codec::{Decoder, Encoder, Undecodable},
    scope::ScopeSet,
};

const VERSION: u8 = 1;

/// An authorization request that passed every check. It can only be made by them, or read back from
/// a seal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationRequest {
    /// who asks, and where the answer goes
    pub return_to: ReturnTo,
    /// Did the request name its redirect URI? Then the token request must, too.
    pub redirect_uri_was_sent: bool,
    /// what it asks for, already narrowed to what exists and the client may have
    pub scope: ScopeSet,
    /// resource indicators (RFC 8707), each known and allowed
    pub resources: Vec<String>,
    /// PKCE, S256 always
    pub code_challenge: Option<String>,
    /// for the ID token
    pub nonce: Option<String>,
    /// what the person must, or must not, be shown
    pub prompts: Prompts,
    /// seconds; the request's `max_age`, or the client's default
    pub max_age: Option<u64>,
    /// classes that would be liked, best first (OpenID Connect Core section 3.1.2.1: voluntary)
    pub acr_values: Vec<String>,
    /// single claims
    pub claims: Option<ClaimsRequest>,
    /// what the login page's first field may be filled with; says nothing about who is there
    pub login_hint: Option<String>,
    /// the identity provider that the person is led to: `idp_hint`, or `kc_idp_hint`
    pub idp_hint: Option<String>,
    /// BCP 47 tags, best first
    pub ui_locales: Vec<String>,
    /// the only person the answer may be about (`id_token_hint`, or a `sub` value in `claims`)
    pub required_sub: Option<String>,
    /// RFC 9449 section 10: the key that the code will be bound to
    pub dpop_jkt: Option<String>,
    /// the pushed request that this was
    pub pushed: Option<Pushed>,
}

/// The `prompt` values of a request. `none` stands alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prompts {
    /// show nothing: answer or fail
    pub none: bool,
    /// prove again who you are
    pub login: bool,
    /// ask again for consent
    pub consent: bool,
    /// let the person choose the account
    pub select_account: bool,
    /// make a new account (Initiating User Registration 1.0 section 4)
    pub create: bool,
}

/// `prompt_values_supported` (Initiating User Registration 1.0 section 4.2), in the order of the
/// fields; the last only where people may sign up.
pub const PROMPT_VALUES: [&str; 5] = ["none", "login", "consent", "select_account", "create"];

impl Prompts {
    /// Space-separated values. None: an unknown value, or `none` or `create` beside another.
    pub fn parse(text: &str) -> Option<Prompts> {
        let mut prompts = Prompts::default();
        for value in text.split(' ').filter(|v| !v.is_empty()) {
            match value {
                "none" => prompts.none = true,
                "login" => prompts.login = true,
                "consent" => prompts.consent = true,
                "select_account" => prompts.select_account = true,
                "create" => prompts.create = true,
                _ => return None,
            }
        }
        let alone = prompts.none || prompts.create;
        (!alone || prompts.bits().count_ones() == 1).then_some(prompts)
    }
    fn bits(self) -> u64 {
        [
            self.none,
            self.login,
            self.consent,
            self.select_account,
            self.create,
        ]
        .into_iter()
        .enumerate()
        .map(|(i, set)| u64::from(set) << i)
        .sum()
    }
    fn from_bits(bits: u64) -> Result<Prompts, Undecodable> {
        if bits > 31 {
            return Err(Undecodable);
        }
        let bit = |i: u32| bits >> i & 1 == 1;
        Ok(Prompts {
            none: bit(0),
            login: bit(1),
            consent: bit(2),
            select_account: bit(3),
            create: bit(4),
        })
    }
}

/// A pushed request's id, for the row that says it was used up, and that row's end.
///
/// It is used up when the person's answer is given, not when the page is shown: a reload of the
/// page must work (FAPI 2.0 Security Profile section 5.3.2.2, note on one-time use).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// random
    pub id: PushedId,
    /// Unix seconds
    pub expires_at: u64,
}

impl AuthorizationRequest {
    /// The encoding that is sealed into an interaction or a pushed request.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut e = Encoder::new(VERSION);
        e.text(&self.return_to.client_id)
            .text(&self.return_to.redirect_uri)
            .text(self.return_to.response_mode.name())
            .optional_text(self.return_to.state.as_deref())
            .flag(self.redirect_uri_was_sent)
            .text(&self.scope.to_string())
            .texts(self.resources.iter().map(String::as_str))
            .optional_text(self.code_challenge.as_deref())
            .optional_text(self.nonce.as_deref())
            .number(self.prompts.bits())
            .flag(self.max_age.is_some())
            .number(self.max_age.unwrap_or_default())
            .texts(self.acr_values.iter().map(String::as_str))
            .optional_text(self.claims.as_ref().map(|c| c.to_json()).as_deref())
            .optional_text(self.login_hint.as_deref())
            .optional_text(self.idp_hint.as_deref())
            .texts(self.ui_locales.iter().map(String::as_str))
            .optional_text(self.required_sub.as_deref())
            .optional_text(self.dpop_jkt.as_deref())
            .flag(self.pushed.is_some());
        if let Some(pushed) = &self.pushed {
            e.fixed(pushed.id.as_bytes()).number(pushed.expires_at);
        }
        e.finish()
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote. Only ever call it with bytes whose seal held.
    ///
    /// # Errors
    /// The bytes are of another version or not an encoding at all.
    pub fn from_bytes(bytes: &[u8]) -> Result<AuthorizationRequest, Undecodable> {
        let mut d = Decoder::new(bytes, VERSION)?;
        let request = AuthorizationRequest {
            return_to: ReturnTo {
                client_id: d.string()?,
                redirect_uri: d.string()?,
                response_mode: ResponseMode::named(d.text()?).ok_or(Undecodable)?,
                state: d.optional_string()?,
            },
            redirect_uri_was_sent: d.flag()?,
            scope: ScopeSet::parse(d.text()?).map_err(|_| Undecodable)?,
            resources: d.strings()?,
            code_challenge: d.optional_string()?,
            nonce: d.optional_string()?,
            prompts: Prompts::from_bits(d.number()?)?,
            max_age: {
                let there = d.flag()?;
                let value = d.number()?;
                there.then_some(value)
            },
            acr_values: d.strings()?,
            claims: d
                .optional_string()?
                .map(|json| ClaimsRequest::parse(&json).map_err(|_| Undecodable))
                .transpose()?,
            login_hint: d.optional_string()?,
            idp_hint: d.optional_string()?,
            ui_locales: d.strings()?,
            required_sub: d.optional_string()?,
            dpop_jkt: d.optional_string()?,
            pushed: if d.flag()? {
                Some(Pushed {
                    id: PushedId::new(d.fixed()?),
                    expires_at: d.number()?,
                })
            } else {
                None
            },
        };
        d.finish()?;
        Ok(request)
    }

    /// Who asks.
    pub fn client_id(&self) -> &str {
        &self.return_to.client_id
    }

    /// Is it an OpenID Connect request?
    pub fn is_openid(&self) -> bool {
        self.scope.contains(crate::scope::OPENID)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn full() -> AuthorizationRequest {
        AuthorizationRequest {
            return_to: ReturnTo {
                client_id: "web".into(),
                redirect_uri: "https://rp.example/cb".into(),
                response_mode: ResponseMode::FORM_POST,
                state: Some("s t\u{e4}te".into()),
            },
            redirect_uri_was_sent: true,
            scope: ScopeSet::parse("openid email").unwrap(),
            resources: vec!["https://api.example".into()],
            code_challenge: Some("x".repeat(43)),
            nonce: Some("n".into()),
            prompts: Prompts::parse("login consent").unwrap(),
            max_age: Some(0),
            acr_values: vec!["a".into(), "b".into()],
            claims: Some(ClaimsRequest::parse(r#"{"userinfo":{"name":null}}"#).unwrap()),
            login_hint: Some("alice".into()),
            idp_hint: Some("corp".into()),
            ui_locales: vec!["de".into()],
            required_sub: Some("u1".into()),
            dpop_jkt: Some("k".into()),
            pushed: Some(Pushed {
                id: PushedId::new([7; 16]),
                expires_at: 99,
            }),
        }
    }

    #[test]
    fn a_request_survives_its_encoding() {
        let request = full();
        let bytes = request.to_bytes();
        assert_eq!(AuthorizationRequest::from_bytes(&bytes), Ok(request));
        for end in 0..bytes.len() {
            assert!(AuthorizationRequest::from_bytes(&bytes[..end]).is_err());
        }
    }

    #[test]
    fn prompt_none_and_prompt_create_stand_alone() {
        assert!(Prompts::parse("none").unwrap().none);
        let both = Prompts::parse("login select_account").unwrap();
        assert!(both.login && both.select_account && !both.consent);
        assert!(Prompts::parse("create").unwrap().create);
        for bad in [
            "none login",
            "none create",
            "create login",
            "consent create",
            "created",
            "Login",
            "login\tconsent",
        ] {
            assert_eq!(Prompts::parse(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn decoding_any_bytes_never_panics(mut bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = AuthorizationRequest::from_bytes(&bytes);
            if let Some(first) = bytes.first_mut() {
                *first = VERSION;
            }
            let _ = AuthorizationRequest::from_bytes(&bytes);
        }
    }
}
