"""oidcc-basic-certification-test-plan: each test has its module's name, and its conditions."""

import base64
import json
import time

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet
from party import (
    Browser,
    Page,
    Pkce,
    check_error,
    check_error_landing,
    check_token_response,
    metadata,
    register,
    server_keys,
)

def unsigned(claims):
    """A request object without signature."""
    encode = lambda value: base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()
    return f"{encode({'alg': 'none'})}.{encode(claims)}."


def test_oidcc_server(client, browser):
    asked, landing, token, claims = client.login(browser)
    assert landing.pages == ["login", "consent"]
    assert token["token_type"] == "Bearer"


def test_oidcc_response_type_missing(client, browser):
    asked, end = client.authorize(browser, response_type=None)
    check_error_landing(client, asked, end, ["invalid_request", "unsupported_response_type"])


def test_oidcc_idtoken_signature(op, browser):
    party = register(op, id_token_signed_response_alg="RS256")
    _, _, token, _ = party.login(browser)
    header = json.loads(base64.urlsafe_b64decode(token["id_token"].split(".")[0] + "=="))
    assert header["alg"] == "RS256" and header["kid"]


def test_oidcc_idtoken_unsigned_is_not_offered(op):
    assert "none" not in metadata(op)["id_token_signing_alg_values_supported"]
    refused = register(op, id_token_signed_response_alg="none", expect=400)
    check_error(refused, ["invalid_client_metadata"])


def test_oidcc_userinfo_get(client, browser):
    _, _, token, claims = client.login(browser)
    assert client.userinfo(token["access_token"]) == {"sub": claims["sub"]}


def test_oidcc_userinfo_post_header(client, browser):
    _, _, token, claims = client.login(browser)
    headers = {"authorization": "Bearer " + token["access_token"]}
    answer = client.http.post(client.meta["userinfo_endpoint"], headers=headers)
    assert answer.status_code == 200 and answer.json()["sub"] == claims["sub"]


def test_oidcc_userinfo_post_body(client, browser):
    _, _, token, claims = client.login(browser)
    answer = client.http.post(client.meta["userinfo_endpoint"], data={"access_token": token["access_token"]})
    assert answer.status_code == 200 and answer.json()["sub"] == claims["sub"]


def test_oidcc_userinfo_rs256(op, browser):
    party = register(op, userinfo_signed_response_alg="RS256")
    asked, landing = party.code(browser)
    token, claims = party.tokens(asked, landing)
    headers = {"authorization": "Bearer " + token["access_token"]}
    answer = party.http.get(party.meta["userinfo_endpoint"], headers=headers)
    assert answer.headers["content-type"].split(";")[0] == "application/jwt"
    said = jwt.decode(answer.text, KeySet.import_key_set(server_keys(op)), algorithms=["RS256"]).claims
    assert said["iss"] == op.issuer and said["sub"] == claims["sub"]
    assert party.client_id in (said["aud"] if isinstance(said["aud"], list) else [said["aud"]])


def test_oidcc_ensure_request_without_nonce_succeeds_for_code_flow(client, browser):
    _, _, _, claims = client.login(browser, nonce=None)
    assert "nonce" not in claims


SCOPE_CLAIMS = {
    "profile": {"name", "preferred_username", "updated_at"},
    "email": {"email", "email_verified"},
    "address": {"address"},
    "phone": {"phone_number", "phone_number_verified"},
}


@pytest.mark.parametrize("scope", ["profile", "email", "address", "phone", "all"])
def test_oidcc_scope(filled, client, browser, scope):
    scopes = SCOPE_CLAIMS if scope == "all" else [scope]
    _, _, token, claims = client.login(browser, scope=" ".join(["openid", *scopes]))
    assert set(token.get("scope", "").split()) in (set(), {"openid", *scopes})
    said = client.userinfo(token["access_token"])
    expected = set().union(*(SCOPE_CLAIMS[s] for s in scopes))
    assert expected <= said.keys(), said
    if scope == "profile":
        assert said["name"] == "Buffy Example" and isinstance(said["updated_at"], int)
    if "email" in scopes:
        assert said["email"] == "buffy@example.test" and said["email_verified"] is True
    if "address" in scopes:
        assert isinstance(said["address"], dict)
    if "phone" in scopes:
        assert isinstance(said["phone_number_verified"], bool)
    others = set().union(*(SCOPE_CLAIMS[s] for s in SCOPE_CLAIMS if s not in scopes), set())
    assert not others & said.keys()


