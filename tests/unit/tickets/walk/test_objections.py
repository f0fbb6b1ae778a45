"""What speaks against a workflow, in words."""

import pytest

from services.contracts.planner import Candidate
from services.contracts.retrieval import PageReading, RetrievedContext
from services.contracts.scorer import DIMENSIONS, Dimension, Score, ScoredCandidate
from services.contracts.ticket import Fit, TicketDraft
from services.knowledge.model import Chunk, RetrievedChunk, Span
from services.runbook.model import Do, Procedure, Reader, Reading
from services.runbook.ports import ServedReading
from services.tickets.settings import GatewaySettings
from services.tickets.walk.fit import Thresholds, judge_candidate
from services.tickets.walk.objections import Objections
from services.workflow.model import Provenance
from tests.unit.gateway.fakes import fan_workflow


def retrieved(document_id, title, score, text="Show the fans of the chassis."):
    span = Span(document_id=document_id, start_line=1, end_line=2)
    chunk = Chunk(id=document_id, span=span, heading_path=(title,), text=text)
    return RetrievedChunk(chunk=chunk, score=score)


def context_of(*chunks, confidence=0.4, pages=()):
    return RetrievedContext(chunks=chunks, confidence=confidence, pages=pages)


def scored(*, documents=("fan.md",), good_enough=True, **values):
    workflow = fan_workflow().model_copy(
        update={"provenance": Provenance(planner="extractive", document_ids=documents)}
    )
    score = Score(
        **{
            name: Dimension(value=values.get(name, 4.0), reason=f"why {name}")
            for name in DIMENSIONS
        }
    )
    candidate = Candidate(id="c", workflow=workflow)
    return ScoredCandidate(candidate=candidate, score=score, good_enough=good_enough)


def ticket(title, description=""):
    return TicketDraft(source="test", external_id="1", title=title, description=description)


def objections(title="The fans stand still", context=None, candidate=None):
    context = context or context_of(retrieved("fan.md", "Fan failed", 0.6))
    return Objections(ticket(title), context, candidate or scored()).reasons


def test_the_chance_is_always_listed():
    assert "the chance that the closest page treats this fault is 40%" in objections()


def test_names_that_the_page_does_not_say_are_listed():
    reasons = objections("PsuOverheated after NodeReboot, fans stand still")
    assert "the ticket names PsuOverheated and NodeReboot and the page does not" in reasons


@pytest.mark.parametrize("name", ["FanFailed", "show_fans"])
def test_a_name_that_the_page_says_in_words_is_no_objection(name):
    assert not any("names" in line for line in objections(f"alarm {name} is on"))


def test_names_with_digits_are_of_this_case_alone():
    assert not any(
        "names" in line for line in objections("fan of XG7-4410, HCI-N03 and ncn-w003 stands still")
    )


def test_a_page_that_fits_nearly_as_well_is_listed():
    near = context_of(
        retrieved("fan.md", "Fan failed", 0.60), retrieved("psu.md", "Power lost", 0.59)
    )
    assert "another page fits nearly as well: Power lost (psu.md)" in objections(context=near)
    far = context_of(
        retrieved("fan.md", "Fan failed", 0.60), retrieved("psu.md", "Power lost", 0.30)
    )
    assert not any("nearly" in line for line in objections(context=far))


def test_what_the_page_is_for_is_told_in_its_words():
    procedure = Procedure(title="Fan", treats="A fan tray that was pulled.", body=(Do(text="x"),))
    served = ServedReading(reading=Reading(reader=Reader.MODEL, procedures=(procedure,)))
    page = PageReading(document_id="fan.md", title="Fan", served=served)
    context = context_of(retrieved("fan.md", "Fan failed", 0.6), pages=(page,))
    assert "the page's procedure treats: A fan tray that was pulled." in objections(context=context)


def test_a_low_dimension_is_told_with_its_reason():
    assert "its relevance is only 1.8 of 5: why relevance" in objections(
        candidate=scored(relevance=1.8)
    )


def test_a_workflow_of_another_page_than_the_closest_is_not_sure():
    context = context_of(
        retrieved("fan.md", "Fan failed", 0.9),
        retrieved("psu.md", "Power lost", 0.5),
        confidence=0.99,
    )
    judged = judge_candidate(ticket("x"), context, scored(documents=("psu.md",)), Fit.SURE)
    assert judged.fit is Fit.UNSURE
    assert "another page was found to be closer: Fan failed (fan.md)" in judged.against


def test_what_is_sure_is_sure_only_with_a_score_that_is_good_enough():
    context = context_of(retrieved("fan.md", "Fan failed", 0.9), confidence=0.99)
    assert judge_candidate(ticket("x"), context, scored(), Fit.SURE).fit is Fit.SURE
    poor = judge_candidate(ticket("x"), context, scored(good_enough=False), Fit.SURE)
    assert poor.fit is Fit.UNSURE
    assert any("is not good enough" in reason for reason in poor.against)


@pytest.mark.parametrize(
    ("chance", "fit"), [(0.7, Fit.SURE), (0.69, Fit.UNSURE), (0.3, Fit.UNSURE), (0.29, None)]
)
def test_two_chances_part_three_answers(chance, fit):
    thresholds = Thresholds(sure_from=0.7, unsure_from=0.3)
    assert thresholds.fit_of(context_of(retrieved("a", "b", 0.5), confidence=chance)) is fit


def test_nothing_found_fits_nothing_whatever_the_chance():
    assert Thresholds(sure_from=0.7, unsure_from=0.3).fit_of(context_of(confidence=1.0)) is None


def test_a_chance_set_by_hand_wins_over_the_fitted_one():
    settings = GatewaySettings(_env_file=None, sure_from=0.9)
    assert Thresholds.shipped().with_settings(settings).sure_from == 0.9
    assert (
        Thresholds.shipped().with_settings(settings).unsure_from == Thresholds.shipped().unsure_from
    )


def test_what_is_in_use_was_judged_on_ids_it_was_not_fitted_on():
    assert 0 < Thresholds.shipped().unsure_from < Thresholds.shipped().sure_from < 1
    assert Thresholds.shipped().figures["text, unfitted"]["known_shown"] >= 0.9
