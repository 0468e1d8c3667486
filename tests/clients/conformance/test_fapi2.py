"""fapi2-security-profile-final-test-plan: plain_fapi, openid_connect, simple requests, plain responses; all four pairs of client
authentication and sender constraint. Names are those of the modules without their common beginning."""

import json
import ssl
import time
import warnings

import pytest
import requests
from deployment import Authority
from fapi import Fapi
from joserfc.jwk import RSAKey
from party import Browser, Landing, Page, Pkce, check_error, check_error_landing, check_token_response, trusting

VARIANTS = [("private_key_jwt", "dpop"), ("private_key_jwt", "mtls"), ("mtls", "mtls"), ("mtls", "dpop")]


@pytest.fixture(params=VARIANTS, ids="-".join)
def pair(request, op):
    return [Fapi(op, client) for client in op.fapi[request.param]]


@pytest.fixture
def first(pair):
    return pair[0]


@pytest.fixture
def second(pair):
    return pair[1]


def got_code(party, browser, **params):
    pkce = Pkce()
    asked, landing = party.code(browser, pkce, **params)
    return asked, landing["code"], pkce


# Normal, well behaved client


def test_happy_flow(first, browser):
    _, landing, token, claims = first.login(browser)
    assert landing.pages == ["login", "consent"]
    assert len(token["access_token"]) > 32


def test_happy_flow_of_the_second_client(second, browser):
    second.login(browser)


def test_user_rejects_authentication(first, op):
    asked, request_uri = first.pushed(prompt="consent")
    landing = Browser(op).go(first.front(request_uri), decision="deny")
    check_error_landing(first, asked, landing, ["access_denied"])
    asked, request_uri = first.pushed()
    landing = Browser(op).go(first.front(request_uri), decision="cancel")
    check_error_landing(first, asked, landing, ["access_denied"])


def test_ensure_authorization_request_without_state_success(first, browser):
    first.login(browser, state=None)


def test_ensure_authorization_request_without_nonce_success(first, browser):
    first.login(browser, nonce=None)


@pytest.mark.parametrize("length", [64, 384])
def test_ensure_authorization_request_with_long_nonce(first, browser, length):
    first.login(browser, nonce="n" * length)


def test_ensure_authorization_request_with_long_state(first, browser):
    first.login(browser, state="s" * 1000)


def test_ensure_other_scope_order_succeeds(first, browser):
    first.login(browser, scope="email profile openid")


def test_test_claims_parameter_identity_claims(filled, first, browser):
    """Every claim that the metadata names, in every form of a request, beside claims and places that nobody knows."""
    login = {"sub", "auth_time", "acr", "amr", "sid"}
    names = [name for name in first.meta["claims_supported"] if name not in login]
    forms = [None, {"essential": True}, {"essential": False}, {"essential": True, "purpose": "to know you"}]
    asked = {name: forms[i % len(forms)] for i, name in enumerate(names)}
    unknown = {"https://suite.example/claim": None, "random-claim": {"essential": True, "value": "x"}}
    claims = {"id_token": {**asked, **unknown}, "userinfo": {**asked, **unknown}, "elsewhere": asked}
    _, _, token, said = first.login(browser, claims=json.dumps(claims), scope="openid")
    person = first.userinfo(token["access_token"])
    known = {"name", "given_name", "family_name", "preferred_username", "email", "email_verified", "phone_number"}
    for source in (said, person):
        assert known <= source.keys(), source
        assert not {"random-claim", "https://suite.example/claim"} & source.keys()
        assert isinstance(source["address"]["formatted"], str) and isinstance(source["updated_at"], int)
    assert person["sub"] == said["sub"]


def test_access_token_type_header_case_sensitivity(first, browser):
    _, _, token, _ = first.login(browser)
    for scheme in (first.scheme.lower(), first.scheme.upper()):
        assert first.resource(token["access_token"], scheme=scheme).status_code == 200


# Negative tests for the authorization request


def test_ensure_registered_redirect_uri(first):
    _, answer = first.push(redirect_uri=first.redirect_uri + "/unregistered")
    check_error(answer, ["invalid_request", "invalid_redirect_uri"], [400])


def test_ensure_redirect_uri_in_authorization_request(first):
    _, answer = first.push(redirect_uri=None)
    check_error(answer, ["invalid_request"], [400])


def test_ensure_unsigned_authorization_request_without_using_par_fails(first, browser):
    asked = first.request(**Pkce().request)
    end = browser.go(first.url(asked))
    if isinstance(end, Landing):
        check_error_landing(first, asked, end, ["invalid_request"])
    else:
        assert end.error == "invalid_request"


