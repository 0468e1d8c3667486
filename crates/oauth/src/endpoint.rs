//! The one table of endpoints: routes and metadata documents are generated from it, so neither can
//! name what the other has not.
//!
//! Paths are relative to the issuer's own path. Only the RFC 8414 document stands elsewhere: its
//! well-known segment goes between host and path (RFC 8414 section 3.1).

/// The methods that an endpoint answers. `HEAD` comes with `Get`, `OPTIONS` with `cors`; both are
/// the router's business.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// DELETE
    Delete,
}

impl Method {
    /// The method's name in a request line.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Delete => "DELETE",
        }
    }
}

/// One row: path, methods, metadata member (if advertised), and whether an mTLS alias is published.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint {
    /// which one
    pub id: EndpointId,
    /// below the issuer; `{client_id}` stands for one path segment
    pub path: &'static str,
    /// answered methods
    pub methods: &'static [Method],
    /// member of the metadata documents
    pub metadata: Option<&'static str>,
    /// listed in `mtls_endpoint_aliases` (RFC 8705 section 5), and served on the listener that asks
    /// for client certificates
    pub mtls_alias: bool,
    /// Cross-origin requests of browsers are answered.
    pub cors: Cors,
}

/// Which origins may read an endpoint's answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cors {
    /// none
    No,
    /// any: the document is public and the request carries no credential
    Any,
    /// those that a client registered (`allowed_origins`)
    Registered,
}

/// The endpoints by name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum EndpointId {
    /// RFC 8414
    OauthMetadata,
    /// OpenID Connect Discovery
    OpenidMetadata,
    /// RFC 7517 section 5
    Jwks,
    /// the public keys of compact access tokens
    CompactKeys,
    /// RFC 6749 section 3.1
    Authorize,
    /// RFC 6749 section 3.2
    Token,
    /// RFC 7662
    Introspect,
    /// RFC 7009
    Revoke,
    /// what is revoked, as it happens: for resource servers
    RevocationStream,
    /// OpenID Connect Core section 5.3
    Userinfo,
    /// RFC 9126
    Par,
    /// RFC 7591
    Register,
    /// RFC 7592
    RegisterClient,
    /// RFC 8628 section 3.1
    DeviceAuthorization,
    /// RFC 8628 section 3.3
    DeviceVerification,
    /// OpenID RP-Initiated Logout
    Logout,
    /// OpenID Connect Session Management section 3.2
    CheckSession,
    /// an administrator's password for a token of the command line
    PasswordLogin,
    /// what agents say, signed: revocations and declarations of refusal
    AgentStatements,
}

const WELL_KNOWN_OAUTH: &str = "/.well-known/oauth-authorization-server";

/// Every endpoint.
#[rustfmt::skip]
pub const ENDPOINTS: &[Endpoint] = {
    use EndpointId::*;
    use Method::*;
    const fn row(id: EndpointId, path: &'static str, methods: &'static [Method], metadata: Option<&'static str>, mtls_alias: bool, cors: Cors) -> Endpoint {
        Endpoint { id, path, methods, metadata, mtls_alias, cors }
    }
    &[
        row(OauthMetadata,       WELL_KNOWN_OAUTH,                    &[Get],              None,                                  false, Cors::Any),
        row(OpenidMetadata,      "/.well-known/openid-configuration", &[Get],              None,                                  false, Cors::Any),
        row(Jwks,                "/jwks",                             &[Get],              Some("jwks_uri"),                      false, Cors::Any),
        row(CompactKeys,         "/compact-keys",                     &[Get],              Some("signet_compact_keys_uri"),       false, Cors::Any),
        row(Authorize,           "/authorize",                        &[Get, Post],        Some("authorization_endpoint"),        false, Cors::No),
        row(Token,               "/token",                            &[Post],             Some("token_endpoint"),                true,  Cors::Registered),
        row(Introspect,          "/introspect",                       &[Post],             Some("introspection_endpoint"),        true,  Cors::No),
        row(Revoke,              "/revoke",                           &[Post],             Some("revocation_endpoint"),           true,  Cors::Registered),
        row(RevocationStream,    "/revocations",                      &[Post],             Some("signet_revocation_stream_uri"),  true,  Cors::No),
        row(Userinfo,            "/userinfo",                         &[Get, Post],        Some("userinfo_endpoint"),             true,  Cors::Registered),
        row(Par,                 "/par",                              &[Post],             Some("pushed_authorization_request_endpoint"), true, Cors::Registered),
        row(Register,            "/register",                         &[Post],             Some("registration_endpoint"),         false, Cors::No),
        row(RegisterClient,      "/register/{client_id}",             &[Get, Put, Delete], None,                                  false, Cors::No),
        row(DeviceAuthorization, "/device_authorization",             &[Post],             Some("device_authorization_endpoint"), true,  Cors::No),
        row(DeviceVerification,  "/device",                           &[Get, Post],        None,                                  false, Cors::No),
        row(AgentStatements,     "/agent-statements",                 &[Post],             Some("signet_agent_statements_endpoint"), false, Cors::No),
        row(PasswordLogin,       "/password-login",                   &[Post],             None,                                  false, Cors::No),
        row(Logout,              "/logout",                           &[Get, Post],        Some("end_session_endpoint"),          false, Cors::No),
        row(CheckSession,        "/check-session",                    &[Get],              Some("check_session_iframe"),          false, Cors::No),
    ]
};

