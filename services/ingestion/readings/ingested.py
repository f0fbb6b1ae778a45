"""The readings of the ingested pages: for callers, for tickets, and by a model."""

from collections.abc import Callable, Sequence

from services.contracts.readings import DoubtReport, DoubtTaken, DoubtWithdrawal
from services.ingestion.catalogue.ledger import Ledger
from services.ingestion.catalogue.owners import Owners
from services.ingestion.model_pass import needed
from services.ingestion.readings.failed_pages import FailedPages
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.readings.reading_pass import PageReader, ReadingPass
from services.ingestion.readings.retirement import RulesRetirement
from services.ingestion.readings.review_queue import ReviewQueue
from services.ingestion.readings.service import ReadingsService
from services.kit.sql.database import Database
from services.knowledge.ports import DocumentStore, Embedder
from services.knowledge.stores.sql_said import SqlSaidTexts
from services.llm.chat_model import ChatModel
from services.llm.guard import GuardedChatModel
from services.procedure.by_model.reader import ModelReader
from services.procedure.ports import BoxStore, ReadingNotFoundError, ReadingStore, TicketDoubt
from services.procedure.store.sql_boxes import SqlBoxStore
from services.procedure.store.sql_readings import SqlReadingStore
from services.procedure.store.sql_retired import SqlRetiredReadings

_RENEWED_AT_ONCE = 20
"""Pages."""


class IngestedReadings:
    """All of them, on one database."""

    def __init__(
        self,
        database: Database,
        documents: DocumentStore,
        query_embedder: Embedder | None = None,
        *,
        pages_at_once: int = 1,
        boxes: BoxStore | None = None,
    ) -> None:
        """`pages_at_once` are read by a model; `query_embedder` is for what people write of them.

        Without it nothing of that is kept. `boxes` keeps people's words on boxes.
        """
        self._database = database
        self._reading_store: ReadingStore = SqlReadingStore(database)
        self._maintenance = ReadingMaintenance.of(
            self._reading_store, boxes or SqlBoxStore(database), Ledger(database), documents
        )
        self._pages_at_once = pages_at_once
        self._said = SqlSaidTexts(database)
        self._query_embedder = query_embedder

    def readings(self, who: str) -> ReadingsService:
        """For a caller of this name."""
        queue = ReviewQueue(self._database, Owners(self._database))
        return ReadingsService(self._reading_store, self._maintenance, queue, who=who)

    def retire_rules(self) -> int:
        """Put what people said of readings by rules to the boxes of the pages.

        Returns how many texts were done; none where an earlier call has done them all.
        """
        store = SqlRetiredReadings(self._database)
        return RulesRetirement(store, self._maintenance.texts).run()

    def doubt(self, report: DoubtReport) -> DoubtTaken:
        """See `Ingestion.doubt`."""
        id_ = report.document_id
        text_hash = self._maintenance.texts.of_documents([id_]).get(id_, "")
        doubt = TicketDoubt.model_validate(report.model_dump(exclude={"document_id"}))
        try:
            self.readings(report.by).doubt(text_hash, doubt)
        except ReadingNotFoundError:
            return DoubtTaken(kept=False)
        return DoubtTaken(kept=True)

    def withdraw_doubts(self, request: DoubtWithdrawal) -> None:
        """See `Ingestion.withdraw_doubts`."""
        self._reading_store.withdraw(request.tickets, request.step)

    def reading_pass(
        self,
        model: GuardedChatModel | None,
        make_reader: Callable[[ChatModel], PageReader] = ModelReader,
    ) -> ReadingPass:
        """Reading the pages with `model`: the estimate and the run.

        Raises:
            NoChatModelError: There is none.
        """
        model = needed(model)
        recipe = f"{make_reader(model).version} {model.name}"
        return ReadingPass(
            store=self._reading_store,
            texts=self._maintenance.texts,
            failed_pages=FailedPages(self._database, recipe),
            model=model,
            make_reader=make_reader,
            at_once=self._pages_at_once,
            keep_said=self.keep_said,
        )

    def keep_said(self, text_hash: str, texts: Sequence[str]) -> None:
        """Keep what people write who have the fault of this text, in place of what there was."""
        embedder = self._query_embedder
        if embedder is not None:
            self._said.put(text_hash, texts, embedder.embed(texts), embedder.model_name)

    def renew_said(self) -> bool:
        """Embed again what another model has embedded; whether there may be more."""
        model = self._query_embedder.model_name if self._query_embedder else ""
        found = self._said.of_other_models(model, _RENEWED_AT_ONCE) if model else {}
        for text_hash, texts in found.items():
            self.keep_said(text_hash, texts)
        return bool(found)
