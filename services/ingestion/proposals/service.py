"""Pages that are proposed, looked at and accepted: nothing of them is found before that."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from services.contracts.proposals import (
    ACCEPTED_PAGES,
    Acceptance,
    Dismissal,
    ProposalDetail,
    ProposalOrigin,
    ProposalState,
    ProposalSummary,
    ProposedPage,
    SourceRun,
    Validation,
)
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.jobs.records import new_job
from services.ingestion.jobs.service import RUN_JOB
from services.ingestion.proposals.page import (
    CheckedPage,
    checked_page,
    clean_page_text,
    document_name,
    edited_page,
)
from services.ingestion.proposals.records import (
    DAY_S,
    found_proposal,
    latest,
    shown_detail,
    shown_summary,
)
from services.ingestion.settings import IngestionSettings
from services.ingestion.tables import ProposalRow
from services.kit.access.audit import add_audit
from services.kit.access.caller import PLATFORM_KEY, Caller, Kind, current_caller
from services.kit.access.scopes import Scope
from services.kit.errors import ConflictError, ForbiddenError
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.text import clean_text
from services.procedure.model import Reading, as_json

_SHORT_ID = 8


class DecidedProposalError(ConflictError):
    """Somebody decided about it before."""


class ChangedProposalError(ConflictError):
    """It is not what the caller saw."""


class KnownPageError(ConflictError):
    """A document says the same already."""


class NotAccepterError(ForbiddenError):
    """The caller may not vouch for it."""


class NotLearnedHereError(ForbiddenError):
    """A page is said to be learned by somebody who was not asked to learn it."""


class ProposalService:
    """See `contracts.proposals.Proposals`: what is decided is stored, and a job makes it so."""

    def __init__(self, database: Database, outbox: Outbox, settings: IngestionSettings) -> None:
        self._database = database
        self._outbox = outbox
        self._settings = settings

    def propose(self, page: ProposedPage) -> ProposalDetail:
        """See `Proposals.propose`."""
        is_person = current_caller().kind in {Kind.PERSON, Kind.KEY}
        if page.origin is ProposalOrigin.LEARNED and is_person and not _is_platform():
            raise NotLearnedHereError("the platform proposes what it learned: it knows the runs")
        found = checked_page(page)
        row = _new_row(page, found)
        statement = (
            self._database.insert(ProposalRow)
            .values(row)
            .on_conflict_do_nothing(index_elements=["key"])
            .returning(ProposalRow.id)
        )
        with self._database.session() as session:
            if session.scalar(statement) is not None:
                told = {"document": row["document_id"], "runs": len(page.runs)}
                add_audit(session, "proposal.proposed", row["id"], after=told)
            mine = select(ProposalRow).where(ProposalRow.key == row["key"])
            return self._shown(session.scalars(mine).one())

    def proposals(self, state: ProposalState | None = None) -> list[ProposalSummary]:
        """See `Proposals.proposals`."""
        days = self._settings.learned_expires_days
        with self._database.session() as session:
            return [shown_summary(row, days) for row in session.scalars(latest(state))]

    def proposal(self, proposal_id: str) -> ProposalDetail:
        """See `Proposals.proposal`."""
        with self._database.session() as session:
            return self._shown(found_proposal(session, proposal_id))

    def accept(self, proposal_id: str, acceptance: Acceptance) -> ProposalDetail:
        """See `Proposals.accept`."""
        caller = current_caller()
        with self._database.session() as session:
            row = found_proposal(session, proposal_id)
        self._check_accepter(caller, row)
        _expect(row, acceptance.text_hash)
        kept = CheckedPage(row.text, Reading.model_validate(row.reading))
        text = clean_page_text(acceptance.text)
        page = edited_page(kept, text) if text and text != kept.text else kept
        if Ledger(self._database).with_texts([page.text_hash]):
            raise KnownPageError("a document has this very text already: its reading is approved")
        values = {
            "text": page.text,
            "text_hash": page.text_hash,
            "kept_hash": page.text_hash,
            "reading": as_json(page.reading),
            "original": row.text if page.text != row.text else "",
        }
        with self._database.session() as session:
            self._decide(session, row, ProposalState.PROPOSED, ProposalState.ACCEPTED, values)
        return self.proposal(proposal_id)

    def reject(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """See `Proposals.reject`."""
        return self._dismiss(proposal_id, ProposalState.PROPOSED, ProposalState.REJECTED, dismissal)

    def withdraw(self, proposal_id: str, dismissal: Dismissal) -> ProposalDetail:
        """See `Proposals.withdraw`."""
        return self._dismiss(
            proposal_id, ProposalState.ACCEPTED, ProposalState.WITHDRAWN, dismissal
        )

    def validate(self, validation: Validation) -> None:
        """See `Proposals.validate`."""
        at = min(_in_utc(validation.at).timestamp(), time.time())
        ids = [clean_text(each) for each in validation.document_ids]
        is_news = func.coalesce(ProposalRow.validated_at, ProposalRow.decided_at) < at
        statement = (
            update(ProposalRow)
            .where(
                ProposalRow.document_id.in_(ids),
                ProposalRow.state == ProposalState.ACCEPTED.value,
                is_news,
            )
            .values(validated_at=at)
            .returning(ProposalRow.id)
        )
        with self._database.session() as session:
            told = {"run": clean_text(validation.run_id)}
            for proposal_id in session.scalars(statement).all():
                add_audit(session, "proposal.validated", proposal_id, after=told)

    def expire(self) -> None:
        """Take out the learned pages that no run has shown to hold for too long."""
        days = self._settings.learned_expires_days
        if not days:
            return
        before = time.time() - days * DAY_S
        since = func.coalesce(ProposalRow.validated_at, ProposalRow.decided_at)
        due = select(ProposalRow).where(
            ProposalRow.state == ProposalState.ACCEPTED.value,
            ProposalRow.origin == ProposalOrigin.LEARNED.value,
            since < before,
        )
        with self._database.session() as session:
            rows = list(session.scalars(due))
        why = {"why": f"no run showed within {days} days that it holds"}
        for row in rows:
            with self._database.session() as session:
                self._move(
                    session, row, ProposalState.ACCEPTED, ProposalState.EXPIRED, why, since < before
                )

    def _dismiss(
        self, proposal_id: str, before: ProposalState, after: ProposalState, dismissal: Dismissal
    ) -> ProposalDetail:
        _check_person(current_caller())
        with self._database.session() as session:
            row = found_proposal(session, proposal_id)
            self._decide(session, row, before, after, {"why": clean_text(dismissal.why)})
        return self.proposal(proposal_id)

    def _decide(
        self,
        session: Session,
        row: ProposalRow,
        before: ProposalState,
        after: ProposalState,
        values: Mapping[str, Any],
    ) -> None:
        """Let one of those who decide at once be the one.

        Raises:
            DecidedProposalError: Somebody else was.
        """
        if not self._move(session, row, before, after, values):
            raise _decided(found_proposal(session, row.id))

    def _move(
        self,
        session: Session,
        row: ProposalRow,
        before: ProposalState,
        after: ProposalState,
        values: Mapping[str, Any],
        *conditions: Any,  # noqa: ANN401 - of SQL
    ) -> bool:
        caller = current_caller()
        decided = {
            "state": after.value,
            "decided_by": caller.name[:200],
            "decided_by_id": caller.id[:400],
            "decided_kind": caller.kind.value,
            "decided_at": time.time(),
        }
        is_mine = (ProposalRow.id == row.id, ProposalRow.state == before.value, *conditions)
        changed = update(ProposalRow).where(*is_mine).values(decided | dict(values))
        if session.scalar(changed.returning(ProposalRow.id)) is None:
            return False
        told = {"document": row.document_id, "is_edited": bool(values.get("original"))}
        add_audit(
            session, f"proposal.{after.value}", row.id, before={"state": before.value}, after=told
        )
        if ProposalState.ACCEPTED in {before, after}:
            self._queue(session)
        return True

    def _queue(self, session: Session) -> None:
        """Bring the documents in line with what is decided, with whatever else is by then."""
        job = new_job(
            Path(ACCEPTED_PAGES), ACCEPTED_PAGES, is_upload=False, is_queued=True, prune=True
        )
        session.add(job)
        self._outbox.put(session, RUN_JOB, {"job_id": job.id}, key=f"{RUN_JOB}:{job.id}")

    def _check_accepter(self, caller: Caller, row: ProposalRow) -> None:
        _check_person(caller)
        if caller.kind is Kind.LOCAL or self._settings.proposer_may_accept:
            return
        is_same = (
            caller.lasting_id == row.proposed_by_id
            if row.proposed_by_id
            else f" and {caller.name} and " in f" and {row.proposed_by} and "
        )
        if is_same:
            raise NotAccepterError(
                "whoever had a page written does not accept it: another one does"
            )

    def _shown(self, row: ProposalRow) -> ProposalDetail:
        return shown_detail(row, self._settings.learned_expires_days)


def _new_row(page: ProposedPage, found: CheckedPage) -> dict[str, Any]:
    by, by_id = _proposer(page)
    id_ = time_ordered_id()
    title = " ".join(clean_text(page.title).split())
    return {
        "id": id_,
        "key": clean_text(page.key),
        "document_id": document_name(page.origin, title, id_.replace("-", "")[-_SHORT_ID:]),
        "title": title,
        "origin": page.origin.value,
        "state": ProposalState.PROPOSED.value,
        "text": found.text,
        "text_hash": found.text_hash,
        "original": "",
        "reading": as_json(found.reading),
        "runs": [_run(each) for each in page.runs],
        "proposed_by": by,
        "proposed_by_id": by_id,
        "proposed_at": time.time(),
        "decided_by": "",
        "decided_by_id": "",
        "decided_kind": "",
        "why": "",
        "kept_hash": "",
        "is_vouched": False,
    }


def _proposer(page: ProposedPage) -> tuple[str, str]:
    """Who had it written: the caller, unless that is the platform, which knows better."""
    caller = current_caller()
    if _is_platform():
        return clean_text(page.proposed_by), ""
    return caller.name[:200], caller.lasting_id[:400]


def _is_platform() -> bool:
    caller = current_caller()
    return caller.kind is Kind.PLATFORM or caller == PLATFORM_KEY


def _run(run: SourceRun) -> dict[str, Any]:
    told = run.model_dump(mode="json")
    return {name: clean_text(value) for name, value in told.items()}


def _expect(row: ProposalRow, text_hash: str) -> None:
    if row.state != ProposalState.PROPOSED:
        raise _decided(row)
    if row.text_hash != text_hash:
        raise ChangedProposalError("it is not the text that you saw: look at it again")


def _decided(row: ProposalRow) -> DecidedProposalError:
    by = f" by {row.decided_by}" if row.decided_by else ""
    return DecidedProposalError(f"it is {row.state}{by}: look at it again")


def _check_person(caller: Caller) -> None:
    """Whoever decides is a person, or sits at a machine where nobody needs to sign in."""
    if caller.kind not in {Kind.PERSON, Kind.LOCAL} or not caller.may(Scope.APPROVE):
        raise NotAccepterError(f"{caller.name} may not decide: an approver does, and no key")


def _in_utc(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
