"""Proposed pages, from the proposal to the decision: no ticket finds them before that."""

import time
from collections.abc import Mapping
from datetime import UTC
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
    Validation,
)
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.jobs.records import new_job
from services.ingestion.jobs.service import RUN_JOB
from services.ingestion.proposals.page import (
    CheckedPage,
    apply_edit,
    check_page,
    clean_page_text,
    document_name,
)
from services.ingestion.proposals.records import (
    DAY_S,
    get_proposal,
    shown_detail,
    shown_summary,
)
from services.ingestion.settings import IngestionSettings
from services.ingestion.tables import ProposalRow
from services.kit.access.audit import add_audit
from services.kit.access.caller import Caller, CallerKind, current_caller
from services.kit.errors import ConflictError, ForbiddenError, TooManyRequestsError
from services.kit.ids import time_ordered_id
from services.kit.queue.outbox import Outbox
from services.kit.sql.database import Database
from services.kit.teaching.ledger import record_teaching
from services.kit.teaching.recorded_callers import is_first_pair_of_eyes
from services.kit.teaching.teacher import MOST_A_DAY
from services.kit.text import clean_text
from services.runbook.model import Reading, as_json

_SHORT_ID = 8
_MOST_LISTED = 200
_RETRY_AFTER_S = 3600.0


class DecidedProposalError(ConflictError):
    """The proposal has been decided already."""


class ChangedProposalError(ConflictError):
    """The proposal is not what the caller saw."""


class KnownPageError(ConflictError):
    """A document with the same text already exists."""


class NotAccepterError(ForbiddenError):
    """The caller may not decide about the proposal."""


class NotLearnedHereError(ForbiddenError):
    """The caller claims that a page was learned, but is not the part that learns."""


class TooManyProposalsError(TooManyRequestsError):
    """The caller, with all their keys, has proposed as many pages today as are read."""


