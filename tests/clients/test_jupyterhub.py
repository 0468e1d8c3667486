"""JupyterHub itself, with the configuration of docs/apps/jupyterhub.md: logging in, groups, a role that a group gives, administrators, and who stays outside."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from urllib.parse import urljoin

import pytest
import requests
from agent import Form
from apps import SECRET, AppServer, block
from deployment import PASSWORD, held_port

HERE = Path(__file__).parent
HUB = HERE.parent / "apps" / ".venv" / "bin" / "jupyterhub"
PROXY = HERE / "node_modules" / "configurable-http-proxy" / "bin" / "configurable-http-proxy"


class Hub:
    """The hub and its proxy, on free ports, with nothing that outlives the test."""

    def __init__(self, folder, server, port):
        self.url, (hub, api) = f"http://127.0.0.1:{port}", (held_port(), held_port())
        page = block("jupyterhub.md", "python")
        page = page.replace("https://hub.example.com", self.url).replace("https://id.example.com", server.issuer)
        config = folder / "jupyterhub_config.py"
        config.write_text(
            f"{page}\n"
            f'c.JupyterHub.bind_url = "{self.url}"\nc.JupyterHub.hub_bind_url = "http://127.0.0.1:{hub}"\n'
            f'c.JupyterHub.db_url = "sqlite:///{folder}/hub.sqlite"\n'
            f'c.JupyterHub.cookie_secret_file = "{folder}/cookie"\nc.ConfigurableHTTPProxy.pid_file = "{folder}/proxy.pid"\n'
            f'c.ConfigurableHTTPProxy.command = ["{shutil.which("node")}", "{PROXY}"]\n'
            f'c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"\n'
            'c.JupyterHub.spawner_class = "simple"\nc.JupyterHub.redirect_to_server = False\n'
        )
        environment = {
            **os.environ,
            "SIGNET_CLIENT_SECRET": SECRET,
            "SSL_CERT_FILE": server.ca,
            "CONFIGPROXY_AUTH_TOKEN": os.urandom(16).hex(),
        }
        self.log = folder / "hub.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [str(HUB), "--config", str(config)], cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT
            )
        for _ in range(300):
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            try:
                if requests.get(f"{self.url}/hub/health", timeout=2).status_code == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise AssertionError(self.log.read_text()[-3000:])

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


class Person:
    """A browser that goes back and forth between the hub and Signet."""

    def __init__(self, hub, server, name):
        self.hub, self.server, self.name = hub, server, name
        self.http = requests.Session()
        self.http.trust_env, self.http.verify = False, server.ca

    def log_in(self):
        answer = self.http.get(f"{self.hub.url}/hub/oauth_login", allow_redirects=False)
        for _ in range(12):
            if answer.is_redirect:
                answer = self.http.get(urljoin(answer.url, answer.headers["location"]), allow_redirects=False)
            elif answer.url.startswith(self.hub.url):
                return answer
            else:
                form = Form(answer.text)
                assert form.seen, answer.text[:600]
                fields = dict(form.fields)
                if "password" in fields:
                    fields.update(username=self.name, password=PASSWORD)
                fields["decision"] = "allow"
                answer = self.http.post(urljoin(answer.url, form.action), data=fields, allow_redirects=False)
        raise AssertionError("the login did not come to an end")

    def get(self, path):
        token = self.http.cookies.get("_xsrf", path="/hub/")
        return self.http.get(f"{self.hub.url}/hub{path}", headers={"x-xsrftoken": token or ""}, allow_redirects=False)


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    port = held_port()
    change = lambda text: text.replace("https://hub.example.com", f"http://127.0.0.1:{port}")
    server = AppServer(tmp_path_factory.mktemp("op"), "jupyterhub.md", change)
    try:
        for group, user in (("hub-admins", "alice"), ("tutors", "bob")):
            server.join(group, user)
        running = Hub(tmp_path_factory.mktemp("hub"), server, port)
        try:
            yield running, server
        finally:
            running.stop()
    finally:
        server.stop()


def me(person):
    answer = person.get("/api/user")
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_group_makes_administrators(hub):
    alice = Person(*hub, "alice")
    assert alice.log_in().status_code == 200
    said = me(alice)
    assert said["name"] == "alice" and said["admin"] is True
    assert said["groups"] == ["hub-admins"]
    assert alice.get("/admin").status_code == 200


def test_a_group_gives_a_role_and_the_group_around_it_lets_in(hub):
    bob = Person(*hub, "bob")
    assert bob.log_in().status_code == 200
    said = me(bob)
    assert said["admin"] is False and sorted(said["groups"]) == ["engineering", "tutors"]
    # The role's power; the model names roles of the person alone, and none that groups give.
    assert bob.get("/api/users").status_code == 200
    assert bob.get("/api/proxy").status_code == 403


def test_whoever_is_in_no_group_stays_outside(hub):
    root = Person(*hub, "root")
    assert root.log_in().status_code == 403
    assert root.get("/api/user").status_code in (302, 403)
    log = hub[0].log.read_text()
    assert re.search(r"403 .*oauth_callback", log), log[-2000:]
    assert SECRET not in log


def test_whoever_leaves_a_group_loses_its_role_at_the_next_login(hub):
    server = hub[1]
    server.join("tutors", "bob", "remove")
    server.join("engineering", "bob")
    bob = Person(*hub, "bob")
    assert bob.log_in().status_code == 200
    assert me(bob)["groups"] == ["engineering"]
    assert bob.get("/api/users").status_code == 403
