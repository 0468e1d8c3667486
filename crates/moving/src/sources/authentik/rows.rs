//! What comes over from authentik, and what does not.

use crate::report::{Row, rows};

rows! {
    USERS: InPart, "Users", "Name, address, state, display name and time of creation. The uuid is kept as the id, its 16 bytes in base64url: `sub` changes, which is a digest there. No address is known to be its person's: authentik confirms none.";
    SERVICE_ACCOUNTS: Stays, "Service accounts", "A client with the grant `client_credentials`.";
    PASSWORDS: Comes, "Password hashes of Django: PBKDF2, Argon2, bcrypt, scrypt", "Verified as they are, and hashed again at the next login.";
    OTHER_PASSWORDS: Stays, "Password hashes of other kinds: `bcrypt_sha256`", "The person sets a password by the link of account recovery.";
    NO_PASSWORD: Stays, "Users without a password", "Their source or directory has it, or the link of account recovery makes one.";
    TOTP: Comes, "TOTP devices", "With their digits and period; SHA-1, which authentik makes alone.";
    OTHER_TOTP: Stays, "TOTP devices that nobody has confirmed, or out of bounds", "The person adds an app.";
    WEBAUTHN: Stays, "WebAuthn devices", "Their user handle is a digest that names nobody here: their people add them again at /account.";
    STATIC: Stays, "Static tokens", "The person makes recovery codes at /account.";
    OTHER_DEVICES: Stays, "Duo, SMS and mail devices", "The person adds an app or a passkey.";
    ATTRIBUTES: InPart, "Attributes of users", "Standard claims go into the profile; the others become attributes, if they are texts or lists of texts. `settings.locale` is the locale.";
    NESTED: Stays, "Attributes that are objects", "Attributes, if somebody writes them.";
    OWN_ATTRIBUTES: Stays, "Attributes of authentik's own (`goauthentik.io/`)", "They steer authentik alone.";
    GROUPS: InPart, "Groups", "Nested as they are, with who is in them. Names are unique here: of two that are called the same one has its parents' names before its own.";
    GROUP_ATTRIBUTES: Stays, "Attributes of groups", "Groups have none here; an access rule or a claim names the group.";
    ADMINISTRATORS: Stays, "Groups of superusers", "`signet user set NAME admin=true` makes an administrator here.";
    ROLES: Stays, "Roles, permissions", "They say who may do what in authentik.";
    CONSENTS: InPart, "Consents", "Scopes that a client was granted, where they do not expire.";
    EXPIRING_CONSENTS: Stays, "Consents that expire", "People are asked again.";
    LINKS: InPart, "Connections to sources", "Where the source comes over.";
    CLIENTS: InPart, "OAuth 2 and OpenID Connect providers with their applications", "Name, redirect URIs, logout URI, secret. They have the grants authorization code and refresh token; whether people are asked is what the default flows say.";
    NO_REDIRECT: InPart, "Providers without a redirect URI", "They have the grant `client_credentials`, a public one the device code.";
    PATTERNS: Stays, "Redirect URIs that are regular expressions", "Redirect URIs are compared exactly: register each.";
    SECRETS: Stays, "Client secrets that are not there, and those shorter than 32 bytes", "`signet client secret ID` makes a new one.";
    SIGNATURES: Stays, "Providers without a signing key (HS256)", "The realm's own signature: clients find its keys in the metadata.";
    ENCRYPTION: Stays, "Encrypted tokens", "Signet signs tokens and encrypts none.";
    SCOPE_MAPPINGS: Stays, "Scope mappings of one's own", "`signet scope add`, and rows of the table of claims (docs/claims.md).";
    LIFETIMES: Stays, "Lifetimes of codes and tokens", "The realm's, or `access_token_lifetime` of the client.";
    OTHER_APPLICATIONS: Stays, "Applications without such a provider", "SAML, LDAP, RADIUS, proxies, bookmarks: Signet speaks OpenID Connect alone; `signet gate` stands before what speaks nothing.";
    POLICIES: Stays, "Policies and bindings", "Access rules (docs/access-rules.md). Until there are some, everybody may use every client.";
    SOURCES: InPart, "OAuth sources `openidconnect`, `okta`, `google`, `github`, `gitlab`, `entraid`", "Issuer, client and secret. Register the new redirect URI there.";
    OTHER_SOURCES: Stays, "Sources of other kinds, and those without a well-known URL", "LDAP and Kerberos: `[[directories]]` in the configuration. SAML, Plex and other social ones have no counterpart.";
    TOKENS: Stays, "Tokens and app passwords", "A client with the scope `signet:admin`; there are no app passwords.";
    INVITATIONS: Stays, "Invitations", "`signet user invite` makes new ones.";
    FLOWS: Stays, "Flows, stages, prompts, blueprints, brands", "`required_acr`, access rules and the configuration (docs/login.md, docs/settings.md).";
    KEYS: Stays, "Certificates and keys", "The realm here has keys of its own: clients fetch them from its metadata.";
    SESSIONS_AND_TOKENS: Stays, "Sessions, codes, tokens, events", "People log in again.";
    OTHERS: Stays, "Other models", "Nothing here is made of them.";
}

