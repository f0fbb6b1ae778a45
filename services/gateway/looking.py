"""The executor hears of workflows that surely fit: it may look before anybody asks for it."""

from collections.abc import Callable

from services.contracts.execution import Execution, LookAtOnce
from services.kit.errors import NotFoundError


class Looking:
    """Tells it; told again, it looks once."""

    def __init__(self, execution: Callable[[], Execution]) -> None:
        self._execution = execution

    def run(self, ticket_id: str, workflow_id: str) -> None:
        """Of this workflow; a ticket that was purged meanwhile is looked at by nobody."""
        wanted = LookAtOnce(ticket_id=ticket_id, workflow_id=workflow_id)
        try:
            self._execution().look_at_once(wanted)
        except NotFoundError:
            return
