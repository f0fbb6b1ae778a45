"""Each operation on a small procedure: what it does, what stays, and why it is refused."""

import pytest

from services.runbook.checking.check import DEEPEST
from services.runbook.editing.apply import stages
from services.runbook.editing.errors import (
    IdTakenError,
    IntoItselfError,
    JumpToNothingError,
    NothingChangedError,
    NotTogetherError,
    UnknownNodeError,
    UnknownPlaceError,
    UnusableOperationError,
    WrongKindError,
)
from services.runbook.editing.operations import parse_operations
from services.runbook.model import Arm, Choice, End, Jump, Mode, Not, Remark, State, as_json
from tests.unit.runbook.editing.editing import FAN, edited, location_of, new_ids, standing
from tests.unit.runbook.programs import ask, do, procedure

MAIN = ["look", "loose?", "note", "dark?", "again"]


def lines_of(program):

    return {each.id: each.lines for each in program.sourced()}


class TestInsert:
    @pytest.mark.parametrize(
        ("place", "body", "ids"),
        [
            ({"after": "look"}, "start", ["look", "+", *MAIN[1:]]),
            ({"before": "look"}, "start", ["+", *MAIN]),
            ({"last_in": "steps"}, "start", [*MAIN, "+"]),
            ({"first_in": "verification"}, "verification", ["+"]),
            ({"last_in": "escalation"}, "escalation", ["call", "+"]),
            ({"first_in": "swap"}, "swap", ["+", "swapped"]),
            ({"last_in": "loose"}, "loose", ["seat", "wait", "+"]),
            ({"first_in": "loose?"}, "loose", ["+", "seat", "wait"]),
            ({"first_in": "loose.otherwise"}, "loose?.otherwise", ["+"]),
            ({"first_in": "again"}, "again", ["+", "spin"]),
        ],
    )
    def test_a_step_stands_where_it_is_put_and_nothing_else_changes(self, place, body, ids):
        now = edited({"op": "insert", "node": {"do": "Breathe"}, **place})
        (new,) = new_ids(now)
        expected = standing(FAN) | {body: [new if id_ == "+" else id_ for id_ in ids]}
        assert standing(now) == expected
        lines = lines_of(now)
        assert lines.pop(new) == ()
        assert lines == lines_of(FAN)

    @pytest.mark.parametrize(
        "node",
        [
            {"end": "escalate", "text": "Call"},
            {"note": "Mind the blades"},
            {"goto": "swap"},
            {"choice": "exclusive", "arms": [{"when": "Is it hot?"}]},
        ],
    )
    def test_every_kind_of_node_can_be_put_in(self, node):
        now = edited({"op": "insert", "node": node, "last_in": "steps"})
        put = as_json(now.body[-1])
        assert {key: put[key] for key in node if key != "arms"} == {
            key: value for key, value in node.items() if key != "arms"
        }

    def test_new_ids_were_never_used_and_given_ones_can_be_named_by_the_next_operation(self):
        now = edited(
            {"op": "insert", "node": {"id": "air", "do": "Breathe"}, "after": "look"},
            {"op": "delete", "node": "look"},
            {"op": "insert", "node": {"do": "Breathe out"}, "after": "air"},
        )
        assert standing(now)["start"] == ["air", new_ids(now)[1], *MAIN[1:]]

    def test_a_given_id_that_is_in_use_is_refused(self):
        for id_ in ("wait", "dark", "escalation"):
            with pytest.raises(IdTakenError):
                edited({"op": "insert", "node": {"id": id_, "do": "Look"}, "after": "look"})

    def test_another_answer_is_put_beside_an_arm(self):
        arm = {"when": "Is the tray bent?", "steps": [{"do": "Call"}], "at": [[5, 5]]}
        now = edited({"op": "insert", "arm": arm, "after": "loose"})
        choice = location_of(now, "loose?").thing
        questions = [each.guard.text for each in choice.arms]
        assert questions == ["Is the tray loose?", "Is the tray bent?"]
        assert choice.arms[1].lines == ((5, 5),)
        assert edited({"op": "insert", "arm": arm, "last_in": "loose?"}) == now

    def test_a_place_that_is_none_is_refused(self):
        node = {"do": "Look"}
        with pytest.raises(UnknownPlaceError, match="is no body"):
            edited({"op": "insert", "node": node, "last_in": "nowhere"})
        with pytest.raises(UnknownPlaceError, match="is a step"):
            edited({"op": "insert", "node": node, "last_in": "look"})
        with pytest.raises(UnknownNodeError, match="it has look, loose"):
            edited({"op": "insert", "node": node, "after": "n99"})

    def test_a_jump_to_nowhere_is_refused(self):
        with pytest.raises(JumpToNothingError, match="is nowhere"):
            edited({"op": "insert", "node": {"goto": "moon"}, "last_in": "steps"})


