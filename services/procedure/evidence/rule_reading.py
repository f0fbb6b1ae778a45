"""What the rules read on the cited pages, to hold candidates against."""

from functools import lru_cache

from services.procedure.evidence.drawn import Drawn
from services.procedure.lowering import lower
from services.procedure.model import Reader
from services.procedure.rules import read_by_rules
from services.workflow.model import Workflow

_REMEMBERED = 256


def rules_beside(drawn: Drawn) -> Drawn | None:
    """Of the page that most steps cite, the procedure that shares most lines with the candidate.

    None where there is none, and where the candidate is of the rules: agreeing with itself is no
    evidence.
    """
    if not drawn.page or is_of_rules(drawn.workflow):
        return None
    lines = drawn.lines_of(drawn.workflow.steps)
    read = (Drawn(each, drawn.source) for each in _by_rules(drawn.page, drawn.page_text))
    return max(read, key=lambda each: len(each.lines_of(each.workflow.steps) & lines), default=None)


def is_of_rules(workflow: Workflow) -> bool:
    """Whether the workflow is what the rules read."""
    return bool(workflow.provenance and workflow.provenance.reader == Reader.RULES.value)


@lru_cache(maxsize=_REMEMBERED)
def _by_rules(document_id: str, text: str) -> tuple[Workflow, ...]:
    return tuple(lower(each, document_id) for each in read_by_rules(text).procedures)
