//! The rules between the members of a client's metadata.
use super::{invalid, invalid_redirect};
use crate::authorize::acr;
use crate::authorize::redirect_uri::RedirectUri;
use crate::client::{AuthMethod, Client, GrantType, RefreshRotation};
use crate::error::OAuthError;
use crate::people::claim_rules::{self, TableOf};
use crate::settings::Settings;
use crate::uri::{self, Uri};
use signet_crypto::Algorithm;

/// A member that does not fit the others, or this server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadMember {
    /// which one: a name of [`super::MEMBERS`]
    pub member: &'static str,
    /// what the registrant hears; the description says which rule
    pub error: OAuthError,
}

impl From<BadMember> for OAuthError {
    fn from(bad: BadMember) -> OAuthError {
        bad.error
    }
}

/// The rules that hold for every client, whoever registered it.
///
/// # Errors
/// `invalid_client_metadata` or `invalid_redirect_uri`, and the member that it is about.
pub fn check(client: &Client, settings: &Settings) -> Result<(), BadMember> {
    let code = client.may_use(GrantType::AuthorizationCode);
    let method = client.token_endpoint_auth_method;
    let has_keys = client.jwks.is_some() || client.jwks_uri.is_some();
    let mtls = settings.mtls_base.is_some();
    let signs = |alg: Option<Algorithm>| alg.is_none_or(|a| settings.signing_algs.contains(&a));
    let assertion_alg = client.token_endpoint_auth_signing_alg;
    let origin = |url: &str| Uri::parse(url).and_then(|url| url.origin());
    let of_a_redirect = |url: &str| {
        origin(url).is_some_and(|own| {
            let redirects = client.redirect_uris.iter();
            redirects
                .filter_map(|uri| origin(uri.as_str()))
                .any(|uri| uri == own)
        })
    };
    if code && client.redirect_uris.is_empty() {
        return Err(BadMember {
            member: "redirect_uris",
            error: invalid_redirect(
                "redirect_uris is missing: the authorization_code grant needs one",
            ),
        });
    }
    // People read these before they approve something. Clients at rest keep what they have.
    let is_seen = |text: &str| text.chars().all(signet_agent::text::is_seen);
    let all_seen = |text: &Option<String>| text.as_deref().is_none_or(is_seen);
    // (the member, what must hold, what is said where it does not)
    #[rustfmt::skip]
    let rules = [
        ("grant_types", client.grant_types.iter().enumerate().all(|(i, g)| !client.grant_types[..i].contains(g)),
            "grant_types names one grant twice"),
        ("response_types", client.response_types.iter().all(|t| t == "code") && client.response_types.len() <= 1,
            "the only supported response type is code"),
        ("response_types", code != client.response_types.is_empty(),
            "response_type code and grant type authorization_code go together (RFC 7591 section 2.1)"),
        ("grant_types", !(client.is_public() && client.may_use(GrantType::ClientCredentials)),
            "client_credentials is for clients that authenticate (RFC 6749 section 4.4)"),
        ("grant_types", !(client.is_public() && client.may_use(GrantType::TokenExchange)),
            "token exchange is for clients that authenticate"),
        ("require_pkce", !(client.is_public() && !client.require_pkce && code),
            "a public client cannot be freed of PKCE (RFC 7636, OAuth 2.1 section 4.1.1)"),
        ("jwks_uri", !(client.jwks.is_some() && client.jwks_uri.is_some()),
            "jwks and jwks_uri must not be used together (RFC 7591 section 2)"),
        ("jwks", client.jwks.as_ref().is_none_or(|k| !k.keys.is_empty()),
            "jwks has no key that can be used"),
        ("token_endpoint_auth_method", method != AuthMethod::PrivateKeyJwt || has_keys,
            "private_key_jwt needs jwks or jwks_uri"),
        ("token_endpoint_auth_method", method != AuthMethod::SelfSignedTlsClientAuth || has_keys,
            "self_signed_tls_client_auth needs jwks or jwks_uri (RFC 8705 section 2.2.2)"),
        ("token_endpoint_auth_method", method != AuthMethod::TlsClientAuth || client.tls_client_auth.is_some(),
            "tls_client_auth needs exactly one tls_client_auth_* member (RFC 8705 section 2.1.2)"),
        ("token_endpoint_auth_method", !method.is_mtls() || mtls,
            "this server has no listener that asks for client certificates"),
        ("tls_client_certificate_bound_access_tokens", !client.tls_client_certificate_bound_access_tokens || mtls,
            "this server has no listener that asks for client certificates"),
        ("token_endpoint_auth_signing_alg", method != AuthMethod::PrivateKeyJwt || assertion_alg.is_none_or(|a| !a.is_symmetric()),
            "token_endpoint_auth_signing_alg does not fit private_key_jwt"),
        ("token_endpoint_auth_signing_alg", method != AuthMethod::ClientSecretJwt || assertion_alg.is_none_or(|a| a.is_symmetric()),
            "token_endpoint_auth_signing_alg does not fit client_secret_jwt"),
        ("token_endpoint_assertion_audience", !client.token_endpoint_assertion_audience || client.accepts_token_endpoint_audience(settings),
            "a client that must push its requests or bind its tokens names the issuer as the audience of its assertions (FAPI 2.0 section 5.3.2.1)"),
        ("id_token_signed_response_alg", signs(client.id_token_signed_response_alg),
            "id_token_signed_response_alg is not one that this server signs with"),
        ("userinfo_signed_response_alg", signs(client.userinfo_signed_response_alg),
            "userinfo_signed_response_alg is not one that this server signs with"),
        ("access_token_signed_response_alg", signs(client.access_token_signed_response_alg),
            "access_token_signed_response_alg is not one that this server signs with"),
        ("introspection_signed_response_alg", signs(client.introspection_signed_response_alg),
            "introspection_signed_response_alg is not one that this server signs with"),
        ("refresh_rotation", client.refresh_rotation == RefreshRotation::Rotate || !client.is_public() && client.is_sender_constrained(),
            "only a confidential client with sender-constrained tokens may keep its refresh token"),
        ("client_name", all_seen(&client.client_name),
            "client_name has characters that cannot be seen, or that turn the text around"),
        ("contacts", client.contacts.iter().all(|contact| is_seen(contact)),
            "contacts has characters that cannot be seen, or that turn the text around"),
        ("software_id", all_seen(&client.software_id),
            "software_id has characters that cannot be seen, or that turn the text around"),
        ("software_version", all_seen(&client.software_version),
            "software_version has characters that cannot be seen, or that turn the text around"),
        ("initiate_login_uri", client.initiate_login_uri.as_ref().is_none_or(|u| u.starts_with("https:")),
            "initiate_login_uri must be an https URL"),
        ("frontchannel_logout_uri", client.frontchannel_logout_uri.as_deref().is_none_or(of_a_redirect),
            "frontchannel_logout_uri must have scheme, host and port of a redirect URI (OpenID Connect Front-Channel Logout section 2)"),
        ("allowed_origins", client.allowed_origins.iter().all(|o| uri::is_origin(o)),
            "allowed_origins must be web origins, without path"),
        ("required_acr", client.required_acr.as_deref().is_none_or(acr::exists),
            "required_acr is no authentication context class of this server"),
    ];
    let format = client.access_token_format;
    if let Err(fault) = claim_rules::check(&client.claims, TableOf::Client, None, format) {
        return Err(BadMember {
            member: "claims",
            error: invalid(fault),
        });
    }
    match rules.iter().find(|(_, holds, _)| !holds) {
        None => Ok(()),
        Some((member, _, fault)) => Err(BadMember {
            member,
            error: invalid(fault),
        }),
    }
}

/// OpenID Connect Registration section 5: every redirect URI must be in the list that
/// `sector_identifier_uri` leads to. `sector`: that list; None where it could not be fetched.
///
/// # Errors
/// `invalid_client_metadata`.
pub fn check_sector(client: &Client, sector: Option<&[String]>) -> Result<(), OAuthError> {
    match (&client.sector_identifier_uri, sector) {
        (None, _) => Ok(()),
        (Some(_), None) => Err(invalid(
            "the list at sector_identifier_uri could not be read",
        )),
        (Some(_), Some(list)) => {
            let listed = |r: &RedirectUri| list.iter().any(|l| l == r.as_str());
            if client.redirect_uris.iter().all(listed) {
                Ok(())
            } else {
                Err(invalid(
                    "a redirect URI is not in the list at sector_identifier_uri",
                ))
            }
        }
    }
}
