import random

import pytest

from evaluation.benches.fitting import NothingToFitError, curve_of, fit
from evaluation.benches.scorer import ScorerBench
from evaluation.benches.scorer_parts import alone, figures_by_part, merged_by, parts_of
from evaluation.benches.scorer_setup import Choice, ChoiceError, provenance
from evaluation.benches.workflows import gold
from evaluation.measures.falling_scores import Judged
from evaluation.pairs import Pair
from services.contracts.scorer import DIMENSIONS, Dimension, Score
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import Message
from services.llm.scripted import ScriptedChatModel
from services.scorer.service import ScorerService
from services.scorer.weights import Curve, ModelWeights, Weights
from tests.unit.evaluation.walks import Library, pair
from tests.unit.scorer.judging import sheet, shown


def score(**parts: float) -> Score:
    value = parts.get("evidence", 3.0)
    return Score(
        **{name: Dimension(value=value, reason="", parts=dict(parts)) for name in DIMENSIONS}
    )


def case(number: int, original: Score, worse: Score, kind: str = "missing") -> Judged:
    return Judged(
        Pair(id=f"p{number}", forms={"q": "x"}), original, {kind: {0: {0.5: worse}}}, False
    )


def cases(kind: str, *, judge_sees: bool, evidence_sees: bool, count: int = 60) -> list[Judged]:
    """References against worse copies, told apart by whom it is said, with some noise."""
    rng = random.Random(kind)
    found = []
    for number in range(count):
        gain = {"judge": judge_sees, "evidence": evidence_sees}
        base = {part: rng.uniform(2.5, 3.5) for part in gain}
        worse = {part: value - gain[part] + rng.uniform(-0.4, 0.4) for part, value in base.items()}
        found.append(case(number, score(**base), score(**worse), kind))
    return found


def share(fitted: ModelWeights, part: str) -> float:
    return fitted.weights["coverage"][part]


def test_a_part_that_sees_what_the_evidence_does_not_gets_a_say():
    judged = cases("missing", judge_sees=True, evidence_sees=False)
    fitted = fit(judged, "a test")
    assert share(fitted, "judge") > 0.3
    figures = fitted.figures["missing"]
    assert figures["merged"] > figures["evidence"]


def test_a_part_that_sees_nothing_gets_no_say():
    judged = cases("missing", judge_sees=False, evidence_sees=True)
    assert share(fit(judged, "a test"), "judge") < 0.1


def test_a_part_that_minds_other_words_is_heard_less():
    judged = cases("missing", judge_sees=True, evidence_sees=False)
    touchy = cases("reworded", judge_sees=True, evidence_sees=False)
    plain, minding = fit(judged, "a test"), fit([*judged, *touchy], "a test")
    assert share(minding, "judge") < share(plain, "judge")


def test_weights_are_shares_and_the_same_for_the_same_figures():
    judged = cases("missing", judge_sees=True, evidence_sees=True)
    first, second = fit(judged, "a test"), fit(judged, "a test")
    assert first == second
    for shares in first.weights.values():
        assert sum(shares.values()) == pytest.approx(1, abs=0.01)
        assert min(shares.values()) >= 0


def test_nothing_is_fitted_on_odd_ids():
    odd = [
        c for c in cases("missing", judge_sees=True, evidence_sees=False) if not c.pair.is_fitted
    ]
    with pytest.raises(NothingToFitError):
        fit(odd, "a test")


def test_a_handful_of_ids_is_not_enough():
    judged = cases("missing", judge_sees=True, evidence_sees=False, count=12)
    with pytest.raises(NothingToFitError, match="got"):
        fit(judged, "a test")


def test_evidence_alone_is_nothing_to_fit():
    with pytest.raises(NothingToFitError):
        fit([case(n, score(), score()) for n in range(8)], "a test")


def test_the_curve_puts_the_middle_half_of_the_means_between_two_and_four():
    shown_on = Curve()
    means = [-3.0, -2.5, -2.0, -1.5, -1.0]
    judged = [
        case(n, score(likelihood=shown_on.value(mean)), score(likelihood=shown_on.value(mean)))
        for n, mean in enumerate(means)
    ]
    curve = curve_of(judged)
    assert curve.value(-2.5) == pytest.approx(2, abs=0.01)
    assert curve.value(-2.0) == pytest.approx(3, abs=0.01)
    assert curve.value(-1.5) == pytest.approx(4, abs=0.01)


def test_each_part_is_shown_alone_and_merged_by_what_was_fitted():
    judged = [case(n, score(evidence=3, judge=4), score(evidence=4, judge=1)) for n in range(3)]
    half = {name: {"evidence": 0.5, "judge": 0.5} for name in DIMENSIONS}
    rows = figures_by_part(judged, ModelWeights(weights=half, provenance="a test"))
    assert {name: row["auc"] for name, row in rows.items()} == {
        "missing: evidence": 0,
        "missing: judge": 1,
        "missing: merged": 1,
    }
    assert rows["missing: merged"]["change"] == pytest.approx(-1)


def test_a_tie_is_counted():
    rows = figures_by_part([case(0, score(evidence=3, judge=4), score(evidence=2, judge=4))], None)
    assert rows["missing: judge"]["ties"] == 1
    assert rows["missing: evidence"]["ties"] == 0


def test_a_case_that_a_part_has_not_seen_whole_is_not_counted_for_it():
    half_seen = case(0, score(evidence=3, judge=4), score(evidence=2))
    assert alone(half_seen, "judge") is None
    assert merged_by(half_seen, None).original.overall == 3


def judged_by_length() -> ScriptedChatModel:
    """A judge that likes many steps, on a server that tells log-probabilities too."""

    class Telling(ScriptedChatModel):
        def log_probabilities(
            self, messages: list[Message], text: str, *, timeout_s: float | None = None
        ) -> list[float]:
            return [-1.0 - 10 / len(text)]

    return Telling(
        lambda request: [
            sheet({label: min(5, text.count("\n")) for label, text in shown(request).items()})
        ]
    )


def test_the_bench_shows_parts_on_ids_nothing_was_fitted_on():
    library, embedder = Library(), HashingEmbedder()
    bench = ScorerBench(
        find_context=lambda _pair, ticket: library.retrieve_for(ticket.title),
        gold_context=gold(library, library.read),
        scorer=ScorerService(embedder, model=judged_by_length(), weights=Weights()),
        embedder=embedder,
        draws=1,
        seed=0,
        severities=(0.5,),
    )
    pairs = [pair("fan.md"), pair("bgp.md")]
    report = bench.run(pairs, {}, lambda: None).model_dump()
    odd = sum(not each.is_fitted for each in pairs)
    assert odd
    assert report["parts"]["missing: judge"]["n"] == odd
    assert report["parts"]["missing: likelihood"]["auc"] == 1
    judged = bench.judge(pairs[0], pairs)
    assert set(parts_of(judged.original)) == {"evidence", "judge", "likelihood"}
    assert list(judged.worse["missing"][0]) == [0.5]


def test_choices_are_read_and_wrong_ones_refused():
    choice = Choice.of([pair("fan.md")], "0.3, 0.5", "evidence,judge", draws=1, seed=3)
    assert choice.severities == (0.3, 0.5)
    assert "seed 3" in provenance("pairs.jsonl", choice, 0)
    for severities, parts in (("x", "evidence"), ("0.1", "oracle")):
        with pytest.raises(ChoiceError):
            Choice.of([], severities, parts, draws=1, seed=0)
