"""Readings as somebody would draw them: of small texts beside a test, and of shipped pages."""

import json
from typing import Any

from services.runbook.model import Procedure, Reader, Reading
from services.runbook.program import assign_ids, lines_of
from services.simulator.simulation import READINGS


def drawn_reading(
    title: str, *steps: dict[str, Any], reader: Reader = Reader.PERSON, **parts: Any
) -> Reading:
    """A reading of one procedure; its steps in the notation (`do`, `ask`, `end` of `programs`)."""
    procedure = Procedure.model_validate({"title": title, "steps": steps, **parts})
    lines = lines_of(procedure)
    whole = ((min(lines), max(lines)),) if lines else ()
    located = procedure.model_copy(update={"lines": procedure.lines or whole})
    return assign_ids(Reading(reader=reader, procedures=(located,)))


def reading_of_list(text: str, reader: Reader = Reader.MODEL) -> Reading:
    """A reading of a small page that is one numbered list: a step for each of its lines."""
    steps = [
        {"do": line.partition(". ")[2].rstrip("."), "at": [[number, number]]}
        for number, line in enumerate(text.split("\n"), start=1)
        if line[:1].isdigit()
    ]
    title = next(line[2:] for line in text.split("\n") if line.startswith("# "))
    return drawn_reading(title, *steps, reader=reader)


def simulated_reading(page: str) -> Reading:
    """The reading that comes with a page of the simulated network."""
    rows = map(json.loads, READINGS.read_text(encoding="utf-8").splitlines())
    row = next(row for row in rows if row["document"] == page)
    return Reading.model_validate(row["reading"])
