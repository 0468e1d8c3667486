"""The programs of docs/connect.md that need no page, as they stand there."""

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import requests

from agent import DEV, ISSUER, Agent

PROGRAMS = Path(__file__).resolve().parent / "../../docs/connect"


def add(*kind):
    data = os.path.dirname(os.environ["SIGNET_DEV_JSON"])
    command = [os.environ["SIGNET_BIN"], "client", "add", *kind, "--json", "--data-dir", data]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def start(program, client, **more):
    env = {**os.environ, "ISSUER": ISSUER, "CLIENT_ID": client["client_id"], **more}
    if "client_secret" in client:
        env["CLIENT_SECRET"] = client["client_secret"]
    return subprocess.Popen([sys.executable, PROGRAMS / program], env=env, stdout=subprocess.PIPE, text=True)


def test_the_service_gets_a_token():
    out, _ = start("service.py", add("--service")).communicate(timeout=60)
    assert out.count(".") == 2


def test_the_native_program_logs_a_person_in():
    # Without a browser it prints where to go.
    program = start("native.py", add("--native"), BROWSER="false %s")
    url = re.search(r"https://\S+", program.stdout.readline()).group()
    redirect = re.search(r"redirect_uri=([^&]+)", url).group(1)
    back = Agent().authorize(url, requests.utils.unquote(redirect))
    threading.Thread(target=requests.get, args=(back,), daemon=True).start()
    assert f"Hello {DEV['user']['email']}" in program.communicate(timeout=60)[0]


def test_the_device_waits_for_its_person():
    program = start("device.py", add("--device"))
    said = program.stdout.readline()
    assert ISSUER in said and re.search(r"type \S+", said), said
    program.kill()
    program.communicate()
