//! Reading a metadata document into a client.
use super::invalid;
use crate::{
    client::{
        ApplicationType, AuthMethod, Client, ConsentPolicy, GrantType, RefreshRotation,
        TlsClientAuth,
    },
    error::{ErrorCode, OAuthError},
    format::AccessTokenFormat,
    redirect_uri::RedirectUri,
    scope::ScopeSet,
    settings::Settings,
    uri,
};
use signet_crypto::Algorithm;
use signet_jose::{
    json::{Object, Value},
    jwk::JwkSet,
};

/// The most redirect URIs of one kind.
const MAX_URIS: usize = 64;
const MAX_TEXT_BYTES: usize = 512;

/// What a document may say.
#[derive(Clone, Debug)]
pub struct Rules {
    /// the grants that it may name
    grants: Vec<GrantType>,
    /// members of the operator's policy are read
    operator: bool,
}

impl Rules {
    /// For whoever may call `/register`: no token exchange, no policy.
    pub fn dynamic(_settings: &Settings) -> Rules {
        Rules {
            grants: GrantType::ALL
                .iter()
                .copied()
                .filter(|g| *g != GrantType::TokenExchange)
                .collect(),
            operator: false,
        }
    }
    /// For the operator and the stored form: everything.
    pub fn operator() -> Rules {
        Rules {
            grants: GrantType::ALL.to_vec(),
            operator: true,
        }
    }
}

/// A description that names the member and what it must be.
macro_rules! must {
    ($name:literal, $what:literal) => {
        || invalid(concat!($name, " must be ", $what))
    };
}

/// Reads one member through a reader that gives None for a wrong value. Null is as if left out.
fn member<'v, T>(
    document: &'v Object<'_>,
    name: &str,
    read: impl FnOnce(&'v Value<'_>) -> Option<T>,
    fault: impl FnOnce() -> OAuthError,
) -> Result<Option<T>, OAuthError> {
    match document.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => read(value).map(Some).ok_or_else(fault),
    }
}

fn text(value: &Value<'_>) -> Option<String> {
    value
        .as_str()
        .filter(|t| !t.is_empty() && t.len() <= MAX_TEXT_BYTES && !t.chars().any(char::is_control))
        .map(str::to_owned)
}

fn url(value: &Value<'_>) -> Option<String> {
    value
        .as_str()
        .filter(|t| uri::is_web_url(t))
        .map(str::to_owned)
}

fn strings(value: &Value<'_>) -> Option<Vec<String>> {
    let values = value.as_array().filter(|a| a.len() <= MAX_URIS)?;
    values
        .iter()
        .map(|v| {
            v.as_str()
                .filter(|t| t.len() <= uri::MAX_URI_BYTES)
                .map(str::to_owned)
        })
        .collect()
}

fn algorithm(value: &Value<'_>) -> Option<Algorithm> {
    // `none` is no algorithm.
    value.as_str().and_then(Algorithm::from_name)
}

fn names<T>(value: &Value<'_>, from_name: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    value
        .as_array()?
        .iter()
        .map(|v| v.as_str().and_then(&from_name))
        .collect()
}

/// The `sector_identifier_uri`, if the document has one.
pub(crate) fn sector_identifier_uri(document: &Object<'_>) -> Result<Option<String>, OAuthError> {
    member(
        document,
        "sector_identifier_uri",
        |v| url(v).filter(|u| u.starts_with("https:")),
        must!("sector_identifier_uri", "an https URL"),
    )
}

