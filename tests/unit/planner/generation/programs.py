"""Programs as a scripted model writes them, and a planner that asks it."""

import json

from services.contracts.planner import PlanRequest
from services.contracts.ticket import TicketDraft
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.guard import GuardedChatModel
from services.planner.service import PlannerService
from services.planner.settings import PlannerSettings
from services.workflow.model import Workflow
from tests.unit.planner.pages import CAUSES, NUMBERED, request

TICKET = TicketDraft(
    source="generic",
    external_id="1",
    title="CRC errors on Ethernet12",
    labels={"port": "Ethernet12"},
)
REQUEST = request(TICKET, ("a.md", NUMBERED), ("b.md", CAUSES))


def line(text: str, page: str = NUMBERED) -> list[list[int]]:
    """Where the page says this, as a program cites it."""
    number = next(n for n, page_line in enumerate(page.splitlines(), 1) if text in page_line)
    return [[number, number]]


COUNTERS = {"do": "Read the error counters", "at": [[7, 12]], "core": True}
POWER = {
    "choice": "exclusive",
    "arms": [
        {
            "when": "Is the receive power below -12 dBm?",
            "at": line("receive power"),
            "steps": [{"do": "Clean the connector", "at": line("receive power")}],
        }
    ],
    "otherwise": [],
}
CABLE = {"do": "Replace the cable", "at": line("Replace the cable"), "core": True}
SPARE = {"do": "Move the link to a spare port", "at": line("spare port")}


def program(*steps: dict[str, object], **more: object) -> str:
    """An answer; the good one unless other steps are given."""
    body = list(steps) or [COUNTERS, POWER, CABLE, SPARE]
    return json.dumps({"procedures": [{"title": "CRC errors", "steps": body, **more}]})


def planner(model, **settings) -> PlannerService:
    chosen = PlannerSettings(_env_file=None, **{"samples": 1, "corrections": 0, **settings})
    guarded = GuardedChatModel(model, tries=1, sleep=lambda _seconds: None)
    return PlannerService(chosen, model=guarded, embedder=HashingEmbedder())


def written(model, plan_request: PlanRequest = REQUEST, **settings) -> list[Workflow]:
    """What the model wrote."""
    candidates = planner(model, **settings).plan(plan_request).candidates
    return [c.workflow for c in candidates if c.workflow.provenance.planner == "llm"]