@pytest.mark.parametrize("response_type", ["code id_token", "token", "id_token", "code token"])
def test_ensure_response_type_fails(first, response_type):
    _, answer = first.push(response_type=response_type)
    check_error(answer, ["unsupported_response_type", "invalid_request", "unauthorized_client"], [400])


# Negative tests for the token endpoint


def test_ensure_client_id_in_token_endpoint(first, second, browser):
    """The code of client 1, the name of client 2, the key or certificate of client 1."""
    _, code, pkce = got_code(first, browser)
    form = {"client_id": second.client_id}
    if first.method == "private_key_jwt":
        assertion = first.assertion(iss=second.client_id, sub=second.client_id)
        answer = first.redeem(code, pkce, assertion=assertion, **form)
    else:
        answer = first.redeem(code, pkce, **form)
    check_error(answer, ["invalid_client", "invalid_grant"])
    # The owner's code is not burned by it.
    assert first.redeem(code, pkce).status_code == 200


def test_ensure_holder_of_key_required(first, browser):
    _, code, pkce = got_code(first, browser)
    if first.proofs:
        answer = first.redeem(code, pkce, proof=False)
        check_error(answer, ["invalid_request", "invalid_grant", "invalid_dpop_proof"], [400])
    else:
        answer = first.redeem(code, pkce, http=trusting(first.op.ca))
        errors = ["invalid_client", "invalid_request"] + ["invalid_grant"] * (first.method == "private_key_jwt")
        check_error(answer, errors)


def test_ensure_authorization_code_is_bound_to_client(first, second, browser):
    _, code, pkce = got_code(first, browser)
    check_error(second.redeem(code, pkce), ["invalid_grant"], [400])
    assert first.redeem(code, pkce).status_code == 200


def test_attempt_reuse_authorization_code_after_one_second(first, browser):
    pkce = Pkce()
    asked, landing = first.code(browser, pkce)
    token, _ = first.tokens(asked, landing, pkce)
    time.sleep(1)
    check_error(first.redeem(landing["code"], pkce), ["invalid_grant"], [400])
    assert 400 <= first.resource(token["access_token"]).status_code < 500


# Client assertions

@pytest.fixture(params=["dpop", "mtls"])
def asserting(request, op):
    return Fapi(op, op.fapi[("private_key_jwt", request.param)][0])


def test_ensure_signed_client_assertion_with_rs256_fails(asserting, browser):
    """The first client's key is an RSA key for PS256."""
    _, code, pkce = got_code(asserting, browser)
    assert asserting.key.as_dict()["alg"] == "PS256"
    same = RSAKey.import_key({k: v for k, v in asserting.key.as_dict(private=True).items() if k != "alg"})
    answer = asserting.redeem(code, pkce, assertion=asserting.assertion(header={"alg": "RS256"}, key=same))
    check_error(answer, ["invalid_client"])


def test_ensure_client_assertion_in_token_endpoint(asserting, browser):
    _, code, pkce = got_code(asserting, browser)
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": asserting.redirect_uri,
        "code_verifier": pkce.verifier,
        "client_id": asserting.client_id,
    }
    headers = {"dpop": asserting.proofs.make("POST", asserting.endpoint("token_endpoint"))} if asserting.proofs else {}
    answer = asserting.http.post(asserting.endpoint("token_endpoint"), data=form, headers=headers)
    check_error(answer, ["invalid_client", "invalid_request"])


def wrong(**claims):
    return lambda party: party.assertion(**claims)


WRONG_ASSERTIONS = {
    "exp 5 minutes in the past": wrong(exp=int(time.time()) - 300),
    "wrong aud": wrong(aud="https://other.example"),
    "no aud": wrong(aud=None),
    "no sub": wrong(sub=None),
    "no iss": wrong(iss=None),
    "other sub": wrong(sub="somebody"),
    "other iss": wrong(iss="somebody"),
    "no exp": wrong(exp=None),
    "no jti": wrong(jti=None),
    "array as audience": lambda party: party.assertion(aud=[party.op.issuer]),
    "array with the issuer": lambda party: party.assertion(aud=[party.op.issuer, "https://other.example"]),
    "PAR endpoint as audience": lambda party: party.assertion(aud=party.endpoint("pushed_authorization_request_endpoint")),
    "token endpoint as audience": lambda party: party.assertion(aud=party.endpoint("token_endpoint")),
    "iat and nbf over 60 seconds in the future": lambda party: party.assertion(
        iat=int(time.time()) + 61, nbf=int(time.time()) + 61, exp=int(time.time()) + 121
    ),
    "nbf exactly 60 seconds in the future": lambda party: party.assertion(nbf=int(time.time()) + 60, exp=int(time.time()) + 121),
    "broken signature": lambda party: party.assertion()[:-6] + "AAAAAA",
}


