"""People of a real OpenLDAP server move here when they log in for the first time: over LDAPS, and over STARTTLS."""

import os
import subprocess
from urllib.parse import urljoin

import pytest
from agent import Form
from apps import Served
from deployment import PASSWORD
from party import trusting
from slapd import BASE, BIND_PASSWORD, BINDS_AS, Slapd

PEOPLE = {"carol": "old & right * (carol)", "dora": "dora's own", "erin": "erin's own"}


def provider(url, more=""):
    return (
        f'[[providers]]\nname = "old"\nprotocol = "ldap"\nmigrate = true\ntrust_email = true\nissuer = "{url}"\n'
        f'client_id = "{BINDS_AS}"\nclient_secret = {{ file = "bind" }}\nsearch_base = "ou=people,{BASE}"\n'
        f'search_filter = "(&(objectClass=inetOrgPerson)(|(uid={{login}})(mail={{login}})))"\n{more}'
    )


@pytest.fixture(params=["ldaps", "ldap"])
def served(request, tmp_path):
    directory = Slapd(PEOPLE)
    try:
        (tmp_path / "bind").write_text(BIND_PASSWORD)
        outbound = f'[outbound]\nallow_loopback = true\ntrust = "{directory.ca}"\n\n'
        server = Served(tmp_path, outbound + provider(directory.url(request.param)))
        try:
            yield server, directory
        finally:
            server.stop()
    finally:
        directory.stop()


def log_in(server, name, password):
    """The answer to a login at the account page, and the browser."""
    http = trusting(server.ca)
    page = http.get(f"{server.issuer}/account")
    form = Form(page.text)
    fields = {**form.fields, "username": name, "password": password, "decision": "allow"}
    return http.post(urljoin(page.url, form.action), data=fields), http


def is_in(server, name, password):
    answer, _ = log_in(server, name, password)
    return answer.status_code == 200 and "<title>Your account" in answer.text


def user(server, name):
    environment = {**os.environ, "SIGNET_PASSWORD": PASSWORD}
    where = ["--server", server.issuer, "--ca-cert", server.ca, "--login", "root"]
    shown = subprocess.run(
        [os.environ["SIGNET_BIN"], "user", "show", name, *where], env=environment, capture_output=True, text=True, check=False
    )
    return shown.stdout if shown.returncode == 0 else None


def test_people_of_a_directory_move_at_their_first_login(served):
    server, directory = served
    assert not is_in(server, "carol", "wrong")
    assert user(server, "carol") is None
    # A name that would be a filter, and one that means everybody.
    for name in ("*", "carol)(uid=*", "c*"):
        assert not is_in(server, name, PEOPLE["carol"])
    assert is_in(server, "carol", PEOPLE["carol"])
    shown = user(server, "carol")
    assert "carol@old.example" in shown and "Carol" in shown
    # By the address, which is another way to the same entry.
    assert is_in(server, "dora@old.example", PEOPLE["dora"])
    assert user(server, "dora") is not None
    assert user(server, "erin") is None
    # Nothing was sent in the clear: the server refuses a bind without TLS.
    assert "confidentiality required" not in directory.log
    assert BIND_PASSWORD not in server.log.read_text() and PEOPLE["carol"] not in server.log.read_text()

    directory.stop()
    # Who has moved is this server's; who has not is told that it cannot be known now.
    assert is_in(server, "carol", PEOPLE["carol"])
    answer, _ = log_in(server, "erin", PEOPLE["erin"])
    assert answer.status_code == 503
    # Who was here before never needed it.
    assert is_in(server, "alice", PASSWORD)


def test_a_certificate_of_another_authority_is_not_believed(tmp_path):
    directory, other = Slapd(PEOPLE), Slapd({})
    try:
        (tmp_path / "bind").write_text(BIND_PASSWORD)
        outbound = f'[outbound]\nallow_loopback = true\ntrust = "{other.ca}"\n\n'
        server = Served(tmp_path, outbound + provider(directory.url("ldaps")))
        try:
            answer, _ = log_in(server, "carol", PEOPLE["carol"])
            assert answer.status_code == 503
            assert "BIND dn" not in directory.log, "no name was sent"
            assert "certificate" in server.log.read_text()
        finally:
            server.stop()
    finally:
        directory.stop()
        other.stop()
