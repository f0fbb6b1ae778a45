from services.runbook.checking.left_out import uncited_conditions
from services.runbook.checking.walker import findings, findings_of
from tests.unit.runbook.programs import ask, do, end, procedure


def finding_texts(*steps, **parts):
    return [each.text for each in findings(procedure(*steps, **parts))]


def test_a_sound_program_has_no_findings():
    assert finding_texts(do("Look", 1), ask("Is it hot?", do("Cool it", 2))) == []


def test_a_jump_to_nowhere_is_reported():
    assert finding_texts(do("Look"), {"goto": "Step 9"}) == [
        "'Step 9', where a path goes on, is nowhere"
    ]


def test_two_steps_of_one_id_are_reported():
    assert "two steps have the id 'a'" in finding_texts(do("Look", id="a"), do("Mend", id="a"))


def test_what_stands_behind_an_end_is_reported():
    texts = finding_texts(end("resolved", "Done", 1), do("Mend", 2))
    assert "nobody comes to what stands behind an end or a jump" in texts


def test_an_escalation_that_nobody_reaches_is_reported():
    texts = finding_texts(
        do("Mend", 1), end("resolved", "Done", 2), escalation=[do("Open a case", 9)]
    )
    assert "no path leads to what is done when nothing helped" in texts


def test_one_action_twice_on_a_path_is_reported():
    assert finding_texts(do("Look", 1), do("Look", 1)) == ["one path does 'Look' twice"]


def test_the_same_words_at_other_lines_are_another_action():
    assert finding_texts(do("Look", 1), do("Look", 7)) == []


def test_who_was_helped_and_is_handed_over_is_reported():
    tried = {
        "choice": "in_order",
        "arms": [{"steps": [do("Reseat", 1)]}, {"steps": [do("Buy", 2)]}],
    }
    texts = finding_texts(tried, end("escalate", "Escalate to the vendor", 3))
    assert "who was helped comes to 'Escalate to the vendor' all the same" in texts


def test_a_choice_without_any_consequence_is_reported():
    assert "a choice asks and nothing follows from any answer" in finding_texts(ask("Is it hot?"))


def test_conditions_of_the_page_without_a_step_are_told_by_their_lines():
    page = "Look.\nIf it is hot, cool it.\n```\nif true; then\n```\n- Otherwise wait."
    assert list(uncited_conditions([procedure(do("Look", 1))], page)) == [(2, 2), (6, 6)]
    problems = findings_of([procedure(do("Look", 1), do("Cool it", 2), do("Wait", 6))], page)
    assert problems == []


def test_findings_are_few_enough_to_act_on():
    steps = [{"goto": f"nowhere {number}"} for number in range(100)]
    assert len(findings(procedure(*steps))) <= 12


def test_background_states_no_condition_that_needs_a_step():
    page = "# Fan\n\n## Impact\n\nIf it stops, the switch overheats.\n\n## Steps\n\nIf hot, cool."
    assert list(uncited_conditions([], page)) == [(9, 9)]
