//! What a verifier demands of a token. Everything here is the verifier's; nothing of it is read
//! from the token.

use crate::{Claims, WithoutKid};
use signet_crypto::Algorithm;
use std::{fmt, sync::Arc};

/// What a token is taken for. A token of one kind is never accepted as another (RFC 8725 section
/// 3.12, known fault V10).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TokenKind {
    /// A JWT access token with `typ: at+jwt` (RFC 9068).
    AccessToken,
    /// A JWT access token of an issuer that does not follow RFC 9068: `typ` absent, `JWT` or
    /// `at+jwt`. What looks like an ID token or a logout token is refused by its claims.
    PlainAccessToken,
    /// An OpenID Connect ID token, checked by the client that it was issued to.
    IdToken,
    /// An OpenID Connect Back-Channel logout token.
    LogoutToken,
}

impl TokenKind {
    fn types(self) -> &'static [Option<&'static str>] {
        match self {
            TokenKind::AccessToken => &[Some("at+jwt")],
            TokenKind::PlainAccessToken => &[None, Some("JWT"), Some("at+jwt")],
            TokenKind::IdToken => &[None, Some("JWT")],
            TokenKind::LogoutToken => &[Some("logout+jwt")],
        }
    }

    /// Whether tokens of this kind allow access, and so may be bound to a sender.
    pub(crate) fn is_access(self) -> bool {
        matches!(self, TokenKind::AccessToken | TokenKind::PlainAccessToken)
    }
}

/// Whether tokens must be bound to their sender. A token that is bound must always be proven,
/// whatever this says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Binding {
    /// Bearer tokens are accepted, too.
    #[default]
    Optional,
    /// Only tokens bound by DPoP (RFC 9449).
    Dpop,
    /// Only tokens bound to a client certificate (RFC 8705).
    Certificate,
    /// Either of the two.
    Either,
}

/// Which tokens their issuer is asked about.
#[cfg(feature = "fetch")]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Introspect {
    /// Those that are neither JWTs nor compact tokens.
    Opaque,
    /// All. JWTs and compact tokens must also pass the checks that are made without asking.
    All,
}

/// Names a policy of one verifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PolicyId(pub(crate) usize);

impl PolicyId {
    #[cfg(feature = "fetch")]
    pub(crate) fn number(self) -> usize {
        self.0
    }
}

/// A rule of the operator's own: true where the token may pass. It sees claims whose signature
/// held, and runs once for a token that is cached, so it must depend on the claims alone.
pub type Rule = Arc<dyn Fn(&Claims) -> bool + Send + Sync>;

/// Demands on tokens. Made by one of its constructors, then narrowed.
#[derive(Clone)]
pub struct Policy {
    pub(crate) name: String,
    pub(crate) kind: TokenKind,
    pub(crate) issuers: Vec<String>,
    pub(crate) audiences: Vec<String>,
    pub(crate) any_audience: bool,
    pub(crate) algorithms: Vec<Algorithm>,
    pub(crate) types: Vec<Option<String>>,
    pub(crate) authorized_parties: Vec<String>,
    pub(crate) leeway: u64,
    pub(crate) max_age: Option<u64>,
    pub(crate) scopes: Vec<String>,
    pub(crate) acr: Vec<String>,
    pub(crate) auth_max_age: Option<u64>,
    pub(crate) binding: Binding,
    pub(crate) proof_max_age: u64,
    pub(crate) proof_nonces: bool,
    /// in the form that [`signet_jose::dpop::origin`] gives; empty: any
    pub(crate) origins: Vec<String>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) without_kid: WithoutKid,
    pub(crate) max_bytes: usize,
    pub(crate) any_nonce: bool,
    pub(crate) require_at_hash: bool,
    pub(crate) require_c_hash: bool,
    pub(crate) realm: String,
    #[cfg(feature = "compact")]
    pub(crate) compact_keys: Option<Arc<signet_compact::KeySet>>,
    pub(crate) compact_of_issuers: bool,
    /// which open encrypted tokens
    pub(crate) decryption: Option<Arc<[signet_jose::jwe::NamedKey]>>,
    pub(crate) once: bool,
    /// which tokens their issuer is asked about
    #[cfg(feature = "fetch")]
    pub(crate) introspect: Option<Introspect>,
}

