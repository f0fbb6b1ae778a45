import pytest

from evaluation.benches.load.scripted_answers import scripted_answers
from evaluation.benches.planning.comparison import NoModelError
from evaluation.benches.planning.comparison_setup import recording_planner
from evaluation.benches.planning.parallel_plans import ask_ahead
from evaluation.benches.planning.planners import PLANNERS, UnknownPlannerError
from evaluation.benches.planning.shared_plans import ModelLostError
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import ModelRefusedError, ModelUnavailableError
from services.llm.scripted import ScriptedChatModel
from tests.unit.evaluation.contests import (
    PAIRS,
    RIGHT,
    SETTINGS,
    UNREADABLE,
    WRONG,
    comparison,
    outline,
    prompts_with,
    writing,
)

ANSWERS = sum(len(pair.forms) for pair in PAIRS)


def run(name, contest):
    return contest.entry(name, PAIRS, lambda: None)


def test_what_was_asked_ahead_is_not_asked_again(tmp_path):
    record, model = tmp_path / "answers.sqlite", writing(outline(RIGHT))
    contest = comparison(model, record=record)
    planner = recording_planner(model, record, 3, HashingEmbedder(), SETTINGS)
    ask_ahead(planner, contest.requests(list(PLANNERS), PAIRS), 3, lambda: None)
    request_count = len(model.requests)
    assert request_count == 4 * ANSWERS
    assert run("llm", contest).spent.calls == ANSWERS
    assert len(model.requests) == request_count


def f1(entry):
    return [row.figures["f1"] for row in entry.rows]


def test_all_planners_share_one_call_for_a_ticket_and_a_part_of_its_context():
    model = writing(outline(WRONG))
    contest = comparison(model)
    entries = [run(name, contest) for name in PLANNERS]
    planning = [request for request in model.requests if request.prompt.startswith("plan")]
    assert len(planning) == 4 * ANSWERS
    assert {request.n for request in planning} == {3}
    assert all(len(entry.rows) == ANSWERS for entry in entries)


@pytest.mark.parametrize(
    ("planner", "shows_chunks", "shows_nodes"),
    [
        ("zero-shot", False, False),
        ("vector-rag", True, False),
        ("graph-rag", False, True),
        ("llm", True, True),
        ("no-graph", True, False),
        ("no-vector", False, True),
        ("no-kb", False, False),
        ("best-of-n", True, True),
    ],
)
def test_a_planner_shows_the_model_its_part_of_the_context(planner, shows_chunks, shows_nodes):
    model = writing(outline(WRONG))
    run(planner, comparison(model))
    assert prompts_with("Page: A page\n", model.requests) == shows_chunks * ANSWERS
    assert prompts_with("Page: Fan tray failed\n", model.requests) == shows_nodes * ANSWERS


def test_the_model_alone_gives_its_first_clean_sample_whatever_the_scorer_thinks():
    wrong_first = comparison(writing(UNREADABLE, outline(WRONG), outline(RIGHT)))
    right_first = comparison(writing(UNREADABLE, outline(RIGHT), outline(WRONG)))
    fan = slice(0, len(PAIRS[0].forms))
    assert max(f1(run("llm", wrong_first))[fan]) < min(f1(run("llm", right_first))[fan])


def test_the_model_alone_has_no_workflow_where_no_sample_is_clean():
    entry = run("llm", comparison(writing(UNREADABLE)))
    assert f1(entry) == [0.0] * ANSWERS
    assert {row.author for row in entry.rows} == {""}


def test_without_a_clean_sample_the_floor_stands():
    contest = comparison(writing(UNREADABLE))
    assert f1(run("best-of-n", contest)) == f1(run("extractive", contest))
    assert {row.author for row in run("no-scorer", contest).rows} == {"extractive"}


def test_the_scorer_keeps_the_floor_from_a_worse_sample_and_no_scorer_does_not():
    contest = comparison(writing(outline(WRONG)))
    assert {row.author for row in run("best-of-n", contest).rows} == {"extractive"}
    assert {row.author for row in run("no-scorer", contest).rows} == {"llm"}


