"""Static checks of a workflow: errors that can be seen without knowing the incident.

Each check is one pure function and one line in `CHECKS`. An issue that would mislead or harm the
person who follows the workflow is an error; a workflow without errors is *lint-clean*. An issue
that is open but visible (a placeholder to fill in, a step marked as unsourced) is a warning.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType

from services.kit.value import Value
from services.language.deeds import begins_with_condition
from services.workflow.commands import assigned_variables, placeholder_name, placeholders
from services.workflow.effects.effect import EffectLevel, effect_of
from services.workflow.effects.table import danger_in_prose
from services.workflow.graph import cycles, reachable, successors
from services.workflow.model import Step, StepKind, Workflow
from services.workflow.read_only import is_read_only_step


class Severity(StrEnum):
    """Severity of an issue."""

    ERROR = "error"
    WARNING = "warning"


class LintIssue(Value):
    """An issue and its step; `step_id` is empty if it concerns the workflow as a whole."""

    check: str
    severity: Severity
    step_id: str
    message: str

    def __str__(self) -> str:
        """Return a line for people."""
        return f"{self.severity}: {self.check}: {self.message}"


Bindings = Mapping[str, str]
Check = Callable[[Workflow, Bindings], Iterator[LintIssue]]

_UNBOUND: Bindings = MappingProxyType({})


def lint(workflow: Workflow, *, bindings: Bindings = _UNBOUND) -> list[LintIssue]:
    """Return all issues, errors first, each check's in reading order.

    `bindings` names the placeholders the ticket gives a value for; spelling differences
    (`<Pod-Name>`, `$POD_NAME`) do not matter.
    """
    bound = {placeholder_name(name): value for name, value in bindings.items()}
    findings = [finding for check in CHECKS for finding in check(workflow, bound)]
    return sorted(findings, key=lambda finding: finding.severity is not Severity.ERROR)


def is_clean(findings: Sequence[LintIssue]) -> bool:
    """Return True if no issue is an error."""
    return all(finding.severity is not Severity.ERROR for finding in findings)


def unreachable_step(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report steps that no path from the first one leads to."""
    reached = _reachable_steps(workflow)
    for step in workflow.steps:
        if step.id not in reached:
            yield _issue("unreachable_step", step, "no path from the first step leads here")


