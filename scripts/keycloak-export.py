#!/usr/bin/env python3
"""Makes a realm in a real Keycloak, and has Keycloak export it: what `signet import keycloak` is tried with.

    scripts/keycloak-export.py WORK_DIR OUT_DIR [--people 12] [--into SIGNET]

WORK_DIR gets Keycloak (from Maven Central, once) and its database; OUT_DIR the export, `acme-realm.json` and `acme-users-N.json`. All people,
passwords and secrets are invented, and follow from their numbers (`password`, `app`), so that whoever has the export can log in as them.
Keycloak itself hashes the passwords: six of ten with PBKDF2-SHA512, three with PBKDF2-SHA256, one with Argon2. Needs Java and mvn.
With --into, the binary SIGNET serves in development mode from a new directory, the export is imported, and up to a hundred people are drawn and
log in with their old password and their app's code: `make build`, then `scripts/keycloak-export.py /tmp/kc /tmp/kc/export --people 10000 --into
target/release/signet`.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import random
import shutil
import ssl
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

VERSION = "26.4.5"
PORT = 18990
REALM = "acme"
# A public key of ES256 as COSE, from the test vectors of the specification (W3C Web Authentication Level 3, section 16.1).
COSE_KEY = (
    "a5010203262001215820afefa16f97ca9b2d23eb86ccb64098d20db90856062eb249c33a9b672f26df61"
    "225820930a56b87a2fca66334b03458abf879717c12cc68ed73290af2e2664796b9220"
)


def digest(text):
    return hashlib.sha256(text.encode()).digest()


def password(number):
    """What a person logs in with."""
    return "Acme-" + base64.b32encode(digest(f"password {number}"))[:12].decode().lower()


def app(number):
    """The code app of a person, as (secret, algorithm, digits, period); None: no app."""
    if number % 5:
        return None
    secret = base64.b32encode(digest(f"totp {number}"))[:20].decode()
    kind = (number // 5) % 4
    return (
        secret,
        ["HmacSHA1", "HmacSHA1", "HmacSHA256", "HmacSHA512"][kind],
        [6, 8, 6, 8][kind],
        [30, 30, 30, 60][kind],
    )


def username(number):
    return f"person{number:05}"


def algorithm(number):
    """The password policy that is in force when the person is made."""
    policy = ["hashAlgorithm(pbkdf2-sha512) and hashIterations(5000)"] * 6
    policy += ["hashAlgorithm(pbkdf2-sha256) and hashIterations(8000)"] * 3
    policy += ["hashAlgorithm(argon2)"]
    return policy[number % 10]


def person(number):
    made = {
        "id": str(uuid.UUID(bytes=digest(f"id {number}")[:16], version=4)),
        "username": username(number),
        "email": f"{username(number)}@example.com",
        "emailVerified": number % 7 != 0,
        "enabled": number % 11 != 10,
        "firstName": f"Given{number}",
        "lastName": f"Family{number}",
        "createdTimestamp": 1_700_000_000_000 + number * 1000,
        "attributes": {
            "locale": ["en" if number % 2 else "de"],
            "costCentre": [f"CC-{number % 40}"],
            "phoneNumber": [f"+4930{number:07}"],
        },
        "credentials": [{"type": "password", "value": password(number), "temporary": False}],
        "requiredActions": ["UPDATE_PASSWORD"] if number % 12 == 8 else [],
        "realmRoles": ["employee"] + (["manager"] if number % 4 == 0 else []),
        "clientRoles": {"shop": ["buyer"]} if number % 3 == 0 else {},
        "groups": [["/engineering/backend", "/engineering", "/sales"][number % 3]],
    }
    if number % 6 == 1:
        made["attributes"]["badges"] = ["gold", "silver"]
        made["clientConsents"] = [{"clientId": "shop", "grantedClientScopes": ["profile", "email"], "createdDate": 1_700_000_000_000}]
    if number % 6 == 2:
        made["federatedIdentities"] = [{"identityProvider": "corporate", "userId": f"up-{number}", "userName": f"{username(number)}@corporate.example"}]
    if has := app(number):
        secret, hashing, digits, period = has
        made["credentials"].append(
            {
                "type": "otp",
                "userLabel": "phone",
                "createdDate": 1_700_000_000_000,
                "secretData": json.dumps({"value": secret}),
                "credentialData": json.dumps({"subType": "totp", "digits": digits, "counter": 0, "period": period, "algorithm": hashing}),
            }
        )
    if number % 12 == 4:
        made["credentials"].append(
            {
                "type": "webauthn-passwordless",
                "userLabel": "laptop",
                "createdDate": 1_700_000_000_000,
                "secretData": "{}",
                "credentialData": json.dumps(
                    {
                        "aaguid": "00000000-0000-0000-0000-000000000000",
                        "credentialId": base64.urlsafe_b64encode(digest(f"credential {number}")).decode().rstrip("="),
                        "counter": 3,
                        "credentialPublicKey": base64.urlsafe_b64encode(bytes.fromhex(COSE_KEY)).decode().rstrip("="),
                        "attestationStatementFormat": "none",
                        "transports": ["internal"],
                    }
                ),
            }
        )
    return made


def realm(people):
    return {
        "realm": REALM,
        "enabled": True,
        "sslRequired": "none",
        "accessTokenLifespan": 600,
        "passwordPolicy": algorithm(0),
        "registrationAllowed": False,
        "webAuthnPolicyPasswordlessRpId": "localhost",
        "webAuthnPolicyPasswordlessRequireResidentKey": "Yes",
        "roles": {
            "realm": [
                {"name": "employee", "description": "Who works here"},
                {"name": "manager", "composite": True, "composites": {"realm": ["employee"], "client": {"shop": ["refund"]}}},
            ],
            "client": {"shop": [{"name": "buyer"}, {"name": "refund"}]},
        },
        "groups": [
            {
                "name": "engineering",
                "realmRoles": ["employee"],
                "subGroups": [{"name": "backend", "clientRoles": {"shop": ["refund"]}}],
            },
            {"name": "sales", "subGroups": [{"name": "backend"}], "attributes": {"floor": ["3"]}},
        ],
        "clients": [
            {
                "clientId": "shop",
                "name": "The shop",
                "protocol": "openid-connect",
                "secret": "the-secret-of-the-shop-that-is-long-enough",
                "publicClient": False,
                "standardFlowEnabled": True,
                "serviceAccountsEnabled": True,
                "directAccessGrantsEnabled": True,
                "consentRequired": True,
                "redirectUris": ["https://shop.example/callback", "https://shop.example/wild/*"],
                "webOrigins": ["https://shop.example"],
                "attributes": {"post.logout.redirect.uris": "https://shop.example/bye", "pkce.code.challenge.method": "S256"},
            },
            {
                "clientId": "phone-app",
                "protocol": "openid-connect",
                "publicClient": True,
                "standardFlowEnabled": True,
                "directAccessGrantsEnabled": False,
                "redirectUris": ["com.example.phone:/callback"],
            },
            {"clientId": "legacy-saml", "protocol": "saml", "redirectUris": ["https://saml.example/acs"]},
        ],
        "identityProviders": [
            {
                "alias": "corporate",
                "displayName": "Corporate login",
                "providerId": "oidc",
                "enabled": True,
                "trustEmail": True,
                "config": {
                    "issuer": "https://corporate.example",
                    "authorizationUrl": "https://corporate.example/authorize",
                    "tokenUrl": "https://corporate.example/token",
                    "clientId": "acme",
                    "clientSecret": "the-secret-at-the-corporate-provider",
                    "clientAuthMethod": "client_secret_post",
                    "defaultScope": "openid profile email",
                },
            },
            {"alias": "old-saml", "providerId": "saml", "enabled": True, "config": {"singleSignOnServiceUrl": "https://saml.example/sso"}},
        ],
        "users": people,
    }


def java(home, *arguments):
    """The command that its own script would run: that one's process would not be Java's."""
    return [
        "nice",
        "-n",
        "5",
        "java",
        "-Xms64m",
        "-Xmx768m",
        "-Djava.util.logging.manager=org.jboss.logmanager.LogManager",
        "--add-opens=java.base/java.util=ALL-UNNAMED",
        "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
        "--add-opens=java.base/java.security=ALL-UNNAMED",
        f"-Dkc.home.dir={home}",
        "-cp",
        str(home / "lib/quarkus-run.jar"),
        "io.quarkus.bootstrap.runner.QuarkusEntryPoint",
        *arguments,
    ]


def keycloak(work):
    """Where Keycloak is; fetched and built where it is not there yet."""
    home = work / f"keycloak-{VERSION}"
    if not home.exists():
        work.mkdir(parents=True, exist_ok=True)
        artifact = f"org.keycloak:keycloak-quarkus-dist:{VERSION}:zip"
        goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:unpack"
        subprocess.run(["mvn", "-q", "-B", goal, f"-Dartifact={artifact}", f"-DoutputDirectory={work}"], check=True)
    if not (home / ".built").exists():
        subprocess.run(["sh", home / "bin/kc.sh", "build", "--db=dev-file"], check=True)
        (home / ".built").touch()
    return home


def call(path, token=None, body=None, method=None, form=None):
    data = urllib.parse.urlencode(form).encode() if form else None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT}{path}", data=data, method=method)
    if token:
        request.add_header("authorization", f"Bearer {token}")
    if body is not None:
        request.add_header("content-type", "application/json")
    with urllib.request.urlopen(request, timeout=600) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def token():
    form = {"grant_type": "password", "client_id": "admin-cli", "username": "admin", "password": "admin-of-the-sample"}
    return call("/realms/master/protocol/openid-connect/token", form=form)["access_token"]


def code(number):
    """What a person's app shows now; None: no app."""
    if not (has := app(number)):
        return None
    secret, hashing, digits, period = has
    tag = hmac.new(secret.encode(), struct.pack(">Q", int(time.time()) // period), hashing.replace("Hmac", "").lower()).digest()
    at = tag[-1] & 15
    word = struct.unpack(">I", tag[at : at + 4])[0] & 0x7FFFFFFF
    return str(word % 10**digits).zfill(digits)


def log_in(dev, trust, number):
    """The status and the error of a login: 200, or why not."""
    body = {"username": username(number), "password": password(number)}
    if shown := code(number):
        body["totp"] = shown
    request = urllib.request.Request(dev["issuer"].rstrip("/") + "/password-login", json.dumps(body).encode(), {"content-type": "application/json"})
    try:
        urllib.request.urlopen(request, context=trust).read()
        return "logged in"
    except urllib.error.HTTPError as refused:
        return json.load(refused).get("error")


def move_in(signet, out, people):
    """Imports the export into a new development server, and lets people log in."""
    signet = str(signet.resolve())
    with tempfile.TemporaryDirectory() as data:
        log = open(Path(data) / "log", "w")
        server = subprocess.Popen([signet, "serve", "--dev", "--data-dir", f"{data}/d"], stdout=log, stderr=log)
        try:
            while "ready" not in (Path(data) / "log").read_text():
                if server.poll() is not None:
                    sys.exit((Path(data) / "log").read_text())
                time.sleep(0.2)
            begun = time.time()
            done = subprocess.run([signet, "import", "keycloak", str(out), "--json", "--data-dir", f"{data}/d"], check=True, stdout=subprocess.PIPE)
            print(f"{json.loads(done.stdout)['people']['imported']} people were imported in {time.time() - begun:.1f} s", flush=True)
            dev = json.loads((Path(data) / "d/dev.json").read_text())
            trust = ssl.create_default_context(cafile=dev["ca_cert"])
            outcomes = {}
            for number in random.sample(range(people), min(100, people)):
                # The one request that takes a password and a code is for administrators.
                subprocess.run([signet, "user", "set", username(number), "admin=true", "--json", "--data-dir", f"{data}/d"], check=True, stdout=subprocess.DEVNULL)
                # A disabled account is refused, and a password that has to be changed is right, and changed in a browser.
                expected = "access_denied" if number % 11 == 10 else "interaction_required" if number % 12 == 8 else "logged in"
                outcome = log_in(dev, trust, number)
                if outcome != expected:
                    sys.exit(f"{username(number)}: {outcome}, expected {expected}")
                outcomes[outcome] = outcomes.get(outcome, 0) + 1
            print(outcomes)
        finally:
            server.terminate()
            server.wait(30)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("work", type=Path)
    arguments.add_argument("out", type=Path)
    arguments.add_argument("--people", type=int, default=12)
    arguments.add_argument("--into", type=Path)
    options = arguments.parse_args()
    home = keycloak(options.work.resolve())
    for old in ["data/h2", "data/import"]:
        shutil.rmtree(home / old, ignore_errors=True)
    (home / "data/import").mkdir(parents=True)
    numbers = range(options.people)
    first = [person(n) for n in numbers if algorithm(n) == algorithm(0)]
    (home / "data/import" / f"{REALM}-realm.json").write_text(json.dumps(realm(first)))
    environment = dict(os.environ, KC_BOOTSTRAP_ADMIN_USERNAME="admin", KC_BOOTSTRAP_ADMIN_PASSWORD="admin-of-the-sample")
    start = ["start", "--optimized", "--import-realm", "--cache=local", "--http-enabled=true", "--http-host=127.0.0.1"]
    start += [f"--http-port={PORT}", "--hostname-strict=false", "--log-level=warn"]
    begun = time.time()
    process = subprocess.Popen(java(home, *start), env=environment)
    try:
        while True:
            try:
                call(f"/realms/{REALM}")
                break
            except OSError:
                if process.poll() is not None:
                    sys.exit("Keycloak ended")
                time.sleep(1)
        print(f"{len(first)} people were there after {time.time() - begun:.0f} s", flush=True)
        for policy in dict.fromkeys(algorithm(n) for n in range(10)):
            if policy == algorithm(0):
                continue
            call(f"/admin/realms/{REALM}", token(), {"passwordPolicy": policy}, "PUT")
            people = [person(n) for n in numbers if algorithm(n) == policy]
            for at in range(0, len(people), 250):
                body = {"ifResourceExists": "FAIL", "users": people[at : at + 250]}
                call(f"/admin/realms/{REALM}/partialImport", token(), body, "POST")
            print(f"{policy}: {len(people)} more, after {time.time() - begun:.0f} s", flush=True)
    finally:
        process.terminate()
        process.wait(60)
    options.out.mkdir(parents=True, exist_ok=True)
    out = ["export", "--optimized", f"--dir={options.out.resolve()}", f"--realm={REALM}", "--users=different_files", "--users-per-file=1000"]
    subprocess.run(java(home, *out), env=environment, check=True)
    if options.into:
        move_in(options.into, options.out, options.people)


if __name__ == "__main__":
    main()
