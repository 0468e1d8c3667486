"""authlib, unmodified: discovery, registration, code + PKCE, refresh, userinfo, silent re-login."""

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.jwk import KeySet

from agent import ISSUER, Agent, query

REDIRECT = "http://127.0.0.1:45999/callback"


def metadata():
    return requests.get(ISSUER + "/.well-known/openid-configuration", timeout=10).json()


def register(meta, **more):
    answer = requests.post(
        meta["registration_endpoint"],
        json={
            "client_name": "authlib",
            "application_type": "native",
            "redirect_uris": [REDIRECT],
            "grant_types": ["authorization_code", "refresh_token"],
            "scope": "openid profile email offline_access",
            **more,
        },
        timeout=10,
    )
    assert answer.status_code == 201, answer.text
    return answer.json()


def id_token_claims(meta, token, client_id, nonce=None):
    keys = KeySet.import_key_set(requests.get(meta["jwks_uri"], timeout=10).json())
    decoded = jwt.decode(token["id_token"], keys, algorithms=["RS256", "ES256", "PS256"])
    claims = jwt.JWTClaimsRegistry(
        iss={"essential": True, "value": meta["issuer"]},
        aud={"essential": True, "value": client_id},
        exp={"essential": True},
        sub={"essential": True},
        **({"nonce": {"essential": True, "value": nonce}} if nonce else {}),
    )
    claims.validate(decoded.claims)
    return decoded.claims


def test_a_registered_client_logs_in_refreshes_reads_userinfo_and_logs_in_silently():
    meta = metadata()
    assert meta["issuer"] == ISSUER
    client = register(meta)
    session = OAuth2Session(
        client["client_id"],
        client["client_secret"],
        token_endpoint_auth_method=client["token_endpoint_auth_method"],
        scope="openid profile email offline_access",
        redirect_uri=REDIRECT,
        code_challenge_method="S256",
    )
    browser = Agent()
    verifier, nonce = generate_token(48), generate_token(16)
    url, state = session.create_authorization_url(meta["authorization_endpoint"], code_verifier=verifier, nonce=nonce, prompt="consent")
    back = browser.authorize(url, REDIRECT)
    assert query(back)["iss"] == ISSUER
    assert query(back)["state"] == state
    assert "login" in browser.pages and "consent" in browser.pages

    token = session.fetch_token(meta["token_endpoint"], authorization_response=back, code_verifier=verifier, state=state)
    claims = id_token_claims(meta, token, client["client_id"], nonce)
    userinfo = session.get(meta["userinfo_endpoint"]).json()
    assert userinfo["sub"] == claims["sub"]
    assert userinfo["email"] == "alice@example.test"

    first = token["refresh_token"]
    renewed = session.refresh_token(meta["token_endpoint"], refresh_token=first)
    assert renewed["access_token"] != token["access_token"]
    assert session.get(meta["userinfo_endpoint"]).status_code == 200

    before = list(browser.pages)
    verifier = generate_token(48)
    url, state = session.create_authorization_url(
        meta["authorization_endpoint"], code_verifier=verifier, prompt="none", id_token_hint=token["id_token"]
    )
    back = browser.authorize(url, REDIRECT)
    assert "code" in query(back), back
    assert browser.pages == before, "prompt=none showed a page"
    again = session.fetch_token(meta["token_endpoint"], authorization_response=back, code_verifier=verifier, state=state)
    assert id_token_claims(meta, again, client["client_id"])["sub"] == claims["sub"]


def test_a_silent_login_without_a_session_is_login_required():
    meta = metadata()
    client = register(meta)
    session = OAuth2Session(client["client_id"], scope="openid", redirect_uri=REDIRECT, code_challenge_method="S256")
    url, state = session.create_authorization_url(meta["authorization_endpoint"], code_verifier=generate_token(48), prompt="none")
    back = query(Agent().authorize(url, REDIRECT))
    assert back["error"] == "login_required"
    assert back["state"] == state
    assert back["iss"] == ISSUER


def test_the_replay_of_a_refresh_token_ends_its_family():
    meta = metadata()
    client = register(meta, token_endpoint_auth_method="none")
    session = OAuth2Session(
        client["client_id"],
        scope="openid offline_access",
        redirect_uri=REDIRECT,
        token_endpoint_auth_method="none",
        code_challenge_method="S256",
    )
    verifier = generate_token(48)
    url, state = session.create_authorization_url(meta["authorization_endpoint"], code_verifier=verifier, prompt="consent")
    back = Agent().authorize(url, REDIRECT)
    token = session.fetch_token(meta["token_endpoint"], authorization_response=back, code_verifier=verifier, state=state)

    def refresh(refresh_token):
        return requests.post(
            meta["token_endpoint"],
            data={"grant_type": "refresh_token", "refresh_token": refresh_token, "client_id": client["client_id"]},
            timeout=10,
        )

    second = refresh(token["refresh_token"])
    assert second.status_code == 200, second.text
    replay = refresh(token["refresh_token"])
    assert (replay.status_code, replay.json()["error"]) == (400, "invalid_grant")
    family = refresh(second.json()["refresh_token"])
    assert (family.status_code, family.json()["error"]) == (400, "invalid_grant")
    ended = requests.get(meta["userinfo_endpoint"], headers={"authorization": "Bearer " + second.json()["access_token"]}, timeout=10)
    assert ended.status_code == 401