/// Reads a document into `client`: what it names is set, what it leaves out stays as it is. Members that are not known are
/// ignored.
///
/// # Errors
/// `invalid_client_metadata` or `invalid_redirect_uri`; the description names the member.
pub fn read(document: &Object<'_>, client: &mut Client, rules: &Rules) -> Result<(), OAuthError> {
    /// `client.$name = value`, where the document has the member.
    macro_rules! set {
        ($name:ident, $read:expr, $what:literal) => {
            if let Some(value) = member(document, stringify!($name), $read, || {
                invalid(concat!(stringify!($name), " must be ", $what))
            })? {
                client.$name = value;
            }
        };
    }
    macro_rules! set_some {
        ($name:ident, $read:expr, $what:literal) => {
            if let Some(value) = member(document, stringify!($name), $read, || {
                invalid(concat!(stringify!($name), " must be ", $what))
            })? {
                client.$name = Some(value);
            }
        };
    }
    set_some!(client_name, text, "a short text");
    set_some!(client_uri, url, "an https URL");
    set_some!(logo_uri, url, "an https URL");
    set_some!(policy_uri, url, "an https URL");
    set_some!(tos_uri, url, "an https URL");
    set_some!(initiate_login_uri, url, "an https URL");
    set_some!(jwks_uri, url, "an https URL");
    set_some!(software_id, text, "a short text");
    set_some!(software_version, text, "a short text");
    set!(contacts, strings, "an array of strings");
    set!(
        application_type,
        |v| ApplicationType::from_name(v.as_str()?),
        "web or native"
    );
    redirects(document, client)?;
    grants(document, client, rules)?;
    set!(
        token_endpoint_auth_method,
        |v| AuthMethod::from_name(v.as_str()?),
        "a method of token_endpoint_auth_methods_supported"
    );
    set_some!(
        token_endpoint_auth_signing_alg,
        algorithm,
        "a supported algorithm"
    );
    set_some!(
        id_token_signed_response_alg,
        algorithm,
        "a supported algorithm"
    );
    set_some!(
        userinfo_signed_response_alg,
        algorithm,
        "a supported algorithm"
    );
    set_some!(
        introspection_signed_response_alg,
        algorithm,
        "a supported algorithm"
    );
    if let Some(keys) = member(
        document,
        "jwks",
        |v| v.as_object(),
        must!("jwks", "a JWK Set"),
    )? {
        // RFC 7517 section 5: keys for encryption, or of kinds that are not known here, are left out.
        let keys = JwkSet::from_value(keys)
            .map_err(|e| invalid("jwks has a key that cannot be used").with_hint(e.to_string()))?;
        client.jwks = Some(keys);
    }
    // One takes the other's place where a record is changed; both in one document are refused by the checks.
    match (document.get("jwks"), document.get("jwks_uri")) {
        (Some(Value::Object(_)), None) => client.jwks_uri = None,
        (None, Some(Value::String(_))) => client.jwks = None,
        _ => {}
    }
    tls_client_auth(document, client)?;
    if let Some(scope) = member(document, "scope", |v| v.as_str(), must!("scope", "a text"))? {
        client.scope = ScopeSet::parse(scope).map_err(|_| invalid("scope is malformed"))?;
    }
    set_some!(
        default_max_age,
        |v| v.as_u64().filter(|n| *n <= 1 << 32),
        "a number of seconds"
    );
    set!(require_auth_time, |v| v.as_bool(), "true or false");
    set!(default_acr_values, strings, "an array of strings");
    set!(
        require_pushed_authorization_requests,
        |v| v.as_bool(),
        "true or false"
    );
    set!(dpop_bound_access_tokens, |v| v.as_bool(), "true or false");
    set!(
        tls_client_certificate_bound_access_tokens,
        |v| v.as_bool(),
        "true or false"
    );
    set_some!(
        access_token_format,
        |v| AccessTokenFormat::from_name(v.as_str()?),
        "jwt or compact"
    );
    if let Some(uri) = sector_identifier_uri(document)? {
        client.sector_identifier_uri = Some(uri);
    }
    if rules.operator {
        set!(enabled, |v| v.as_bool(), "true or false");
        set!(allowed_origins, strings, "an array of origins");
        set!(resources, strings, "an array of strings");
        set!(may_act_for, strings, "an array of strings");
        set!(
            unrestricted_token_exchange,
            |v| v.as_bool(),
            "true or false"
        );
        set!(
            token_endpoint_assertion_audience,
            |v| v.as_bool(),
            "true or false"
        );
        set!(may_exchange_agent_grants, |v| v.as_bool(), "true or false");
        set_some!(
            access_token_signed_response_alg,
            algorithm,
            "a supported algorithm"
        );
        set!(require_pkce, |v| v.as_bool(), "true or false");
        set!(
            refresh_rotation,
            |v| RefreshRotation::from_name(v.as_str()?),
            "rotate or keep"
        );
        set!(
            consent,
            |v| ConsentPolicy::from_name(v.as_str()?),
            "ask or implicit"
        );
        set_some!(access_token_lifetime, |v| v.as_u64(), "a number of seconds");
        set_some!(
            refresh_token_lifetime,
            |v| v.as_u64(),
            "a number of seconds"
        );
        set_some!(expires_at, |v| v.as_u64(), "Unix seconds");
    }
    // It says something about assertions only.
    if !matches!(
        client.token_endpoint_auth_method,
        AuthMethod::PrivateKeyJwt | AuthMethod::ClientSecretJwt
    ) {
        client.token_endpoint_auth_signing_alg = None;
    }
    Ok(())
}

