//! What comes over from ZITADEL, and what does not.

use crate::report::rows;

rows! {
    USERS: InPart, "Human users", "Name, address, phone, names, language, gender. They get new ids: `sub` changes.";
    STATES: Stays, "States of users", "The export has none: who is locked or deactivated there comes over enabled. `signet user set NAME enabled=false`.";
    NAMELESS: Stays, "Human users without a user name", "Nobody could log in.";
    SAME_NAMES: Stays, "Users whose name another organization's has, too", "Names are unique in a realm: import one organization into a realm of its own (`--realm`).";
    PASSWORDS: Comes, "Password hashes: Argon2, bcrypt, PBKDF2, scrypt, SHA-256 and SHA-512 crypt", "Verified as they are, and hashed again at the next login.";
    OTHER_PASSWORDS: Stays, "Password hashes of other kinds: MD5, phpass, Drupal", "The person sets a password by the link of account recovery.";
    CHANGE: Comes, "`passwordChangeRequired`", "`must_change_password`.";
    TOTP: Comes, "TOTP (`otpCode`)", "SHA-1, six digits, 30 seconds: ZITADEL makes no others.";
    OTHER_TOTP: Stays, "TOTP whose secret is none", "The person adds an app.";
    PASSKEYS: Stays, "Passkeys and security keys", "The export has none: their people add them again at /account.";
    LINKS: InPart, "Links to identity providers", "Where the provider comes over.";
    METADATA: InPart, "Metadata of users", "Attributes, with an entry of the schema, where the value is a text.";
    MACHINES: Stays, "Machine users, their keys and tokens", "A client with the grant `client_credentials`.";
    ORGANIZATIONS: InPart, "Organizations", "Of several, each is a group with its people. A realm of its own for each: export one, and import it with `--realm`.";
    ROLES: InPart, "Project roles", "Called as their key; those of several projects have the project's name before it. The display name is the description.";
    GRANTS: Comes, "User grants", "The roles of the person.";
    PROJECT_GRANTS: Stays, "Project grants", "Roles here are the realm's.";
    MANAGERS: Stays, "Managers of the instance, organizations and projects", "`signet user set NAME admin=true` makes an administrator here.";
    CLIENTS: InPart, "OIDC applications", "Name, redirect URIs, origins, grants and authentication. Access tokens are JWTs here.";
    CLIENT_IDS: InPart, "OIDC applications whose client id is not there", "The export has none: they are called as the application's id, unless it has a key or is listed in a file beside the export.";
    SECRETS: Stays, "Client secrets", "The export has none: `signet client secret ID` makes a new one.";
    CLIENT_KEYS: Stays, "OIDC applications with signed JWTs", "They come over disabled, without their keys: give them `jwks` or `jwks_uri`, and `token_endpoint_auth_method=private_key_jwt`.";
    WILDCARDS: Stays, "Redirect URIs with wildcards", "Redirect URIs are compared exactly: register each.";
    OTHER_GRANTS: Stays, "Implicit flow", "OAuth 2.1 has none. The client uses the authorization code.";
    API_APPS: Stays, "API applications", "An API is a resource server here: `signet resource add`.";
    SAML_APPS: Stays, "SAML applications", "The export has none, and Signet speaks no SAML.";
    OIDC_IDPS: InPart, "OIDC identity providers", "Issuer, client, secret and scopes. Register the new redirect URI there. The export has no others.";
    JWT_IDPS: Stays, "JWT identity providers", "Only OpenID Connect and OAuth 2 providers are known here.";
    ACTIONS: Stays, "Actions", "The table of claims (docs/claims.md) and access rules (docs/access-rules.md).";
    SETTINGS: Stays, "Policies, texts and domains", "The configuration file (docs/settings.md).";
    SESSIONS_AND_TOKENS: Stays, "Sessions, tokens and consents", "People log in again.";
}
