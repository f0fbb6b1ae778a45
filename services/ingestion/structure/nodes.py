"""Incident nodes by a document's own structure, without a model (FlowXpert, graph base)."""

import hashlib
import re
from collections.abc import Iterator, Sequence

import numpy as np

from services.ingestion.structure.sections import passages
from services.knowledge.document.links import normalise_link
from services.knowledge.document.markdown import Block, BlockKind, MarkdownPage, Section, parse
from services.knowledge.document.roles import role_of_heading
from services.knowledge.document.titles import is_generic, specific_title
from services.knowledge.model import (
    ATTRIBUTE_OF_ROLE,
    Attribute,
    Document,
    IncidentNode,
    Passage,
    SectionRole,
    Span,
)
from services.knowledge.ports import Embedder
from services.knowledge.stores.merge import normalise_name
from services.language.names import alert_names, error_codes
from services.language.sentences import sentences

_PROTOTYPES: tuple[tuple[SectionRole, str], ...] = (
    (SectionRole.SYMPTOM, "what you see when it fails"),
    (SectionRole.SYMPTOM, "error messages in the logs"),
    (SectionRole.MEANING, "what this alert means"),
    (SectionRole.IMPACT, "consequences for users"),
    (SectionRole.CAUSE, "what causes the failure"),
    (SectionRole.CAUSE, "where the fault comes from"),
    (SectionRole.CHECK, "how to find out what is wrong"),
    (SectionRole.CHECK, "look at logs and metrics"),
    (SectionRole.REMEDY, "how to fix the problem"),
    (SectionRole.REMEDY, "bring the service back"),
    (SectionRole.VERIFICATION, "make sure that it works again"),
    (SectionRole.ESCALATION, "whom to call for help"),
    (SectionRole.CASE, "what happened last time"),
    (SectionRole.PREVENTION, "keep it from happening again"),
    (SectionRole.REFERENCE, "links to further documents"),
    (SectionRole.NOTE, "how the system is built"),
)
_LEAST_SIMILARITY = 0.45
"""Least cosine between a heading and a prototype; below it a heading means something else."""

_QUOTED = re.compile(r"[\"“]([^\"“”]{12,160})[\"”]")
_NAME_FIELDS = (
    "alert",
    "alertname",
    "alert_name",
    "alerts",
    "error_message",
    "error",
    "error_code",
)
_TITLE_FIELDS = ("title", "linktitle", "name")
_SOURCE_LANGUAGES = frozenset(
    {"bash", "sh", "shell", "console", "powershell", "python", "json", "yaml", "xml", "sql", "go"}
)
"""Languages of code blocks that show commands or objects, not messages."""
_MOST_ALIASES = 24
_LONGEST_ALIAS = 200
_REMEDY_COLUMN = re.compile(
    r"remed|fix|action|solution|resol|mitigat|what to do|correct|respon|recommend", re.IGNORECASE
)
_FAULT_COLUMN = re.compile(
    r"symptom|alarm|alert|error|message|problem|issue|fault|condition|event|code|failure",
    re.IGNORECASE,
)

_NAME = r"(?=\w*[a-z])[A-Z][A-Za-z0-9]*[a-z0-9][A-Z]\w*"
_LEAD = re.compile(r"\b(?:alert|alarm)s?\b(?:\s+names?|\s+that\s+fired)?", re.IGNORECASE)
_LISTED = re.compile(
    rf"[\s:;,/*_`\"“”]*(?:(?:and|or)\s+)?[*_`\"“”]*({_NAME})\b(?:[*_`\s]*\([^)]*\))?"
)
_WHOLE_NAME = re.compile(_NAME)
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", re.MULTILINE | re.DOTALL)


