"""Readings as JSON lines: what is exported, and what of an import can be used."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from services.kit.errors import InvalidInputError
from services.procedure.model import Reader, Reading, as_json
from services.procedure.ports import ReadingState, ServedReading
from services.procedure.ticket_doubts import without_ticket_doubts

LONGEST_LINE = 4_000_000
"""Bytes of one page's reading; the product's largest has some 60,000."""
MOST_ROWS = 200_000


class UnusableRowError(InvalidInputError):
    """A line of an import is no reading."""


class ReadingLine(BaseModel):
    """One line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    document: str = ""
    """For people; a page that moves keeps its readings."""
    state: ReadingState = ReadingState.READ
    """`approved` where each procedure is."""
    reading: Reading


def line_of(text_hash: str, document: str, served: ServedReading) -> str:
    """What is served of a text, as a line."""
    reading = without_ticket_doubts(served.reading)
    return json.dumps(
        {
            "text_hash": text_hash,
            "document": document,
            "state": state_of(served).value,
            "reading": as_json(reading),
        },
        ensure_ascii=False,
    )


def state_of(served: ServedReading) -> ReadingState:
    """Of the page as a whole."""
    count = len(served.reading.procedures)
    is_approved = all(served.state(at) is ReadingState.APPROVED for at in range(count))
    return ReadingState.APPROVED if count and is_approved else ReadingState.READ


def reading_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, ReadingLine | UnusableRowError]]:
    """Each line that is not blank with its number from 1; what is no reading, as the refusal."""
    for number, line in enumerate(lines, start=1):
        if number > MOST_ROWS:
            yield number, UnusableRowError(f"expected at most {MOST_ROWS} lines: send the rest")
            return
        if line.strip():
            yield number, _row(line)


def _row(line: bytes) -> ReadingLine | UnusableRowError:
    if len(line) > LONGEST_LINE:
        return UnusableRowError(f"the line is longer than {LONGEST_LINE} bytes")
    try:
        row = ReadingLine.model_validate(_parsed(line))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return UnusableRowError(f"{place}: {first['msg']}"[:500])
    except (ValueError, RecursionError) as error:
        return UnusableRowError(f"it is no JSON object: {type(error).__name__}")
    if row.reading.reader is Reader.RULES and row.state is ReadingState.READ:
        page = row.document or row.text_hash
        return UnusableRowError(
            f"{page}: rules read it and nobody checked it: the page is shown as it is"
        )
    return row.model_copy(
        update={"reading": row.reading.model_copy(update={"reader": Reader.IMPORTED})}
    )


def _parsed(line: bytes) -> Any:  # noqa: ANN401 - JSON
    return json.loads(line.decode("utf-8"))
