import random

import pytest

from evaluation.perturbations.branches import hands_over
from evaluation.perturbations.kinds import TO_STEPS, Perturbation, PerturbationError
from evaluation.perturbations.perturb import perturb
from services.workflow.formats.mermaid import from_mermaid
from services.workflow.lint import is_clean, lint
from services.workflow.model import Citation, StepKind, Workflow

FAN = from_mermaid("""flowchart TD
    look[Read the fan speeds] --> loose{Is the tray loose?}
    loose -->|yes| push[Push the tray in]
    loose -->|no| dusty{Is the filter full of dust?}
    push --> again[Read the fan speeds once more]
    dusty -->|yes| clean[Clean the filter]
    dusty -->|no| handover([Escalate to the hardware team])
    clean --> again
    again --> fast{Do all fans turn?}
    fast -->|yes| done([Resolved])
    fast -->|no| handover
""")
MISTAKES = [kind for kind in Perturbation if kind not in TO_STEPS]


def arrows(workflow: Workflow) -> set[tuple[str, str]]:
    return {(edge.source, edge.target) for edge in workflow.transitions}


def all_of(workflow: Workflow, kind: Perturbation) -> list[Workflow]:
    """What comes of the least severity, whichever occasion is drawn."""
    return [perturb(workflow, kind, 0.01, random.Random(seed)) for seed in range(25)]


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_leaves_a_clean_workflow(kind: Perturbation) -> None:
    for seed in range(10):
        copy = perturb(FAN, kind, 0.5, random.Random(seed))
        assert copy != FAN
        assert is_clean(lint(copy))


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_workflow_without_occasion_is_refused(kind: Perturbation) -> None:
    with pytest.raises(PerturbationError):
        perturb(from_mermaid("flowchart TD\nA([Push the tray in])"), kind, 0.5, random.Random(1))


def test_more_of_a_mistake_is_made_with_more_severity() -> None:
    copies = [perturb(FAN, Perturbation.UNGUARDED, 1.0, random.Random(seed)) for seed in range(25)]
    assert any({("clean", "dusty"), ("push", "loose")} <= arrows(copy) for copy in copies)


def test_an_unguarded_step_stands_before_its_question() -> None:
    expected = {("loose", "clean"), ("clean", "dusty"), ("dusty", "again")}
    assert any(expected <= arrows(copy) for copy in all_of(FAN, Perturbation.UNGUARDED))
    assert all(len(copy.steps) == len(FAN.steps) for copy in all_of(FAN, Perturbation.UNGUARDED))


def test_an_escalation_ends_every_path() -> None:
    for copy in all_of(FAN, Perturbation.ESCALATED):
        assert [step.id for step in copy.of_kind(StepKind.TERMINAL)] == ["handover"]
        assert "done" not in copy.by_id


def test_an_end_that_a_line_says_is_done_before_the_escalation() -> None:
    line = Citation(document_id="fan.md", start_line=9, end_line=9)
    steps = [s.model_copy(update={"citations": (line,)}) for s in FAN.steps]
    copy = perturb(
        FAN.model_copy(update={"steps": tuple(steps)}),
        Perturbation.ESCALATED,
        0.3,
        random.Random(1),
    )
    assert ("done", "handover") in arrows(copy)
    assert copy.by_id["done"].kind is StepKind.PROCESS


def test_an_escalating_action_stands_before_its_question() -> None:
    workflow = from_mermaid(
        "flowchart TD\nA[Look] --> B{Hot?}\nB -->|yes| C[Open a case]\nC --> D([Wait])\nB -->|no| D"
    )
    copy = perturb(workflow, Perturbation.ESCALATED, 0.3, random.Random(1))
    assert {("A", "C"), ("C", "B")} <= arrows(copy)


def test_a_lost_precondition_leaves_its_step() -> None:
    copies = all_of(FAN, Perturbation.PRECONDITION_LOST)
    direct = next(copy for copy in copies if "loose" not in copy.by_id)
    assert ("look", "push") in arrows(direct)
    assert "dusty" not in direct.by_id


def test_a_check_before_an_action_can_be_lost() -> None:
    workflow = from_mermaid(
        "flowchart TD\nA[Check the voltage] --> B[Replace the fan]\nB --> C([Done])"
    )
    copy = perturb(workflow, Perturbation.PRECONDITION_LOST, 0.3, random.Random(1))
    assert arrows(copy) == {("B", "C")}
    assert copy.steps[0].id == "B"


def test_a_lost_stop_goes_on_with_the_next_step() -> None:
    workflow = from_mermaid(
        "flowchart TD\nA{Loose?} -->|yes| B[Push]\nB --> Z([Resolved])\nA -->|no| C[Clean]\nC --> Z"
    )
    ordered = [workflow.by_id[name] for name in "ABCZ"]
    copy = perturb(
        workflow.model_copy(update={"steps": tuple(ordered)}),
        Perturbation.STOP_LOST,
        0.3,
        random.Random(1),
    )
    assert ("B", "C") in arrows(copy)
    assert ("B", "Z") not in arrows(copy)


def test_a_lost_jump_goes_to_the_next_step() -> None:
    back = from_mermaid(
        "flowchart TD\nA[Look] --> B{Up?}\nB -->|no| A\nB -->|yes| C[Note it]\nC --> D([Done])"
    )
    copy = perturb(back, Perturbation.JUMP_LOST, 0.3, random.Random(1))
    assert [edge.target for edge in copy.exits("B")] == ["C", "C"]


def test_neighbouring_remedies_change_places() -> None:
    for copy in all_of(FAN, Perturbation.NEIGHBOUR):
        assert arrows(copy) == arrows(FAN)
        assert copy.by_id["push"].text == "Clean the filter"
        assert copy.by_id["clean"].text == "Push the tray in"


def test_a_branch_that_came_back_ends() -> None:
    copies = all_of(FAN, Perturbation.NOT_REJOINED)
    assert any(("push", "done") in arrows(copy) for copy in copies)


def test_an_invented_gate_has_a_way_past_the_step() -> None:
    for copy in all_of(FAN, Perturbation.INVENTED_GATE):
        (gate,) = (step for step in copy.of_kind(StepKind.DECISION) if step.id not in FAN.by_id)
        assert gate.text.startswith("Is ")
        assert {edge.condition for edge in copy.exits(gate.id)} == {"Yes", "No"}
        (step,) = (edge.target for edge in copy.exits(gate.id) if edge.condition == "Yes")
        assert step in {"look", "again"}
        assert (copy.steps[0] == gate) == (step == "look")


def test_handing_over_is_told_by_its_words() -> None:
    assert [step.id for step in FAN.steps if hands_over(step)] == ["handover"]
