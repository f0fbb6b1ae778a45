"""A model's part of the graph for one document (FlowXpert, graph base, steps two to four)."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import structlog
from pydantic import BaseModel, ConfigDict

from services.grounding.vectors import RecentVectors
from services.ingestion.graph_build.counts import BuildCounts
from services.ingestion.graph_build.incidents import Incident, Incidents, same_words
from services.ingestion.graph_build.pieces import pieces_of
from services.ingestion.graph_build.questions import (
    FORMS_AT_ONCE,
    NOTHING,
    FilledForm,
    Questions,
    passage_of,
    recipe,
)
from services.ingestion.graph_build.spans import ShownLines
from services.ingestion.model_pass import failure_reason
from services.ingestion.structure.nodes import incident_node
from services.knowledge.document.markdown import plain
from services.knowledge.model import Chunk, Document, IncidentNode
from services.knowledge.screening.document import text_hash
from services.llm.chat_model import ModelAnswerError, ModelRefusedError, ModelUnavailableError
from services.llm.guard import Budget, GuardedChatModel

_log = structlog.get_logger()


class BuiltPart(BaseModel):
    """What a model made of one version of a document."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    text_hash: str
    """Of the text that the lines are counted in; of another text nothing here holds."""
    model: str
    recipe: str
    nodes: tuple[IncidentNode, ...]
    """Of the model alone, before they are joined with the structural ones."""
    tally: BuildCounts


class UnbuiltPart(BaseModel):
    """That a model made nothing of one version of a document, since it failed or refused."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    text_hash: str
    recipe: str
    reason: str
    tally: BuildCounts
    """What was spent before."""


class DocumentBuilder:
    """Asks the model chunk by chunk. Threads may share it."""

    def __init__(self, model: GuardedChatModel, vectors: RecentVectors, *, max_tokens: int) -> None:
        """`max_tokens` bounds one answer; `vectors` tell what is said in other words."""
        self._model = model
        self._vectors = vectors
        self._max_tokens = max_tokens
        self._closed = threading.Event()
        self._impatient = threading.Event()

    def close(self) -> None:
        """Let no document go on; a question that is asked is still answered."""
        self._closed.set()
        self._impatient.set()

    def hurry(self) -> None:
        """Let documents in work fail where they would wait for the model to be asked again."""
        self._impatient.set()

    def build(
        self, document: Document, chunks: Sequence[Chunk], structural: Sequence[IncidentNode]
    ) -> BuiltPart | UnbuiltPart:
        """The model's nodes of a document; `structural` are those found without it.

        Raises:
            BuildClosedError: The builder was closed meanwhile.
        """
        started, meter = time.perf_counter(), Budget(sys.maxsize)
        model = self._model.with_budget(meter)
        questions = Questions(model, self._max_tokens, self._closed, self._impatient)
        work = _Work(document, chunks, structural, questions, self._vectors)
        read = {
            "document_id": document.id,
            "text_hash": text_hash(document),
            "recipe": recipe(self._model.name),
        }
        try:
            nodes = tuple(work.nodes())
        except (ModelUnavailableError, ModelRefusedError) as error:
            return UnbuiltPart(**read, reason=failure_reason(error), tally=_spent(meter, started))
        tally = _spent(meter, started) + BuildCounts(**work.counts, chunks=len(chunks))
        return BuiltPart(**read, model=self._model.name, nodes=nodes, tally=tally)


class _Work:
    """One document before the model."""

    def __init__(
        self,
        document: Document,
        chunks: Sequence[Chunk],
        structural: Sequence[IncidentNode],
        questions: Questions,
        vectors: RecentVectors,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._document = document
        self._chunks = chunks
        self._pieces = pieces_of(structural)
        self._title = structural[0].name if structural else document.title
        self._questions = questions
        self._vectors = vectors
        self._texts = [passage_of(chunk) for chunk in chunks]
        self._incidents = Incidents()

    def nodes(self) -> list[IncidentNode]:
        """All steps: a node for each incident that has lines of its own."""
        for chunk, text in enumerate(self._texts):
            if text != NOTHING:
                self._find_names(chunk, text)
        for chunk in range(len(self._texts)):
            self._fill_forms(chunk)
        told = [each for each in self._incidents.all if each.said]
        self.counts["empty"] += len(self._incidents.all) - len(told)
        return [self._node(each) for each in told]

    def _find_names(self, chunk: int, text: str) -> None:
        """Step two: the incidents of a chunk, by names that it bears out."""
        source = self._source(chunk, chunk)
        with self._tolerated(chunk):
            for found in self._questions.names(text):
                name = plain(found.name).strip(" .:")
                self.counts["names"] += 1
                if same_words(name, self._title) or source.names(name):
                    self._incidents.note(name, _summary(source, found.summary), chunk)
                else:
                    self.counts["names_unsupported"] += 1

    def _fill_forms(self, chunk: int) -> None:
        """Step three: what a chunk and the one before it say of the incidents of both."""
        near = self._incidents.near(chunk)
        for start in range(0, len(near), FORMS_AT_ONCE):
            some = {f"i{n}": each for n, each in enumerate(near[start : start + FORMS_AT_ONCE], 1)}
            names = {id_: each.name for id_, each in some.items()}
            before = self._texts[chunk - 1] if chunk else NOTHING
            source = self._source(chunk - 1, chunk)
            with self._tolerated(chunk):
                for form in self._questions.forms(names, before, self._texts[chunk]):
                    self._take(form, some[form.incident], source)

    def _take(self, form: FilledForm, incident: Incident, source: ShownLines) -> None:
        """Step four, spans: of a form only the lines stay that its sentences stand in."""
        said = list(form.sentences())
        self.counts["sentences"] += len(said)
        found = source.locate([sentence for _, sentence in said])
        for (attribute, _), located in zip(said, found, strict=True):
            if located is None:
                self.counts["sentences_unsupported"] += 1
            else:
                incident.said.setdefault(located.piece, set()).add(attribute)

    def _node(self, incident: Incident) -> IncidentNode:
        """Step four, merging."""
        return incident_node(
            self._document,
            incident.name,
            incident.other_names,
            incident.summary,
            incident.passages(self._pieces),
        )

    def _source(self, first: int, last: int) -> ShownLines:
        chunks = self._chunks[max(0, first) : last + 1]
        return ShownLines(self._document, chunks, self._pieces, self._vectors)

    @contextmanager
    def _tolerated(self, chunk: int) -> Iterator[None]:
        """An answer that cannot be read costs what it would have said, not the document."""
        try:
            yield
        except ModelAnswerError as error:
            self.counts["unreadable"] += 1
            _log.warning(
                "ingestion.answer_unreadable",
                document_id=self._document.id,
                chunk=chunk,
                reason=str(error)[:200],
            )


def _spent(meter: Budget, started: float) -> BuildCounts:
    return BuildCounts(
        tokens_in=meter.spent.prompt_tokens,
        tokens_out=meter.spent.completion_tokens,
        seconds=round(time.perf_counter() - started, 2),
    )


def _summary(source: ShownLines, sentence: str) -> str:
    """The document's own sentence; empty where no prose says it."""
    (located,) = source.locate([sentence])
    return "" if located is None or located.unit.is_code else located.unit.text
