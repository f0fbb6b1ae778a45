"""What building the graph would cost, before it begins."""

from collections.abc import Callable, Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from services.contracts.ingestion import FailedDocument
from services.ingestion.graph_build.counts import BuildCounts
from services.ingestion.graph_build.questions import FORMS, NAMES, passage_of, prompt_text
from services.knowledge.model import Chunk


class Estimate(BaseModel):
    """An order of magnitude: how many incidents a chunk names is not known beforehand."""

    model_config = ConfigDict(frozen=True)

    documents: int
    """To be built."""
    built: int
    """Chosen too, and built already of this text by this model and these prompts."""
    failed: tuple[FailedDocument, ...] = ()
    """Of those to be built, the ones that an earlier run failed at: they come last."""
    chunks: int
    calls: int
    """Two for each chunk; fewer where a chunk names nothing, more where an answer is corrected."""
    tokens_in: int
    tokens_out: int
    seconds: float | None = None
    """By what this model took for other documents; None where it built none yet."""

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.tokens_in + self.tokens_out


def estimate(
    documents: Iterable[Sequence[Chunk]],
    count_tokens: Callable[[str], int],
    past: Sequence[BuildCounts],
    *,
    built: int,
    failed: Sequence[FailedDocument] = (),
) -> Estimate:
    """From the chunks of the documents that are to be built.

    Tokens are the embedder's word pieces. Without a past, an answer is taken to be as long as its
    chunk; with one, tokens and time per chunk are those of the past.
    """
    chunks = [chunk for each in documents for chunk in [*each, None]]
    documents_count = sum(chunk is None for chunk in chunks)
    texts = [count_tokens(passage_of(chunk)) for chunk in chunks if chunk is not None]
    before = sum((each for each in past), BuildCounts())
    share = len(texts) / before.chunks if before.chunks else 0.0
    asked = sum(count_tokens(prompt_text(prompt)) for prompt in (NAMES, FORMS))
    return Estimate(
        documents=documents_count,
        built=built,
        failed=tuple(failed),
        chunks=len(texts),
        calls=2 * len(texts),
        tokens_in=round(before.tokens_in * share) if share else asked * len(texts) + 3 * sum(texts),
        tokens_out=round(before.tokens_out * share) if share else sum(texts),
        seconds=round(before.seconds * share, 1) if share else None,
    )
