"""A document without the sentences that speak to a language model; lines keep their numbers."""

from dataclasses import dataclass

from services.ingestion.titles import specific_title
from services.knowledge.instructions import instruction_in
from services.knowledge.model import Document
from services.knowledge.screening import screen_document, screen_message

_UNTITLED = "Untitled page"


@dataclass(frozen=True)
class ScreenedDocument:
    """What chunks and nodes are made of; what is stored and shown stays whole."""

    document: Document
    suspicious: tuple[str, ...]
    """What was left out, none twice."""


def screened(document: Document) -> ScreenedDocument:
    """The document as searches, steps, citations and models may use it."""
    text = screen_document(document.text)
    title = specific_title(document)
    fields = {
        name: value
        for name, value in document.front_matter.items()
        if not _is_one(" ".join([value] if isinstance(value, str) else value))
    }
    bad = [title] if _is_one(title) else []
    update = {
        "text": text.text,
        "title": _innocent(title) if bad else document.title,
        "front_matter": fields,
    }
    return ScreenedDocument(
        document.model_copy(update=update), tuple(dict.fromkeys((*bad, *text.dropped)))
    )


def _innocent(title: str) -> str:
    """The title without what in it speaks to a model."""
    left = screen_message(title).text.strip(" .")
    return _UNTITLED if not left or _is_one(left) else left


def _is_one(title: str) -> bool:
    """A title counts as one also where its marks make it one, as in `### System:`."""
    return instruction_in(f"# {title}") is not None or instruction_in(title) is not None
