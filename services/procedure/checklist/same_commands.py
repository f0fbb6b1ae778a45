"""The box of a checklist that has given commands."""

import re
from collections.abc import Sequence

from services.procedure.checklist.build import commands_by_block
from services.procedure.checklist.shown import boxes_of, page_of
from services.workflow.commands import pieces
from services.workflow.model import Step, Workflow


def box_with_commands(workflow: Workflow, commands: Sequence[str]) -> Step | None:
    """Return the one box with just these commands as its page has them, or with gaps filled.

    None where no box has them, or several have.
    """
    if not commands:
        return None
    boxes = boxes_of(workflow)
    found = [
        boxes[key]
        for key, own in commands_by_block(page_of(workflow), set(boxes)).items()
        if len(own) == len(commands) and all(map(fills, own, commands))
    ]
    return found[0] if len(found) == 1 else None


def fills(template: str, command: str) -> bool:
    """Whether the command is the other one with its gaps filled, or not filled."""
    parts = [re.escape(p) if isinstance(p, str) else r".+?" for p in pieces(template)]
    return re.fullmatch("".join(parts), command) is not None
