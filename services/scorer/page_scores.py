"""Scores of a workflow that depend on its pages alone; kept as JSON."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Self

from services.contracts.scorer import Dimension
from services.grounding.evidence import terms_of
from services.grounding.grounder import GROUNDED
from services.kit.value import Value
from services.knowledge.page.block import BlockKind, plain
from services.knowledge.page.parsing import REMEMBERED_LENGTH, parse_page
from services.runbook.evidence.conditions import Condition
from services.runbook.evidence.fact import BY_EVIDENCE
from services.scorer.cases import ScoringCase
from services.workflow.model import ShownPage, Workflow

REASON = "The page itself, as it is: nothing was drawn, so nothing was lost."
_BEST = 5.0
_REMEMBERED = 1024


class DocumentSupport(Value):
    """Share of a workflow that one document supports."""

    steps: int
    """Number of steps that it supports enough."""
    support: float
    """Summed support, each 0–1, of the steps that it supports best."""


class PageScores(Value):
    """Scores of a workflow apart from the ticket, which adds relevance and the page's chance."""

    page: str
    """Document that most steps cite; empty if no page is known."""
    dimensions: dict[str, Dimension]
    """Dimensions by name, all but relevance."""
    told: int
    """Number of steps that a page should state."""
    rests: dict[str, DocumentSupport]
    """Support by document."""
    said: frozenset[str]
    """Stemmed words of all steps and commands."""
    is_page: bool = False
    """True if the workflow is the page itself, as it is."""
    conditions: tuple[Condition, ...] = ()
    """Conditions with their chances; what a person or a model decided overrides the evidence."""

    @classmethod
    def of(cls, case: ScoringCase, dimensions: Mapping[str, Dimension]) -> Self:
        """Build the scores from a case and the dimensions of its criteria."""
        overrides = {each.fact: each.chance for each in case.decided if each.by != BY_EVIDENCE}
        return cls(
            page=case.drawn.page,
            dimensions=dict(dimensions),
            told=len(case.explicit_steps),
            rests=_support_by_document(case),
            said=frozenset(
                term
                for step in case.workflow.steps
                for text in (step.text, *step.commands)
                for term in terms_of(text)
            ),
            conditions=tuple(
                Condition.of(each.fact, overrides.get(each.fact, each.chance))
                for each in case.conditions
            ),
        )


def score_checklist(workflow: Workflow, criteria: tuple[str, ...]) -> PageScores:
    """Return the scores of a checklist: the page itself loses nothing but relevance.

    `criteria` are the names of all dimensions but relevance; each has its best value.

    Raises:
        ValueError: The workflow shows no page.
    """
    if workflow.page is None:
        raise ValueError("expected a checklist, got a workflow without a page")
    terms = _terms if len(workflow.page.text) <= REMEMBERED_LENGTH else _terms_of
    steps = max(1, len(workflow.steps))
    return PageScores(
        page=workflow.page.document_id,
        dimensions=dict.fromkeys(criteria, Dimension(value=_BEST, reason=REASON)),
        told=steps,
        rests={workflow.page.document_id: DocumentSupport(steps=steps, support=float(steps))},
        said=terms(workflow.page),
        is_page=True,
    )


def _terms_of(shown: ShownPage) -> frozenset[str]:
    """Return the stemmed words of the open sections, or of the whole page if none is open."""
    page = parse_page(shown.text, withheld=shown.withheld)
    words: set[str] = set()
    for place in page.places():
        block = place.block
        is_open = not shown.open or any(h.key in shown.open for h in (*place.headings, block))
        if not is_open or block.is_withheld or block.kind is BlockKind.FRONT_MATTER:
            continue
        cells = [plain(cell) for row in (block.header, *block.rows) for cell in row]
        for text in (block.text, block.verbatim, *cells):
            words.update(terms_of(text))
    return frozenset(words)


_terms = lru_cache(maxsize=_REMEMBERED)(_terms_of)


def _support_by_document(case: ScoringCase) -> dict[str, DocumentSupport]:
    supports: dict[str, DocumentSupport] = {}
    for each in case.explicit_steps:
        if each.unit:
            previous = supports.get(each.unit.document_id, DocumentSupport(steps=0, support=0.0))
            supports[each.unit.document_id] = DocumentSupport(
                steps=previous.steps + each.is_grounded,
                support=previous.support + min(1.0, each.support / GROUNDED),
            )
    return supports
