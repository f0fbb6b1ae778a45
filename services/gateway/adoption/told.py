"""What a step says: by that a mark finds its step again in another workflow."""

import hashlib
from collections.abc import Mapping
from typing import Self

from services.kit.value import Value
from services.procedure.checklist.places import code_by_box
from services.workflow.model import Step, Workflow


class StepTold(Value):
    """What a step says and where the page says it; kept as JSON."""

    text: str
    commands: tuple[str, ...] = ()
    node: str = ""
    """Of the page's reading; of a box the key of its block."""
    document: str = ""
    lines: tuple[tuple[int, int], ...] = ()
    """First and last line of each citation."""
    is_box: bool = False
    """Whether it is a box of a checklist."""
    code: str = ""
    """Of a box: the hash of the code that belongs to it, no gap filled; empty where none does."""

    @classmethod
    def of(cls, step: Step, code: str = "") -> Self:
        """What this one says; `code` as the page has it below a box."""
        return cls(
            text=step.text,
            commands=step.commands,
            node=step.node,
            document=step.citations[0].document_id if step.citations else "",
            lines=step.cited_lines,
            is_box=bool(step.block),
            code=hashlib.sha256(code.encode()).hexdigest()[:16] if code else "",
        )

    def says_same(self, other: Self) -> bool:
        """Whether both tell to do the same, word for word."""
        return (self.text, self.commands) == (other.text, other.commands)

    def is_at(self, other: Self) -> bool:
        """Whether both come from one place of one page."""
        return bool(self.node) and (self.node, self.document) == (other.node, other.document)

    def is_same_box(self, other: Self) -> bool:
        """Whether both are one box of one page, whose code is the same too."""
        return self.is_box and other.is_box and self.is_at(other) and self.code == other.code


def snapshot_by_step(workflow: Workflow) -> Mapping[str, StepTold]:
    """Return what each step says, by its id."""
    code = code_by_box(workflow)
    return {step.id: StepTold.of(step, code.get(step.id, "")) for step in workflow.steps}
