"""`signet mcp` with the official Python client of the Model Context Protocol: in the current version and in the one before it."""

import asyncio
import json
import os
import subprocess

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import ElicitResult

SIGNET = os.environ["SIGNET_BIN"]
ENVIRONMENT = {**os.environ, "SIGNET_PASSPHRASE": "a passphrase for tests"}


def signet(*arguments, code=0):
    done = subprocess.run([SIGNET, *arguments], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


@pytest.fixture(name="place")
def _place(tmp_path):
    for name in ["alice", "bob"]:
        signet("agent", "create", "--name", name, "--out", str(tmp_path / f"{name}.aid"))
    return tmp_path


def document(place, name):
    return json.loads(signet("agent", "show", "--document", str(place / f"{name}.aid")))


def session(place, mode, work, answer):
    """Runs `work` with a connected client; `answer` is what the person says to each question, and the questions are returned."""
    questions = []

    async def asked(_context, params):
        questions.append(params.message)
        return answer

    async def run():
        server = StdioServerParameters(command=SIGNET, args=["mcp", "--identity", str(place / "alice.aid")], env=ENVIRONMENT)
        async with Client(server, mode=mode, elicitation_callback=asked if answer else None) as client:
            await work(client)

    asyncio.run(asyncio.wait_for(run(), 120))
    return questions


YES = ElicitResult(action="accept", content={"approve": True})
NO = ElicitResult(action="decline")
RECEIPT = {"action": "mail.send", "content": "the message"}


@pytest.mark.parametrize("mode,version", [("auto", "2026-07-28"), ("legacy", "2025-11-25")])
def test_a_person_approves_and_what_was_signed_verifies(place, mode, version):
    async def work(client):
        assert client.protocol_version == version
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"who_am_i", "list_grants", "check_grant", "sign_receipt", "make_grant"}
        assert tools["who_am_i"].annotations.read_only_hint and not tools["make_grant"].annotations.read_only_hint
        me = (await client.call_tool("who_am_i", {})).structured_content
        assert me["document"]["id"] == document(place, "alice")["id"]
        signed = await client.call_tool("sign_receipt", RECEIPT)
        assert not signed.is_error and signed.structured_content["approved_by"] == "person"
        (place / "receipt.json").write_text(json.dumps(signed.structured_content["object"]))
        wanted = {"to": document(place, "bob"), "capabilities": ["read:calendar"], "expires_in": "1h"}
        granted = await client.call_tool("make_grant", wanted)
        (place / "grant.json").write_text(json.dumps(granted.structured_content["object"]))
        chain = {"root": me["document"], "capability": "read:calendar", "grants": [granted.structured_content["object"]]}
        checked = (await client.call_tool("check_grant", chain)).structured_content
        assert checked["accepted"] and checked["not_checked"]

    questions = session(place, mode, work, YES)
    assert len(questions) == 2 and "mail.send" in questions[0] and "read:calendar" in questions[1]
    (place / "alice.json").write_text(json.dumps(document(place, "alice")))
    signet("agent", "receipt", "verify", "--identity", str(place / "alice.json"), str(place / "receipt.json"))
    signet("agent", "chain", "verify", "--root", str(place / "alice.json"), "--capability", "read:calendar", str(place / "grant.json"))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("answer,error", [(NO, "not_approved"), (None, "approval_unavailable")])
def test_without_a_yes_nothing_is_signed(place, mode, answer, error):
    async def work(client):
        refused = await client.call_tool("sign_receipt", RECEIPT)
        assert refused.is_error and refused.structured_content["error"] == error
        assert "object" not in refused.structured_content

    session(place, mode, work, answer)
