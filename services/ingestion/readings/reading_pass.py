"""Pass of a model over the pages, which reads their procedures."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple, Protocol

import structlog
from pydantic import BaseModel, ConfigDict
from sqlalchemy import delete, select

from services.contracts.ingestion import FailedDocument
from services.ingestion.metrics import READ_PAGES
from services.ingestion.model_pass import (
    ModelPass,
    PassBounds,
    PassReport,
    failure_reason,
    todo,
)
from services.ingestion.readings.texts import TextIndex
from services.ingestion.tables import UnreadRow
from services.kit.sql.database import Database
from services.llm.chat_model import (
    ChatModel,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
    Usage,
)
from services.llm.guard import Budget, CircuitOpenError, GuardedChatModel
from services.runbook.model import Reader, Reading
from services.runbook.ports import ReadingStore

_log = structlog.get_logger()


class PageReader(Protocol):
    """Reader of pages by a model."""

    @property
    def version(self) -> str:
        """Version of the prompt: a page is read again when it changes."""

    def read(self, text: str) -> Reading:
        """Read the procedures of a page.

        Raises:
            ModelAnswerError: No readable answer.
            ModelUnavailableError: The model did not answer.
            ModelRefusedError: It will not take the page.
        """

    def ticket_texts(self, text: str) -> tuple[str, ...]:
        """Return what people who have the page's fault would write.

        Raises:
            ModelAnswerError: No readable answer.
            ModelUnavailableError: The model did not answer.
            ModelRefusedError: It will not take the page.
        """

    def estimate(self, text: str) -> int:
        """Estimate the tokens, in and out, that reading the page costs."""


class ChosenPages(PassBounds):
    """Choice of the pages to read, with the bounds of the pass."""

    root: str | None = None
    """Path of a known root; None for all."""


class ReadEstimate(BaseModel):
    """Estimated cost of reading: an order of magnitude."""

    model_config = ConfigDict(frozen=True)

    pages: int
    """Number of pages to read; documents with the same text are one page."""
    read: int
    """Number of chosen pages that this model and this prompt have already read."""
    failed: tuple[FailedDocument, ...] = ()
    """Pages to be read that an earlier run failed at: they come last."""
    tokens: int
    cost: float
    """Cost at the higher of the prices that are set; 0 if none is."""


class ReadReport(PassReport):
    """Progress of a pass."""

    read: int = 0
    without_procedure: int = 0
    """Number of pages read that describe no procedure."""
    doubts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Number of pages that are read."""
        return self.read

    @property
    def tokens(self) -> int:
        """Tokens spent, in and out."""
        return self.tokens_in + self.tokens_out


class _UnreadPage(NamedTuple):
    text_hash: str
    document_id: str
    text: str


@dataclass
class _PageOutcome:
    page: _UnreadPage
    spent: Usage
    cost: float
    reading: Reading | None = None
    ticket_texts: tuple[str, ...] = ()
    reason: str = ""


class FailedPages:
    """Reasons of failures by the hash of the text, for one prompt and model."""

    def __init__(self, database: Database, recipe: str) -> None:
        """Scope to `recipe`, a prompt and a model: another one may read what this one cannot."""
        self._database = database
        self._recipe = recipe[:400]

    def reasons(self) -> dict[str, str]:
        """Return the reasons by text hash, the latest attempt last."""
        mine = select(UnreadRow).where(UnreadRow.recipe == self._recipe)
        with self._database.session() as session:
            rows = session.scalars(mine.order_by(UnreadRow.updated_at, UnreadRow.text_hash))
            return {row.text_hash: row.reason for row in rows}

    def note(self, text_hash: str, reason: str) -> None:
        """Note that the model failed at the page just now."""
        row = UnreadRow(
            text_hash=text_hash,
            recipe=self._recipe,
            reason=reason,
            updated_at=datetime.now(UTC),
        )
        with self._database.session() as session:
            session.merge(row)

    def clear(self, text_hash: str) -> None:
        """Delete the failure of a page that is read now."""
        mine = (UnreadRow.text_hash == text_hash) & (UnreadRow.recipe == self._recipe)
        with self._database.session() as session:
            session.execute(delete(UnreadRow).where(mine))


OnRead = Callable[[ReadReport], None]


