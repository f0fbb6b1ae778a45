"""Retrieval: a query in, ranked knowledge out."""

from collections.abc import Sequence
from typing import Literal, Protocol
from urllib.parse import quote

from pydantic import Field

from services.contracts.screened_ticket import screened
from services.contracts.ticket import TicketDraft
from services.kit.http.client import ServiceClient
from services.kit.value import Value
from services.knowledge.model import IncidentNode, KnowledgeContext, Span
from services.procedure.model import Procedure
from services.procedure.ports import ReadingState, ServedReading
from services.workflow.model import LinkedPage


class RetrieveRequest(Value):
    """What to look for. Text alone is enough; the other fields sharpen it."""

    title: str = ""
    description: str = ""
    alert_name: str = ""
    labels: dict[str, str] = Field(default={})
    without: tuple[str, ...] = Field(default=(), max_length=100)
    """Documents that are known not to be meant: nothing of them comes back."""
    top_chunks: int = Field(default=12, ge=1, le=100)
    """K of the paper: chunks that come back."""
    top_nodes: int = Field(default=8, ge=1, le=100)
    """N of the paper: nodes that come back."""
    with_cases: bool = False
    """Whether pages are found more easily that resolved tickets like this one, or that a model says
    people would write so of."""

    @classmethod
    def of_ticket(cls, ticket: TicketDraft, *, without: Sequence[str] = ()) -> "RetrieveRequest":
        """The request a ticket stands for, without sentences that speak to a language model."""
        asked = screened(ticket).ticket
        return cls(
            title=asked.title,
            description=asked.description,
            alert_name=asked.alert_name,
            labels=asked.labels,
            without=tuple(without),
            with_cases=True,
        )


Part = Literal["vectors", "graph"]
"""Where knowledge is found: by meaning and words, or by the names of incidents."""


class PageReading(Value):
    """One of the documents that were found, and what its reading tells to do."""

    document_id: str
    title: str
    served: ServedReading | None = None
    """None where nobody has read the page as it stands."""
    score: float = 0.0
    """Relevance of the document, 0–1."""
    text: str = ""
    """The converted text without sentences that speak to a language model: the lines that the
    reading names, counted from 1."""
    stored_text: str = ""
    """The text as it is stored, where screening left out lines of it; empty where it is `text`."""
    near: dict[int, float] = Field(default={})
    """How near each passage that was found of it comes, 0–1, by its first line."""
    boxes: dict[str, bool] = Field(default={})
    """What people said of blocks, by key: whether they are steps."""
    box_habit: dict[str, float] = Field(default={})
    """What such words taught of the form of steps, in log-odds by sign; empty as shipped."""
    links: tuple[LinkedPage, ...] = ()
    """Of a page that is mostly links and may be the answer: the pages that it leads to, in its
    order."""
    origin: str = ""
    """How the page came about, where nobody wrote it by hand: `learned from 3 runs`."""

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        """What its reading tells; nothing where nobody has read it."""
        return self.served.reading.procedures if self.served else ()

    @property
    def approved(self) -> list[Procedure]:
        """What of it a person has approved, in its order."""
        served = self.served
        return [
            procedure
            for place, procedure in enumerate(self.procedures)
            if served and served.state(place) is ReadingState.APPROVED
        ]

    @property
    def is_read(self) -> bool:
        """Whether a model or a person has read the page, so that its logic may be drawn."""
        return self.served is not None


RIVAL_SCORE = 0.85
"""Share of the best page's relevance from which another one competes: where the best one is right,
most others stay under it (even ids of the benchmark)."""
MOST_SIGNS = 12
"""Documents whose signs come back."""


class PageSigns(Value):
    """What speaks for one document, in numbers: what learning on site starts from."""

    document_id: str
    signs: dict[str, float]
    """By the name of a signal of retrieval."""


class RetrievedContext(KnowledgeContext):
    """What is known for one ticket, with the readings of its documents."""

    pages: tuple[PageReading, ...] = ()
    """Of the documents of `chunks` and `nodes`, the most relevant first, then the linked ones."""
    degraded: tuple[Part, ...] = ()
    """What did not answer, so that this was found without it."""
    signs: tuple[PageSigns, ...] = ()
    """Of the documents that came nearest, best first."""
    is_alert: bool = False
    """Whether it was looked for by the name of an alert."""


