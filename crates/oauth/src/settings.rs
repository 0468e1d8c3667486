//! The server's protocol settings: from the configuration, immutable per snapshot.
//!
//! Every lifetime is in seconds. [`Settings::new`] gives the defaults, [`Settings::validate`] says
//! what cannot be served; nothing that did not pass it should become a snapshot.
use crate::administration::ReasonWanted;
use crate::authorize::acr;
use crate::endpoint::{EndpointId, split_issuer};
use crate::issued::names::wire_names;
use crate::people::access_rules::Mode;
use crate::people::passkeys::PasskeySettings;
use crate::people::sign_up::SignUpSettings;
use crate::scope::ScopeSet;
use crate::setting_fault::SettingFault;
use crate::uri::Uri;
use signet_agent::AgentId;
use signet_crypto::Algorithm;

/// The server's protocol settings. Lifetimes in seconds.
#[derive(Clone, Debug)]
pub struct Settings {
    /// the issuer identifier, without trailing slash
    pub issuer: String,
    /// base of mtls_endpoint_aliases; None: no listener asks for client certificates, and mTLS is
    /// not offered
    pub mtls_base: Option<String>,
    /// one of several nodes that serve the issuer: where this one is found itself, scheme and
    /// authority without a path. It answers there as it does under the issuer's name; what it
    /// issues names the issuer all the same
    pub node_base: Option<String>,
    /// authorization codes; 60 (FAPI 2.0 section 5.3.2.1: at most 60)
    pub code_lifetime: u64,
    /// access tokens; 600
    pub access_token_lifetime: u64,
    /// ID tokens; 600
    pub id_token_lifetime: u64,
    /// a refresh family, whatever its use; 30 days
    pub refresh_token_lifetime: u64,
    /// a refresh token that is not used; 14 days
    pub refresh_idle_lifetime: u64,
    /// pushed requests; 90 (RFC 9126 section 2.2 suggests 5 to 600)
    pub par_lifetime: u64,
    /// device and user codes; 600
    pub device_code_lifetime: u64,
    /// between two polls of a device; 5 (RFC 8628 section 3.2)
    pub device_poll_interval: u64,
    /// from `/authorize` to the last page of login and consent; 900
    pub interaction_lifetime: u64,
    /// a login session without requests; 8 hours
    pub session_idle_lifetime: u64,
    /// a login session, whatever its use; 7 days
    pub session_absolute_lifetime: u64,
    /// e-mailed one-time codes; 300
    pub otp_lifetime: u64,
    /// where neither client nor resource says otherwise; ES256
    pub access_token_alg: Algorithm,
    /// where the client does not say otherwise; ES256. A client that registers itself without
    /// naming one gets RS256 (OpenID Connect Registration section 2), where this server signs with
    /// it.
    pub id_token_alg: Algorithm,
    /// the algorithms that signing keys exist for
    pub signing_algs: Vec<Algorithm>,
    /// what compact access tokens are signed with; Ed25519
    pub compact_alg: signet_compact::Algorithm,
    /// None: the issuer is the audience where no resource was asked for
    pub default_audience: Option<String>,
    /// The class that every login has to reach (`authorize::acr`), whatever it is for.
    pub required_acr: Option<String>,
    /// Classes that some logins have to reach beside it.
    pub step_up: Vec<StepUp>,
    /// Every DPoP proof must carry a server nonce (RFC 9449 section 8).
    pub dpop_nonce_required: bool,
    /// how old a DPoP proof's `iat` may be; 60
    pub dpop_proof_max_age: u64,
    /// how far a client's clock may be ahead; 30 (FAPI 2.0 section 5.3.2.1: 10 must pass, over 60
    /// must not)
    pub clock_leeway: u64,
    /// seconds in which a sender-constrained client's retry of the same refresh token is answered
    /// again; 0: never
    pub refresh_retry_window: u64,
    /// dynamic client registration
    pub registration: RegistrationSettings,
    /// Every authorization request must be pushed (RFC 9126 section 5).
    pub require_pushed_authorization_requests: bool,
    /// People may log in here, and not only at identity providers; true.
    pub local_login: bool,
    /// chains of agents' grants
    pub agents: AgentSettings,
    /// what holds where no access rule decides
    pub access: Mode,
    /// passkeys
    pub passkeys: PasskeySettings,
    /// accounts that people make for themselves
    pub sign_up: SignUpSettings,
    /// how long an invitation can be accepted; 604800
    pub invitation_lifetime: u64,
    /// people may have their accounts deleted
    pub self_deletion: bool,
    /// how long a deletion can be undone; 1209600
    pub deletion_grace: u64,
    /// how long the groups count that an identity provider named at a login; 7776000
    pub provider_groups_lifetime: u64,
    /// which acts of administration need a reason
    pub reason: ReasonWanted,
}

