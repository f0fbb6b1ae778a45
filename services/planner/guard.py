"""No destructive command before somebody has looked."""

from services.planner.assembly import assemble
from services.planner.draft import Do, Draft, Element
from services.workflow.lint import danger_without_check


def guarded(draft: Draft) -> Draft:
    """The draft, with a check of the fault put first when a path leads to danger without one."""
    if not any(danger_without_check(assemble(draft), {})):
        return draft
    first, *rest = draft.elements
    check = Do(f"Confirm that this is the fault: {first.text}", first.cites)
    elements: tuple[Element, ...] = (check, *rest) if isinstance(first, Do) else draft.elements
    return Draft(
        strategy=draft.strategy,
        title=draft.title,
        elements=elements,
        fitness=draft.fitness,
        document_ids=draft.document_ids,
        node_ids=draft.node_ids,
    )
