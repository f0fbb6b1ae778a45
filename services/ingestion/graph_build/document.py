"""Build of a model's part of the graph for one document (FlowXpert, graph base, steps 2–4)."""

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import structlog
from pydantic import BaseModel, ConfigDict

from services.grounding.grounder import RecentVectors
from services.ingestion.graph_build.estimate import BuildCounts
from services.ingestion.graph_build.incidents import Incident, Incidents, same_words
from services.ingestion.graph_build.pieces import ShownLines, pieces_of
from services.ingestion.graph_build.questions import (
    FORMS_AT_ONCE,
    NOTHING,
    FilledForm,
    Questions,
    passage_of,
    recipe,
)
from services.ingestion.model_pass import failure_reason
from services.ingestion.structure.nodes import incident_node
from services.knowledge.document.markdown import plain
from services.knowledge.model import Chunk, IncidentNode
from services.knowledge.screening.document import ScreenedDocument
from services.llm.chat_model import ModelAnswerError, ModelRefusedError, ModelUnavailableError
from services.llm.guard import Budget, GuardedChatModel

_log = structlog.get_logger()


class BuiltPart(BaseModel):
    """Nodes that a model made of one version of a document."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    text_hash: str
    """Hash of the text that the lines are counted in; the nodes are valid for it alone."""
    model: str
    recipe: str
    nodes: tuple[IncidentNode, ...]
    """Nodes of the model alone, before they are joined with the structural ones."""
    tally: BuildCounts


class UnbuiltPart(BaseModel):
    """Failed build of one version of a document: the model failed or refused."""

    model_config = ConfigDict(frozen=True)

    document_id: str
    text_hash: str
    recipe: str
    reason: str
    tally: BuildCounts
    """Counts of what was spent before the failure."""


class DocumentBuilder:
    """Builder that asks the model chunk by chunk. Threads may share it."""

    def __init__(self, model: GuardedChatModel, vectors: RecentVectors, *, max_tokens: int) -> None:
        """Bound one answer by `max_tokens`; find sentences in other words by `vectors`."""
        self._model = model
        self._vectors = vectors
        self._max_tokens = max_tokens
        self._closed = threading.Event()
        self._impatient = threading.Event()

    def close(self) -> None:
        """Stop all documents in work; a question that is under way is still answered."""
        self._closed.set()
        self._impatient.set()

    def hurry(self) -> None:
        """Let documents in work fail instead of waiting until the model may be asked again."""
        self._impatient.set()

    def build(
        self,
        document: ScreenedDocument,
        chunks: Sequence[Chunk],
        structural: Sequence[IncidentNode],
    ) -> BuiltPart | UnbuiltPart:
        """Build the model's nodes of a document; `structural` are those found without it.

        Raises:
            BuildClosedError: The builder was closed meanwhile.
        """
        started, meter = time.perf_counter(), Budget(sys.maxsize)
        model = self._model.with_budget(meter)
        questions = Questions(model, self._max_tokens, self._closed, self._impatient)
        work = _DocumentBuild(document, chunks, structural, questions, self._vectors)
        read = {
            "document_id": document.id,
            "text_hash": document.text_hash,
            "recipe": recipe(self._model.name),
        }
        try:
            nodes = tuple(work.nodes())
        except (ModelUnavailableError, ModelRefusedError) as error:
            return UnbuiltPart(**read, reason=failure_reason(error), tally=_spent(meter, started))
        tally = _spent(meter, started) + BuildCounts(**work.counts, chunks=len(chunks))
        return BuiltPart(**read, model=self._model.name, nodes=nodes, tally=tally)


class _DocumentBuild:
    """Build of one document by the model."""

    def __init__(
        self,
        document: ScreenedDocument,
        chunks: Sequence[Chunk],
        structural: Sequence[IncidentNode],
        questions: Questions,
        vectors: RecentVectors,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self._document = document
        self._chunks = chunks
        self._pieces = pieces_of(structural)
        self._title = structural[0].name if structural else document.for_person().title
        self._questions = questions
        self._vectors = vectors
        self._texts = [passage_of(chunk) for chunk in chunks]
        self._incidents = Incidents()

    def nodes(self) -> list[IncidentNode]:
        """Run all steps: return a node for each incident that has lines of its own."""
        for chunk, text in enumerate(self._texts):
            if text != NOTHING:
                self._find_names(chunk, text)
        for chunk in range(len(self._texts)):
            self._fill_forms(chunk)
        incidents = [each for each in self._incidents.all if each.fields_by_piece]
        self.counts["empty"] += len(self._incidents.all) - len(incidents)
        return [
            incident_node(
                self._document.for_model(),
                each.name,
                each.other_names,
                each.summary,
                each.passages(self._pieces),
            )
            for each in incidents
        ]

    def _find_names(self, chunk: int, text: str) -> None:
        """Run step two: note the incidents of a chunk, by names that its text supports."""
        source = self._source(chunk, chunk)
        with self._tolerated(chunk):
            for named in self._questions.names(text):
                name = plain(named.name).strip(" .:")
                self.counts["names"] += 1
                if same_words(name, self._title) or source.is_incident_name(name):
                    (located,) = source.locate([named.summary])
                    # The summary is the document's own sentence, if any prose says it.
                    is_prose = located is not None and not located.unit.is_code
                    summary = located.unit.text if located and is_prose else ""
                    self._incidents.note(name, summary, chunk)
                else:
                    self.counts["names_unsupported"] += 1

    def _fill_forms(self, chunk: int) -> None:
        """Run step three: ask what a chunk and the one before it say of the incidents of both."""
        near = self._incidents.near(chunk)
        for start in range(0, len(near), FORMS_AT_ONCE):
            some = {f"i{n}": each for n, each in enumerate(near[start : start + FORMS_AT_ONCE], 1)}
            names = {id_: each.name for id_, each in some.items()}
            before = self._texts[chunk - 1] if chunk else NOTHING
            source = self._source(chunk - 1, chunk)
            with self._tolerated(chunk):
                for form in self._questions.forms(names, before, self._texts[chunk]):
                    self._add_lines(form, some[form.incident], source)

    def _add_lines(self, form: FilledForm, incident: Incident, source: ShownLines) -> None:
        """Run the spans of step four: keep only the lines that the form's sentences stand in."""
        sentences = list(form.sentences())
        self.counts["sentences"] += len(sentences)
        locations = source.locate([sentence for _, sentence in sentences])
        for (attribute, _), located in zip(sentences, locations, strict=True):
            if located is None:
                self.counts["sentences_unsupported"] += 1
            else:
                incident.fields_by_piece.setdefault(located.piece, set()).add(attribute)

    def _source(self, first: int, last: int) -> ShownLines:
        chunks = self._chunks[max(0, first) : last + 1]
        return ShownLines(self._document, chunks, self._pieces, self._vectors)

    @contextmanager
    def _tolerated(self, chunk: int) -> Iterator[None]:
        """Log an unreadable answer and go on: it costs its own content, not the document."""
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