impl Policy {
    fn new(kind: TokenKind, audience: &str) -> Policy {
        Policy {
            name: "default".to_owned(),
            kind,
            issuers: Vec::new(),
            audiences: vec![audience.to_owned()],
            any_audience: false,
            algorithms: Algorithm::ALL
                .iter()
                .copied()
                .filter(|a| !a.is_symmetric())
                .collect(),
            types: kind
                .types()
                .iter()
                .map(|typ| typ.map(str::to_owned))
                .collect(),
            authorized_parties: Vec::new(),
            leeway: 60,
            max_age: None,
            scopes: Vec::new(),
            acr: Vec::new(),
            auth_max_age: None,
            binding: Binding::Optional,
            proof_max_age: 300,
            proof_nonces: false,
            origins: Vec::new(),
            rules: Vec::new(),
            without_kid: WithoutKid::OnlyKey,
            max_bytes: 16 * 1024,
            any_nonce: false,
            require_at_hash: false,
            require_c_hash: false,
            realm: String::new(),
            #[cfg(feature = "compact")]
            compact_keys: None,
            compact_of_issuers: false,
            decryption: None,
            once: kind == TokenKind::LogoutToken,
            #[cfg(feature = "fetch")]
            introspect: None,
        }
    }

    /// RFC 9068 access tokens for this resource server. Any asymmetric algorithm, 60 seconds of
    /// leeway, 16 KiB.
    pub fn access_token(audience: &str) -> Policy {
        Policy::new(TokenKind::AccessToken, audience)
    }

    /// Access tokens of an issuer that does not follow RFC 9068.
    pub fn plain_access_token(audience: &str) -> Policy {
        Policy::new(TokenKind::PlainAccessToken, audience)
    }

    /// ID tokens for this client.
    pub fn id_token(client_id: &str) -> Policy {
        Policy::new(TokenKind::IdToken, client_id)
    }

    /// Logout tokens for this client. Each is accepted once.
    pub fn logout_token(client_id: &str) -> Policy {
        Policy::new(TokenKind::LogoutToken, client_id)
    }

    /// What the policy is called: [`crate::Verifier::policy`] finds it.
    #[must_use]
    pub fn named(mut self, name: &str) -> Policy {
        self.name = name.to_owned();
        self
    }

    /// Only tokens of this issuer, or of several named so. Without, of all issuers of the verifier.
    #[must_use]
    pub fn issuer(mut self, issuer: &str) -> Policy {
        self.issuers.push(issuer.to_owned());
        self
    }

    /// A further audience: one of them must be in the token.
    #[must_use]
    pub fn audience(mut self, audience: &str) -> Policy {
        self.audiences.push(audience.to_owned());
        self
    }

    /// Checks no audience: for tools, and for callers that decide about audiences themselves.
    #[must_use]
    pub fn any_audience(mut self) -> Policy {
        self.any_audience = true;
        self
    }

    /// Only these algorithms, instead of all asymmetric ones.
    #[must_use]
    pub fn algorithms(mut self, algorithms: &[Algorithm]) -> Policy {
        self.algorithms = algorithms.to_vec();
        self
    }

    /// The `typ` values that are accepted, instead of those of the kind; `None` is a token without
    /// `typ`.
    #[must_use]
    pub fn types(mut self, types: &[Option<&str>]) -> Policy {
        self.types = types.iter().map(|typ| typ.map(str::to_owned)).collect();
        self
    }

    /// A client that tokens may have been issued to (`azp`, else `client_id`). Without, any.
    #[must_use]
    pub fn authorized_party(mut self, client_id: &str) -> Policy {
        self.authorized_parties.push(client_id.to_owned());
        self
    }

    /// By how many seconds clocks may differ.
    #[must_use]
    pub fn leeway(mut self, seconds: u64) -> Policy {
        self.leeway = seconds;
        self
    }

