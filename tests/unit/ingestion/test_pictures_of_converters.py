"""Converters keep the place and the words of pictures, and the bytes of those that a file holds."""

import base64
import io

import docx
import pytest
from docx.oxml.ns import qn
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Image, ListFlowable, ListItem, Paragraph, SimpleDocTemplate

from services.ingestion.converters import ConvertedDocument, UnreadableDocumentError, reader_of
from services.ingestion.converters.isolation import IsolatedReaders
from services.ingestion.converters.literal import image
from services.ingestion.pictures.sniffing import sniff
from services.knowledge.page.parsing import parse_page
from tests.pictures import picture
from tests.unit.ingestion.harness import IngestionHarness

LAMPS, SEAT = picture("PNG", (40, 30)), picture("JPEG", (50, 30))


def read(name: str, data: bytes) -> ConvertedDocument:
    return reader_of(name).read(data)


def shown(text: str) -> list[tuple[str, str]]:
    """Words and address of each picture that a page shows."""
    places = parse_page(text).places()
    return [(each.text, each.target) for place in places for each in place.block.images()]


@pytest.mark.parametrize(
    ("words", "address", "expected"),
    [
        ("Lamps [red](x)", "a b(1).png", ("Lamps (red)(x)", "a%20b%281%29.png")),
        ("a ` b \\", "x`y.png", ("a ' b", "x%60y.png")),
        ("two\n\nlines", "x\n.png", ("two lines", "x.png")),
        ("<a href='](evil)'>", "x.png", ("‹a href=')(evil)'›", "x.png")),
        ("", 'x.png "title"', ("", "x.png%20%22title%22")),
    ],
)
def test_nothing_in_words_or_address_ends_the_picture(words, address, expected):
    assert shown(image(words, address)) == [expected]


class TestHtml:
    def html(self, body: str) -> ConvertedDocument:
        return read("a.html", f"<html><body><main>{body}</main></body></html>".encode())

    def test_pictures_keep_their_place_among_the_words(self):
        text = self.html("<p>Look <img src='i/lamps.png' alt='lamps'> and seat.</p>").text
        assert text == "Look ![lamps](i/lamps.png) and seat.\n"

    @pytest.mark.parametrize(
        "body",
        [
            "<h2>Lamps <img src='l.png' alt='red'></h2>",
            "<ul><li>one<ul><li><img src='l.png' alt='red'></li></ul></li></ul>",
            "<table><tr><td>A</td></tr><tr><td><p><img src='l.png' alt='red'></table>",
            "<p><a href='x.html'><img src='l.png' alt='red'></a></p>",
            "<figure><img src='l.png' alt='red'><figcaption>Lamp</figcaption></figure>",
            "<picture><source srcset='l.webp'><img src='l.png' alt='red'></picture>",
        ],
    )
    def test_pictures_of_headings_lists_tables_and_links_are_there(self, body):
        assert shown(self.html(body).text) == [("red", "l.png")]

    def test_pipes_in_the_words_of_a_cell_do_not_end_it(self):
        cell = "<table><tr><th>A</th></tr><tr><td><img src='l.png' alt='a|b'></td></tr></table>"
        assert shown(self.html(cell).text) == [("a|b", "l.png")]

    def test_those_that_the_page_holds_come_with_it(self):
        encoded = base64.b64encode(LAMPS).decode()
        converted = self.html(f"<p><img src='data:image/png;base64,{encoded}' alt='lamps'></p>")
        assert converted.text == "![lamps](picture-1)\n"
        assert converted.pictures == {"picture-1": LAMPS}

    def test_bytes_that_are_none_leave_place_and_words(self):
        converted = self.html("<p><img src='data:image/png;base64,AAAA=A' alt='lamps'></p>")
        assert (converted.text, converted.pictures) == ("![lamps](picture-1)\n", {"picture-1": b""})

    @pytest.mark.parametrize(
        "source", ["javascript:x", "cid:1", "data:text/html,x", "", "file:///x"]
    )
    def test_of_what_no_page_can_show_the_words_stay(self, source):
        assert self.html(f"<p>See <img src='{source}' alt='lamps'>.</p>").text == "See lamps.\n"

    def test_what_counts_visits_is_gone_and_in_code_the_words_stay(self):
        body = (
            "<p>a<img src='x.gif' width='1' height='1'></p><pre>b <img src='x.png' alt='c'></pre>"
        )
        assert self.html(body).text == "a\n\n```\nb c\n```\n"


def add_picture(paragraph, data: bytes, words: str = "") -> None:
    paragraph.add_run().add_picture(io.BytesIO(data))
    if words:
        paragraph._p.findall(f".//{qn('wp:docPr')}")[-1].set("descr", words)


