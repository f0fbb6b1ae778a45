"""The planner without a model: procedures of the best documents, read in competing ways."""

from collections.abc import Sequence

from services.knowledge.model import IncidentNode, KnowledgeContext
from services.planner.article import Article, articles
from services.planner.differential import differential_diagnosis
from services.planner.draft import Draft
from services.planner.linked_steps import linked_steps
from services.planner.procedure import ordered_procedure


def drafts(context: KnowledgeContext, *, documents: int = 3) -> list[Draft]:
    """Competing drafts of the best documents, the favourite first.

    Each document is read in the way its form suits best; the first one also in the second best.
    """
    found: list[Draft] = []
    second: list[Draft] = []
    for article in articles(context):
        made = readings(article, context.linked)
        if made and not found:
            second = made[1:2]
        found.extend(made[:1])
        if len(found) >= documents:
            break
    return [*found, *second]


def readings(article: Article, linked: Sequence[IncidentNode]) -> list[Draft]:
    """All ways of reading one document that give a workflow, the most suitable first."""
    tried = (
        linked_steps(article, linked),
        differential_diagnosis(article),
        ordered_procedure(article),
    )
    return sorted((draft for draft in tried if draft), key=lambda draft: -draft.fitness)