@pytest.mark.parametrize("name", WRONG_ASSERTIONS)
def test_ensure_client_assertion_fails(asserting, browser, name):
    _, answer = asserting.push(assertion=WRONG_ASSERTIONS[name](asserting))
    check_error(answer, ["invalid_client", "invalid_request"])
    _, code, pkce = got_code(asserting, browser)
    check_error(asserting.redeem(code, pkce, assertion=WRONG_ASSERTIONS[name](asserting)), ["invalid_client"])
    assert asserting.redeem(code, pkce).status_code == 200


def test_a_client_assertion_counts_once(asserting):
    assertion = asserting.assertion()
    assert asserting.push(assertion=assertion)[1].status_code == 201
    check_error(asserting.push(assertion=assertion)[1], ["invalid_client"])


def test_par_ensure_jwt_client_assertions_nbf_8_seconds_in_the_future_is_accepted(asserting):
    ahead = int(time.time()) + 8
    _, answer = asserting.push(assertion=asserting.assertion(iat=ahead, nbf=ahead, exp=ahead + 60))
    assert answer.status_code == 201, answer.text


# Refresh tokens


def test_refresh_token(first, second, op):
    def login(party):
        pkce = Pkce()
        asked, landing = party.code(Browser(op), pkce, scope="openid offline_access", prompt="consent")
        return party.tokens(asked, landing, pkce)

    token, claims = login(first)
    refresh_token = token["refresh_token"]
    assert all(0x20 <= ord(c) <= 0x7E for c in refresh_token)
    for _ in range(3):
        renewed, again = check_token_response(first, first.refresh(refresh_token, scope="openid"), None, refreshed=True)
        # FAPI 2.0 section 5.3.2.1: no rotation.
        assert renewed.get("refresh_token", refresh_token) == refresh_token
        assert (again["sub"], again["iss"], again["aud"]) == (claims["sub"], claims["iss"], claims["aud"])
        assert first.userinfo(renewed["access_token"])["sub"] == claims["sub"]
    # Without proof of possession.
    if first.proofs:
        check_error(first.refresh(refresh_token, proof=False), ["invalid_client", "invalid_grant", "invalid_request"], [400])
    else:
        bare = trusting(first.op.ca)
        check_error(first.refresh(refresh_token, http=bare), ["invalid_client", "invalid_request", "invalid_grant"])
    # The second client's access token with the first one's key, and its refresh token with the first one's authentication.
    token2, _ = login(second)
    assert first.resource(token2["access_token"]).status_code in (400, 401, 403)
    check_error(first.refresh(token2["refresh_token"]), ["invalid_grant"], [400])
    assert second.refresh(token2["refresh_token"]).status_code == 200


# Pushed authorization requests


def test_par_ensure_reused_request_uri_prior_to_auth_completion_succeeds(first, browser):
    asked, request_uri = first.pushed()
    for _ in range(2):
        page = browser.go(first.front(request_uri), stop_at="login")
        assert isinstance(page, Page) and page.status == 200
    landing = browser.go(first.front(request_uri))
    assert "code" in landing.params


def test_par_attempt_reuse_request_uri(first, browser):
    _, request_uri = first.pushed()
    assert "code" in browser.go(first.front(request_uri)).params
    again = browser.go(first.front(request_uri))
    assert isinstance(again, Page) and again.error == "invalid_request_uri"


def test_what_has_expired_is_refused(op, browser):
    """par-attempt-to-use-expired-request-uri, attempt-to-use-expired-auth-code: both end after eight seconds here."""
    first = Fapi(op, op.fapi[VARIANTS[0]][0])
    _, request_uri = first.pushed()
    _, code, pkce = got_code(first, browser)
    time.sleep(8.5)
    late = browser.go(first.front(request_uri))
    assert isinstance(late, Page) and late.error in ("invalid_request_uri", "invalid_request")
    check_error(first.redeem(code, pkce), ["invalid_grant"], [400])


def test_par_attempt_to_use_request_uri_for_different_client(first, second, browser):
    _, request_uri = first.pushed()
    end = browser.go(first.front(request_uri, client_id=second.client_id))
    assert isinstance(end, Page) and end.error in ("invalid_request", "invalid_request_uri")
    assert "code" in browser.go(first.front(request_uri)).params


def test_a_request_uri_needs_the_client_id(first, browser):
    _, request_uri = first.pushed()
    end = browser.go(first.url({"request_uri": request_uri}))
    assert isinstance(end, Page) and end.error == "invalid_request"


def test_what_the_query_adds_to_a_pushed_request_is_not_read(first, browser):
    """stateonly-outside-request-object-not-used, for pushed parameters."""
    asked, request_uri = first.pushed(state=None)
    landing = browser.go(first.front(request_uri, state="from-the-query", redirect_uri="https://evil.example/"))
    assert isinstance(landing, Landing) and "state" not in landing.params
    assert landing.url.startswith(first.redirect_uri)


