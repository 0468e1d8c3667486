"""oidcc-dynamic-certification-test-plan, with private_key_jwt: what of it an OAuth 2.1 server has.

Not had, by decision (README.md in this folder): response types besides `code`, the implicit grant, request objects, and the
token endpoint's URL as the audience of a client assertion.
"""

import base64
import http.server
import json
import ssl
import threading
import time
from contextlib import contextmanager

import pytest
from joserfc.jwk import RSAKey
from party import (
    Browser,
    Page,
    check_error,
    check_error_landing,
    check_token_response,
    metadata,
    register,
    server_keys,
    trusting,
)


def rsa_key(kid=None):
    return RSAKey.generate_key(2048, {"alg": "RS256", "use": "sig", **({"kid": kid} if kid else {})})


@pytest.fixture(scope="module")
def key():
    # The suite's key has no kid.
    return rsa_key()


@contextmanager
def hosted(op, documents):
    """An https server of the relying party's: path to JSON document, looked up at each request."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            document = documents.get(self.path)
            body = json.dumps(document).encode()
            self.send_response(200 if document is not None else 404)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*op.server_certificate)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"https://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_oidcc_server_with_private_key_jwt(op, browser, key):
    party = register(op, method="private_key_jwt", key=key)
    assert "client_secret" not in party.registration
    _, _, _, claims = party.login(browser)
    assert claims["aud"] in (party.client_id, [party.client_id])


def test_keys_may_be_registered_beside_a_secret(op, browser, key):
    """The suite sends its keys whatever the client's authentication."""
    party = register(op, key=key)
    assert party.registration["jwks"]["keys"] and party.secret
    party.login(browser)


def test_oidcc_idtoken_rs256(op, browser, key):
    register(op, method="private_key_jwt", key=key, id_token_signed_response_alg="RS256").login(browser)


def test_oidcc_ensure_redirect_uri_in_authorization_request(op, browser):
    party = register(op)
    asked, end = party.authorize(browser, redirect_uri=None)
    # Not at the only registered one either: OpenID Connect requires the parameter.
    if isinstance(end, Page):
        assert end.error == "invalid_request"
    else:
        check_error_landing(party, asked, end, ["invalid_request"])


def test_oidcc_redirect_uri_query_ok(op, browser):
    party = register(op, redirect_uri="https://suite.example/callback?foo=bar")
    asked, landing = party.code(browser)
    assert landing["foo"] == "bar"
    party.tokens(asked, landing)


@pytest.mark.parametrize("sent", ["?foo=baz", "?foo=bar&dummy=1", ""])
def test_oidcc_redirect_uri_query_mismatch(op, browser, sent):
    party = register(op, redirect_uri="https://suite.example/callback?foo=bar")
    _, end = party.authorize(browser, redirect_uri="https://suite.example/callback" + sent)
    assert isinstance(end, Page) and end.error == "invalid_request" and end.status == 400


def test_oidcc_redirect_uri_query_added(op, browser):
    party = register(op)
    _, end = party.authorize(browser, redirect_uri=party.redirect_uri + "?foo=bar")
    assert isinstance(end, Page) and end.error == "invalid_request"


def test_oidcc_redirect_uri_regfrag(op):
    refused = register(op, redirect_uri="https://suite.example/callback#foobar", expect=400)
    check_error(refused, ["invalid_redirect_uri", "invalid_client_metadata"], [400])


@pytest.mark.parametrize("member", ["logo_uri", "policy_uri", "tos_uri"])
def test_oidcc_registration_uri(op, browser, member):
    """The suite asks for a screenshot of the page that shows it."""
    address = f"https://suite.example/{member}"
    party = register(op, **{member: address})
    assert party.registration[member] == address
    first = browser.go(party.url(party.request()), stop_at="login")
    second = browser.go(party.url(party.request()), stop_at="consent")
    shown = first.text + second.text
    if member == "logo_uri":
        # Pages load nothing from elsewhere: a client's picture would tell it who looks at the page.
        assert address not in shown
    else:
        assert f'href="{address}"' in shown
    party.login(Browser(op))


def test_oidcc_registration_jwks(op, browser, key):
    party = register(op, method="private_key_jwt", key=key)
    published = party.registration["jwks"]["keys"]
    assert published[0]["n"] == key.as_dict(private=False)["n"] and not {"d", "p", "q"} & published[0].keys()


def test_oidcc_registration_jwks_uri(op, browser, key):
    with hosted(op, {"/jwks": {"keys": [key.as_dict(private=False)]}}) as base:
        party = register(op, method="private_key_jwt", key=key, jwks_uri=base + "/jwks")
        party.login(browser)


