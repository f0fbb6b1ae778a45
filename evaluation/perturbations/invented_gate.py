"""A step that everybody does gets a question of its own, with a way past it."""

from collections.abc import Iterator

from evaluation.perturbations.branches import behind, gate_of, plain_end
from evaluation.perturbations.edit import Edit, inserted_before, unused_id
from services.language.questions import as_question, is_question, statement_to_check
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
        for template in (step, *_before(workflow, step)):
            for target in past:
                yield _gated(workflow, step, template, target)


def _before(workflow: Workflow, step: Step) -> Iterator[Step]:
    """The action that leads to the step, where only one does."""
    entries = workflow.entries(step.id)
    if len(entries) == 1 and workflow.by_id[entries[0].source].kind is StepKind.PROCESS:
        yield workflow.by_id[entries[0].source]


def _gated(workflow: Workflow, step: Step, template: Step, past: str) -> Edit:
    question_text = _question_of(template.text)
    gate = template.model_copy(
        update={
            "id": unused_id(workflow.steps),
            "kind": StepKind.DECISION,
            "text": question_text,
            "commands": (),
            "expected": "",
            "notes": (),
        }
    )
    steps, arrows = inserted_before(Edit(workflow.steps, workflow.transitions), gate, step.id)
    yes = Transition(source=gate.id, target=step.id, condition="Yes")
    no = Transition(source=gate.id, target=past, condition="No")
    return Edit(steps, [*(edge for edge in arrows if edge.source != gate.id), yes, no])


def _question_of(text: str) -> str:
    """Return the words of the step as a question."""
    if is_question(text) or statement_to_check(text):
        return as_question(text)
    clause = text.rstrip(" .")
    if begins_with_verb(clause):
        return f"Is it necessary to {clause[:1].lower()}{clause[1:]}?"
    return f"Is this so: {capitalised(clause)}?"
