"""A page that was learned, its reading, and a stand on which it is proposed."""

from datetime import UTC, datetime

from services.contracts.proposals import Acceptance, ProposalOrigin, ProposedPage, SourceRun
from services.ingestion.proposals.service import ProposalService
from services.ingestion.tasks import register
from services.kit.access.caller import Caller, CallerKind, acting_as
from services.kit.access.scopes import Role, scopes_of_roles
from services.runbook.model import Reading
from tests.unit.ingestion.harness import IngestionHarness

TEXT = """# Pump pressure low on the cooling loop

The alert PumpPressureDown tells of it.

1. Check the pressure at the manifold.
2. If the filter is clogged, replace the filter.
3. Check the pressure at the manifold again.
"""
READING = Reading.model_validate(
    {
        "reader": "person",
        "procedures": [
            {
                "title": "Pump pressure low on the cooling loop",
                "at": [[1, 7]],
                "steps": [
                    {"do": "Check the pressure at the manifold", "at": [[5, 5]]},
                    {
                        "choice": "exclusive",
                        "at": [[6, 6]],
                        "arms": [
                            {
                                "when": "Is the filter clogged?",
                                "at": [[6, 6]],
                                "steps": [{"do": "Replace the filter", "at": [[6, 6]]}],
                            }
                        ],
                    },
                    {"do": "Check the pressure at the manifold again", "at": [[7, 7]]},
                ],
            }
        ],
    }
)
APPROVER = Caller("Ada", CallerKind.PERSON, "idp:ada", scopes_of_roles(frozenset({Role.APPROVER})))
OTHER = Caller("Bo", CallerKind.PERSON, "idp:bo", scopes_of_roles(frozenset({Role.APPROVER})))
RESPONDER = Caller("Cy", CallerKind.PERSON, "idp:cy", scopes_of_roles(frozenset({Role.RESPONDER})))


def run(number=1, **changed):
    fields = {
        "ticket_id": f"t{number}",
        "ticket_title": "PumpPressureDown",
        "run_id": f"r{number}",
        "outcome": "recovered",
        "at": datetime(2026, 1, number, tzinfo=UTC),
    }
    return SourceRun(**fields | changed)


def page(**changed):
    fields = {
        "key": "pump",
        "title": "Pump pressure low",
        "text": TEXT,
        "reading": READING,
        "origin": ProposalOrigin.LEARNED,
        "runs": (run(1), run(2), run(3)),
    }
    return ProposedPage(**fields | changed)


def proposals_of(harness: IngestionHarness) -> ProposalService:
    return ProposalService(harness.database, harness.outbox, harness.settings)


def work(harness: IngestionHarness) -> None:
    """What a worker does, until nothing is left."""
    register(harness.outbox, harness.service.runner, NoSyncs())
    while harness.outbox.run_next("ingestion"):
        pass


class NoSyncs:
    """No syncs."""

    run = notify = park = staticmethod(lambda *_args, **_kwargs: None)


def accept(harness: IngestionHarness, proposal, caller=APPROVER, text=""):
    with acting_as(caller):
        return proposals_of(harness).accept(
            proposal.id, Acceptance(text=text, text_hash=proposal.text_hash)
        )