def extract_nodes(document: Document, embedder: Embedder) -> list[IncidentNode]:
    """Return the document's nodes in order: one for the page, or one per incident it treats.

    The page's node comes first and has all its passages. A page of several incidents (sections
    that each describe a fault and its remedy, or a table of faults and remedies) gives one more
    node for each, with the passages that are its own.
    """
    page = parse(document.text)
    title = specific_title(document)
    own = passages(page, document.id, title, lambda texts: _by_meaning(texts, embedder))
    if not own:
        return []
    fields = {key.lower(): value for key, value in document.front_matter.items()}
    named = [value for key in _NAME_FIELDS for value in _values(fields.get(key))]
    titles = [value for key in _TITLE_FIELDS for value in _values(fields.get(key))]
    first = next((section.title for section in page.sections if section.level == 1), "")
    headings = [each for each in (*titles, first, document.title) if each and not is_generic(each)]
    described = next(iter(_values(fields.get("description"))), "")
    page_node = incident_node(document, title, [*named, *headings], described, own)
    sections = (
        incident_node(
            document,
            section.title,
            [],
            "",
            [p for p in own if section.start_line <= p.span.start_line <= section.end_line],
        )
        for section in _incident_sections(page)
    )
    rows = (row for passage in own for row in _row_nodes(document, passage))
    return [page_node, *sections, *rows]


_MITIGATING = frozenset(
    role for role, attribute in ATTRIBUTE_OF_ROLE.items() if attribute is Attribute.MITIGATION_STEPS
)
_DESCRIBING = frozenset(
    {SectionRole.SYMPTOM, SectionRole.MEANING, SectionRole.IMPACT, SectionRole.CAUSE}
)


def _by_meaning(texts: Sequence[str], embedder: Embedder) -> list[SectionRole | None]:
    prototypes = embedder.embed([text for _, text in _PROTOTYPES])
    similarity = np.matmul(embedder.embed(texts), prototypes.T)
    best = np.argmax(similarity, axis=1)
    return [
        _PROTOTYPES[column][0] if similarity[row, column] >= _LEAST_SIMILARITY else None
        for row, column in enumerate(best)
    ]


def _incident_sections(page: MarkdownPage) -> list[Section]:
    """Return sections that are an incident each: a heading naming it, a fault and a remedy."""
    for parent in page.sections:
        incidents = [child for child in parent.children if _tells_an_incident(child)]
        if len(incidents) > 1:
            return incidents
    return []


def _tells_an_incident(section: Section) -> bool:
    if role_of_heading(section.title) is not None:
        return False
    roles = {role_of_heading(child.title) for child in section.walk() if child is not section}
    roles |= {role_of_heading(block.bold_lead) for block in section.blocks if block.bold_lead}
    return bool(roles & _DESCRIBING) and bool(roles & _MITIGATING)


def incident_node(
    document: Document, name: str, other_names: list[str], described: str, own: Sequence[Passage]
) -> IncidentNode:
    """Build a node of these passages, in order, with their codes, messages and links.

    `described` is the document's own short description, if any; its first sentence is the summary.
    """
    aliases = [*other_names, *stated_alerts(name, own), *alert_names(name), *_messages(own)]
    aliases = [alias[:_LONGEST_ALIAS] for alias in dict.fromkeys(aliases) if alias != name]
    fields: dict[Attribute, list[Passage]] = {attribute: [] for attribute in Attribute}
    for passage in own:
        fields[ATTRIBUTE_OF_ROLE[passage.role]].append(passage)
    links = (
        link
        for passage in own
        if passage.role in _MITIGATING
        for block in _blocks(passage)
        for item in block.items
        for link in item.links
    )
    targets = dict.fromkeys(normalise_link(link, document.id) for link in links)
    key = normalise_name(name)
    if is_generic(name) or len(key) < 4:
        key = f"{document.id}\0{key}"
    return IncidentNode(
        id=hashlib.sha256(key.encode()).hexdigest()[:32],
        name=name,
        aliases=tuple(aliases[:_MOST_ALIASES]),
        summary=_first_sentence(described) or _summary(own),
        linked_documents=tuple(each for each in targets if each and each != document.id),
        failure_description=tuple(fields[Attribute.FAILURE_DESCRIPTION]),
        mitigation_steps=tuple(fields[Attribute.MITIGATION_STEPS]),
        typical_cases=tuple(fields[Attribute.TYPICAL_CASES]),
        additional_notes=tuple(fields[Attribute.ADDITIONAL_NOTES]),
    )


