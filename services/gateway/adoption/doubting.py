"""Steps that were rejected or corrected on a ticket are doubts of the readings they came from."""

from sqlalchemy.orm import Session

from services.gateway.adoption.lineage import Lineage
from services.kit.ids import time_ordered_id
from services.kit.outbox import Outbox

DOUBT_TASK = "gateway.tell_doubt"


def put_doubt(session: Session, outbox: Outbox, line: Lineage, step_id: str) -> None:
    """Queue, in the caller's transaction, that ingestion is told how a step stands by then.

    Each time under a key of its own: a task that is on its way may have looked already.
    """
    key = f"{DOUBT_TASK}:{line.candidate_id}:{time_ordered_id()}"
    outbox.put(session, DOUBT_TASK, {"candidate_id": line.candidate_id, "step_id": step_id}, key)
