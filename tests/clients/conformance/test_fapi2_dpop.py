"""fapi2-security-profile-final-test-plan: the modules about DPoP, at the token endpoint, at PAR, and at the resource."""

import base64
import json
import time

import pytest
from fapi import Fapi
from joserfc.jwk import ECKey, RSAKey
from party import Browser, Pkce, Proofs, check_error, check_token_response, sign


@pytest.fixture(params=["private_key_jwt", "mtls"])
def party(request, op):
    return Fapi(op, op.fapi[(request.param, "dpop")][0])


@pytest.fixture(scope="module")
def logged_in(op):
    party = Fapi(op, op.fapi[("private_key_jwt", "dpop")][0])
    return party, party.login(Browser(op))[2]["access_token"]


def encode(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_check_dpop_proof_nbf_exp(party, browser):
    pkce, now = Pkce(), int(time.time())
    asked, landing = party.code(browser, pkce)
    proof = party.proofs.make("POST", party.endpoint("token_endpoint"), nbf=now, exp=now + 300)
    token, _ = check_token_response(party, party.redeem(landing["code"], pkce, proof=proof), asked["nonce"])
    url = party.endpoint("userinfo_endpoint")
    proof = party.proofs.make("GET", url, token["access_token"], nbf=now, exp=now + 300)
    assert party.resource(token["access_token"], proof=proof).status_code == 200


@pytest.mark.parametrize("offset", [-10, 10])
def test_ensure_dpop_proof_with_iat_10_seconds_off_succeeds(party, browser, offset):
    pkce = Pkce()
    asked, landing = party.code(browser, pkce)
    moment = int(time.time()) + offset
    proof = party.proofs.make("POST", party.endpoint("token_endpoint"), iat=moment)
    token, _ = check_token_response(party, party.redeem(landing["code"], pkce, proof=proof), asked["nonce"])
    moment = int(time.time()) + offset
    proof = party.proofs.make("GET", party.endpoint("userinfo_endpoint"), token["access_token"], iat=moment)
    assert party.resource(token["access_token"], proof=proof).status_code == 200


# Authorization code binding (RFC 9449 section 10)


def test_ensure_mismatched_dpop_jkt_fails(party):
    other = Proofs()
    _, answer = party.push(proof=True, dpop_jkt=other.jkt)
    check_error(answer, ["invalid_request", "invalid_dpop_proof"], [400])


def test_ensure_token_endpoint_fails_with_mismatched_dpop_proof_jkt(party, browser):
    """Bound by the proof at PAR."""
    pkce = Pkce()
    _, landing = party.code(browser, pkce, proof=True)
    own, party.proofs = party.proofs, Proofs()
    check_error(party.redeem(landing["code"], pkce), ["invalid_request", "invalid_grant", "invalid_dpop_proof"], [400])
    party.proofs = own
    assert party.redeem(landing["code"], pkce).status_code == 200


def test_ensure_token_endpoint_fails_with_mismatched_dpop_jkt(party, browser):
    """Bound by the parameter."""
    pkce = Pkce()
    _, landing = party.code(browser, pkce, dpop_jkt=Proofs().jkt)
    check_error(party.redeem(landing["code"], pkce), ["invalid_request", "invalid_grant", "invalid_dpop_proof"], [400])


def test_ensure_dpop_proof_at_par_endpoint_binding_success(party, browser):
    party.login(browser, proof=True)


def test_ensure_dpop_auth_code_binding_success(party, browser):
    party.login(browser, dpop_jkt=party.proofs.jkt)
    party.login(browser, proof=True, dpop_jkt=party.proofs.jkt)


# Negative tests at the resource, then the same at the token endpoint

HOUR = 3600


def tampered(proof):
    head, body, signature = proof.split(".")
    return f"{head}.{body}.{signature[:-8]}{'A' * 8}"


def unsigned(proofs, method, url, token):
    claims = json.loads(base64.urlsafe_b64decode(proofs.make(method, url, token).split(".")[1] + "=="))
    return f"{encode({'typ': 'dpop+jwt', 'alg': 'none', 'jwk': proofs.public})}.{encode(claims)}."


def symmetric(proofs, method, url, token):
    from joserfc import jws
    from joserfc.jwk import OctKey

    claims = json.loads(base64.urlsafe_b64decode(proofs.make(method, url, token).split(".")[1] + "=="))
    head = {"typ": "dpop+jwt", "alg": "HS256", "jwk": {"kty": "oct", "k": "AAAA"}}
    registry = jws.JWSRegistry(algorithms=["HS256"], strict_check_header=False)
    return jws.serialize_compact(head, json.dumps(claims).encode(), OctKey.import_key(b"\0\0\0" * 12), registry=registry)


def of_other_key(proofs, method, url, token):
    """Signed by one key, naming another."""
    claims = json.loads(base64.urlsafe_b64decode(proofs.make(method, url, token).split(".")[1] + "=="))
    return sign({"typ": "dpop+jwt", "alg": "ES256", "jwk": proofs.public}, claims, ECKey.generate_key("P-256"))


def rs256_for_a_ps256_key(proofs, method, url, token):
    key = RSAKey.generate_key(2048)
    public = {k: v for k, v in key.as_dict(private=False).items() if k in ("kty", "n", "e")}
    claims = json.loads(base64.urlsafe_b64decode(proofs.make(method, url, token).split(".")[1] + "=="))
    return sign({"typ": "dpop+jwt", "alg": "RS256", "jwk": {**public, "alg": "PS256"}}, claims, key)


def private_jwk(proofs, method, url, token):
    return proofs.make(method, url, token, header={"jwk": {**proofs.public, "d": proofs.key.as_dict(private=True)["d"]}})


BAD = {
    "not a JWT": lambda p, m, u, t: "abc" + p.make(m, u, t).replace(".", ""),
    "no typ": lambda p, m, u, t: p.make(m, u, t, header={"typ": None}),
    "another typ": lambda p, m, u, t: p.make(m, u, t, header={"typ": "JWT"}),
    "no alg": lambda p, m, u, t: ".".join([encode({"typ": "dpop+jwt", "jwk": p.public}), *p.make(m, u, t).split(".")[1:]]),
    "no jwk": lambda p, m, u, t: p.make(m, u, t, header={"jwk": None}),
    "no jti": lambda p, m, u, t: p.make(m, u, t, jti=None),
    "no htm": lambda p, m, u, t: p.make(m, u, t, htm=None),
    "no htu": lambda p, m, u, t: p.make(m, u, t, htu=None),
    "no iat": lambda p, m, u, t: p.make(m, u, t, iat=None),
    "alg none": unsigned,
    "symmetric": symmetric,
    "RS256 with a key for PS256": rs256_for_a_ps256_key,
    "signature tampered with": lambda p, m, u, t: tampered(p.make(m, u, t)),
    "signed by another key": of_other_key,
    "private jwk": private_jwk,
    "another htm": lambda p, m, u, t: p.make("PUT", u, t),
    "another htu": lambda p, m, u, t: p.make(m, u + "/other", t),
    "htu of another host": lambda p, m, u, t: p.make(m, "https://other.example/userinfo", t),
    "iat one hour ahead": lambda p, m, u, t: p.make(m, u, t, iat=int(time.time()) + HOUR),
    "iat over 60 seconds ahead": lambda p, m, u, t: p.make(m, u, t, iat=int(time.time()) + 61),
    "iat one hour ago": lambda p, m, u, t: p.make(m, u, t, iat=int(time.time()) - HOUR),
    "a nonce that is not the server's": lambda p, m, u, t: p.make(m, u, t, nonce="made-up"),
}


@pytest.mark.parametrize("name", BAD)
def test_dpop_negative_tests(logged_in, name):
    party, token = logged_in
    url = party.endpoint("userinfo_endpoint")
    answer = party.http.get(url, headers={"authorization": f"DPoP {token}", "dpop": BAD[name](party.proofs, "GET", url, token)})
    assert answer.status_code in (400, 401), answer.text
    assert answer.headers["www-authenticate"].startswith("DPoP ")
    assert party.resource(token).status_code == 200


@pytest.mark.parametrize("name", BAD)
def test_dpop_negative_tests_at_the_token_endpoint(party, browser, name):
    pkce = Pkce()
    _, landing = party.code(browser, pkce)
    url = party.endpoint("token_endpoint")
    answer = party.redeem(landing["code"], pkce, proof=BAD[name](party.proofs, "POST", url, None))
    # One whose nonce is another's is told the right one (RFC 9449 section 8).
    wrong_nonce = name == "a nonce that is not the server's"
    check_error(answer, ["use_dpop_nonce"] if wrong_nonce else ["invalid_dpop_proof", "invalid_request"], [400])
    assert answer.headers["dpop-nonce"]
    assert party.redeem(landing["code"], pkce).status_code == 200


@pytest.mark.parametrize("ath", [None, "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"])
def test_dpop_negative_tests_ath(logged_in, ath):
    party, token = logged_in
    url = party.endpoint("userinfo_endpoint")
    assert party.resource(token, proof=party.proofs.make("GET", url, token, ath=ath)).status_code == 401


def test_dpop_negative_tests_more_than_one_proof(logged_in):
    import http.client
    import ssl
    from urllib.parse import urlsplit

    party, token = logged_in
    url = party.endpoint("userinfo_endpoint")
    parts = urlsplit(url)
    connection = http.client.HTTPSConnection(parts.netloc, context=ssl.create_default_context(cafile=party.op.ca))
    connection.putrequest("GET", parts.path)
    connection.putheader("authorization", f"DPoP {token}")
    for _ in range(2):
        connection.putheader("dpop", party.proofs.make("GET", url, token))
    connection.endheaders()
    assert connection.getresponse().status in (400, 401)


def test_dpop_negative_tests_reuse_of_jti(logged_in):
    party, token = logged_in
    url = party.endpoint("userinfo_endpoint")
    for expected in (200, 401):
        assert party.resource(token, proof=party.proofs.make("GET", url, token, jti="fixed-jti")).status_code == expected


def test_dpop_negative_tests_bound_tokens_are_no_bearer_tokens(logged_in):
    party, token = logged_in
    answer = party.resource(token, scheme="Bearer", proof=False)
    assert answer.status_code == 401 and answer.headers["www-authenticate"].startswith("DPoP ")
    assert party.resource(token, scheme="Bearer").status_code == 401
    assert party.resource(token, proof=False).status_code in (400, 401)
    own, party.proofs = party.proofs, Proofs()
    try:
        assert party.resource(token).status_code == 401
    finally:
        party.proofs = own


def test_dpop_proofs_that_must_be_accepted(logged_in):
    """Upper case header name, query and fragment in htu, members that nobody knows, RFC 3986 normal forms of htu."""
    party, token = logged_in
    url = party.endpoint("userinfo_endpoint")
    make = party.proofs.make
    assert party.resource(token, proof=False, DPOP=make("GET", url, token)).status_code == 200
    for htu in (url + "?a=1#b", url.replace("https://localhost", "HTTPS://LOCALHOST"), url.replace("userinfo", "%75serinfo")):
        assert party.resource(token, proof=make("GET", htu, token)).status_code == 200, htu
    extra = make("GET", url, token, header={"foo": {"bar": [1]}}, foo="bar", more={"a": 1})
    assert party.resource(token, proof=extra).status_code == 200


def test_dpop_nonce_flow(op_with_nonces):
    """A server that demands nonces: each first call is told the nonce, and the next one passes (RFC 9449 sections 8 and 9)."""
    party = Fapi(op_with_nonces, op_with_nonces.fapi[("private_key_jwt", "dpop")][0])
    browser, pkce = Browser(op_with_nonces), Pkce()
    asked, landing = party.code(browser, pkce, proof=True)
    assert party.proofs.nonce, "PAR asked for it"
    party.proofs.nonce = None
    refused = party.redeem(landing["code"], pkce, proof=party.proofs.make("POST", party.endpoint("token_endpoint")))
    # The code is still good afterwards; `redeem` has tried twice with the same proof.
    check_error(refused, ["use_dpop_nonce"], [400])
    assert refused.headers["dpop-nonce"]
    token, _ = party.tokens(asked, landing, pkce)
    party.proofs.nonce = None
    url = party.endpoint("userinfo_endpoint")
    plain = {"authorization": f"DPoP {token['access_token']}", "dpop": party.proofs.make("GET", url, token["access_token"])}
    refused = party.http.get(url, headers=plain)
    assert refused.status_code == 401 and 'error="use_dpop_nonce"' in refused.headers["www-authenticate"]
    assert refused.headers["dpop-nonce"]
    assert party.userinfo(token["access_token"])
    assert party.refresh(token["refresh_token"]).status_code == 200
