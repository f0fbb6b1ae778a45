"""What the model is shown: lines of documents under one numbering, which its program cites.

The lines of the best page keep the numbers that they have there; what is shown of other pages is
numbered on. So a program of several pages is a program of one text, and all that reads, checks and
draws programs of a page does so here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from services.procedure.by_model.page import numbered_lines
from services.workflow.model import Citation

_Place = tuple[str, int]
"""A document and a line of it."""


@dataclass(frozen=True)
class Excerpt:
    """Consecutive lines of a document."""

    document_id: str
    title: str
    start: int
    """The number of the first of them in the document."""
    lines: tuple[str, ...]
    safe: tuple[str, ...]
    """The same without secrets."""

    @property
    def end(self) -> int:
        """The number of the last one in the document."""
        return self.start + len(self.lines) - 1

    def holds(self, document_id: str, first: int, last: int) -> bool:
        """Whether these lines of a document are among its own."""
        return self.document_id == document_id and self.start <= first and last <= self.end


class Shown:
    """Excerpts with the numbers that their lines are shown under."""

    def __init__(self, page: Sequence[Excerpt] = (), others: Sequence[Excerpt] = ()) -> None:
        """The excerpts of `page` stand in the order of its lines and keep their numbers."""
        self.placed = [(excerpt.start, excerpt) for excerpt in page]
        following = max((excerpt.end for excerpt in page), default=0) + 1
        for excerpt in others:
            self.placed.append((following, excerpt))
            following += len(excerpt.lines)

    @property
    def excerpts(self) -> list[Excerpt]:
        """All of them, in the order of their numbers."""
        return [excerpt for _, excerpt in self.placed]

    @cached_property
    def text(self) -> str:
        """The lines at their numbers; a line of the best page that is not shown is empty."""
        lines = {first + n: line for first, e in self.placed for n, line in enumerate(e.lines)}
        return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))

    def __str__(self) -> str:
        """As the model sees it: each excerpt under its title, secrets left out."""
        parts = (
            "\n".join((f"Page: {excerpt.title}", *numbered_lines(excerpt.safe, first)))
            for first, excerpt in self.placed
        )
        return "\n\n".join(parts) or "(none)"

    def cited(self, citations: Sequence[Citation]) -> tuple[Citation, ...]:
        """Lines by their numbers here as lines of their documents; those not shown are left out."""
        places = [
            place
            for number, place in sorted(self._places.items())
            if any(cited.start_line <= number <= cited.end_line for cited in citations)
        ]
        return tuple(_ranges(places))

    @cached_property
    def _places(self) -> dict[int, _Place]:
        return {
            first + n: (excerpt.document_id, excerpt.start + n)
            for first, excerpt in self.placed
            for n in range(len(excerpt.lines))
        }


def _ranges(places: Sequence[_Place]) -> Iterator[Citation]:
    """Neighbouring lines of a document as one citation."""
    numbered = enumerate(places)
    for _, run in groupby(numbered, key=lambda item: (item[1][0], item[1][1] - item[0])):
        together = [place for _, place in run]
        (document_id, first), (_, last) = together[0], together[-1]
        yield Citation(document_id=document_id, start_line=first, end_line=last)
