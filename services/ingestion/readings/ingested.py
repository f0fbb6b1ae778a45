"""Readings of the ingested pages: for callers, for tickets, and by a model."""

from collections.abc import Callable, Sequence

from services.contracts.readings import DoubtReport, DoubtTaken, DoubtWithdrawal
from services.ingestion.catalogue.owners import Owners
from services.ingestion.model_pass import require_model
from services.ingestion.readings.maintenance import ReadingMaintenance
from services.ingestion.readings.reading_pass import FailedPages, PageReader, ReadingPass
from services.ingestion.readings.review_queue import ReviewQueue
from services.ingestion.readings.reviews import Reviews
from services.ingestion.readings.service import ReadingsService
from services.kit.sql.database import Database
from services.knowledge.ports import Embedder
from services.knowledge.stores.sql_symptom_texts import SqlSymptomTexts
from services.llm.chat_model import ChatModel
from services.llm.guard import GuardedChatModel
from services.runbook.by_model.reader import ModelReader
from services.runbook.ports import ReadingNotFoundError, TicketDoubt

_RENEWED_AT_ONCE = 20
"""Number of pages embedded again in one step."""


class IngestedReadings:
    """Access to all readings on one database."""

    def __init__(
        self,
        database: Database,
        maintenance: ReadingMaintenance,
        query_embedder: Embedder | None = None,
        *,
        pages_at_once: int = 1,
    ) -> None:
        """Read `pages_at_once` by a model; embed ticket texts with `query_embedder`.

        Without `query_embedder` no ticket texts are kept.
        """
        self._database = database
        self._maintenance = maintenance
        self._pages_at_once = pages_at_once
        self._ticket_texts = SqlSymptomTexts(database)
        self._query_embedder = query_embedder

    def readings(self, who: str) -> ReadingsService:
        """Return the readings for a caller of this name."""
        owners = Owners(self._database)
        reviews = Reviews(self._database, owners)
        queue = ReviewQueue(self._database, owners, reviews, self._maintenance.texts)
        return ReadingsService(self._maintenance, queue, reviews, who=who)

    def doubt(self, report: DoubtReport) -> DoubtTaken:
        """See `Ingestion.doubt`."""
        id_ = report.document_id
        text_hash = self._maintenance.texts.of_documents([id_]).get(id_, "")
        doubt = TicketDoubt.model_validate(report.model_dump(exclude={"document_id"}))
        try:
            self._maintenance.store.doubt(text_hash, doubt)
        except ReadingNotFoundError:
            return DoubtTaken(kept=False)
        return DoubtTaken(kept=True)

    def withdraw_doubts(self, request: DoubtWithdrawal) -> None:
        """See `Ingestion.withdraw_doubts`."""
        self._maintenance.store.withdraw(request.tickets, request.step)

    def reading_pass(
        self,
        model: GuardedChatModel | None,
        make_reader: Callable[[ChatModel], PageReader] = ModelReader,
    ) -> ReadingPass:
        """Return the pass with `model`, for its estimate and its run.

        Raises:
            NoChatModelError: There is none.
        """
        model = require_model(model)
        recipe = f"{make_reader(model).version} {model.name}"
        return ReadingPass(
            store=self._maintenance.store,
            texts=self._maintenance.texts,
            failed_pages=FailedPages(self._database, recipe),
            model=model,
            make_reader=make_reader,
            at_once=self._pages_at_once,
            keep_ticket_texts=self.keep_ticket_texts,
        )

    def keep_ticket_texts(self, text_hash: str, texts: Sequence[str]) -> None:
        """Replace the ticket texts of a text: what people with its fault would write."""
        embedder = self._query_embedder
        if embedder is not None:
            self._ticket_texts.put(text_hash, texts, embedder.embed(texts), embedder.model_name)

    def renew_ticket_texts(self) -> bool:
        """Embed again what another model has embedded; return True if there may be more."""
        model = self._query_embedder.model_name if self._query_embedder else ""
        outdated = self._ticket_texts.of_other_models(model, _RENEWED_AT_ONCE) if model else {}
        for text_hash, texts in outdated.items():
            self.keep_ticket_texts(text_hash, texts)
        return bool(outdated)
