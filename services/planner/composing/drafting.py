"""Assembly of a draft from a plan and its values: page, procedure, bindings, questions, issues."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from services.contracts.composing import (
    ChangeSeverity,
    ComposeAnswer,
    ComposedCall,
    ComposedChange,
    ComposedValue,
    ComposeQuestion,
    Composition,
    ValueOrigin,
)
from services.language.names import parts_of
from services.planner.composing.component import ComponentEffect, Components
from services.planner.composing.filling import StepArguments, fill_calls
from services.runbook.checking.walker import findings
from services.runbook.lowering import lower
from services.runbook.markdown import write_steps
from services.runbook.model import Body, Do, Node, Procedure
from services.workflow.effects.effect import EffectLevel, effect_of
from services.workflow.effects.table import danger_in_prose
from services.workflow.lint import Severity, lint
from services.workflow.model import StepKind, Workflow

_DOCUMENT = "composed.md"
_LONGEST_TITLE = 80
_MOST = 200
_DESTROYS = frozenset(
    {"delete", "deletes", "remove", "removes", "drop", "drops", "destroy", "destroys"}
    | {"purge", "purges", "wipe", "wipes", "erase", "erases", "truncate", "truncates"}
    | {"format", "formats", "terminate", "terminates", "uninstall", "shutdown", "poweroff", "flush"}
)
"""Verbs that mean loss or an outage."""


def build_draft(
    procedure: Procedure,
    calls: Sequence[ComposedCall],
    arguments: StepArguments,
    *,
    title: str,
    instructions: Sequence[str],
    answers: Sequence[ComposeAnswer],
    components: Components,
    composed_by: str,
    questions: Sequence[ComposeQuestion] = (),
    notes: Sequence[str] = (),
) -> Composition:
    """Build the draft of a plan; `questions` and `notes` are the planner's own."""
    filled_calls = fill_calls(
        calls, arguments, instructions=instructions, answers=answers, components=components
    )
    title = title or title_of(instructions)
    text, cited = write_page(title, instructions, procedure, filled_calls.calls)
    workflow = lower(cited, _DOCUMENT) if cited.body else Workflow(title=title, steps=())
    wrong = lint(workflow) if cited.body else []
    messages = [str(each) for each in wrong if each.check != "unsourced_step"]
    messages += [f"path: {each}" for each in findings(cited)] if cited.body else []
    dangers = changes_of(filled_calls.calls, components)
    answered = {each.question for each in answers}
    open_questions = [*(q for q in questions if q.id not in answered), *filled_calls.questions]
    return Composition(
        said=tuple(instructions),
        answers=tuple(answers),
        title=title,
        text=text,
        procedure=cited,
        calls=tuple(filled_calls.calls),
        bindings=tuple(_bindings(workflow, filled_calls.calls)),
        questions=tuple({q.id: q for q in open_questions}.values())[:500],
        findings=tuple(messages)[:_MOST],
        errors=sum(1 for each in wrong if each.severity is Severity.ERROR),
        changes=dangers,
        words=confirmation_words(dangers),
        notes=tuple(dict.fromkeys([*notes, *filled_calls.struck]))[:_MOST],
        composed_by=composed_by,
    )


def title_of(instructions: Sequence[str]) -> str:
    """Derive a title from the instructions."""
    words = " ".join((instructions[0] if instructions else "Untitled").split())
    if len(words) <= _LONGEST_TITLE:
        return words.rstrip(" .")
    return f"{words[:_LONGEST_TITLE].rsplit(' ', 1)[0]} …"


def _bindings(workflow: Workflow, calls: Sequence[ComposedCall]) -> list[dict[str, Any]]:
    """Return bindings in the executor's form; see `services/execution/bindings/binding.py`."""
    by_step: Mapping[str, ComposedCall] = {call.step: call for call in calls}
    bindings: list[dict[str, Any]] = []
    for step in workflow.steps:
        call = by_step.get(step.node)
        if step.kind is not StepKind.PROCESS or call is None:
            continue
        bindings.append(
            {
                "step": step.id,
                "tool": call.component,
                "target": "",
                "arguments": {
                    name: value.model_dump(mode="json") for name, value in call.parameters.items()
                },
                "answers": [],
                "why": "it was composed so" if call.component else "no component does it",
            }
        )
    return bindings