class TestDelete:
    def test_a_node_goes_with_all_below_it(self):
        now = edited({"op": "delete", "node": "loose?"})
        assert standing(now)["start"] == ["look", "note", "dark?", "again"]
        assert "seat" not in lines_of(now)

    def test_what_is_below_it_can_stay_with_its_lines(self):
        now = edited({"op": "delete", "node": "loose?", "keep_below": True})
        assert standing(now)["start"] == ["look", "seat", "wait", *MAIN[2:]]
        assert lines_of(now)["seat"] == ((5, 5),)
        assert standing(edited({"op": "delete", "node": "again", "keep_below": True}))["start"] == [
            *MAIN[:-1],
            "spin",
        ]

    def test_an_only_arm_is_its_choice(self):
        by_arm = edited({"op": "delete", "node": "loose"})
        assert by_arm == edited({"op": "delete", "node": "loose?"})

    def test_one_of_several_arms_goes_alone(self):
        arm = {"when": "Is the tray bent?", "id": "bent"}
        both = edited({"op": "insert", "arm": arm, "after": "loose"})
        now = edited({"op": "delete", "node": "loose"}, of=both)
        assert [each.id for each in location_of(now, "loose?").thing.arms] == ["bent"]
        with pytest.raises(WrongKindError, match="several answers"):
            edited({"op": "delete", "node": "loose", "keep_below": True}, of=both)

    def test_an_only_condition_with_an_otherwise_is_not_silently_made_always(self):
        both = edited({"op": "otherwise", "node": "loose?", "end": "escalate"})
        with pytest.raises(WrongKindError, match="done otherwise"):
            edited({"op": "delete", "node": "loose"}, of=both)

    def test_a_loop_goes_with_its_last_step_and_a_part_too(self):
        now = edited({"op": "delete", "node": "spin"}, {"op": "delete", "node": "swapped"})
        assert standing(now)["start"] == MAIN[:-1]
        assert now.parts == {}

    @pytest.mark.parametrize(
        ("target", "gone"),
        [("note", "note"), ("seat", "loose?"), ("swap", "swapped"), ("again", "spin")],
    )
    def test_a_jump_to_what_goes_is_a_reason_to_refuse(self, target, gone):
        jump = {"op": "insert", "node": {"goto": target}, "last_in": "escalation"}
        with pytest.raises(JumpToNothingError, match=r"^operation 1 \(delete\): .*would be gone"):
            edited(jump, {"op": "delete", "node": gone})
        now = edited(jump, {"op": "delete", "node": gone, "jumps_to": "look"})
        assert now.escalation[-1].target == "look"
        with pytest.raises(JumpToNothingError, match="not there"):
            edited(jump, {"op": "delete", "node": gone, "jumps_to": gone})


