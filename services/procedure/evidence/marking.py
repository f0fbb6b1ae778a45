"""A reading's workflow with the chance of each of its conditions, beside the text of its page."""

from collections.abc import Mapping

from services.procedure.evidence.conditions import ConditionForests, conditions_of, with_doubts
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.facts import facts_of
from services.procedure.evidence.page_lines import CitedPages
from services.workflow.model import Workflow

MOST_STEPS = 200
"""Facts grow with the square of the steps: a longer workflow is judged in the background alone."""


def marked(workflow: Workflow, texts: Mapping[str, str], fitted: ConditionForests) -> Workflow:
    """What is doubtful is marked; a workflow of very many steps stays as it is.

    `texts` are those of its pages, by document id.
    """
    if len(workflow.steps) > MOST_STEPS:
        return workflow
    drawn = Drawn(workflow, CitedPages(texts))
    conditions = conditions_of(drawn, facts_of(drawn), fitted)
    return with_doubts(workflow, conditions, fitted.bars)
