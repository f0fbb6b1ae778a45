"""The planner without a model: procedures of the best documents, read in competing ways."""

from collections.abc import Sequence
from dataclasses import replace

from services.knowledge.embedding.bm25 import tokenise
from services.knowledge.model import IncidentNode, KnowledgeContext
from services.planner.article import Article, articles
from services.planner.differential import differential_diagnosis
from services.planner.draft import Draft
from services.planner.linked_steps import linked_steps
from services.planner.procedure import ordered_procedure

_RIVAL_SCORE = 0.85
"""Share of the best document's relevance from which another competes: where the best one is right,
most others stay under it (even ids of the benchmark)."""
_CLOSE_FITNESS = 0.15
"""Two ways of reading a page compete when neither suits its form much better."""
_NAMED = 0.8
"""Share of a section's own name in the ticket from which the ticket is about that section."""


def drafts(context: KnowledgeContext, ticket_text: str = "", *, documents: int = 3) -> list[Draft]:
    """Competing drafts of the best documents, the favourite first.

    Each document is read in the way its form suits best, the first one also in a second way where
    that suits it nearly as well. A document far less relevant than the best one does not compete,
    even where the best one describes no procedure: an unrelated procedure does harm.
    """
    found: list[Draft] = []
    second: list[Draft] = []
    known = (*context.linked, *(hit.node for hit in context.nodes))
    competing = _one_per_document(articles(context), ticket_text)
    bar = _RIVAL_SCORE * max((article.score for article in competing), default=0.0)
    for article in competing:
        made = readings(article, known) if article.score >= bar else []
        if not made:
            continue
        if not found:
            second = [d for d in made[1:2] if d.fitness >= made[0].fitness - _CLOSE_FITNESS]
        found.append(made[0])
        if len(found) >= documents:
            break
    return [*found, *second]


def _one_per_document(found: Sequence[Article], ticket_text: str) -> list[Article]:
    """The page, or the section or row of it that the ticket names."""
    by_document: dict[str, list[Article]] = {}
    for article in found:
        by_document.setdefault(article.document_id, []).append(article)
    words = frozenset(tokenise(ticket_text))
    return [_meant(same, words) for same in by_document.values()]


def _meant(same: Sequence[Article], words: frozenset[str]) -> Article:
    page = max(same, key=lambda article: len(article.parts))
    own = frozenset(tokenise(page.name))
    for article in same:
        name = frozenset(tokenise(article.name)) - own
        if article is not page and name and len(name & words) >= _NAMED * len(name):
            return replace(article, score=max(each.score for each in same))
    return replace(page, score=max(each.score for each in same))


def readings(article: Article, known: Sequence[IncidentNode]) -> list[Draft]:
    """All ways of reading one document that give a workflow, the most suitable first.

    `known` holds the pages that it may link to.
    """
    tried = (
        linked_steps(article, known),
        differential_diagnosis(article),
        ordered_procedure(article),
    )
    return sorted((draft for draft in tried if draft), key=lambda draft: -draft.fitness)
