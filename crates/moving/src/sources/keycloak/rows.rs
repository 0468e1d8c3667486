//! What comes over from Keycloak, and what does not.

use crate::report::rows;

rows! {
    USERS: InPart, "Users", "Name, address, state, names and time of creation. The id is kept as its 16 bytes in base64url, so `sub` has another form than the UUID's text.";
    SERVICE_ACCOUNTS: Stays, "Service account users", "A client with the grant `client_credentials` acts for itself here; its roles are given to nobody.";
    FEDERATED_USERS: Stays, "Users of user federation (LDAP, Kerberos)", "Their directory keeps them: name it in the configuration, and they are made at their first login.";
    PASSWORDS: Comes, "Password hashes `pbkdf2`, `pbkdf2-sha256`, `pbkdf2-sha512`, `argon2`", "Verified as they are, and hashed again at the next login.";
    OTHER_PASSWORDS: Stays, "Password hashes of other algorithms", "The person sets a password by the link of account recovery.";
    TOTP: Comes, "OTP credentials `totp`", "With their algorithm, digits and period.";
    HOTP: Stays, "OTP credentials `hotp`, and those out of bounds", "Counters are not known here: the person adds an app.";
    PASSWORDLESS: InPart, "WebAuthn passwordless credentials", "Where the relying party is the host of the issuer here. If the realm's policy names none, `--rp-id` says which it was.";
    SECURITY_KEYS: InPart, "WebAuthn two-factor credentials", "Where the realm's policy requires a discoverable key; any other cannot be asked for here, and its person adds it again.";
    RECOVERY_CODES: Stays, "Recovery codes", "The person makes new ones at /account.";
    OTHER_CREDENTIALS: Stays, "Credentials of other kinds", "Nothing here verifies them.";
    UPDATE_PASSWORD: Comes, "Required action `UPDATE_PASSWORD`, temporary passwords", "`must_change_password`.";
    OTHER_ACTIONS: Stays, "Other required actions", "A login asks for what the realm requires.";
    ATTRIBUTES: InPart, "User attributes", "Standard claims go into the profile; the others become attributes, with an entry of the schema: lower case, a text or a list of at most 4096 bytes.";
    GROUPS: InPart, "Groups", "Nested as they are. Names are unique here: of two that are called the same one has its parents' names before its own.";
    GROUP_ATTRIBUTES: Stays, "Attributes of groups", "Groups have none here; an access rule or a claim names the group.";
    DEFAULT_GROUPS: Stays, "Default groups", "Who signs up is in no group.";
    ROLES: Comes, "Realm roles and client roles", "`NAME` and `CLIENT_ID/NAME`.";
    COMPOSITES: InPart, "Composite roles", "Expanded: who has the role is given those that it is made of. A later change of one changes nobody.";
    OWN_ROLES: Stays, "Keycloak's own roles", "`default-roles-*`, `offline_access`, `uma_authorization`, those of its account and administration clients.";
    ADMINISTRATORS: Stays, "Realm administrators", "Rights of `realm-management`: `signet user set NAME admin=true` makes an administrator here.";
    CONSENTS: Comes, "Consents", "Scopes that a client was granted.";
    LINKS: InPart, "Links to identity providers", "Where the provider comes over.";
    CLIENTS: Comes, "OpenID Connect clients", "Redirect URIs, grants, authentication, secret, logout and signature settings.";
    SAML_CLIENTS: Stays, "SAML clients", "Signet speaks no SAML.";
    OWN_CLIENTS: Stays, "Keycloak's own clients", "`account`, `account-console`, `admin-cli`, `broker`, `realm-management`, `security-admin-console`.";
    BEARER_ONLY: Stays, "Bearer-only clients", "An API is a resource server here: `signet resource add`.";
    WILDCARDS: Stays, "Redirect URIs with wildcards, relative ones without a root URL", "Redirect URIs are compared exactly: register each.";
    ORIGINS: Stays, "Web origin `*`", "Name the origins in `allowed_origins`.";
    SECRETS: Stays, "Client secrets shorter than 32 bytes, masked or in a vault", "`signet client secret NAME` makes a new one.";
    CLIENT_KEYS: InPart, "Clients with signed JWTs or certificates", "With `jwks_uri`, keys, or a subject; a certificate alone is no key here.";
    PASSWORD_GRANT: Stays, "Implicit flow and direct access grants", "OAuth 2.1 has neither. The client uses the authorization code.";
    CLIENT_SCOPES: Stays, "Client scopes of the realm's own", "`signet scope add`; profile, email, address, phone and offline_access are there.";
    MAPPERS: Stays, "Protocol mappers", "Write rows of the table of claims (docs/claims.md).";
    AUTHORIZATION: Stays, "Authorization services (UMA)", "Access rules decide who gets tokens (docs/access-rules.md); policies of resources are the API's.";
    PROVIDERS: InPart, "Identity providers `oidc`, `keycloak-oidc`, `google`, `github`, `gitlab`, `microsoft`", "Issuer, endpoints, client and secret. Register the new redirect URI there.";
    OTHER_PROVIDERS: Stays, "Identity providers of other kinds", "SAML, and social ones without OpenID Connect.";
    PROVIDER_MAPPERS: Stays, "Mappers of identity providers", "`claims` and `groups` of the provider.";
    FLOWS: Stays, "Authentication flows of the realm's own", "`required_acr` and access rules (docs/login.md).";
    FEDERATION: Stays, "User federation", "`[[directories]]` in the configuration.";
    KEYS: Stays, "Realm keys", "The realm here has keys of its own: clients fetch them from its metadata.";
    MAIL: Stays, "Mail settings", "`[mail]` in the configuration.";
    ORGANIZATIONS: Stays, "Organizations", "A group, or a realm of its own.";
    SETTINGS: Stays, "Realm settings: lifetimes, themes, policies, events", "The configuration file (docs/settings.md).";
    SESSIONS_AND_TOKENS: Stays, "Sessions and tokens", "People log in again.";
}
