//! The members of a client's record: one row each.
//!
//! Registration and its answers, the stored form, the admin API with its schema, the configuration
//! file with its schema, and the manual's table are made from these rows. A new member is a field
//! of [`Client`] with its default in [`Client::new`], and a row.
use super::{
    invalid,
    kind::{self, Kind, Shape, Unread},
};
use crate::client::{
    ApplicationType, AuthMethod, Client, ConsentPolicy, GrantType, RefreshRotation,
};
use crate::error::OAuthError;
use crate::issued::names::AccessTokenFormat;
use signet_encoding::json::{Value, Writer};

/// Who may set a member.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetBy {
    /// whoever registers the client (RFC 7591), and the operator
    Registrant,
    /// the operator alone: the server's policy about this client
    Operator,
}

/// One member of a client's record.
pub struct Member {
    /// its name, in every document
    pub name: &'static str,
    /// what it says, for the manual and the schemas
    pub doc: &'static str,
    /// what its value is
    pub shape: Shape,
    /// who may set it
    pub set_by: SetBy,
    must_be: &'static str,
    written: Written,
    read: fn(&Value<'_>, &mut Client) -> Result<(), Unread>,
    /// Whether the record says nothing of it.
    is_empty: fn(&Client) -> bool,
    write: fn(&Client, &mut Writer<'_>),
    copy: fn(&Client, &mut Client),
}

/// When a member is in a document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Written {
    Always,
    IfSet,
}

impl Member {
    /// The member of this name.
    pub fn named(name: &str) -> Option<&'static Member> {
        MEMBERS.iter().find(|member| member.name == name)
    }

    /// Reads a value into a record. Null is as if the member were left out.
    ///
    /// # Errors
    /// `invalid_client_metadata` or `invalid_redirect_uri`; the description names the member.
    pub fn read(&self, value: &Value<'_>, client: &mut Client) -> Result<(), OAuthError> {
        if *value == Value::Null {
            return Ok(());
        }
        (self.read)(value, client).map_err(|unread| match unread {
            Unread::Shape => invalid(self.must_be),
            Unread::Said(error) => error,
        })
    }

    /// Writes it as a member of the open object, where the record says something of it.
    pub fn write(&self, client: &Client, w: &mut Writer<'_>) {
        if self.written == Written::Always || !(self.is_empty)(client) {
            w.member(self.name);
            (self.write)(client, w);
        }
    }

    /// Gives `to` what `from` has.
    pub fn copy(&self, from: &Client, to: &mut Client) {
        (self.copy)(from, to);
    }

    /// Writes its JSON Schema: an object with its description.
    pub fn write_schema(&self, w: &mut Writer<'_>) {
        w.object(|w| {
            w.member("description").string(self.doc);
            self.shape.write_schema(w);
        });
    }
}

/// What a value of each kind must be, as a refusal says it.
macro_rules! must_be {
    (Text) => {
        "a short text"
    };
    (Url) => {
        "an https URL"
    };
    (HttpsUrl) => {
        "an https URL"
    };
    (List) => {
        "an array of strings"
    };
    (Flag) => {
        "true or false"
    };
    (Seconds) => {
        "a number of seconds"
    };
    (Time) => {
        "Unix seconds"
    };
    (Alg) => {
        "a supported algorithm"
    };
    (KeySet) => {
        "a JWK Set"
    };
    (Scopes) => {
        "a text"
    };
    (Redirects) => {
        "an array of strings"
    };
    (Name<ApplicationType>) => {
        "web or native"
    };
    (Name<AuthMethod>) => {
        "a method of token_endpoint_auth_methods_supported"
    };
    (Name<RefreshRotation>) => {
        "rotate or keep"
    };
    (Name<ConsentPolicy>) => {
        "ask or implicit"
    };
    (Claims) => {
        "a list of rows"
    };
    (MayName<AccessTokenFormat>) => {
        "jwt or compact"
    };
    (Names<GrantType>) => {
        "an array of supported grant types"
    };
    ($certificate:ident) => {
        "one text, and the only tls_client_auth member"
    };
}

macro_rules! members {
    ($($name:ident in $field:ident: $kind:ident $(<$of:ident>)?, $set_by:ident, $written:ident, $doc:literal;)*) => {
        &[$(Member {
            name: stringify!($name),
            doc: $doc,
            shape: <kind::$kind $(::<$of>)? as Kind>::SHAPE,
            set_by: SetBy::$set_by,
            must_be: concat!(stringify!($name), " must be ", must_be!($kind $(<$of>)?)),
            written: Written::$written,
            read: |value, client| {
                client.$field = <kind::$kind $(::<$of>)? as Kind>::read(value, client)?;
                Ok(())
            },
            is_empty: |client| <kind::$kind $(::<$of>)? as Kind>::is_empty(&client.$field),
            write: |client, w| <kind::$kind $(::<$of>)? as Kind>::write(&client.$field, w),
            copy: |from, to| to.$field.clone_from(&from.$field),
        }),*]
    };
}