/// Whose chains of agents' grants are exchanged for tokens. Nobody's unless it is enabled, and then
/// those of clients whose record says so (`may_exchange_agent_grants`), from identities that people
/// bound to their accounts.
#[derive(Clone, Debug, Default)]
pub struct AgentSettings {
    /// people may bind identities, and chains may be exchanged
    pub enabled: bool,
    /// the identities that chains may begin at; empty: every one that a person bound
    pub roots: Vec<AgentId>,
    /// custom constraints that are fulfilled here, each with its one value; every other one refuses
    pub constraints: Vec<(String, String)>,
}

/// What dynamic registration (RFC 7591) does and sets.
#[derive(Clone, Debug)]
pub struct RegistrationSettings {
    /// Is the endpoint there at all?
    pub enabled: bool,
    /// open: no initial access token
    pub open: bool,
    /// what a registered confidential client gets; public ones always need PKCE
    pub require_pkce: bool,
    /// the scope of a client that asked for none, and the most that one can ask for
    pub default_scope: ScopeSet,
    /// what a registered confidential, sender-constrained client gets; every other one rotates
    pub refresh_rotation: RefreshRotation,
    /// the grants that it may ask for, by name
    pub grant_types: Vec<String>,
    /// may it ask for signatures with ML-DSA, whose keys then stand in everybody's key set?
    pub ml_dsa: bool,
    /// may its assertions name the token endpoint as their audience (OpenID Connect Core section
    /// 9), not the issuer alone?
    pub token_endpoint_assertion_audience: bool,
}

/// Public clients always rotate. `Keep`: FAPI 2.0, sender-constrained confidential clients only.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefreshRotation {
    /// a new refresh token at every use
    Rotate,
    /// the same one goes on
    Keep,
}
wire_names!(RefreshRotation { Rotate = "rotate", Keep = "keep" });

impl Settings {
    /// The defaults for `issuer`.
    pub fn new(issuer: impl Into<String>) -> Settings {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        Settings {
            issuer: issuer.into(),
            mtls_base: None,
            node_base: None,
            code_lifetime: MINUTE,
            access_token_lifetime: 10 * MINUTE,
            id_token_lifetime: 10 * MINUTE,
            refresh_token_lifetime: 30 * DAY,
            refresh_idle_lifetime: 14 * DAY,
            par_lifetime: 90,
            device_code_lifetime: 10 * MINUTE,
            device_poll_interval: 5,
            interaction_lifetime: 15 * MINUTE,
            session_idle_lifetime: 8 * HOUR,
            session_absolute_lifetime: 7 * DAY,
            otp_lifetime: 5 * MINUTE,
            access_token_alg: Algorithm::Es256,
            id_token_alg: Algorithm::Es256,
            signing_algs: vec![Algorithm::Es256, Algorithm::Rs256],
            compact_alg: signet_compact::Algorithm::Ed25519,
            default_audience: None,
            required_acr: None,
            step_up: Vec::new(),
            dpop_nonce_required: false,
            dpop_proof_max_age: MINUTE,
            clock_leeway: 30,
            refresh_retry_window: 10,
            registration: RegistrationSettings::default(),
            require_pushed_authorization_requests: false,
            local_login: true,
            agents: AgentSettings::default(),
            access: Mode::default(),
            passkeys: PasskeySettings::default(),
            sign_up: SignUpSettings::default(),
            invitation_lifetime: 7 * DAY,
            self_deletion: false,
            deletion_grace: 14 * DAY,
            provider_groups_lifetime: 90 * DAY,
            reason: ReasonWanted::default(),
        }
    }

    /// The absolute URL of an endpoint.
    pub fn url(&self, id: EndpointId) -> String {
        id.url(&self.issuer)
    }

    /// The URL of an endpoint on the listener that asks for client certificates, where there is one
    /// and the endpoint is on it.
    pub fn mtls_url(&self, id: EndpointId) -> Option<String> {
        let base = self.mtls_base.as_deref()?;
        let row = id.row();
        row.mtls_alias.then(|| {
            let (origin, _) = split_issuer(base);
            let (_, path) = split_issuer(&self.issuer);
            format!("{origin}{}", row.route(path))
        })
    }

