import contextlib
import io
import zipfile

import docx
import pytest
from docx.shared import Pt
from reportlab.lib import colors
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    ListFlowable,
    ListItem,
    PageBreak,
    Paragraph,
    Preformatted,
    SimpleDocTemplate,
    Table,
)

from services.ingestion.converters import UnreadableDocumentError, reader_of
from services.ingestion.converters.isolation import IsolatedReaders
from services.ingestion.jobs.preparation import read_document


def read(name: str, data: bytes) -> str:
    return reader_of(name).read(data).text


class TestMarkdownAndText:
    def test_the_source_is_kept_as_it_is(self):
        source = (
            "# Fan\n\n1. Look:\n   ```\n   show fan\n   ```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
        )
        assert read("fan.md", source.encode()) == source

    def test_front_matter_is_read_and_stays_in_the_text(self):
        matter = "title: Fan tray\ntags: [fan, power]\nnested: {a: 1}\nsince: 2024-01-02"
        source = f"---\n{matter}\n---\n# x\n"
        reading = reader_of("fan.md").read(source.encode())
        assert reading.front_matter == {
            "title": "Fan tray",
            "tags": ["fan", "power"],
            "since": "2024-01-02",
        }
        assert reading.text == source

    @pytest.mark.parametrize("matter", ["a: [", "- just\n- a list", "{" * 5000, "a: &x [*x]"])
    def test_front_matter_that_is_no_mapping_is_text_like_any_other(self, matter):
        reading = reader_of("x.md").read(f"---\n{matter}\n---\ntext\n".encode())
        assert "text" in reading.text
        assert all(isinstance(value, str | list) for value in reading.front_matter.values())

    def test_aliases_in_front_matter_do_not_expand(self):
        bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for name, before in zip("bcdefghij", "abcdefghi", strict=True):
            bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n"
        reading = reader_of("x.md").read(f"---\n{bomb}---\ntext\n".encode())
        assert reading.front_matter["j"] == []

    @pytest.mark.parametrize(
        ("data", "text"),
        [
            ("﻿Lüfter".encode(), "Lüfter"),
            ("Lüfter".encode("utf-16"), "Lüfter"),
            ("Lüfter – 5 €".encode("cp1252"), "Lüfter – 5 €"),
            (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
            ("page\fbreak\u2028line\x85end".encode(), "page break line end"),
            (b"\x1b[31mred\x1b[0m alert " + b"x" * 300, "red alert " + "x" * 300),
        ],
    )
    def test_encodings_and_line_ends_are_understood(self, data, text):
        assert read("a.txt", data) == text

    @pytest.mark.parametrize(
        "data",
        [
            b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR",
            bytes(range(1, 32)) * 20,
            b"%PDF-1.7 ...",
            b"PK\x03\x04...",
            b"\xff\xfe\x00\xd8",
            b"caf\x81\x8d\x8f\x90\x9d",
        ],
    )
    def test_what_is_no_text_is_refused_with_a_reason(self, data):
        with pytest.raises(UnreadableDocumentError, match="expected"):
            read("a.md", data)


class TestHtml:
    def test_structure_is_kept_and_what_is_no_content_is_gone(self):
        page = b"""<html><head><title>BGP - Wiki</title><style>p{}</style></head><body>
        <nav><a href="/">Home</a></nav><main><h1>BGP</h1><ol><li>Look:
        <pre><code class="language-bash">show bgp
  summary</code></pre></li><li>Then<ul><li>wait</li></ul></li></ol>
        <table><tr><th>Cause</th><th>Remedy</th></tr>
        <tr><td>MTU</td><td>lower | it</td></tr></table>
        <script>alert(1)</script></main><footer>imprint</footer></body></html>"""
        text = read("bgp.html", page)
        assert "# BGP" in text
        assert "   ```bash\n   show bgp\n     summary\n   ```" in text
        assert "2. Then\n   - wait" in text
        assert "| MTU | lower \\| it |" in text
        assert not any(word in text for word in ("Home", "alert", "imprint", "p{}"))

    def test_a_page_within_a_form_and_its_warnings_are_kept(self):
        page = "<body><form><h1>Fan</h1><aside>Do not touch.</aside></form></body>"
        assert read("a.html", page.encode()) == "# Fan\n\nDo not touch.\n"

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
    def test_encodings_are_understood(self, encoding):
        assert read("a.html", "<p>Lüfter</p>".encode(encoding)) == "Lüfter\n"

    def test_a_declared_encoding_is_believed(self):
        page = '<meta charset="iso-8859-2"><p>příčina</p>'
        assert read("a.html", page.encode("iso-8859-2")) == "příčina\n"

    @pytest.mark.parametrize("data", [b"%PDF-1.7", b"PK\x03\x04", b"<p>\x00\x01</p>"])
    def test_what_is_no_html_is_refused(self, data):
        with pytest.raises(UnreadableDocumentError, match="expected"):
            read("a.html", data)

    def test_elements_nested_too_deeply_are_refused(self):
        with pytest.raises(UnreadableDocumentError, match="nested"):
            read("deep.html", b"<div>" * 20_000 + b"x")

    def test_a_page_without_markup_is_text(self):
        assert read("a.html", b"just words") == "just words\n"


class TestDocx:
    def test_steps_keep_numbers_code_and_sub_items(self):
        text = read("a.docx", word_document())
        assert text == (
            "# Optic power low\n\n"
            "## Procedure\n\n"
            "1. Read the levels:\n\n"
            "   ```\n   show transceiver\n   show counters\n   ```\n\n"
            "2. Clean both ends.\n"
            "   - use a click cleaner\n"
            "3. Swap the optic with `no shutdown`.\n\n"
            "| Cause | Remedy |\n| --- | --- |\n| Dirt | Clean \\| wipe |\n\n"
            "## Typed\n\n"
            "1. first\n\n   ```\n   ping\n   ```\n\n"
            "2. second\n"
        )

    def test_bold_lines_are_headings_where_no_style_says_so(self):
        document = docx.Document()
        document.add_paragraph().add_run("Symptoms").bold = True
        document.add_paragraph("The fan stands still.")
        assert read("a.docx", saved(document)) == "## Symptoms\n\nThe fan stands still.\n"

    def test_deleted_text_is_not_read_and_inserted_text_is(self):
        document = docx.Document()
        paragraph = document.add_paragraph("Reload ")
        namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        for tag, inner, word in (("del", "delText", "now"), ("ins", "t", "later")):
            change = paragraph._p.makeelement(f"{{{namespace}}}{tag}", {})
            run = paragraph._p.makeelement(f"{{{namespace}}}r", {})
            text = paragraph._p.makeelement(f"{{{namespace}}}{inner}", {})
            text.text = word
            run.append(text)
            change.append(run)
            paragraph._p.append(change)
        assert read("a.docx", saved(document)) == "Reload later\n"

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (b"no zip", "expected a Word document"),
            (b"\xd0\xcf\x11\xe0" + b"x" * 600, "encrypted"),
        ],
    )
    def test_what_is_no_word_document_is_refused(self, data, reason):
        with pytest.raises(UnreadableDocumentError, match=reason):
            read("a.docx", data)

    def test_another_zip_is_refused(self):
        with pytest.raises(UnreadableDocumentError, match="another zip"):
            read("a.docx", zipped({"x.txt": b"x"}))

    def test_a_zip_bomb_is_refused_before_it_is_opened(self):
        bomb = zipped({"[Content_Types].xml": b"", "word/document.xml": b"\0" * 30_000_000})
        with pytest.raises(UnreadableDocumentError, match="no honest document"):
            read("a.docx", bomb)

    def test_a_truncated_document_is_broken(self):
        parts = {"[Content_Types].xml": b"<x", "word/document.xml": b"<w"}
        with pytest.raises(UnreadableDocumentError, match="broken"):
            read("a.docx", zipped(parts))


