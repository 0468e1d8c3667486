"""pyoidc (`oic`), unmodified: discovery, registration, code, refresh, userinfo, silent re-login."""

import base64
import hashlib
import secrets

from oic.oic import Client
from oic.oic.message import AccessTokenResponse, AuthorizationResponse, RegistrationResponse
from oic.utils.authn.client import CLIENT_AUTHN_METHOD

from agent import ISSUER, Agent, query

REDIRECT = "http://127.0.0.1:45998/callback"


def login(client, browser, verifier, **more):
    """One authorization request through `browser`, and the exchange of its code."""
    state, nonce = secrets.token_urlsafe(16), secrets.token_urlsafe(16)
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    request = client.construct_AuthorizationRequest(
        request_args={
            "response_type": "code",
            "scope": ["openid", "profile", "email", "offline_access"],
            "redirect_uri": REDIRECT,
            "state": state,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            **more,
        }
    )
    back = browser.authorize(request.request(client.authorization_endpoint), REDIRECT)
    response = client.parse_response(AuthorizationResponse, info=back.split("?", 1)[1], sformat="urlencoded")
    assert response["state"] == state, response
    token = client.do_access_token_request(
        state=state,
        request_args={"code": response["code"], "redirect_uri": REDIRECT, "code_verifier": verifier},
        authn_method="client_secret_basic",
    )
    assert isinstance(token, AccessTokenResponse), token
    assert token["id_token"]["nonce"] == nonce
    return state, token


def test_a_registered_client_logs_in_refreshes_reads_userinfo_and_logs_in_silently():
    client = Client(client_authn_method=CLIENT_AUTHN_METHOD)
    provider = client.provider_config(ISSUER)
    assert provider["issuer"] == ISSUER
    registration = client.register(
        provider["registration_endpoint"],
        client_name="pyoidc",
        application_type="native",
        redirect_uris=[REDIRECT],
        grant_types=["authorization_code", "refresh_token"],
        response_types=["code"],
        scope="openid profile email offline_access",
    )
    assert isinstance(registration, RegistrationResponse), registration

    browser = Agent()
    state, token = login(client, browser, secrets.token_urlsafe(48), prompt="consent")
    userinfo = client.do_user_info_request(state=state)
    assert userinfo["sub"] == token["id_token"]["sub"]
    assert userinfo["email"] == "alice@example.test"

    renewed = client.do_access_token_refresh(state=state, authn_method="client_secret_basic")
    assert renewed["access_token"] != token["access_token"]

    pages = list(browser.pages)
    _, again = login(client, browser, secrets.token_urlsafe(48), prompt="none")
    assert browser.pages == pages, "prompt=none showed a page"
    assert again["id_token"]["sub"] == token["id_token"]["sub"]
