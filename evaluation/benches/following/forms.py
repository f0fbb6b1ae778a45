"""The forms in which a workflow is given, and the guide that tells no more than what comes next."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from evaluation.benches.following.acts import Call
from services.workflow.formats.code import to_code
from services.workflow.formats.mermaid import to_mermaid
from services.workflow.formats.text import to_text
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.path import MarkedSteps, progress_of


class Form(StrEnum):
    """How a workflow is given."""

    NOTHING = "nothing"
    TEXT = "text"
    CODE = "code"
    FLOWCHART = "flowchart"
    ALL = "all"
    GUIDE = "guide"

    @property
    def names_nodes(self) -> bool:
        """Whether an agent sees the names of steps, and is to tell the one that it does."""
        return self in {Form.FLOWCHART, Form.ALL, Form.GUIDE}

    def shown(self, workflow: Workflow) -> str:
        """The whole workflow in this form; empty where none of it is shown at once."""
        return "\n\n".join(write(workflow).strip() for write in _WRITERS.get(self, ()))


_WRITERS: Mapping[Form, tuple[Callable[[Workflow], str], ...]] = {
    Form.TEXT: (to_text,),
    Form.CODE: (to_code,),
    Form.FLOWCHART: (to_mermaid,),
    Form.ALL: (to_text, to_code, to_mermaid),
}


@dataclass
class Place:
    """Where somebody is in a workflow, by what was done of it."""

    workflow: Workflow
    done: set[str] = field(default_factory=set)
    followed: dict[str, str] = field(default_factory=dict)

    @property
    def next(self) -> Step | None:
        """The step to do or the question to answer next; None at the end."""
        step = progress_of(self.workflow, MarkedSteps(done=self.done, followed=self.followed)).next
        return self.workflow.by_id[step] if step is not None else None

    def ahead(self) -> dict[str, Mapping[str, str]]:
        """Steps that may be done next, each with the answers that lead to it."""
        start = self.next
        return dict(self._ahead(start, {})) if start else {}

    def _ahead(
        self, step: Step, answers: Mapping[str, str]
    ) -> Iterator[tuple[str, Mapping[str, str]]]:
        if step.kind is not StepKind.DECISION:
            yield step.id, answers
            return
        for edge in self.workflow.exits(step.id):
            if step.id not in answers:
                further = {**answers, step.id: edge.condition}
                yield from self._ahead(self.workflow.by_id[edge.target], further)

    def does(self, step: str) -> bool:
        """Go on by doing this step, with the answers that lead to it; False where none do."""
        ahead = self.ahead()
        if step not in ahead:
            return False
        self.followed |= ahead[step]
        self.done.add(step)
        return True

    def calls(self, call: Call, calls: Mapping[str, Call], node: str | None) -> bool:
        """Go on by a call, to the step that it names where several have it; False where none do."""
        fitting = [step for step in self.ahead() if calls[step].is_same(call)]
        return bool(fitting) and self.does(node if node in fitting else fitting[0])

    def describe_next(self) -> str:
        """Describe what may come next, and nothing of the workflow beyond."""
        start = self.next
        return (
            "\n".join(self._next_lines(start, "", frozenset()))
            if start
            else "The procedure has ended."
        )

    def _next_lines(self, step: Step, before: str, seen: frozenset[str]) -> Iterator[str]:
        if step.kind is not StepKind.DECISION or step.id in seen:
            commands = f" (`{'; '.join(step.commands)}`)" if step.commands else ""
            notes = "".join(f" Note: {note}" for note in step.notes)
            yield f"{before}do [{step.id}] {step.text}{commands}{notes}"
            return
        yield f"{before}answer [{step.id}] {step.text}"
        indent = " " * (len(before) - len(before.lstrip(" ")))
        for edge in self.workflow.exits(step.id):
            target = self.workflow.by_id[edge.target]
            yield from self._next_lines(target, f"{indent}  - {edge.condition}: ", seen | {step.id})
