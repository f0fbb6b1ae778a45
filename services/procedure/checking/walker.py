"""Plays every path of a lowered program, and says in words what is wrong with it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.language.words import tokenise
from services.procedure.checking.left_out import background, untold
from services.procedure.lowering import lower
from services.procedure.model import (
    ESCALATION,
    START,
    Body,
    Choice,
    End,
    EndKind,
    Jump,
    LineRange,
    Procedure,
    bodies_of,
    questions,
    walk,
)
from services.procedure.program.cited_lines import lines_of
from services.workflow.model import Step, StepKind, Workflow

MOST_FINDINGS = 12
"""What a reader can take up at once; later findings mostly follow from the first."""
_MOST_PATHS = 2000
_OWN_WORDS = 0.75
"""Share of a question's words in title and fault of the page from which it asks for that fault."""
_LONGEST_TEXT = 240


@dataclass(frozen=True)
class PathFinding:
    """One thing that is wrong, in words that whoever wrote the program can act on."""

    text: str
    lines: tuple[LineRange, ...] = ()

    def __str__(self) -> str:
        """The finding with its lines."""
        where = ", ".join(f"{first}-{last}" for first, last in self.lines)
        return f"{self.text} (lines {where})" if where else self.text


def findings(procedure: Procedure) -> list[PathFinding]:
    """What is wrong, the gravest first, at most `MOST_FINDINGS`."""
    workflow = lower(procedure, "page")
    found = [
        *_of_names(procedure),
        *_of_paths(workflow),
        *_of_parts(procedure, workflow),
    ]
    return list(dict.fromkeys(found))[:MOST_FINDINGS]


def findings_of(
    procedures: Sequence[Procedure], text: str, *, partly: bool = False
) -> list[PathFinding]:
    """What is wrong with all procedures of a page, conditions without a step among it.

    Where they tell but a part of the text (`partly`), it ends where their lines do.
    """
    told = background(text)
    found = [
        each
        for procedure in procedures
        for each in (*_of_start(procedure, told), *findings(procedure))
    ]
    cited = {line for procedure in procedures for line in lines_of(procedure)}
    missing = [
        PathFinding("a condition of the page has no step", (lines,))
        for lines in untold(procedures, text)
        if not partly or (cited and min(cited) <= lines[0] <= max(cited))
    ]
    return [*found, *missing][:MOST_FINDINGS]


def _of_names(procedure: Procedure) -> Iterator[PathFinding]:
    ids = [node.id for node in procedure.walk() if node.id]
    known = {*ids, START, *(name for name, body in procedure.bodies.items() if body)}
    known |= {arm.id for node in procedure.walk() if isinstance(node, Choice) for arm in node.arms}
    for twice in sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        yield PathFinding(f"two steps have the id {twice!r}")
    for node in procedure.walk():
        if isinstance(node, Jump) and node.target not in known:
            yield PathFinding(f"{node.target!r}, where a path goes on, is nowhere", node.lines)
        if isinstance(node, Choice) and not _says_anything(node):
            yield PathFinding("a choice asks and nothing follows from any answer", node.lines)


def _of_start(procedure: Procedure, told: Collection[int]) -> Iterator[PathFinding]:
    """Whoever opens the page has its fault: the start is an event of the chart, not a step.

    Only what the page's background tells (`told`, lines); a condition among its steps is asked.
    """
    first = procedure.body[0] if procedure.body else None
    if not isinstance(first, Choice) or not any(_turns_away(body) for body in bodies_of(first)):
        return
    own = set(tokenise(f"{procedure.title} {procedure.treats}"))
    for arm in first.arms:
        for asked in questions(arm.guard):
            words = set(tokenise(asked.text))
            is_told = all(line in told for first, last in arm.lines for line in (first, last))
            if is_told and len(words & own) >= _OWN_WORDS * len(words):
                yield PathFinding(
                    f"{asked.text!r} asks for the fault that the page is about; whoever opens it "
                    "has that fault: leave the question out",
                    arm.lines,
                )