/// Models that stay behind, by how their names begin. The first that fits counts.
const MODELS: &[(&str, &Row)] = &[
    (
        "authentik_stages_authenticator_webauthn.webauthndevice",
        &WEBAUTHN,
    ),
    (
        "authentik_stages_authenticator_static.staticdevice",
        &STATIC,
    ),
    (
        "authentik_stages_authenticator_duo.duodevice",
        &OTHER_DEVICES,
    ),
    (
        "authentik_stages_authenticator_sms.smsdevice",
        &OTHER_DEVICES,
    ),
    (
        "authentik_stages_authenticator_email.emaildevice",
        &OTHER_DEVICES,
    ),
    ("authentik_stages_invitation.invitation", &INVITATIONS),
    ("authentik_rbac.role", &ROLES),
    ("authentik_core.token", &TOKENS),
    ("authentik_crypto.certificatekeypair", &KEYS),
    ("authentik_policies", &POLICIES),
    ("authentik_core.authenticatedsession", &SESSIONS_AND_TOKENS),
    ("authentik_core.session", &SESSIONS_AND_TOKENS),
    (
        "authentik_providers_oauth2.authorizationcode",
        &SESSIONS_AND_TOKENS,
    ),
    (
        "authentik_providers_oauth2.accesstoken",
        &SESSIONS_AND_TOKENS,
    ),
    (
        "authentik_providers_oauth2.refreshtoken",
        &SESSIONS_AND_TOKENS,
    ),
    (
        "authentik_providers_oauth2.devicetoken",
        &SESSIONS_AND_TOKENS,
    ),
    ("authentik_events", &SESSIONS_AND_TOKENS),
    ("authentik_flows", &FLOWS),
    ("authentik_stages", &FLOWS),
    ("authentik_blueprints", &FLOWS),
    ("authentik_brands", &FLOWS),
    ("authentik_tenants", &FLOWS),
];

/// Models that say again what a row above says, or are Django's own.
const SILENT: &[&str] = &[
    "authentik_stages_authenticator_static.statictoken",
    "authentik_core.propertymapping",
    "authentik_core.groupsourceconnection",
    "contenttypes.",
    "auth.",
    "sessions.",
    "guardian.",
];

/// The row of a model that stays behind, and what it does not say; None: nothing to say of it.
pub(super) fn of_model(model: &str) -> Option<(&'static Row, &str)> {
    if SILENT.iter().any(|start| model.starts_with(start)) {
        return None;
    }
    let known = MODELS.iter().find(|(start, _)| model.starts_with(start));
    Some(known.map_or((&OTHERS, model), |(_, row)| (*row, "")))
}