class TestPdf:
    def test_headings_steps_code_and_tables_are_found_by_their_looks(self):
        text = read("a.pdf", pdf_document())
        assert text == (
            "# Fan tray failure\n\n"
            "## Diagnosis\n\n"
            "1. Check every fan tray of the switch that raised the alert, and note which one is "
            "reported as failed or as absent by the system:\n\n"
            "   ```\n   show fan\n     detail\n   ```\n\n"
            "2. If the tray is absent, reseat it. Otherwise run `show log` once.\n"
            "3. Compare the temperature:\n"
            "   - below 35: wait\n"
            "   - above 35: escalate\n\n"
            "| Cause | Remedy |\n| --- | --- |\n| Worn out | Replace it |\n\n"
            "## Verify\n\n"
            "Look again.\n"
        )

    def test_running_heads_feet_and_page_numbers_are_gone(self):
        text = read("a.pdf", pdf_document())
        assert "Internal" not in text
        assert "Page" not in text

    def test_an_item_whose_text_wraps_to_the_margin_stays_one_item(self):
        out = io.BytesIO()
        canvas = Canvas(out)
        canvas.drawString(72, 700, "1. Remove the rules that nothing has hit for ninety days and")
        canvas.drawString(72, 686, "keep a copy of them.")
        canvas.drawString(72, 672, "2. Save.")
        canvas.save()
        assert read("a.pdf", out.getvalue()) == (
            "1. Remove the rules that nothing has hit for ninety days and keep a copy of them.\n"
            "2. Save.\n"
        )

    def test_an_encrypted_file_is_refused(self):
        out = io.BytesIO()
        canvas = Canvas(out, encrypt=StandardEncryption("secret", ownerPassword="owner"))
        canvas.drawString(72, 700, "hidden")
        canvas.save()
        with pytest.raises(UnreadableDocumentError, match="encrypted"):
            read("a.pdf", out.getvalue())

    def test_a_file_without_text_is_refused(self):
        out = io.BytesIO()
        canvas = Canvas(out)
        canvas.rect(10, 10, 100, 100, fill=1)
        canvas.save()
        with pytest.raises(UnreadableDocumentError, match="OCR"):
            read("a.pdf", out.getvalue())

    @pytest.mark.parametrize(
        ("data", "reason"),
        [(b"hello", "another format"), (b"%PDF-1.7\n" + b"\xff" * 500, "broken|no text")],
    )
    def test_a_broken_file_is_refused(self, data, reason):
        with pytest.raises(UnreadableDocumentError, match=reason):
            read("a.pdf", data)

    def test_a_file_cut_anywhere_is_refused_or_read_but_never_a_defect(self):
        whole = pdf_document()
        for share in range(1, 10):
            with contextlib.suppress(UnreadableDocumentError):
                read("a.pdf", whole[: len(whole) * share // 10])


class TestTitles:
    @pytest.mark.parametrize(
        ("name", "text", "title"),
        [
            ("a/x.md", "---\ntitle: Stated\n---\n# Heading\n", "Stated"),
            ("a/x.md", "```\n# comment\n```\n\n## The *real* [one](x.md) ##\n", "The real one"),
            ("a/x.md", "Underlined\n==========\n", "Underlined"),
            ("a/fan-tray_failure.md", "no heading\n", "fan tray failure"),
            ("a/x.txt", "plain\n", "x"),
        ],
    )
    def test_it_is_stated_or_the_first_heading_or_the_file_name(self, name, text, title):
        with IsolatedReaders(timeout_s=1, memory_bytes=2**32) as isolated:
            document, _ = read_document(name, text.encode(), isolated, max_chars=1000)
        assert document.title == title


def saved(document) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def word_document() -> bytes:
    document = docx.Document()
    document.add_heading("Optic power low", 0)
    document.add_heading("Procedure", 1)
    document.add_paragraph("Read the levels:", style="List Number")
    for command in ("show transceiver", "show counters"):
        run = document.add_paragraph().add_run(command)
        run.font.name, run.font.size = "Courier New", Pt(9)
    document.add_paragraph("Clean both ends.", style="List Number")
    document.add_paragraph("use a click cleaner", style="List Bullet 2")
    last = document.add_paragraph("Swap the optic with ", style="List Number")
    last.add_run("no shutdown").font.name = "Consolas"
    last.add_run(".")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [cell for row in table.rows for cell in row.cells],
        ["Cause", "Remedy", "Dirt", "Clean | wipe"],
        strict=True,
    ):
        cell.text = text
    document.add_heading("Typed", 1)
    document.add_paragraph("1. first")
    document.add_paragraph().add_run("ping").font.name = "Courier New"
    document.add_paragraph("2) second")
    return saved(document)


def pdf_document() -> bytes:
    style = getSampleStyleSheet()

    def text(words: str, name: str = "BodyText") -> Paragraph:
        return Paragraph(words, style[name])

    def margins(canvas, document) -> None:
        canvas.drawString(60, 30, f"Network Operations - Internal    Page {document.page}")

    steps = [
        [
            text(
                "Check every fan tray of the switch that raised the alert, and note which one is "
                "reported as failed or as absent by the system:"
            ),
            Preformatted("show fan\n  detail", style["Code"]),
        ],
        [
            text(
                "If the tray is <b>absent</b>, reseat it. Otherwise run "
                "<font name='Courier'>show log</font> once."
            )
        ],
        [
            text("Compare the temperature:"),
            ListFlowable(
                [ListItem(text("below 35: wait")), ListItem(text("above 35: escalate"))],
                bulletType="bullet",
            ),
        ],
    ]
    story = [
        text("Fan tray failure", "Title"),
        text("Diagnosis", "Heading1"),
        ListFlowable([ListItem(step) for step in steps], bulletType="1"),
        Table(
            [["Cause", "Remedy"], ["Worn out", "Replace it"]],
            style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black)],
        ),
        PageBreak(),
        text("Verify", "Heading1"),
        text("Look again."),
    ]
    out = io.BytesIO()
    SimpleDocTemplate(out).build(story, onFirstPage=margins, onLaterPages=margins)
    return out.getvalue()
