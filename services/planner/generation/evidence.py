"""What a workflow may rest on: the context, and the pages that the model was shown."""

from services.contracts.planner import PlanRequest
from services.grounding.evidence import Evidence, units_of_page
from services.planner.generation.shown import Shown


def evidence_of(request: PlanRequest, shown: Shown) -> Evidence:
    """The sentences of the context, then those of whole pages that it does not hold."""
    documents = {excerpt.document_id for excerpt in shown.excerpts}
    units = list(Evidence.of(request.context).units)
    known = {(unit.document_id, unit.start_line, unit.text) for unit in units}
    for page in request.pages:
        if page.text and page.document_id in documents:
            units += [
                unit
                for unit in units_of_page(page.document_id, page.text)
                if (unit.document_id, unit.start_line, unit.text) not in known
            ]
    return Evidence(units)
