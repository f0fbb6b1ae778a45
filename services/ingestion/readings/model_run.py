"""Pages read by a model: resumable, incremental, and told while it goes on."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, Protocol

import structlog
from pydantic import BaseModel, ConfigDict

from services.contracts.ingestion import FailedDocument
from services.ingestion.metrics import READ_PAGES
from services.ingestion.readings.texts import Texts
from services.ingestion.readings.unread import Unread
from services.kit.errors import FlowXpertError
from services.kit.text import clean_text
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

_FAILED_IN_A_ROW = 5
"""Pages that fail one after the other, until it must be the model that fails."""
_LONGEST_REASON = 500

_log = structlog.get_logger()


class ReadingUnfinishedError(FlowXpertError):
    """The model failed at several pages in a row, or at all; those read before stay read."""

    status_code = 503
    retryable = True


class ReadingClosedError(FlowXpertError):
    """The run was ended while a page waited for the model."""


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

    def estimate(self, text: str) -> int:
        """Tokens, in and out, that reading the page costs, about."""


class ChosenPages(BaseModel):
    """Which pages to read, and when to stop."""

    model_config = ConfigDict(frozen=True)

    root: str | None = None
    """The path of a known root; None for all."""
    limit: int = 0
    """Most pages to read, those read already not counted; 0 for all."""
    tokens: int = 0
    """Begin no further page once so many tokens are spent; 0 for no bound."""


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


class ReadReport(BaseModel):
    """What a run has done so far."""

    model_config = ConfigDict(frozen=True)

    total: int
    """Pages that this run is to read."""
    read: int = 0
    without_procedure: int = 0
    """Of them, those that describe no procedure."""
    doubts: int = 0
    failed: tuple[FailedDocument, ...] = ()
    """Pages that the model failed at or refused; the next run takes them behind all others."""
    failed_in_a_row: int = 0
    """Of them, those since the last one that did not fail."""
    unchanged: int = 0
    """Chosen, and read already by this model and this prompt."""
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    @property
    def handled(self) -> int:
        """Pages done with, of `total`."""
        return self.read + len(self.failed)

    @property
    def left(self) -> int:
        """Pages that a further run would read."""
        return self.total - self.read


class _Page(NamedTuple):
    text_hash: str
    document_id: str
    text: str


@dataclass
class _Outcome:
    page: _Page
    spent: Usage
    cost: float
    reading: Reading | None = None
    reason: str = ""


OnRead = Callable[[ReadReport], None]


@dataclass
class ModelRun:
    """One run. Several at once do no harm, but each asks the model."""

    store: ReadingStore
    texts: Texts
    unread: Unread
    model: GuardedChatModel
    make_reader: Callable[[ChatModel], PageReader]
    at_once: int
    _ended: threading.Event = field(default_factory=threading.Event)

    def estimate(self, chosen: ChosenPages) -> ReadEstimate:
        """What `run` would cost; asks the model nothing."""
        todo, unchanged = self._todo(chosen)
        reader = self.make_reader(self.model)
        reasons = self.unread.reasons()
        tokens = sum(reader.estimate(page.text) for page in self._pages(todo))
        prices = self.model.prices
        failed = [
            FailedDocument(document_id=id_, reason=reasons[text_hash])
            for text_hash, id_ in todo.items()
            if text_hash in reasons
        ]
        return ReadEstimate(
            pages=len(todo),
            read=unchanged,
            failed=tuple(failed),
            tokens=tokens,
            cost=tokens * max(prices.tokens_in, prices.tokens_out) / 1_000_000,
        )

    def run(self, chosen: ChosenPages, on_progress: OnRead = lambda _report: None) -> ReadReport:
        """Read what this model has not read yet, in the order of the documents' ids.

        Pages that failed before come last. What is read is stored at once: whoever kills it loses
        the pages in work and no other.

        Raises:
            ReadingUnfinishedError: The model failed at several pages in a row, or at all there
                were; what was read stays.
            UnavailableError: The store did not answer.
        """
        self._ended.clear()
        started = time.perf_counter()
        todo, unchanged = self._todo(chosen)
        report = ReadReport(total=len(todo), unchanged=unchanged)
        on_progress(report)
        most_failed = max(_FAILED_IN_A_ROW, self.at_once + 1)

        def goes_on() -> bool:
            is_spent = 0 < chosen.tokens <= report.tokens_in + report.tokens_out
            return not is_spent and report.failed_in_a_row < most_failed

        for outcome in self._outcomes(todo, goes_on):
            report = self._noted(report, outcome)
            report = report.model_copy(update={"seconds": time.perf_counter() - started})
            on_progress(report)
        if report.failed and report.failed_in_a_row >= min(most_failed, report.handled):
            raise _unfinished(report)
        return report

    def _todo(self, chosen: ChosenPages) -> tuple[dict[str, str], int]:
        """A document by the text that is to be read, in order; and how many are read already."""
        found: dict[str, str] = {}
        for id_, text_hash in self.texts.hashes(source=chosen.root).items():
            found.setdefault(text_hash, id_)
        version = self.make_reader(self.model).version
        done = self.store.made_by(Reader.MODEL, version, self.model.name)
        late = {text_hash: at for at, text_hash in enumerate(self.unread.reasons(), start=1)}
        left = [each for each in found if each not in done]
        todo = sorted(left, key=lambda text_hash: late.get(text_hash, 0))
        todo = todo[: chosen.limit or None]
        return {text_hash: found[text_hash] for text_hash in todo}, len(found) - len(left)

    def _pages(self, todo: dict[str, str]) -> Iterator[_Page]:
        for text_hash, id_ in todo.items():
            text = self.texts.text(text_hash)
            if text is not None:
                yield _Page(text_hash, id_, text)

    def _outcomes(self, todo: dict[str, str], goes_on: Callable[[], bool]) -> Iterator[_Outcome]:
        """Outcomes as they come, several pages at a time; nothing is begun after an error."""
        waiting = self._pages(todo)
        working: set[Future[_Outcome]] = set()
        failure: BaseException | None = None
        with ThreadPoolExecutor(self.at_once) as pool:
            try:
                while True:
                    if failure is not None or not goes_on():
                        self._ended.set()
                    else:
                        new = islice(waiting, self.at_once - len(working))
                        working |= {
                            pool.submit(copy_context().run, self._read, page) for page in new
                        }
                    if not working:
                        break
                    finished, working = wait(working, return_when=FIRST_COMPLETED)
                    for future in finished:
                        failure = failure or future.exception()
                        if future.exception() is None:
                            yield future.result()
            finally:
                self._ended.set()
        if failure is not None:
            raise failure

    def _read(self, page: _Page) -> _Outcome:
        """One page; that the circuit is open is no failure of the page, so that it waits."""
        meter = Budget(sys.maxsize, prices=self.model.prices)
        reader = self.make_reader(self.model.with_budget(meter))
        while True:
            try:
                reading = reader.read(page.text)
            except CircuitOpenError as error:
                if self._ended.wait(error.again_in_s):
                    return _Outcome(page, meter.spent, meter.cost, reason=_reason(error))
            except (ModelAnswerError, ModelUnavailableError, ModelRefusedError) as error:
                return _Outcome(page, meter.spent, meter.cost, reason=_reason(error))
            except (RecursionError, ValueError, IndexError, KeyError, TypeError) as error:
                # A strange answer that breaks the reader is one page's failure, not the run's.
                _log.exception("ingestion.model_reading_failed", document_id=page.document_id)
                return _Outcome(page, meter.spent, meter.cost, reason=type(error).__name__)
            else:
                return _Outcome(page, meter.spent, meter.cost, reading=reading)

    def _noted(self, report: ReadReport, outcome: _Outcome) -> ReadReport:
        report = report.model_copy(
            update={
                "tokens_in": report.tokens_in + outcome.spent.prompt_tokens,
                "tokens_out": report.tokens_out + outcome.spent.completion_tokens,
                "cost": report.cost + outcome.cost,
            }
        )
        if outcome.reading is None:
            return self._noted_failure(report, outcome)
        self.store.put(outcome.page.text_hash, outcome.reading)
        self.unread.clear(outcome.page.text_hash)
        READ_PAGES.labels("model", "read").inc()
        return report.model_copy(
            update={
                "read": report.read + 1,
                "without_procedure": report.without_procedure + (not outcome.reading.procedures),
                "doubts": report.doubts + len(outcome.reading.doubts),
                "failed_in_a_row": 0,
            }
        )

    def _noted_failure(self, report: ReadReport, outcome: _Outcome) -> ReadReport:
        self.unread.note(outcome.page.text_hash, outcome.reason)
        READ_PAGES.labels("model", "failed").inc()
        failed = FailedDocument(document_id=outcome.page.document_id, reason=outcome.reason)
        _log.warning("ingestion.page_unread", **failed.model_dump())
        return report.model_copy(
            update={
                "failed": (*report.failed, failed),
                "failed_in_a_row": report.failed_in_a_row + 1,
            }
        )


def _reason(error: Exception) -> str:
    return clean_text(str(error))[:_LONGEST_REASON] or type(error).__name__


def _unfinished(report: ReadReport) -> ReadingUnfinishedError:
    failed: Sequence[FailedDocument] = report.failed[-report.failed_in_a_row :]
    return ReadingUnfinishedError(
        f"the model failed at {report.failed_in_a_row} pages in a row, at the first with: "
        f"{failed[0].reason}; {report.read} of {report.total} pages are read and stay, the same "
        "command goes on with the others"
    )
