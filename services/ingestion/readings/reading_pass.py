"""A model's pass over the pages, which reads their procedures."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import structlog
from pydantic import BaseModel, ConfigDict

from services.contracts.ingestion import FailedDocument
from services.ingestion.metrics import READ_PAGES
from services.ingestion.model_pass import (
    ModelPass,
    PassBounds,
    PassReport,
    failure_reason,
    todo,
)
from services.ingestion.readings.failed_pages import FailedPages
from services.ingestion.readings.texts import Texts
from services.llm.chat_model import (
    ChatModel,
    ModelAnswerError,
    ModelRefusedError,
    ModelUnavailableError,
    Usage,
)
from services.llm.guard import Budget, CircuitOpenError, GuardedChatModel
from services.procedure.model import Reader, Reading
from services.procedure.ports import ReadingStore

_log = structlog.get_logger()


class PageReader(Protocol):
    """Reads pages with a model."""

    @property
    def version(self) -> str:
        """Of the prompt: a page is read again when it changes."""

    def read(self, text: str) -> Reading:
        """The procedures of a page.

        Raises:
            ModelAnswerError: No readable answer.
            ModelUnavailableError: The model did not answer.
            ModelRefusedError: It will not take the page.
        """

    def said(self, text: str) -> tuple[str, ...]:
        """What people write who have the page's fault.

        Raises:
            ModelAnswerError: No readable answer.
            ModelUnavailableError: The model did not answer.
            ModelRefusedError: It will not take the page.
        """

    def estimate(self, text: str) -> int:
        """Tokens, in and out, that reading the page costs, about."""


class ChosenPages(PassBounds):
    """Which pages to read, and when to stop."""

    root: str | None = None
    """The path of a known root; None for all."""


class ReadEstimate(BaseModel):
    """What reading would cost: an order of magnitude."""

    model_config = ConfigDict(frozen=True)

    pages: int
    """To be read; documents with the same text are one page."""
    read: int
    """Chosen too, and read already by this model and this prompt."""
    failed: tuple[FailedDocument, ...] = ()
    """Of those to be read, the ones that an earlier run failed at: they come last."""
    tokens: int
    cost: float
    """At the higher of the prices that are set; 0 where none is."""


class ReadReport(PassReport):
    """What a pass has done so far."""

    read: int = 0
    without_procedure: int = 0
    """Of them, those that describe no procedure."""
    doubts: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    @property
    def done(self) -> int:
        """Pages that are read."""
        return self.read

    @property
    def tokens(self) -> int:
        """Spent, in and out."""
        return self.tokens_in + self.tokens_out


class _UnreadPage(NamedTuple):
    text_hash: str
    document_id: str
    text: str


@dataclass
class _Outcome:
    page: _UnreadPage
    spent: Usage
    cost: float
    reading: Reading | None = None
    said: tuple[str, ...] = ()
    reason: str = ""


OnRead = Callable[[ReadReport], None]


@dataclass(frozen=True)
class ReadingPass:
    """Reads what this model has not read yet, in the order of the documents' ids."""

    store: ReadingStore
    texts: Texts
    failed_pages: FailedPages
    model: GuardedChatModel
    make_reader: Callable[[ChatModel], PageReader]
    at_once: int
    keep_said: Callable[[str, Sequence[str]], None] = lambda _text_hash, _texts: None
    """Stores what people write of a page, by the hash of its text."""

    def estimate(self, chosen: ChosenPages) -> ReadEstimate:
        """What `run` would cost; asks the model nothing."""
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
        """Read them; those that failed before come last. What is read is stored at once.

        Raises:
            PassUnfinishedError: See `ModelPass.run`.
            UnavailableError: The store did not answer.
        """
        started, ended = time.perf_counter(), threading.Event()
        pages, unchanged = self._todo(chosen)

        def record(report: ReadReport, outcome: _Outcome) -> ReadReport:
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
        """A document by the text that is to be read, in order; and how many are read already."""
        found: dict[str, str] = {}
        for id_, text_hash in self.texts.hashes(source=chosen.root).items():
            found.setdefault(text_hash, id_)
        version = self.make_reader(self.model).version
        done = self.store.made_by(Reader.MODEL, version, self.model.name).intersection(found)
        left = todo(found, done, self.failed_pages.reasons(), limit=chosen.limit)
        return {text_hash: found[text_hash] for text_hash in left}, len(done)

    def _pages(self, documents: dict[str, str]) -> Iterator[_UnreadPage]:
        for text_hash, id_ in documents.items():
            text = self.texts.text(text_hash)
            if text is not None:
                yield _UnreadPage(text_hash, id_, text)

    def _read(self, page: _UnreadPage, *, ended: threading.Event) -> _Outcome:
        """One page; that the circuit is open is no failure of the page, so that it waits."""
        meter = Budget(sys.maxsize, prices=self.model.prices)
        reader = self.make_reader(self.model.with_budget(meter))
        while True:
            try:
                reading = reader.read(page.text)
            except CircuitOpenError as error:
                if ended.wait(error.again_in_s):
                    return _Outcome(page, meter.spent, meter.cost, reason=failure_reason(error))
            except (ModelAnswerError, ModelUnavailableError, ModelRefusedError) as error:
                return _Outcome(page, meter.spent, meter.cost, reason=failure_reason(error))
            except (RecursionError, ValueError, IndexError, KeyError, TypeError) as error:
                # A strange answer that breaks the reader is one page's failure, not the run's.
                _log.exception("ingestion.model_reading_failed", document_id=page.document_id)
                return _Outcome(page, meter.spent, meter.cost, reason=type(error).__name__)
            else:
                said = _said_of(reader, page)
                return _Outcome(page, meter.spent, meter.cost, reading=reading, said=said)

    def _record(self, report: ReadReport, outcome: _Outcome) -> ReadReport:
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
        self.keep_said(page.text_hash, outcome.said)
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


def _said_of(reader: PageReader, page: _UnreadPage) -> tuple[str, ...]:
    """None where the model does not tell: the page is read all the same."""
    try:
        return reader.said(page.text)
    except (ModelAnswerError, ModelUnavailableError, ModelRefusedError) as error:
        _log.warning("ingestion.nothing_said", document_id=page.document_id, reason=str(error))
        return ()
