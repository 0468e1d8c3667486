"""The suite's part: a browser, a relying party, and the checks that every module makes of every answer."""

import base64
import hashlib
import html
import json
import re
import secrets
import time
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import requests
from deployment import PASSWORD, REDIRECT, SIGNING_ALGORITHMS
from joserfc import jws, jwt
from joserfc.jwk import ECKey, KeySet

from agent import Form

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def sha256(text):
    return b64(hashlib.sha256(text.encode()).digest())


def trusting(ca, certificate=None):
    """A session that believes this CA only, whatever the environment says."""
    session = requests.Session()
    session.trust_env, session.verify, session.cert = False, ca, certificate
    return session


class Page:
    """A page at which the browser stopped."""

    def __init__(self, answer):
        self.answer, self.url, self.status, self.text = answer, answer.url, answer.status_code, answer.text
        self.form = Form(answer.text)
        error = re.search(r'<main id="error" data-error="([^"]*)"', answer.text)
        self.error = error and error.group(1)


class Landing:
    """The redirect back to the client."""

    def __init__(self, url, pages):
        parts = urlsplit(url)
        assert not parts.fragment, f"the code flow answers in the query, not in the fragment: {url}"
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        self.url, self.params, self.pages = url, dict(pairs), pages
        assert len(pairs) == len(self.params), f"a parameter came twice: {url}"

    def __getitem__(self, name):
        return self.params[name]


class Browser:
    """Logs in and consents as a person, and stops where the client's address begins, or at an error page."""

    def __init__(self, deployment, username="buffy"):
        self.http = trusting(deployment.ca)
        self.issuer, self.username = deployment.issuer, username

    def go(self, url, data=None, decision="allow", stop_at=None):
        """Opens `url` (POST where there is `data`) and answers the pages; a Landing, or a Page."""
        method = "GET" if data is None else "POST"
        answer, pages = self.http.request(method, url, data=data, allow_redirects=False), []
        for _ in range(12):
            assert answer.status_code != 307, "RFC 9700 section 4.12: a 307 sends the password on"
            if answer.is_redirect:
                assert answer.status_code in (302, 303)
                target = urljoin(answer.url, answer.headers["location"])
                if not target.startswith(self.issuer + "/"):
                    return Landing(target, pages)
                answer = self.http.get(target, allow_redirects=False)
                continue
            page = Page(answer)
            # An error of a client that registered itself goes on where the person wants it to.
            onward = re.search(r'<main id="error".*?<a [^>]*id="onward" href="([^"]*)"', answer.text, re.S)
            if onward:
                return Landing(html.unescape(onward.group(1)), pages)
            if page.error:
                page.pages = pages
                return page
            assert answer.status_code == 200 and page.form.seen, f"{answer.status_code} {answer.text[:600]}"
            assert answer.headers["cache-control"] == "no-store"
            if not page.form.action.startswith(("/", self.issuer)) and urlsplit(page.form.action).scheme:
                return Landing(f"{page.form.action}?{urlencode(page.form.fields)}", pages)
            kind = "login" if "password" in page.form.fields else "consent"
            pages.append(kind)
            if stop_at == kind:
                page.pages = pages
                return page
            fields = dict(page.form.fields)
            if kind == "login":
                fields.update(username=self.username, password=PASSWORD)
            fields["decision"] = decision if decision in page.form.decisions else "allow"
            answer = self.http.post(urljoin(answer.url, page.form.action), data=fields, allow_redirects=False)
        raise AssertionError("the login did not come to an end")


