"""The page of a row: its own text, a document of the store, or a file of a corpus."""

from collections.abc import Callable, Collection
from pathlib import Path

from evaluation.material.logic_rows import GoldGraph, LogicRow
from services.deployment.embedded import Embedded
from services.ingestion.converters import reader_of
from services.kit.errors import InvalidInputError
from services.kit.files import read_bytes
from services.knowledge.model import Document
from services.knowledge.page.block import Page
from services.knowledge.page.parsing import parse_page
from services.knowledge.ports import DocumentStore
from services.knowledge.screening.document import ScreenedDocument
from services.knowledge.screening.withheld import withheld_lines
from services.workflow.model import StepKind

PageOf = Callable[[LogicRow], Document]


class NoPageError(InvalidInputError):
    """The page of a row is not where it is looked for."""


def own_page(row: LogicRow) -> Document:
    """The text that stands in the row itself."""
    return _document(row, row.text)


def page_of_store(documents: DocumentStore) -> PageOf:
    """Pages as they were ingested.

    Raises:
        NoPageError: When called for a document that is not there.
    """

    def find(row: LogicRow) -> Document:
        document = documents.get(row.doc)
        if document is None:
            raise NoPageError(f"expected the document {row.doc!r} of {row.id!r} in the data folder")
        return document.for_person()

    return find


def page_of_corpus(folder: Path) -> PageOf:
    """Files below a folder, read as ingestion reads them.

    Raises:
        NoPageError: When called for a file that is not there, or of a form that is not text.
    """

    def find(row: LogicRow) -> Document:
        path, reader = folder / row.doc, reader_of(row.doc)
        if reader is None or reader.isolated or not path.is_file():
            raise NoPageError(f"expected the page of {row.id!r} as a text at {path}")
        return _document(row, reader.read(read_bytes(path)).text)

    return find


def page_of_pairs(pairs: Path, corpus: Path | None, platform: Embedded | None) -> PageOf:
    """From the corpus that is named, else from the store, else from the corpus beside the pairs."""
    if platform and not corpus:
        return page_of_store(platform.documents)
    return page_of_corpus(corpus or pairs.resolve().parent.parent / "corpus")


def shown_page(document: Document) -> Page:
    """Return a document as people see it, with the lines that screening withholds marked."""
    withheld = withheld_lines(document.text, ScreenedDocument(document).for_model().text)
    return parse_page(document.text, withheld=withheld)


def step_lines(drawing: GoldGraph) -> Collection[int]:
    """Return the lines of the process and decision nodes of a drawing."""
    return {
        line
        for node in drawing.nodes
        if node.kind != StepKind.TERMINAL
        for first, last in node.lines or ()
        for line in range(first, last + 1)
    }


def _document(row: LogicRow, text: str) -> Document:
    return Document(id=row.page, title=row.title or row.page, text=text, content_hash="")
