from services.runbook.model import Procedure, Reading
from services.runbook.program import assign_ids

DO = {"do": "Look", "id": "d"}


def reading(*steps, **more):
    procedure = {"title": "Fan", "steps": list(steps), **more}
    return Reading.model_validate({"reader": "person", "procedures": [procedure]})


def ids(page_reading):
    return [each.id for each in page_reading.procedures[0].sourced()]


def test_every_node_and_arm_gets_an_id_in_the_order_of_the_text():
    arms = [{"when": "Is it hot?", "steps": [{"do": "Cool it"}]}, {"steps": [{"do": "Go on"}]}]
    with_ids = assign_ids(reading({"choice": "exclusive", "arms": arms}, {"do": "Look"}))
    assert sorted(ids(with_ids)) == ["n1", "n2", "n3", "n4", "n5", "n6"]
    assert ids(assign_ids(with_ids)) == ids(with_ids)


def test_ids_that_are_given_stay_and_none_is_given_twice():
    with_ids = assign_ids(reading({"do": "A", "id": "n1"}, {"do": "B"}, {"do": "C", "id": "n1"}))
    assert ids(with_ids) == ["n1", "n2", "n3"]


def test_no_node_is_called_like_a_part():
    with_ids = assign_ids(
        reading({"do": "A", "id": "start"}, parts={"n1": [{"do": "B", "id": "n1"}]})
    )
    assert ids(with_ids) == ["n2", "n3"]


def test_a_program_is_changed_from_below_or_from_above():
    procedure = Procedure.model_validate(
        {
            "title": "Pump",
            "steps": [
                {"id": "c", "choice": "any", "arms": [{"id": "a", "when": "hot", "steps": [DO]}]},
                {"id": "l", "repeat": [DO], "until": "quiet"},
            ],
            "parts": {"late": [DO], "none": []},
        }
    )

    def order(way):
        seen = []
        procedure.map(
            node=lambda node: (seen.append(node.id), (node,))[1],
            arm=lambda arm: (seen.append(arm.id), arm)[1],
            body=lambda name, body: (seen.append(name), body)[1],
            order=way,
        )
        return seen[:6]

    assert order("up") == ["d", "a", "a", "c.otherwise", "c", "d"]
    assert order("down") == ["c", "a", "d", "a", "c.otherwise", "l"]
    without = procedure.map(node=lambda node: () if node.id == "d" else (node,))
    assert [node.id for node in without.walk()] == ["c"]
    assert without.parts == {"none": ()}
    assert without.body[0].otherwise is None
