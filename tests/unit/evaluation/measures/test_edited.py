from evaluation.measures.edited import bindings, kept, program, shape
from services.procedure.editing.apply import apply, with_ids
from services.procedure.editing.operations import operations_given
from services.procedure.model import Procedure

GIVEN = with_ids(
    Procedure.model_validate(
        {
            "title": "Fan",
            "steps": [
                {"do": "Look at the tray", "at": [[3, 3]]},
                {
                    "choice": "exclusive",
                    "arms": [
                        {"when": "Is it loose?", "steps": [{"do": "Seat it", "at": [[4, 4]]}]}
                    ],
                },
                {"do": "Note the number", "at": [[5, 5]]},
            ],
        }
    )
)


def edited(*operations):
    return apply(GIVEN, operations_given(list(operations)))


EXPECTED = edited({"op": "delete", "node": "n5"})


def test_ids_lines_case_and_full_stops_make_no_other_program():
    other = Procedure.model_validate(
        {
            "title": "Fan",
            "steps": [
                {"do": "look at the tray."},
                {
                    "choice": "exclusive",
                    "arms": [{"when": "Is it loose?", "steps": [{"do": "Seat it"}]}],
                },
            ],
        }
    )
    assert program(other) == program(EXPECTED)
    assert program(other) != program(GIVEN)


def test_other_words_are_the_same_shape():
    said = edited({"op": "replace", "node": "n1", "text": "Look twice"})
    assert program(said) != program(GIVEN)
    assert shape(said) == shape(GIVEN)
    assert shape(EXPECTED) != shape(GIVEN)


def test_what_should_stay_and_does_not_is_seen():
    careless = edited(
        {"op": "delete", "node": "n5"}, {"op": "replace", "node": "n1", "at": [[1, 1]]}
    )
    assert kept(GIVEN, EXPECTED, EXPECTED) == 1
    assert kept(GIVEN, EXPECTED, careless) < 1
    assert bindings(GIVEN, EXPECTED, careless) < bindings(GIVEN, EXPECTED, EXPECTED) == 1
