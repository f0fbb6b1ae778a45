import json
import math

import pytest
from structlog.testing import capture_logs

from services.kit.lru_cache import LruCache
from services.llm.chat_model import ModelRefusedError, ModelUnavailableError
from services.llm.scripted import ScriptedChatModel
from services.runbook.ports import JudgedAnswer
from services.scorer.judges.fact_judge import FactJudge
from services.scorer.judges.panel import Panel, PanelVerdict
from services.scorer.metrics import QUESTIONS
from tests.unit.scorer.fan_page import RIGHT
from tests.unit.scorer.judges.test_questions import FREED, SWAPPED, of
from tests.unit.scorer.judging import (
    TellingModel,
    by_text,
    judging,
    offered,
    questions_about,
    right,
    shown,
)

FAN_QUESTIONS = questions_about(RIGHT, SWAPPED, FREED, limit=12)
(PUSHED,) = of(FAN_QUESTIONS, "when is this done: “Push")


def panel(model, answers=None, **limits):
    store = answers or LruCache[str, JudgedAnswer](100)
    return Panel(FactJudge(model), store, **{"deadline_s": 30, **limits})


def count(outcome):
    return QUESTIONS.labels(outcome)._value.get()


def test_what_is_chosen_in_both_orders_is_nine_to_one():
    (chances,) = panel(judging(right)).ask([PUSHED]).chances.values()
    on_yes = next(n for n, o in enumerate(PUSHED.options) if o.text.endswith("answered “yes”"))
    assert chances[on_yes] == pytest.approx(0.9)
    assert sum(chances) == pytest.approx(1)


def test_the_second_time_every_option_stands_under_another_letter():
    model = judging(right)
    panel(model).ask([PUSHED])
    first, second = (offered(request.messages) for request in model.requests)
    assert sorted(first.values()) == sorted(second.values())
    assert all(first[letter] != second[letter] for letter in first)


def test_the_model_sees_lines_and_question_and_never_the_ticket():
    model = judging(right)
    panel(model).ask([PUSHED])
    for request in model.requests:
        system, user = request.messages
        assert shown(request.messages)["lines"] == PUSHED.lines
        assert "Push the tray" not in system.content
        assert "FanTrayFailed" not in user.content
        assert request.temperature == 0
        assert request.json_schema["properties"]["answer"] == {"enum": [*"ABCD"]}


def test_an_answer_that_depends_on_the_order_leaves_the_question_open():
    before = count("open")
    assert panel(judging(lambda question, options: "B")).ask([PUSHED]) == PanelVerdict()
    assert count("open") == before + 1


def test_where_the_server_tells_likelihoods_they_are_the_chances():
    def tells(options, text):
        return [-0.1, math.log(0.7 if text.endswith("“yes”") else 0.1), -0.1]

    (chances,) = panel(TellingModel(tells)).ask([PUSHED]).chances.values()
    assert sorted(chances) == pytest.approx([0.1, 0.1, 0.1, 0.7])


def test_a_judge_that_always_names_one_letter_is_withdrawn():
    before = count("withdrawn")
    store = LruCache[str, JudgedAnswer](100)
    with capture_logs() as logs:
        verdict = panel(judging(lambda question, options: "A"), store).ask(FAN_QUESTIONS)
    assert verdict == PanelVerdict(withdrawn="The judge was withdrawn: it always answers “A”.")
    assert count("withdrawn") == before + len(FAN_QUESTIONS)
    assert any(log["event"] == "scorer.judge_withdrawn" for log in logs)
    assert store.get_many([q.key(FactJudge(judging(right)).label) for q in FAN_QUESTIONS]) == {}


@pytest.mark.parametrize("kind", ["the lines do not say", "nothing: the work ends"])
def test_a_judge_that_always_says_the_same_is_withdrawn(kind):
    def choose(question, options):
        return by_text(options, kind, "yes", "whatever", "always")

    several = [q for q in FAN_QUESTIONS if any(o.text.startswith(kind) for o in q.options)] * 2
    verdict = panel(judging(choose)).ask(several)
    assert len(several) >= 6
    assert verdict.withdrawn


