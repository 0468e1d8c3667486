//! Writing a client's metadata.
use crate::{
    client::{Client, TlsClientAuth},
    redirect_uri::RedirectUri,
};
use signet_crypto::Algorithm;
use signet_jose::json::Writer;

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
    if let Some(format) = client.access_token_format {
        w.member("access_token_format").string(format.as_str());
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
    for (name, value) in [
        (
            "unrestricted_token_exchange",
            client.unrestricted_token_exchange,
        ),
        (
            "token_endpoint_assertion_audience",
            client.token_endpoint_assertion_audience,
        ),
        (
            "may_exchange_agent_grants",
            client.may_exchange_agent_grants,
        ),
    ] {
        if value {
            w.member(name).bool(true);
        }
    }
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
