"""Pages about switches in many forms, and the context a planner would get for them."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from services.contracts.planner import PlanRequest
from services.contracts.retrieval import PageReading
from services.contracts.ticket import TicketDraft
from services.ingestion.structure.nodes import extract_nodes
from services.knowledge.document.markdown import parse
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import Document, IncidentNode, KnowledgeContext, RetrievedNode
from services.runbook.model import Reader
from services.runbook.ports import Approval, ApprovalKind, ServedReading
from tests.readings import drawn_reading
from tests.unit.runbook.programs import ask, do

NUMBERED = """\
# CRC errors on an uplink

The port counts frames with a bad checksum.

## Diagnosis

1. Read the error counters:

   ```console
   leaf-3# show interfaces Ethernet12 counters errors
   Port        FCS    Align
   Ethernet12  4711   0
   ```

2. Check the receive power. If it is below -12 dBm, clean the connector. Otherwise leave the fibre
   alone.

## Mitigation

1. Replace the cable.
2. Move the link to a spare port.
"""
NUMBERED_STEPS = (
    do("Read the error counters", 7, commands=["show interfaces Ethernet12 counters errors"]),
    do("Check the receive power", 15),
    ask("Is it below -12 dBm?", do("Clean the connector", 15), at=[[15, 15]]),
    do("Replace the cable", 20),
    do("Move the link to a spare port", 21),
)

CAUSES = """\
# BGP session stays in Active

## Symptom

The neighbour never reaches Established.

## Likely causes

- The remote AS number is wrong on one side
- An ACL drops TCP port 179 between the loopbacks
- The loopback of the neighbour is not reachable

## Fixes

1. Allow TCP port 179 in the ACL between the loopbacks.
2. Correct the remote AS number in the neighbour statement.
3. Restore the route to the loopback of the neighbour.

## See also

- Routing policy handbook
"""

TABLE = """\
# Port LED is not green

## What the colours say

| Observation | Action |
|---|---|
| The LED is amber | Clean the optic |
| The LED is dark | Insert a module. Open the port. |
"""

CHECKED_TABLE = """\
# Queue grows

| Symptom | How to check | Fix |
|---|---|---|
| Consumers are gone | Run `systemctl status consumer` | Start the consumers |
| The disk is full | Run `df -h /var` | Delete old segments |
"""

SCENARIOS = """\
# Optics on the spine

## Known faults

### Receive power is low

**Cause:** the connector is dirty.

**Fix:** clean the connector with the dry cleaner.

### Module is too hot

**Cause:** the airflow is blocked.

**Fix:** remove the cables in front of the outlet.
"""

INDEX = """\
# Fabric health walk

Finds out why a leaf is slow.

## Steps

- [Fans](/steps/fans)
- [Power](/steps/power)
- [Uplinks](/steps/uplinks)
- [End](/steps/end)
"""

STEP = """\
# {name}

## Description

{description}

## Failure remediation

{remedy}
"""


def nodes(text: str, id_: str = "net/page.md") -> list[IncidentNode]:
    page = parse(text)
    title = next(section.title for section in page.sections if section.title)
    document = Document(id=id_, title=title, text=text, content_hash="0")
    return extract_nodes(document, HashingEmbedder())


def page(text: str, id_: str, score: float = 0.9) -> PageReading:
    """A page that nobody has read, as retrieval hands it out."""
    title = next(section.title for section in parse(text).sections if section.title)
    return PageReading(document_id=id_, title=title, score=score, text=text)


def read(
    text: str,
    id_: str,
    score: float = 0.9,
    *,
    steps: Sequence[dict[str, Any]] = NUMBERED_STEPS,
    reader: Reader = Reader.MODEL,
    approved: bool = False,
    kind: ApprovalKind = ApprovalKind.WORKFLOW,
) -> PageReading:
    """The same page with a reading of these steps."""
    unread = page(text, id_, score)
    reading = drawn_reading(unread.title, *steps, reader=reader)
    approval = Approval(by="local", at=datetime(2026, 1, 1, tzinfo=UTC), kind=kind)
    served = ServedReading(reading=reading, approvals=(approval if approved else None,))
    return unread.model_copy(update={"served": served})


def request(ticket: TicketDraft, *pages: tuple[str, str]) -> PlanRequest:
    """The request of a ticket for which these pages (id, text) were found, the best first."""
    return PlanRequest(
        ticket=ticket,
        context=context(*(nodes(text, id_) for id_, text in pages)),
        pages=tuple(page(t, id_, 0.9 - 0.05 * n) for n, (id_, t) in enumerate(pages)),
    )


def context(*pages: list[IncidentNode], linked: tuple[IncidentNode, ...] = ()) -> KnowledgeContext:
    hits = [
        RetrievedNode(node=of_page[0], score=0.9 - 0.1 * place)
        for place, of_page in enumerate(pages)
    ]
    return KnowledgeContext(nodes=tuple(hits), linked=linked, confidence=0.9)


RESTORE = """\
# Fabric manager does not start

## Procedure

1. Run `show fabric status`.
2. If the manager runs, close the ticket. Otherwise continue with the restore.
3. Clear the first session.
4. Wait two minutes.
5. Clear the second session.
6. Wait two minutes.
7. If the standby lags behind, escalate to the fabric team. Otherwise promote the standby.
"""
