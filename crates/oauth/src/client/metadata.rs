//! Client metadata as RFC 7591, RFC 8705, RFC 9126, RFC 9449 and OpenID Connect Registration name it: reading, writing,
//! and the checks that hold for every client, whoever registered it.
use super::{
    ApplicationType, AuthMethod, Client, ConsentPolicy, GrantType, RefreshRotation, TlsClientAuth,
};
use crate::{
    error::{ErrorCode, OAuthError},
    redirect_uri::RedirectUri,
    scope::ScopeSet,
    settings::Settings,
    uri,
};
use signet_crypto::Algorithm;
use signet_jose::{
    json::{Object, Value, Writer},
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

fn invalid(description: &'static str) -> OAuthError {
    OAuthError::new(ErrorCode::InvalidClientMetadata, description)
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

/// Reads a document into `client`, which has the defaults. Members that are not known are ignored.
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
    client.sector_identifier_uri = sector_identifier_uri(document)?;
    if rules.operator {
        set!(enabled, |v| v.as_bool(), "true or false");
        set!(allowed_origins, strings, "an array of origins");
        set!(resources, strings, "an array of strings");
        set!(may_act_for, strings, "an array of strings");
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
    client.tls_client_auth = found;
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

/// The rules that hold for every client, whoever registered it.
///
/// # Errors
/// `invalid_client_metadata` or `invalid_redirect_uri`; the description says which rule.
pub fn check(client: &Client, settings: &Settings) -> Result<(), OAuthError> {
    let code = client.may_use(GrantType::AuthorizationCode);
    let method = client.token_endpoint_auth_method;
    let has_keys = client.jwks.is_some() || client.jwks_uri.is_some();
    let mtls = settings.mtls_base.is_some();
    let signs = |alg: Option<Algorithm>| alg.is_none_or(|a| settings.signing_algs.contains(&a));
    let assertion_alg = client.token_endpoint_auth_signing_alg;
    if code && client.redirect_uris.is_empty() {
        return Err(OAuthError::new(
            ErrorCode::InvalidRedirectUri,
            "redirect_uris is missing: the authorization_code grant needs one",
        ));
    }
    // (what must hold, what is said where it does not)
    #[rustfmt::skip]
    let rules = [
        (client.grant_types.iter().enumerate().all(|(i, g)| !client.grant_types[..i].contains(g)),
            "grant_types names one grant twice"),
        (client.response_types.iter().all(|t| t == "code") && client.response_types.len() <= 1,
            "the only supported response type is code"),
        (code != client.response_types.is_empty(),
            "response_type code and grant type authorization_code go together (RFC 7591 section 2.1)"),
        (!(client.is_public() && client.may_use(GrantType::ClientCredentials)),
            "client_credentials is for clients that authenticate (RFC 6749 section 4.4)"),
        (!(client.is_public() && client.may_use(GrantType::TokenExchange)),
            "token exchange is for clients that authenticate"),
        (!(client.is_public() && !client.require_pkce && code),
            "a public client cannot be freed of PKCE (RFC 7636, OAuth 2.1 section 4.1.1)"),
        (!(client.jwks.is_some() && client.jwks_uri.is_some()),
            "jwks and jwks_uri must not be used together (RFC 7591 section 2)"),
        (client.jwks.as_ref().is_none_or(|k| !k.keys.is_empty()),
            "jwks has no key that can be used"),
        (method != AuthMethod::PrivateKeyJwt || has_keys,
            "private_key_jwt needs jwks or jwks_uri"),
        (method != AuthMethod::SelfSignedTlsClientAuth || has_keys,
            "self_signed_tls_client_auth needs jwks or jwks_uri (RFC 8705 section 2.2.2)"),
        (method != AuthMethod::TlsClientAuth || client.tls_client_auth.is_some(),
            "tls_client_auth needs exactly one tls_client_auth_* member (RFC 8705 section 2.1.2)"),
        (!method.is_mtls() || mtls,
            "this server has no listener that asks for client certificates"),
        (!client.tls_client_certificate_bound_access_tokens || mtls,
            "this server has no listener that asks for client certificates"),
        (method != AuthMethod::PrivateKeyJwt || assertion_alg.is_none_or(|a| !a.is_symmetric()),
            "token_endpoint_auth_signing_alg does not fit private_key_jwt"),
        (method != AuthMethod::ClientSecretJwt || assertion_alg.is_none_or(|a| a.is_symmetric()),
            "token_endpoint_auth_signing_alg does not fit client_secret_jwt"),
        (signs(client.id_token_signed_response_alg),
            "id_token_signed_response_alg is not one that this server signs with"),
        (signs(client.userinfo_signed_response_alg),
            "userinfo_signed_response_alg is not one that this server signs with"),
        (signs(client.access_token_signed_response_alg),
            "access_token_signed_response_alg is not one that this server signs with"),
        (signs(client.introspection_signed_response_alg),
            "introspection_signed_response_alg is not one that this server signs with"),
        (client.refresh_rotation == RefreshRotation::Rotate || !client.is_public() && client.is_sender_constrained(),
            "only a confidential client with sender-constrained tokens may keep its refresh token"),
        (client.initiate_login_uri.as_ref().is_none_or(|u| u.starts_with("https:")),
            "initiate_login_uri must be an https URL"),
        (client.allowed_origins.iter().all(|o| uri::is_origin(o)),
            "allowed_origins must be web origins, without path"),
    ];
    if let Some((_, fault)) = rules.iter().find(|(holds, _)| !holds) {
        return Err(invalid(fault));
    }
    Ok(())
}

/// OpenID Connect Registration section 5: every redirect URI must be in the list that `sector_identifier_uri` leads to.
/// `sector`: that list; None where it could not be fetched.
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

/// Writes a client's metadata as members of the object that is open; absent values are left out.
pub fn write(w: &mut Writer<'_>, client: &Client) {
    let mut optional = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            w.member(name).string(value);
        }
    };
    optional("client_name", client.client_name.as_deref());
    optional("client_uri", client.client_uri.as_deref());
    optional("logo_uri", client.logo_uri.as_deref());
    optional("policy_uri", client.policy_uri.as_deref());
    optional("tos_uri", client.tos_uri.as_deref());
    optional("initiate_login_uri", client.initiate_login_uri.as_deref());
    optional("jwks_uri", client.jwks_uri.as_deref());
    optional("software_id", client.software_id.as_deref());
    optional("software_version", client.software_version.as_deref());
    optional(
        "sector_identifier_uri",
        client.sector_identifier_uri.as_deref(),
    );
    for (name, alg) in [
        (
            "token_endpoint_auth_signing_alg",
            client.token_endpoint_auth_signing_alg,
        ),
        (
            "id_token_signed_response_alg",
            client.id_token_signed_response_alg,
        ),
        (
            "userinfo_signed_response_alg",
            client.userinfo_signed_response_alg,
        ),
        (
            "introspection_signed_response_alg",
            client.introspection_signed_response_alg,
        ),
    ] {
        optional(name, alg.map(Algorithm::name));
    }
    optional("application_type", Some(client.application_type.as_str()));
    optional(
        "token_endpoint_auth_method",
        Some(client.token_endpoint_auth_method.as_str()),
    );
    optional("subject_type", Some("public"));
    optional("scope", Some(client.scope.to_string().as_str()));
    if let Some(tls) = &client.tls_client_auth {
        let (name, value) = match tls {
            TlsClientAuth::SubjectDn(v) => ("tls_client_auth_subject_dn", v.clone()),
            TlsClientAuth::SanDns(v) => ("tls_client_auth_san_dns", v.clone()),
            TlsClientAuth::SanUri(v) => ("tls_client_auth_san_uri", v.clone()),
            TlsClientAuth::SanIp(v) => ("tls_client_auth_san_ip", v.to_string()),
            TlsClientAuth::SanEmail(v) => ("tls_client_auth_san_email", v.clone()),
        };
        optional(name, Some(value.as_str()));
    }
    if !client.contacts.is_empty() {
        w.member("contacts").strings(&client.contacts);
    }
    w.member("redirect_uris")
        .strings(client.redirect_uris.iter().map(RedirectUri::as_str));
    if !client.post_logout_redirect_uris.is_empty() {
        w.member("post_logout_redirect_uris").strings(
            client
                .post_logout_redirect_uris
                .iter()
                .map(RedirectUri::as_str),
        );
    }
    w.member("grant_types")
        .strings(client.grant_types.iter().map(|g| g.as_str()));
    w.member("response_types").strings(&client.response_types);
    if let Some(jwks) = &client.jwks {
        jwks.write_value(w.member("jwks"));
    }
    if let Some(seconds) = client.default_max_age {
        w.member("default_max_age").number(seconds);
    }
    if !client.default_acr_values.is_empty() {
        w.member("default_acr_values")
            .strings(&client.default_acr_values);
    }
    for (name, value) in [
        ("require_auth_time", client.require_auth_time),
        (
            "require_pushed_authorization_requests",
            client.require_pushed_authorization_requests,
        ),
        ("dpop_bound_access_tokens", client.dpop_bound_access_tokens),
        (
            "tls_client_certificate_bound_access_tokens",
            client.tls_client_certificate_bound_access_tokens,
        ),
    ] {
        if value {
            w.member(name).bool(true);
        }
    }
}

/// Writes the operator's policy as members of the open object: with [`write`], everything that [`Rules::operator`] reads.
pub fn write_policy(w: &mut Writer<'_>, client: &Client) {
    w.member("enabled").bool(client.enabled);
    w.member("require_pkce").bool(client.require_pkce);
    w.member("refresh_rotation")
        .string(client.refresh_rotation.as_str());
    w.member("consent").string(client.consent.as_str());
    for (name, values) in [
        ("allowed_origins", &client.allowed_origins),
        ("resources", &client.resources),
        ("may_act_for", &client.may_act_for),
    ] {
        if !values.is_empty() {
            w.member(name).strings(values);
        }
    }
    for (name, alg) in [(
        "access_token_signed_response_alg",
        client.access_token_signed_response_alg,
    )] {
        if let Some(alg) = alg {
            w.member(name).string(alg.name());
        }
    }
    for (name, number) in [
        ("access_token_lifetime", client.access_token_lifetime),
        ("refresh_token_lifetime", client.refresh_token_lifetime),
        ("expires_at", client.expires_at),
    ] {
        if let Some(number) = number {
            w.member(name).number(number);
        }
    }
}
