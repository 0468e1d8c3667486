"""A FAPI 2.0 client of the configuration: pushes its requests, uses PKCE, binds its tokens."""

from deployment import REDIRECT
from party import Landing, Party, Pkce, Proofs, check_authorization_response, check_token_response


class Fapi(Party):
    def __init__(self, deployment, client):
        method = "private_key_jwt" if client.auth == "private_key_jwt" else "tls_client_auth"
        super().__init__(deployment, client.client_id, method, key=client.key, redirect_uri=REDIRECT, certificate=client.certificate)
        self.auth, self.bind = client.auth, client.bind
        self.proofs = Proofs() if self.bind == "dpop" else None
        self.scheme = "DPoP" if self.proofs else "Bearer"

    def send(self, endpoint, form, assertion=None, headers=None, proof=True, http=None):
        """POST with client authentication and proof; once more where the server wants its nonce in the proof."""
        for _ in range(2):
            body, own = self.authenticated(form, assertion)
            own.update(headers or {})
            if self.proofs and proof:
                own["dpop"] = proof if isinstance(proof, str) else self.proofs.make("POST", self.endpoint(endpoint))
            answer = (http or self.http).post(self.endpoint(endpoint), data=body, headers=own, timeout=20)
            wanted = self.proofs and "json" in answer.headers.get("content-type", "") and answer.json().get("error") == "use_dpop_nonce"
            if not wanted:
                return answer
            self.proofs.nonce = answer.headers["dpop-nonce"]
        return answer

    def push(self, pkce=None, assertion=None, proof=False, http=None, **params):
        """(what was asked, answer). The suite pushes without a proof, unless a module says otherwise."""
        pkce = pkce or Pkce()
        asked = self.request(**{"scope": "openid", **pkce.request, **params})
        return asked, self.send("pushed_authorization_request_endpoint", asked, assertion=assertion, proof=proof, http=http)

    def pushed(self, pkce=None, **params):
        """(what was asked, request_uri)."""
        asked, answer = self.push(pkce, **params)
        assert answer.status_code == 201, answer.text
        assert answer.headers["content-type"].split(";")[0] == "application/json"
        assert answer.headers["cache-control"] == "no-store"
        body = answer.json()
        assert isinstance(body["expires_in"], int) and 0 < body["expires_in"] < 600
        assert body["request_uri"].startswith("urn:ietf:params:oauth:request_uri:") and len(body["request_uri"]) > 60
        return asked, body["request_uri"]

    def front(self, request_uri, client_id=None, **more):
        return self.url({"client_id": client_id or self.client_id, "request_uri": request_uri, **more})

    def code(self, browser, pkce=None, **params):
        asked, request_uri = self.pushed(pkce, **params)
        landing = browser.go(self.front(request_uri))
        assert isinstance(landing, Landing), f"{landing.error} {landing.text[:500]}"
        check_authorization_response(self, asked, landing)
        return asked, landing

    def redeem(self, code, pkce, assertion=None, proof=True, http=None, headers=None, **form):
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": pkce and pkce.verifier,
            **form,
        }
        asked = {name: value for name, value in asked.items() if value is not None}
        return self.send("token_endpoint", asked, assertion=assertion, proof=proof, http=http, headers=headers)

    def tokens(self, asked, landing, pkce):
        token, claims = check_token_response(self, self.redeem(landing["code"], pkce), asked.get("nonce"))
        assert token["token_type"] == self.scheme
        return token, claims

    def login(self, browser, **params):
        pkce = Pkce()
        asked, landing = self.code(browser, pkce, **params)
        token, claims = self.tokens(asked, landing, pkce)
        assert self.userinfo(token["access_token"])["sub"] == claims["sub"]
        return asked, landing, token, claims

    def refresh(self, refresh_token, proof=True, http=None, **form):
        return self.send("token_endpoint", {"grant_type": "refresh_token", "refresh_token": refresh_token, **form}, proof=proof, http=http)

    def resource(self, token, scheme=None, proof=True, http=None, **headers):
        """GET of the protected resource."""
        url = self.endpoint("userinfo_endpoint")
        for _ in range(2):
            sent = {"authorization": f"{scheme or self.scheme} {token}", **headers}
            if self.proofs and proof:
                sent["dpop"] = proof if isinstance(proof, str) else self.proofs.make("GET", url, token)
            answer = (http or self.http).get(url, headers=sent, timeout=20)
            if not (self.proofs and answer.status_code == 401 and 'error="use_dpop_nonce"' in answer.headers.get("www-authenticate", "")):
                return answer
            self.proofs.nonce = answer.headers["dpop-nonce"]
        return answer

    def userinfo(self, token):
        answer = self.resource(token)
        assert answer.status_code == 200, answer.text
        assert answer.headers["date"] and answer.headers["cache-control"] == "no-store"
        return answer.json()