class SourceText(Value):
    """The lines of a span as they stand in the document."""

    span: Span
    document_title: str
    text: str


class NodeQuery(Value):
    """Which incident nodes are asked for."""

    text: str = Field(default="", max_length=200)
    """Part of a name or alias, compared without case, spacing and punctuation; empty for any."""
    start: int = Field(default=0, ge=0, le=10_000_000)
    """How many of the first are left out."""
    limit: int = Field(default=50, ge=1, le=500)


class NodeSummary(Value):
    """An incident node without its passages."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    summary: str = ""
    documents: tuple[str, ...] = ()

    @classmethod
    def of(cls, node: IncidentNode) -> "NodeSummary":
        """Of the whole node."""
        return cls(
            id=node.id,
            name=node.name,
            aliases=node.aliases,
            summary=node.summary,
            documents=node.document_ids,
        )


class Link(Value):
    """A procedure hands over to a page of another node."""

    source: str
    target: str


class NodeSurroundings(Value):
    """An incident node and those around it."""

    node: IncidentNode
    around: tuple[NodeSummary, ...]
    """Nodes that it leads to, the nearest first, then others of its own pages."""
    links: tuple[Link, ...]
    """Among all these, by the ids of the nodes."""
    left_out: int = 0
    """How many more there are."""


class PeersQuery(Value):
    """Which pages of a kind are asked for."""

    document_id: str = Field(max_length=1024)
    most: int = Field(default=6, ge=1, le=20)
    least_meaning: float = Field(default=0.5, ge=0, le=1)
    """Cosine of what the page treats with the nearest passage of another one."""


class Retrieval(Protocol):
    """Finds what is known about a fault."""

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        """Ranked chunks and nodes, the readings of their documents, and how likely they fit.

        From the vector store alone, or from the graph alone, where the other does not answer.

        Raises:
            UnavailableError: Neither answered.
        """

    def source(self, span: Span) -> SourceText:
        """The text of a span.

        Raises:
            NotFoundError: The document is not, or no longer, known.
        """

    def peers(self, query: PeersQuery) -> list[PageReading]:
        """Other pages that treat the same kind of fault, the nearest first, with their readings.

        Raises:
            NotFoundError: The document is not, or no longer, known.
            UnavailableError: Neither store answered.
        """

    def nodes(self, query: NodeQuery) -> list[NodeSummary]:
        """Incident nodes that are asked for, in the order of their names.

        Raises:
            UnavailableError: The graph did not answer.
        """

    def surroundings(self, node_id: str, *, hops: int = 1) -> NodeSurroundings:
        """A node with those within so many links.

        Raises:
            NotFoundError: No such node.
            UnavailableError: The graph did not answer.
        """


class RetrievalClient:
    """`Retrieval` in another process, over HTTP."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        """See `Retrieval.retrieve`."""
        return RetrievedContext.model_validate(self._client.post("/v1/retrievals", request))

    def source(self, span: Span) -> SourceText:
        """See `Retrieval.source`."""
        found = self._client.get(
            f"/v1/sources/{quote(span.document_id)}",
            start_line=span.start_line,
            end_line=span.end_line,
        )
        return SourceText.model_validate(found)

    def peers(self, query: PeersQuery) -> list[PageReading]:
        """See `Retrieval.peers`."""
        found = self._client.post("/v1/peers", query)
        return [PageReading.model_validate(each) for each in found]

    def nodes(self, query: NodeQuery) -> list[NodeSummary]:
        """See `Retrieval.nodes`."""
        found = self._client.get("/v1/nodes", **query.model_dump(exclude_defaults=True))
        return [NodeSummary.model_validate(each) for each in found]

    def surroundings(self, node_id: str, *, hops: int = 1) -> NodeSurroundings:
        """See `Retrieval.surroundings`."""
        found = self._client.get(f"/v1/nodes/{quote(node_id)}", hops=hops)
        return NodeSurroundings.model_validate(found)