def test_one_answer_to_everything_stands_where_the_judge_passes_the_controls():
    def choose(question, options):
        if "bolt" in question:
            return by_text(options, "only if “Is the bolt bent?” is answered “yes”")
        if "door" in question:
            return by_text(options, "“Is the bolt bent?”")
        return by_text(options, "the lines do not say", "no")

    several = [
        q for q in FAN_QUESTIONS if any(o.text == "the lines do not say it" for o in q.options)
    ]
    verdict = panel(judging(choose)).ask(several)
    assert len(several) >= 6
    assert not verdict.withdrawn
    assert len(verdict.chances) == len(several)


def test_five_answers_alike_are_no_proof():
    assert not panel(judging(lambda question, options: "A")).ask(FAN_QUESTIONS[:5]).withdrawn


def test_a_judge_that_reads_is_not_withdrawn():
    verdict = panel(judging(right)).ask(FAN_QUESTIONS)
    assert not verdict.withdrawn
    assert len(verdict.chances) == len(FAN_QUESTIONS)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (ModelUnavailableError("down"), "unavailable"),
        (ModelRefusedError("no"), "refused"),
        ("I like them all.", "unreadable"),
        (json.dumps({"answer": "Z"}), "unreadable"),
    ],
)
def test_a_judge_that_fails_says_nothing(answer, outcome):
    def script(request):
        if isinstance(answer, Exception):
            raise answer
        return [answer]

    before = count(outcome)
    with capture_logs() as logs:
        assert panel(ScriptedChatModel(script)).ask(FAN_QUESTIONS) == PanelVerdict()
    assert count(outcome) == before + len(FAN_QUESTIONS)
    assert [log["outcome"] for log in logs if log["event"] == "scorer.questions_unanswered"] == [
        outcome
    ]


def test_a_question_that_fails_leaves_the_others():
    def choose(question, options):
        if "Push" in question:
            raise ModelUnavailableError("down")
        return right(question, options)

    verdict = panel(judging(choose)).ask(FAN_QUESTIONS)
    assert 0 < len(verdict.chances) < len(FAN_QUESTIONS)


def test_a_judge_that_is_slow_is_not_waited_for():
    before = count("late")
    assert panel(judging(right, seconds=3), deadline_s=0.5).ask(FAN_QUESTIONS) == PanelVerdict()
    assert count("late") == before + len(FAN_QUESTIONS)


@pytest.mark.parametrize("within_s", [0, -1])
def test_a_ticket_without_time_asks_nobody(within_s):
    model = judging(right)
    assert panel(model).ask(FAN_QUESTIONS, within_s) == PanelVerdict()
    assert model.requests == []


def test_calls_are_told_how_much_time_is_left():
    model = judging(right)
    panel(model, deadline_s=7).ask([PUSHED], 90)
    assert all(6 < request.timeout_s <= 7 for request in model.requests)


def test_what_takes_the_tickets_tokens_is_skipped():
    before = count("over_budget")
    verdict = panel(judging(right), ticket_tokens=1).ask(FAN_QUESTIONS)
    assert len(verdict.chances) < len(FAN_QUESTIONS)
    assert count("over_budget") > before


def test_what_was_asked_once_is_not_asked_again():
    store = LruCache[str, JudgedAnswer](100)
    model, before = judging(right), count("kept")
    first, second = (panel(model, store).ask(FAN_QUESTIONS) for _ in range(2))
    assert first == second
    assert len(model.requests) == 2 * len(FAN_QUESTIONS)
    assert count("kept") == before + len(FAN_QUESTIONS)


def test_the_same_question_twice_in_a_ticket_is_asked_once():
    model = judging(right)
    assert len(panel(model).ask([PUSHED, PUSHED]).chances) == 2
    assert len(model.requests) == 2


def test_what_it_contradicted_itself_about_is_not_asked_again():
    store, model = LruCache[str, JudgedAnswer](100), judging(lambda question, options: "B")
    for _ in range(2):
        assert panel(model, store).ask([PUSHED]) == PanelVerdict()
    assert len(model.requests) == 2


def test_only_the_latest_answers_are_kept():
    store = LruCache[str, JudgedAnswer](2)
    for key in "abac":
        store.keep({key: JudgedAnswer("", (1.0,))})
    assert sorted(store.get_many("abc")) == ["a", "c"]
