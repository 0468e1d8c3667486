//! What comes over from Pocket ID, and what does not.

use crate::report::{Row, rows};

rows! {
    USERS: InPart, "Users", "Name, address, state, names, locale and time of creation. The id is kept as its 16 bytes in base64url, so `sub` has another form than the UUID's text.";
    PASSKEYS: InPart, "Passkeys", "Where `--rp-id` says for which host they were made, and it is that of the issuer here. They are all that people log in with there: without them, a mailed code or account recovery lets them in.";
    ADMINISTRATORS: Stays, "Administrators", "`signet user set NAME admin=true` makes one here.";
    LDAP: InPart, "Users that an LDAP directory keeps", "Their accounts come over with their passkeys, and the directory changes them no longer.";
    GROUPS: InPart, "Groups", "With who is in them. The friendly name is the description.";
    CLAIMS: InPart, "Custom claims of users", "Attributes, with an entry of the schema; standard claims go into the profile.";
    GROUP_CLAIMS: Stays, "Custom claims of groups", "A row of the table of claims says what a group's members get (docs/claims.md).";
    CONSENTS: Comes, "Clients that people have authorized", "Consents with the scopes that are known here.";
    CLIENTS: InPart, "OIDC clients", "Redirect URIs, logout URIs, PKCE, and the grants authorization code and refresh token.";
    NO_CALLBACK: InPart, "Clients without a callback URL", "They have the device code grant alone until somebody registers one.";
    WILDCARDS: Stays, "Callback URLs with wildcards", "Redirect URIs are compared exactly: register each.";
    SECRETS: InPart, "Client secrets", "Those that are kept as SHA-256 and do not expire stay valid. Those kept as bcrypt cannot be taken along: `signet client secret ID` makes a new one.";
    FEDERATED: Stays, "Federated identities of clients", "`private_key_jwt` with the client's own keys.";
    ALLOWED_GROUPS: Stays, "Groups that may use a client", "An access rule that names the group (docs/access-rules.md). Until there is one, everybody may use the client.";
    REAUTHENTICATION: Stays, "Clients that require another authentication", "`default_max_age` or `required_acr` of the client.";
    API_KEYS: Stays, "API keys", "A client with the scope `signet:admin`.";
    SIGN_UP: Stays, "Signup tokens", "`signet user invite`.";
    SCIM: Stays, "SCIM service providers", "Signet takes provisioning and sends none.";
    SETTINGS: Stays, "Configuration, keys and files", "The configuration file (docs/settings.md); the realm here has keys of its own.";
    SESSIONS_AND_TOKENS: Stays, "Sessions, tokens, codes, the audit log", "People log in again.";
    OTHERS: Stays, "Other tables", "Nothing here is made of them.";
}

/// Tables that stay behind, by their names.
pub(super) const TABLES: &[(&str, &Row)] = &[
    ("api_keys", &API_KEYS),
    ("signup_tokens", &SIGN_UP),
    ("signup_tokens_user_groups", &SIGN_UP),
    ("scim_service_providers", &SCIM),
    ("app_config_variables", &SETTINGS),
    ("kv", &SETTINGS),
    ("storage", &SETTINGS),
    ("audit_logs", &SESSIONS_AND_TOKENS),
    ("email_verification_tokens", &SESSIONS_AND_TOKENS),
    ("oidc_authorization_codes", &SESSIONS_AND_TOKENS),
    ("oidc_device_codes", &SESSIONS_AND_TOKENS),
    ("oidc_refresh_tokens", &SESSIONS_AND_TOKENS),
    ("one_time_access_tokens", &SESSIONS_AND_TOKENS),
    ("reauthentication_tokens", &SESSIONS_AND_TOKENS),
    ("webauthn_sessions", &SESSIONS_AND_TOKENS),
];
