from services.runbook.agreement import find_missing_steps, most_agreed_index
from services.runbook.facts import GuardFact, guards
from services.runbook.lowering import lower
from services.runbook.model import DoubtKind, Reader, Reading
from services.runbook.program import assign_ids
from tests.unit.runbook.programs import ask, do, procedure


def read(*steps, **parts):
    reading = Reading(reader=Reader.MODEL, procedures=(procedure(*steps, **parts),))
    return assign_ids(reading).procedures


def test_a_step_stands_under_the_answers_that_every_way_to_it_passes():
    workflow = lower(procedure(ask("Hot?", do("Cool it")), do("Wait")), "page.md")
    by_text = {workflow.by_id[id_].text: facts for id_, facts in guards(workflow).items()}
    assert by_text["Cool it"] == {GuardFact("s1", "yes")}
    assert by_text["Wait"] == frozenset()


def test_readings_that_agree_leave_no_doubt():
    one = read(do("Look at the fan", 1), ask("Is the fan hot?", do("Cool the fan", 2)))
    assert find_missing_steps(one, [one]) == ()


def test_the_same_step_in_other_words_is_no_doubt_nor_is_its_condition():
    one = read(do("Look at the fan", 1), do("Start the fan", 2))
    other = read(do("Look at the fan", 1), ask("Is the fan off?", do("Start the fan again", 2)))
    assert find_missing_steps(one, [one]) == ()
    assert find_missing_steps(one, [other]) == ()


def test_a_step_that_only_another_reading_has_is_a_doubt_at_the_step_before_it():
    one = read(do("Look at the fan", 1), do("Drain the switch", 5))
    other = read(do("Look at the fan", 1))
    (missing,) = find_missing_steps(other, [one])
    assert (missing.kind, missing.lines) == (DoubtKind.MISSING, ((5, 5),))
    assert missing.node == other[0].body[0].id
    assert find_missing_steps(one, [other]) == ()


def test_doubts_name_nodes_that_are_there():
    one = read(do("Look at the fan", 1), do("Drain the switch", 5))
    other = read(do("Something else entirely", 9))
    ids = {node.id for node in one[0].walk()}
    assert {doubt.node for doubt in find_missing_steps(one, [other])} <= ids


def test_of_three_readings_the_one_that_the_others_agree_with_is_the_base():
    guarded = read(do("Look at the fan", 1), ask("Is the fan hot?", do("Cool the fan", 2)))
    free = read(do("Look at the fan", 1), do("Cool the fan", 2))
    assert most_agreed_index([free, guarded, guarded]) == 1
    assert most_agreed_index([guarded, free]) == 0