    /// Refuses tokens that were issued longer ago, in seconds, whatever their `exp` says; `iat` is
    /// demanded then.
    #[must_use]
    pub fn max_age(mut self, seconds: u64) -> Policy {
        self.max_age = Some(seconds);
        self
    }

    /// A scope that every token must have. See also [`crate::Verified::require_scope`].
    #[must_use]
    pub fn scope(mut self, scope: &str) -> Policy {
        self.scopes.push(scope.to_owned());
        self
    }

    /// An authentication context that is good enough: one of those named must be the token's `acr`
    /// (RFC 9470).
    #[must_use]
    pub fn acr(mut self, acr: &str) -> Policy {
        self.acr.push(acr.to_owned());
        self
    }

    /// Refuses tokens whose user was authenticated longer ago, in seconds (RFC 9470).
    #[must_use]
    pub fn authentication_max_age(mut self, seconds: u64) -> Policy {
        self.auth_max_age = Some(seconds);
        self
    }

    /// Whether tokens must be bound to their sender.
    #[must_use]
    pub fn binding(mut self, binding: Binding) -> Policy {
        self.binding = binding;
        self
    }

    /// How old a DPoP proof may be, in seconds, leeway aside.
    #[must_use]
    pub fn proof_max_age(mut self, seconds: u64) -> Policy {
        self.proof_max_age = seconds;
        self
    }

    /// DPoP proofs must carry a nonce of this verifier (RFC 9449 section 9). One that does not is
    /// answered with `use_dpop_nonce` and a nonce, which is good for
    /// [`crate::PROOF_NONCE_LIFETIME`] seconds: [`crate::Verifier::nonce_for`].
    #[must_use]
    pub fn proof_nonces(mut self) -> Policy {
        self.proof_nonces = true;
        self
    }

    /// An origin (`https://orders.example.com`, no path) that this resource server is reached at:
    /// the URL of a request with a DPoP proof must be of one of them. To be said wherever the host
    /// of [`crate::Proof`]'s `url` is what the client wrote (`Host`), for otherwise a proof that
    /// was made for another server of the same audience is accepted here. Without, any origin.
    #[must_use]
    pub fn origin(mut self, origin: &str) -> Policy {
        // One that is none is found when the verifier is built.
        self.origins
            .push(signet_jose::dpop::origin(origin).unwrap_or_default());
        self
    }

    /// By how much clocks may differ for a DPoP proof, in seconds: never more than a minute.
    pub(crate) fn proof_leeway(&self) -> u64 {
        self.leeway.min(60)
    }

    /// A further rule.
    #[must_use]
    pub fn rule(mut self, rule: impl Fn(&Claims) -> bool + Send + Sync + 'static) -> Policy {
        self.rules.push(Arc::new(rule));
        self
    }

    /// What happens to tokens without `kid`.
    #[must_use]
    pub fn without_kid(mut self, rule: WithoutKid) -> Policy {
        self.without_kid = rule;
        self
    }