def test_par_authorization_request_containing_request_uri(first):
    _, answer = first.push(request_uri="urn:ietf:params:oauth:request_uri:bwc4JK-ESC0w8acc191e-Y1LTC2")
    check_error(answer, ["invalid_request", "invalid_request_object", "request_uri_not_supported"], [400])


def test_par_attempt_invalid_http_method(first):
    form, headers = first.authenticated(first.request(**Pkce().request))
    url = first.endpoint("pushed_authorization_request_endpoint")
    for method in ("PUT", "GET"):
        answer = first.http.request(method, url, data=form, headers=headers)
        assert answer.status_code == 405 and "POST" in answer.headers["allow"]


def test_par_needs_client_authentication(first):
    form = first.request(**Pkce().request)
    answer = trusting(first.op.ca).post(first.meta["pushed_authorization_request_endpoint"], data=form)
    check_error(answer, ["invalid_client", "invalid_request"])


def test_par_without_duplicate_parameters(first, browser):
    """The suite sends client_id and request_uri alone to the authorization endpoint."""
    asked, landing = first.code(browser)
    assert landing["state"] == asked["state"]


# PKCE


def test_par_ensure_pkce_required(first):
    _, answer = first.push(code_challenge=None, code_challenge_method=None)
    check_error(answer, ["invalid_request"], [400])


def test_par_ensure_plain_pkce_rejected(first):
    pkce = Pkce()
    _, answer = first.push(code_challenge=pkce.verifier, code_challenge_method="plain")
    check_error(answer, ["invalid_request"], [400])
    _, answer = first.push(code_challenge_method=None)
    check_error(answer, ["invalid_request"], [400])


def test_par_ensure_pkce_code_verifier_required(first, browser):
    _, code, pkce = got_code(first, browser)
    check_error(first.redeem(code, None), ["invalid_grant", "invalid_request"], [400])


def test_par_incorrect_pkce_code_verifier_rejected(first, browser):
    _, code, pkce = got_code(first, browser)
    check_error(first.redeem(code, Pkce()), ["invalid_grant", "invalid_request"], [400])
    assert first.redeem(code, pkce).status_code == 200


# Transport


@pytest.fixture(params=[variant for variant in VARIANTS if variant[1] == "mtls"], ids="-".join)
def certified_pair(request, op):
    return [Fapi(op, client) for client in op.fapi[request.param]]


def test_certificate_bound_tokens_need_their_certificate(certified_pair, browser):
    first, second = certified_pair
    _, _, token, _ = first.login(browser)
    assert second.resource(token["access_token"]).status_code == 401
    assert first.resource(token["access_token"], http=trusting(first.op.ca)).status_code == 401
    # At the entrance that asks for no certificate.
    headers = {"authorization": "Bearer " + token["access_token"]}
    assert trusting(first.op.ca).get(first.meta["userinfo_endpoint"], headers=headers).status_code == 401


@pytest.mark.parametrize("port", ["port", "mtls_port"])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2])
def test_tls_below_1_3_is_not_spoken(op, port, version):
    """Allowed by the plan: 1.2 with the ciphers of BCP 195. Not by default here."""
    import socket

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(op.ca)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        context.minimum_version = context.maximum_version = version
    with socket.create_connection(("127.0.0.1", getattr(op, port)), timeout=5) as raw:
        with pytest.raises((ssl.SSLError, ConnectionError)):
            context.wrap_socket(raw, server_hostname="localhost")


def test_the_authorization_endpoint_answers_no_cross_origin_script(op, first):
    """FAPI 2.0 section 5.3.2.2: no CORS there."""
    answer = trusting(op.ca).options(
        first.meta["authorization_endpoint"],
        headers={"origin": "https://suite.example", "access-control-request-method": "POST"},
    )
    assert "access-control-allow-origin" not in answer.headers
    answer = trusting(op.ca).get(first.meta["authorization_endpoint"], headers={"origin": "https://suite.example"})
    assert "access-control-allow-origin" not in answer.headers


def test_a_stranger_certificate_is_no_authentication(op, tmp_path):
    party = Fapi(op, op.fapi[("mtls", "mtls")][0])
    stranger = Authority(tmp_path, "stranger").issue(f"{party.client_id}.example")
    try:
        _, answer = party.push(http=trusting(op.ca, stranger))
    except requests.exceptions.SSLError:
        return
    check_error(answer, ["invalid_client"])
    # A certificate of the right authority, for another name.
    other = Fapi(op, op.fapi[("mtls", "mtls")][1])
    check_error(party.push(http=other.http)[1], ["invalid_client"])
