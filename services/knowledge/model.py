"""Models of knowledge. A line range is 1-based and inclusive on both ends."""

from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from services.kit.value import Value


def _storable(text: str) -> str:
    if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError("text must not hold a NUL character or half a surrogate pair")
    return text


class KnowledgeValue(Value):
    """Base of the knowledge models, compared by content and never changed in place."""


class Span(KnowledgeValue):
    """Lines of a document's stored Markdown text."""

    document_id: str
    start_line: int = Field(ge=1)
    end_line: int = Field(ge=1)


class Document(KnowledgeValue):
    """One operation document as Markdown, whatever form it came in.

    `id` is its path relative to the ingested root, with forward slashes. `text` is what spans
    count lines in: the source itself for Markdown and text, the conversion for other forms.
    """

    id: str
    title: str
    text: str
    media_type: str = "text/markdown"
    content_hash: str
    """sha256 of the source bytes, hexadecimal."""
    front_matter: dict[str, str | list[str]] = Field(default={})


class Chunk(KnowledgeValue):
    """A piece of a document that fits the embedder: whole blocks, never half a step."""

    id: str
    """Stable for the same document id, heading path and text."""
    span: Span
    heading_path: tuple[str, ...]
    """Headings from the document's title down to the chunk's section."""
    text: str
    """The Markdown of its lines; what is embedded is the heading path and this text."""

    @property
    def embedded_text(self) -> str:
        """Heading path and text, as the embedder and BM25 see them."""
        return "\n".join((" > ".join(self.heading_path), self.text))


class SectionRole(StrEnum):
    """Role of a section in troubleshooting."""

    SYMPTOM = "symptom"
    MEANING = "meaning"
    IMPACT = "impact"
    CAUSE = "cause"
    CHECK = "check"
    """Diagnosis: looking, asking, comparing."""
    REMEDY = "remedy"
    PROCEDURE = "procedure"
    """Ordered steps whose headings do not say if they check or repair."""
    EXPECTED = "expected"
    """Output shown as an example of what a check prints."""
    VERIFICATION = "verification"
    """Check that the remedy worked."""
    ESCALATION = "escalation"
    CASE = "case"
    """A past occurrence or a worked example."""
    PREVENTION = "prevention"
    REFERENCE = "reference"
    PARAMETER = "parameter"
    NOTE = "note"


class Attribute(StrEnum):
    """The fields of an incident-aware node (FlowXpert, section on the graph base)."""

    FAILURE_DESCRIPTION = "failure_description"
    MITIGATION_STEPS = "mitigation_steps"
    TYPICAL_CASES = "typical_cases"
    ADDITIONAL_NOTES = "additional_notes"


ATTRIBUTE_OF_ROLE: dict[SectionRole, Attribute] = {
    SectionRole.SYMPTOM: Attribute.FAILURE_DESCRIPTION,
    SectionRole.MEANING: Attribute.FAILURE_DESCRIPTION,
    SectionRole.IMPACT: Attribute.FAILURE_DESCRIPTION,
    SectionRole.CAUSE: Attribute.FAILURE_DESCRIPTION,
    SectionRole.CHECK: Attribute.MITIGATION_STEPS,
    SectionRole.REMEDY: Attribute.MITIGATION_STEPS,
    SectionRole.PROCEDURE: Attribute.MITIGATION_STEPS,
    SectionRole.VERIFICATION: Attribute.MITIGATION_STEPS,
    SectionRole.ESCALATION: Attribute.MITIGATION_STEPS,
    SectionRole.EXPECTED: Attribute.TYPICAL_CASES,
    SectionRole.CASE: Attribute.TYPICAL_CASES,
    SectionRole.PREVENTION: Attribute.ADDITIONAL_NOTES,
    SectionRole.REFERENCE: Attribute.ADDITIONAL_NOTES,
    SectionRole.PARAMETER: Attribute.ADDITIONAL_NOTES,
    SectionRole.NOTE: Attribute.ADDITIONAL_NOTES,
}


