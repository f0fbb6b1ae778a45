"""What a step says: by that a mark finds its step again in another workflow."""

from typing import Self

from services.kit.value import Value
from services.workflow.model import Step


class StepTold(Value):
    """What a step says and where the page says it; kept as JSON."""

    text: str
    commands: tuple[str, ...] = ()
    node: str = ""
    """Of the page's reading."""
    document: str = ""

    @classmethod
    def of(cls, step: Step) -> Self:
        """What this one says."""
        document = step.citations[0].document_id if step.citations else ""
        return cls(text=step.text, commands=step.commands, node=step.node, document=document)

    def says_same(self, other: Self) -> bool:
        """Whether both tell to do the same, word for word."""
        return (self.text, self.commands) == (other.text, other.commands)

    def is_at(self, other: Self) -> bool:
        """Whether both come from one place of one page."""
        return bool(self.node) and (self.node, self.document) == (other.node, other.document)
