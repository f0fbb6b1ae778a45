"""An edited procedure against the one that is right, whatever ids their nodes have."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from services.execution.bindings.binding import step_key
from services.runbook.lowering import lower
from services.runbook.model import Arm, Node, Procedure, as_json

_BELOW = frozenset({"steps", "repeat", "otherwise", "arms"})


def program(procedure: Procedure) -> dict[str, Any]:
    """What it tells to do: no ids, no lines, no case and no full stops."""
    document: dict[str, Any] = _normalised(_plain(procedure), keeps_words=True)
    return document


def shape(procedure: Procedure) -> dict[str, Any]:
    """What stands under what, without words."""
    document: dict[str, Any] = _normalised(_plain(procedure), keeps_words=False)
    return document


def kept(before: Procedure, expected: Procedure, result: Procedure) -> float:
    """Of what neither side changes, the share that is as it was, its lines with it."""
    same = Counter(_own(before)) & Counter(_own(expected))
    left = same & Counter(_own(result))
    return left.total() / same.total() if same else 1.0


def bindings(before: Procedure, expected: Procedure, result: Procedure) -> float:
    """Of approved bindings that should go on to hold, the share that does."""
    same = Counter(_keys(before)) & Counter(_keys(expected))
    left = same & Counter(_keys(result))
    return left.total() / same.total() if same else 1.0


def _plain(procedure: Procedure) -> Any:  # noqa: ANN401 - JSON
    """Jumps lead to places in the order of the text."""
    places = {each.id: f"#{place}" for place, each in enumerate(procedure.sourced()) if each.id}

    def walked(tree: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(tree, dict):
            return {
                key: places.get(value, value) if key == "goto" else walked(value)
                for key, value in tree.items()
                if key not in {"id", "at", "confidence", "title", "treats"}
            }
        return [walked(each) for each in tree] if isinstance(tree, list) else tree

    return walked(as_json(procedure))


def _normalised(tree: Any, *, keeps_words: bool) -> Any:  # noqa: ANN401 - JSON
    if isinstance(tree, dict):
        return {key: _normalised(value, keeps_words=keeps_words) for key, value in tree.items()}
    if isinstance(tree, list):
        return [_normalised(each, keeps_words=keeps_words) for each in tree]
    if isinstance(tree, str):
        words = " ".join(re.sub(r"[.!?]+$", "", tree.strip()).casefold().split())
        return words if keeps_words else ""
    return tree


def _own(procedure: Procedure) -> Iterator[str]:
    """Each node and arm without what is below it, with its lines."""
    return (_alone(each) for each in procedure.sourced())


def _alone(each: Node | Arm) -> str:
    document = as_json(each)
    own = {key: value for key, value in document.items() if key not in _BELOW | {"id", "goto"}}
    return f"{type(each).__name__} {sorted(own.items(), key=str)}"


def _keys(procedure: Procedure) -> Iterator[str]:
    workflow = lower(procedure, "page")
    for step in workflow.steps:
        conditions = frozenset(edge.condition for edge in workflow.exits(step.id))
        yield step_key(step, conditions)
