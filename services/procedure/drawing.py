"""What is served of a page as a graph: the one way from a reading to what is judged and shown."""

from services.procedure.lowering import lower
from services.procedure.ports import ServedReading
from services.workflow.model import Workflow


def draw(served: ServedReading, place: int, document_id: str) -> Workflow:
    """The procedure at that place; what its reading doubts is marked."""
    reading = served.reading
    doubts = {d.node: d.question for d in reading.doubts if d.procedure == place}
    return lower(reading.procedures[place], document_id, doubts)
