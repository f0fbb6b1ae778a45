import pytest

from services.runbook.checking.doubts import DoubtNotFoundError, UnknownAnswerError, settle_doubt
from services.runbook.model import Reading

DOUBT = {
    "id": "d1",
    "kind": "condition",
    "node": "n2",
    "question": "Is this done in any case?",
    "answers": [
        {"text": "As read"},
        {"text": "Only when hot", "replace": [{"do": "Cool it", "id": "n2"}, {"do": "Wait"}]},
        {"text": "Never", "replace": []},
    ],
}


def reading(*steps, doubts=(DOUBT,)):
    fields = {"reader": "rules", "procedures": [{"title": "Fan", "steps": list(steps)}]}
    return Reading.model_validate({**fields, "doubts": list(doubts)})


def texts(page_reading):
    return [getattr(node, "text", node.id) for node in page_reading.procedures[0].walk()]


PLAIN = ({"do": "Look", "id": "n1"}, {"do": "Cool", "id": "n2"})


def test_an_answer_that_leaves_all_as_it_was_read_ends_the_doubt():
    after = settle_doubt(reading(*PLAIN), "d1", 0)
    assert (texts(after), after.doubts) == (["Look", "Cool"], ())


def test_an_answer_takes_the_place_of_the_node_and_is_numbered():
    after = settle_doubt(reading(*PLAIN), "d1", 1)
    assert texts(after) == ["Look", "Cool it", "Wait"]
    assert [node.id for node in after.procedures[0].walk()] == ["n1", "n2", "n3"]


def test_an_answer_reaches_nodes_in_loops_and_arms_and_what_an_arm_leads_to():
    arm = {"when": "Is it hot?", "steps": [PLAIN[1]], "id": "a1"}
    choice = {"choice": "exclusive", "arms": [arm]}
    loop = {"repeat": [choice], "until": "Is it cool?"}
    assert texts(settle_doubt(reading(loop), "d1", 1))[-2:] == ["Cool it", "Wait"]
    about_arm = {**DOUBT, "node": "a1"}
    assert texts(settle_doubt(reading(loop, doubts=[about_arm]), "d1", 1))[-2:] == [
        "Cool it",
        "Wait",
    ]


def test_a_loop_that_an_answer_empties_goes():
    loop = {"repeat": [PLAIN[1]], "until": "Is it cool?"}
    after = settle_doubt(reading(PLAIN[0], loop), "d1", 2)
    assert texts(after) == ["Look"]


def test_doubts_about_what_an_answer_took_out_go_with_it():
    other = {**DOUBT, "id": "d2"}
    assert settle_doubt(reading(*PLAIN, doubts=[DOUBT, other]), "d1", 2).doubts == ()
    assert [d.id for d in settle_doubt(reading(*PLAIN, doubts=[DOUBT, other]), "d1", 0).doubts] == [
        "d2"
    ]


@pytest.mark.parametrize(("doubt", "answer"), [("d9", 0), ("d1", 3), ("d1", -1)])
def test_what_is_not_there_is_refused(doubt, answer):
    with pytest.raises((DoubtNotFoundError, UnknownAnswerError)):
        settle_doubt(reading(*PLAIN), doubt, answer)


def test_an_answer_about_a_node_that_is_gone_is_refused():
    with pytest.raises(UnknownAnswerError):
        settle_doubt(reading(PLAIN[0]), "d1", 1)
    assert settle_doubt(reading(PLAIN[0]), "d1", 0).doubts == ()
