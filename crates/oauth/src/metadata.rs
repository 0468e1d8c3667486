//! The metadata document (RFC 8414 and OpenID Connect Discovery 1.0), rendered from the tables that
//! the code runs by: endpoints, grants, client authentication methods, algorithms, settings. What
//! is not in a table is not advertised, and what is in one is (known fault A16).
//!
//! One document serves both well-known paths: their members never disagree.
use crate::authorize::{PROMPT_VALUES, RESPONSE_MODES, acr};
use crate::client::AuthMethod;
use crate::endpoint::{ENDPOINTS, EndpointId};
use crate::issued::agent_grants::{CHAIN_TYPE, DETAILS_TYPE};
use crate::people::userinfo;
use crate::registry::Registry;
use crate::settings::Settings;
use crate::token::client_auth::METHODS;
use crate::token::grant::{GRANTS, SUBJECT_TOKEN_TYPES};
use signet_crypto::Algorithm;
use signet_encoding::json::Writer;

/// The document, as JSON text. Rendered once a snapshot, not once a request.
/// `ui_locales`: the tags of the languages that the pages are written in.
pub fn metadata(settings: &Settings, registry: &Registry, ui_locales: &[&str]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096);
    Writer::new(&mut out).object(|w| {
        w.member("issuer").string(&settings.issuer);
        for endpoint in ENDPOINTS.iter().filter(|e| is_served(e.id, settings)) {
            if let Some(name) = endpoint.metadata {
                w.member(name).string(&settings.url(endpoint.id));
            }
        }
        w.member("scopes_supported").strings(
            registry
                .scopes
                .iter()
                .filter(|s| s.published)
                .map(|s| s.name.as_str()),
        );
        w.member("response_types_supported").strings(["code"]);
        w.member("response_modes_supported")
            .strings(RESPONSE_MODES.iter().map(|m| m.name()));
        w.member("grant_types_supported")
            .strings(GRANTS.iter().map(|g| g.grant_type.as_str()));
        // RFC 9396 section 10, and what token exchange takes: RFC 8693 registers no member for
        // that.
        if settings.agents.enabled {
            w.member("authorization_details_types_supported")
                .strings([DETAILS_TYPE]);
        }
        w.member("signet_subject_token_types_supported")
            .strings(subject_token_types(settings));
        w.member("subject_types_supported").strings(["public"]);
        w.member("acr_values_supported")
            .strings(acr::CLASSES.iter().map(|c| c.name));
        let prompts = PROMPT_VALUES.into_iter();
        w.member("prompt_values_supported")
            .strings(prompts.filter(|value| *value != "create" || settings.sign_up.enabled));
        client_authentication(w, settings);
        for name in [
            "id_token_signing_alg_values_supported",
            "userinfo_signing_alg_values_supported",
            // RFC 9701 section 7
            "introspection_signing_alg_values_supported",
        ] {
            w.member(name)
                .strings(settings.signing_algs.iter().map(|a| a.name()));
        }
        w.member("dpop_signing_alg_values_supported")
            .strings(signet_jose::dpop::PROOF_ALGORITHMS.split(' '));
        w.member("code_challenge_methods_supported")
            .strings(["S256"]);
        w.member("claim_types_supported").strings(["normal"]);
        w.member("ui_locales_supported")
            .strings(ui_locales.iter().copied());
        w.member("claims_supported")
            .strings(userinfo::claims_supported(registry));
        for (name, value) in [
            ("backchannel_logout_supported", true),
            ("backchannel_logout_session_supported", true),
            ("frontchannel_logout_supported", true),
            ("frontchannel_logout_session_supported", true),
            ("claims_parameter_supported", true),
            ("request_parameter_supported", false),
            ("request_uri_parameter_supported", false),
            ("authorization_response_iss_parameter_supported", true),
            (
                "require_pushed_authorization_requests",
                settings.require_pushed_authorization_requests,
            ),
            (
                "tls_client_certificate_bound_access_tokens",
                settings.mtls_base.is_some(),
            ),
        ] {
            w.member(name).bool(value);
        }
        if settings.mtls_base.is_some() {
            w.member("mtls_endpoint_aliases").object(|w| {
                for endpoint in ENDPOINTS.iter().filter(|e| is_served(e.id, settings)) {
                    // RFC 8705 section 5: the object's members are endpoints, by their names. A URI
                    // of our own that is none is found on the same listener, and its clients are
                    // informed by hand.
                    if let (Some(name), Some(url)) =
                        (endpoint.metadata, settings.mtls_url(endpoint.id))
                        && name.ends_with("_endpoint")
                    {
                        w.member(name).string(&url);
                    }
                }
            });
        }
    });
    out
}