fn redirects(document: &Object<'_>, client: &mut Client) -> Result<(), OAuthError> {
    let native = client.application_type == ApplicationType::Native;
    for (name, fault, target) in [
        (
            "redirect_uris",
            "redirect_uris must be an array of strings",
            &mut client.redirect_uris,
        ),
        (
            "post_logout_redirect_uris",
            "post_logout_redirect_uris must be an array of strings",
            &mut client.post_logout_redirect_uris,
        ),
    ] {
        let refused = || OAuthError::new(ErrorCode::InvalidRedirectUri, fault);
        if let Some(uris) = member(document, name, strings, refused)? {
            *target = uris
                .iter()
                .map(|u| RedirectUri::parse(u, native))
                .collect::<Result<_, _>>()?;
        }
    }
    Ok(())
}

/// RFC 7591 section 2.1: the two lists say one thing.
fn grants(document: &Object<'_>, client: &mut Client, rules: &Rules) -> Result<(), OAuthError> {
    let grants = member(
        document,
        "grant_types",
        |v| names(v, GrantType::from_name),
        must!("grant_types", "an array of supported grant types"),
    )?;
    let responses = member(
        document,
        "response_types",
        strings,
        must!("response_types", "an array of strings"),
    )?;
    if let Some(grants) = grants {
        client.grant_types = grants;
        let code = client.may_use(GrantType::AuthorizationCode);
        client.response_types = if code {
            vec!["code".into()]
        } else {
            Vec::new()
        };
    }
    if let Some(responses) = responses {
        client.response_types = responses;
    }
    if client.grant_types.iter().any(|g| !rules.grants.contains(g)) {
        return Err(invalid("one of the grant_types may not be registered here"));
    }
    Ok(())
}

/// RFC 8705 section 2.1.2: exactly one of five.
fn tls_client_auth(document: &Object<'_>, client: &mut Client) -> Result<(), OAuthError> {
    let fault = must!("tls_client_auth_*", "exactly one member, a text");
    let mut found = None;
    for (name, make) in TLS_MEMBERS {
        let value = member(document, name, |v| make(&text(v)?), fault)?;
        if let Some(value) = value
            && found.replace(value).is_some()
        {
            return Err(fault());
        }
    }
    if found.is_some() {
        client.tls_client_auth = found;
    }
    Ok(())
}

type MakeTls = fn(&str) -> Option<TlsClientAuth>;
#[rustfmt::skip]
const TLS_MEMBERS: [(&str, MakeTls); 5] = [
    ("tls_client_auth_subject_dn", |t| Some(TlsClientAuth::SubjectDn(t.to_owned()))),
    ("tls_client_auth_san_dns",    |t| Some(TlsClientAuth::SanDns(t.to_owned()))),
    ("tls_client_auth_san_uri",    |t| Some(TlsClientAuth::SanUri(t.to_owned()))),
    ("tls_client_auth_san_ip",     |t| Some(TlsClientAuth::SanIp(t.parse().ok()?))),
    ("tls_client_auth_san_email",  |t| Some(TlsClientAuth::SanEmail(t.to_owned()))),
];
