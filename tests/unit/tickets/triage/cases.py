"""Past tickets of three made-up teams."""

from services.knowledge.embedding.embedders import HashingEmbedder
from services.tickets.triage.routing.cases import case_of
from services.tickets.triage.routing.router import RoutingModel

PARTS = {
    "mail": ["mailspool", "smtp relay", "bounce queue", "greylist"],
    "storage": ["raidcard", "iscsi target", "snapshot pool", "lunmap"],
    "voice": ["sipgate", "call trunk", "codec module", "dialplan"],
}
FAULTS = ["does not answer", "is full", "restarts again and again", "is slow since noon"]


def past_cases():
    pairs = [
        (team, f"The {part} {fault}.") for fault in FAULTS for team in PARTS for part in PARTS[team]
    ]
    return [case_of(str(n), text, team, float(n)) for n, (team, text) in enumerate(pairs)]


def router(teams=(), **options):
    return RoutingModel(past_cases(), teams, HashingEmbedder(), **options)
