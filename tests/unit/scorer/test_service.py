import random

import pytest

from evaluation.perturbations.kinds import Perturbation
from evaluation.perturbations.perturb import perturb
from services.contracts.planner import Candidate
from services.contracts.scorer import ScoreRequest
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import KnowledgeContext
from services.scorer.service import ScorerService
from services.workflow.model import Provenance, Step, StepKind, Transition, Workflow
from tests.unit.scorer.cases import CONTEXT, EDGES, GOOD, OPTICS, STEPS, TICKET, changed, score

FOREIGN = (
    STEPS[0].model_copy(update={"text": "Renew the certificate of the web shop", "citations": ()}),
)


def test_a_workflow_that_follows_its_sources_scores_high_on_everything():
    (scored,) = score(GOOD)
    assert all(dimension.value >= 3 for dimension in scored.score.dimensions.values())


def test_every_dimension_says_what_it_saw():
    (scored,) = score(GOOD)
    assert "switches/fan-tray.md" in scored.score.relevance.reason
    assert "5 of 5 lines" in scored.score.coverage.reason
    assert "6 of 6" in scored.score.accuracy.reason


@pytest.mark.parametrize(
    "kind", [Perturbation.MISSING, Perturbation.SHUFFLED, Perturbation.FOREIGN]
)
def test_the_score_falls_when_the_workflow_is_made_worse(kind):
    worse = [perturb(GOOD, kind, 0.5, random.Random(seed), FOREIGN) for seed in range(5)]
    original, *others = score(GOOD, *worse)
    assert all(other.score.overall < original.score.overall for other in others)


def test_a_missing_step_is_named_by_coverage():
    without = Workflow(title="", steps=STEPS[:4], transitions=EDGES[:3])
    whole, part = score(GOOD, without)
    assert part.score.coverage.value < whole.score.coverage.value
    assert "Blow the dust out" in part.score.coverage.reason


def test_a_step_that_no_source_says_lowers_accuracy_and_is_quoted():
    whole, wrong = score(GOOD, changed(e="Reinstall the operating system"))
    assert wrong.score.accuracy.value < whole.score.accuracy.value
    assert "Reinstall the operating system" in wrong.score.accuracy.reason


def test_a_command_that_no_source_holds_lowers_accuracy():
    steps = tuple(
        step.model_copy(update={"commands": ("reload in 1",)}) if step.commands else step
        for step in STEPS
    )
    whole, wrong = score(GOOD, Workflow(title="", steps=steps, transitions=EDGES))
    assert wrong.score.accuracy.value < whole.score.accuracy.value


def test_a_workflow_of_another_fault_is_less_relevant():
    other = Workflow(
        title="",
        steps=(
            STEPS[1].model_copy(update={"text": OPTICS.name, "commands": (), "citations": ()}),
            STEPS[3].model_copy(update={"text": "Clean the connector of the fibre"}),
        ),
        transitions=(Transition(source="b", target="d"),),
    )
    right, wrong = score(GOOD, other)
    assert wrong.score.relevance.value < right.score.relevance.value


def test_saying_a_step_twice_is_less_concise():
    whole, doubled = score(GOOD, changed(b=STEPS[4].text))
    assert doubled.score.conciseness.value < whole.score.conciseness.value
    assert "said twice" in doubled.score.conciseness.reason


def line(*texts: str) -> Workflow:
    steps = tuple(
        Step(
            id=str(n),
            kind=StepKind.PROCESS if n < len(texts) - 1 else StepKind.TERMINAL,
            text=text,
        )
        for n, text in enumerate(texts)
    )
    edges = tuple(Transition(source=str(n), target=str(n + 1)) for n in range(len(texts) - 1))
    return Workflow(title="", steps=steps, transitions=edges)


def test_saying_nearly_the_same_twice_in_a_row_is_less_concise():
    once = [step.text for step in STEPS]
    again = [*once[:2], "Now read the fan speeds of the failed tray again", *once[2:]]
    short, long = score(line(*once), line(*again))
    assert long.score.conciseness.value < short.score.conciseness.value


def test_two_branches_may_ask_for_the_same_check():
    def tree(check: str) -> Workflow:
        steps = (
            STEPS[2],
            Step(id="x", kind=StepKind.PROCESS, text="Read the fan speeds of the failed tray"),
            Step(id="y", kind=StepKind.PROCESS, text=check),
            STEPS[5],
        )
        edges = (
            Transition(source="c", target="x", condition="Yes"),
            Transition(source="c", target="y", condition="No"),
            Transition(source="x", target="f"),
            Transition(source="y", target="f"),
        )
        return Workflow(title="", steps=steps, transitions=edges)

    twins, others = score(
        tree("Read the fan speeds of the failed tray"),
        tree("Blow the dust out of the blocked rotor"),
    )
    assert twins.score.conciseness.value == others.score.conciseness.value


