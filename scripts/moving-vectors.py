#!/usr/bin/env python3
"""Writes the exports of servers that `signet import` is tried with and that were not run: vectors/moving/NAME, but for keycloak.

    scripts/moving-vectors.py vectors/moving

The forms are those of the documents that vectors/moving/README.md names. All people, passwords and secrets are invented. Needs the packages bcrypt,
argon2-cffi and cryptography: the hashes are made by them and by Python's own library, not by Signet.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path

import argon2
import bcrypt
from cryptography.hazmat.primitives.asymmetric import ec

OUT = Path(sys.argv[1])
# 20 bytes: the secret of RFC 6238's test vectors.
TOTP = b"12345678901234567890"


def password(name):
    return f"old-password-of-{name}"


def secret(client):
    return f"the-secret-of-{client}-which-is-long-enough"


def b64(data):
    return base64.b64encode(data).decode()


def salt(name, length=16):
    return hashlib.sha256(name.encode()).digest()[:length]


def passlib_bcrypt(name, prefix=b"2b"):
    fixed = bcrypt.gensalt(4, prefix)[:7] + b"abcdefghijklmnopqrstuu"
    return bcrypt.hashpw(password(name).encode(), fixed).decode()


def argon(name):
    low = argon2.low_level
    made = low.hash_secret(password(name).encode(), salt(name), 1, 64, 1, 32, low.Type.ID)
    return made.decode()


def django_pbkdf2(name):
    text = salt(name, 11).hex()
    made = hashlib.pbkdf2_hmac("sha256", password(name).encode(), text.encode(), 1000)
    return f"pbkdf2_sha256$1000${text}${b64(made)}"


def django_scrypt(name):
    text = salt(name, 11).hex()
    made = hashlib.scrypt(password(name).encode(), salt=text.encode(), n=1024, r=8, p=1, dklen=64)
    return f"scrypt$1024${text}$8$1${b64(made)}"


def phc_pbkdf2(name):
    made = hashlib.pbkdf2_hmac("sha512", password(name).encode(), salt(name), 1000, 64)
    return f"$pbkdf2-sha512$i=1000,l=64${b64(salt(name)).rstrip('=')}${b64(made).rstrip('=')}"


def passlib_scrypt(name):
    made = hashlib.scrypt(password(name).encode(), salt=salt(name), n=1024, r=8, p=1, dklen=32)
    return f"$scrypt$ln=10,r=8,p=1${b64(salt(name)).rstrip('=')}${b64(made).rstrip('=')}"


def write(path, value, lines=False):
    path = OUT / path
    path.parent.mkdir(parents=True, exist_ok=True)
    if lines:
        path.write_text("".join(json.dumps(one) + "\n" for one in value))
    else:
        path.write_text(json.dumps(value, indent=2) + "\n")


def authentik():
    def row(model, pk, **fields):
        return {"model": model, "pk": pk, "fields": fields}

    def user(pk, name, stored, **more):
        return row(
            "authentik_core.user",
            pk,
            password=stored,
            last_login="2025-06-01T08:00:00.123Z",
            first_name="",
            last_name="",
            email=f"{name}@acme.example",
            is_active=True,
            date_joined="2024-05-01T12:00:00.5Z",
            username=name,
            uuid=f"00000000-0000-4000-8000-{pk:012x}",
            name=f"{name.capitalize()} Example",
            path="users",
            type="internal",
            password_change_date="2024-05-01T12:00:00.5Z",
            last_updated="2025-06-01T08:00:00.123Z",
            attributes={},
            groups=[],
            user_permissions=[],
            ak_groups=[],
            **more,
        )

    staff, admins, europe = (f"1111111{n}-1111-4111-8111-111111111111" for n in (1, 2, 3))
    shop, cli, wiki = (f"2222222{n}-2222-4222-8222-222222222222" for n in (1, 2, 3))
    mapping = "33333333-3333-4333-8333-333333333333"
    flow = "44444444-4444-4444-8444-444444444444"
    source = "55555555-5555-4555-8555-555555555555"
    people = [
        user(1, "AnonymousUser", "!x"),
        user(2, "ada", django_pbkdf2("ada")),
        user(3, "ben", "argon2" + argon("ben")),
        user(4, "cleo", django_scrypt("cleo")),
        user(5, "dora", "!" + "k" * 40),
        user(6, "ak-outpost", "!" + "k" * 40),
    ]
    ada, dora, outpost = people[1]["fields"], people[4]["fields"], people[5]["fields"]
    ada["ak_groups"] = [staff, europe]
    ada["attributes"] = {
        "settings": {"locale": "de"},
        "goauthentik.io/user/sources": ["acme"],
        "phone_number": "+49301234567",
        "costCentre": "CC-7",
        "teams": ["red", "blue"],
        "deep": {"a": 1},
    }
    dora["is_active"] = False
    outpost["type"] = "internal_service_account"
    rows = people + [
        row("authentik_core.group", europe, name="europe", is_superuser=False, parent=staff, attributes={"floor": 3}, roles=[]),
        row("authentik_core.group", staff, name="staff", is_superuser=False, parent=None, attributes={}, roles=[]),
        row("authentik_core.group", admins, name="authentik Admins", is_superuser=True, parent=None, attributes={}, roles=[]),
        row("authentik_stages_authenticator_totp.totpdevice", 1, user=2, name="phone", confirmed=True, key=TOTP.hex(), step=30, t0=0, digits=8, tolerance=1, drift=0, last_t=-1, throttling_failure_timestamp=None, throttling_failure_count=0),
        row("authentik_stages_authenticator_totp.totpdevice", 2, user=3, name="old", confirmed=False, key=TOTP.hex(), step=30, t0=0, digits="6", tolerance=1, drift=0, last_t=-1),
        row("authentik_stages_authenticator_static.staticdevice", 1, user=2, name="codes", confirmed=True),
        row("authentik_stages_authenticator_static.statictoken", 1, device=1, token="abcdef"),
        row("authentik_stages_authenticator_webauthn.webauthndevice", 1, user=2, name="key", credential_id="AAAA", public_key="AAAA", sign_count=0, rp_id="auth.acme.example"),
        row("authentik_flows.flow", flow, name="Authorize", slug="default-provider-authorization-implicit-consent", title="", designation="authorization"),
        row("authentik_core.propertymapping", mapping, name="authentik default OAuth Mapping: OpenID 'email'", expression="return {}"),
        row("authentik_providers_oauth2.scopemapping", mapping, scope_name="email", description=""),
        row("authentik_core.provider", 1, name="Provider for shop", authorization_flow=flow, property_mappings=[mapping], is_backchannel=False),
        row("authentik_providers_oauth2.oauth2provider", 1, client_type="confidential", client_id="shop", client_secret=secret("shop"), _redirect_uris=[{"matching_mode": "strict", "url": "https://shop.acme.example/cb"}, {"matching_mode": "regex", "url": "https://.*\\.acme\\.example/cb"}], include_claims_in_id_token=True, sub_mode="hashed_user_id", issuer_mode="per_provider", signing_key=mapping, encryption_key=None),
        row("authentik_core.provider", 2, name="Provider for cli", authorization_flow=None, property_mappings=[mapping]),
        row("authentik_providers_oauth2.oauth2provider", 2, client_type="public", client_id="cli", client_secret=secret("cli"), redirect_uris="http://localhost:9999/cb\nhttps://(a|b)\\.acme\\.example/", signing_key=None),
        row("authentik_core.provider", 3, name="Provider for wiki", authorization_flow=None, property_mappings=[]),
        row("authentik_providers_saml.samlprovider", 3, acs_url="https://wiki.acme.example/saml"),
        row("authentik_core.application", shop, name="Shop", slug="shop", group="", provider=1, meta_launch_url="https://shop.acme.example/"),
        row("authentik_core.application", cli, name="Command line", slug="cli", group="", provider=2, meta_launch_url=""),
        row("authentik_core.application", wiki, name="Wiki", slug="wiki", group="", provider=3, meta_launch_url=""),
        row("authentik_core.source", source, name="Acme", slug="acme", enabled=True, enrollment_flow=flow, user_matching_mode="identifier"),
        row("authentik_sources_oauth.oauthsource", source, provider_type="openidconnect", consumer_key="ours", consumer_secret=secret("acme"), oidc_well_known_url="https://id.acme.example/.well-known/openid-configuration", additional_scopes="groups"),
        row("authentik_core.usersourceconnection", 1, user=2, source=source, created="2024-05-01T12:00:00Z"),
        row("authentik_sources_oauth.useroauthsourceconnection", 1, identifier="ada-there", access_token=None),
        row("authentik_stages_consent.userconsent", "66666666-6666-4666-8666-666666666661", user=2, application=shop, permissions="openid email", expires=None, expiring=False),
        row("authentik_stages_consent.userconsent", "66666666-6666-4666-8666-666666666662", user=2, application=cli, permissions="openid", expires="2025-07-01T00:00:00Z", expiring=True),
        row("authentik_policies.policybinding", "77777777-7777-4777-8777-777777777777", policy=None, target=shop, group=staff, order=0),
    ]
    write("authentik/dump.json", rows)


def zitadel():
    def human(user_id, name, stored=None, **more):
        user = {
            "userName": name,
            "profile": {"firstName": name.capitalize(), "lastName": "Example", "nickName": "", "displayName": f"{name.capitalize()} Example", "preferredLanguage": "de", "gender": "GENDER_UNSPECIFIED"},
            "email": {"email": f"{name}@acme.example", "isEmailVerified": True},
            "phone": None,
            "password": "",
            "hashedPassword": stored and {"value": stored},
            "passwordChangeRequired": False,
            "requestPasswordlessRegistration": False,
            "otpCode": "",
            "idps": [],
        }
        user.update(more)
        return {"userId": user_id, "user": user}

    def app(app_id, name, method, kind, grants, **more):
        return {"appId": app_id, "app": {"projectId": "301", "name": name, "redirectUris": [f"https://{name}.acme.example/cb"], "responseTypes": ["OIDC_RESPONSE_TYPE_CODE"], "grantTypes": [f"OIDC_GRANT_TYPE_{one}" for one in grants], "appType": f"OIDC_APP_TYPE_{kind}", "authMethodType": f"OIDC_AUTH_METHOD_TYPE_{method}", "postLogoutRedirectUris": [f"https://{name}.acme.example/"], "version": "OIDC_VERSION_1_0", "devMode": False, "accessTokenType": "OIDC_TOKEN_TYPE_BEARER", "clockSkew": "0s", "additionalOrigins": [], **more}}

    org = {
        "orgId": "104133391254874632",
        "org": {"name": "ACME"},
        "domainPolicy": None,
        "lockoutPolicy": {"maxPasswordAttempts": 5},
        "projects": [{"projectId": "301", "project": {"name": "Shop"}}, {"projectId": "302", "project": {"name": "Wiki"}}],
        "projectRoles": [
            {"projectId": "301", "roleKey": "clerk", "displayName": "Sells", "group": ""},
            {"projectId": "301", "roleKey": "admin", "displayName": "", "group": ""},
            {"projectId": "302", "roleKey": "admin", "displayName": "", "group": ""},
        ],
        "apiApps": [{"appId": "405", "app": {"projectId": "301", "name": "API", "authMethodType": "API_AUTH_METHOD_TYPE_BASIC"}}],
        "oidcApps": [
            app("401", "shop", "BASIC", "WEB", ["AUTHORIZATION_CODE", "REFRESH_TOKEN"]),
            app("402", "spa", "NONE", "USER_AGENT", ["AUTHORIZATION_CODE", "IMPLICIT"]),
            app("403", "signed", "PRIVATE_KEY_JWT", "WEB", []),
        ],
        "humanUsers": [
            human("201", "ada", passlib_bcrypt("ada", b"2a"), otpCode=base64.b32encode(TOTP).decode(), phone={"phone": "+49301234567", "isPhoneVerified": True}),
            human("202", "ben", argon("ben"), passwordChangeRequired=True, idps=[{"configId": "501", "externalUserId": "ben-there", "displayName": "Ben"}]),
            human("203", "cleo", passlib_scrypt("cleo")),
            human("204", "dora", "$P$B12345678abcdefghijklmnopqrstuv"),
        ],
        "machineUsers": [{"userId": "209", "user": {"userName": "robot", "name": "Robot", "description": ""}}],
        "userGrants": [
            {"userId": "201", "projectId": "301", "projectGrantId": "", "roleKeys": ["clerk", "admin"]},
            {"userId": "202", "projectId": "302", "projectGrantId": "", "roleKeys": ["admin"]},
        ],
        "userMetadata": [{"id": "201", "key": "costCentre", "value": b64(b"CC-7")}, {"id": "202", "key": "picture-bytes", "value": b64(b"\xff\xfe")}],
        "orgMembers": [{"userId": "201", "roles": ["ORG_OWNER"]}],
        "oidcIdps": [{"idpId": "501", "idp": {"name": "Corporate", "stylingType": "STYLING_TYPE_UNSPECIFIED", "clientId": "ours", "clientSecret": secret("corporate"), "issuer": "https://id.acme.example", "scopes": ["openid", "profile"], "autoRegister": True}}],
        "jwtIdps": [],
        "userLinks": [{"userId": "201", "idpId": "501", "idpName": "Corporate", "providedUserId": "ada-there", "providedUserName": "Ada", "idpType": "IDP_TYPE_OIDC"}],
        "domains": [{"orgId": "104133391254874632", "domainName": "acme.example", "isVerified": True, "isPrimary": True}],
        "appKeys": [{"id": "601", "projectId": "301", "appId": "403", "clientId": "403@shop", "type": "KEY_TYPE_JSON", "publicKey": b64(b"-----BEGIN PUBLIC KEY-----\n")}],
        "machineKeys": [],
        "actions": [],
    }
    write("zitadel/export.json", {"orgs": [org]})
    write("zitadel/apps.json", {"details": {"totalResult": "1"}, "result": [{"id": "401", "state": "APP_STATE_ACTIVE", "name": "shop", "oidcConfig": {"redirectUris": ["https://shop.acme.example/cb"], "clientId": "401@shop", "authMethodType": "OIDC_AUTH_METHOD_TYPE_BASIC"}}]})


def auth0():
    def identity(connection, user_id, provider="auth0", social=False):
        return {"user_id": user_id, "provider": provider, "connection": connection, "isSocial": social}

    database = "Username-Password-Authentication"
    users = [
        {"user_id": "auth0|5dea9f9c82dd7c0e76e4ec01", "email": "ada@acme.example", "email_verified": True, "username": "ada", "given_name": "Ada", "family_name": "Example", "name": "Ada Example", "nickname": "ada", "picture": "https://acme.example/ada.png", "blocked": False, "created_at": "2024-05-01T12:00:00.500Z", "identities": [identity(database, "5dea9f9c82dd7c0e76e4ec01"), identity("corporate", "corporate|ada-there", "oidc")], "user_metadata": {"theme": "dark", "costCentre": "CC-7"}, "app_metadata": {"plan": "gold", "theme": "light", "deep": {"a": 1}}, "multifactor": ["guardian"]},
        {"user_id": "auth0|euclid", "email": "ben@acme.example", "email_verified": False, "phone_number": "+49301234567", "phone_verified": True, "blocked": True, "identities": [identity(database, "euclid")]},
        {"user_id": "google-oauth2|117", "name": "Nobody", "identities": [identity("google-oauth2", "117", "google-oauth2", True)]},
    ]
    write("auth0/users.ndjson", users, lines=True)

    def digest(name, algorithm):
        return hashlib.new(algorithm, password(name).encode() + salt(name)).hexdigest()

    scrypt = hashlib.scrypt(password("finn").encode(), salt=salt("finn"), n=1024, r=8, p=1, dklen=64)
    app = base64.b32encode(TOTP).decode()

    def brought(name, algorithm, value, **more):
        hash_ = {"value": value, **({"encoding": more.pop("encoding")} if "encoding" in more else {})}
        return {"email": f"{name}@acme.example", "email_verified": True, "custom_password_hash": {"algorithm": algorithm, "hash": hash_, **more}}

    def salted(name, position):
        return {"value": salt(name).hex(), "encoding": "hex", "position": position}

    cleo = brought("cleo", "argon2", argon("cleo"))
    cleo["mfa_factors"] = [{"totp": {"secret": app}}, {"phone": {"value": "+49301234567"}}]
    write(
        "auth0/import.json",
        [
            cleo,
            brought("dora", "pbkdf2", phc_pbkdf2("dora"), encoding="utf8"),
            brought("emil", "sha256", digest("emil", "sha256"), encoding="hex", salt=salted("emil", "suffix")),
            brought("finn", "scrypt", b64(scrypt), encoding="base64", salt={"value": b64(salt("finn")), "encoding": "base64"}, keylen=64, cost=1024, blockSize=8, parallelization=1),
            brought("gina", "sha1", digest("gina", "sha1"), encoding="hex", salt=salted("gina", "prefix")),
            brought("hugo", "md5", digest("hugo", "md5"), encoding="hex"),
        ],
    )
    line = {"tenant": "acme", "connection": database, "_tmp_is_unique": True}
    write(
        "auth0/passwords.ndjson",
        [
            {"_id": {"$oid": "5dea9f9c82dd7c0e76e4ec01"}, "email_verified": True, "email": "ada@acme.example", "passwordHash": passlib_bcrypt("ada"), "password_set_date": {"$date": "2024-05-01T12:00:00.500Z"}, **line},
            {"_id": {"$oid": "5dea9f9c82dd7c0e76e4ec02"}, "alt_id": "euclid", "passwordHash": passlib_bcrypt("ben"), **line},
            {"_id": {"$oid": "5dea9f9c82dd7c0e76e4ec03"}, "identifiers": [{"type": "email", "value": "iris@acme.example", "verified": True}], "passwordHash": passlib_bcrypt("iris"), **line},
        ],
        lines=True,
    )
    web = {"client_id": "shop", "name": "Shop", "app_type": "regular_web", "is_first_party": True, "oidc_conformant": True, "token_endpoint_auth_method": "client_secret_post", "client_secret": secret("shop"), "callbacks": ["https://shop.acme.example/cb", "https://*.acme.example/cb"], "allowed_logout_urls": ["https://shop.acme.example/"], "web_origins": ["https://shop.acme.example"], "grant_types": ["authorization_code", "implicit", "refresh_token", "client_credentials"], "jwt_configuration": {"alg": "RS256", "lifetime_in_seconds": 36000}, "oidc_logout": {"backchannel_logout_urls": ["https://shop.acme.example/logout"]}, "client_metadata": {"team": "red"}}
    spa = {"client_id": "spa", "name": "Pages", "app_type": "spa", "is_first_party": False, "token_endpoint_auth_method": "none", "callbacks": ["https://spa.acme.example/"], "grant_types": ["authorization_code", "refresh_token"], "jwt_configuration": {"alg": "HS256"}}
    machine = {"client_id": "machine", "name": "Machine", "app_type": "non_interactive", "client_secret": secret("machine"), "grant_types": ["client_credentials"]}
    write("auth0/clients.json", {"total": 4, "start": 0, "limit": 50, "clients": [web, spa, machine, {"client_id": "all", "name": "All Applications", "global": True}]})
    write("auth0/connections/corporate.json", {"name": "corporate", "strategy": "oidc", "display_name": "Corporate", "options": {"type": "back_channel", "discovery_url": "https://id.acme.example/.well-known/openid-configuration", "client_id": "ours", "client_secret": secret("corporate"), "scope": "openid profile"}, "enabled_clients": ["Shop"]})
    write("auth0/connections/saml.json", {"name": "partner", "strategy": "samlp", "options": {"signInEndpoint": "https://partner.example"}})
    write("auth0/roles/clerk.json", {"name": "clerk", "description": "Sells", "permissions": [{"permission_name": "read:orders", "resource_server_identifier": "https://api.acme.example"}]})
    write("auth0/tenant.json", {"default_directory": database, "sandbox_version": "18"})


def pocket_id():
    # Whoever has this number has the passkey.
    number = int.from_bytes(hashlib.sha256(b"the passkey of ada").digest(), "big") % (2**255)
    public = ec.derive_private_key(number, ec.SECP256R1()).public_key().public_numbers()
    cose = bytes.fromhex("a5010203262001215820") + public.x.to_bytes(32, "big") + bytes.fromhex("225820") + public.y.to_bytes(32, "big")
    ada, ben = "f4b89dc2-62fb-46bf-9f5f-c34f4eafe901", "1cd19686-f9a6-43f4-a41f-14a0bf5b4002"
    staff, europe = "c7ae7c01-28a3-4f3c-9572-1ee734ea8301", "adab18bf-f89d-4087-9ee1-70ff15b48202"
    at = "2025-11-25T12:39:02Z"

    def user(user_id, name, **more):
        return {"created_at": at, "updated_at": None, "disabled": False, "display_name": f"{name.capitalize()} Example", "email": f"{name}@acme.example", "email_verified": True, "first_name": name.capitalize(), "id": user_id, "is_admin": False, "last_name": "Example", "ldap_id": None, "locale": None, "username": name, **more}

    def client(client_id, name, **more):
        return {"callback_urls": b64(json.dumps([f"https://{name}.acme.example/cb"]).encode()), "created_at": at, "created_by_id": ada, "credentials": b64(b"{}"), "dark_image_type": None, "id": client_id, "image_type": None, "is_group_restricted": False, "is_public": False, "launch_url": f"https://{name}.acme.example", "logout_callback_urls": b64(b"null"), "name": name.capitalize(), "pkce_enabled": True, "requires_reauthentication": False, **more}

    hashed = {"id": "1", "algorithm": "sha256", "hash": hashlib.sha256(secret("shop").encode()).hexdigest(), "prefix": "the-", "createdAt": at, "expiresAt": None}
    shop, wiki, new = (f"3654a746-35d4-4321-ac61-0bdcff2b400{n}" for n in (1, 2, 3))
    write(
        "pocket-id/database.json",
        {
            "provider": "sqlite",
            "version": 20251229173100,
            "tableOrder": ["users", "user_groups", "oidc_clients", "signup_tokens"],
            "tables": {
                "users": [user(ada, "ada", is_admin=True, locale="de"), user(ben, "ben", disabled=True, ldap_id="ben", email=None)],
                "user_groups": [
                    {"created_at": at, "updated_at": None, "friendly_name": "Staff", "id": staff, "ldap_id": None, "name": "staff"},
                    {"created_at": at, "updated_at": None, "friendly_name": "Europe", "id": europe, "ldap_id": None, "name": "europe"},
                ],
                "user_groups_users": [{"user_group_id": staff, "user_id": ada}, {"user_group_id": europe, "user_id": ada}, {"user_group_id": staff, "user_id": ben}],
                "custom_claims": [
                    {"id": "1", "created_at": at, "key": "costCentre", "value": "CC-7", "user_id": ada, "user_group_id": None},
                    {"id": "2", "created_at": at, "key": "floor", "value": "3", "user_id": None, "user_group_id": staff},
                ],
                "oidc_clients": [
                    client(shop, "shop", credentials=b64(json.dumps({"secrets": [hashed]}).encode())),
                    client(wiki, "wiki", pkce_enabled=False, secret=passlib_bcrypt("wiki", b"2a"), requires_reauthentication=True, credentials=b64(json.dumps({"federatedIdentities": [{"issuer": "https://ci.acme.example"}]}).encode())),
                    client(new, "new", is_public=True, callback_urls=b64(b"null")),
                ],
                "oidc_clients_allowed_user_groups": [{"oidc_client_id": wiki, "user_group_id": staff}],
                "user_authorized_oidc_clients": [{"client_id": shop, "last_used_at": at, "scope": "openid profile email groups", "user_id": ada}],
                "webauthn_credentials": [{"attestation_type": "none", "backup_eligible": False, "backup_state": False, "created_at": at, "credential_id": b64(b"the credential of ada"), "id": "fa7977f9-7cf8-40fa-abca-42b917b6e692", "name": "Phone", "public_key": b64(cose), "transport": b64(b'["internal"]'), "user_id": ada}],
                "api_keys": [{"created_at": at, "id": "1", "key": hashlib.sha256(b"key").hexdigest(), "name": "Test", "user_id": ada}],
                "signup_tokens": [],
                "webauthn_sessions": [{"id": "1", "challenge": "challenge", "expires_at": at}],
                "something_new": [{"id": "1"}],
            },
        },
    )


for export in (authentik, zitadel, auth0, pocket_id):
    export()
