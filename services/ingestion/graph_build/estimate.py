"""Counts of building the graph, and the estimate of its cost before it begins."""

from collections.abc import Callable, Iterable, Sequence
from typing import Self

from pydantic import BaseModel, ConfigDict

from services.contracts.ingestion import FailedDocument
from services.ingestion.graph_build.questions import FORMS, NAMES, passage_of, prompt_text
from services.knowledge.model import Chunk


class DocumentCounts(BaseModel):
    """Counts of documents, to be added up."""

    model_config = ConfigDict(frozen=True)

    def __add__(self, other: Self) -> Self:
        names = type(self).model_fields
        return self.model_copy(update={n: getattr(self, n) + getattr(other, n) for n in names})


class BuildCounts(DocumentCounts):
    """Counts of one document or of several together."""

    chunks: int = 0
    names: int = 0
    """Names that the model gave, repetitions included."""
    names_unsupported: int = 0
    """Names with words that the passage does not have, or that name no incident."""
    sentences: int = 0
    """Sentences that the model put into fields, repetitions included."""
    sentences_unsupported: int = 0
    """Sentences that no line supports: dropped."""
    empty: int = 0
    """Incidents without a line of their own: dropped."""
    unreadable: int = 0
    """Answers that could not be read, not even after a correction."""
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out


class Estimate(BaseModel):
    """Order of magnitude: how many incidents a chunk names is not known beforehand."""

    model_config = ConfigDict(frozen=True)

    documents: int
    """Number of documents to be built."""
    built: int
    """Number of chosen documents already built of this text by this model and these prompts."""
    failed: tuple[FailedDocument, ...] = ()
    """Documents to be built that an earlier run failed at: they come last."""
    chunks: int
    calls: int
    """Number of calls: two for each chunk, fewer where a chunk names nothing.

    More where an answer is corrected.
    """
    tokens_in: int
    tokens_out: int
    seconds: float | None = None
    """Time as this model took for other documents; None if it has built none yet."""

    @property
    def tokens(self) -> int:
        """Tokens in and out."""
        return self.tokens_in + self.tokens_out


def estimate(
    documents: Iterable[Sequence[Chunk]],
    count_tokens: Callable[[str], int],
    past: Sequence[BuildCounts],
    *,
    built: int,
    failed: Sequence[FailedDocument] = (),
) -> Estimate:
    """Estimate from the chunks of the documents that are to be built.

    Tokens are the embedder's word pieces. Without a past, an answer is taken to be as long as its
    chunk; with one, tokens and time per chunk are those of the past.
    """
    chunks = [chunk for each in documents for chunk in [*each, None]]
    documents_count = sum(chunk is None for chunk in chunks)
    texts = [count_tokens(passage_of(chunk)) for chunk in chunks if chunk is not None]
    before = sum((each for each in past), BuildCounts())
    share = len(texts) / before.chunks if before.chunks else 0.0
    prompt_tokens = sum(count_tokens(prompt_text(prompt)) for prompt in (NAMES, FORMS))
    return Estimate(
        documents=documents_count,
        built=built,
        failed=tuple(failed),
        chunks=len(texts),
        calls=2 * len(texts),
        tokens_in=round(before.tokens_in * share)
        if share
        else prompt_tokens * len(texts) + 3 * sum(texts),
        tokens_out=round(before.tokens_out * share) if share else sum(texts),
        seconds=round(before.seconds * share, 1) if share else None,
    )