class TestReplace:
    def test_a_step_is_said_otherwise_and_keeps_its_lines_id_and_the_rest(self):
        now = location_of(
            edited({"op": "replace", "node": "seat", "text": "Push the tray"}), "seat"
        )
        before = location_of(FAN, "seat")
        assert now.thing == before.thing.model_copy(update={"text": "Push the tray"})
        assert now.thing.lines == ((5, 5),)

    def test_commands_expected_core_and_lines_can_be_set(self):
        fields = {"commands": ["push"], "expected": "ok", "core": False, "at": [[5, 6]]}
        step = location_of(edited({"op": "replace", "node": "seat", **fields}), "seat").thing
        assert (step.commands, step.expected, step.core) == (("push",), "ok", False)
        assert step.lines == ((5, 6),)
        one = edited({"op": "replace", "node": "seat", "commands": "push"})
        assert location_of(one, "seat").thing.commands == ("push",)

    def test_what_a_reader_was_not_sure_of_is_sure_when_a_person_says_it(self):
        unsure = procedure(do("Look", 1, id="n1", confidence=0.4))
        assert edited({"op": "replace", "node": "n1", "text": "See"}, of=unsure).body[
            0
        ].confidence == (1.0)
        marked = edited({"op": "replace", "node": "n1", "core": True}, of=unsure)
        assert marked.body[0].confidence == 0.4

    def test_ends_notes_jumps_and_choices_have_what_is_theirs(self):
        now = edited({"op": "replace", "node": "power", "end": "escalate", "text": "Call"})
        end = location_of(now, "power").thing
        assert isinstance(end, End)
        assert (end.kind, end.text) == ("escalate", "Call")
        with_both = edited(
            {"op": "insert", "node": {"id": "j", "goto": "note"}, "last_in": "escalation"},
            {"op": "insert", "node": {"id": "r", "note": "Mind"}, "first_in": "steps"},
            {"op": "replace", "node": "j", "goto": "swap"},
            {"op": "replace", "node": "r", "text": "Mind the blades"},
            {"op": "replace", "node": "loose?", "choice": "any"},
        )
        assert isinstance(location_of(with_both, "j").thing, Jump)
        assert location_of(with_both, "j").thing.target == "swap"
        assert isinstance(location_of(with_both, "r").thing, Remark)
        assert location_of(with_both, "loose?").thing.mode is Mode.ANY

    @pytest.mark.parametrize(
        ("node", "fields", "reason"),
        [
            ("power", {"core": True}, "power is an end: it has no core"),
            ("loose", {"text": "Is it?"}, "`guard` changes"),
            ("loose?", {"text": "Is it?"}, r"with `guard` \(loose\)"),
            ("again", {"commands": ["x"]}, "a loop"),
            ("look", {"end": "resolved"}, "a step: it has no end"),
        ],
    )
    def test_what_the_kind_has_not_is_refused(self, node, fields, reason):
        with pytest.raises(WrongKindError, match=reason):
            edited({"op": "replace", "node": node, **fields})

    def test_nothing_new_is_refused(self):
        with pytest.raises(NothingChangedError):
            edited({"op": "replace", "node": "seat"})
        with pytest.raises(NothingChangedError):
            edited({"op": "replace", "node": "seat", "text": "Seat the tray"})


class TestMove:
    @pytest.mark.parametrize(
        ("node", "place", "changed"),
        [
            ("look", {"after": "note"}, {"start": ["loose?", "note", "look", "dark?", "again"]}),
            ("again", {"before": "look"}, {"start": ["again", *MAIN[:-1]]}),
            ("wait", {"before": "seat"}, {"loose": ["wait", "seat"]}),
            (
                "wait",
                {"after": "loose?"},
                {"start": ["look", "loose?", "wait", *MAIN[2:]], "loose": ["seat"]},
            ),
            (
                "note",
                {"first_in": "loose"},
                {
                    "start": ["look", "loose?", "dark?", "again"],
                    "loose": ["note", "seat", "wait"],
                },
            ),
            ("loose", {"after": "note"}, {"start": ["look", "note", "loose?", "dark?", "again"]}),
            (
                "loose?",
                {"last_in": "dark.otherwise"},
                {"start": ["look", "note", "dark?", "again"], "dark?.otherwise": ["loose?"]},
            ),
        ],
    )
    def test_a_node_goes_elsewhere_with_its_lines(self, node, place, changed):
        now = edited({"op": "move", "node": node, **place})
        assert standing(now) == standing(FAN) | changed
        assert lines_of(now) == lines_of(FAN)

    def test_a_loop_that_is_left_empty_goes(self):
        now = edited({"op": "move", "node": "spin", "after": "again"})
        assert standing(now)["start"] == [*MAIN[:-1], "spin"]
        assert "again" not in lines_of(now)

    def test_an_arm_goes_past_another_one(self):
        both = edited({"op": "insert", "arm": {"id": "bent", "when": "Bent?"}, "after": "loose"})
        now = edited({"op": "move", "node": "bent", "before": "loose"}, of=both)
        assert [each.id for each in location_of(now, "loose?").thing.arms] == ["bent", "loose"]
        with pytest.raises(UnknownPlaceError, match="is no arm"):
            edited({"op": "move", "node": "bent", "before": "look"}, of=both)

    @pytest.mark.parametrize(
        "place",
        [
            {"last_in": "loose?"},
            {"last_in": "loose"},
            {"after": "seat"},
            {"before": "loose?"},
            {"first_in": "loose.otherwise"},
        ],
    )
    def test_never_into_itself(self, place):
        with pytest.raises(IntoItselfError):
            edited({"op": "move", "node": "loose?", **place})

    def test_to_where_it_is_is_no_edit(self):
        with pytest.raises(NothingChangedError):
            edited({"op": "move", "node": "note", "after": "loose?"})

    def test_a_jump_to_what_is_moved_goes_with_it(self):
        now = edited(
            {"op": "insert", "node": {"goto": "seat"}, "last_in": "escalation"},
            {"op": "move", "node": "seat", "first_in": "steps"},
        )
        assert now.escalation[-1].target == "seat"

    def test_a_jump_to_a_part_that_falls_empty_is_a_reason_to_refuse(self):
        jump = {"op": "insert", "node": {"goto": "swap"}, "last_in": "steps"}
        move = {"op": "move", "node": "swapped", "last_in": "escalation"}
        with pytest.raises(JumpToNothingError):
            edited(jump, move)
        now = edited(jump, {**move, "jumps_to": "swapped"})
        assert now.body[-1].target == "swapped"


