"""Rows of drawn pages, read from JSON Lines: a ticket, the page, and its procedure as a graph.

A row names its page in `doc`, or holds it in `text`. One without `reference` is a page whose
procedure has no condition at all.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from evaluation.material.pairs import PairsError, draft_of, is_fitted
from services.contracts.ticket import TicketDraft
from services.kit.files import read_json_lines
from services.workflow.model import StepKind

LineRange = tuple[int, int]
"""First and last line, both included."""
Ids = Literal["even", "odd", "all"]


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


class GoldNode(_Line):
    """A step of the gold graph."""

    id: str
    label: str = ""
    kind: str = StepKind.PROCESS
    core: bool = False
    """Without it the procedure was not carried out."""
    lines: tuple[LineRange, ...] | None = None
    """Those that say it, none where no line does; None in a set that tells lines of no node."""


class GoldEdge(_Line):
    """An edge of the gold graph."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    label: str = ""


class GoldGraph(_Line):
    """The procedure as a careful reader drew it."""

    nodes: tuple[GoldNode, ...]
    edges: tuple[GoldEdge, ...] = ()


class _TicketText(_Line):
    title: str
    description: str = ""


class LogicRow(_Line):
    """One page with what a workflow for its ticket is held against."""

    id: str
    set: str = "all"
    doc: str = ""
    text: str = ""
    title: str = ""
    query: str = ""
    ticket: _TicketText | None = None
    reference: GoldGraph | None = None

    @property
    def is_straight(self) -> bool:
        """Whether the page has no condition, so that every decision is invented."""
        return self.reference is None

    @property
    def page(self) -> str:
        """The id of its document; the row's own id where the row holds the text."""
        return self.doc or self.id

    @property
    def draft(self) -> TicketDraft:
        """The ticket; where there is none, the query or the title stands for it."""
        if self.ticket is None:
            return draft_of(self.query or self.title, self.id)
        return TicketDraft(
            source="bench",
            external_id=self.id,
            title=self.ticket.title,
            description=self.ticket.description,
        )


def read_rows(path: Path) -> list[LogicRow]:
    """All rows of a file, in its order.

    Raises:
        PairsError: The file cannot be read, or a line is not a row or repeats an id.
    """
    rows: dict[str, LogicRow] = {}
    for place, row in read_json_lines(path, LogicRow):
        if row.id in rows:
            raise PairsError(f"{place}: the id {row.id!r} was there before")
        rows[row.id] = row
    return list(rows.values())


def chosen_rows(
    rows: Sequence[LogicRow], ids: Ids = "all", limit_per_set: int = 0, first: int = 0
) -> list[LogicRow]:
    """Those whose id is in this half, of each set the first ones, of all the first; 0 for all."""
    half = [row for row in rows if ids == "all" or is_fitted(row.id) == (ids == "even")]
    taken: dict[str, int] = {}
    chosen = []
    for row in half:
        taken[row.set] = taken.get(row.set, 0) + 1
        if not limit_per_set or taken[row.set] <= limit_per_set:
            chosen.append(row)
    return chosen[:first] if first else chosen
