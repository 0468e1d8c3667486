"""scim2-tester, unmodified: discovery, and for each resource creation, queries, replacement, patches and removal."""

import json
import os
import ssl
import subprocess

import httpx2
import requests
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

from agent import ISSUER

SIGNET = os.environ["SIGNET_BIN"]
DATA = os.path.dirname(os.environ["SIGNET_DEV_JSON"])


def signet(*arguments):
    done = subprocess.run([SIGNET, *arguments, "--json", "--data-dir", DATA], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def token():
    made = signet("client", "add", "--client-id", "provisioner", "--grant-type", "client_credentials", "--scope", "signet:scim")
    answer = requests.post(
        f"{ISSUER}/token",
        data={"grant_type": "client_credentials", "scope": "signet:scim"},
        auth=(made["client_id"], made["client_secret"]),
        timeout=10,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


def test_an_independent_validator_finds_nothing_wrong():
    trusted = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
    headers = {"Authorization": f"Bearer {token()}"}
    with httpx2.Client(base_url=f"{ISSUER}/scim/v2", headers=headers, verify=trusted, timeout=10) as http:
        results = check_server(SyncSCIMClient(http))
    seen = {}
    wrong = []
    for result in results:
        seen[result.status.name] = seen.get(result.status.name, 0) + 1
        if result.status in (Status.ERROR, Status.CRITICAL, Status.DEVIATION):
            wrong.append(f"{result.status.name} {result.title}: {result.reason}")
    assert not wrong, "\n".join(wrong)
    assert sum(seen.get(name, 0) for name in ("SUCCESS", "COMPLIANT")) >= 40, seen
