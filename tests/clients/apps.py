"""Servers that are configured by the pages of docs/apps: the blocks of Signet's configuration are read from the pages themselves."""

import os
import re
import subprocess
from pathlib import Path

from deployment import PASSWORD, Authority, Deployment, held_port

PAGES = Path(__file__).parents[2] / "docs" / "apps"
SECRET = "a secret of an application, for tests alone, long enough"


def block(page, language):
    """The one block of a page in a language."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", (PAGES / page).read_text(), re.M | re.S)
    assert len(found) == 1, f"{page}: {len(found)} blocks of {language}"
    return found[0]


class Served(Deployment):
    """A server with alice, bob, an administrator, and what else its configuration says."""

    def __init__(self, folder, more):
        folder = Path(folder)
        self.authority = Authority(folder, "op")
        self.ca = str(self.authority.pem)
        self.port = held_port()
        self.issuer = f"https://localhost:{self.port}"
        certificate, key = self.authority.issue("localhost", server=True)
        self.server_certificate = (certificate, key)
        (folder / "password").write_text(PASSWORD)
        people = "\n".join(
            f'[[users]]\nusername = "{user}"\nname = "{user.title()} Example"\nemail = "{user}@example.test"\n'
            f'email_verified = true\nadmin = {"true" if user == "root" else "false"}\npassword = {{ file = "password" }}\n'
            for user in ("alice", "bob", "root")
        )
        config = folder / "signet.toml"
        config.write_text(
            f'issuer = "{self.issuer}"\ndata_dir = "data"\n\n'
            f'[[listeners]]\naddress = "127.0.0.1:{self.port}"\n\n'
            f'[tls]\ncertificate = "{certificate}"\nkey = "{key}"\n\n'
            '[keys]\nalgorithms = ["RS256", "ES256"]\nid_token = "ES256"\npublish_ahead = 1\n\n'
            f"{people}\n{more}"
        )
        self.log = folder / "op.log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [os.environ["SIGNET_BIN"], "serve", "--config", str(config)], stdout=log, stderr=subprocess.STDOUT
            )
        self._wait()


class AppServer(Served):
    """A server with the clients, groups and claims of one page."""

    def __init__(self, folder, page, change=lambda text: text):
        signet = block(page, "toml")
        (Path(folder) / "secrets").mkdir()
        for name in re.findall(r'"secrets/([a-z-]+)"', signet):
            (Path(folder) / "secrets" / name).write_text(SECRET)
        super().__init__(folder, change(signet))

    def join(self, group, user, act="add"):
        environment = {**os.environ, "SIGNET_PASSWORD": PASSWORD}
        where = ["--server", self.issuer, "--ca-cert", self.ca, "--login", "root"]
        done = subprocess.run(
            [os.environ["SIGNET_BIN"], "group", "members", group, act, user, *where],
            env=environment, capture_output=True, text=True, check=False,
        )
        assert done.returncode == 0, done.stderr
