"""Whatever valid operations are done, in whatever order, a workflow comes of it that can be judged.

The examples' readings are edited at random; a seed names each row of edits.
"""

import json
import random
from pathlib import Path

import pytest

from services.runbook.checking.check import check_reading
from services.runbook.editing.apply import apply, stages
from services.runbook.editing.consequences import consequences
from services.runbook.editing.difference import describe_effects, difference
from services.runbook.editing.errors import UnusableOperationError
from services.runbook.editing.operations import parse_operations
from services.runbook.editing.outline import Outline
from services.runbook.lowering import lower
from services.runbook.model import Reader, Reading, as_json
from services.runbook.program import with_ids
from services.workflow.lint import STRUCTURE_CHECKS, Severity

READINGS = Path(__file__).parents[4] / "examples" / "readings.jsonl"
SEEDS = range(6)
LENGTH = 12


def programs():
    for row in READINGS.read_text().splitlines():
        record = json.loads(row)
        for place, procedure in enumerate(record["reading"]["procedures"]):
            reading = Reading.model_validate({"reader": "person", "procedures": [procedure]})
            yield pytest.param(reading.procedures[0], id=f"{record['document']}-{place}")


def drawn(rng, procedure):
    """An operation that may fit."""
    outline = Outline(procedure)
    ids = list(outline.locations)
    bodies = list(outline.bodies)

    def some():
        return rng.choice(ids) if ids else "n1"

    def target():
        return rng.choice(sorted(outline.targets))

    def place():
        kind = rng.choice(["before", "after", "first_in", "last_in"])
        return {kind: some() if kind in {"before", "after"} else rng.choice(bodies)}

    node = rng.choice(
        [
            {"do": "Do it by hand", "commands": ["show it"]},
            {"end": rng.choice(["resolved", "escalate"]), "text": "Stop"},
            {"note": "Mind it"},
            {"goto": target()},
            {"choice": rng.choice(["exclusive", "any"]), "arms": [{"when": "Is it so?"}]},
        ]
    )
    guard = rng.choice(["Is it hot?", {"not": "Is it hot?"}, {"outcome": "Is it back?"}])
    return rng.choice(
        [
            {"op": "insert", "node": node, **place()},
            {"op": "insert", "arm": {"when": "Or so?", "steps": [node]}, **place()},
            {
                "op": "delete",
                "node": some(),
                "keep_below": rng.random() < 0.5,
                **({"jumps_to": target()} if rng.random() < 0.5 else {}),
            },
            {"op": "replace", "node": some(), "text": "Do it otherwise"},
            {"op": "replace", "node": some(), "choice": rng.choice(["any", "in_order", "free"])},
            {"op": "move", "node": some(), **place()},
            {"op": "guard", "nodes": [some()], "how": "put", "when": guard, "otherwise": [node]},
            {"op": "guard", "node": some(), "how": rng.choice(["negate", "remove"])},
            {"op": "guard", "node": some(), "how": "change", "when": guard},
            {"op": "otherwise", "node": some(), "steps": [node]},
            {"op": "otherwise", "node": some(), "go_on": True},
            {"op": "parameter", "name": "it", "literal": "it"},
        ]
    )


@pytest.mark.parametrize("program", programs())
def test_random_edits_leave_a_procedure_that_is_followed_or_say_what_is_wrong(program):
    for seed in SEEDS:
        rng = random.Random(seed)
        before = now = with_ids(program)
        done = []
        while len(done) < LENGTH:
            operation = drawn(rng, now)
            edited = tried(before, [*done, operation])
            if edited is not None:
                now = edited
                done.append(operation)
        hold(before, now, done)


def tried(before, operations):
    """The procedure edited; None where the last operation is refused, with a word of its own."""
    try:
        return apply(before, parse_operations(operations))
    except UnusableOperationError as error:
        refused = error
    assert refused.operation == len(operations) - 1
    assert type(refused) is not UnusableOperationError or "levels deep" in str(refused)
    return None


def hold(before, now, done):
    operations = parse_operations(done)
    assert len(describe_effects(stages(before, operations), operations)) == len(done)

    ids = [each.id for each in now.sourced()]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    assert all(jump.target in Outline(now).targets for jump in Outline(now).jumps())
    kept_lines = {each.id: each.lines for each in now.sourced()}
    for each in before.sourced():
        assert kept_lines.get(each.id, each.lines) == each.lines, "no operation named lines"

    reading = Reading(reader=Reader.PERSON, procedures=(now,))
    assert Reading.model_validate(as_json(reading)) == reading, "it is stored as it is"
    (stored,) = check_reading(reading, "\n" * 10_000).reading.procedures
    assert [(each.id, each.lines) for each in stored.sourced()] == list(kept_lines.items())

    workflow = lower(now, "page")
    broken = [str(f) for check in STRUCTURE_CHECKS for f in check(workflow, {})]
    was_broken = [f for check in STRUCTURE_CHECKS for f in check(lower(before, "page"), {})]
    outcome = consequences(before, now)
    assert was_broken == []
    new = [each for each in outcome.findings if each.is_new and each.severity is Severity.ERROR]
    assert len(new) == len(set(broken)), broken
    assert {each.node for each in difference(before, now).steps if each.kind == "removed"} <= {
        each.id for each in before.sourced()
    } - set(ids)
    unreachable = {each.node for each in outcome.unreachable}
    reached = {step.node for step in workflow.steps}
    assert not unreachable & reached