class TestGuard:
    def test_nodes_that_follow_one_another_go_under_one_condition(self):
        guard = {"op": "guard", "nodes": ["note", "loose?"], "when": "Is it hot?", "at": [[4, 4]]}
        now = edited(guard)
        choice = now.body[1]
        assert isinstance(choice, Choice)
        (arm,) = choice.arms
        assert (choice.mode, arm.guard, arm.lines) == (
            Mode.EXCLUSIVE,
            State(text="Is it hot?"),
            ((4, 4),),
        )
        assert [node.id for node in arm.body] == ["loose?", "note"]
        assert choice.otherwise is None
        kept = lines_of(now)
        assert {id_: kept[id_] for id_ in lines_of(FAN)} == lines_of(FAN)

    def test_it_may_say_what_is_done_when_it_does_not_hold(self):
        guard = {"op": "guard", "node": "note", "when": {"outcome": "Is it back?"}}
        now = edited({**guard, "otherwise": {"goto": "escalation"}})
        (jump,) = now.body[2].otherwise
        assert (jump.target, jump.id in new_ids(now)) == ("escalation", True)

    def test_nodes_apart_are_refused(self):
        for nodes in (["look", "note"], ["look", "seat"]):
            with pytest.raises(NotTogetherError):
                edited({"op": "guard", "nodes": nodes, "when": "Is it hot?"})

    def test_the_condition_of_an_arm_is_changed_whoever_is_named_for_it(self):
        now = edited({"op": "guard", "node": "loose", "when": "Is it bent?"})
        arm = location_of(now, "loose").thing
        assert (arm.guard, arm.lines) == (State(text="Is it bent?"), ((4, 4),))
        assert arm.body == location_of(FAN, "loose").thing.body
        for node in ("loose?", "seat"):
            change = {"op": "guard", "node": node, "how": "change", "when": "Is it bent?"}
            assert edited(change) == now

    def test_it_is_negated_and_back(self):
        once = {"op": "guard", "node": "loose", "how": "negate"}
        assert location_of(edited(once), "loose").thing.guard == Not(
            guard=State(text="Is the tray loose?")
        )
        assert edited(once, once) == FAN

    def test_a_loop_ends_on_another_condition(self):
        now = edited({"op": "guard", "node": "again", "how": "change", "when": "Is it quiet?"})
        assert now.body[-1].until == State(text="Is it quiet?")
        now = edited({"op": "guard", "node": "again", "how": "negate"})
        assert isinstance(now.body[-1].until, Not)

    def test_taken_away_the_steps_are_done_always(self):
        for node in ("loose", "loose?"):
            now = edited({"op": "guard", "node": node, "how": "remove"})
            assert standing(now)["start"] == ["look", "seat", "wait", *MAIN[2:]]

    def test_taken_away_from_the_first_or_last_step_the_others_keep_it(self):
        first = edited({"op": "guard", "node": "seat", "how": "remove"})
        assert standing(first)["start"] == ["look", "seat", *MAIN[1:]]
        last = edited({"op": "guard", "node": "wait", "how": "remove"})
        assert standing(last)["start"] == ["look", "loose?", "wait", *MAIN[2:]]

    def test_from_between_others_it_is_not_taken_away(self):
        three = edited({"op": "insert", "node": {"do": "Breathe"}, "last_in": "loose"})
        with pytest.raises(WrongKindError, match="between other steps"):
            edited({"op": "guard", "node": "wait", "how": "remove"}, of=three)

    def test_what_hung_on_its_no_still_does(self):
        both = edited({"op": "otherwise", "node": "loose", "steps": [do("Call", id="ring")]})
        now = edited({"op": "guard", "node": "loose", "how": "remove"}, of=both)
        assert standing(now)["start"] == ["look", "seat", "wait", *MAIN[1:]]
        (arm,) = location_of(now, "loose?").thing.arms
        assert arm.guard == Not(guard=State(text="Is the tray loose?"))
        assert [node.id for node in arm.body] == ["ring"]

    def test_the_conditions_behind_it_still_hold_only_where_it_does_not(self):
        arm = {"id": "bent", "when": "Bent?", "steps": [do("Bend it", id="bend")]}
        both = edited({"op": "insert", "arm": arm, "after": "loose"})
        first = edited({"op": "guard", "node": "loose", "how": "remove"}, of=both)
        loose, bent = location_of(first, "loose?").thing.arms
        assert (loose.guard, loose.body) == (State(text="Is the tray loose?"), ())
        assert [node.id for node in bent.body] == ["bend"]
        last = edited({"op": "guard", "node": "bent", "how": "remove"}, of=both)
        assert standing(last)["start"] == ["look", "bend", *MAIN[1:]]
        assert [each.id for each in location_of(last, "loose?").thing.arms] == ["loose"]

    def test_a_remedy_of_several_is_tried_without_its_condition(self):
        remedies = procedure(
            {
                "id": "c",
                "choice": "in_order",
                "arms": [
                    {"id": "a", "steps": [do("Seat", 1)]},
                    {"id": "b", "when": "Is it old?", "steps": [do("Swap", 2)]},
                ],
            }
        )
        now = edited({"op": "guard", "node": "b", "how": "remove"}, of=remedies)
        assert now.body[0].arms[1].guard is None
        with pytest.raises(WrongKindError, match="has no condition"):
            edited({"op": "guard", "node": "a", "how": "remove"}, of=remedies)

    def test_what_has_no_condition_or_is_an_answer_is_refused(self):
        with pytest.raises(WrongKindError, match="directly under no condition"):
            edited({"op": "guard", "node": "look", "how": "remove"})
        colours = procedure(
            {
                "id": "c",
                "choice": "exclusive",
                "question": "Which colour?",
                "arms": [{"id": "red", "when": "Red", "steps": [do("Stop", 1)]}],
            }
        )
        with pytest.raises(WrongKindError, match="an answer to 'Which colour"):
            edited({"op": "guard", "node": "red", "how": "negate"}, of=colours)


