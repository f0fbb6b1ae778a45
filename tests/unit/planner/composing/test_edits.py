"""A change said in words: operations, looked at first, stored as `Readings.edit` stores them."""

import json
import re

import pytest

from services.contracts.composing import EditInWords
from services.contracts.readings import EditRequest
from services.kit.errors import ConflictError, NotFoundError
from services.llm.scripted import ScriptedChatModel
from services.planner.composing.edits import outline, step_numbers
from services.planner.composing.errors import NeedsModelError, NotUnderstoodError
from services.runbook.checking.check import parse_reading
from services.runbook.model import as_json
from tests.unit.ingestion.fan import FAN, HASH, PAGE
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.planner.composing.catalogue import composer


@pytest.fixture
def readings(tmp_path):
    harness = IngestionHarness(tmp_path)
    harness.write("fan.md", PAGE)
    harness.ingest()
    service = harness.service.readings("kim")
    service.replace(HASH, parse_reading({"procedures": [FAN]}))
    return service


def answering(*operations, **action):
    texts = [json.dumps({"action": {"operations": each}}) for each in operations]
    return ScriptedChatModel(texts or [json.dumps({"action": action})])


def worded(readings, instruction, model=None, **more):
    wanted = EditInWords(text_hash=HASH, instruction=instruction, **more)
    return composer(model, readings=readings).edit_in_words(wanted)


def steps(readings):
    return as_json(readings.get(HASH).reading.procedures[0])["steps"]


def test_a_sentence_is_looked_at_first_and_stored_by_whoever_agrees(readings):
    operations = [{"op": "insert", "after": "n1", "node": {"do": "Take a picture of it"}}]
    parsed = worded(readings, "After step 1, take a picture of it", answering(operations))
    assert any("Take a picture of it" in effect for effect in parsed.preview.difference.effects)
    assert [step["do"] for step in steps(readings) if "do" in step] == [
        "Look at the tray",
        "Note the serial number",
    ]
    sent = EditRequest.model_validate_json(parsed.edit.model_dump_json())
    readings.edit(HASH, sent)
    assert steps(readings)[1]["do"] == "Take a picture of it"


def test_a_dropped_condition_is_reported(readings):
    operations = [{"op": "guard", "nodes": ["n3"], "how": "remove"}]
    parsed = worded(readings, "Always seat the fan", answering(operations))
    assert [each.question for each in parsed.preview.consequences.dropped] == ["Is the tray hot?"]


def test_an_operation_that_does_not_apply_is_told_back_once(readings):
    wrong, right = [{"op": "delete", "node": "n99"}], [{"op": "delete", "node": "n5"}]
    model = answering(wrong, right)
    parsed = worded(readings, "Do not note the serial number", model)
    assert len(model.requests) == 2
    assert "no node 'n99'" in model.requests[1].messages[-1].content
    assert parsed.edit.operations[0].node == "n5"


def test_one_that_still_does_not_apply_is_refused(readings):
    wrong = [{"op": "delete", "node": "n99"}]
    model = answering(wrong, wrong, wrong)
    with pytest.raises(NotUnderstoodError, match="n99"):
        worded(readings, "Do not note the serial number", model)
    assert len(model.requests) == 2


def test_a_question_of_the_model_is_the_refusal(readings):
    with pytest.raises(NotUnderstoodError, match="Which step"):
        worded(readings, "Change it", answering(question="Which step do you mean?"))


def test_the_model_sees_ids_numbers_and_lines(readings):
    model = answering([{"op": "delete", "node": "n5"}])
    worded(readings, "Leave the last step out", model)
    prompt = model.requests[0].messages[-1].content
    assert "[n5] 4. do: Note the serial number (lines 5-5)" in prompt
    assert "arm, when “Is the tray hot?”" in prompt
    assert "4 | 2. If the tray is loose" in prompt


def test_a_secret_in_the_sentence_reaches_no_prompt(readings):
    model = answering([{"op": "replace", "node": "n5", "text": "Use <secret>"}])
    worded(readings, "Write password: hunter2!secret9 into the last step", model)
    assert "hunter2" not in model.requests[0].messages[-1].content


def test_two_editors_do_not_overwrite_each_other(readings):
    before = readings.get(HASH).revision
    parsed = worded(readings, "delete step 4")
    operations = [{"op": "replace", "node": "n1", "text": "Look at the tray twice"}]
    other = worded(readings, "Look twice", answering(operations))
    readings.edit(HASH, other.edit)
    with pytest.raises(ConflictError):
        readings.edit(HASH, parsed.edit)
    with pytest.raises(ConflictError):
        worded(readings, "delete step 4", revision=before)


def test_without_a_model_certain_forms_are_understood(readings):
    numbers = step_numbers(readings.get(HASH).reading.procedures[0])
    deleted = worded(readings, f"Delete step {numbers['n5']}.")
    assert deleted.written_by == "rules"
    assert deleted.edit.operations[0].node == "n5"
    replaced = worded(readings, f'replace "fan-1" by "fan-2" in step {numbers["n4"]}')
    assert replaced.edit.operations[0].commands == ("fan seat fan-2",)
    words = worded(readings, f"replace Seat the fan by Push it in step {numbers['n4']}")
    assert words.edit.operations[0].text == "Push it"
    question = worded(readings, f"replace hot by loose in step {numbers['n3']}")
    assert question.edit.operations[0].when.text == "Is the tray loose?"


def test_without_a_model_the_examples_of_the_refusal_are_understood(readings):
    with pytest.raises(NeedsModelError) as refused:
        worded(readings, "Delete the fan")
    examples = re.findall("“(.+?)”", str(refused.value))
    assert len(examples) == 2
    words = {"lamp": "Seat the fan", "LED": "Push it"}
    for example in examples:
        mine = re.sub("lamp|LED", lambda match: words[match[0]], example)
        assert worded(readings, mine).written_by == "rules"


@pytest.mark.parametrize(
    "instruction",
    ["Delete the fan", "Replace x by y"],
)
def test_without_a_model_nothing_else_is_guessed(readings, instruction):
    with pytest.raises(NeedsModelError):
        worded(readings, instruction)


def test_words_or_a_step_that_are_not_there_are_named(readings):
    with pytest.raises(NotUnderstoodError, match="no step 99: the last one is"):
        worded(readings, "delete step 99")
    with pytest.raises(NotUnderstoodError, match="it says “Seat the fan”"):
        worded(readings, "replace fan-9 by fan-2 in step 3")


def test_a_procedure_that_is_not_there_is_refused(readings):
    with pytest.raises(NotFoundError):
        worded(readings, "delete step 1", procedure=7)


def test_the_outline_has_every_node(readings):
    procedure = readings.get(HASH).reading.procedures[0]
    text = outline(procedure)
    assert all(f"[{node.id}]" in text for node in procedure.walk())