class Passage(KnowledgeValue):
    """A section's own Markdown, subsections excluded, and the role it plays for the incident."""

    span: Span
    """The lines of `text`, heading excluded."""
    role: SectionRole
    heading_path: tuple[str, ...]
    text: str


class IncidentNode(KnowledgeValue):
    """One kind of incident with its passages from the documents.

    Each field holds passages in document order; passages of one document stay together. A field
    nothing was found for is empty. Every passage knows its span, so every sentence has a source.
    """

    id: str
    """Derived from the normalised name (and the document, where the name alone is too generic)."""
    name: str
    aliases: tuple[str, ...] = ()
    """Other names it is known by: alert names, error codes, quoted error messages."""
    summary: str = ""
    """One sentence on what fails."""
    failure_description: tuple[Passage, ...] = ()
    mitigation_steps: tuple[Passage, ...] = ()
    typical_cases: tuple[Passage, ...] = ()
    additional_notes: tuple[Passage, ...] = ()
    linked_documents: tuple[str, ...] = ()
    """Ids of documents its procedure hands over to, in the order of the links; none twice."""

    def passages(self, attribute: Attribute) -> tuple[Passage, ...]:
        """Return the passages of one field."""
        return tuple(getattr(self, attribute.value))

    def all_passages(self) -> tuple[Passage, ...]:
        """Return the passages of all fields, field by field in the order of the ontology."""
        return tuple(p for attribute in Attribute for p in self.passages(attribute))

    @property
    def document_ids(self) -> tuple[str, ...]:
        """The documents it was found in, in order of appearance."""
        return tuple(dict.fromkeys(p.span.document_id for p in self.all_passages()))


class Case(KnowledgeValue):
    """A past ticket in the triage graph: what it mentions, and the team that took it."""

    id: str
    text: str
    """Text without noise."""
    team: str
    at: float
    """Time of arrival, in seconds since the epoch."""
    entities: dict[str, int]
    """Names, codes and words, each with how often it is mentioned."""


CaseText = Annotated[str, AfterValidator(_storable)]


class ResolvedCase(KnowledgeValue):
    """A resolved ticket, stored as a typical case of the page whose procedure it followed."""

    id: CaseText = Field(min_length=1, max_length=400)
    """Id of the ticket."""
    document_id: CaseText = Field(min_length=1, max_length=1024)
    title: CaseText = Field(default="", max_length=400)
    text: CaseText = Field(default="", max_length=1000)
    """Text of the ticket, on one line, without secrets and personal data."""
    told: CaseText = Field(default="", max_length=1000)
    """Answers given about it: the branch of the procedure that it took."""
    at: float = Field(ge=0, allow_inf_nan=False)
    """Time of resolution, in seconds since the epoch."""


class RetrievedChunk(KnowledgeValue):
    """A chunk with its relevance in 0–1 and the reasons for the match, in a few words each."""

    chunk: Chunk
    score: float
    reasons: tuple[str, ...] = ()


class RetrievedNode(KnowledgeValue):
    """A node with its relevance in 0–1 and the reasons for the match, in a few words each."""

    node: IncidentNode
    score: float
    reasons: tuple[str, ...] = ()
    resolved: tuple[ResolvedCase, ...] = ()
    """Typical cases from the platform's own tickets, newest first; separate from those in the
    documents, since no line of a document contains them.
    """


class KnowledgeContext(KnowledgeValue):
    """Knowledge retrieved for a ticket: two lists, each in falling relevance."""

    chunks: tuple[RetrievedChunk, ...] = ()
    nodes: tuple[RetrievedNode, ...] = ()
    linked: tuple[IncidentNode, ...] = ()
    """Nodes of the documents that the retrieved nodes link to, in the order of the links."""
    words: dict[str, float] = Field(default={})
    """Stemmed words of the ticket that occur in the results, with weights; rare ones count more."""
    confidence: float = Field(default=0.0, ge=0, le=1)
    """Calibrated probability, 0–1, that the best hit treats this very fault."""
