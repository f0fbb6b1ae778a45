"""The catalogue of events against all that tells of them elsewhere."""

import ast
import json
import re
from pathlib import Path

from services.contracts.ticket import TicketStatus
from services.deployment.rooms import find_room
from services.tickets.metrics import QUESTION_OUTCOMES, QUESTIONS
from services.tickets.ticket.event_kinds import ENDS, KINDS, PROGRESS
from tests.blocks import ROOT

GATEWAY = [ROOT / "services" / each for each in ("gateway", *find_room("gateway").packages)]
STATUSES = {status.value for status in TicketStatus if status.is_final} - {"rejected"}
"""A ticket is rejected by its workflow's being so, which is an event of its own."""


def noted(path: Path) -> set[str]:
    """Kinds that a module writes down by their names."""
    calls = (each for each in ast.walk(ast.parse(path.read_text("utf-8"))) if _is_note(each))
    return {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}


def _is_note(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call) or not node.args:
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name == "Note" or (name == "note" and isinstance(node.args[0], ast.Constant))


def test_everything_that_is_noted_has_its_kind():
    written = set().union(*(noted(path) for package in GATEWAY for path in package.rglob("*.py")))
    assert len(written) >= 20
    assert written <= KINDS.keys()


def test_the_messages_name_every_kind():
    proto = (ROOT / "proto/flowxpert/v1/event.proto").read_text("utf-8")
    contract = (ROOT / "services/contracts/gateway.py").read_text("utf-8")
    docstring = contract[contract.index("class ProgressEvent") :]
    for kind in KINDS.keys() - STATUSES:
        assert re.search(rf"\b{kind}\b", proto), kind
        assert f"`{kind}`" in docstring, kind
    named = set(re.findall(r"`(\w+)`", docstring[: docstring.index("facts:")]))
    assert named == KINDS.keys() - STATUSES


def test_a_walk_ends_as_its_ticket_does():
    ended_by_people = {TicketStatus.HANDED_OVER.value, TicketStatus.REJECTED.value}
    assert set(ENDS) == STATUSES - ended_by_people


def test_what_changes_a_ticket_is_told_in_its_history():
    assert all(bool(kind.words) is not kind.is_progress for kind in KINDS.values())


def test_questions_are_counted_by_their_outcomes():
    counted = {
        name
        for name, kind in KINDS.items()
        if kind.counter({"fit": "", "by": "", "team": "", "target": "", "verdict": ""})
        in [QUESTIONS.labels(outcome) for outcome in QUESTION_OUTCOMES]
    }
    assert counted == set(QUESTION_OUTCOMES)


def test_scripts_hear_of_every_kind(gateway):
    script = gateway.client.get("/static/events.js")
    assert script.headers["content-type"].startswith("text/javascript")
    constants = dict(re.findall(r"export const (\w+) = (.*);", script.text))
    assert json.loads(constants["KINDS"]) == list(KINDS)
    assert json.loads(constants["PROGRESS"]) == list(PROGRESS)
