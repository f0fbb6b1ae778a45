"""A number is a number and a yes a yes: nothing else is taken for them."""

import pytest
from pydantic import ValidationError

from services.contracts.clarification import ClarificationAnswer
from services.contracts.mcp import AnswerQuestion
from services.contracts.readings import BoxCorrection


@pytest.mark.parametrize("choice", [True, "2", 2.0])
def test_a_choice_is_a_whole_number(choice):
    for contract, more in ((ClarificationAnswer, {}), (AnswerQuestion, {"ticket_id": "t"})):
        assert contract.model_validate({"choice": 2, **more}).choice == 2
        with pytest.raises(ValidationError, match="choice"):
            contract.model_validate({"choice": choice, **more})


@pytest.mark.parametrize("is_step", ["false", 1, 0])
def test_a_word_on_a_box_is_yes_no_or_taken_back(is_step):
    fields = {"document_id": "pump.md", "key": "k"}
    for word in (True, False, None):
        assert BoxCorrection(**fields, is_step=word).is_step is word
    with pytest.raises(ValidationError, match="is_step"):
        BoxCorrection(**fields, is_step=is_step)
