from services.procedure.model import Reading
from services.procedure.program.numbering import numbered, sourced


def reading(*steps, **more):
    procedure = {"title": "Fan", "steps": list(steps), **more}
    return Reading.model_validate({"reader": "person", "procedures": [procedure]})


def ids(found):
    return [each.id for each in sourced(found.procedures[0])]


def test_every_node_and_arm_gets_an_id_in_the_order_of_the_text():
    arms = [{"when": "Is it hot?", "steps": [{"do": "Cool it"}]}, {"steps": [{"do": "Go on"}]}]
    found = numbered(reading({"choice": "exclusive", "arms": arms}, {"do": "Look"}))
    assert sorted(ids(found)) == ["n1", "n2", "n3", "n4", "n5", "n6"]
    assert ids(numbered(found)) == ids(found)


def test_ids_that_are_given_stay_and_none_is_given_twice():
    found = numbered(reading({"do": "A", "id": "n1"}, {"do": "B"}, {"do": "C", "id": "n1"}))
    assert ids(found) == ["n1", "n2", "n3"]


def test_no_node_is_called_like_a_part():
    found = numbered(reading({"do": "A", "id": "start"}, parts={"n1": [{"do": "B", "id": "n1"}]}))
    assert ids(found) == ["n2", "n3"]
