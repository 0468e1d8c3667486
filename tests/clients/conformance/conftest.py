import pytest
from deployment import Deployment
from party import Browser, Party, Pkce, register, trusting


@pytest.fixture(scope="session")
def op(tmp_path_factory):
    deployment = Deployment(tmp_path_factory.mktemp("conformance"))
    yield deployment
    deployment.stop()


@pytest.fixture(scope="session")
def op_with_nonces(tmp_path_factory):
    """The same, but DPoP proofs must carry the server's nonce."""
    deployment = Deployment(tmp_path_factory.mktemp("nonces"), "nonces", require_dpop_nonce=True)
    yield deployment
    deployment.stop()


@pytest.fixture
def browser(op):
    return Browser(op)


@pytest.fixture(scope="session")
def client(op):
    """`client` of the plans' configuration."""
    return register(op, grant_types=["authorization_code", "refresh_token"])


@pytest.fixture(scope="session")
def client2(op):
    """`client2` of the plans' configuration."""
    return register(op, grant_types=["authorization_code", "refresh_token"])


@pytest.fixture(scope="session")
def admin(op):
    """The admin API, as the command line uses it."""
    return Admin(op)


@pytest.fixture(scope="session")
def filled(op, admin):
    """A person of whom the server knows every claim; without one, the scope modules end in warnings."""
    user = admin.get("/users", login="buffy")["items"][0]
    profile = {
        **user["profile"],
        "given_name": "Buffy",
        "family_name": "Example",
        "phone_number": "+1 (310) 123-4567",
        "phone_number_verified": True,
        "address": "1630 Revello Drive\nSunnydale, California",
        "locale": "en-US",
        "zoneinfo": "America/Los_Angeles",
        "birthdate": "1981-01-19",
    }
    admin.put(f"/users/{user['id']}", {"admin": False, "enabled": True, "profile": profile})


class Admin:
    def __init__(self, op):
        pkce = Pkce()
        party = Party(op, "signet-cli", "none", redirect_uri="http://127.0.0.1/callback")
        asked, landing = party.code(Browser(op, "admin"), scope="openid signet:admin", **pkce.request)
        token, _ = party.tokens(asked, landing, code_verifier=pkce.verifier)
        self.http = trusting(op.ca)
        self.http.headers["authorization"] = "Bearer " + token["access_token"]
        self.base = op.issuer + "/admin/v1"

    def get(self, path, **query):
        answer = self.http.get(self.base + path, params=query)
        assert answer.status_code == 200, answer.text
        self.etag = answer.headers.get("etag")
        return answer.json()

    def put(self, path, body):
        self.get(path)
        headers = {"if-match": self.etag} if self.etag else {}
        answer = self.http.put(self.base + path, json=body, headers=headers)
        assert answer.status_code in (200, 204), answer.text

    def post(self, path, body):
        answer = self.http.post(self.base + path, json=body)
        assert answer.status_code in (200, 201, 204), answer.text
        return answer.json() if answer.content else None
