"""Objections to a workflow for a ticket, in words that a person weighs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from services.contracts.retrieval import RetrievedContext
from services.contracts.scorer import ScoredCandidate
from services.contracts.ticket import TicketDraft
from services.kit.text import ellipsize, squeeze
from services.language.words import tokenise
from services.runbook.choose import procedure_for
from services.tickets.page_choice.page_chooser import PageChoice
from services.tickets.page_choice.preference import scores_of

_NEARLY = 0.93
"""Share of the best page's relevance from which another one fits nearly as well."""
_LOW = 2.5
"""Score, of 1–5, below which a dimension is shown as poor everywhere."""
_MOST_NAMES = 3
_MOST_SHOWN = 160
"""Characters of a sentence that a page or a score wrote."""

_NAME = re.compile(
    r"\b(?:[A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]*)+"  # KubeNodeNotReady
    r"|[A-Z]{3,}(?:[-_][A-Z0-9]+)*"  # BGP, EX_CONFIG
    r"|[a-z]+(?:_[a-z]+)+"  # node_exporter
    r"|(?<=[a-z,;] )[A-Z][a-z]{3,})\b"  # a product within a sentence
)
"""Pattern of the names in a ticket's text."""
_DIGIT = re.compile(r"\d")
"""Mark of names that are of this case alone."""


@dataclass(frozen=True)
class Objections:
    """Objections to one candidate of one ticket."""

    ticket: TicketDraft
    context: RetrievedContext
    scored: ScoredCandidate
    choice: PageChoice | None = None

    @property
    def reasons(self) -> tuple[str, ...]:
        """All objections, the weightiest first; never empty."""
        return (
            f"the chance that the closest page treats this fault is {self.context.confidence:.0%}",
            *(self.choice.objections(self.context) if self.choice else ()),
            *self._missing_names(),
            *self._declared_purpose(),
            *self.another_page,
            *self._rivals(),
            *self._low_scores(),
        )

    @cached_property
    def another_page(self) -> tuple[str, ...]:
        """Objection that the workflow follows a page other than the closest."""
        own = self._origin
        if not own or not self._scores or self._closest in own:
            return ()
        if not own & self._scores.keys():
            return ()
        return (f"another page was found to be closer: {self._title(self._closest)}",)

    def _missing_names(self) -> Iterator[str]:
        page_terms = frozenset(tokenise(self._page_text))
        if not page_terms:
            return
        text = "\n".join((self.ticket.alert_name, self.ticket.title, self.ticket.description))
        names = (name for name in dict.fromkeys(_NAME.findall(text)) if not _DIGIT.search(name))
        missing = []
        for name in names:  # which a page may have as one word or as its parts
            *parts, whole = tokenise(name) or [""]
            if whole not in page_terms and not (parts and page_terms.issuperset(parts)):
                missing.append(name)
        if missing:
            *others, last = missing[:_MOST_NAMES]
            shown = f"{', '.join(others)} and {last}" if others else last
            yield f"the ticket names {shown} and the page does not"

    def _declared_purpose(self) -> Iterator[str]:
        """Yield the page's own statement of the fault that it treats."""
        text = f"{self.ticket.title}\n{self.ticket.description}"
        for page in self.context.pages:
            if page.document_id in self._followed:
                procedure = procedure_for(page.procedures, text)
                if procedure and procedure.treats:
                    treats = ellipsize(squeeze(procedure.treats), _MOST_SHOWN)
                    yield f"the page's procedure treats: {treats}"
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
                reason = ellipsize(squeeze(dimension.reason), _MOST_SHOWN)
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
            "\n".join((*match.chunk.heading_path, match.chunk.text))
            for match in self.context.chunks
            if match.chunk.span.document_id in self._followed
        ]
        for hit in self.context.nodes:
            if self._followed.intersection(hit.node.document_ids):
                texts += (hit.node.name, *hit.node.aliases)
                texts += (passage.text for passage in hit.node.all_passages())
        return "\n".join(texts)

    def _title(self, document_id: str) -> str:
        titles = (
            match.chunk.heading_path[0]
            for match in self.context.chunks
            if match.chunk.span.document_id == document_id and match.chunk.heading_path
        )
        title = next(titles, "")
        return f"{ellipsize(squeeze(title), _MOST_SHOWN)} ({document_id})" if title else document_id
