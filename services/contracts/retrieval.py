"""Retrieval: a query in, ranked knowledge out."""

from collections.abc import Sequence
from typing import Literal, Protocol
from urllib.parse import quote

from pydantic import Field

from services.contracts.client import ContractClient, route
from services.contracts.screened_ticket import ScreenedTicket
from services.kit.value import Value
from services.knowledge.model import IncidentNode, KnowledgeContext, Span
from services.runbook.checking.approvals import ApprovalUse, suffices
from services.runbook.choose import fits_unread_section, ranked_procedures
from services.runbook.model import Procedure
from services.runbook.ports import ServedReading
from services.workflow.model import LinkedPage


class RetrieveRequest(Value):
    """A query. Text alone is enough; the other fields sharpen it."""

    title: str = ""
    description: str = ""
    alert_name: str = ""
    labels: dict[str, str] = Field(default={})
    without: tuple[str, ...] = Field(default=(), max_length=100)
    """Documents that are ruled out; nothing of them is returned."""
    top_chunks: int = Field(default=12, ge=1, le=100)
    """Number of chunks to return: K of the paper."""
    top_nodes: int = Field(default=8, ge=1, le=100)
    """Number of nodes to return: N of the paper."""
    with_cases: bool = False
    """True to also match pages by similar resolved tickets, and by texts that a model wrote as
    people would report the fault.
    """

    @classmethod
    def of_ticket(cls, ticket: ScreenedTicket, *, without: Sequence[str] = ()) -> "RetrieveRequest":
        """Build the request for a ticket, without sentences that address a language model."""
        safe_ticket = ticket.for_model()
        return cls(
            title=safe_ticket.title,
            description=safe_ticket.description,
            alert_name=safe_ticket.alert_name,
            labels=safe_ticket.labels,
            without=tuple(without),
            with_cases=True,
        )


RetrievalStore = Literal["vectors", "graph"]
"""Store that knowledge is retrieved from: chunks by meaning and words, or nodes by incident
names.
"""


class PageReading(Value):
    """A retrieved document with its reading."""

    document_id: str
    title: str
    served: ServedReading | None = None
    """The served reading; None if nobody has read the page as it is now."""
    score: float = 0.0
    """Relevance of the document, 0–1."""
    text: str = ""
    """The converted text without sentences that address a language model: the lines that the
    reading cites, counted from 1.
    """
    stored_text: str = ""
    """The text as stored, if screening removed lines from it; empty if it equals `text`."""
    near: dict[int, float] = Field(default={})
    """Similarity of each retrieved passage, 0–1, by its first line."""
    boxes: dict[str, bool] = Field(default={})
    """Corrections of people to its blocks, by block key: True if the block is a step."""
    box_habit: dict[str, float] = Field(default={})
    """Log-odds of being a step, by sign of form, learned from such corrections; empty as
    shipped.
    """
    links: tuple[LinkedPage, ...] = ()
    """Pages that it links to, in order, if it is mostly links and may be the answer."""
    origin: str = ""
    """Origin of a page that was not written by hand: `learned from 3 runs`."""

    @property
    def procedures(self) -> tuple[Procedure, ...]:
        """Procedures of its reading; none if nobody has read it."""
        return self.served.reading.procedures if self.served else ()

    def approved_for(self, use: ApprovalUse) -> list[Procedure]:
        """Return the procedures whose approval suffices for the use, in order."""
        served = self.served
        return [
            procedure
            for place, procedure in enumerate(self.procedures)
            if served and suffices(served.kind(place), use)
        ]

    def is_approved_for(self, use: ApprovalUse, ticket_text: str) -> bool:
        """Return True if the procedure that treats the ticket's fault is approved for the use."""
        ranked = ranked_procedures(self.procedures, ticket_text)
        return (
            self.served is not None
            and bool(ranked)
            and suffices(self.served.kind(ranked[0][0]), use)
            and not fits_unread_section(self.served.reading, self.text, ticket_text)
        )

    @property
    def is_read(self) -> bool:
        """True if a model or a person has read the page, so that its logic may be drawn."""
        return self.served is not None