def test_without_documents_nothing_but_the_model_competes():
    entry = run("no-kb", comparison(writing(outline(WRONG))))
    assert {row.author for row in entry.rows} == {"llm"}


def test_the_extractive_planner_needs_no_model():
    assert {row.author for row in run("extractive", comparison(None)).rows} == {"extractive"}


def test_a_planner_that_asks_a_model_says_so_where_there_is_none():
    with pytest.raises(NoModelError, match="FLOWXPERT_MODEL_GGUF"):
        run("llm", comparison(None))


def test_an_unknown_planner_is_refused_with_the_known_names():
    with pytest.raises(UnknownPlannerError, match="best-of-n"):
        run("oracle", comparison(None))


def test_costs_count_calls_tokens_and_samples_of_each_ticket():
    entry = run("llm", comparison(writing(outline(RIGHT), UNREADABLE)))
    assert len(entry.costs) == ANSWERS
    first = entry.costs[0]
    assert first.spent.calls == 1
    assert first.spent.tokens_in > 100
    assert first.samples == {"accepted": 2, "unreadable": 1}


class _Killed(BaseException):
    """What a signal raises: no planner catches it."""


def killed_after(calls: int, answer: str) -> ScriptedChatModel:
    left = calls

    def script(request):
        nonlocal left
        if not left:
            raise _Killed
        left -= 1
        return [answer] * request.n

    return ScriptedChatModel(script)


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path):
    record = tmp_path / "answers.db"
    with pytest.raises(_Killed):
        run("llm", comparison(killed_after(2, outline(RIGHT)), record=record))
    second = writing(outline(RIGHT))
    entry = run("llm", comparison(second, record=record))
    assert len(second.requests) == ANSWERS - 2
    assert f1(entry) == f1(run("llm", comparison(writing(outline(RIGHT)))))


def test_a_recorded_run_costs_as_many_tokens_and_seconds_as_the_first(tmp_path):
    record = tmp_path / "answers.db"
    model = ScriptedChatModel([outline(RIGHT)], seconds=0.01)
    first = run("llm", comparison(model, record=record))
    second = run("llm", comparison(model, record=record))
    assert len(model.requests) == ANSWERS
    costs = [(c.spent.tokens_in, c.spent.tokens_out, c.spent.seconds) for c in first.costs]
    again = [(c.spent.tokens_in, c.spent.tokens_out, c.spent.seconds) for c in second.costs]
    assert costs == again
    assert all(seconds for _, _, seconds in costs)


def test_what_the_scorer_asks_is_recorded_and_metered_too(tmp_path):
    record = tmp_path / "answers.db"
    first, second = ScriptedChatModel(scripted_answers), ScriptedChatModel(scripted_answers)
    costs = [
        run("best-of-n", comparison(model, record=record)).scoring for model in (first, second)
    ]
    assert costs[0].calls == costs[1].calls >= ANSWERS
    assert ANSWERS < len(first.requests) <= ANSWERS + costs[0].calls
    assert second.requests == []


def test_an_answer_is_kept_though_its_correction_was_refused(tmp_path):
    sample_counts = []

    def script(request):
        sample_counts.append(request.n)
        if request.n == 1:
            raise ModelRefusedError("the prompt is too long")
        return [UNREADABLE, outline(RIGHT), outline(RIGHT)]

    record = tmp_path / "answers.db"
    for _ in range(2):
        contest = comparison(ScriptedChatModel(script), record=record, corrections=1)
        contest.entry("llm", PAIRS[:1], lambda: None)
    assert sample_counts.count(3) == len(PAIRS[0].forms)


def test_a_model_that_is_gone_ends_the_run_instead_of_being_measured():
    def script(_request):
        raise ModelUnavailableError("no answer")

    with pytest.raises(ModelLostError, match="goes on where it was"):
        run("llm", comparison(ScriptedChatModel(script)))
