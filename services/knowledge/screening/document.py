"""A document without the sentences that speak to a language model; lines keep their numbers."""

import hashlib
from dataclasses import dataclass

from services.knowledge.document.front_matter import FRONT_MATTER
from services.knowledge.document.titles import specific_title
from services.knowledge.model import Document
from services.knowledge.screening.instructions import instruction_in
from services.knowledge.screening.screening import Screened, screen_document, screen_message

_UNTITLED = "Untitled page"


@dataclass(frozen=True)
class ScreenedDocument:
    """What chunks and nodes are made of; what is stored and shown stays whole."""

    document: Document
    suspicious: tuple[str, ...]
    """What was left out, none twice."""


def screened(document: Document) -> ScreenedDocument:
    """The document as searches, steps, citations and models may use it."""
    fields = {
        name: " ".join([value] if isinstance(value, str) else value)
        for name, value in document.front_matter.items()
    }
    bad_fields = {name: said for name, said in fields.items() if _is_one(said)}
    text = _screened_text(document.text, has_bad_fields=bool(bad_fields))
    title = specific_title(document)
    bad = [title] if _is_one(title) else []
    update = {
        "text": text.text,
        "title": usable_title(document),
        "front_matter": {
            name: value for name, value in document.front_matter.items() if name not in bad_fields
        },
    }
    suspicious = dict.fromkeys((*bad, *bad_fields.values(), *text.dropped))
    return ScreenedDocument(document.model_copy(update=update), tuple(suspicious))


def usable_title(document: Document) -> str:
    """Return the title of a document without what in it speaks to a model."""
    title = specific_title(document)
    return _innocent(title) if _is_one(title) else document.title


def text_hash(document: Document) -> str:
    """Names the text that is used: what is known of its lines holds of no other text.

    Another converter may change it where the source bytes stay, and so may new rules for what
    speaks to a model.
    """
    return hash_of(screened(document).document.text)


def hash_of(text: str) -> str:
    """sha256 of a text that is screened already, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def _screened_text(text: str, *, has_bad_fields: bool) -> Screened:
    """The front matter, which is no prose, goes as a whole or stays."""
    found = FRONT_MATTER.match(text)
    if not found:
        return screen_document(text)
    front, body = found[0], screen_document(text[found.end() :])
    speaks = tuple(line.strip() for line in front.splitlines() if instruction_in(line.strip("# ")))
    if has_bad_fields or speaks:
        front = "\n" * front.count("\n")
    return Screened(front + body.text, (*speaks, *body.dropped))


def _innocent(title: str) -> str:
    """The title without what in it speaks to a model."""
    left = screen_message(title).text.strip(" .")
    return _UNTITLED if not left or _is_one(left) else left


def _is_one(title: str) -> bool:
    """A title counts as one also where its marks make it one, as in `### System:`."""
    return instruction_in(f"# {title}") is not None or instruction_in(title) is not None