RIVAL_SCORE = 0.85
"""Share of the best page's relevance from which another one competes; where the best one is right,
most others stay under it (even ids of the benchmark).
"""
MOST_SIGNS = 12
"""Number of documents whose signs are returned."""


class PageSigns(Value):
    """Retrieval signals of one document, from which the site learns."""

    document_id: str
    signs: dict[str, float]
    """Values by the name of a retrieval signal."""


class RetrievedContext(KnowledgeContext):
    """Knowledge about one ticket, with the readings of its documents."""

    pages: tuple[PageReading, ...] = ()
    """Readings of the documents of `chunks` and `nodes`, the most relevant first, then of linked
    ones.
    """
    degraded: tuple[RetrievalStore, ...] = ()
    """Stores that did not answer, so that retrieval went on without them."""
    signs: tuple[PageSigns, ...] = ()
    """Signals of the closest documents, best first."""
    is_alert: bool = False
    """True if the query had the name of an alert."""


class SourceText(Value):
    """The lines of a span as the document has them."""

    span: Span
    document_title: str
    text: str


class NodeQuery(Value):
    """Filter for incident nodes."""

    text: str = Field(default="", max_length=200)
    """Part of a name or alias, compared without case, spacing and punctuation; empty for any."""
    start: int = Field(default=0, ge=0, le=10_000_000)
    """Number of nodes to skip."""
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
        """Summarise a node."""
        return cls(
            id=node.id,
            name=node.name,
            aliases=node.aliases,
            summary=node.summary,
            documents=node.document_ids,
        )


class Link(Value):
    """A hand-over from a procedure to a page of another node."""

    source: str
    target: str


class NodeSurroundings(Value):
    """An incident node and its neighbourhood."""

    node: IncidentNode
    around: tuple[NodeSummary, ...]
    """Nodes that it leads to, the nearest first, then others of its own pages."""
    links: tuple[Link, ...]
    """Links among all these nodes, by node id."""
    left_out: int = 0
    """Number of further nodes."""


class PeersQuery(Value):
    """Query for pages that treat the same kind of fault as a page."""

    document_id: str = Field(max_length=1024)
    most: int = Field(default=6, ge=1, le=20)
    least_meaning: float = Field(default=0.5, ge=0, le=1)
    """Lowest cosine of the page's subject with the closest passage of another page."""


class Retrieval(Protocol):
    """Search for what is known about a fault."""

    def retrieve(self, request: RetrieveRequest) -> RetrievedContext:
        """Return ranked chunks and nodes, their documents' readings, and how likely they fit.

        If one of the stores does not answer, the other one is used alone.

        Raises:
            UnavailableError: Neither answered.
        """

    def source(self, span: Span) -> SourceText:
        """Return the text of a span.

        Raises:
            NotFoundError: The document is not, or no longer, known.
        """

    def peers(self, query: PeersQuery) -> list[PageReading]:
        """List other pages that treat the same kind of fault, nearest first, with readings.

        Raises:
            NotFoundError: The document is not, or no longer, known.
            UnavailableError: Neither store answered.
        """

    def nodes(self, query: NodeQuery) -> list[NodeSummary]:
        """List the incident nodes that match the query, in the order of their names.

        Raises:
            UnavailableError: The graph did not answer.
        """

    def surroundings(self, node_id: str, *, hops: int = 1) -> NodeSurroundings:
        """Return a node with its neighbours within `hops` links.

        Raises:
            NotFoundError: No such node.
            UnavailableError: The graph did not answer.
        """


class RetrievalClient(ContractClient):
    """`Retrieval` in another process, over HTTP."""

    retrieve = route(Retrieval.retrieve, "POST", "/v1/retrievals")

    def source(self, span: Span) -> SourceText:
        """See `Retrieval.source`."""
        payload = self._client.get(
            f"/v1/sources/{quote(span.document_id)}",
            start_line=span.start_line,
            end_line=span.end_line,
        )
        return SourceText.model_validate(payload)

    peers = route(Retrieval.peers, "POST", "/v1/peers")
    nodes = route(Retrieval.nodes, "GET", "/v1/nodes")
    surroundings = route(Retrieval.surroundings, "GET", "/v1/nodes/{node_id:path}")
