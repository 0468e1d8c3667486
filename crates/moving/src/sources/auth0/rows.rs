//! What comes over from Auth0, and what does not.

use crate::report::rows;

rows! {
    USERS: InPart, "Users", "Name, address, phone, state, names, picture, locale and time of creation. They get new ids: `sub` changes.";
    NAMELESS: Stays, "Users without a user name and an address", "Nobody could log in: give them one and import again.";
    SAME_NAMES: Stays, "Users whose name another connection's has, too", "Names are unique in a realm: import one connection into a realm of its own (`--realm`).";
    PASSWORDS: Comes, "Password hashes of the support's export, `password_hash`, and of `custom_password_hash` bcrypt, Argon2, PBKDF2, scrypt, `ldap` with SSHA, SHA-1, SHA-256 and SHA-512 with the salt after the password", "Verified as they are, and hashed again at the next login.";
    OTHER_PASSWORDS: Stays, "Password hashes of other kinds: MD4, MD5, HMAC, those without a salt or with the salt before the password", "The person sets a password by the link of account recovery.";
    TOTP: Comes, "TOTP of `mfa_factors`", "SHA-1, six digits, 30 seconds.";
    OTHER_FACTORS: Stays, "`mfa_factors` of other kinds, and those whose secret is none", "Addresses and phone numbers are no second factor here: the person adds an app.";
    ENROLMENTS: Stays, "MFA that is enrolled there", "An export has no factors: the person adds an app or a passkey.";
    PASSKEYS: Stays, "Passkeys", "No export has them: their people add them again at /account.";
    METADATA: InPart, "`user_metadata` and `app_metadata`", "Standard claims go into the profile; the others become attributes, if they are texts or lists of texts.";
    NESTED: Stays, "Metadata that is an object", "Attributes, if somebody writes them.";
    LINKS: InPart, "Identities of connections", "Where the connection comes over.";
    ROLES: InPart, "Roles", "With their description.";
    ROLE_MEMBERS: Stays, "Who has a role", "No export says it: `signet user set NAME roles+=ROLE`, or give the role to a group.";
    PERMISSIONS: Stays, "Permissions of roles", "Scopes of a resource and access rules (docs/access-rules.md).";
    CLIENTS: InPart, "Applications", "Redirect URIs, logout URLs, origins, grants, authentication, secret, back-channel logout.";
    NO_CLIENT_ID: Stays, "Applications without `client_id`", "The Deploy CLI writes it with `AUTH0_EXPORT_IDENTIFIERS`.";
    SECRETS: Stays, "Client secrets that are not there, and those shorter than 32 bytes", "`signet client secret ID` makes a new one.";
    CLIENT_KEYS: Stays, "Applications with signed JWTs or certificates", "They come over disabled, without their keys: give them `jwks` or `jwks_uri`, and their method.";
    WILDCARDS: Stays, "URLs with wildcards", "Redirect URIs and origins are compared exactly: register each.";
    OTHER_GRANTS: Stays, "Implicit flow, password grant, Auth0's own grants", "OAuth 2.1 has none of them. The client uses the authorization code.";
    SIGNATURES: Stays, "ID tokens signed with HS256", "The realm's own signature: clients find its keys in the metadata.";
    LOGOUT_URLS: Stays, "Further back-channel logout URLs", "A client has one here.";
    ADDONS: Stays, "Add-ons (SAML, WS-Federation and others)", "Signet speaks none of them.";
    CLIENT_METADATA: Stays, "`client_metadata`", "Clients have no members of their own here.";
    OWN_CLIENT: Stays, "The global client", "It stands for all applications of the tenant.";
    CONNECTIONS: InPart, "Connections `google-oauth2`, `github`, `waad`, `oidc`, `okta`", "Issuer, client and secret. Register the new redirect URI there.";
    OTHER_CONNECTIONS: Stays, "Connections of other strategies, and those without their client or tenant", "SAML, Active Directory, and social ones without OpenID Connect.";
    DATABASES: Stays, "Database connections", "Their people come over; their policies and scripts are the configuration's (docs/settings.md).";
    CONSENTS: Stays, "Grants of users", "People are asked again by third-party applications.";
    ORGANIZATIONS: Stays, "Organizations", "A group, or a realm of its own.";
    APIS: Stays, "APIs", "`signet resource add`.";
    ACTIONS: Stays, "Actions, rules, hooks", "The table of claims (docs/claims.md) and access rules (docs/access-rules.md).";
    SETTINGS: Stays, "Settings of the tenant, pages, mails, branding", "The configuration file (docs/settings.md).";
    SESSIONS_AND_TOKENS: Stays, "Sessions and tokens", "People log in again.";
}
