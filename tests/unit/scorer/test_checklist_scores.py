from services.contracts.planner import Candidate
from services.contracts.scorer import ScoreRequest
from services.contracts.ticket import TicketDraft
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import KnowledgeContext
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from tests.checklists import checklist_of

TICKET = TicketDraft(source="generic", external_id="1", title="Pump loop-2 stands still")
WORDS = {"pump": 2.0, "loop": 1.0, "stand": 1.0}


def scored(workflow, *, least_score=2.5):
    context = KnowledgeContext(confidence=0.8, words=WORDS)
    request = ScoreRequest(
        ticket=TICKET, context=context, candidates=(Candidate(id="1", workflow=workflow),)
    )
    settings = ScorerSettings(least_score=least_score, least_relevance=1.0)
    (candidate,) = ScorerService(HashingEmbedder(), settings).score(request).ranked
    return candidate


def test_a_page_as_it_is_loses_nothing_but_may_be_beside_the_point():
    score = scored(checklist_of()).score
    assert score.relevance.value < 5
    values = (score.coverage, score.accuracy, score.coherence, score.conciseness)
    assert {dimension.value for dimension in values} == {5.0}


def test_the_least_score_is_of_workflows_that_were_drawn():
    assert scored(checklist_of(), least_score=5.0).good_enough


def test_only_what_stands_open_takes_up_words_of_the_ticket():
    whole = scored(checklist_of("# Pump\n\n## Still\n\n- Look.\n\n## Loop\n\n- Vent it.\n"))
    part = scored(
        checklist_of(
            "# Pump\n\n## Still\n\n- Look.\n\n## Loop\n\n- Vent it.\n", headings=("Still",)
        )
    )
    assert part.score.relevance.value < whole.score.relevance.value


def test_the_reason_speaks_of_the_page():
    assert "fits the ticket" in scored(checklist_of()).score.relevance.reason