def test_oidcc_ensure_other_scope_order_succeeds(client, browser):
    client.login(browser, scope="email profile openid")


def test_oidcc_alternate_happy_flow(client, browser):
    client.login(browser, state="~!*'();:@$,/?%#[]&=+ \"<>{}|\\^`", nonce="~!*'();:@$,/?%#[]", display="page")


@pytest.mark.parametrize("display", ["page", "popup"])
def test_oidcc_display(client, browser, display):
    client.login(browser, display=display)


def test_oidcc_prompt_login(client, browser):
    _, _, _, first = client.login(browser)
    time.sleep(1.1)
    _, landing, _, second = client.login(browser, prompt="login")
    assert "login" in landing.pages, "the server must ask for the password a second time"
    assert second["auth_time"] > first["auth_time"] and second["sub"] == first["sub"]


def test_oidcc_prompt_none_not_logged_in(client, browser):
    asked, end = client.authorize(browser, prompt="none")
    check_error_landing(client, asked, end, ["login_required", "interaction_required", "account_selection_required", "consent_required"])
    assert end.pages == []


def test_oidcc_prompt_none_logged_in(client, browser):
    _, _, _, first = client.login(browser)
    _, landing, _, second = client.login(browser, prompt="none")
    assert landing.pages == []
    assert (second["sub"], second["auth_time"]) == (first["sub"], first["auth_time"])


def test_oidcc_max_age_1(client, browser):
    _, _, _, first = client.login(browser)
    time.sleep(2.1)
    _, landing, _, second = client.login(browser, max_age="1")
    assert "login" in landing.pages
    assert second["auth_time"] > first["auth_time"] and time.time() - second["auth_time"] < 30


def test_oidcc_max_age_10000(client, browser):
    _, _, _, first = client.login(browser)
    _, landing, _, second = client.login(browser, max_age="10000")
    assert "login" not in landing.pages
    assert second["auth_time"] == first["auth_time"] and second["sub"] == first["sub"]


def test_oidcc_ensure_request_with_unknown_parameter_succeeds(client, browser):
    client.login(browser, extra="foobar")


def test_oidcc_id_token_hint(client, browser):
    _, _, token, first = client.login(browser)
    _, landing, _, second = client.login(browser, prompt="none", id_token_hint=token["id_token"])
    assert landing.pages == [] and second["sub"] == first["sub"]


def test_oidcc_login_hint(op, client, browser):
    client.login(browser, login_hint="buffy@localhost")
    stopped = Browser(op).go(client.url(client.request(login_hint="buffy")), stop_at="login")
    assert stopped.form.fields["username"] == "buffy"


def test_oidcc_ui_locales(client, browser):
    client.login(browser, ui_locales="se")


def test_oidcc_claims_locales(client, browser):
    client.login(browser, claims_locales="se")


def test_oidcc_ensure_request_with_acr_values_succeeds(client, browser):
    # The class that this person reaches: others want what the account does not have.
    password = "urn:signet:acr:password"
    assert password in client.meta["acr_values_supported"]
    _, _, _, claims = client.login(browser, acr_values=f"{password} 1 2")
    assert claims["acr"] == password
    client.login(Browser(client.op), acr_values="1 2")


def check_reuse(client, asked, landing, token):
    check_error(client.redeem(landing["code"]), ["invalid_grant"], [400])
    headers = {"authorization": "Bearer " + token["access_token"]}
    assert client.http.get(client.meta["userinfo_endpoint"], headers=headers).status_code == 401


