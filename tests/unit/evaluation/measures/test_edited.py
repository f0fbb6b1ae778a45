from evaluation.measures.edited import bindings, kept, program, shape
from services.runbook.editing.apply import apply
from services.runbook.editing.operations import parse_operations
from services.runbook.model import Procedure
from services.runbook.program import with_ids

BEFORE = with_ids(
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
    return apply(BEFORE, parse_operations(list(operations)))


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
    assert program(other) != program(BEFORE)


def test_other_words_are_the_same_shape():
    reworded = edited({"op": "replace", "node": "n1", "text": "Look twice"})
    assert program(reworded) != program(BEFORE)
    assert shape(reworded) == shape(BEFORE)
    assert shape(EXPECTED) != shape(BEFORE)


def test_what_should_stay_and_does_not_is_seen():
    careless = edited(
        {"op": "delete", "node": "n5"}, {"op": "replace", "node": "n1", "at": [[1, 1]]}
    )
    assert kept(BEFORE, EXPECTED, EXPECTED) == 1
    assert kept(BEFORE, EXPECTED, careless) < 1
    assert bindings(BEFORE, EXPECTED, careless) < bindings(BEFORE, EXPECTED, EXPECTED) == 1
