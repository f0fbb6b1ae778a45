"""What an edit does to whoever follows the procedure: findings, lost steps, other conditions."""

from collections.abc import Iterator, Sequence

from services.kit.value import Value
from services.procedure.checking.walker import findings, path_count
from services.procedure.editing.conditions import Answered, conditions_of
from services.procedure.editing.program import Outline
from services.procedure.editing.words import text_of
from services.procedure.lowering import lower
from services.procedure.model import Do, End, LineRange, Procedure
from services.workflow.lint import Finding, Severity, lint
from services.workflow.model import Step, StepKind, Workflow

_PAGE = "page"
_SAID = {"unsourced_step": "no line of the page says it"}
"""Findings of workflows that are put otherwise where no planner is at work."""


class EditFinding(Value):
    """One thing that is wrong with the procedure, of the checks of workflows and of paths."""

    check: str
    severity: Severity
    text: str
    lines: tuple[LineRange, ...] = ()
    is_new: bool = False
    """Whether it was not there before the edit."""


class NamedStep(Value):
    """A step by its node."""

    node: str
    text: str
    lines: tuple[LineRange, ...] = ()
    is_always: bool = False
    """Of one that hangs on something else now: whether nothing is left that it hangs on."""


class OtherCondition(Value):
    """An answer that steps hung on and no longer do, or hang on now."""

    question: str
    answer: str
    lines: tuple[LineRange, ...] = ()
    """Of the question."""
    steps: tuple[NamedStep, ...]


class Consequences(Value):
    """What comes of an edit, of the workflows before and after it."""

    findings: tuple[EditFinding, ...] = ()
    """After it, new ones first."""
    mended: tuple[EditFinding, ...] = ()
    """Those that are gone."""
    unreachable: tuple[NamedStep, ...] = ()
    """Steps that no path leads to any more, or that are new and none leads to."""
    dropped: tuple[OtherCondition, ...] = ()
    """Conditions that fell away: their steps are done also where the answer is another one."""
    gained: tuple[OtherCondition, ...] = ()
    """Conditions under which steps are done that were done without them."""
    paths_before: int | None = None
    """Ways from the start to an end; None where there are too many to play."""
    paths_after: int | None = None


def consequences(before: Procedure, after: Procedure) -> Consequences:
    """What comes of an edit; both must have ids on all nodes (`apply.with_ids`)."""
    was, now = lower(before, _PAGE), lower(after, _PAGE)
    old = {(each.check, each.text) for each in _findings(before, was)}
    found = [
        each.model_copy(update={"is_new": (each.check, each.text) not in old})
        for each in _findings(after, now)
    ]
    left = {(each.check, each.text) for each in found}
    dropped, gained = _other_conditions(was, now)
    return Consequences(
        findings=tuple(sorted(found, key=lambda each: not each.is_new)),
        mended=tuple(
            each for each in _findings(before, was) if (each.check, each.text) not in left
        ),
        unreachable=tuple(_unreachable(before, was, after, now)),
        dropped=dropped,
        gained=gained,
        paths_before=path_count(was),
        paths_after=path_count(now),
    )


def _findings(procedure: Procedure, workflow: Workflow) -> list[EditFinding]:
    found = [_of_lint(each, workflow) for each in lint(workflow)]
    found += [
        EditFinding(check="path", severity=Severity.WARNING, text=each.text, lines=each.lines)
        for each in findings(procedure)
    ]
    return list(dict.fromkeys(found))


def _of_lint(finding: Finding, workflow: Workflow) -> EditFinding:
    """A finding by the words of its step: step ids are counted anew in each version."""
    step = workflow.by_id.get(finding.step_id)
    text = finding.message
    if step is not None:
        what = text.removeprefix(f"step {step.id!r} ({step.text[:60]}): ")
        text = f"“{step.text}”: {_SAID.get(finding.check, what)}"
    return EditFinding(
        check=finding.check,
        severity=finding.severity,
        text=text,
        lines=step.cited_lines if step else (),
    )


def _unreachable(
    before: Procedure, was: Workflow, after: Procedure, now: Workflow
) -> Iterator[NamedStep]:
    reached_before = {step.node for step in was.steps}
    reached = {step.node for step in now.steps}
    known = Outline(before).found
    for id_, found in Outline(after).found.items():
        was_reached = id_ in reached_before or id_ not in known
        if isinstance(found.thing, Do | End) and id_ not in reached and was_reached:
            yield NamedStep(node=id_, text=text_of(found.thing), lines=found.thing.lines)


def _other_conditions(
    was: Workflow, now: Workflow
) -> tuple[tuple[OtherCondition, ...], tuple[OtherCondition, ...]]:
    """Conditions that fell away from steps which both versions have, and those that came."""
    before, after = conditions_of(was), conditions_of(now)
    steps = {step.node: step for step in now.steps if _is_done(step)}
    lost, new = _Grouped(), _Grouped()
    for old in filter(_is_done, was.steps):
        step = steps.get(old.node)
        if step is None:
            continue
        given, kept = before[old.id], after[step.id]
        for answered in _missing(given, kept):
            lost.add(answered, step, is_always=not kept)
        for answered in _missing(kept, given):
            new.add(answered, step)
    return lost.told(), new.told()


def _is_done(step: Step) -> bool:
    return bool(step.node) and step.kind is not StepKind.DECISION


def _missing(these: Sequence[Answered], others: Sequence[Answered]) -> list[Answered]:
    """Those of the first that the others have not.

    Questions such as whether the last remedy helped carry its words; of them only the number tells.
    """
    missing = [each for each in these if not any(each.is_same(other) for other in others)]
    follow = sum(1 for each in these if not each.node) - sum(1 for each in others if not each.node)
    kept = [each for each in missing if each.node]
    of_others = [each for each in missing if not each.node]
    return kept + (of_others[-follow:] if follow > 0 else [])


class _Grouped:
    """Steps by the answer that they hang on."""

    def __init__(self) -> None:
        self._steps: dict[tuple[str, str], dict[str, NamedStep]] = {}
        self._lines: dict[tuple[str, str], tuple[LineRange, ...]] = {}

    def add(self, answered: Answered, step: Step, *, is_always: bool = False) -> None:
        key = answered.question, answered.answer
        self._lines.setdefault(key, answered.lines)
        named = NamedStep(
            node=step.node, text=step.text, lines=step.cited_lines, is_always=is_always
        )
        self._steps.setdefault(key, {})[step.node] = named

    def told(self) -> tuple[OtherCondition, ...]:
        return tuple(
            OtherCondition(
                question=key[0],
                answer=key[1],
                lines=self._lines[key],
                steps=tuple(steps.values()),
            )
            for key, steps in self._steps.items()
        )
