"""Walker of a lowered program: it plays every path and describes what is wrong with it."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.language.words import tokenise
from services.runbook.checking.left_out import background_lines, uncited_conditions
from services.runbook.lowering import ROUND_TEXT, lower
from services.runbook.model import (
    ESCALATION,
    START,
    Choice,
    Do,
    End,
    EndKind,
    Jump,
    LineRange,
    Procedure,
    bodies_of,
    questions,
    walk,
)
from services.runbook.program import lines_of
from services.workflow.model import Step, StepKind, Workflow

MOST_FINDINGS = 12
"""The findings that a reader can act on at once; later ones mostly follow from the first."""
_MOST_PATHS = 2000
_OWN_WORDS = 0.75
"""Share of a question's words in the page's title and fault from which it asks for that fault."""
_LONGEST_TEXT = 240
_ESCALATION_WORDS = ("escalat", "support case", "hand over", "open a case")


@dataclass(frozen=True)
class PathFinding:
    """One problem, in words that the writer of the program can act on."""

    text: str
    lines: tuple[LineRange, ...] = ()

    def __str__(self) -> str:
        """Return the finding with its lines."""
        where = ", ".join(f"{first}-{last}" for first, last in self.lines)
        return f"{self.text} (lines {where})" if where else self.text


def findings(procedure: Procedure) -> list[PathFinding]:
    """Return the problems of a procedure, the gravest first, at most `MOST_FINDINGS`."""
    workflow = lower(procedure, "page")
    path_findings = [
        *_id_findings(procedure),
        *_path_findings(workflow),
        *_reachability_findings(procedure, workflow),
        *(
            PathFinding(
                f"from {step.text!r} a path goes back, and no answer ends it", step.cited_lines
            )
            for step in steps_before_rounds(workflow)
        ),
    ]
    return list(dict.fromkeys(path_findings))[:MOST_FINDINGS]


def findings_of(
    procedures: Sequence[Procedure], text: str, *, partly: bool = False
) -> list[PathFinding]:
    """Return the problems of all procedures of a page, conditions without a step included.

    If the procedures cover only a part of the text (`partly`), conditions outside their lines do
    not count.
    """
    background = background_lines(text)
    path_findings = [
        each
        for procedure in procedures
        for each in (*_start_findings(procedure, background), *findings(procedure))
    ]
    cited = {line for procedure in procedures for line in lines_of(procedure)}
    missing = [
        PathFinding("a condition of the page has no step", (lines,))
        for lines in uncited_conditions(procedures, text)
        if not partly or (cited and min(cited) <= lines[0] <= max(cited))
    ]
    return [*path_findings, *missing][:MOST_FINDINGS]


def _id_findings(procedure: Procedure) -> Iterator[PathFinding]:
    ids = [node.id for node in procedure.walk() if node.id]
    targets = {*ids, START, *(name for name, body in procedure.bodies.items() if body)}
    targets |= {
        arm.id for node in procedure.walk() if isinstance(node, Choice) for arm in node.arms
    }
    for duplicate in sorted({id_ for id_ in ids if ids.count(id_) > 1}):
        yield PathFinding(f"two steps have the id {duplicate!r}")
    for node in procedure.walk():
        if isinstance(node, Jump) and node.target not in targets:
            yield PathFinding(f"{node.target!r}, where a path goes on, is nowhere", node.lines)
        if isinstance(node, Choice) and not any(bodies_of(node)):
            yield PathFinding("a choice asks and nothing follows from any answer", node.lines)


def steps_before_rounds(workflow: Workflow) -> Iterator[Step]:
    """Yield the steps behind which a path goes back, with no way out that the page names."""
    for step in workflow.steps:
        following = (workflow.by_id[edge.target] for edge in workflow.exits(step.id))
        if any(each.implied and each.text == ROUND_TEXT for each in following):
            yield step


def unreached_steps(procedure: Procedure, workflow: Workflow) -> Iterator[Do]:
    """Yield the actions that no path leads to."""
    reached = {step.node for step in workflow.steps}
    return (n for n in procedure.walk() if isinstance(n, Do) and n.id not in reached)


def _start_findings(procedure: Procedure, background: Collection[int]) -> Iterator[PathFinding]:
    """Yield a finding if the first choice asks for the page's own fault.

    Whoever opens the page has its fault: the start is an event of the chart, not a step. Only a
    question from the page's `background` lines counts; a condition among its steps may be asked.
    """
    first = procedure.body[0] if procedure.body else None
    single = (body[0] for body in bodies_of(first) if len(body) == 1) if first else ()
    is_refused = any(isinstance(n, End) and n.kind is EndKind.NOT_THIS_FAULT for n in single)
    if not isinstance(first, Choice) or not is_refused:
        return
    own_words = set(tokenise(f"{procedure.title} {procedure.treats}"))
    for arm in first.arms:
        for state in questions(arm.guard):
            words = set(tokenise(state.text))
            is_background = all(
                line in background for first, last in arm.lines for line in (first, last)
            )
            if is_background and len(words & own_words) >= _OWN_WORDS * len(words):
                yield PathFinding(
                    f"{state.text!r} asks for the fault that the page is about; whoever opens it "
                    "has that fault: leave the question out",
                    arm.lines,
                )


def _reachability_findings(procedure: Procedure, workflow: Workflow) -> Iterator[PathFinding]:
    """Yield a finding for each body or step that no path leads to."""
    texts = {(step.text, step.citations) for step in workflow.steps}
    cited = {citation.start_line for _, cites in texts for citation in cites}
    for name, body in procedure.bodies.items():
        lines = [line for node in walk(body) for line in node.lines]
        if lines and not any(first in cited for first, _ in lines):
            what = "what is done when nothing helped" if name == ESCALATION else f"{name!r}"
            yield PathFinding(f"no path leads to {what}", tuple(lines[:1]))
    for body in procedure.bodies.values():
        for node, after in pairwise(body):
            if isinstance(node, End | Jump):
                what = "nobody comes to what stands behind an end or a jump"
                yield PathFinding(what, after.lines)


def _path_findings(workflow: Workflow) -> Iterator[PathFinding]:
    """Yield a finding for each long step, action done twice, and escalation after success."""
    for step in workflow.steps:
        if len(step.text) > _LONGEST_TEXT:
            yield PathFinding(
                f"a step is too long to act on: {step.text[:60]!r} …", step.cited_lines
            )
    for path in _Paths(workflow):
        seen: set[tuple[str, object]] = set()
        for step, _ in path:
            action = (step.text.casefold(), step.citations)
            if step.kind is StepKind.PROCESS and step.citations and action in seen:
                yield PathFinding(f"one path does {step.text!r} twice", step.cited_lines)
            seen.add(action)
        last = path[-1][0]
        decisions = [(step, answer) for step, answer in path if step.kind is StepKind.DECISION]
        was_helped = bool(decisions) and decisions[-1][0].implied and decisions[-1][1] == "Yes"
        is_escalation = any(each in last.text.casefold() for each in _ESCALATION_WORDS)
        if was_helped and last.kind is StepKind.TERMINAL and is_escalation:
            what = f"who was helped comes to {last.text!r} all the same"
            yield PathFinding(what, last.cited_lines)


def path_count(workflow: Workflow) -> int | None:
    """Count the paths from the start to an end or to a step they have visited.

    None if there are more than can be played.
    """
    paths = _Paths(workflow)
    count = sum(1 for _ in paths)
    return None if paths.pending else count


_Path = list[tuple[Step, str]]
"""Steps with the answers that led on."""


class _Paths:
    """The paths from the start to an end or to a step they have visited; a bounded number."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self.pending: list[_Path] = [[(workflow.steps[0], "")]]
        """Paths that are not at their end yet."""

    def __iter__(self) -> Iterator[_Path]:
        for _ in range(_MOST_PATHS):
            if not self.pending:
                return
            path = self.pending.pop()
            step = path[-1][0]
            seen = {each.id for each, _ in path}
            exits = [edge for edge in self._workflow.exits(step.id) if edge.target not in seen]
            if not exits:
                yield path
            for edge in reversed(exits):
                walked: _Path = [*path[:-1], (step, edge.condition)]
                self.pending.append([*walked, (self._workflow.by_id[edge.target], "")])