def dead_end(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report steps without exits that are no terminals."""
    for step in workflow.steps:
        if step.kind is not StepKind.TERMINAL and not workflow.exits(step.id):
            yield _issue("dead_end", step, f"a {step.kind} without an exit, but no terminal")


def terminal_exit(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report terminals that have an exit."""
    for step in workflow.of_kind(StepKind.TERMINAL):
        if exits := workflow.exits(step.id):
            yield _issue("terminal_exit", step, f"an end that goes on to {exits[0].target!r}")


def too_few_exits(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report decisions with fewer than two labelled exits."""
    for step in workflow.of_kind(StepKind.DECISION):
        labelled = [edge for edge in workflow.exits(step.id) if edge.condition.strip()]
        if len(labelled) < 2:
            yield _issue(
                "too_few_exits", step, f"a decision needs two labelled exits, has {len(labelled)}"
            )


def equal_exits(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report decisions with two exits under the same condition."""
    for step in workflow.of_kind(StepKind.DECISION):
        conditions = (" ".join(e.condition.casefold().split()) for e in workflow.exits(step.id))
        for condition, count in Counter(conditions).items():
            if count > 1:
                yield _issue("equal_exits", step, f"{count} exits for {condition!r}")


def unbounded_loop(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report cycles that no decision leads out of, inner cycles of a bounded one included."""
    arrows = successors(workflow.transitions)
    waiting = cycles([step.id for step in workflow.steps], arrows)
    while waiting:
        cycle = waiting.pop(0)
        ways_out = {
            step_id
            for step_id in cycle
            if workflow.by_id[step_id].kind is StepKind.DECISION
            and any(target not in cycle for target in arrows[step_id])
        }
        if ways_out:
            waiting += cycles([step_id for step_id in cycle if step_id not in ways_out], arrows)
        else:
            first = workflow.by_id[cycle[0]]
            yield _issue("unbounded_loop", first, f"no decision leads out of {' -> '.join(cycle)}")


def missing_terminal(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report a workflow none of whose terminals can be reached."""
    reached = _reachable_steps(workflow)
    if not any(step.id in reached for step in workflow.of_kind(StepKind.TERMINAL)):
        message = "no path leads to a terminal: say where the work ends"
        yield LintIssue(
            check="missing_terminal", severity=Severity.ERROR, step_id="", message=message
        )


def danger_without_check(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report destructive commands that a path reaches without a decision or a checking step.

    The issue is a warning: a page may demand it at once, and whoever follows it sees the issue.
    Checklists are exempt: the page states its own conditions, and its straight line is no path.
    """
    if not workflow.steps or workflow.is_checklist:
        return
    unchecked = reachable(
        workflow.steps[0].id,
        successors(workflow.transitions),
        passes=lambda step_id: not _is_check(workflow.by_id[step_id]),
    )
    for step in workflow.steps:
        danger = _unguarded_danger(step) if step.id in unchecked else None
        if danger:
            command, what = danger
            message = f"{command!r} {what}; a path leads here without any check"
            yield _issue("danger_without_check", step, message, severity=Severity.WARNING)


def unbound_placeholder(workflow: Workflow, bindings: Bindings) -> Iterator[LintIssue]:
    """Report placeholders in commands that neither the ticket nor an earlier command fills."""
    filled = set(bindings)
    for step in workflow.steps:
        for command in step.commands:
            filled |= assigned_variables(command)
            for name in placeholders(command):
                if placeholder_name(name) not in filled:
                    message = f"nothing says what {name!r} is in {command!r}"
                    yield _issue("unbound_placeholder", step, message, severity=Severity.WARNING)


def unsourced_step(workflow: Workflow, _bindings: Bindings) -> Iterator[LintIssue]:
    """Report steps without citations."""
    for step in workflow.steps:
        if not step.is_sourced:
            yield _issue(
                "unsourced_step",
                step,
                "no source: the planner's own step",
                severity=Severity.WARNING,
            )


STRUCTURE_CHECKS: tuple[Check, ...] = (
    unreachable_step,
    dead_end,
    terminal_exit,
    too_few_exits,
    equal_exits,
    unbounded_loop,
    missing_terminal,
)
"""Checks of the graph alone."""

CHECKS: tuple[Check, ...] = (
    *STRUCTURE_CHECKS,
    danger_without_check,
    unbound_placeholder,
    unsourced_step,
)


def _reachable_steps(workflow: Workflow) -> set[str]:
    if not workflow.steps:
        return set()
    return reachable(workflow.steps[0].id, successors(workflow.transitions))


def _is_check(step: Step) -> bool:
    """Return True if the step makes its reader look before going on."""
    if step.kind is StepKind.DECISION or is_read_only_step(step):
        return True
    return bool(step.commands) and all(effect_of(command).only_looks for command in step.commands)


def _unguarded_danger(step: Step) -> tuple[str, str] | None:
    """Return a step's destructive command and its effect, unless the step checks first."""
    if begins_with_condition(step.text) or is_read_only_step(step):
        return None
    for command in step.commands:
        effect = effect_of(command)
        if effect.level is EffectLevel.DESTROYS:
            return command, effect.what
        if effect.only_looks:
            return None
    danger = danger_in_prose(step.text)
    return (step.text, danger.what) if danger else None


def _issue(
    check: str, step: Step, message: str, *, severity: Severity = Severity.ERROR
) -> LintIssue:
    where = f"step {step.id!r} ({step.text[:60]}): {message}"
    return LintIssue(check=check, severity=severity, step_id=step.id, message=where)