def test_oidcc_registration_sector_uri(op):
    """Skipped by the suite where `pairwise` is not offered; the list is checked all the same."""
    redirect = "https://suite.example/callback"
    with hosted(op, {"/sector": [redirect], "/bad": ["https://suite.example/other"]}) as base:
        register(op, redirect_uri=redirect, sector_identifier_uri=base + "/sector")
        refused = register(op, redirect_uri=redirect, sector_identifier_uri=base + "/bad", expect=400)
        check_error(refused, ["invalid_redirect_uri", "invalid_client_metadata"], [400])
        refused = register(op, redirect_uri=redirect, sector_identifier_uri=base + "/none", expect=400)
        check_error(refused, ["invalid_redirect_uri", "invalid_client_metadata"], [400])


def test_pairwise_subjects_are_refused_not_ignored(op):
    check_error(register(op, subject_type="pairwise", expect=400), ["invalid_client_metadata"], [400])


def test_oidcc_server_rotate_keys(op, admin, browser):
    party = register(op)
    _, _, before, _ = party.login(browser)
    # The next key takes over once it has been published for long enough: a second, in this deployment.
    ready = lambda key: key["alg"] == "RS256" and key["phase"] == "standby" and key["created_at"] + 1 <= time.time() - 1
    until = time.time() + 90
    while not any(ready(key) for key in admin.get("/keys")["items"]) and time.time() < until:
        time.sleep(0.5)
    old = {key["kid"] for key in server_keys(op)["keys"]}
    admin.post("/keys/rotate", {"alg": "RS256"})
    _, landing, after, _ = party.login(browser)
    kid = lambda token: json.loads(base64.urlsafe_b64decode(token["id_token"].split(".")[0] + "=="))["kid"]
    assert kid(after) != kid(before)
    now = {key["kid"] for key in server_keys(op)["keys"]}
    assert kid(after) in now
    # What the old key signed can still be verified, and what it signs now was published before.
    assert kid(before) in now and kid(after) in old
    # The old ID token still is a hint.
    _, again, _, _ = party.login(browser, prompt="none", id_token_hint=before["id_token"])
    assert again.pages == []


def test_oidcc_refresh_token_rp_key_rotation(op, browser):
    """The suite waits 60 seconds after the new key; a first use of an unknown kid may wait as long as the server's cool-down."""
    first, second = rsa_key("k-1"), rsa_key("k-2")
    documents = {"/jwks": {"keys": [first.as_dict(private=False)]}}
    with hosted(op, documents) as base:
        party = register(
            op,
            method="private_key_jwt",
            key=first,
            jwks_uri=base + "/jwks",
            grant_types=["authorization_code", "refresh_token"],
        )
        asked, landing = party.code(browser, scope="openid offline_access", prompt="consent")
        token, _ = party.tokens(asked, landing)
        documents["/jwks"] = {"keys": [second.as_dict(private=False)]}
        party.key = second
        time.sleep(21)
        renewed, _ = check_token_response(party, party.refresh(token["refresh_token"]), None, refreshed=True)
        assert party.userinfo(renewed["access_token"])
        # The key that was taken away counts no more.
        party.key = first
        check_error(party.refresh(renewed["refresh_token"]), ["invalid_client"])


@pytest.mark.parametrize("kind", ["unsigned", "rs256"])
def test_oidcc_request_uri_is_rejected_as_unsupported(op, browser, kind):
    party = register(op)
    asked = party.request(request_uri=f"https://suite.example/request-{kind}.jwt")
    check_error_landing(party, asked, browser.go(party.url(asked)), ["request_uri_not_supported"])
    assert metadata(op)["request_uri_parameter_supported"] is False


def test_oidcc_ensure_client_assertion_with_iss_aud_succeeds(op, browser, key):
    party = register(op, method="private_key_jwt", key=key)
    asked, landing = party.code(browser)
    answer = party.post(
        "token_endpoint",
        {"grant_type": "authorization_code", "code": landing["code"], "redirect_uri": party.redirect_uri},
        assertion=party.assertion(aud=op.issuer),
    )
    check_token_response(party, answer, asked["nonce"])


def test_unregistering_ends_the_client(op):
    """What the suite's clean-up does."""
    party = register(op)
    headers = {"authorization": "Bearer " + party.registration["registration_access_token"]}
    http, where = trusting(op.ca), party.registration["registration_client_uri"]
    assert http.get(where, headers=headers).json()["client_id"] == party.client_id
    assert http.delete(where, headers=headers).status_code == 204
    assert http.get(where, headers=headers).status_code == 401
    check_error(party.redeem("gone"), ["invalid_client"], [401])
