import pytest

from services.llm.chat_model import ModelUnavailableError
from services.scorer.metrics import PARTS
from services.scorer.weights import Curve
from services.workflow.model import Workflow
from tests.unit.scorer.cases import GOOD
from tests.unit.scorer.judging import OTHER, TellingModel, judging, scored

ALONE = {"judge": False}


def likelihoods(found):
    return [scored.score.accuracy.parts.get("likelihood") for scored in found]


def test_what_is_likelier_by_the_token_is_worth_more_however_long_it_is():
    model = TellingModel(lambda text: [-2.0] * 3 if "Sell" in text else [-1.0] * 90)
    good, other = likelihoods(scored(model, GOOD, OTHER, **ALONE))
    assert good > other


def test_ids_and_the_order_of_steps_do_not_matter():
    seen = []
    turned = Workflow(title="", steps=GOOD.steps[::-1], transitions=GOOD.transitions[::-1])
    model = TellingModel(lambda text: seen.append(text) or [-1.0])
    first, second = likelihoods(scored(model, GOOD, turned, **ALONE))
    assert first == second
    assert len(seen) == 1


def test_a_server_that_does_not_tell_offers_no_likelihood():
    before = PARTS.labels("likelihood", "not_offered")._value.get()
    assert likelihoods(scored(judging(lambda text: 3), GOOD, OTHER)) == [None, None]
    assert PARTS.labels("likelihood", "not_offered")._value.get() == before + 1


def test_a_server_that_goes_down_in_between_leaves_the_evidence():
    def tells(text):
        if "Sell" in text:
            raise ModelUnavailableError("down")
        return [-1.0]

    found = scored(TellingModel(tells), GOOD, OTHER, **ALONE)
    assert found == scored(None, GOOD, OTHER)


def test_a_workflow_without_steps_is_the_least_likely():
    model = TellingModel(lambda text: [-9.0])
    empty, other = likelihoods(scored(model, Workflow(title="", steps=()), GOOD, **ALONE))
    assert empty == 1
    assert other >= empty


@pytest.mark.parametrize(("mean", "value"), [(-1.5, 3.0), (-1e9, 1.0), (0.0, 4.8)])
def test_the_curve_stays_on_the_scale(mean, value):
    assert Curve(mid=-1.5, steepness=2.0).value(mean) == pytest.approx(value, abs=0.02)


def test_what_takes_the_tickets_tokens_leaves_the_evidence():
    model = TellingModel(lambda text: [-1.0] * 50)
    found = scored(model, GOOD, OTHER, **ALONE, ticket_tokens=10)
    assert found == scored(None, GOOD, OTHER)