    /// The issuer as this node is found: its own base with the issuer's path. None where the issuer
    /// is served by one node, or by all of them under one name.
    pub fn node_issuer(&self) -> Option<String> {
        let (origin, _) = split_issuer(self.node_base.as_deref()?);
        let (_, path) = split_issuer(&self.issuer);
        Some(format!("{origin}{path}"))
    }

    /// The URL of an endpoint under this node's own base.
    pub fn node_url(&self, id: EndpointId) -> Option<String> {
        Some(id.url(&self.node_issuer()?))
    }

    /// Whether this names the issuer to this server: the issuer itself, or this node of it.
    pub fn is_issuer(&self, text: &str) -> bool {
        text == self.issuer || self.node_issuer().is_some_and(|node| node == text)
    }

    /// Every spelling of an endpoint's URL that a DPoP proof's `htu` may name: the ordinary one,
    /// this node's own, and its mTLS alias.
    pub fn urls(&self, id: EndpointId) -> impl Iterator<Item = String> {
        std::iter::once(self.url(id))
            .chain(self.node_url(id))
            .chain(self.mtls_url(id))
    }

    /// What cannot be served. Empty: all is well.
    pub fn validate(&self) -> Vec<SettingFault> {
        let mut faults = Vec::new();
        let mut check = |ok: bool, path: &'static str, message: &str| {
            if !ok {
                faults.push(SettingFault {
                    path: path.to_owned(),
                    message: message.to_owned(),
                });
            }
        };
        let is_base = |text: &str| {
            Uri::parse(text)
                .is_some_and(|u| u.scheme == "https" && u.host.is_some() && !u.rest.contains('?'))
                && !text.ends_with('/')
        };
        check(
            is_base(&self.issuer),
            "issuer",
            "must be an https URL without query, fragment and trailing slash (RFC 8414 section 2)",
        );
        check(
            self.mtls_base.as_deref().is_none_or(is_base),
            "listeners",
            "the public_url must be an https URL without query, fragment and trailing slash",
        );
        check(
            self.node_base.as_deref().is_none_or(is_base),
            "cluster.url",
            "must be an https URL without query, fragment and trailing slash",
        );
        for bound in &BOUNDS {
            let Bound {
                path, least, most, ..
            } = *bound;
            let value = (bound.of)(self);
            check(
                (least..=most).contains(&value),
                path,
                &format!("must be from {least} to {most} seconds, not {value}"),
            );
        }
        check(
            self.session_idle_lifetime <= self.session_absolute_lifetime,
            "lifetimes.session_idle",
            "is longer than lifetimes.session",
        );
        check(
            self.refresh_idle_lifetime <= self.refresh_token_lifetime,
            "lifetimes.refresh_idle",
            "is longer than lifetimes.refresh_token",
        );
        for (path, alg) in [
            ("keys.access_token", self.access_token_alg),
            ("keys.id_token", self.id_token_alg),
        ] {
            check(
                self.signing_algs.contains(&alg),
                path,
                &format!("is {}, which keys.algorithms does not name", alg.name()),
            );
        }
        check(
            !self.signing_algs.iter().any(|a| a.is_symmetric()),
            "keys.algorithms",
            "may not name symmetric algorithms: every client could sign",
        );
        check(
            !self.compact_alg.is_zero_knowledge(),
            "keys.compact",
            "must be hmac-sha256, ed25519 or ml-dsa-44",
        );
        check(
            self.default_audience
                .as_deref()
                .is_none_or(|a| !a.is_empty()),
            "protocol.default_audience",
            "is empty",
        );
        check(
            self.required_acr.as_deref().is_none_or(acr::exists),
            "protocol.required_acr",
            NO_CLASS,
        );
        for (index, row) in self.step_up.iter().enumerate() {
            if !acr::exists(&row.acr) {
                faults.push(SettingFault {
                    path: format!("step_up[{index}].acr"),
                    message: NO_CLASS.to_owned(),
                });
            }
        }
        faults.extend(self.passkeys.validate());
        faults
    }
}

const NO_CLASS: &str = "is no authentication context class of this server";

/// The least and the most of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// The setting, by the name that the configuration has for it.
    pub path: &'static str,
    /// Its value.
    of: fn(&Settings) -> u64,
    /// The least, seconds.
    pub least: u64,
    /// The most, seconds.
    pub most: u64,
}

