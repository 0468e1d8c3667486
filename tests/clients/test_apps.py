"""What the applications of docs/apps would read, of servers with the configuration of those pages."""

import base64
import json
import re

import pytest
from apps import PAGES, SECRET, AppServer, block
from party import Browser, Party, Pkce

# By page: the client, the scopes that its configuration asks for, where it looks, and what it reads of somebody in the administrators' group
# and in `engineering`, and of somebody in `engineering` alone.
APPS = {
    "grafana.md": ("grafana", "openid profile email offline_access", "id_token", "grafana-admins", {"role": "Admin", "groups": ["engineering", "grafana-admins"]}, {"role": "Editor", "groups": ["engineering"]}),
    "argocd.md": ("argocd", "openid profile email groups", "id_token", "argocd-admins", {"groups": ["argocd-admins", "engineering"], "email": "alice@example.test", "name": "Alice Example"}, {"groups": ["engineering"]}),
    "kubernetes.md": ("kubernetes", "openid offline_access groups", "id_token", "cluster-admins", {"groups": ["cluster-admins", "engineering"], "preferred_username": "alice"}, {"groups": ["engineering"], "preferred_username": "bob"}),
    "gitlab.md": ("gitlab", "openid profile email groups", "userinfo", "gitlab-admins", {"groups": ["engineering", "gitlab-admins"], "email": "alice@example.test", "email_verified": True, "name": "Alice Example", "preferred_username": "alice"}, {"groups": ["engineering"]}),
    "vault.md": ("vault", "openid profile groups", "id_token", "vault-admins", {"groups": ["engineering", "vault-admins"]}, {"groups": ["engineering"]}),
    "nextcloud.md": ("nextcloud", "openid profile email groups", "id_token", "admin", {"groups": ["admin", "engineering"], "preferred_username": "alice", "name": "Alice Example", "email": "alice@example.test"}, {"groups": ["engineering"], "preferred_username": "bob"}),
    "minio.md": ("minio", "openid profile email", "id_token", "storage-admins", {"policy": ["consoleAdmin", "readwrite"], "preferred_username": "alice"}, {"policy": ["readwrite"]}),
}


def algorithm(token):
    return json.loads(base64.urlsafe_b64decode(token.split(".")[0] + "=="))["alg"]


def read(server, client_id, scope, where, user):
    """What the application reads of a person, by its own client and redirect."""
    page = next(page for page, row in APPS.items() if row[0] == client_id)
    signet = block(page, "toml")
    client = next(part for part in signet.split("[[clients]]") if f'client_id = "{client_id}"' in part)
    redirect = re.search(r'redirect_uris = \["([^"]+)"', client).group(1)
    method = re.search(r'token_endpoint_auth_method = "([^"]+)"', client).group(1)
    party = Party(server, client_id, method, secret=SECRET, redirect_uri=redirect)
    asked, more = {}, {}
    if "require_pkce = false" not in client:
        pkce = Pkce()
        asked, more = pkce.request, {"code_verifier": pkce.verifier}
    asked, landing = party.code(Browser(server, user), scope=scope, **asked)
    token, claims = party.tokens(asked, landing, **more)
    if "id_token_signed_response_alg" in client:
        assert algorithm(token["id_token"]) == "RS256"
    assert "omitted_claims" not in claims
    return claims if where == "id_token" else party.userinfo(token["access_token"])


@pytest.mark.parametrize("page", APPS)
def test_an_application_reads_what_its_page_says(page, tmp_path):
    client_id, scope, where, administrators, of_alice, of_bob = APPS[page]
    server = AppServer(tmp_path, page)
    try:
        for group, user in ((administrators, "alice"), ("engineering", "alice"), ("engineering", "bob")):
            server.join(group, user)
        for user, expected in (("alice", of_alice), ("bob", of_bob)):
            said = read(server, client_id, scope, where, user)
            got = {name: sorted(said[name]) if isinstance(said.get(name), list) else said.get(name) for name in expected}
            assert got == expected, f"{page}, {user}"
    finally:
        server.stop()


def test_every_page_is_tried():
    pages = {page.name for page in PAGES.glob("*.md")}
    assert pages == {*APPS, "README.md", "jupyterhub.md"}
    index = (PAGES / "README.md").read_text()
    for page in pages - {"README.md"}:
        assert f"({page})" in index, page