def changes_of(calls: Iterable[ComposedCall], components: Components) -> tuple[ComposedChange, ...]:
    """Return the steps that do more than read; a step not known to be read-only counts."""
    changes = []
    for call in calls:
        component = components.find(call.component) if call.component else None
        if component is not None and component.effect is ComponentEffect.READ:
            continue
        what = _describe_destruction(call)
        is_manual = component is None and not call.options
        if not what and is_manual:
            continue
        changes.append(
            ComposedChange(
                step=call.step,
                text=call.does,
                component=call.component,
                danger=ChangeSeverity.DESTROYS if what else ChangeSeverity.CHANGES,
                what=what,
            )
        )
    return tuple(changes)


def confirmation_words(composed_changes: Iterable[ComposedChange]) -> str:
    """Return the confirmation that names the destructive steps; empty if there are none."""
    named = dict.fromkeys(
        each.component or each.step
        for each in composed_changes
        if each.danger is ChangeSeverity.DESTROYS
    )
    return f"destroy with {', '.join(named)}" if named else ""


def _describe_destruction(call: ComposedCall) -> str:
    danger = danger_in_prose(call.does) or danger_in_prose(describe_call(call))
    if danger:
        return danger.what
    for value in call.parameters.values():
        effect = effect_of(value.value) if " " in value.value else None
        if effect and effect.level is EffectLevel.DESTROYS:
            return effect.what
    words = [
        part.casefold() for piece in re.split(r"[\W_]+", call.component) for part in parts_of(piece)
    ]
    first = re.match(r"\W*(\w+)", call.does)
    verbs = _DESTROYS.intersection(words) or (
        _DESTROYS.intersection([first[1].casefold()] if first else [])
    )
    return f"it is to {min(verbs)}" if verbs else ""


def write_page(
    title: str, instructions: Sequence[str], procedure: Procedure, calls: Sequence[ComposedCall]
) -> tuple[str, Procedure]:
    """Write the page; return it and the procedure with each node's lines and each step's call."""
    by_step = {call.step: call for call in calls}

    def with_call(node: Node) -> Body:
        if not isinstance(node, Do):
            return (node,)
        call = by_step.get(node.id)
        does = _line(call.does if call else node.text).rstrip(".")
        by = describe_call(call) if call else ""
        return (node.model_copy(update={"text": f"{does} ({by})" if by else does}),)

    lines = [f"# {_line(title)}", "", "Composed from what was asked for:", ""]
    quoted = [line for each in instructions for line in (f"> {_line(each)}", ">")]
    lines += [*quoted[:-1], *([""] if quoted else []), "## Steps", ""]
    heading = len(lines) - 1
    body = write_steps(Procedure(title="", body=procedure.body).map(node=with_call).body, lines)
    update = {"title": title, "treats": title, "body": body, "lines": ((heading, len(lines)),)}
    return "\n".join(lines) + "\n", procedure.model_copy(update=update)


def describe_call(call: ComposedCall) -> str:
    """Return the call in one line, component and parameters; empty if a person does it."""
    if not call.component:
        return ""
    arguments = ", ".join(f"{name}={display_value(name, v)}" for name, v in call.parameters.items())
    return f"{call.component}: {arguments}" if arguments else call.component


def display_value(name: str, value: ComposedValue) -> str:
    """Return a value as people read it; an unknown one becomes a placeholder."""
    if value.origin is ValueOrigin.PERSON:
        return value.value or f"<{name}>"
    if value.origin is ValueOrigin.LABEL:
        return f"<{value.value}>"
    if value.origin is ValueOrigin.FIELD:
        return f"[{value.value}]"
    text = _line(value.value)
    return f'"{text}"' if " " in text or "," in text else text


def _line(text: str) -> str:
    return " ".join(text.split())