def _values(value: str | list[str] | None) -> list[str]:
    values = [value] if isinstance(value, str) else value or []
    return [str(each).strip() for each in values if str(each).strip()]


def _messages(own: Sequence[Passage]) -> Iterator[str]:
    """Yield error codes and messages as the sections on the fault write them."""
    for passage in own:
        if passage.role is SectionRole.SYMPTOM:
            for block in _blocks(passage):
                if block.kind is BlockKind.CODE and block.language not in _SOURCE_LANGUAGES:
                    lines = [line.strip() for line in block.text.splitlines()]
                    yield from [line for line in lines if 12 <= len(line) <= _LONGEST_ALIAS][:3]
                yield from _QUOTED.findall(block.text)
        if passage.role in _DESCRIBING:
            yield from error_codes(passage.text)


def _blocks(passage: Passage) -> Iterator[Block]:
    for section in parse(passage.text, first_line=passage.span.start_line).sections:
        for block in section.blocks:
            yield from block.walk()


def _summary(own: Sequence[Passage]) -> str:
    for role in (SectionRole.MEANING, SectionRole.SYMPTOM, SectionRole.CAUSE, SectionRole.IMPACT):
        for passage in own:
            if passage.role is role:
                texts = (b.text for b in _blocks(passage) if b.kind is BlockKind.PARAGRAPH)
                sentence = _first_sentence(next(texts, ""))
                if sentence:
                    return sentence
    return ""


def _first_sentence(text: str) -> str:
    return next(iter(sentences(" ".join(text.split()))), "")


def _row_nodes(document: Document, passage: Passage) -> Iterator[IncidentNode]:
    """Yield one node per row of a table that lists faults with their remedies."""
    for block in _blocks(passage):
        columns = _fault_and_remedy(block)
        if columns is None or len(block.rows) < 2:
            continue
        head = "| " + " | ".join(block.header) + " |\n|" + "---|" * len(block.header)
        for row in block.rows:
            name = row.cells[columns[0]]
            if len(name) < 4 or not row.cells[columns[1]]:
                continue
            line = "| " + " | ".join(row.cells) + " |"
            own = Passage(
                span=Span(document_id=document.id, start_line=row.line, end_line=row.line),
                role=SectionRole.REMEDY,
                heading_path=(*passage.heading_path, name),
                text=f"{head}\n{line}",
            )
            yield incident_node(document, name, error_codes(name), name, [own])


def _fault_and_remedy(block: Block) -> tuple[int, int] | None:
    """Return the indexes of the two columns, or None."""
    if block.kind is not BlockKind.TABLE:
        return None
    fault = next((n for n, name in enumerate(block.header) if _FAULT_COLUMN.search(name)), None)
    remedy = next((n for n, name in enumerate(block.header) if _REMEDY_COLUMN.search(name)), None)
    if fault is None or remedy is None or fault == remedy:
        return None
    return fault, remedy


def stated_alerts(name: str, passages: Sequence[Passage]) -> list[str]:
    """Return the names after words such as `Alert:` or `when the alert`, in order, none twice.

    Only the opening, headings and descriptions of the fault count: further down a page names
    alerts of other pages, and so do the logs and rules it shows as code. A page that is named after
    an alert is about that one only.
    """
    if _WHOLE_NAME.fullmatch(name.strip()):
        return []
    texts: list[str] = []
    for place, passage in enumerate(passages):
        texts.append(passage.heading_path[-1])
        if place == 0 or ATTRIBUTE_OF_ROLE[passage.role] is Attribute.FAILURE_DESCRIPTION:
            texts.append(_CODE.sub("", passage.text))
    return list(dict.fromkeys(alert for text in texts for alert in _stated_in(text)))


def _stated_in(text: str) -> Iterator[str]:
    for lead in _LEAD.finditer(text):
        listed = _LISTED.match(text, lead.end())
        while listed:
            yield listed.group(1)
            listed = _LISTED.match(text, listed.end())
