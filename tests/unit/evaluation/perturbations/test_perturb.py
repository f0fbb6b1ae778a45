import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.perturbations.kinds import SEVERITIES, TO_STEPS, Perturbation, PerturbationError
from evaluation.perturbations.perturb import perturb
from services.workflow.formats.mermaid import from_mermaid
from services.workflow.lint import STRUCTURE_CHECKS
from services.workflow.model import Step, StepKind, Workflow

WORKFLOW = from_mermaid("""flowchart TD
    A[Read the alert] --> B{Port up?}
    B -->|no| C[Check the cable]
    C --> D[Reseat the optic]
    D --> B
    B -->|yes| E{Errors rise?}
    E -->|yes| F[Clean the connector]
    E -->|no| G([Close])
    F --> H[Wait an hour]
    H --> I{Still rising?}
    I -->|yes| J([Escalate])
    I -->|no| G
""")
FOREIGN = tuple(
    Step(id=i, kind=StepKind.PROCESS, text=f"Bake bread {i}") for i in ("A", "B", "C", "D", "E")
)
TREES = st.builds(random.Random, st.integers(0, 10**6))


def grown(rng: random.Random) -> Workflow:
    """A sound workflow: a random tree with merges and retry loops."""
    size = rng.randint(2, 14)
    lines = ["flowchart TD"]
    for i in range(size):
        later = list(range(i + 1, size + 2))
        if rng.random() < 0.4:
            onward, other = later[0], rng.choice([*later[1:], *range(i)] or later)
            lines += [f"{i}{{q {i}}} -->|yes| {onward}", f"{i} -->|no| {other}"]
        else:
            lines.append(f"{i}[do {i}] --> {i + 1}")
    return from_mermaid("\n".join([*lines, f"{size + 1}([spare])"]))


def faults(workflow: Workflow) -> int:
    return sum(1 for check in STRUCTURE_CHECKS for _ in check(workflow, {}))


def texts(workflow: Workflow) -> list[str]:
    return [step.text for step in workflow.steps]


@pytest.mark.parametrize("kind", Perturbation)
@pytest.mark.parametrize("severity", SEVERITIES)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6))
def test_a_perturbed_workflow_is_different_and_no_less_valid(
    kind: Perturbation, severity: float, seed: int
) -> None:
    workflow = grown(random.Random(seed))
    try:
        changed = perturb(workflow, kind, severity, random.Random(seed), FOREIGN)
    except PerturbationError:
        assert kind is Perturbation.SWAPPED or kind not in TO_STEPS
        return

    assert changed != workflow
    assert faults(changed) <= faults(workflow)
    assert changed == perturb(workflow, kind, severity, random.Random(seed), FOREIGN)


@pytest.mark.parametrize(("severity", "lost"), [(0.1, 1), (0.3, 3), (0.5, 5)])
def test_missing_steps_are_a_share_and_what_led_to_them_goes_on(severity: float, lost: int) -> None:
    changed = perturb(WORKFLOW, Perturbation.MISSING, severity, random.Random(1))

    assert len(changed.steps) == len(WORKFLOW.steps) - lost
    assert set(texts(changed)) < set(texts(WORKFLOW))
    assert faults(changed) == 0


def test_a_missing_decision_hands_its_exits_on() -> None:
    workflow = from_mermaid("flowchart TD\nA[Look] --> B{Up?}\nB -->|yes| C\nB -->|no| D")
    results = (
        perturb(workflow, Perturbation.MISSING, 0.1, random.Random(seed)) for seed in range(30)
    )
    without_b = next(changed for changed in results if "B" not in changed.by_id)

    assert without_b.by_id["A"].kind is StepKind.DECISION
    assert [(t.source, t.target, t.condition) for t in without_b.transitions] == [
        ("A", "C", "yes"),
        ("A", "D", "no"),
    ]


def test_shuffled_steps_keep_the_graph_and_the_words() -> None:
    changed = perturb(WORKFLOW, Perturbation.SHUFFLED, 0.5, random.Random(1))

    moved = [a.id for a, b in zip(WORKFLOW.steps, changed.steps, strict=True) if a.text != b.text]
    assert len(moved) == 5
    assert Counter(texts(changed)) == Counter(texts(WORKFLOW))
    assert changed.transitions == WORKFLOW.transitions
    assert [(s.id, s.kind) for s in changed.steps] == [(s.id, s.kind) for s in WORKFLOW.steps]


def test_foreign_steps_come_on_top() -> None:
    changed = perturb(WORKFLOW, Perturbation.FOREIGN, 0.3, random.Random(1), FOREIGN)

    assert len(set(texts(changed)) & {step.text for step in FOREIGN}) == 3
    assert set(texts(WORKFLOW)) < set(texts(changed))


def test_reworded_steps_change_their_text_only() -> None:
    changed = perturb(WORKFLOW, Perturbation.REWORDED, 0.5, random.Random(1))

    pairs = list(zip(WORKFLOW.steps, changed.steps, strict=True))
    assert sum(a.text != b.text for a, b in pairs) == 5
    assert all(a == b.model_copy(update={"text": a.text}) for a, b in pairs)
    assert changed.transitions == WORKFLOW.transitions


@pytest.mark.parametrize(("severity", "swaps"), [(0.1, 1), (0.3, 1), (0.5, 2)])
def test_swapped_decisions_exchange_two_targets(severity: float, swaps: int) -> None:
    changed = perturb(WORKFLOW, Perturbation.SWAPPED, severity, random.Random(1))

    different = [
        (a, b)
        for a, b in zip(WORKFLOW.transitions, changed.transitions, strict=True)
        if a.target != b.target
    ]
    assert len(different) == 2 * swaps
    assert all(a.condition == b.condition and a.source == b.source for a, b in different)
    assert Counter(a.target for a, _ in different) == Counter(b.target for _, b in different)


@pytest.mark.parametrize(
    ("kind", "chart"),
    [
        (Perturbation.MISSING, "flowchart TD\nA"),
        (Perturbation.SHUFFLED, "flowchart TD\nA"),
        (Perturbation.SWAPPED, "flowchart TD\nA --> B"),
        (Perturbation.FOREIGN, "flowchart TD\nA --> B"),
    ],
)
def test_what_cannot_be_perturbed_is_refused(kind: Perturbation, chart: str) -> None:
    with pytest.raises(PerturbationError):
        perturb(from_mermaid(chart), kind, 0.5, random.Random(1))


@pytest.mark.parametrize("severity", [0.0, -1.0, 1.5])
def test_a_severity_outside_its_range_is_refused(severity: float) -> None:
    with pytest.raises(PerturbationError, match="severity"):
        perturb(WORKFLOW, Perturbation.MISSING, severity, random.Random(1))