class TestOtherwise:
    @pytest.mark.parametrize("node", ["loose", "loose?"])
    @pytest.mark.parametrize(
        ("fields", "leads"),
        [
            ({"end": "escalate", "text": "Call"}, [{"end": "escalate", "text": "Call"}]),
            ({"goto": "note", "at": [[4, 4]]}, [{"goto": "note", "at": [[4, 4]]}]),
            ({"go_on": True}, []),
            ({"steps": {"do": "Breathe"}}, [{"do": "Breathe"}]),
        ],
    )
    def test_it_says_what_the_other_answer_leads_to(self, node, fields, leads):
        now = edited({"op": "otherwise", "node": node, **fields})
        otherwise = location_of(now, "loose?").thing.otherwise
        assert [as_json(each.model_copy(update={"id": ""})) for each in otherwise] == leads

    def test_it_may_be_left_open_again(self):
        now = edited(
            {"op": "otherwise", "node": "loose", "go_on": True},
            {"op": "otherwise", "node": "loose", "unsaid": True},
        )
        assert now == FAN

    def test_a_step_has_no_other_answer_and_what_is_replaced_may_be_jumped_to(self):
        with pytest.raises(WrongKindError, match="only a choice"):
            edited({"op": "otherwise", "node": "look", "go_on": True})
        steps = [{"id": "ring", "do": "Call"}]
        jump = {"op": "insert", "node": {"goto": "ring"}, "last_in": "escalation"}
        operations = ({"op": "otherwise", "node": "loose", "steps": steps}, jump)
        with pytest.raises(JumpToNothingError):
            edited(*operations, {"op": "otherwise", "node": "loose", "go_on": True})