const fn bound(path: &'static str, of: fn(&Settings) -> u64, least: u64, most: u64) -> Bound {
    Bound {
        path,
        of,
        least,
        most,
    }
}

const DAY: u64 = 86_400;

/// The protocol's settings that are lengths of time.
#[rustfmt::skip]
pub const BOUNDS: [Bound; 18] = [
    bound("lifetimes.code",                |s| s.code_lifetime,             5,    600),
    bound("lifetimes.access_token",        |s| s.access_token_lifetime,     10,   DAY),
    bound("lifetimes.id_token",            |s| s.id_token_lifetime,         10,   DAY),
    bound("lifetimes.refresh_token",       |s| s.refresh_token_lifetime,    60,   3660 * DAY),
    bound("lifetimes.refresh_idle",        |s| s.refresh_idle_lifetime,     60,   3660 * DAY),
    bound("lifetimes.pushed_request",      |s| s.par_lifetime,              5,    600),
    bound("lifetimes.device_code",         |s| s.device_code_lifetime,      60,   3600),
    bound("protocol.device_poll_interval", |s| s.device_poll_interval,      1,    60),
    bound("lifetimes.interaction",         |s| s.interaction_lifetime,      60,   DAY),
    bound("lifetimes.session_idle",        |s| s.session_idle_lifetime,     60,   366 * DAY),
    bound("lifetimes.session",             |s| s.session_absolute_lifetime, 60,   366 * DAY),
    bound("lifetimes.one_time_code",       |s| s.otp_lifetime,              60,   3600),
    bound("lifetimes.invitation",          |s| s.invitation_lifetime,       3600, 366 * DAY),
    bound("lifetimes.deletion_grace",      |s| s.deletion_grace,            3600, 366 * DAY),
    bound("lifetimes.provider_groups",     |s| s.provider_groups_lifetime,  3600, 366 * DAY),
    bound("protocol.dpop_proof_max_age",   |s| s.dpop_proof_max_age,        5,    600),
    bound("protocol.clock_leeway",         |s| s.clock_leeway,              0,    60),
    bound("protocol.refresh_retry_window", |s| s.refresh_retry_window,      0,    60),
];

/// A class that is demanded of some logins: of those for which each list that is not empty has one
/// that fits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepUp {
    /// The class (`acr`).
    pub acr: String,
    /// Names of groups that the person is in, directly or through others.
    pub groups: Vec<String>,
    /// Scopes that are asked for.
    pub scopes: Vec<String>,
    /// Clients that ask.
    pub clients: Vec<String>,
}

impl Default for RegistrationSettings {
    /// Closed; PKCE required; the standard scopes.
    fn default() -> Self {
        RegistrationSettings {
            enabled: false,
            open: false,
            require_pkce: true,
            default_scope: ScopeSet::parse("openid profile email address phone offline_access")
                // Invariant: a constant of valid tokens.
                .expect("the standard scopes are well-formed"),
            refresh_rotation: RefreshRotation::Rotate,
            grant_types: vec!["authorization_code".to_owned(), "refresh_token".to_owned()],
            ml_dsa: false,
            token_endpoint_assertion_audience: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_can_be_served() {
        assert_eq!(
            Settings::new("https://localhost:8443").validate(),
            Vec::new()
        );
    }

    #[test]
    fn what_cannot_be_served_is_said() {
        for bad in [
            "http://id.example",
            "https://id.example/",
            "https://id.example?x",
            "id.example",
        ] {
            assert!(!Settings::new(bad).validate().is_empty(), "{bad}");
        }
        let mut s = Settings::new("https://id.example");
        s.code_lifetime = 3600;
        s.signing_algs = vec![Algorithm::Hs256];
        assert_eq!(s.validate().len(), 4);
    }

    #[test]
    fn only_aliased_endpoints_have_an_mtls_url() {
        let mut s = Settings::new("https://id.example/t");
        assert_eq!(s.mtls_url(EndpointId::Token), None);
        s.mtls_base = Some("https://mtls.id.example:9443".to_owned());
        assert_eq!(
            s.mtls_url(EndpointId::Token).as_deref(),
            Some("https://mtls.id.example:9443/t/token")
        );
        assert_eq!(s.mtls_url(EndpointId::Authorize), None);
        assert_eq!(s.urls(EndpointId::Token).count(), 2);
    }
}