    /// Longest token, in bytes, inclusive.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Policy {
        self.max_bytes = bytes;
        self
    }

    /// An ID token's `nonce` is not looked at: for tools that know of no authentication request.
    #[must_use]
    pub fn any_nonce(mut self) -> Policy {
        self.any_nonce = true;
        self
    }

    /// An ID token must have `at_hash`.
    #[must_use]
    pub fn require_at_hash(mut self) -> Policy {
        self.require_at_hash = true;
        self
    }

    /// An ID token must have `c_hash`.
    #[must_use]
    pub fn require_c_hash(mut self) -> Policy {
        self.require_c_hash = true;
        self
    }

    /// Whether each token (its `jti`) is accepted once only. Logout tokens are, unless this says
    /// otherwise.
    #[must_use]
    pub fn once(mut self, once: bool) -> Policy {
        self.once = once;
        self
    }

    /// The `realm` of challenges.
    #[must_use]
    pub fn realm(mut self, realm: &str) -> Policy {
        self.realm = realm.to_owned();
        self
    }

    /// Accepts compact tokens under these keys, too: in base64url, without a dot. For access tokens
    /// only.
    #[cfg(feature = "compact")]
    #[must_use]
    pub fn compact(mut self, keys: signet_compact::KeySet) -> Policy {
        self.compact_keys = Some(Arc::new(keys));
        self
    }

    /// Also accepts compact tokens of its issuers, under the keys that their metadata names
    /// (`signet_compact_keys_uri`): of those whose keys come from [`crate::KeySource::Discovery`].
    /// They are kept fresh like the others. Where [`Policy::compact`] gave keys, those count.
    #[cfg(all(feature = "fetch", feature = "compact"))]
    #[must_use]
    pub fn compact_of_issuers(mut self) -> Policy {
        self.compact_of_issuers = true;
        self
    }

    /// Asks the policy's issuer about tokens (RFC 7662): of one issuer, for which the verifier has
    /// an introspector ([`crate::Builder::introspector`]).
    #[cfg(feature = "fetch")]
    #[must_use]
    pub fn introspect(mut self, which: Introspect) -> Policy {
        self.introspect = Some(which);
        self
    }

    /// Whether the issuer is to be asked about this token.
    #[cfg(feature = "fetch")]
    pub(crate) fn asks_about(&self, token: &str) -> bool {
        match self.introspect {
            None => false,
            Some(Introspect::All) => true,
            Some(Introspect::Opaque) => self.is_opaque(token),
        }
    }

    /// Neither a JWS, nor a JWE, nor a compact token where those are accepted.
    #[cfg(feature = "fetch")]
    pub(crate) fn is_opaque(&self, token: &str) -> bool {
        let dots = token.bytes().filter(|byte| *byte == b'.').count();
        // A header is a JSON object: its first character is `{`, which is `e` and a letter in
        // base64url.
        if matches!(dots, 2 | 4) && token.starts_with('e') {
            return false;
        }
        dots > 0 || !self.reads_compact(token)
    }

    /// Whether a policy takes compact tokens at all.
    pub(crate) fn takes_compact(&self) -> bool {
        #[cfg(feature = "compact")]
        if self.compact_keys.is_some() {
            return true;
        }
        self.compact_of_issuers
    }

    /// Whether this text is a compact token, where those are accepted.
    #[cfg(all(feature = "fetch", not(feature = "compact")))]
    fn reads_compact(&self, _token: &str) -> bool {
        false
    }

    /// Whether this text is a compact token, where those are accepted.
    #[cfg(all(feature = "fetch", feature = "compact"))]
    fn reads_compact(&self, token: &str) -> bool {
        self.takes_compact()
            && signet_encoding::base64url::decode(token.as_bytes())
                .is_ok_and(|bytes| signet_compact::Token::parse(&bytes).is_ok())
    }

    /// Also accepts nested tokens (RFC 7519 section 5.2) that are encrypted to one of these keys:
    /// RSA-OAEP-256 or ECDH-ES, with AES-GCM. The signed token inside is held to the whole policy.
    /// Without, an encrypted token is refused.
    #[must_use]
    pub fn decrypt(mut self, keys: impl IntoIterator<Item = signet_jose::jwe::NamedKey>) -> Policy {
        self.decryption = Some(keys.into_iter().collect());
        self
    }

    /// Whether `typ` is one of those accepted.
    pub(crate) fn accepts_type(&self, typ: Option<&str>) -> bool {
        self.types.iter().any(|accepted| match accepted {
            Some(accepted) => signet_jose::jws::typ_is(typ, accepted),
            None => typ.is_none(),
        })
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .field("issuers", &self.issuers)
            .field("audiences", &self.audiences)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "fetch"))]
mod tests {
    use super::*;

    #[test]
    fn a_token_with_a_header_is_not_opaque() {
        let policy = Policy::access_token("a");
        for signed in ["eyJ.e30.AA", "e.e.e", "eyJ.a.b.c.d"] {
            assert!(!policy.is_opaque(signed), "{signed}");
        }
        for opaque in ["x", "ya29.a0", "a.b.c", "eyJ", "eyJ.a", "eyJ.a.b.c"] {
            assert!(policy.is_opaque(opaque), "{opaque}");
        }
    }
}
