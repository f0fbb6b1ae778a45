"""A question about a ticket, answered from the command line, on the whole platform."""

from typing import Any

from tests import command
from tests.e2e.conftest import Running
from tests.waiting import eventually

TICKET = {"title": "BGP session lost on leaf-12", "description": "Routes are gone since 14:05."}


def flowxpert(*arguments: str) -> str:
    done = command.flowxpert(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def settled(running: Running, address: str) -> Any:
    """The ticket once its later walk is over."""
    return eventually(
        lambda: running.client.get(address).json(), lambda now: now["status"] != "planning"
    )


def test_an_answer_from_the_command_line_makes_the_workflow_again(running: Running) -> None:
    ticket = running.walked(TICKET)
    address = f"/v1/tickets/{ticket['id']}"
    question = ticket["clarifications"][-1]
    shown = flowxpert("ticket", ticket["id"], "--url", running.url)
    assert "1. " in shown
    assert "flowxpert answer" in shown

    flowxpert("answer", ticket["id"], "1", "--url", running.url)
    again = settled(running, address)
    assert again["workflow_id"] != ticket["workflow_id"]
    assert again["description"] == TICKET["description"]
    assert again["clarifications"][0]["answer"] == question["choices"][0]
    best = running.client.get(again["candidates"][0]["url"]).json()["workflow"]
    marked = {step["text"]: step["settled"] for step in best["steps"] if step["settled"]}
    assert marked[question["decisions"][0]] in question["choices"][0]

    told = flowxpert("answer", ticket["id"], "--go-on", "--url", running.url)
    assert question["choices"][0] in " ".join(told.split())
    left = running.client.get(f"{address}/clarifications").json()
    assert all(turn["state"] != "open" for turn in left)