def _turns_away(body: Body) -> bool:
    return len(body) == 1 and isinstance(body[0], End) and body[0].kind is EndKind.NOT_THIS_FAULT


def _says_anything(choice: Choice) -> bool:
    return bool(choice.otherwise) or any(arm.body for arm in choice.arms)


def _of_parts(procedure: Procedure, workflow: Workflow) -> Iterator[PathFinding]:
    """Whatever is written must be reached by somebody."""
    texts = {(step.text, step.citations) for step in workflow.steps}
    cited = {citation.start_line for _, cites in texts for citation in cites}
    for name, body in procedure.bodies.items():
        lines = [line for node in walk(body) for line in node.lines]
        if lines and not any(first in cited for first, _ in lines):
            what = "what is done when nothing helped" if name == ESCALATION else f"{name!r}"
            yield PathFinding(f"no path leads to {what}", tuple(lines[:1]))
    for body in procedure.bodies.values():
        yield from _unreachable(body)


def _unreachable(body: Sequence[object]) -> Iterator[PathFinding]:
    for node, after in pairwise(body):
        if isinstance(node, End | Jump):
            yield PathFinding("nobody comes to what stands behind an end or a jump", _lines(after))


def _lines(node: object) -> tuple[LineRange, ...]:
    lines: tuple[LineRange, ...] = getattr(node, "lines", ())
    return lines


def _of_paths(workflow: Workflow) -> Iterator[PathFinding]:
    for step in workflow.steps:
        if len(step.text) > _LONGEST_TEXT:
            yield PathFinding(
                f"a step is too long to act on: {step.text[:60]!r} …", step.cited_lines
            )
    for path in _Ways(workflow):
        yield from _twice(path)
        yield from _escalated_after_success(path)


def path_count(workflow: Workflow) -> int | None:
    """How many ways lead from the start to an end or to a step they have been at.

    None where there are more than can be played.
    """
    ways = _Ways(workflow)
    count = sum(1 for _ in ways)
    return None if ways.todo else count


_Path = list[tuple[Step, str]]
"""Steps with the answers that led on."""


class _Ways:
    """Every way from the start to an end or to a step it has been at; a bounded number."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self.todo: list[_Path] = [[(workflow.steps[0], "")]]
        """Ways that are not at their end yet."""

    def __iter__(self) -> Iterator[_Path]:
        for _ in range(_MOST_PATHS):
            if not self.todo:
                return
            path = self.todo.pop()
            step = path[-1][0]
            seen = {each.id for each, _ in path}
            exits = [edge for edge in self._workflow.exits(step.id) if edge.target not in seen]
            if not exits:
                yield path
            for edge in reversed(exits):
                walked: _Path = [*path[:-1], (step, edge.condition)]
                self.todo.append([*walked, (self._workflow.by_id[edge.target], "")])


def _twice(path: _Path) -> Iterator[PathFinding]:
    """The same action at the same lines, written twice on one way."""
    seen: set[tuple[str, object]] = set()
    for step, _ in path:
        said = (step.text.casefold(), step.citations)
        if step.kind is StepKind.PROCESS and step.citations and said in seen:
            yield PathFinding(f"one path does {step.text!r} twice", step.cited_lines)
        seen.add(said)


def _escalated_after_success(path: _Path) -> Iterator[PathFinding]:
    """Whoever was helped is not handed over."""
    last = path[-1][0]
    decisions = [(step, answer) for step, answer in path if step.kind is StepKind.DECISION]
    was_helped = bool(decisions) and decisions[-1][0].implied and decisions[-1][1] == "Yes"
    if was_helped and last.kind is StepKind.TERMINAL and _is_escalation(last):
        yield PathFinding(f"who was helped comes to {last.text!r} all the same", last.cited_lines)


def _is_escalation(step: Step) -> bool:
    words = step.text.casefold()
    return any(word in words for word in ("escalat", "support case", "hand over", "open a case"))
