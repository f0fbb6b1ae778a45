import pytest
from pydantic import BaseModel

from services.llm.chat_model import ModelAnswerError
from services.llm.structured import json_objects, parse_answer


class Verdict(BaseModel):
    value: int
    reason: str = ""


def test_plain_json_is_read():
    assert parse_answer('{"value": 3}', Verdict).value == 3


def test_an_object_inside_prose_and_a_fence_is_read():
    text = 'Sure! Here it is:\n```json\n{"value": 4, "reason": "fits {well}"}\n```\nAnything else?'
    assert parse_answer(text, Verdict) == Verdict(value=4, reason="fits {well}")


def test_of_several_objects_the_last_that_fits_wins():
    text = '{"value": 1} then I thought again {"value": 2} and {"note": "done"}'
    assert parse_answer(text, Verdict).value == 2


def test_an_answer_without_json_is_refused_with_a_complaint_for_the_model():
    with pytest.raises(ModelAnswerError, match="no JSON object"):
        parse_answer("I would restart the switch.", Verdict)


def test_the_complaint_names_the_field_that_does_not_fit():
    with pytest.raises(ModelAnswerError, match="value"):
        parse_answer('{"value": "high"}', Verdict)


def test_a_cut_off_answer_and_endless_brackets_are_refused_not_followed():
    for text in ('{"value": ', "{" * 50_000, '{"a":' * 5_000):
        with pytest.raises(ModelAnswerError):
            parse_answer(text, Verdict)


def test_objects_are_found_in_order_and_outermost_only():
    assert json_objects('x {"a": {"b": 1}} y {"c": 2}') == [{"a": {"b": 1}}, {"c": 2}]


def test_a_number_without_end_is_no_answer():
    with pytest.raises(ModelAnswerError):
        parse_answer('{"value": ' + "9" * 5000 + "}", Verdict)
