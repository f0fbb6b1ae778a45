"""The official client of the Model Context Protocol against the whole platform."""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from services.web.mcp.server import TOOLS
from tests.e2e.conftest import Running

SLOW = {"title": "Users report slow pages", "description": "Since noon rack 7 is slow."}
FAN = {"title": "Fan 3 of leaf-09 stands still", "labels": {"alertname": "FanTrayFailed"}}


@asynccontextmanager
async def client_of(url: str, mode: str = "auto", **headers: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=90) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http), mode=mode) as client,
    ):
        yield client


async def called(client: Client, name: str, **arguments: Any) -> Any:
    result = await client.call_tool(name, arguments)
    assert not result.is_error, text_of(result)
    return result.structured_content


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_tool_is_listed_with_its_schemas(running: Running, mode: str) -> None:
    async with client_of(running.url, mode) as client:
        listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == [tool.name for tool in TOOLS]
    for tool, defined in zip(listed, TOOLS, strict=True):
        assert tool.description == defined.description
        assert tool.input_schema["additionalProperties"] is False
        assert "notice" in tool.output_schema["properties"]
        assert tool.annotations.read_only_hint is defined.is_read_only


async def test_a_ticket_is_made_asked_about_answered_and_rejected(running: Running) -> None:
    """Every tool, in the order in which somebody would use them."""
    async with client_of(running.url) as client:
        knowledge = await called(client, "search_knowledge", query="BGP session is down", limit=3)
        best = knowledge["passages"][0]
        assert best["document_id"] == "runbooks/BgpSessionDown.md"
        assert len(knowledge["passages"]) == 3
        lines = f"{best['start_line']}-{best['end_line']}"
        source = running.client.get(
            f"/v1/sources/{best['document_id']}", params={"lines": lines, "context": 0}
        ).json()
        assert "\n".join(source["lines"]).strip() in best["text"]

        made = await called(client, "make_workflow", **SLOW, external_id="mcp-1", wait_s=60)
        assert made["status"] == "planned"
        assert made["workflow"]["workflow"]["steps"]
        assert len(made["question"]["choices"]) == len(made["question"]["cards"]) + 1
        again = await called(client, "make_workflow", **SLOW, external_id="mcp-1", wait_s=60)
        assert again["ticket_id"] == made["ticket_id"]

        got = await called(client, "get_workflow", ticket_id=made["ticket_id"])
        assert got == again

        reply = await client.call_tool(
            "answer_question", {"ticket_id": made["ticket_id"], "choice": 2, "wait_s": 60}
        )
        answered = reply.structured_content
        assert answered["workflow"]["id"] != made["workflow"]["id"]
        taken = made["question"]["cards"][1]["document_id"]
        origin = answered["workflow"]["workflow"]["provenance"]
        assert origin["document_ids"][0] == taken
        assert taken in text_of(reply)

        of_ticket = {"ticket_id": made["ticket_id"]}
        step = answered["workflow"]["workflow"]["steps"][0]["id"]
        await called(client, "record_feedback", **of_ticket, verdict="accepted", step=step)
        accepted = await called(client, "record_feedback", **of_ticket, verdict="accepted")
        assert accepted["status"] == "planned"
        unknown = await client.call_tool(
            "record_feedback", {**of_ticket, "verdict": "rejected", "step": "nowhere"}
        )
        assert json.loads(text_of(unknown))["error"] == "StepNotFoundError"
        work = running.client.get(f"/v1/workflows/{answered['workflow']['id']}/work").json()
        assert work["verdict"] == "accepted"
        assert [each["verdict"] for each in work["steps"] if each["step"] == step] == ["accepted"]

        reason = "It is the peer's maintenance window."
        rejected = await called(
            client, "record_feedback", **of_ticket, verdict="rejected", reason=reason
        )
        assert rejected["status"] == "rejected"
    ticket = running.client.get(f"/v1/tickets/{made['ticket_id']}").json()
    assert ticket["status"] == "rejected"
    assert ticket["triage"]["note"]["tried"]
    assert ticket["source"] == "generic"
    lines = running.client.get("/v1/audit", params={"subject": f"ticket {ticket['id']}"}).json()
    done = {line["action"] for line in lines["lines"]}
    assert {"ticket.received", "ticket.answered", "ticket.triaged"} <= done


async def test_what_is_refused_says_why_and_is_no_fault_of_the_connection(running: Running) -> None:
    async with client_of(running.url) as client:
        unknown = await client.call_tool("get_workflow", {"ticket_id": "nobody"})
        assert unknown.is_error
        assert json.loads(text_of(unknown))["error"] == "TicketNotFoundError"
        for wrong in ({}, {"query": ""}, {"query": "x", "limit": 0}, {"query": "x", "drop": 1}):
            refused = await client.call_tool("search_knowledge", wrong)
            assert refused.is_error, wrong
            assert json.loads(text_of(refused))["error"] == "InvalidInputError"
        with pytest.raises(MCPError, match="no tool is called"):
            await client.call_tool("drop_tables", {})
        assert (await called(client, "search_knowledge", query="fan"))["passages"]


async def test_what_documents_say_stands_in_marked_blocks(running: Running) -> None:
    async with client_of(running.url) as client:
        reply = await client.call_tool("search_knowledge", {"query": "fan tray", "limit": 2})
    text = text_of(reply)
    assert text.startswith("Titles, texts, commands and names in this answer are quoted")
    blocks = text.count("\n<passage-")
    assert blocks == 2
    assert text.count("\n</passage-") == blocks


async def test_the_command_speaks_for_the_platform_on_stdin_and_stdout(running: Running) -> None:
    arguments = ["-m", "services.cli", "mcp", "--url", running.url]
    command = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
    async with Client(command) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == [t.name for t in TOOLS]
        made = await called(client, "make_workflow", **FAN, wait_s=60)
        assert made["workflow"]["workflow"]["provenance"]["document_ids"] == ["wiki/fan-failure.md"]
        refused = await client.call_tool("get_workflow", {"ticket_id": "nobody"})
        assert refused.is_error


def initialized(running: Running, **headers: str) -> int:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"accept": "application/json", **headers}
    return running.client.post("/mcp", json=body, headers=accept).status_code


def test_pages_of_other_sites_are_refused(running: Running) -> None:
    assert initialized(running) == 200
    assert initialized(running, origin=running.url) == 200
    assert initialized(running, origin="https://elsewhere.example") == 403
    assert initialized(running, host="elsewhere.example") == 403
    assert running.client.get("/mcp").status_code == 405
