"""What speaks against a workflow for a ticket, in words that a person weighs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import TicketDraft
from services.gateway.page_choice.choosing import Choice
from services.gateway.page_choice.preference import scores_of
from services.language.words import tokenise
from services.procedure.choose import procedure_for

_NEARLY = 0.93
"""Share of the best page's relevance from which another one fits nearly as well."""
_LOW = 2.5
"""Of the scores 1–5: what is shown as poor everywhere."""
_MOST_NAMES = 3
_MOST_SHOWN = 160
"""Characters of a sentence that a page or a score wrote."""

_NAME = re.compile(
    r"\b(?:[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]*)+"  # KubeNodeNotReady
    r"|[A-Z]{3,}(?:[-_][A-Z0-9]+)*"  # BGP, EX_CONFIG
    r"|[a-z]+(?:_[a-z]+)+"  # node_exporter
    r"|(?<=[a-z,;] )[A-Z][a-z]{3,})\b"  # a product within a sentence
)
"""What a ticket calls by its name."""
_DIGIT = re.compile(r"\d")
"""Names with digits are of this case alone."""


@dataclass(frozen=True)
class Objections:
    """What speaks against one candidate of one ticket."""

    ticket: TicketDraft
    context: RetrievedContext
    scored: ScoredCandidate
    choice: Choice | None = None

    @property
    def told(self) -> tuple[str, ...]:
        """All of it, the weightiest first; never empty."""
        return (
            f"the chance that the closest page treats this fault is {self.context.confidence:.0%}",
            *(self.choice.against(self.context) if self.choice else ()),
            *self._unsaid_names(),
            *self._treated(),
            *self.another_page,
            *self._rivals(),
            *self._low_scores(),
        )

    @cached_property
    def another_page(self) -> tuple[str, ...]:
        """Said when the workflow follows a page that is not the one found to be closest."""
        own = self._origin
        if not own or not self._scores or self._closest in own:
            return ()
        if not own & self._scores.keys():
            return ()
        return (f"another page was found to be closer: {self._title(self._closest)}",)

    def _unsaid_names(self) -> Iterator[str]:
        said = frozenset(tokenise(self._page_text))
        if not said:
            return
        text = "\n".join((self.ticket.alert_name, self.ticket.title, self.ticket.description))
        names = (name for name in dict.fromkeys(_NAME.findall(text)) if not _DIGIT.search(name))
        unsaid = [name for name in names if not _is_said(name, said)]
        if unsaid:
            yield f"the ticket names {_listed(unsaid[:_MOST_NAMES])} and the page does not"

    def _treated(self) -> Iterator[str]:
        """What the page is for, in its own words."""
        text = f"{self.ticket.title}\n{self.ticket.description}"
        for page in self.context.pages:
            if page.document_id in self._followed:
                procedure = procedure_for(page.procedures, text)
                if procedure and procedure.treats:
                    yield f"the page's procedure treats: {_short(procedure.treats)}"
                return

    def _rivals(self) -> Iterator[str]:
        best = self._scores.get(self._closest, 0.0)
        for document_id, score in self._scores.items():
            if document_id not in {*self._followed, self._closest} and score >= _NEARLY * best:
                yield f"another page fits nearly as well: {self._title(document_id)}"
                return

    def _low_scores(self) -> Iterator[str]:
        score = self.scored.score
        for name, dimension in score.dimensions.items():
            if dimension.value < _LOW:
                reason = _short(dimension.reason)
                yield f"its {name} is only {dimension.value:.1f} of 5: {reason}"
        if not self.scored.good_enough:
            yield (
                f"its score of {score.overall:.1f} of 5, {score.relevance.value:.1f} of them for "
                "relevance, is not good enough"
            )

    @cached_property
    def _scores(self) -> dict[str, float]:
        """Relevance by document, the closest document first."""
        return scores_of(self.context)

    @cached_property
    def _closest(self) -> str:
        return next(iter(self._scores), "")

    @cached_property
    def _origin(self) -> frozenset[str]:
        origin = self.scored.candidate.workflow.provenance
        return frozenset(origin.document_ids if origin else ())

    @cached_property
    def _followed(self) -> frozenset[str]:
        """The documents that the workflow was made of; the closest where it does not say."""
        return self._origin or frozenset({self._closest})

    @cached_property
    def _page_text(self) -> str:
        texts = [
            "\n".join((*found.chunk.heading_path, found.chunk.text))
            for found in self.context.chunks
            if found.chunk.span.document_id in self._followed
        ]
        for hit in self.context.nodes:
            if self._followed.intersection(hit.node.document_ids):
                texts += (hit.node.name, *hit.node.aliases)
                texts += (passage.text for passage in hit.node.all_passages())
        return "\n".join(texts)

    def _title(self, document_id: str) -> str:
        titles = (
            found.chunk.heading_path[0]
            for found in self.context.chunks
            if found.chunk.span.document_id == document_id and found.chunk.heading_path
        )
        title = next(titles, "")
        return f"{_short(title)} ({document_id})" if title else document_id


def _is_said(name: str, said: frozenset[str]) -> bool:
    """Whether a page writes it, together or as words of their own."""
    *parts, whole = tokenise(name) or [""]
    return whole in said or (bool(parts) and said.issuperset(parts))


def _listed(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _MOST_SHOWN else f"{words[: _MOST_SHOWN - 1].rstrip()}…"
