import pytest

from services.contracts.planner import Candidate
from services.contracts.scorer import Dimension, Score, ScoredCandidate
from services.scorer.service import CandidatePage, rank_candidates
from services.scorer.settings import ShowFirst
from services.workflow.model import (
    Provenance,
    Step,
    StepKind,
    Transition,
    Workflow,
    WorkflowKind,
)

SOUND = Workflow(
    title="Fan",
    steps=(
        Step(id="a", kind=StepKind.PROCESS, text="Seat the fan tray"),
        Step(id="b", kind=StepKind.TERMINAL, text="Done"),
    ),
    transitions=(Transition(source="a", target="b"),),
)
BROKEN = SOUND.model_copy(
    update={"steps": (*SOUND.steps, Step(id="c", kind=StepKind.PROCESS, text="Nobody comes here"))}
)


def scored(name, value=4.0, *, chance=0.5, good=True, workflow=SOUND):
    five = dict.fromkeys(
        ("relevance", "coverage", "accuracy", "coherence", "conciseness"),
        Dimension(value=value, reason=""),
    )
    return ScoredCandidate(
        candidate=Candidate(id=name, workflow=workflow),
        score=Score(**five, chance=chance),
        findings=(),
        good_enough=good,
    )


def order(*placed):
    ranking = rank_candidates(
        [candidate for candidate, _ in placed], [place for _, place in placed]
    )
    return [each.candidate.id for each in ranking]


FIRST, SECOND = CandidatePage("fan.md", 1.0), CandidatePage("disk.md", 0.7)


def test_of_one_page_the_likeliest_workflow_comes_first_whatever_the_scores_say():
    read, sampled = scored("read", 4.6, chance=0.1), scored("sampled", 4.2, chance=0.6)
    assert order((read, FIRST), (sampled, FIRST)) == ["sampled", "read"]


def test_where_chances_are_equal_the_scores_decide():
    assert order((scored("worse", 3.0), FIRST), (scored("better", 4.0), FIRST))[0] == "better"


def test_the_page_that_was_found_comes_before_a_likelier_workflow_of_another():
    other = scored("other", 5.0, chance=0.99)
    assert order((other, SECOND), (scored("own", 3.0, chance=0.1), FIRST)) == ["own", "other"]


def test_pages_are_compared_by_their_relevance_and_not_by_scores():
    nearly = CandidatePage("disk.md", 0.95)
    own, other = scored("own", 2.6), scored("other", 4.9)
    assert order((other, nearly), (own, FIRST)) == ["own", "other"]


def with_origin(workflow, kind, *, state=""):
    origin = Provenance(kind=kind, planner="extractive", state=state)
    return workflow.model_copy(update={"provenance": origin})


@pytest.mark.parametrize(
    ("state", "show_first", "first"),
    [
        ("approved", ShowFirst.PAGE, "drawn"),
        ("checklist", ShowFirst.PAGE, "page"),
        ("read", ShowFirst.PAGE, "page"),
        ("read", ShowFirst.WORKFLOW, "drawn"),
    ],
)
def test_of_one_page_the_setting_decides_what_a_model_alone_has_read(state, show_first, first):
    page = scored("page", chance=0.9, workflow=with_origin(SOUND, WorkflowKind.CHECKLIST))
    read = with_origin(SOUND, WorkflowKind.PROCEDURE, state=state)
    drawn = scored("drawn", chance=0.1 if first == "drawn" else 0.95, workflow=read)
    ranking = rank_candidates([page, drawn], [FIRST, FIRST], show_first=show_first)
    assert ranking[0].candidate.id == first


def test_what_is_not_good_enough_or_unsound_comes_last():
    bad = scored("bad", 5.0, chance=0.99, good=False)
    unsound = scored("unsound", 5.0, chance=0.99, workflow=BROKEN)
    sound = scored("sound", 3.0, chance=0.1)
    assert order((bad, FIRST), (unsound, FIRST), (sound, FIRST)) == ["sound", "unsound", "bad"]
