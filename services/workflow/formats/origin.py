"""Description of whose reading of a page a workflow follows."""

from services.workflow.model import Workflow

_READERS = {
    "rules": "page read by rules",
    "model": "page read by a model",
    "imported": "reading imported",
    "composed": "page written with its procedure",
    "person": "reading corrected by a person",
}
_STATES = {
    "approved": "approved",
    "checklist": "its boxes approved, its decisions not checked",
    "read": "not checked by a person",
}


def describe_reading(workflow: Workflow) -> str:
    """Describe who read the page, how far that was checked, and who chose the page."""
    origin = workflow.provenance
    if origin is None or not origin.reader:
        return ""
    state = _STATES.get(origin.state, origin.state)
    reader = _READERS.get(origin.reader, f"page read by {origin.reader}")
    chosen = f"page chosen by {origin.chosen_by}" if origin.chosen_by else ""
    return ", ".join(filter(None, (reader, state, chosen)))
