"""What a person is told of an edit, and what comes of it for whoever follows the procedure."""

import pytest

from services.runbook.editing.apply import stages
from services.runbook.editing.consequences import consequences
from services.runbook.editing.difference import describe_effects, difference
from services.runbook.editing.operations import parse_operations
from services.runbook.program import with_ids
from tests.unit.runbook.editing.editing import FAN, edited
from tests.unit.runbook.programs import ask, do, end, procedure

INSERT = {"op": "insert", "node": {"id": "air", "do": "Breathe"}, "after": "seat"}
REMOVE = {"op": "guard", "node": "loose", "how": "remove"}


def effects_of(*operations, of=FAN):
    parsed = parse_operations(list(operations))
    return describe_effects(stages(of, parsed), parsed)


def changed(*operations):
    now = difference(FAN, edited(*operations))
    return {each.node: (each.kind.value, *each.words) for each in now.steps}


def coming(*operations, of=FAN):
    return consequences(of, edited(*operations, of=of))


@pytest.mark.parametrize(
    ("operation", "sentence"),
    [
        (
            INSERT,
            (
                "“Breathe” is new, after “Seat the tray”, in what is done when "
                "“Is the tray loose?” holds"
            ),
        ),
        (
            {"op": "delete", "node": "loose?"},
            "The condition “Is the tray loose?” is deleted with what is below it (2 nodes)",
        ),
        (
            {"op": "delete", "node": "loose?", "keep_below": True},
            "The condition “Is the tray loose?” is deleted; what is below it (2 nodes) stays",
        ),
        (
            {"op": "replace", "node": "seat", "text": "Push it", "commands": ["push"]},
            "“Seat the tray”: now reads “Push it”; command added: push",
        ),
        (
            {"op": "move", "node": "wait", "before": "look"},
            "“Wait a minute” is moved before “Look at the tray of fan-1”",
        ),
        (
            {"op": "guard", "nodes": ["note"], "when": "Is it hot?", "otherwise": []},
            (
                "“Note the serial number”: done only if “Is it hot?”; if not, nothing is done and "
                "the program goes on"
            ),
        ),
        (
            {"op": "guard", "node": "seat", "how": "negate"},
            "The condition “Is the tray loose?” is now not “Is the tray loose?”",
        ),
        (REMOVE, "The condition “Is the tray loose?”: the condition is taken away"),
        (
            {"op": "otherwise", "node": "loose", "end": "escalate", "text": "Call"},
            "When “Is the tray loose?” does not hold, the path ends and is escalated: “Call”",
        ),
        (
            {"op": "parameter", "name": "fan", "literal": "fan-1"},
            "“fan-1” becomes the parameter <fan>",
        ),
    ],
)
def test_each_operation_is_told_in_a_sentence(operation, sentence):
    assert effects_of(operation) == (sentence,)


def test_steps_are_told_with_what_became_of_them_and_their_lines():
    now = difference(
        FAN,
        edited(
            INSERT,
            {"op": "delete", "node": "note"},
            {"op": "replace", "node": "look", "core": True},
            {"op": "move", "node": "power", "first_in": "escalation"},
        ),
    )
    assert [(each.node, each.kind.value, each.lines) for each in now.steps] == [
        ("look", "changed", ((3, 3),)),
        ("air", "added", ()),
        ("power", "moved", ((8, 8),)),
        ("note", "removed", ((7, 7),)),
    ]


def test_only_what_went_past_its_neighbours_is_moved():
    assert changed({"op": "move", "node": "look", "last_in": "steps"}) == {
        "look": ("moved", "now in the main steps")
    }
    assert changed({"op": "delete", "node": "look"}).keys() == {"look"}


def test_what_goes_under_a_condition_is_not_moved_and_the_condition_is_reported():
    now = difference(FAN, edited({"op": "guard", "node": "note", "when": "Is it hot?"}))
    (step,) = now.steps
    assert step.words == ("now done only if “Is it hot?”, before always done",)
    (guard,) = now.guards
    assert (guard.was, guard.now, guard.over) == ("", "“Is it hot?”", ("Note the serial number",))


def test_conditions_that_go_or_are_other_ones_are_told_with_their_lines():
    (gone,) = difference(FAN, edited(REMOVE)).guards
    assert (gone.was, gone.now, gone.lines) == ("“Is the tray loose?”", "", ((4, 4),))
    (other,) = difference(FAN, edited({"op": "guard", "node": "again", "how": "negate"})).guards
    assert (other.was, other.now) == ("until “Does it turn?”", "until not “Does it turn?”")