class Party:
    """A relying party: its registration, its way to authenticate, and what it asks for."""

    def __init__(self, deployment, client_id, method, secret=None, key=None, redirect_uri=REDIRECT, certificate=None):
        self.op, self.client_id, self.method, self.secret, self.key = deployment, client_id, method, secret, key
        self.redirect_uri, self.certificate = redirect_uri, certificate
        self.http = trusting(deployment.ca, certificate)
        self.meta = metadata(deployment)
        self.registration = {}

    def endpoint(self, name):
        if self.certificate:
            return self.meta.get("mtls_endpoint_aliases", {}).get(name) or self.meta[name]
        return self.meta[name]

    # The front channel

    def request(self, **params):
        """The parameters of an authorization request; None leaves one out."""
        asked = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": "openid",
            "state": secrets.token_urlsafe(12),
            "nonce": secrets.token_urlsafe(12),
            **params,
        }
        return {name: value for name, value in asked.items() if value is not None}

    def url(self, asked):
        return f"{self.meta['authorization_endpoint']}?{urlencode(asked)}"

    def authorize(self, browser, decision="allow", post=False, **params):
        """One authorization request; (what was asked, Landing or Page)."""
        asked = self.request(**params)
        if post:
            end = browser.go(self.meta["authorization_endpoint"], data=asked, decision=decision)
        else:
            end = browser.go(self.url(asked), decision=decision)
        return asked, end

    def code(self, browser, **params):
        """A successful authorization request; (what was asked, Landing)."""
        asked, end = self.authorize(browser, **params)
        check_authorization_response(self, asked, end)
        return asked, end

    # The back channel

    def assertion(self, change=None, header=None, key=None, **claims):
        now = int(time.time())
        content = {
            "iss": self.client_id,
            "sub": self.client_id,
            "aud": self.op.issuer,
            "iat": now,
            "exp": now + 60,
            "jti": secrets.token_urlsafe(15),
            **claims,
        }
        content = {name: value for name, value in content.items() if value is not None}
        signing = key or self.key
        head = {"alg": signing.as_dict().get("alg", "RS256"), **(header or {})}
        if signing.kid and "kid" not in head:
            head["kid"] = signing.kid
        return sign(head, content, signing)

    def authenticated(self, form, assertion=None):
        """(form, headers) with this client's authentication."""
        form, headers = dict(form), {}
        if self.method == "client_secret_basic":
            pair = f"{self.client_id}:{self.secret}"
            headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        elif self.method == "client_secret_post":
            form.update(client_id=self.client_id, client_secret=self.secret)
        elif self.method == "private_key_jwt":
            form.update(client_assertion_type=ASSERTION_TYPE, client_assertion=assertion or self.assertion())
        else:
            form.setdefault("client_id", self.client_id)
        return form, headers

    def post(self, endpoint, form, assertion=None, headers=None):
        form, own = self.authenticated(form, assertion)
        return self.http.post(self.endpoint(endpoint), data=form, headers={**own, **(headers or {})}, timeout=20)

    def redeem(self, code, **form):
        asked = {"grant_type": "authorization_code", "code": code, "redirect_uri": self.redirect_uri, **form}
        return self.post("token_endpoint", {name: value for name, value in asked.items() if value is not None})

    def tokens(self, asked, landing, **form):
        answer = self.redeem(landing["code"], **form)
        return check_token_response(self, answer, asked.get("nonce"))

    def refresh(self, refresh_token, **form):
        return self.post("token_endpoint", {"grant_type": "refresh_token", "refresh_token": refresh_token, **form})

    def userinfo(self, token, scheme="Bearer"):
        answer = self.http.get(self.endpoint("userinfo_endpoint"), headers={"authorization": f"{scheme} {token}"}, timeout=20)
        assert answer.status_code == 200, answer.text
        assert answer.headers["content-type"].split(";")[0] == "application/json"
        assert answer.headers["cache-control"] == "no-store" and answer.headers["date"]
        return answer.json()

    def login(self, browser, **params):
        """The whole flow: (what was asked, Landing, token answer, ID token claims)."""
        asked, landing = self.code(browser, **params)
        token, claims = self.tokens(asked, landing)
        assert self.userinfo(token["access_token"])["sub"] == claims["sub"]
        return asked, landing, token, claims


_METADATA = {}


def metadata(deployment):
    if deployment.issuer not in _METADATA:
        answer = trusting(deployment.ca).get(deployment.issuer + "/.well-known/openid-configuration", timeout=20)
        assert answer.status_code == 200
        _METADATA[deployment.issuer] = answer.json()
    return _METADATA[deployment.issuer]


def server_keys(deployment):
    answer = trusting(deployment.ca).get(metadata(deployment)["jwks_uri"], timeout=20)
    assert answer.status_code == 200
    return answer.json()


def sign(header, claims, key):
    """A JWS over these claims, exactly as they are."""
    registry = jws.JWSRegistry(algorithms=["RS256", "PS256", "ES256", "EdDSA"], strict_check_header=False)
    return jws.serialize_compact(header, json.dumps(claims).encode(), key, registry=registry)


def check_authorization_response(party, asked, landing):
    assert isinstance(landing, Landing), f"an error page: {landing.error} {landing.text[:800]}"
    assert landing.url.split("?")[0] == asked["redirect_uri"].split("?")[0], landing.url
    assert "error" not in landing.params, landing.url
    # RFC 9207
    assert landing["iss"] == party.op.issuer
    assert landing.params.get("state") == asked.get("state")
    assert not {"access_token", "id_token"} & landing.params.keys()
    assert len(landing["code"]) >= 22, "128 bits"