@dataclass(frozen=True)
class ReadingPass:
    """Reader of what this model has not read yet, in the order of the documents' ids."""

    store: ReadingStore
    texts: TextIndex
    failed_pages: FailedPages
    model: GuardedChatModel
    make_reader: Callable[[ChatModel], PageReader]
    at_once: int
    keep_ticket_texts: Callable[[str, Sequence[str]], None] = lambda _text_hash, _texts: None
    """Function that stores the ticket texts of a page, by the hash of its text."""

    def estimate(self, chosen: ChosenPages) -> ReadEstimate:
        """Estimate the cost of `run` without asking the model."""
        pages, unchanged = self._todo(chosen)
        reader = self.make_reader(self.model)
        reasons = self.failed_pages.reasons()
        tokens = sum(reader.estimate(page.text) for page in self._pages(pages))
        prices = self.model.prices
        failed = [
            FailedDocument(document_id=id_, reason=reasons[text_hash])
            for text_hash, id_ in pages.items()
            if text_hash in reasons
        ]
        return ReadEstimate(
            pages=len(pages),
            read=unchanged,
            failed=tuple(failed),
            tokens=tokens,
            cost=tokens * max(prices.tokens_in, prices.tokens_out) / 1_000_000,
        )

    def run(self, chosen: ChosenPages, on_progress: OnRead = lambda _report: None) -> ReadReport:
        """Read the chosen pages, those that failed before last; each is stored at once.

        Raises:
            PassUnfinishedError: See `ModelPass.run`.
            UnavailableError: The store did not answer.
        """
        started, ended = time.perf_counter(), threading.Event()
        pages, unchanged = self._todo(chosen)

        def record(report: ReadReport, outcome: _PageOutcome) -> ReadReport:
            seconds = time.perf_counter() - started
            return self._record(report, outcome).model_copy(update={"seconds": seconds})

        model_pass = ModelPass(
            work=partial(self._read, ended=ended),
            record=record,
            hurry=ended.set,
            close=ended.set,
            at_once=self.at_once,
            done="pages are read",
        )
        report = ReadReport(total=len(pages), unchanged=unchanged)
        return model_pass.run(self._pages(pages), report, chosen, on_progress)

    def _todo(self, chosen: ChosenPages) -> tuple[dict[str, str], int]:
        """Return one document per text to be read, in order, and how many are already read."""
        documents: dict[str, str] = {}
        for id_, text_hash in self.texts.hashes(source=chosen.root).items():
            documents.setdefault(text_hash, id_)
        version = self.make_reader(self.model).version
        done = self.store.made_by(Reader.MODEL, version, self.model.name).intersection(documents)
        left = todo(documents, done, self.failed_pages.reasons(), limit=chosen.limit)
        return {text_hash: documents[text_hash] for text_hash in left}, len(done)

    def _pages(self, documents: dict[str, str]) -> Iterator[_UnreadPage]:
        for text_hash, id_ in documents.items():
            text = self.texts.text(text_hash)
            if text is not None:
                yield _UnreadPage(text_hash, id_, text)

    def _read(self, page: _UnreadPage, *, ended: threading.Event) -> _PageOutcome:
        """Read one page; while the model's circuit is open it waits, since that is no failure."""
        meter = Budget(sys.maxsize, prices=self.model.prices)
        reader = self.make_reader(self.model.with_budget(meter))
        while True:
            try:
                reading = reader.read(page.text)
            except CircuitOpenError as error:
                if ended.wait(error.again_in_s):
                    return _PageOutcome(page, meter.spent, meter.cost, reason=failure_reason(error))
            except (ModelAnswerError, ModelUnavailableError, ModelRefusedError) as error:
                return _PageOutcome(page, meter.spent, meter.cost, reason=failure_reason(error))
            except (RecursionError, ValueError, IndexError, KeyError, TypeError) as error:
                # A strange answer that breaks the reader is one page's failure, not the run's.
                _log.exception("ingestion.model_reading_failed", document_id=page.document_id)
                return _PageOutcome(page, meter.spent, meter.cost, reason=type(error).__name__)
            else:
                queries = _queries_of(reader, page)
                return _PageOutcome(
                    page, meter.spent, meter.cost, reading=reading, ticket_texts=queries
                )

    def _record(self, report: ReadReport, outcome: _PageOutcome) -> ReadReport:
        page, reading = outcome.page, outcome.reading
        report = report.model_copy(
            update={
                "tokens_in": report.tokens_in + outcome.spent.prompt_tokens,
                "tokens_out": report.tokens_out + outcome.spent.completion_tokens,
                "cost": report.cost + outcome.cost,
            }
        )
        if reading is None:
            self.failed_pages.note(page.text_hash, outcome.reason)
            READ_PAGES.labels("model", "failed").inc()
            failed = FailedDocument(document_id=page.document_id, reason=outcome.reason)
            _log.warning("ingestion.page_unread", **failed.model_dump())
            return report.with_failure(failed)
        self.store.put(page.text_hash, reading)
        self.keep_ticket_texts(page.text_hash, outcome.ticket_texts)
        self.failed_pages.clear(page.text_hash)
        READ_PAGES.labels("model", "read").inc()
        return report.model_copy(
            update={
                "read": report.read + 1,
                "without_procedure": report.without_procedure + (not reading.procedures),
                "doubts": report.doubts + len(reading.doubts),
                "failed_in_a_row": 0,
            }
        )


def _queries_of(reader: PageReader, page: _UnreadPage) -> tuple[str, ...]:
    """Return the ticket texts; none if the model fails: the page is read all the same."""
    try:
        return reader.ticket_texts(page.text)
    except (ModelAnswerError, ModelUnavailableError, ModelRefusedError) as error:
        _log.warning("ingestion.nothing_said", document_id=page.document_id, reason=str(error))
        return ()
