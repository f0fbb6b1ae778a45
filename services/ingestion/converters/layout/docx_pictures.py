"""Pictures of a Word document: their places, their alternative texts and their bytes."""

from collections.abc import Iterator
from posixpath import relpath

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.part import Part
from docx.oxml.ns import qn
from docx.text.run import Run
from lxml.etree import _Element

from services.ingestion.converters.literal import image
from services.ingestion.converters.reader import MOST_PICTURES

_DRAWN = qn("w:drawing")
_DRAWN_BEFORE_2007 = qn("w:pict")
_ABOUT = qn("wp:docPr")
_BYTES = qn("a:blip")
_BYTES_BEFORE_2007 = "{urn:schemas-microsoft-com:vml}imagedata"
_WORDS_BEFORE_2007 = "{urn:schemas-microsoft-com:office:office}title"


def pictures_of(run: Run) -> str:
    """Return the pictures of a run as Markdown, one after the other."""
    parts = []
    for relation, words in dict(_drawn(run._r)).items():
        relationship = run.part.rels.get(relation)
        if relationship is not None:
            address = (
                relationship.target_ref
                if relationship.is_external
                else _name(relationship.target_part)
            )
            parts.append(image(words, address))
    return " ".join(parts)


def _drawn(run: _Element) -> Iterator[tuple[str, str]]:
    """Yield relation ids of pictures with their alternative texts.

    A picture may appear in the form before 2007 too.
    """
    for drawing in run.iter(_DRAWN):
        about = drawing.find(f".//{_ABOUT}")
        words = (about.get("descr") or about.get("title") or "") if about is not None else ""
        for blip in drawing.iter(_BYTES):
            yield blip.get(qn("r:embed")) or blip.get(qn("r:link")) or "", words
    for drawing in run.iter(_DRAWN_BEFORE_2007):
        for data in drawing.iter(_BYTES_BEFORE_2007):
            yield data.get(qn("r:id")) or "", data.get(_WORDS_BEFORE_2007) or ""


def embedded_pictures(document: Document) -> dict[str, bytes]:
    """Return the pictures embedded in the file, by the addresses that the text uses for them."""
    related = [each for each in document.part.rels.values() if not each.is_external]
    parts = [each.target_part for each in related if each.reltype == RELATIONSHIP_TYPE.IMAGE]
    return {_name(part): part.blob for part in parts[:MOST_PICTURES]}


def _name(part: Part) -> str:
    return relpath(part.partname, "/word")
