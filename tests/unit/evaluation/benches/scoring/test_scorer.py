import pytest

from evaluation.benches.planning.workflows import gold
from evaluation.benches.scoring.scorer import ScorerBench, has_branches, is_measured
from evaluation.measures.falling_scores import Judged, figures_of, report
from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import Dimension, Score, ScoreResponse
from services.knowledge.embedding.embedders import HashingEmbedder
from services.scorer.service import ScorerService
from services.workflow.model import Workflow
from tests.unit.evaluation.walks import Library, pair

PAIRS = [pair("fan.md"), pair("bgp.md")]


def score(value: float) -> Score:
    dimension = Dimension(value=value, reason="")
    return Score(
        relevance=dimension,
        coverage=dimension,
        accuracy=dimension,
        coherence=dimension,
        conciseness=dimension,
    )


def judged(original: float, *draws: tuple[float, float, float], kind: str = "missing") -> Judged:
    worse = {
        number: dict(zip((0.1, 0.3, 0.5), map(score, values), strict=True))
        for number, values in enumerate(draws)
    }
    return Judged(PAIRS[0], score(original), {kind: worse}, page_added=False)


def bench(**changes: object) -> ScorerBench:
    library, embedder = Library(), HashingEmbedder()
    parts = {
        "find_context": lambda _pair, ticket: library.retrieve_for(ticket.title),
        "gold_context": gold(library, library.read),
        "scorer": ScorerService(embedder),
        "embedder": embedder,
        "draws": 2,
        "seed": 0,
    }
    return ScorerBench(**parts | changes)


def test_a_score_that_falls_with_every_step_has_tau_of_minus_one():
    figures = figures_of(judged(5, (4, 3, 2), (4.5, 4, 1)), "missing")
    assert figures is not None
    assert figures["kendall_tau"] == -1
    assert figures["auc"] == 1
    assert figures["change"] == pytest.approx(-11.5 / 6)


def test_draws_that_cancel_out_show_in_the_mean_and_not_in_each():
    figures = figures_of(judged(5, (4, 2, 3), (4, 4, 1)), "missing")
    assert figures is not None
    assert figures["tau_of_means"] == -1
    assert -1 < figures["kendall_tau"] < 0


def test_a_score_that_never_moves_has_no_tau_and_half_the_area():
    figures = figures_of(judged(3, (3, 3, 3)), "missing")
    assert figures is not None
    assert (figures["kendall_tau"], figures["auc"], figures["distance"]) == (0, 0.5, 0)


def test_a_score_that_rises_is_worse_than_chance():
    figures = figures_of(judged(1, (2, 3, 4)), "missing")
    assert figures is not None
    assert (figures["kendall_tau"], figures["auc"]) == (1, 0)


def test_a_kind_that_was_impossible_has_no_figures():
    assert figures_of(judged(3, (1, 1, 1)), "swapped") is None


def test_overall_counts_the_kinds_that_make_a_workflow_worse():
    reworded = judged(3, (4, 4, 4), kind="reworded")
    summary = report([judged(5, (4, 3, 2)), reworded], {}, 1.0)
    assert summary.overall["auc"] == 1
    assert summary.model_dump()["kinds"]["reworded"]["auc"] == 0


def test_references_score_above_what_is_made_of_them():
    summary = bench().run(PAIRS, {"seed": 0}, lambda: None)
    assert summary.sets["switches/A"]["n"] == 2
    kinds = summary.model_dump()["kinds"]
    assert set(kinds) == {"missing", "shuffled", "foreign", "reworded"}
    for kind in ("missing", "foreign"):
        assert kinds[kind]["auc"] == 1


def test_the_page_is_added_where_retrieval_missed_it():
    missed = bench(find_context=lambda _pair, _ticket: RetrievedContext())
    figures = missed.run(PAIRS, {}, lambda: None).model_dump()
    assert figures["page_added"] == 1
    assert bench().run(PAIRS, {}, lambda: None).model_dump()["page_added"] == 0


def test_what_is_scored_cites_what_the_context_can_give_it_and_foreign_steps_nothing():
    seen = []

    class Spy(ScorerService):
        def score(self, request) -> ScoreResponse:
            seen.append(request)
            return super().score(request)

    bench(scorer=Spy(HashingEmbedder())).judge(PAIRS[0], PAIRS)
    by_id = {candidate.id: candidate.workflow for candidate in seen[0].candidates}
    assert all(step.is_sourced for step in by_id["original/0.0/0"].steps)
    assert {step.citations[0].document_id for step in by_id["original/0.0/0"].steps} == {"fan.md"}


def test_the_same_seed_draws_the_same_perturbations():
    first, second = (bench().judge(PAIRS[0], PAIRS) for _ in range(2))
    assert first == second


def test_short_references_and_single_decisions_are_left_out():
    reference = PAIRS[0].reference
    assert reference is not None
    short = Workflow(title="", steps=reference.steps[:4])
    assert is_measured(PAIRS[0])
    assert not is_measured(PAIRS[0].model_copy(update={"reference": short}))
    assert not has_branches(reference)
