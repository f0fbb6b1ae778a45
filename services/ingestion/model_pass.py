"""Pass of a model over documents or pages: several at a time, with progress, resumable."""

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from services.contracts.ingestion import FailedDocument
from services.kit.errors import FlowXpertError, InvalidInputError
from services.kit.text import clean_text
from services.llm.guard import GuardedChatModel

_FAILED_IN_A_ROW = 5
"""Number of failures in a row after which it must be the model that fails."""
_LONGEST_REASON = 500


class NoChatModelError(InvalidInputError):
    """A model is needed, and the settings name none."""


class PassUnfinishedError(FlowXpertError):
    """The model failed at several items in a row, or at all; what was done before stays."""

    status_code = 503
    retryable = True


class PassBounds(BaseModel):
    """Limits at which a pass stops."""

    model_config = ConfigDict(frozen=True)

    limit: int = 0
    """Most items, those done already not counted; 0 for all."""
    tokens: int = 0
    """Tokens after which no further item is begun; 0 for no bound."""


class PassReport(BaseModel):
    """Progress of a pass."""

    model_config = ConfigDict(frozen=True)

    total: int
    """Number of items to do."""
    failed: tuple[FailedDocument, ...] = ()
    """Items that the model failed at or refused; the next pass takes them last."""
    failed_in_a_row: int = 0
    """Number of failures since the last item that did not fail."""
    unchanged: int = 0
    """Number of items chosen, and done already by this model and these prompts."""

    @property
    @abstractmethod
    def done(self) -> int:
        """Number of items that the model made something of."""

    @property
    @abstractmethod
    def tokens(self) -> int:
        """Tokens spent, in and out."""

    @property
    def handled(self) -> int:
        """Number of items, of `total`, that this pass is through with."""
        return self.done + len(self.failed)

    @property
    def left(self) -> int:
        """Number of items that a further pass would do."""
        return self.total - self.done

    def with_failure(self, failed: FailedDocument) -> Self:
        """Return the report with one more failure."""
        more = {
            "failed": (*self.failed, failed),
            "failed_in_a_row": self.failed_in_a_row + 1,
        }
        return self.model_copy(update=more)


Item = TypeVar("Item")
ItemOutcome = TypeVar("ItemOutcome")
Report = TypeVar("Report", bound=PassReport)


@dataclass(frozen=True)
class ModelPass(Generic[Item, ItemOutcome, Report]):
    """One pass of a model. Killing it loses the items in work and no other.

    Several at once do no harm, but each asks the model.
    """

    work: Callable[[Item], ItemOutcome]
    """Function that asks the model about an item, in a thread.

    A failure of the item alone is an outcome.
    """
    record: Callable[[Report, ItemOutcome], Report]
    """Function that stores an outcome and counts it, in the caller's thread."""
    hurry: Callable[[], None]
    """Function that lets items in work fail instead of waiting for the model's circuit."""
    close: Callable[[], None]
    """Function that ends items in work; called in any case at the end."""
    at_once: int
    done: str
    """Words for the message of a pass that did not finish, such as `documents are built`."""

    def run(
        self,
        items: Iterable[Item],
        report: Report,
        bounds: PassBounds,
        on_progress: Callable[[Report], None],
    ) -> Report:
        """Work on the items in order, until they, the tokens or the model are exhausted.

        Raises:
            PassUnfinishedError: The model failed at several in a row, or at all there were.
        """
        on_progress(report)
        # Items in work at one time may all meet the same short absence of the model.
        most_failed = max(_FAILED_IN_A_ROW, self.at_once + 1)

        def goes_on() -> bool:
            is_spent = 0 < bounds.tokens <= report.tokens
            return not is_spent and report.failed_in_a_row < most_failed

        for outcome in self._outcomes(iter(items), goes_on):
            report = self.record(report, outcome)
            on_progress(report)
        if report.failed and report.failed_in_a_row >= min(most_failed, report.handled):
            noun = self.done.partition(" ")[0]
            raise PassUnfinishedError(
                f"the model failed at {report.failed_in_a_row} {noun} in a row, at the first with: "
                f"{report.failed[-report.failed_in_a_row].reason}; {report.done} of {report.total} "
                f"{self.done} and stay, the same command goes on with the others"
            )
        return report

    def _outcomes(
        self, items: Iterator[Item], goes_on: Callable[[], bool]
    ) -> Iterator[ItemOutcome]:
        """Yield outcomes as they come.

        Nothing is begun after an error, which is raised once the items in work are through.
        """
        working: set[Future[ItemOutcome]] = set()
        failure: BaseException | None = None
        with ExitStack() as ending:
            pool = ending.enter_context(ThreadPoolExecutor(self.at_once))
            ending.callback(self.close)
            while True:
                if failure is not None or not goes_on():
                    self.hurry()
                else:
                    new = islice(items, self.at_once - len(working))
                    working |= {pool.submit(copy_context().run, self.work, item) for item in new}
                if not working:
                    break
                finished, working = wait(working, return_when=FIRST_COMPLETED)
                for future in finished:
                    failure = failure or future.exception()
                    if future.exception() is None:
                        yield future.result()
        if failure is not None:
            raise failure


def todo(
    ids: Iterable[str], done: Collection[str], failed_before: Iterable[str], *, limit: int
) -> list[str]:
    """Return the ids to do in the given order, those that failed before last, in their order."""
    late = {id_: place for place, id_ in enumerate(failed_before, start=1)}
    left = sorted((id_ for id_ in ids if id_ not in done), key=lambda id_: late.get(id_, 0))
    return left[: limit or None]


def failure_reason(error: Exception) -> str:
    """Return the error's message in a form that can be stored: servers may send anything."""
    return clean_text(str(error))[:_LONGEST_REASON] or type(error).__name__


def require_model(model: GuardedChatModel | None) -> GuardedChatModel:
    """Return the model.

    Raises:
        NoChatModelError: There is none.
    """
    if model is None:
        raise NoChatModelError(
            "a model is needed: set FLOWXPERT_MODEL_URL, or FLOWXPERT_MODEL_GGUF for one in this "
            "process"
        )
    return model
