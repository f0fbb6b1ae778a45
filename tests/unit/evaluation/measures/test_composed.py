import pytest

from evaluation.material.composing.instructions import (
    Again,
    Arms,
    Call,
    calls_of,
    skeleton,
    tree_of_python,
)
from evaluation.material.composing.recorded_compositions import as_places, of_places
from evaluation.measures.composed import composed, normal, pooled, score

EXPECTED = (Call("show", {"host": "leaf-1"}), Call("tell", {"text": "It is fine", "to": "@0"}))


def test_the_same_calls_with_the_same_values_are_exact():
    calls = (Call("show", {"host": "Leaf-1"}), Call("tell", {"text": "it is  fine", "to": "@0"}))
    scored = score(composed(calls), [EXPECTED])
    assert (scored.exact, scored.sequence, scored.structure) == (1, 1, 1)
    assert (scored.equal, scored.values) == (3, 3)


def test_a_value_too_much_or_too_few_is_not_exact():
    calls = (Call("show", {"host": "leaf-1", "port": "1"}), Call("tell", {"to": "@0"}))
    scored = score(composed(calls), [EXPECTED])
    assert (scored.exact, scored.sequence) == (0, 1)
    assert (scored.equal, scored.values) == (2, 4)


def test_another_order_is_another_sequence():
    assert score(composed(EXPECTED[::-1]), [EXPECTED]).sequence == 0


def test_nothing_scores_nothing_and_its_values_count():
    scored = score(None, [EXPECTED])
    assert (scored.exact, scored.sequence, scored.structure, scored.equal) == (0, 0, 0, 0)
    assert scored.values == 3


def test_the_nearest_of_several_accepted_ones_counts():
    assert score(composed(EXPECTED), [EXPECTED[::-1], EXPECTED]).exact == 1


def test_structure_is_what_stands_under_what():
    flat = (Call("a"), Call("b"))
    nested = (Call("a"), Arms(((Call("b"),),)))
    assert score(composed(nested), [flat]).sequence == 1
    assert score(composed(nested), [flat]).structure == 0


def test_values_are_pooled_over_all():
    scores = [score(composed(EXPECTED), [EXPECTED]), score(None, [EXPECTED])]
    assert pooled(scores) == {"exact": 50, "sequence": 50, "structure": 50, "values": 50}


@pytest.mark.parametrize(
    ("left", "right"), [("63", "63.0"), ('"A b"', "a  B"), ("x@example.com", "<secret>")]
)
def test_values_are_the_same_however_they_are_written(left, right):
    assert normal(left) == normal(right)


FLOW = """
issues = Get_Issues()
for issue in issues:
  if issue.priority == "urgent":
    task = Create_Task()
  elif issue.priority == "low":
    message = Send_Message()
  else:
    task = user_task("look at it")
"""


def test_a_flow_is_read_as_a_tree():
    tree = tree_of_python(FLOW)
    assert [call.component for call in calls_of(tree)] == [
        "Get_Issues",
        "Create_Task",
        "Send_Message",
        "",
    ]
    (_, loop) = tree
    assert isinstance(loop, Again)
    (choice,) = loop.body
    assert isinstance(choice, Arms)
    assert choice.conditions == ("issue.priority == 'urgent'", "issue.priority == 'low'")
    assert skeleton(tree)[1] == ("again", (("if", (("Create_Task",), ("Send_Message",)), ("",)),))


def test_places_tell_the_tree_again():
    tree, shown = tree_of_python(FLOW), ["Send_Message", "Get_Issues", "Create_Task"]
    assert skeleton(of_places(as_places(tree, shown), shown)) == skeleton(tree)
    assert calls_of(of_places(as_places((Call("other"),), shown), shown)).__next__().component == (
        "(not shown)"
    )
