import pytest

from evaluation.benches.load.overhead import Timing
from evaluation.benches.load.scripted_answers import scripted_answers
from services.contracts.planner import PlanRequest
from services.contracts.scorer import ScoreRequest
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import ChatRequest, Message
from services.llm.scripted import ScriptedChatModel
from services.planner.service import PlannerService
from services.planner.settings import PlannerSettings
from services.runbook.by_model.question import schema
from services.scorer.service import ScorerService
from tests.unit.evaluation.contests import PAIRS, find_context


def test_overhead_is_the_platforms_time_by_the_models():
    assert Timing(walk_s=2.2, model_s=2.0).overhead == pytest.approx(0.1)


def test_a_scripted_model_keeps_planner_and_scorer_as_busy_as_a_real_one():
    model = ScriptedChatModel(scripted_answers)
    ticket = PAIRS[0].ticket("symptom")
    context = find_context(PAIRS[0], ticket)
    planner = PlannerService(PlannerSettings(samples=3), model=model, embedder=HashingEmbedder())
    plan = planner.plan(PlanRequest(ticket=ticket, context=context))
    written = [c for c in plan.candidates if c.workflow.provenance.planner == "llm"]
    assert len({c.workflow.steps for c in written}) == 3
    assert len(model.requests) == 1 + 3, "each sample is shown drawn, once"
    request = ScoreRequest(ticket=ticket, context=context, candidates=plan.candidates)
    ranked = ScorerService(HashingEmbedder(), model=model).score(request).ranked
    assert len(model.requests) > 1 + 3, "the scorer asks about facts"
    assert len(ranked) == len(plan.candidates)


def test_a_revised_answer_is_the_one_before():
    shown = Message(role="user", content="1 | Read the speeds of all fans.")
    request = ChatRequest(messages=(shown, shown), json_schema=schema())
    (answer,) = scripted_answers(request)
    turns = (Message(role="assistant", content=answer), Message(role="user", content="Again."))
    again = request.model_copy(update={"messages": (shown, *turns)})
    assert scripted_answers(again) == [answer]
