//! What a login is configured with.

use crate::{Application, ClientAuthentication, Paths, paths, session};
use signet_verify::Policy;

/// The whole of it. The issuer's keys, the sealing keys and the network are handed in beside it.
#[derive(Debug)]
pub struct Settings {
    /// As `iss` says it, byte for byte.
    pub issuer: String,
    /// The gate's, at that issuer.
    pub client_id: String,
    /// How the gate shows that it is that client.
    pub authentication: ClientAuthentication,
    /// Whom people are logged in for. No other host is answered.
    pub applications: Vec<Application>,
    /// The path of the redirect URI at each application.
    pub redirect_path: String,
    /// What is asked for; `openid` is among it.
    pub scopes: Vec<String>,
    /// `resource` (RFC 8707), once for each.
    pub resources: Vec<String>,
    /// `acr_values`; the ID token must have one of them.
    pub acr: Vec<String>,
    /// `max_age`, seconds.
    pub max_age: Option<u64>,
    /// Seconds without a request after which a session is over.
    pub idle: u64,
    /// Seconds after which it is over in any case.
    pub absolute: u64,
    /// The path of an application to which a logout at the issuer returns.
    pub after_logout: Option<String>,
    /// Rules by path.
    pub paths: Paths,
    /// Claims that header fields carry.
    pub claims: Vec<String>,
}

/// The policies of [`Settings::policies`], by name.
pub(crate) const ID_TOKEN: &str = "login";
pub(crate) const LOGOUT_TOKEN: &str = "logout";
pub(crate) const ACCESS_TOKEN: &str = "access";

impl Settings {
    /// What tokens of the issuer are held to: for the verifier that [`crate::Login::new`] is given.
    pub fn policies(&self) -> [Policy; 3] {
        let mut id_token = Policy::id_token(&self.client_id)
            .named(ID_TOKEN)
            .issuer(&self.issuer);
        for acr in &self.acr {
            id_token = id_token.acr(acr);
        }
        if let Some(seconds) = self.max_age {
            id_token = id_token.authentication_max_age(seconds);
        }
        let logout_token = Policy::logout_token(&self.client_id)
            .named(LOGOUT_TOKEN)
            .issuer(&self.issuer);
        // It is for somebody else, and read for its grant alone.
        let access_token = Policy::access_token("")
            .named(ACCESS_TOKEN)
            .issuer(&self.issuer)
            .any_audience()
            .authorized_party(&self.client_id);
        [id_token, logout_token, access_token]
    }

    /// Claims of a session beside those that it has in any case.
    pub(crate) fn further_claims(&self) -> Vec<String> {
        let groups = self.paths.reads_groups().then_some(paths::GROUPS);
        let mut names: Vec<String> = Vec::new();
        for name in self.claims.iter().map(String::as_str).chain(groups) {
            if !session::is_built_in(name) && !names.iter().any(|other| other == name) {
                names.push(name.to_owned());
            }
        }
        names
    }
}