def word_document() -> bytes:
    document = docx.Document()
    document.add_heading("Tray", 1)
    first = document.add_paragraph("Look at ")
    add_picture(first, LAMPS, "Lamps\nof the tray")
    first.add_run(" first.")
    step = document.add_paragraph("Seat it.", style="List Number")
    add_picture(step, SEAT)
    table = document.add_table(1, 2)
    add_picture(table.cell(0, 1).paragraphs[0], LAMPS, "lamps")
    document.add_paragraph("Deleted")
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


class TestWord:
    def test_pictures_keep_place_and_words_and_come_with_the_document(self):
        converted = read("a.docx", word_document())
        assert shown(converted.text) == [
            ("Lamps of the tray", "media/image1.png"),
            ("", "media/image2.jpg"),
            ("lamps", "media/image1.png"),
        ]
        assert "Look at ![Lamps of the tray](media/image1.png) first." in converted.text
        assert converted.pictures == {"media/image1.png": LAMPS, "media/image2.jpg": SEAT}

    def test_a_linked_picture_keeps_its_address(self):
        document = docx.Document()
        paragraph = document.add_paragraph("See ")
        add_picture(paragraph, LAMPS, "afar")
        kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
        relation = document.part.relate_to("https://x.example/a.png", kind, is_external=True)
        blip = paragraph._p.find(f".//{qn('a:blip')}")
        del blip.attrib[qn("r:embed")]
        blip.set(qn("r:link"), relation)
        out = io.BytesIO()
        document.save(out)
        text = read("a.docx", out.getvalue()).text
        assert text == "See ![afar](https://x.example/a.png)\n"


def pdf_document(*flowables) -> bytes:
    out = io.BytesIO()
    SimpleDocTemplate(out).build(list(flowables))
    return out.getvalue()


def drawn(data: bytes, wide: float = 60, high: float = 40) -> Image:
    return Image(io.BytesIO(data), wide, high)


class TestPdf:
    words = getSampleStyleSheet()["BodyText"]

    def document(self) -> bytes:
        step = ListItem([Paragraph("Seat it.", self.words), drawn(LAMPS)])
        steps = ListFlowable(
            [step, ListItem(Paragraph("Then look again.", self.words))], bulletType="1"
        )
        first = Paragraph("Look at the lamps.", self.words)
        return pdf_document(first, drawn(SEAT), steps)

    def test_pictures_keep_their_place_and_come_with_the_document(self):
        converted = read("a.pdf", self.document())
        assert converted.text == (
            "Look at the lamps.\n\n![Picture 1 of page 1](page-1-picture-1)\n\n"
            "1. Seat it.\n\n   ![Picture 2 of page 1](page-1-picture-2)\n\n2. Then look again.\n"
        )
        forms = [sniff(each) for each in converted.pictures.values()]
        assert [each.media_type for each in forms] == ["image/jpeg", "image/png"]
        assert [(each.width, each.height) for each in forms] == [(50, 30), (40, 30)]

    def test_signs_and_what_covers_the_page_are_no_pictures(self):
        text = Paragraph("Look at the lamps.", self.words)
        data = pdf_document(text, drawn(LAMPS, 10, 10), drawn(SEAT, 60, 10))
        assert read("a.pdf", data).text == "Look at the lamps.\n"

    def test_pictures_alone_are_no_text(self):
        data = pdf_document(drawn(LAMPS))
        with pytest.raises(UnreadableDocumentError, match="holds no text"):
            read("a.pdf", data)

    def test_more_pixels_than_it_claims_leave_the_place_alone(self):
        data = self.document()
        assert data.count(b"/Width 40 ") + data.count(b"/Width 40\n") == 1
        converted = read("a.pdf", data.replace(b"/Width 40", b"/Width 20"))
        assert converted.pictures["page-1-picture-2"] == b""
        assert shown(converted.text)[1] == ("Picture 2 of page 1", "page-1-picture-2")


def test_pictures_come_out_of_the_process_of_their_reader_into_the_stores(tmp_path):
    harness = IngestionHarness(tmp_path)
    harness.write("net/tray.docx", word_document())
    harness.ingest()
    pictures = harness.service.pictures("net/tray.docx")
    assert [(each.path, each.media_type) for each in pictures] == [
        ("net/media/image1.png", "image/png"),
        ("net/media/image2.jpg", "image/jpeg"),
    ]
    assert harness.service.picture("net/tray.docx", pictures[0].content_hash).content == LAMPS
    harness.ingest()
    assert harness.service.pictures("net/tray.docx") == pictures
    harness.forget()
    assert harness.service.pictures("net/tray.docx") == []


def test_a_reader_of_its_own_process_answers_with_pictures():
    with IsolatedReaders(timeout_s=60, memory_bytes=4_000_000_000) as isolated:
        converted = isolated.read(reader_of("a.docx"), word_document())
    assert converted.pictures == {"media/image1.png": LAMPS, "media/image2.jpg": SEAT}