/// Every member, in the order in which they are read and written: `application_type` stands before
/// what it decides about.
#[rustfmt::skip]
pub const MEMBERS: &[Member] = members! {
    // member in field kind who may set written what it says
    client_name                         in client_name:                  Text,                        Registrant, IfSet,  "Its name, shown to people.";
    client_uri                          in client_uri:                   Url,                         Registrant, IfSet,  "Its home page, linked on login and consent pages.";
    logo_uri                            in logo_uri:                     Url,                         Registrant, IfSet,  "Its picture, which the server fetches and shows itself; of a client that registered itself only if an operator vouches for it.";
    policy_uri                          in policy_uri:                   Url,                         Registrant, IfSet,  "Its privacy policy, linked on login and consent pages.";
    tos_uri                             in tos_uri:                      Url,                         Registrant, IfSet,  "Its terms of service, linked on login and consent pages.";
    contacts                            in contacts:                     List,                        Registrant, IfSet,  "Mail addresses of who is responsible for it.";
    application_type                    in application_type:             Name<ApplicationType>,       Registrant, Always, "`web` or `native`: which redirect URIs it may have, and whether any loopback port will do.";
    redirect_uris                       in redirect_uris:                Redirects,                   Registrant, Always, "Where answers go. Compared exactly, but for the port of a native application's loopback redirect (RFC 8252).";
    post_logout_redirect_uris           in post_logout_redirect_uris:    Redirects,                   Registrant, IfSet,  "Where a logout may end.";
    initiate_login_uri                  in initiate_login_uri:           Url,                         Registrant, IfSet,  "Where a login that begins elsewhere is sent (OpenID Connect Core section 4).";
    backchannel_logout_uri              in backchannel_logout_uri:       Url,                         Registrant, IfSet,  "Where it is notified of the end of a session (OpenID Connect Back-Channel Logout).";
    backchannel_logout_session_required in backchannel_logout_session_required: Flag,                 Registrant, IfSet,  "It wants `sid` in logout tokens. They have one always.";
    frontchannel_logout_uri             in frontchannel_logout_uri:      Url,                         Registrant, IfSet,  "What the page that ends a logout loads in a frame (OpenID Connect Front-Channel Logout). Of the origin of a redirect URI.";
    frontchannel_logout_session_required in frontchannel_logout_session_required: Flag,               Registrant, IfSet,  "It wants `iss` and `sid` there. They are there always.";
    grant_types                         in grant_types:                  Names<GrantType>,            Registrant, Always, "The grants it may use.";
    response_types                      in response_types:               List,                        Registrant, Always, "`code`, or none without the grant authorization_code.";
    token_endpoint_auth_method          in token_endpoint_auth_method:   Name<AuthMethod>,            Registrant, Always, "The only method it authenticates with, but for `any_secret_method`.";
    token_endpoint_auth_signing_alg     in token_endpoint_auth_signing_alg: Alg,                      Registrant, IfSet,  "The signature of its assertions. Default: any that fits its keys.";
    jwks                                in jwks:                         KeySet,                      Registrant, IfSet,  "Its public keys, a JWK Set (RFC 7517). Never together with jwks_uri.";
    jwks_uri                            in jwks_uri:                     Url,                         Registrant, IfSet,  "Where its public keys are.";
    tls_client_auth_subject_dn          in tls_client_auth:              SubjectDn,                   Registrant, IfSet,  "`tls_client_auth`: subject of the certificate, as RFC 4514 text.";
    tls_client_auth_san_dns             in tls_client_auth:              SanDns,                      Registrant, IfSet,  "`tls_client_auth`: a dNSName of the certificate.";
    tls_client_auth_san_uri             in tls_client_auth:              SanUri,                      Registrant, IfSet,  "`tls_client_auth`: a uniformResourceIdentifier of the certificate.";
    tls_client_auth_san_ip              in tls_client_auth:              SanIp,                       Registrant, IfSet,  "`tls_client_auth`: an iPAddress of the certificate.";
    tls_client_auth_san_email           in tls_client_auth:              SanEmail,                    Registrant, IfSet,  "`tls_client_auth`: an rfc822Name of the certificate.";
    scope                               in scope:                        Scopes,                      Registrant, Always, "Everything it may ask for, separated by spaces.";
    id_token_signed_response_alg        in id_token_signed_response_alg: Alg,                         Registrant, IfSet,  "The signature of its ID tokens. Default: the server's setting; RS256 for a client that registers itself.";
    userinfo_signed_response_alg        in userinfo_signed_response_alg: Alg,                         Registrant, IfSet,  "The signature of its userinfo answers. Default: plain JSON.";
    introspection_signed_response_alg   in introspection_signed_response_alg: Alg,                    Registrant, IfSet,  "The signature of its introspection answers (RFC 9701). Default: plain JSON.";
    access_token_format                 in access_token_format:          MayName<AccessTokenFormat>,  Registrant, IfSet,  "`jwt` or `compact`. Default: as the resource wants them, else jwt.";
    default_max_age                     in default_max_age:              Seconds,                     Registrant, IfSet,  "Seconds: `max_age` of requests that have none.";
    require_auth_time                   in require_auth_time:            Flag,                        Registrant, IfSet,  "`auth_time` in every ID token.";
    default_acr_values                  in default_acr_values:           List,                        Registrant, IfSet,  "`acr_values` of requests that have none.";
    require_pushed_authorization_requests in require_pushed_authorization_requests: Flag,             Registrant, IfSet,  "Only pushed authorization requests (RFC 9126).";
    dpop_bound_access_tokens            in dpop_bound_access_tokens:     Flag,                        Registrant, IfSet,  "Only DPoP-bound access tokens (RFC 9449 section 5.2).";
    tls_client_certificate_bound_access_tokens in tls_client_certificate_bound_access_tokens: Flag,   Registrant, IfSet,  "Only certificate-bound access tokens (RFC 8705 section 3.4).";
    software_id                         in software_id:                  Text,                        Registrant, IfSet,  "Which software it is (RFC 7591 section 2).";
    software_version                    in software_version:             Text,                        Registrant, IfSet,  "Which version of it (RFC 7591 section 2).";
    sector_identifier_uri               in sector_identifier_uri:        HttpsUrl,                    Registrant, IfSet,  "A list that must name its redirect URIs (OpenID Connect Registration section 5).";
    enabled                             in enabled:                      Flag,                        Operator,   Always, "False: as if it did not exist, but its record stays.";
    any_secret_method                   in any_secret_method:            Flag,                        Operator,   IfSet,  "Its secret may come as client_secret_basic or as client_secret_post. True for a client that is made without naming a method.";
    allowed_origins                     in allowed_origins:              List,                        Operator,   IfSet,  "Web origins whose scripts may call token, userinfo and metadata endpoints (CORS).";
    resources                           in resources:                    List,                        Operator,   IfSet,  "Resources (RFC 8707) that it may ask for.";
    may_act_for                         in may_act_for:                  List,                        Operator,   IfSet,  "Clients whose tokens it may exchange and introspect besides its own.";
    unrestricted_token_exchange         in unrestricted_token_exchange:  Flag,                        Operator,   IfSet,  "Token exchange gives it all that the subject token has, also beyond its own scope and resources.";
    may_exchange_agent_grants           in may_exchange_agent_grants:    Flag,                        Operator,   IfSet,  "It may exchange chains of agents' grants. It needs the grant type token exchange, too.";
    token_endpoint_assertion_audience   in token_endpoint_assertion_audience: Flag,                   Operator,   IfSet,  "Its assertions may name the token endpoint as their audience (OpenID Connect Core section 9), not the issuer alone.";
    vouched_for                         in vouched_for:                  Flag,                        Operator,   IfSet,  "An operator answers for what a client registered of itself: pages show its logo, and its errors go to its redirect URI at once. Ends when the client changes its record.";
    access_token_signed_response_alg    in access_token_signed_response_alg: Alg,                     Operator,   IfSet,  "The signature of its access tokens. Default: the resource's, then the server's setting.";
    claims                              in claims:                       Claims,                      Operator,   IfSet,  "What its tokens and answers say of the person, whatever their scope: rows of a table (docs/claims.md).";
    required_acr                        in required_acr:                 Text,                        Operator,   IfSet,  "The authentication context class that a person has to reach before it is granted anything (docs/login.md).";
    require_pkce                        in require_pkce:                 Flag,                        Operator,   Always, "False frees a confidential client of PKCE; a public one never is.";
    refresh_rotation                    in refresh_rotation:             Name<RefreshRotation>,       Operator,   Always, "`rotate`: a new refresh token at every use. `keep`: sender-constrained confidential clients only (FAPI 2.0).";
    consent                             in consent:                      Name<ConsentPolicy>,         Operator,   Always, "`ask`: unless a remembered consent covers the request. `implicit`: never, a first-party client.";
    access_token_lifetime               in access_token_lifetime:        Seconds,                     Operator,   IfSet,  "Seconds. Default: the server's setting.";
    refresh_token_lifetime              in refresh_token_lifetime:       Seconds,                     Operator,   IfSet,  "Seconds. Default: the server's setting.";
    expires_at                          in expires_at:                   Time,                        Operator,   IfSet,  "Unix seconds; from then on it does not exist.";
};
