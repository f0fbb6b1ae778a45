"""What `bench judge` is made of, with and without an ingested data folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

from evaluation.benches.logic.bench import page_alone, read_workflows
from evaluation.benches.scoring.best_of_n import BestOfN
from evaluation.benches.scoring.duels import Duels
from evaluation.benches.scoring.judge import JudgeBench, Reader
from evaluation.benches.scoring.judge_candidates import OLD, RECORDED
from evaluation.material.gold_pages import PageOf, own_page, page_of_pairs
from evaluation.material.logic_rows import Ids, LogicRow, chosen_rows, read_rows
from evaluation.material.page_contexts import PageContexts
from evaluation.material.page_reader import Read, readings_of, stored, unread
from evaluation.material.recorded_answers import RECORDED as ANSWERS
from evaluation.material.recorded_answers import by_record, read_answers
from evaluation.material.recorded_plans import RECORDED_PLANS, RecordedPlans, read_plans
from services.contracts.scorer import Scorer
from services.deployment.embedded import Embedded
from services.knowledge.embedding.embedders import CachedEmbedder
from services.knowledge.model import Document
from services.knowledge.ports import Embedder
from services.scorer.service import ScorerService

VECTORS = Path(gettempdir()) / "flowxpert-bench" / "vectors.db"
"""Vectors of texts that were embedded before, where no data folder keeps them."""


@dataclass(frozen=True)
class Judging:
    """What is asked for."""

    platform: Embedded | None
    pairs: Path
    embedder: Embedder
    old: Path | None = None
    corpus: Path | None = None
    answers: Path | None = None
    plans: Path | None = None

    def bench(self, severities: Sequence[float], draws: int, seed: int) -> JudgeBench:
        """The benchmark, asking the platform's scorer or one without a model.

        Raises:
            PairsError: The file of old workflows, or of answers, cannot be read.
        """
        return JudgeBench(
            scorer=self._scorer(),
            pages=self.pages(),
            embedder=self.embedder,
            readers=self.readers(),
            severities=severities,
            draws=draws,
            seed=seed,
        )

    def duels(self) -> Duels:
        """The same pages and readers, two workflows at a time."""
        return Duels(self.pages(), self.embedder, self.readers())

    def best_of_n(self) -> BestOfN:
        """Recorded plans beside the page as a model read it, whose answers were recorded."""
        pages = PageContexts(self.page_of(), self.embedder, self._recorded())
        return BestOfN(pages, self.embedder, self._plans())

    def rows(self, ids: Ids, *, recorded: bool) -> list[LogicRow]:
        """Of the pairs, all or those whose plans were recorded."""
        plans = self._plans() if recorded else {}
        chosen = chosen_rows(read_rows(self.pairs), ids)
        return [row for row in chosen if row.id in plans] if recorded else chosen

    def _recorded(self) -> Read:
        return by_record(read_answers(self.answers or ANSWERS))

    def _plans(self) -> dict[str, RecordedPlans]:
        return read_plans(self.plans or RECORDED_PLANS)

    def config(self) -> dict[str, object]:
        """What a report says of it."""
        model = self.platform.model if self.platform else None
        config: dict[str, object] = {"old": self.old.name} if self.old else {}
        return config | ({"model": model.name} if model else {})

    def readers(self) -> dict[str, Reader]:
        """By name, what each reader makes of the page of a row."""
        old = read_workflows(self.old) if self.old else {}
        make = page_alone(self.page_of(), self._recorded())
        return {OLD: lambda row: old.get(row.id), RECORDED: lambda row: make(row).workflow}

    def pages(self) -> PageContexts:
        """The pages with what is kept of them."""
        read = stored(readings_of(self.platform)) if self.platform else unread
        return PageContexts(self.page_of(), self.embedder, read)

    def _scorer(self) -> Scorer:
        """Copies of one drawing would vote for it: each stands for itself."""
        if self.platform and self.platform.model:
            return self.platform.scorer
        return ScorerService(self.embedder, counts_votes=False)

    def page_of(self) -> PageOf:
        """Where the page of a row is."""
        there = self._kept_pages()

        def find(row: LogicRow) -> Document:
            return own_page(row) if row.text else there(row)

        return find

    def _kept_pages(self) -> PageOf:
        return page_of_pairs(self.pairs, self.corpus, self.platform)


def remembering(embedder: Embedder) -> Embedder:
    """An embedder that keeps its vectors from run to run."""
    if isinstance(embedder, CachedEmbedder):
        return embedder
    return CachedEmbedder(embedder, VECTORS)