class TestParameter:
    def test_a_literal_becomes_a_placeholder_where_it_stands_alone(self):
        now = edited({"op": "parameter", "name": "fan", "literal": "fan-1"})
        assert location_of(now, "look").thing.text == "Look at the tray of <fan>"
        assert location_of(now, "note").thing.commands == ("show fan <fan>", "show fan fan-10")
        assert lines_of(now) == lines_of(FAN)

    def test_and_is_filled(self):
        now = edited(
            {"op": "parameter", "name": "fan", "literal": "fan-1"},
            {"op": "parameter", "name": "<fan>", "value": "fan-2"},
        )
        assert location_of(now, "note").thing.commands == ("show fan fan-2", "show fan fan-10")

    def test_in_conditions_too_and_only_in_the_chosen_nodes(self):
        now = edited({"op": "parameter", "name": "part", "literal": "tray", "nodes": ["loose?"]})
        assert location_of(now, "loose").thing.guard == State(text="Is the <part> loose?")
        assert location_of(now, "seat").thing.text == "Seat the <part>"
        assert location_of(now, "look").thing == location_of(FAN, "look").thing

    def test_what_nobody_says_is_refused(self):
        with pytest.raises(NothingChangedError, match="'fan-7'"):
            edited({"op": "parameter", "name": "fan", "literal": "fan-7"})


def test_ids_are_understood_as_people_and_models_write_them():
    numbered = procedure(do("Look", 1), do("See", 2))
    expected = edited({"op": "delete", "node": "n2"}, of=numbered)
    for node in (2, "2", "#2", " N2 ", "#n2", "`n2`", "[n2]", {"id": "n2"}):
        assert edited({"op": "delete", "node": node}, of=numbered) == expected
    assert parse_operations({"operations": [{"op": "delete", "node": "n2"}]}) == (
        parse_operations({"op": "delete", "node": "n2"})
    )


@pytest.mark.parametrize(
    ("operations", "reason"),
    [
        ([], "1 to 100"),
        ("delete", "a list"),
        ([{"op": "delete", "node": "a"}, {"op": "explode"}], r"operation 1 \(explode\)"),
        ([{"op": "delete", "nod": "a"}], r"operation 0 \(delete\): node: Field required"),
        ([{"op": "move", "node": "a"}], "one of before, after"),
        ([{"op": "move", "node": "a", "before": "b", "after": "c"}], "one of before, after"),
        ([{"op": "insert", "after": "b"}], "a node or an arm"),
        ([{"op": "guard", "node": "a", "how": "put"}], "a condition in `when`"),
        ([{"op": "guard", "node": "a", "how": "negate", "when": "x"}], "no condition"),
        ([{"op": "otherwise", "node": "a", "go_on": True, "end": "escalate"}], "one of end"),
        ([{"op": "parameter", "name": "x"}], "literal"),
        ([{"op": "replace", "node": "a", "at": [[5, 2]]}], "line ranges"),
        ([{"op": "replace", "node": "a", "text": "  "}], "some words"),
        ([7], "operation 0"),
    ],
)
def test_what_is_no_operation_is_refused_with_its_place(operations, reason):
    with pytest.raises(UnusableOperationError, match=reason):
        parse_operations(operations)


def test_one_that_fails_says_which_and_leaves_nothing_done():
    with pytest.raises(UnknownNodeError, match=r"^operation 1 \(delete\)") as error:
        edited({"op": "delete", "node": "look"}, {"op": "delete", "node": "look"})
    assert error.value.operation == 1


def test_a_program_never_grows_deeper_than_readings_may_be():
    guard = {"op": "guard", "nodes": ["look"], "when": "Is it so?", "how": "put"}
    with pytest.raises(UnusableOperationError, match="levels deep"):
        edited(*[guard] * (DEEPEST + 1))
    nested = do("Look")
    for _ in range(DEEPEST + 1):
        nested = ask("Is it so?", nested)
    with pytest.raises(UnusableOperationError, match="levels deep"):
        edited({"op": "insert", "node": nested, "after": "look"})


def test_every_stage_is_there_and_the_given_one_is_left_as_it_was():
    before = as_json(FAN)
    operations = parse_operations([{"op": "delete", "node": n} for n in ("look", "note")])
    procedures = stages(FAN, operations)
    assert [len(each.body) for each in procedures] == [5, 4, 3]
    assert as_json(FAN) == before
    assert isinstance(FAN.body[1].arms[0], Arm)
