"""The ways in which `bench logic` may get its workflows, from what was asked for."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evaluation.benches.logic.bench import (
    Make,
    page_alone,
    planned,
    read_workflows,
    recorded,
    walked,
)
from evaluation.benches.retrieval.hidden_page import retrieval_without
from evaluation.material.gold_pages import PageOf, page_of_pairs
from evaluation.material.logic_rows import LogicRow
from evaluation.material.page_reader import Read, readings_of, stored, unread
from evaluation.material.recorded_answers import (
    RECORDED,
    RecordedAnswers,
    by_record,
    read_answers,
)
from evaluation.material.recorded_plans import (
    RECORDED_PLANS,
    RecordedPlans,
    read_plans,
    replaying,
)
from evaluation.material.requests import RequestOf, of_page, of_walk
from services.contracts.planner import Planner
from services.contracts.retrieval import Retrieval
from services.deployment.embedded import Embedded
from services.kit.errors import InvalidInputError
from services.knowledge.ports import Embedder
from services.knowledge.screening.document import ScreenedDocument
from services.retrieval.pages import NoReadings
from services.scorer.service import ScorerService
from services.tickets.walk.fit import Thresholds

ReaderName = Literal["stored", "recorded", "plans"]


class NoDataDirError(InvalidInputError):
    """What was asked for needs an ingested data folder."""


@dataclass(frozen=True)
class Way:
    """How workflows are made."""

    platform: Embedded | None
    pairs: Path
    reader: ReaderName = "recorded"
    is_without_retrieval: bool = False
    is_page_hidden: bool = False
    workflows: Path | None = None
    corpus: Path | None = None
    answers: Path | None = None
    embedder: Embedder | None = None
    """For plans that are replayed."""

    def rows(self, rows: Sequence[LogicRow]) -> list[LogicRow]:
        """Those that this way can make a workflow for: of recorded answers, the recorded ones."""
        if self.workflows or self.reader not in {"recorded", "plans"}:
            return list(rows)
        if self.reader == "plans":
            plans = self._plans()
            return [row for row in rows if row.id in plans]
        answered, page_of = self._answers(), self.page_of()
        return [
            row for row in rows if row.doc and ScreenedDocument(page_of(row)).text_hash in answered
        ]

    def make(self, rows: Sequence[LogicRow]) -> Make:
        """What makes a workflow for one of these rows.

        Raises:
            NoDataDirError: It needs a data folder, and there is none.
            PairsError: The file of workflows cannot be read.
        """
        if self.workflows:
            return recorded(read_workflows(self.workflows))
        is_alone = self.is_without_retrieval or all(row.text for row in rows)
        if self.reader == "plans" and is_alone:
            return planned(
                self.requests(alone=True), self._planner_for(), ScorerService(self._embedder())
            )
        alone = page_alone(self.page_of(), self._read())
        if is_alone:
            return alone
        platform = self._needed("the walk from a ticket")
        thresholds = Thresholds.shipped().with_settings(platform.gateway.settings)
        retrieval_for = self._retrieval_for(platform)
        return walked(retrieval_for, self._planner_for(), platform.scorer, thresholds, alone)

    def requests(self, *, alone: bool) -> RequestOf:
        """What the planner is asked for a row, on its page `alone` or on what retrieval finds.

        Raises:
            NoDataDirError: It needs a data folder, and there is none.
        """
        if alone:
            readings = readings_of(self.platform) if self.platform else NoReadings()
            return of_page(self.page_of(), readings)
        return of_walk(self._retrieval_for(self._needed("the walk from a ticket")))

    def config(self) -> dict[str, object]:
        """What a report says of it."""
        if self.workflows:
            return {"workflows": self.workflows.name}
        model = self.platform.model if self.platform and not self.is_without_retrieval else None
        config: dict[str, object] = {"given": "page" if self.is_without_retrieval else "ticket"}
        config |= {"reader": self.reader, "page": "hidden" if self.is_page_hidden else "there"}
        if self.reader in {"recorded", "plans"}:
            answers = self._plans() if self.reader == "plans" else self._answers()
            config["prompt"] = ", ".join(sorted({row.prompt for row in answers.values()}))
        return config | ({"model": model.name} if model else {})

    def page_of(self) -> PageOf:
        """Where the page of a row is taken from."""
        return page_of_pairs(self.pairs, self.corpus, self.platform)

    def _answers(self) -> dict[str, RecordedAnswers]:
        return read_answers(self.answers or RECORDED)

    def _plans(self) -> dict[str, RecordedPlans]:
        return read_plans(self.answers or RECORDED_PLANS)

    def _planner_for(self) -> Callable[[LogicRow], Planner]:
        if self.reader == "plans":
            return replaying(self._plans(), self._embedder())
        planner = self._needed("the walk from a ticket").planner
        return lambda _row: planner

    def _embedder(self) -> Embedder:
        return self.embedder or self._needed("a plan that is replayed").embedder

    def _read(self) -> Read:
        if self.reader == "plans":
            return unread
        if self.reader == "recorded":
            return by_record(self._answers())
        return stored(readings_of(self._needed("a stored reading")))

    def _retrieval_for(self, platform: Embedded) -> Callable[[LogicRow], Retrieval]:
        if self.is_page_hidden:
            return lambda row: retrieval_without(platform, row.page)
        return lambda _row: platform.retrieval

    def _needed(self, by: str) -> Embedded:
        if self.platform is None:
            raise NoDataDirError(f"{by} needs documents: give --data-dir, or --page-given")
        return self.platform
