"""A server as the certification plans need it: a configuration file of its own, beside the development server.

Plain OpenID Connect for registered clients (PKCE is not demanded of them), FAPI 2.0 for the four configured pairs of clients:
(private_key_jwt or tls_client_auth) x (DPoP or certificate-bound tokens), two clients each, as the plans want them. Only
algorithms that the plans' own tools read are switched on.
"""

import datetime
import json
import os
import secrets
import socket
import ssl
import subprocess
import time
import urllib.request
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from joserfc.jwk import ECKey, RSAKey

REDIRECT = "https://suite.example/test/a/signet/callback"
SCOPES = ["openid", "profile", "email", "address", "phone", "offline_access"]
PASSWORD = "conformance " + secrets.token_urlsafe(18)
SIGNING_ALGORITHMS = ["RS256", "ES256", "PS256"]


HELD = []


def held_port():
    """A port for a program that cannot choose one itself. It is bound here, so that the system gives it to nobody else,
    and not listening, so that the program (which sets SO_REUSEADDR, as servers do) can take it."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    HELD.append(held)
    return held.getsockname()[1]


class Authority:
    """A private CA for the server's certificate and the clients'."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, name
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{name} authority")])
        certificate = (
            self._builder(self.subject, self.key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(x509.KeyUsage(False, False, False, False, False, True, True, False, False), critical=True)
            .sign(self.key, hashes.SHA256())
        )
        self.pem = folder / f"{name}-ca.pem"
        self.pem.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def _builder(self, subject, key):
        now = datetime.datetime.now(datetime.timezone.utc)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self.subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(days=30))
        )

    def issue(self, common_name, server=False):
        """A leaf: (certificate file, key file)."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        certificate = (
            self._builder(subject, key)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(common_name)]), critical=False)
            .sign(self.key, hashes.SHA256())
        )
        files = self.folder / f"{common_name}.pem", self.folder / f"{common_name}.key"
        files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        files[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        return str(files[0]), str(files[1])


class FapiClient:
    """One configured client: how it authenticates, what binds its tokens, and its keys."""

    def __init__(self, authority, folder, auth, bind, number):
        self.client_id = f"fapi-{auth}-{bind}-{number}"
        self.auth, self.bind = auth, bind
        # One of each kind of key, as FAPI 2.0 section 5.4 allows them.
        self.key = (
            RSAKey.generate_key(2048, {"alg": "PS256", "use": "sig", "kid": self.client_id})
            if number == 1
            else ECKey.generate_key("P-256", {"alg": "ES256", "use": "sig", "kid": self.client_id})
        )
        self.certificate = authority.issue(f"{self.client_id}.example") if "mtls" in (auth, bind) else None
        self.jwks_file = folder / f"{self.client_id}.jwks.json"
        self.jwks_file.write_text(json.dumps({"keys": [self.key.as_dict(private=False)]}))

    def toml(self):
        lines = [
            "[[clients]]",
            f'client_id = "{self.client_id}"',
            f'client_name = "FAPI {self.client_id}"',
            f'redirect_uris = ["{REDIRECT}"]',
            'grant_types = ["authorization_code", "refresh_token"]',
            f"scope = {json.dumps(SCOPES)}",
            'id_token_signed_response_alg = "PS256"',
            "require_pushed_authorization_requests = true",
            "rotate_refresh_tokens = false",
        ]
        if self.auth == "mtls":
            lines += [
                'token_endpoint_auth_method = "tls_client_auth"',
                f'tls_client_auth_san_dns = "{self.client_id}.example"',
            ]
        else:
            lines += ['token_endpoint_auth_method = "private_key_jwt"', f'jwks = "{self.jwks_file}"']
        if self.bind == "dpop":
            lines.append("dpop_bound_access_tokens = true")
        else:
            lines.append("tls_client_certificate_bound_access_tokens = true")
        return "\n".join(lines)


class Deployment:
    """The running server."""

    def __init__(self, folder, name="op", **protocol):
        folder = Path(folder)
        self.authority = Authority(folder, name)
        self.ca = str(self.authority.pem)
        self.port, self.mtls_port = held_port(), held_port()
        self.issuer = f"https://localhost:{self.port}"
        certificate, key = self.authority.issue("localhost", server=True)
        self.server_certificate = (certificate, key)
        self.fapi = {
            (auth, bind): [FapiClient(self.authority, folder, auth, bind, n) for n in (1, 2)]
            for auth in ("private_key_jwt", "mtls")
            for bind in ("dpop", "mtls")
        }
        password = folder / f"{name}-password"
        password.write_text(PASSWORD)
        people = "\n".join(
            f'[[users]]\nusername = "{user}"\nname = "{user.title()} Example"\nemail = "{user}@example.test"\n'
            f'email_verified = true\nadmin = {json.dumps(user == "admin")}\npassword = {{ file = "{password}" }}'
            for user in ("buffy", "admin")
        )
        clients = "\n\n".join(client.toml() for pair in self.fapi.values() for client in pair)
        settings = "\n".join(f"{name} = {json.dumps(value)}" for name, value in protocol.items())
        config = folder / f"{name}.toml"
        config.write_text(
            f"""issuer = "{self.issuer}"
data_dir = "{folder / (name + "-data")}"

[[listeners]]
address = "127.0.0.1:{self.port}"

[[listeners]]
address = "127.0.0.1:{self.mtls_port}"
protocol = "mtls"
public_url = "https://localhost:{self.mtls_port}"

[tls]
certificate = "{certificate}"
key = "{key}"
client_ca = "{self.ca}"

[keys]
algorithms = {json.dumps(SIGNING_ALGORITHMS)}
id_token = "RS256"
access_token = "ES256"
publish_ahead = 1

[protocol]
{settings}

[lifetimes]
pushed_request = 8
code = 8

[registration]
enabled = true
open = true
require_pkce = false

[outbound]
trust = "{self.ca}"
allow_loopback = true

{people}

{clients}
"""
        )
        self.log = folder / f"{name}.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.environ["SIGNET_BIN"], "serve", "--config", str(config)], stdout=log, stderr=subprocess.STDOUT
            )
        self._wait()

    def _wait(self):
        trust = ssl.create_default_context(cafile=self.ca)
        for _ in range(300):
            if self.process.poll() is not None:
                raise AssertionError(self.log.read_text()[-3000:])
            try:
                if urllib.request.urlopen(self.issuer + "/health/ready", context=trust, timeout=2).status == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise AssertionError("the server was not ready within 30 seconds")

    def stop(self):
        self.process.terminate()
        assert self.process.wait(20) == 0, self.log.read_text()[-3000:]
