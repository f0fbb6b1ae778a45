"""Which page it is, answered from the command line, and answered anew, on the whole platform."""

from typing import Any

from tests import command
from tests.e2e.conftest import Running
from tests.waiting import eventually

TICKET = {"title": "Users report slow pages", "description": "Since noon rack 7 is slow."}


def flowxpert(*arguments: str) -> str:
    done = command.flowxpert(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def settled(running: Running, address: str) -> Any:
    """The ticket once its later walk is over."""
    return eventually(
        lambda: running.client.get(address).json(), lambda now: now["status"] != "planning"
    )


def followed(running: Running, ticket: Any) -> str:
    """The document that its best workflow follows."""
    best = running.client.get(ticket["candidates"][0]["url"]).json()["workflow"]
    document: str = best["provenance"]["document_ids"][0]
    return document


def open_question(ticket: Any, about: str) -> Any:
    """The open question of a ticket, the last one it has."""
    question = ticket["clarifications"][-1]
    assert (question["about"], question["state"]) == (about, "open")
    return question


def test_an_answer_from_the_command_line_makes_the_workflow_again(running: Running) -> None:
    ticket = running.walked(TICKET)
    address = f"/v1/tickets/{ticket['id']}"
    question = open_question(ticket, "pages")
    shown = flowxpert("ticket", ticket["id"], "--url", running.url)
    assert "1. " in shown
    assert "flowxpert answer" in shown

    flowxpert("answer", ticket["id"], "1", "--url", running.url)
    again = settled(running, address)
    assert again["workflow_id"] != ticket["workflow_id"]
    assert again["description"] == TICKET["description"]
    assert again["clarifications"][0]["answer"] == question["choices"][0]
    assert followed(running, again) == question["cards"][0]["document_id"]

    of_branch = open_question(again, "steps")
    flowxpert("answer", ticket["id"], "1", "--url", running.url)
    branched = settled(running, address)
    assert branched["clarifications"][1]["id"] == of_branch["id"]
    assert branched["clarifications"][1]["answer"] == of_branch["choices"][0]
    assert followed(running, branched) == question["cards"][0]["document_id"]

    open_question(branched, "steps")
    flowxpert("answer", ticket["id"], "--go-on", "--url", running.url)
    left = running.client.get(f"{address}/clarifications").json()
    assert all(turn["state"] != "open" for turn in left)

    printed = flowxpert("answer", ticket["id"], "2", "--url", running.url)
    assert question["choices"][1] in " ".join(printed.split())
    other = settled(running, address)
    assert followed(running, other) == question["cards"][1]["document_id"]