/// Has the endpoint anything to give under these settings? Closed registration is done by the admin
/// API.
pub fn is_served(id: EndpointId, settings: &Settings) -> bool {
    match id {
        EndpointId::Register => settings.registration.enabled && settings.registration.open,
        EndpointId::RegisterClient => settings.registration.enabled,
        EndpointId::AgentStatements => settings.agents.enabled,
        // Without https browsers do not keep the cookie that it reads.
        EndpointId::CheckSession => settings.issuer.starts_with("https://"),
        EndpointId::OauthMetadata
        | EndpointId::OpenidMetadata
        | EndpointId::Jwks
        | EndpointId::CompactKeys
        | EndpointId::Authorize
        | EndpointId::Token
        | EndpointId::Introspect
        | EndpointId::Revoke
        | EndpointId::RevocationStream
        | EndpointId::Userinfo
        | EndpointId::Par
        | EndpointId::DeviceAuthorization
        | EndpointId::DeviceVerification
        | EndpointId::PasswordLogin
        | EndpointId::Logout => true,
    }
}

/// What token exchange takes as a subject token.
pub fn subject_token_types(settings: &Settings) -> impl Iterator<Item = &'static str> {
    let chain = settings.agents.enabled.then_some(CHAIN_TYPE);
    SUBJECT_TOKEN_TYPES.into_iter().chain(chain)
}

/// The methods that a client can use here: those with certificates need a listener that asks for
/// them.
pub fn offered_methods(settings: &Settings) -> impl Iterator<Item = AuthMethod> {
    let mtls = settings.mtls_base.is_some();
    METHODS
        .iter()
        .map(|row| row.method)
        .filter(move |m| mtls || !m.is_mtls())
}

/// The algorithms that client assertions are verified with: private_key_jwt, then
/// client_secret_jwt.
pub fn assertion_algorithms() -> impl Iterator<Item = Algorithm> {
    Algorithm::ALL.iter().copied()
}