def test_the_same_differs_in_nothing():
    same = consequences(FAN, FAN)
    assert difference(FAN, FAN).steps == ()
    assert (same.dropped, same.gained, same.unreachable, same.mended) == ((), (), (), ())
    assert not any(each.is_new for each in same.findings)
    assert same.paths_before == same.paths_after


class TestDroppedConditions:
    @pytest.mark.parametrize(
        "operation", [REMOVE, {"op": "delete", "node": "loose?", "keep_below": True}]
    )
    def test_a_step_that_is_now_done_always_is_reported(self, operation):
        (dropped,) = coming(operation).dropped
        assert (dropped.question, dropped.answer) == ("Is the tray loose?", "Yes")
        assert dropped.lines == ((4, 4),)
        assert [(each.node, each.is_always) for each in dropped.steps] == [
            ("seat", True),
            ("wait", True),
        ]

    def test_so_is_one_that_only_stood_behind_an_end(self):
        """Who answered Yes went away before it: the condition stands over all that follows."""
        (dropped,) = coming({"op": "delete", "node": "dark?"}).dropped
        assert (dropped.question, dropped.answer) == ("Is the rack dark?", "No")
        assert "spin" in {each.node for each in dropped.steps}

    def test_and_one_that_is_moved_out(self):
        (dropped,) = coming({"op": "move", "node": "wait", "last_in": "steps"}).dropped
        assert [each.node for each in dropped.steps] == ["wait"]

    def test_what_hangs_on_another_condition_still_is_not_always_done(self):
        nested = procedure(
            ask("Is it hot?", {**ask("Is it loud?", do("Stop it", 3, id="stop")), "id": "loud"})
        )
        change = coming({"op": "guard", "node": "loud", "how": "remove"}, of=with_ids(nested))
        (dropped,) = change.dropped
        assert dropped.question == "Is it loud?"
        assert not dropped.steps[0].is_always

    def test_another_wording_of_a_condition_or_step_drops_nothing(self):
        remedies = with_ids(
            procedure(
                {
                    "choice": "in_order",
                    "arms": [
                        {"steps": [do("Seat the fan", 3, id="seat")]},
                        {"steps": [do("Swap the fan", 4, id="swap")]},
                    ],
                }
            )
        )
        for operation, of in (
            ({"op": "guard", "node": "loose", "when": "Is it loose at all?"}, FAN),
            ({"op": "replace", "node": "seat", "text": "Push the fan"}, remedies),
        ):
            change = coming(operation, of=of)
            assert (change.dropped, change.gained) == ((), ())

    def test_a_remedy_that_is_tried_whether_the_first_helped_or_not_is_reported(self):
        remedies = with_ids(
            procedure(
                {
                    "id": "c",
                    "choice": "in_order",
                    "arms": [
                        {"steps": [do("Seat the fan", 3, id="seat")]},
                        {"steps": [do("Swap the fan", 4, id="swap")]},
                    ],
                },
                do("Note it", 5),
            )
        )
        (dropped,) = coming({"op": "replace", "node": "c", "choice": "any"}, of=remedies).dropped
        assert dropped.question == "Did it help to seat the fan?"
        assert [each.text for each in dropped.steps] == ["Swap the fan"]


def test_conditions_that_come_are_reported():
    (gained,) = coming({"op": "otherwise", "node": "loose", "end": "escalate"}).gained
    assert (gained.question, gained.answer) == ("Is the tray loose?", "Yes")
    assert "note" in {each.node for each in gained.steps}


def test_steps_that_nobody_comes_to_any_more_are_reported():
    change = coming({"op": "insert", "node": end("resolved", "Done"), "before": "dark?"})
    assert [each.node for each in change.unreachable] == ["power", "spin", "call"]
    assert any("nobody comes to" in each.text and each.is_new for each in change.findings)
    behind = coming(
        {"op": "insert", "node": {"goto": "look"}, "last_in": "steps"},
        {"op": "insert", "node": {"id": "late", "do": "Wait"}, "last_in": "steps"},
    )
    assert [each.node for each in behind.unreachable] == ["late", "call"]


def test_findings_are_new_there_already_or_mended():
    now = coming(INSERT)
    (new,) = [each for each in now.findings if each.is_new]
    assert (new.check, new.text) == ("unsourced_step", "“Breathe”: no line of the page says it")
    back = consequences(edited(INSERT), FAN)
    assert [each.text for each in back.mended] == [new.text]
    again = coming({"op": "delete", "node": "note"}, of=edited(INSERT))
    assert next(each.text for each in again.findings if not each.is_new) == new.text


def test_paths_are_counted():
    now = coming({"op": "delete", "node": "loose?"})
    assert now.paths_before == 2 * now.paths_after
