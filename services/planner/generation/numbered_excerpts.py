"""Lines of documents shown to the model under one numbering, which its program cites.

The lines of the best page keep the numbers that they have there; what is shown of other pages is
numbered on. So a program of several pages is a program of one text, and all that reads, checks and
draws programs of a page does so here.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from services.runbook.by_model.question import numbered_lines
from services.workflow.model import Citation

_SourceLine = tuple[str, int]
"""A document and a line of it."""


@dataclass(frozen=True)
class Excerpt:
    """Consecutive lines of a document."""

    document_id: str
    title: str
    start: int
    """Number of its first line in the document."""
    lines: tuple[str, ...]
    safe: tuple[str, ...]
    """The same lines without secrets."""

    @property
    def end(self) -> int:
        """Number of its last line in the document."""
        return self.start + len(self.lines) - 1

    def holds(self, document_id: str, first: int, last: int) -> bool:
        """Return True if these lines of a document are among its own."""
        return self.document_id == document_id and self.start <= first and last <= self.end


class NumberedExcerpts:
    """Excerpts with the numbers under which their lines are shown."""

    def __init__(self, page: Sequence[Excerpt] = (), others: Sequence[Excerpt] = ()) -> None:
        """Number the excerpts; those of `page` are in its order and keep their line numbers."""
        self.numbered = [(excerpt.start, excerpt) for excerpt in page]
        following = max((excerpt.end for excerpt in page), default=0) + 1
        for excerpt in others:
            self.numbered.append((following, excerpt))
            following += len(excerpt.lines)

    @property
    def excerpts(self) -> list[Excerpt]:
        """All of them, in the order of their numbers."""
        return [excerpt for _, excerpt in self.numbered]

    @cached_property
    def text(self) -> str:
        """The lines at their numbers; a line of the best page that is not shown is empty."""
        lines = {first + n: line for first, e in self.numbered for n, line in enumerate(e.lines)}
        return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))

    def __str__(self) -> str:
        """Return the text for the model: each excerpt under its title, secrets left out."""
        parts = (
            "\n".join((f"Page: {excerpt.title}", *numbered_lines(excerpt.safe, first)))
            for first, excerpt in self.numbered
        )
        return "\n\n".join(parts) or "(none)"

    def source_citations(self, citations: Sequence[Citation]) -> tuple[Citation, ...]:
        """Convert citations of these numbers to lines of documents; lines not shown are dropped.

        Neighbouring lines of a document are one citation.
        """
        places = [
            place
            for number, place in sorted(self._places.items())
            if any(cited.start_line <= number <= cited.end_line for cited in citations)
        ]
        ranges = []
        for _, run in groupby(
            enumerate(places), key=lambda item: (item[1][0], item[1][1] - item[0])
        ):
            together = [place for _, place in run]
            (document_id, first), (_, last) = together[0], together[-1]
            ranges.append(Citation(document_id=document_id, start_line=first, end_line=last))
        return tuple(ranges)

    @cached_property
    def _places(self) -> dict[int, _SourceLine]:
        return {
            first + n: (excerpt.document_id, excerpt.start + n)
            for first, excerpt in self.numbered
            for n in range(len(excerpt.lines))
        }