fn client_authentication(w: &mut Writer<'_>, settings: &Settings) {
    for endpoint in [
        "token_endpoint",
        "introspection_endpoint",
        "revocation_endpoint",
    ] {
        // A public client has no say about tokens at introspection.
        let public = endpoint != "introspection_endpoint";
        w.member(&format!("{endpoint}_auth_methods_supported"))
            .strings(
                offered_methods(settings)
                    .filter(|m| public || *m != AuthMethod::None)
                    .map(|m| m.as_str()),
            );
        w.member(&format!("{endpoint}_auth_signing_alg_values_supported"))
            .strings(assertion_algorithms().map(|a| a.name()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use signet_encoding::json::{self, Limits};

    fn strings(document: &[u8], name: &str) -> Vec<String> {
        let object = json::parse_object(document, &Limits::default()).unwrap();
        object
            .strings(name)
            .unwrap()
            .unwrap_or_default()
            .into_iter()
            .map(str::to_owned)
            .collect()
    }
    fn has(document: &[u8], name: &str) -> bool {
        json::parse_object(document, &Limits::default())
            .unwrap()
            .get(name)
            .is_some()
    }

    fn registry() -> Registry {
        Registry {
            scopes: Registry::standard_scopes(),
            ..Registry::default()
        }
    }

    #[test]
    fn every_advertised_endpoint_is_in_the_table_and_under_the_issuer() {
        let settings = Settings::new("https://id.example/t");
        let document = metadata(&settings, &registry(), &["en"]);
        let object = json::parse_object(&document, &Limits::default()).unwrap();
        for (name, value) in object.iter() {
            if name.ends_with("_endpoint") || name == "jwks_uri" {
                let row = ENDPOINTS
                    .iter()
                    .find(|e| e.metadata == Some(name))
                    .expect(name);
                assert_eq!(value.as_str(), Some(settings.url(row.id).as_str()));
            }
        }
    }

    #[test]
    fn nothing_is_advertised_that_is_switched_off() {
        let mut settings = Settings::new("https://id.example");
        let document = metadata(&settings, &registry(), &["en"]);
        assert!(!has(&document, "registration_endpoint"));
        assert!(!has(&document, "mtls_endpoint_aliases"));
        let methods = strings(&document, "token_endpoint_auth_methods_supported");
        assert!(!methods.iter().any(|m| m.contains("tls")));

        settings.registration.enabled = true;
        assert!(!has(
            &metadata(&settings, &registry(), &["en"]),
            "registration_endpoint"
        ));
        settings.registration.open = true;
        settings.mtls_base = Some("https://id.example:9443".into());
        let document = metadata(&settings, &registry(), &["en"]);
        assert!(has(&document, "registration_endpoint"));
        assert!(has(&document, "mtls_endpoint_aliases"));
        assert_eq!(
            strings(&document, "token_endpoint_auth_methods_supported").len(),
            METHODS.len()
        );
    }

    #[test]
    fn neither_pairwise_subjects_nor_encryption_nor_request_objects_are_advertised() {
        let document = metadata(&Settings::new("https://id.example"), &registry(), &["en"]);
        assert_eq!(strings(&document, "subject_types_supported"), ["public"]);
        let text = String::from_utf8(document).unwrap();
        for absent in [
            "encryption",
            "pairwise",
            "\"none\",\"plain",
            "plain",
            "request_object",
            "implicit",
            "fragment",
        ] {
            assert!(!text.contains(absent), "{absent}");
        }
    }

    #[test]
    fn every_advertised_algorithm_exists() {
        let document = metadata(&Settings::new("https://id.example"), &registry(), &["en"]);
        let object = json::parse_object(&document, &Limits::default()).unwrap();
        for (name, _) in object.iter().filter(|(n, _)| n.contains("_alg_values_")) {
            let algorithms = strings(&document, name);
            assert!(!algorithms.is_empty());
            assert!(
                algorithms.iter().all(|a| Algorithm::from_name(a).is_some()),
                "{name}"
            );
        }
    }

    #[test]
    fn what_discovery_requires_is_there() {
        let document = metadata(&Settings::new("https://id.example"), &registry(), &["en"]);
        for name in [
            "issuer",
            "authorization_endpoint",
            "token_endpoint",
            "userinfo_endpoint",
            "jwks_uri",
            "scopes_supported",
            "response_types_supported",
            "subject_types_supported",
            "id_token_signing_alg_values_supported",
            "claims_supported",
        ] {
            assert!(has(&document, name), "{name}");
        }
        assert!(
            strings(&document, "id_token_signing_alg_values_supported")
                .contains(&"RS256".to_owned())
        );
    }

    /// RFC 8705 section 5: the object names endpoints; a client that reads it as such must find
    /// nothing else.
    #[test]
    fn every_mtls_alias_is_an_endpoint() {
        let mut settings = Settings::new("https://id.example");
        settings.mtls_base = Some("https://id.example:9443".into());
        let document = metadata(&settings, &registry(), &["en"]);
        let object = json::parse_object(&document, &Limits::default()).unwrap();
        let aliases = object.get("mtls_endpoint_aliases").unwrap();
        let aliases = aliases.as_object().unwrap();
        assert!(aliases.get("token_endpoint").is_some());
        for (name, _) in aliases.iter() {
            assert!(name.ends_with("_endpoint"), "{name}");
            assert!(object.get(name).is_some(), "{name}");
        }
    }
}
