"""vectors/agent, by a stock COSE library: the ids, the signatures, and the payloads that agent.cddl describes."""

import base64
import hashlib
import json
import pathlib

import cbor2
import pytest
from cwt import COSE, COSEKey

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = json.loads((ROOT / "vectors/agent/objects.json").read_text())
TYPES = {"identity": 1, "grant": 2, "receipt": 4, "proof": 5, "revocation": 6}


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def key(name):
    (found,) = [k for k in FILE["keys"] if k["name"] == name]
    return COSEKey.from_jwk({"kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "key_ops": ["verify"], "x": found["public"]})


def verify(vector):
    return COSE.new().decode(decode(vector["message"]), key(vector["key"]))


@pytest.mark.parametrize("vector", [v for v in FILE["vectors"] if v["answer"] == "accept"], ids=lambda v: v["name"])
def test_an_accepted_vector_verifies(vector):
    payload = verify(vector)
    assert hashlib.sha256(payload).digest() == decode(vector["id"])
    fields = cbor2.loads(payload)
    assert fields[0] == TYPES[vector["type"]]
    assert list(fields) == sorted(fields)
    assert cbor2.dumps(fields, canonical=True) == payload


def forged():
    return [v for v in FILE["vectors"] if v["answer"] == "signature_invalid"]


@pytest.mark.parametrize("vector", forged(), ids=lambda v: v["name"])
def test_a_forged_vector_does_not_verify(vector):
    with pytest.raises(Exception):
        verify(vector)


def test_an_id_commits_to_the_inception_key_and_the_next():
    document = cbor2.loads(verify(FILE["vectors"][0]))
    inception = cbor2.dumps(["signet-agent", document[5], document[6]], canonical=True)
    assert hashlib.sha256(inception).digest() == document[1]


def test_a_receipt_names_the_one_before_it_and_its_content():
    first, second = [v for v in FILE["vectors"] if v["type"] == "receipt" and v["answer"] == "accept"]
    assert cbor2.loads(verify(second))[10] == decode(first["id"])
    content = b"approved the quarterly budget increase of 5%"
    assert cbor2.loads(verify(first))[5] == hashlib.sha256(content).digest()