def test_branches_that_one_run_does_not_take_do_not_make_it_longer():
    long = line(*(f"Look at rotor number {n}x{n} of tray {n}" for n in range(60)))
    start = Step(id="q", kind=StepKind.DECISION, text="Which rotor of the tray is blocked?")
    ends = tuple(step.model_copy(update={"kind": StepKind.TERMINAL}) for step in long.steps)
    edges = tuple(Transition(source="q", target=s.id, condition=f"rotor {s.id}") for s in ends)
    wide = Workflow(title="", steps=(start, *ends), transitions=edges)
    deep_score, wide_score = score(long, wide)
    assert deep_score.score.conciseness.value < wide_score.score.conciseness.value


def test_a_workflow_that_hardly_begins_is_not_concise():
    whole, thin = score(GOOD, Workflow(title="", steps=STEPS[3:4]))
    assert thin.score.conciseness.value < whole.score.conciseness.value


@pytest.mark.parametrize(
    "texts",
    [
        ("Check the system", "Investigate the issue", "Apply the fix", "Verify the system"),
        (STEPS[0].text, STEPS[5].text),
        tuple(step.text for step in STEPS if step.kind is not StepKind.DECISION),
        tuple(step.text for step in (*STEPS, *STEPS)),
        (STEPS[0].text, *[STEPS[1].text] * 8),
    ],
    ids=["vague", "beginning and end", "no decision", "all twice", "one step over and over"],
)
def test_a_complete_workflow_outranks_what_models_write_on_a_bad_day(texts):
    whole, bad = score(GOOD, line(*texts))
    assert whole.score.overall > bad.score.overall + 0.1


def test_answers_that_lead_the_wrong_way_are_less_coherent():
    steps = (
        Step(id="q", kind=StepKind.DECISION, text="Is the tray present in its bay?"),
        Step(id="r", kind=StepKind.DECISION, text="Is a rotor of the tray blocked by dust?"),
        Step(id="d", kind=StepKind.TERMINAL, text="Push the tray in until its latch clicks"),
        Step(id="e", kind=StepKind.TERMINAL, text="Blow the dust out of the blocked rotor"),
        Step(id="f", kind=StepKind.TERMINAL, text="The exhaust temperature falls again"),
    )

    def workflow(yes: str, no: str) -> Workflow:
        edges = (
            Transition(source="q", target=yes, condition="Yes"),
            Transition(source="q", target=no, condition="No"),
            Transition(source="r", target="e", condition="Yes"),
            Transition(source="r", target="f", condition="No"),
        )
        return Workflow(title="", steps=steps, transitions=edges)

    right, wrong = score(workflow("r", "d"), workflow("d", "r"))
    assert wrong.score.coherence.value < right.score.coherence.value


def test_a_workflow_with_lint_errors_comes_after_clean_ones():
    broken = Workflow(title="", steps=STEPS, transitions=EDGES[:-1])
    thin = Workflow(title="", steps=STEPS[3:4])
    candidates = tuple(Candidate(id=n, workflow=w) for n, w in (("broken", broken), ("thin", thin)))
    request = ScoreRequest(ticket=TICKET, context=CONTEXT, candidates=candidates)
    ranked = ScorerService(HashingEmbedder()).score(request).ranked
    assert [scored.candidate.id for scored in ranked] == ["thin", "broken"]


def test_what_the_lines_speak_against_is_named():
    steps = (STEPS[0], STEPS[4], STEPS[1], STEPS[5])
    edges = tuple(Transition(source=a, target=b) for a, b in (("a", "e"), ("e", "b"), ("b", "f")))
    whole, turned = score(GOOD, Workflow(title="", steps=steps, transitions=edges))
    assert "speak against" in turned.score.coherence.reason
    assert turned.score.coherence.value < whole.score.coherence.value


def test_without_knowledge_every_candidate_still_comes_back():
    request = ScoreRequest(
        ticket=TICKET,
        context=KnowledgeContext(),
        candidates=(Candidate(id="a", workflow=GOOD), Candidate(id="b", workflow=GOOD)),
    )
    ranked = ScorerService(HashingEmbedder()).score(request).ranked
    assert {scored.candidate.id for scored in ranked} == {"a", "b"}
    assert ranked[0].score.accuracy.value < 2


def test_an_empty_workflow_gets_the_lowest_coverage():
    whole, empty = score(GOOD, Workflow(title="", steps=()))
    assert empty.score.coverage.value < 2 < whole.score.coverage.value


def test_no_decision_that_a_person_has_approved_is_shown_as_doubtful():
    doubts = {}
    for state in ("read", "checklist", "approved"):
        origin = Provenance(planner="extractive", reader="model", state=state)
        shuffled = perturb(GOOD, Perturbation.SHUFFLED, 1.0, random.Random(1), FOREIGN)
        unclear = shuffled.steps[1].model_copy(update={"doubt": "The page is not clear"})
        steps = (shuffled.steps[0], unclear, *shuffled.steps[2:])
        (scored,) = score(shuffled.model_copy(update={"provenance": origin, "steps": steps}))
        doubts[state] = [step.doubt for step in scored.candidate.workflow.steps if step.doubt]
    assert doubts["read"] == doubts["checklist"]
    assert len(doubts["read"]) > 1
    assert doubts["approved"] == []