def check_token_response(party, answer, nonce, refreshed=False):
    """Form, ID token and at_hash of a token answer; (the answer, ID token claims)."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].split(";")[0] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    token = answer.json()
    assert token["access_token"] and isinstance(token["expires_in"], int) and token["expires_in"] > 0
    assert token["token_type"].lower() in ("bearer", "dpop")
    keys = server_keys(party.op)
    header = json.loads(base64.urlsafe_b64decode(token["id_token"].split(".")[0] + "=="))
    assert header["kid"] in [key["kid"] for key in keys["keys"]]
    decoded = jwt.decode(token["id_token"], KeySet.import_key_set(keys), algorithms=SIGNING_ALGORITHMS)
    claims, now = decoded.claims, time.time()
    assert claims["iss"] == party.op.issuer
    assert claims["aud"] == party.client_id or claims["aud"] == [party.client_id]
    assert now - 120 < claims["iat"] <= now + 5 < claims["exp"] + 5
    assert claims["exp"] > now
    assert isinstance(claims["sub"], str) and 0 < len(claims["sub"]) <= 255
    if not refreshed:
        assert claims.get("nonce") == nonce
    assert isinstance(claims["auth_time"], int)
    if "at_hash" in claims:
        half = hashlib.sha256(token["access_token"].encode()).digest()[:16]
        assert claims["at_hash"] == b64(half)
    return token, claims


def check_error(answer, errors, statuses=(400, 401)):
    """A JSON error of RFC 6749 section 5.2."""
    assert answer.status_code in statuses, f"{answer.status_code} {answer.text}"
    assert answer.headers["content-type"].split(";")[0] == "application/json", answer.headers
    assert answer.headers["cache-control"] == "no-store"
    body = answer.json()
    assert body["error"] in errors, body
    allowed = re.compile(r"[\x20-\x21\x23-\x5B\x5D-\x7E]*\Z")
    assert allowed.match(body["error"]) and allowed.match(body.get("error_description", "")), body
    return body


def check_error_landing(party, asked, landing, errors):
    assert isinstance(landing, Landing), f"an error page: {landing.error}"
    assert landing["error"] in errors, landing.url
    assert landing.params.get("state") == asked.get("state")
    assert landing["iss"] == party.op.issuer
    assert "code" not in landing.params
    assert landing.params.keys() <= {"error", "error_description", "state", "iss"}, landing.url


def register(deployment, method="client_secret_basic", key=None, redirect_uri=REDIRECT, expect=201, **document):
    """Dynamic registration; a Party, or the refusal's answer."""
    body = {
        "client_name": "conformance suite",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method,
        "contacts": ["certification@oidf.example"],
        **document,
    }
    if key is not None and "jwks_uri" not in body:
        body["jwks"] = {"keys": [key.as_dict(private=False)]}
    answer = trusting(deployment.ca).post(metadata(deployment)["registration_endpoint"], json=body, timeout=20)
    assert answer.status_code == expect, f"{answer.status_code} {answer.text}"
    assert answer.headers["content-type"].split(";")[0] == "application/json"
    if expect != 201:
        return answer
    record = answer.json()
    for name in ("redirect_uris", "grant_types", "response_types", "token_endpoint_auth_method", "client_name"):
        assert record[name] == body[name], name
    assert record["registration_client_uri"].startswith("https://") and record["registration_access_token"]
    party = Party(deployment, record["client_id"], method, record.get("client_secret"), key, redirect_uri)
    party.registration = record
    return party


class Pkce:
    def __init__(self):
        self.verifier = secrets.token_urlsafe(48)
        self.request = {"code_challenge": sha256(self.verifier), "code_challenge_method": "S256"}


class Proofs:
    """A DPoP key and its proofs (RFC 9449)."""

    def __init__(self):
        self.key = ECKey.generate_key("P-256")
        self.public = self.key.as_dict(private=False)
        for name in ("kid", "alg", "use"):
            self.public.pop(name, None)
        self.nonce = None

    @property
    def jkt(self):
        members = {name: self.public[name] for name in ("crv", "kty", "x", "y")}
        return sha256(json.dumps(members, separators=(",", ":"), sort_keys=True))

    def make(self, method, url, token=None, header=None, **claims):
        """None as a value leaves that header or claim out."""
        content = {"jti": secrets.token_urlsafe(12), "htm": method, "htu": url, "iat": int(time.time())}
        if token:
            content["ath"] = sha256(token)
        if self.nonce:
            content["nonce"] = self.nonce
        content.update(claims)
        head = {"typ": "dpop+jwt", "alg": "ES256", "jwk": self.public, **(header or {})}
        drop = lambda d: {name: value for name, value in d.items() if value is not None}
        return sign(drop(head), drop(content), self.key)
