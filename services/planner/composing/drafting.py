"""A plan and its values as a draft: page, procedure, bindings, questions and what is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

from services.contracts.composing import (
    ComposeAnswer,
    ComposedCall,
    ComposeQuestion,
    Composition,
)
from services.planner.composing.catalogue.component import Components
from services.planner.composing.dangers import changes, words_for
from services.planner.composing.filling import Given, filled
from services.planner.composing.page import written
from services.procedure.checking.walker import findings
from services.procedure.lowering import lower
from services.procedure.model import Procedure
from services.workflow.lint import Severity, lint
from services.workflow.model import StepKind, Workflow

_DOCUMENT = "composed.md"
_LONGEST_TITLE = 80
_MOST = 200


def draft(
    procedure: Procedure,
    calls: Sequence[ComposedCall],
    given: Given,
    *,
    title: str,
    said: Sequence[str],
    answers: Sequence[ComposeAnswer],
    components: Components,
    composed_by: str,
    questions: Sequence[ComposeQuestion] = (),
    notes: Sequence[str] = (),
) -> Composition:
    """The draft that comes of it; `questions` and `notes` are those of whoever planned it."""
    found = filled(calls, given, said=said, answers=answers, components=components)
    title = title or title_of(said)
    text, cited = written(title, said, procedure, found.calls)
    workflow = lower(cited, _DOCUMENT) if cited.body else Workflow(title=title, steps=())
    wrong = lint(workflow) if cited.body else []
    told = [str(each) for each in wrong if each.check != "unsourced_step"]
    told += [f"path: {each}" for each in findings(cited)] if cited.body else []
    dangers = changes(found.calls, components)
    answered = {each.question for each in answers}
    asked = [*(q for q in questions if q.id not in answered), *found.questions]
    return Composition(
        said=tuple(said),
        answers=tuple(answers),
        title=title,
        text=text,
        procedure=cited,
        calls=tuple(found.calls),
        bindings=tuple(_bindings(workflow, found.calls)),
        questions=tuple({q.id: q for q in asked}.values())[:500],
        findings=tuple(told)[:_MOST],
        errors=sum(1 for each in wrong if each.severity is Severity.ERROR),
        changes=dangers,
        words=words_for(dangers),
        notes=tuple(dict.fromkeys([*notes, *found.struck]))[:_MOST],
        composed_by=composed_by,
    )


def title_of(said: Sequence[str]) -> str:
    """A title of what was asked for, where nobody gave one."""
    words = " ".join((said[0] if said else "Untitled").split())
    if len(words) <= _LONGEST_TITLE:
        return words.rstrip(" .")
    return f"{words[:_LONGEST_TITLE].rsplit(' ', 1)[0]} …"


def _bindings(workflow: Workflow, calls: Sequence[ComposedCall]) -> list[dict[str, Any]]:
    """In the executor's form; see `services/executor/bindings/binding.py`."""
    by_step: Mapping[str, ComposedCall] = {call.step: call for call in calls}
    found: list[dict[str, Any]] = []
    for step in workflow.steps:
        call = by_step.get(step.node)
        if step.kind is not StepKind.PROCESS or call is None:
            continue
        found.append(
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
    return found
