"""Ticket texts that a strong model wrote for pages, kept by document."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evaluation.material.pairs import write_lines
from services.kit.files import read_json, read_json_lines
from services.runbook.by_model.synthetic_tickets import TICKETS_PROMPT, usable_tickets

RECORDED_TICKET_TEXTS = Path(__file__).parents[1] / "recorded" / "strong_said.jsonl"


class _TicketText(BaseModel):
    text: str


class _Answer(BaseModel):
    tickets: tuple[_TicketText, ...]


class RecordedTicketTexts(BaseModel):
    """The ticket texts of one page."""

    model_config = ConfigDict(frozen=True)

    document: str
    prompt: str
    texts: tuple[str, ...]


def read_ticket_texts(path: Path) -> dict[str, RecordedTicketTexts]:
    """Return the rows by document; none if there is no file.

    Raises:
        PairsError: The file cannot be read, or a line holds something else.
    """
    rows = (row for _, row in read_json_lines(path, RecordedTicketTexts)) if path.exists() else ()
    return {row.document: row for row in rows}


def write_ticket_texts(path: Path, rows: Iterable[RecordedTicketTexts]) -> None:
    """Write the rows in the order of the documents, so that a new answer is a small difference."""
    write_lines(path, rows, lambda row: row.document)


def ticket_texts_in(folder: Path, documents: Mapping[str, str]) -> list[RecordedTicketTexts]:
    """Return the answers in `answer-1.json` and so on; `documents` names the page of each key."""
    return [
        RecordedTicketTexts(
            document=documents[key],
            prompt=TICKETS_PROMPT.label,
            texts=usable_tickets(ticket.text for ticket in answer.tickets),
        )
        for path in sorted(folder.glob("answer-*.json"))
        for key, answer in read_json(path, dict[str, _Answer]).items()
        if key in documents
    ]
