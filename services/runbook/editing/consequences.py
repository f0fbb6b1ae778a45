"""Consequences of an edit for whoever follows the procedure.

Findings, steps that nobody reaches, conditions that were dropped or added.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from services.kit.value import Value
from services.runbook.checking.walker import findings, path_count
from services.runbook.editing.outline import Outline
from services.runbook.facts import guards
from services.runbook.lowering import lower
from services.runbook.model import Do, End, LineRange, Procedure
from services.runbook.words import text_of
from services.workflow.lint import LintIssue, Severity, lint
from services.workflow.model import Step, StepKind, Workflow

_PAGE = "page"
_LINT_TEXTS = {"unsourced_step": "no line of the page says it"}
"""Texts of lint findings that are worded differently where no planner is at work."""


class EditFinding(Value):
    """A problem of the procedure, from the checks of workflows or of paths."""

    check: str
    severity: Severity
    text: str
    lines: tuple[LineRange, ...] = ()
    is_new: bool = False
    """True if the problem was not there before the edit."""


class NamedStep(Value):
    """A step, named by its node."""

    node: str
    text: str
    lines: tuple[LineRange, ...] = ()
    is_always: bool = False
    """True if a step that lost a condition depends on no other one."""


class OtherCondition(Value):
    """An answer that steps depended on and no longer do, or depend on now."""

    question: str
    answer: str
    lines: tuple[LineRange, ...] = ()
    """The lines of the question."""
    steps: tuple[NamedStep, ...]


class Consequences(Value):
    """The consequences of an edit, from the workflows before and after it."""

    findings: tuple[EditFinding, ...] = ()
    """Problems after the edit, new ones first."""
    mended: tuple[EditFinding, ...] = ()
    """Problems that the edit removed."""
    unreachable: tuple[NamedStep, ...] = ()
    """Steps that no path leads to any more, and new ones that none leads to."""
    dropped: tuple[OtherCondition, ...] = ()
    """Conditions that fell away: their steps are done on other answers too."""
    gained: tuple[OtherCondition, ...] = ()
    """Conditions under which steps are done that were done without them."""
    paths_before: int | None = None
    """Paths from the start to an end; None if there are too many to play."""
    paths_after: int | None = None


def consequences(before: Procedure, after: Procedure) -> Consequences:
    """Return the consequences of an edit; all nodes must have ids (`apply.with_ids`)."""
    old_workflow, new_workflow = lower(before, _PAGE), lower(after, _PAGE)
    old_findings = _findings(before, old_workflow)
    old_keys = {(each.check, each.text) for each in old_findings}
    new_findings = [
        each.model_copy(update={"is_new": (each.check, each.text) not in old_keys})
        for each in _findings(after, new_workflow)
    ]
    new_keys = {(each.check, each.text) for each in new_findings}
    dropped, gained = _condition_changes(old_workflow, new_workflow)
    return Consequences(
        findings=tuple(sorted(new_findings, key=lambda each: not each.is_new)),
        mended=tuple(each for each in old_findings if (each.check, each.text) not in new_keys),
        unreachable=tuple(_unreachable(before, old_workflow, after, new_workflow)),
        dropped=dropped,
        gained=gained,
        paths_before=path_count(old_workflow),
        paths_after=path_count(new_workflow),
    )


def _findings(procedure: Procedure, workflow: Workflow) -> list[EditFinding]:
    edit_findings = [_lint_finding(each, workflow) for each in lint(workflow)]
    edit_findings += [
        EditFinding(check="path", severity=Severity.WARNING, text=each.text, lines=each.lines)
        for each in findings(procedure)
    ]
    return list(dict.fromkeys(edit_findings))


def _lint_finding(finding: LintIssue, workflow: Workflow) -> EditFinding:
    """Return a lint finding that names its step by its words: step ids differ between versions."""
    step = workflow.by_id.get(finding.step_id)
    text = finding.message
    if step is not None:
        what = text.removeprefix(f"step {step.id!r} ({step.text[:60]}): ")
        text = f"“{step.text}”: {_LINT_TEXTS.get(finding.check, what)}"
    return EditFinding(
        check=finding.check,
        severity=finding.severity,
        text=text,
        lines=step.cited_lines if step else (),
    )


def _unreachable(
    before: Procedure, old_workflow: Workflow, after: Procedure, new_workflow: Workflow
) -> Iterator[NamedStep]:
    reached_before = {step.node for step in old_workflow.steps}
    reached = {step.node for step in new_workflow.steps}
    old_locations = Outline(before).locations
    for id_, location in Outline(after).locations.items():
        was_reached = id_ in reached_before or id_ not in old_locations
        if isinstance(location.thing, Do | End) and id_ not in reached and was_reached:
            yield NamedStep(node=id_, text=text_of(location.thing), lines=location.thing.lines)


@dataclass(frozen=True)
class _PathAnswer:
    """An answer that every path to a step gives."""

    question: Step
    place: int
    """The index among the questions of its node."""
    answer: str

    def is_same(self, other: "_PathAnswer") -> bool:
        """Return True if both are asked by one node, or in the same words."""
        node = self.question.node
        is_one = bool(node) and (node, self.place) == (other.question.node, other.place)
        words = self.question.text, self.answer
        return is_one or words == (other.question.text, other.answer)


def _condition_changes(
    was: Workflow, now: Workflow
) -> tuple[tuple[OtherCondition, ...], tuple[OtherCondition, ...]]:
    """Return the dropped and the gained conditions of steps that both versions have."""
    before, after = _path_answers(was), _path_answers(now)
    steps = {step.node: step for step in now.steps if _is_done(step)}
    dropped: list[tuple[_PathAnswer, NamedStep]] = []
    gained: list[tuple[_PathAnswer, NamedStep]] = []
    for old in filter(_is_done, was.steps):
        step = steps.get(old.node)
        if step is None:
            continue
        old_answers, new_answers = before[old.id], after[step.id]
        named = NamedStep(node=step.node, text=step.text, lines=step.cited_lines)
        free = named.model_copy(update={"is_always": not new_answers})
        dropped += [(each, free) for each in _only_in_first(old_answers, new_answers)]
        gained += [(each, named) for each in _only_in_first(new_answers, old_answers)]
    return _by_answer(dropped), _by_answer(gained)


def _path_answers(workflow: Workflow) -> dict[str, list[_PathAnswer]]:
    """Return by step id the answers that every path from the start gives, in their order."""
    by_fact: dict[tuple[str, str], _PathAnswer] = {}
    question_counts: Counter[str] = Counter()
    for step in workflow.of_kind(StepKind.DECISION):
        for edge in workflow.exits(step.id):
            answer = _PathAnswer(step, question_counts[step.node], edge.condition)
            by_fact.setdefault((step.id, edge.condition.strip().casefold()), answer)
        question_counts[step.node] += 1
    facts = guards(workflow)
    # A question that comes later depends on more answers.
    return {
        step.id: [
            by_fact[fact]
            for fact in sorted(facts.get(step.id, ()), key=lambda fact: len(facts[fact.decision]))
        ]
        for step in workflow.steps
    }


def _is_done(step: Step) -> bool:
    return bool(step.node) and step.kind is not StepKind.DECISION


def _only_in_first(
    first: Sequence[_PathAnswer], others: Sequence[_PathAnswer]
) -> list[_PathAnswer]:
    """Return the answers of the first that the others lack.

    Implied questions, such as whether the last remedy helped, carry its words: only their number is
    compared.
    """
    missing = [each for each in first if not any(each.is_same(other) for other in others)]
    implied = [each for each in missing if not each.question.node]
    more = sum(not each.question.node for each in first)
    more -= sum(not each.question.node for each in others)
    kept = [each for each in missing if each.question.node]
    return kept + (implied[-more:] if more > 0 else [])


def _by_answer(steps: Sequence[tuple[_PathAnswer, NamedStep]]) -> tuple[OtherCondition, ...]:
    lines: dict[tuple[str, str], tuple[LineRange, ...]] = {}
    named: defaultdict[tuple[str, str], dict[str, NamedStep]] = defaultdict(dict)
    for each, step in steps:
        key = each.question.text, each.answer
        lines.setdefault(key, each.question.cited_lines)
        named[key][step.node] = step
    return tuple(
        OtherCondition(question=key[0], answer=key[1], lines=lines[key], steps=tuple(some.values()))
        for key, some in named.items()
    )
