"""compact.proto is enough: Python's protobuf package reads a token, and Python's own primitives verify it."""

import base64
import hashlib
import hmac
import importlib
import os
import pathlib
import subprocess
import sys

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from grpc_tools import protoc

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIGNET = os.environ["SIGNET_BIN"]


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def signet(*arguments):
    return subprocess.run([SIGNET, "compact", *arguments], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def messages(tmp_path_factory):
    out = tmp_path_factory.mktemp("proto")
    proto = ROOT / "crates/compact"
    assert protoc.main(["protoc", f"-I{proto}", f"--python_out={out}", str(proto / "compact.proto")]) == 0
    sys.path.insert(0, str(out))
    return importlib.import_module("compact_pb2")


def sign(key, *more):
    return decode(
        signet("sign", "--key", key, "--subject", "user:alice", "--audience", "api.example.com", "--scope", "read",
               "--scope", "write", "--issued-at", "1000000", "--expires-at", str(2**64 - 1), *more)
    )  # fmt: skip


def test_protobuf_reads_a_token_and_writes_the_same_bytes(messages, tmp_path):
    key = str(tmp_path / "key")
    signet("keygen", "--alg", "hmac-sha256", "--out", key)
    secret = messages.SigningKey.FromString(decode(pathlib.Path(key).read_text().strip())).secret_key
    for version, more in (
        (0, ()),
        (1, ("--issuer", "https://login.example.com", "--claim", 'client_id="service"', "--token-id", "AAECAwQFBgcICQoLDA0ODw")),
    ):
        token = sign(key, *more)
        parsed = messages.SignedToken.FromString(token)
        payload = parsed.payload
        assert parsed.SerializeToString(deterministic=True) == token
        assert (payload.version, payload.algorithm, payload.key_id_type) == (version, 1, 1)
        assert (payload.subject, payload.audience, list(payload.scope)) == ("user:alice", "api.example.com", ["read", "write"])
        assert (payload.issued_at, payload.expires_at) == (1000000, 2**64 - 1)
        assert payload.key_id == hashlib.sha256(secret).digest()[:8]
        message = (b"signet compact v1\n" if version else b"") + payload.SerializeToString(deterministic=True)
        assert hmac.compare_digest(parsed.signature, hmac.new(secret, message, hashlib.sha256).digest())
    assert payload.claim[0].name == "client_id" and payload.claim[0].json == '"service"'


def test_an_ed25519_token_verifies_with_another_library(messages, tmp_path):
    key, public = str(tmp_path / "key"), str(tmp_path / "public")
    signet("keygen", "--alg", "ed25519", "--out", key, "--public-out", public)
    point = messages.VerifyingKey.FromString(decode(pathlib.Path(public).read_text().strip())).public_key
    parsed = messages.SignedToken.FromString(sign(key))
    message = parsed.payload.SerializeToString(deterministic=True)
    Ed25519PublicKey.from_public_bytes(point).verify(parsed.signature, message)
    with pytest.raises(InvalidSignature):
        Ed25519PublicKey.from_public_bytes(point).verify(parsed.signature, message + b"\0")


def test_a_token_made_by_another_program_verifies_here(messages, tmp_path):
    secret = bytes(range(32))
    payload = messages.Payload(
        algorithm=1, key_id_type=3, key_id=hashlib.sha256(secret).digest(), expires_at=4000000000, subject="s", scope=["a", "b"]
    )
    tag = hmac.new(secret, payload.SerializeToString(deterministic=True), hashlib.sha256).digest()
    token = messages.SignedToken(payload=payload, signature=tag).SerializeToString(deterministic=True)
    key = tmp_path / "key"
    encode = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()  # noqa: E731
    key.write_text(encode(messages.SigningKey(algorithm=1, secret_key=secret).SerializeToString()))
    assert '"subject": "s"' in signet("verify", "--json", "--key", str(key), encode(token))
