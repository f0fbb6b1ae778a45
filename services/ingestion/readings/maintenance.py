"""What an ingest does about readings: approvals move with their lines."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import structlog

from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.metrics import APPROVALS
from services.ingestion.readings.texts import Texts
from services.kit.errors import UnavailableError
from services.knowledge.model import Document
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import screened, text_hash
from services.procedure.carry_over import carried_over
from services.procedure.ports import ApprovedProcedure, BoxStore, Happening, ReadingStore

_log = structlog.get_logger()


@dataclass(frozen=True)
class ReadingMaintenance:
    """Keeps the readings in line with the documents.

    Whatever goes wrong with one page's approvals is logged: its document is taken in all the same.
    """

    store: ReadingStore
    boxes: BoxStore
    texts: Texts
    on_lost: Callable[[str, list[str]], None] = lambda _document_id, _procedures: None
    """Told of approvals that did not outlive a change: the page and its procedures."""

    @classmethod
    def of(
        cls, store: ReadingStore, boxes: BoxStore, ledger: Ledger, documents: DocumentStore
    ) -> "ReadingMaintenance":
        """On these stores."""
        return cls(store, boxes, Texts(ledger, documents))

    def hand_on(self, documents: Sequence[Document]) -> list[str]:
        """Carry approvals over to the texts that these documents are about to have.

        To be done before the documents are stored. Returns the hashes of their texts until now.
        """
        before = self.texts.of_documents([document.id for document in documents])
        changed = [(each, before.get(each.id, "")) for each in documents]
        for document, old_hash in changed:
            if old_hash and old_hash != text_hash(document):
                self._hand_on(old_hash, document)
        return [old_hash for _, old_hash in changed if old_hash]

    def drop(self, text_hashes: Iterable[str]) -> None:
        """Forget texts that no document has any more and nobody has read; the rest stays."""
        self.store.drop(self._gone(text_hashes))

    def forget(self, text_hashes: Iterable[str], leaving: Sequence[str]) -> int:
        """Forget all about texts that no document has beside those that are `leaving`.

        What people said of the boxes of these documents goes too.

        Returns how many approved procedures went with them.
        """
        self.boxes.forget(leaving)
        return self.store.delete(self._gone(text_hashes, leaving))

    def _gone(self, text_hashes: Iterable[str], leaving: Sequence[str] = ()) -> list[str]:
        asked = [hashed for hashed in dict.fromkeys(text_hashes) if hashed]
        named = self.texts.ledger.with_texts(asked)
        gone = set(leaving)
        return [hashed for hashed in asked if gone.issuperset(named.get(hashed, ()))]

    def _hand_on(self, old_hash: str, document: Document) -> None:
        try:
            self._carry(old_hash, document)
        except UnavailableError:
            raise
        except Exception:  # noqa: BLE001 - the entry point of one page's approvals
            _log.exception("ingestion.carry_over_failed", document_id=document.id)

    def _carry(self, old_hash: str, document: Document) -> None:
        known = self.store.known([old_hash]).get(old_hash)
        if known is None or not (known.approved or known.was_approved):
            return
        approved = self.store.approved(old_hash)
        old, new = self.texts.text(old_hash), screened(document).document.text
        moved = carried_over([each.procedure for each in approved], old or "", new)
        carried = [
            ApprovedProcedure(procedure=procedure, approval=each.approval)
            for procedure, each in zip(moved, approved, strict=True)
            if procedure is not None
        ]
        lost = [
            each.procedure.title
            for procedure, each in zip(moved, approved, strict=True)
            if procedure is None
        ]
        if known.was_approved:
            lost += self._lost_before(old_hash)
        self._note(text_hash(document), document.id, carried, lost)

    def _lost_before(self, old_hash: str) -> list[str]:
        events = self.store.history(old_hash)
        return [event.detail for event in events if event.what is Happening.FELL_BACK][:1]

    def _note(
        self, hashed: str, document_id: str, carried: Sequence[ApprovedProcedure], lost: list[str]
    ) -> None:
        own = self.store.known([hashed]).get(hashed)
        is_own = own is not None and own.approved > 0 and not carried
        missing = [] if is_own else lost
        if not self.store.carry_over(hashed, carried, lost=missing):
            return
        APPROVALS.labels("carried_over").inc(len(carried))
        APPROVALS.labels("lost").inc(len(missing))
        if missing:
            _log.warning("ingestion.approval_lost", document_id=document_id, procedures=missing)
            self.on_lost(document_id, missing)
