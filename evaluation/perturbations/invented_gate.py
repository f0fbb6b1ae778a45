"""A step that everybody does gets a question of its own, with a way past it."""

from collections.abc import Iterator

from evaluation.perturbations.branches import behind, gate_of, plain_end
from evaluation.perturbations.edit import Edit, inserted_before, unused_id
from services.language.questions import is_check, is_question, question
from services.language.sentences import capitalised
from services.language.verbs import begins_with_verb
from services.workflow.model import Step, StepKind, Transition, Workflow


def with_gate(workflow: Workflow) -> Iterator[Edit]:
    """Each action of the common path, behind a question of its words or of those before.

    The other answer leads to what follows, or to an end.
    """
    gates, end = behind(workflow), plain_end(workflow)
    for step in workflow.steps:
        exits = workflow.exits(step.id)
        if step.kind is not StepKind.PROCESS or len(exits) != 1 or gate_of(step.id, gates):
            continue
        past = dict.fromkeys([exits[0].target, *([end.id] if end else [])])
        for told in (step, *_before(workflow, step)):
            for target in past:
                yield _gated(workflow, step, told, target)


def _before(workflow: Workflow, step: Step) -> Iterator[Step]:
    """The action that leads to the step, where only one does."""
    entries = workflow.entries(step.id)
    if len(entries) == 1 and workflow.by_id[entries[0].source].kind is StepKind.PROCESS:
        yield workflow.by_id[entries[0].source]


def _gated(workflow: Workflow, step: Step, told: Step, past: str) -> Edit:
    asked = _asked(told.text)
    gate = told.model_copy(
        update={
            "id": unused_id(workflow.steps),
            "kind": StepKind.DECISION,
            "text": asked,
            "commands": (),
            "expected": "",
            "notes": (),
        }
    )
    steps, arrows = inserted_before(Edit(workflow.steps, workflow.transitions), gate, step.id)
    yes = Transition(source=gate.id, target=step.id, condition="Yes")
    no = Transition(source=gate.id, target=past, condition="No")
    return Edit(steps, [*(edge for edge in arrows if edge.source != gate.id), yes, no])


def _asked(text: str) -> str:
    """The words of the step as a question."""
    if is_question(text) or is_check(text):
        return question(text)
    told = text.rstrip(" .")
    if begins_with_verb(told):
        return f"Is it necessary to {told[:1].lower()}{told[1:]}?"
    return f"Is this so: {capitalised(told)}?"