class ProposalService:
    """See `contracts.proposals.Proposals`: what is decided is stored, and a job makes it so."""

    def __init__(self, database: Database, outbox: Outbox, settings: IngestionSettings) -> None:
        self._database = database
        self._outbox = outbox
        self._settings = settings

    def propose(self, page: ProposedPage) -> ProposalDetail:
        """See `Proposals.propose`."""
        is_person = current_caller().kind in {CallerKind.PERSON, CallerKind.KEY}
        if page.origin is ProposalOrigin.LEARNED and is_person and not current_caller().is_platform:
            raise NotLearnedHereError("the platform proposes what it learned: it knows the runs")
        checked = check_page(page)
        row = _new_row(page, checked)
        statement = (
            self._database.insert(ProposalRow)
            .values(row)
            .on_conflict_do_nothing(index_elements=["key"])
            .returning(ProposalRow.id)
        )
        with self._database.session() as session:
            if session.scalar(statement) is not None:
                counts = record_teaching(session, f"proposal {row['id']}")
                if not counts and not current_caller().is_platform:
                    raise TooManyProposalsError(
                        f"at most {MOST_A_DAY} pages a day are taken from one proposer",
                        retry_after_s=_RETRY_AFTER_S,
                    )
                details = {"runs": len(page.runs)}  # its name is made of its title
                add_audit(session, "proposal.proposed", row["id"], after=details)
            mine = select(ProposalRow).where(ProposalRow.key == row["key"])
            return self._shown(session.scalars(mine).one())

    def proposals(self, state: ProposalState | None = None) -> list[ProposalSummary]:
        """See `Proposals.proposals`."""
        days = self._settings.learned_expires_days
        newest = select(ProposalRow).order_by(ProposalRow.proposed_at.desc(), ProposalRow.id.desc())
        if state is not None:
            newest = newest.where(ProposalRow.state == state.value)
        with self._database.session() as session:
            rows = session.scalars(newest.limit(_MOST_LISTED))
            return [shown_summary(row, days) for row in rows]

    def proposal(self, proposal_id: str) -> ProposalDetail:
        """See `Proposals.proposal`."""
        with self._database.session() as session:
            return self._shown(get_proposal(session, proposal_id))

    def accept(self, proposal_id: str, acceptance: Acceptance) -> ProposalDetail:
        """See `Proposals.accept`."""
        caller = current_caller()
        with self._database.session() as session:
            row = get_proposal(session, proposal_id)
            is_proposer = is_first_pair_of_eyes(
                session, caller, row.proposed_by_id, row.proposed_by
            )
        _check_person(caller)
        if is_proposer and not self._settings.proposer_may_accept:
            raise NotAccepterError(
                "whoever had a page written does not accept it: another one does"
            )
        if row.state != ProposalState.PROPOSED:
            raise _decided(row)
        if row.text_hash != acceptance.text_hash:
            raise ChangedProposalError("it is not the text that you saw: look at it again")
        kept = CheckedPage(row.text, Reading.model_validate(row.reading))
        text = clean_page_text(acceptance.text)
        page = apply_edit(kept, text) if text and text != kept.text else kept
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
        moment = validation.at if validation.at.tzinfo else validation.at.replace(tzinfo=UTC)
        at = min(moment.timestamp(), time.time())
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
            details = {"run": clean_text(validation.run_id)}
            for proposal_id in session.scalars(statement).all():
                add_audit(session, "proposal.validated", proposal_id, after=details)

    def expire(self) -> None:
        """Expire the learned pages that no run has shown to hold for too long."""
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
                self._change_state(
                    session, row, ProposalState.ACCEPTED, ProposalState.EXPIRED, why, since < before
                )

    def _dismiss(
        self, proposal_id: str, before: ProposalState, after: ProposalState, dismissal: Dismissal
    ) -> ProposalDetail:
        _check_person(current_caller())
        with self._database.session() as session:
            row = get_proposal(session, proposal_id)
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
        """Store a decision; of several at once only the first is stored.

        Raises:
            DecidedProposalError: Another one was first.
        """
        if not self._change_state(session, row, before, after, values):
            raise _decided(get_proposal(session, row.id))

    def _change_state(
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
        details = {"is_edited": bool(values.get("original"))}
        add_audit(
            session,
            f"proposal.{after.value}",
            row.id,
            before={"state": before.value},
            after=details,
        )
        if ProposalState.ACCEPTED in {before, after}:
            # The job brings the documents in line with all decisions made by then.
            path = Path(ACCEPTED_PAGES)
            job = new_job(path, ACCEPTED_PAGES, is_upload=False, is_queued=True, prune=True)
            session.add(job)
            self._outbox.put(session, RUN_JOB, {"job_id": job.id}, key=f"{RUN_JOB}:{job.id}")
        return True

    def _shown(self, row: ProposalRow) -> ProposalDetail:
        return shown_detail(row, self._settings.learned_expires_days)


def _new_row(page: ProposedPage, checked: CheckedPage) -> dict[str, Any]:
    caller = current_caller()
    # Who had it written: the caller, or for the platform the one that it names.
    by, by_id = (
        (clean_text(page.proposed_by), "")
        if caller.is_platform
        else (caller.name[:200], caller.lasting_id[:400])
    )
    id_ = time_ordered_id()
    title = " ".join(clean_text(page.title).split())
    return {
        "id": id_,
        "key": clean_text(page.key),
        "document_id": document_name(page.origin, title, id_.replace("-", "")[-_SHORT_ID:]),
        "title": title,
        "origin": page.origin.value,
        "state": ProposalState.PROPOSED.value,
        "text": checked.text,
        "text_hash": checked.text_hash,
        "original": "",
        "reading": as_json(checked.reading),
        "runs": [
            {name: clean_text(value) for name, value in run.model_dump(mode="json").items()}
            for run in page.runs
        ],
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


def _decided(row: ProposalRow) -> DecidedProposalError:
    by = f" by {row.decided_by}" if row.decided_by else ""
    return DecidedProposalError(f"it is {row.state}{by}: look at it again")


def _check_person(caller: Caller) -> None:
    """Refuse all but people with the right to approve, or local use without sign-in."""
    if not caller.may_vouch():
        raise NotAccepterError(f"{caller.name} may not decide: an approver does, and no key")
