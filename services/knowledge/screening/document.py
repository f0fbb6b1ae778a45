"""Screening of documents: removal of sentences that address a language model, line by line."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

from services.kit.versions import hash_sources
from services.knowledge.document.front_matter import FRONT_MATTER
from services.knowledge.document.titles import specific_title
from services.knowledge.model import Document
from services.knowledge.screening.instructions import instruction_in
from services.knowledge.screening.screening import Screened, screen_document, screen_message
from services.knowledge.screening.withheld import withheld_lines

_UNTITLED = "Untitled page"
_VERSION = hash_sources(
    "knowledge/screening/*.py", "knowledge/document/*.py", "language/*.py", "language/*.json"
)
"""Version of the screening: another version may remove other sentences of the same page."""


@dataclass(frozen=True)
class ScreenedDocument:
    """A document with the marks of what addresses a language model, made at the door.

    The two views are the only ways out: searches, steps, citations and models use one, the page
    that people see stays whole.
    """

    _document: Document
    _usable_text: str | None = None
    """Text as this version of the screening left it, if that is known already."""

    @property
    def id(self) -> str:
        """Id of the document."""
        return self._document.id

    def for_person(self) -> Document:
        """Return the whole document, as it is stored and shown."""
        return self._document

    def for_model(self) -> Document:
        """Return the document without what addresses a model; lines keep their numbers."""
        return self._model_view

    @cached_property
    def _text(self) -> str:
        return self._screened.text if self._usable_text is None else self._usable_text

    @cached_property
    def text_hash(self) -> str:
        """Hash of the usable text: readings and other facts about its lines apply to no other text.

        Another converter may change it while the source bytes stay the same, and so may new rules
        for texts that address a model.
        """
        return hash_of(self._text)

    @property
    def withheld(self) -> tuple[int, ...]:
        """Lines of the whole text that models do not see, see `withheld_lines`."""
        return withheld_lines(self._document.text, self._text)

    @property
    def suspicious(self) -> tuple[str, ...]:
        """Removed texts, none twice."""
        title = specific_title(self._document)
        bad = [title] if _is_instruction(title) else []
        return tuple(dict.fromkeys((*bad, *self._bad_fields.values(), *self._screened.dropped)))

    @cached_property
    def _bad_fields(self) -> dict[str, str]:
        fields = {
            name: " ".join([value] if isinstance(value, str) else value)
            for name, value in self._document.front_matter.items()
        }
        return {name: text for name, text in fields.items() if _is_instruction(text)}

    @cached_property
    def _screened(self) -> Screened:
        """Screened text; its front matter, which is no prose, is kept or removed as a whole."""
        text = self._document.text
        match = FRONT_MATTER.match(text)
        if not match:
            return screen_document(text)
        front, body = match[0], screen_document(text[match.end() :])
        lines = (line.strip() for line in front.splitlines())
        speaks = tuple(line for line in lines if instruction_in(line.strip("# ")))
        if self._bad_fields or speaks:
            front = "\n" * front.count("\n")
        return Screened(front + body.text, (*speaks, *body.dropped))

    @cached_property
    def _model_view(self) -> Document:
        front_matter = {
            name: value
            for name, value in self._document.front_matter.items()
            if name not in self._bad_fields
        }
        update = {"text": self._text, "title": self._title, "front_matter": front_matter}
        return self._document.model_copy(update=update)

    @property
    def _title(self) -> str:
        title = specific_title(self._document)
        if not _is_instruction(title):
            return self._document.title
        left = screen_message(title).text.strip(" .")
        return _UNTITLED if not left or _is_instruction(left) else left


def hash_of(text: str) -> str:
    """Return the sha256 of a text that is already screened, hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def screening_id(text: str) -> str:
    """Return the id of a text's screening, which differs by text and by version."""
    return hashlib.sha256(f"{_VERSION}{text}".encode()).hexdigest()[:16]


def _is_instruction(title: str) -> bool:
    """Return True if a title is an instruction, also by its markup as in `### System:`."""
    return instruction_in(f"# {title}") is not None or instruction_in(title) is not None