def test_oidcc_codereuse(client, browser):
    asked, landing, token, _ = client.login(browser)
    check_reuse(client, asked, landing, token)


def test_oidcc_codereuse_30seconds(client, browser):
    """Thirty seconds stand for "after the code's end"; codes of this deployment end after eight."""
    asked, landing, token, _ = client.login(browser, scope="openid offline_access", prompt="consent")
    time.sleep(9)
    check_error(client.redeem(landing["code"]), ["invalid_grant"], [400])


def test_oidcc_ensure_registered_redirect_uri(client, browser):
    _, end = client.authorize(browser, redirect_uri=client.redirect_uri + "/unregistered")
    assert isinstance(end, Page) and end.error == "invalid_request" and end.status == 400
    assert "redirect" in end.text.lower()


def test_oidcc_ensure_post_request_succeeds(client, browser):
    asked, landing = client.code(browser, post=True)
    client.tokens(asked, landing)
    asked, landing = client.code(browser, post=True)
    assert "login" not in landing.pages


def test_oidcc_server_client_secret_post(op, browser):
    register(op, method="client_secret_post").login(browser)


def test_oidcc_unsigned_request_object_supported_correctly_or_rejected_as_unsupported(client, browser):
    asked = client.request()
    asked["request"] = unsigned({**asked, "state": "another"})
    check_error_landing(client, asked, browser.go(client.url(asked)), ["request_not_supported"])


def test_oidcc_request_uri_unsigned_supported_correctly_or_rejected_as_unsupported(client, browser):
    asked = client.request(request_uri="https://suite.example/request.jwt")
    check_error_landing(client, asked, browser.go(client.url(asked)), ["request_uri_not_supported"])


def test_oidcc_claims_essential(client, browser):
    claims = json.dumps({"userinfo": {"name": {"essential": True}}, "id_token": {"email": None, "auth_time": {"essential": True}}})
    _, _, token, said = client.login(browser, claims=claims)
    assert client.userinfo(token["access_token"])["name"] == "Buffy Example"
    assert said["email"] == "buffy@example.test"


def test_oidcc_ensure_request_object_with_redirect_uri(client, browser):
    """The query has a redirect that is not registered, the request object a registered one: the server reads no request objects."""
    asked = client.request()
    inside = unsigned(asked)
    end = browser.go(client.url({**asked, "redirect_uri": "https://suite.example/elsewhere", "request": inside}))
    assert isinstance(end, Page) and end.error == "invalid_request"


def test_oidcc_refresh_token(op, client, client2):
    def first(party):
        asked, landing = party.code(Browser(op), scope="openid offline_access", prompt="consent")
        return party.tokens(asked, landing)

    token, claims = first(client)
    check_refresh_token(token["refresh_token"])
    renewed, again = check_token_response(client, client.refresh(token["refresh_token"]), None, refreshed=True)
    assert renewed["access_token"] != token["access_token"]
    for name in ("iss", "sub", "aud", "auth_time"):
        assert again[name] == claims[name], name
    assert again["iat"] >= claims["iat"] and again.get("azp") == claims.get("azp")
    assert client.userinfo(renewed["access_token"])["sub"] == claims["sub"]
    # A refresh token of another client.
    token2, _ = first(client2)
    check_error(client.refresh(token2["refresh_token"]), ["invalid_grant"], [400])
    # And the try took nothing from its owner.
    check_token_response(client2, client2.refresh(token2["refresh_token"]), None, refreshed=True)


def check_refresh_token(text):
    assert text and all(0x20 <= ord(c) <= 0x7E for c in text)


def test_oidcc_ensure_request_with_valid_pkce_succeeds(client, browser):
    pkce = Pkce()
    asked, landing = client.code(browser, **pkce.request)
    client.tokens(asked, landing, code_verifier=pkce.verifier)


def test_form_post_response_mode(client, browser):
    """oidcc-formpost-basic-certification-test-plan: the same answer, posted by a page."""
    asked, landing = client.code(browser, response_mode="form_post")
    client.tokens(asked, landing)
