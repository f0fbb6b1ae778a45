from services.contracts.planner import Candidate
from services.contracts.scorer import ScoredCandidate, ScoreRequest
from services.knowledge.embedding.embedders import HashingEmbedder
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from services.workflow.model import Workflow
from tests.unit.scorer.cases import CONTEXT, EDGES, GOOD, STEPS, TICKET

CAKE = Workflow(
    title="Cake",
    steps=tuple(
        step.model_copy(update={"text": f"Bake cake {n}", "commands": (), "citations": ()})
        for n, step in enumerate(STEPS)
    ),
    transitions=EDGES,
)


def ranked(*workflows: Workflow, **settings: object) -> list[ScoredCandidate]:
    candidates = tuple(Candidate(id=str(n), workflow=w) for n, w in enumerate(workflows))
    request = ScoreRequest(ticket=TICKET, context=CONTEXT, candidates=candidates)
    service = ScorerService(HashingEmbedder(), ScorerSettings(**settings))
    return list(service.score(request).ranked)


def test_a_workflow_of_nothing_known_is_not_good_enough_and_stands_last():
    good, cake = ranked(CAKE, GOOD)
    assert good.good_enough
    assert cake.score.relevance.value < ScorerSettings().least_relevance
    assert not cake.good_enough


def test_what_is_good_enough_can_be_set():
    (candidate,) = ranked(GOOD, least_score=4.9)
    assert not candidate.good_enough
