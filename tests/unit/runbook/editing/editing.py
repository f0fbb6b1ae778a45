"""A procedure to edit, and edits given as JSON."""

from typing import Any

from services.runbook.editing.apply import apply
from services.runbook.editing.operations import parse_operations
from services.runbook.editing.outline import Location, Outline
from services.runbook.model import Procedure
from services.runbook.program import with_ids
from tests.unit.runbook.programs import do, end, procedure

FAN = with_ids(
    procedure(
        do("Look at the tray of fan-1", 3, id="look"),
        {
            "id": "loose?",
            "choice": "exclusive",
            "at": [[4, 4]],
            "arms": [
                {
                    "id": "loose",
                    "when": "Is the tray loose?",
                    "at": [[4, 4]],
                    "steps": [
                        do("Seat the tray", 5, id="seat", core=True),
                        do("Wait a minute", 6, id="wait"),
                    ],
                }
            ],
        },
        do("Note the serial number", 7, id="note", commands=["show fan fan-1", "show fan fan-10"]),
        {
            "id": "dark?",
            "choice": "exclusive",
            "arms": [
                {
                    "id": "dark",
                    "when": "Is the rack dark?",
                    "at": [[8, 8]],
                    "steps": [{**end("not_this_fault", "Go to Power", 8), "id": "power"}],
                }
            ],
        },
        {
            "id": "again",
            "repeat": [do("Spin the fan", 9, id="spin")],
            "until": "Does it turn?",
            "at": [[9, 10]],
        },
        escalation=[do("Call the vendor", 12, id="call")],
        parts={"swap": [do("Swap the fan", 14, id="swapped")]},
    )
)


def edited(*operations: dict[str, Any], of: Procedure = FAN) -> Procedure:
    return apply(of, parse_operations(list(operations)))


def standing(procedure: Procedure) -> dict[str, list[str]]:
    """Ids by the body that they are in, those of empty bodies left out."""
    bodies = Outline(procedure).bodies
    return {name: [node.id for node in body] for name, body in bodies.items() if body}


def location_of(procedure: Procedure, id_: str) -> Location:
    return Outline(procedure).locations[id_]


def new_ids(procedure: Procedure, before: Procedure = FAN) -> list[str]:
    existing = Outline(before).locations
    return [id_ for id_ in Outline(procedure).locations if id_ not in existing]