impl EndpointId {
    /// This endpoint's row.
    pub fn row(self) -> &'static Endpoint {
        ENDPOINTS
            .iter()
            .find(|e| e.id == self)
            // Invariant: `every_endpoint_has_one_row` holds the table to it.
            .expect("every endpoint has a row")
    }
    /// The absolute URL under `issuer` (which has no trailing slash).
    pub fn url(self, issuer: &str) -> String {
        let row = self.row();
        let (origin, path) = split_issuer(issuer);
        format!("{origin}{}", row.route(path))
    }
}

impl Endpoint {
    /// The request path that the router answers, where the issuer's own path is `issuer_path`
    /// (empty, or `/x`).
    pub fn route(&self, issuer_path: &str) -> String {
        if self.id == EndpointId::OauthMetadata {
            format!("{}{issuer_path}", self.path)
        } else {
            format!("{issuer_path}{}", self.path)
        }
    }
}

/// (`https://host[:port]`, path without trailing slash) of an issuer identifier.
pub fn split_issuer(issuer: &str) -> (&str, &str) {
    let after_scheme = issuer.find("://").map_or(0, |i| i + 3);
    let path = issuer[after_scheme..]
        .find('/')
        .map_or(issuer.len(), |i| after_scheme + i);
    let (origin, path) = issuer.split_at(path);
    (origin, path.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_endpoint_has_one_row() {
        use EndpointId::*;
        for id in [
            OauthMetadata,
            OpenidMetadata,
            Jwks,
            CompactKeys,
            Authorize,
            Token,
            Introspect,
            Revoke,
            RevocationStream,
            Userinfo,
            Par,
            Register,
            RegisterClient,
            DeviceAuthorization,
            DeviceVerification,
            Logout,
            PasswordLogin,
            AgentStatements,
        ] {
            assert_eq!(ENDPOINTS.iter().filter(|e| e.id == id).count(), 1, "{id:?}");
            assert_eq!(id.row().id, id);
        }
        for (i, a) in ENDPOINTS.iter().enumerate() {
            assert!(ENDPOINTS[i + 1..].iter().all(|b| b.path != a.path));
        }
    }

    #[test]
    fn the_rfc_8414_document_stands_before_the_issuers_path() {
        let issuer = "https://id.example/tenant";
        assert_eq!(
            EndpointId::OauthMetadata.url(issuer),
            "https://id.example/.well-known/oauth-authorization-server/tenant"
        );
        assert_eq!(
            EndpointId::OpenidMetadata.url(issuer),
            "https://id.example/tenant/.well-known/openid-configuration"
        );
        assert_eq!(
            EndpointId::Token.url("https://localhost:8443"),
            "https://localhost:8443/token"
        );
    }

    #[test]
    fn endpoints_that_browsers_are_sent_to_never_ask_for_a_certificate_and_answer_no_script() {
        for e in ENDPOINTS.iter().filter(|e| {
            matches!(
                e.id,
                EndpointId::Authorize
                    | EndpointId::DeviceVerification
                    | EndpointId::Logout
                    | EndpointId::CheckSession
            )
        }) {
            assert!(!e.mtls_alias && e.cors == Cors::No);
        }
    }
}
