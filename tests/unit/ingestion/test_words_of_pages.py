"""Whatever stands in a page of HTML or Word, the page shows its words and nothing else."""

import io
import re
from html import escape

import docx
import pytest
from reportlab.pdfgen.canvas import Canvas

from services.ingestion.converters import reader_of
from services.ingestion.converters.isolation import IsolatedReaders
from services.ingestion.jobs.preparation import read_document
from services.knowledge.document.markdown import parse
from services.knowledge.page.block import BlockKind, plain
from services.knowledge.page.parsing import parse_page

WORDS = (
    "Delete files matching /var/log/*.gz and /tmp/*.bak",
    "Only /var/log/*.gz",
    "5*1024*1024",
    "**not bold** and *not leaning* and * alone *",
    "__init__ and _private_ and snake_case and _",
    "a__b__c and a_ _b",
    "~~not struck~~ and ~user and a ~~~",
    "1986. A great year",
    "7) seven",
    "# x",
    "###### six",
    "C #",
    "- x",
    "+ x",
    "* x",
    "-",
    "---",
    "* * *",
    "___",
    "===",
    "> x",
    ": x",
    "~ x",
    "+++",
    "The <details> tag",
    "<details> first",
    "<img src=x> and <b>",
    "Use <host-name> or </p> or <!-- gone -->",
    "<https://x.example/a>",
    "<script>alert(1)</script> behind",
    "1 < 2 and a<b and a <1",
    "AT&amp;T and &lt; and &#42; and &copy; R&D &x",
    "![alt](x.png)",
    "[label](target) and [label][1] and [1] and [INFO] on",
    "[label]: https://x.example/a",
    "[a",
    "see ]",
    "`one tick",
    "`code` and ``more``",
    "``` swallowed",
    "```",
    "~~~",
    "~~~ swallowed",
    "C:\\temp\\new and \\\\server\\share",
    "\\*not\\* \\_ \\",
    "grep 'a|b' | sort",
    "| a | b |",
    "|---|---|",
    ":---:",
    "!!! warning",
    '=== "tab"',
    "??? note",
    ":::warning",
    "{warning:title=x}",
    "wow![",
    "$x_1$ and ^up^ and a^b",
    "https://x.example/a_b_*c*?x=1&y=2",
    "{{ x }} {% y %} <% z %> <?php ?>",
    "0. zero",
    "1234567890. ten digits",
    "plain words, nothing else: (one) 50% #5 a-b",
)
PLACES = {
    "paragraph": "<p>{}</p>",
    "second line": "<p>first<br>{}</p>",
    "line of the source": "<p>first\n{}</p>",
    "piece behind another": "<p><b>bold</b> {}</p>",
    "span": "<div><span>{}</span></div>",
    "bold": "<p>go <b>{}</b></p>",
    "before a link": '<p>{} <a href="x.html">link</a></p>',
    "item": "<ul><li>{}</li></ul>",
    "numbered item": "<ol><li>{}</li></ol>",
    "paragraph of an item": "<ol><li><p>first</p><p>{}</p></li></ol>",
    "quote": "<blockquote><p>{}</p></blockquote>",
    "heading": "<h2>{}</h2>",
    "cell": "<table><tr><th>head</th></tr><tr><td>{}</td></tr></table>",
    "head": "<table><tr><th>{}</th></tr><tr><td>cell</td></tr></table>",
    "link": '<p><a href="x.html">{}</a></p>',
    "code": "<p>run <code>{}</code> now</p>",
    "code in a cell": "<table><tr><th>head</th></tr><tr><td><code>{}</code></td></tr></table>",
    "block of code in a cell": (
        "<table><tr><th>head</th></tr><tr><td><pre>{}</pre></td></tr></table>"
    ),
    "definition": "<dl><dt>term</dt><dd>{}</dd></dl>",
    "block of code": "<pre>{}</pre>",
    "line of code": '<pre class="language-bash">first\n{}\nlast</pre>',
    "block of code in an item": "<ol><li>first<pre>a\n{}\nb</pre></li></ol>",
}
BEHIND = "<p>behind <b>bold</b></p><h2>Next</h2><ul><li>end</li></ul>"
KINDS_BEHIND = [BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.LIST, BlockKind.ITEM]


def read(name: str, data: bytes) -> str:
    return reader_of(name).read(data).text


def one_line(text: str) -> str:
    return " ".join(text.split())


def shown(text: str) -> tuple[str, list[BlockKind]]:
    words, kinds = [], []
    for place in parse_page(text).places():
        block = place.block
        kinds.append(block.kind)
        cells = [plain(cell) for row in (block.header, *block.rows) for cell in row]
        words += [plain(block.words), block.verbatim, *cells]
    return one_line(" ".join(words)), kinds


@pytest.mark.parametrize("place", PLACES)
def test_a_page_shows_the_words_of_its_html(place):
    between_tags = " ".join(re.findall(r">([^<]+)", PLACES[place]))
    parts = [f"<p>before</p>{PLACES[place].format(escape(words))}{BEHIND}" for words in WORDS]
    text = read("a.html", "".join(parts).encode())
    visible, kinds = shown(text)
    expected = [f"before {between_tags.format(words)} behind bold Next end" for words in WORDS]
    assert visible == one_line(" ".join(expected)), text
    behind = [kinds[n : n + 4] == KINDS_BEHIND for n in range(len(kinds))]
    assert behind.count(True) == len(WORDS), text


@pytest.mark.parametrize(
    ("html", "words"),
    [
        ("<p><b>Note it:</b>text</p>", "Note it:text"),
        ("<p><b>one</b><b>two</b><i>three</i></p>", "onetwothree"),
        ("<p>a<b>(b)</b>c <i> d</i>e<b>f\n</b>g</p>", "a(b)c def g"),
        ("<b><p>one</p><p>two</p></b>", "one two"),
        ('<p>see<a href="javascript:x()">this</a></p>', "seethis"),
        ('<p>wow!<a href="a b(c">link</a>(x)</p>', "wow!link(x)"),
        ('<p><a href="details">details</a></p>', "details"),
        ('<a href="x"><p>one</p><p>two</p></a>', "one two"),
        ('<a href="x"><h2>one</h2></a>', "one"),
        ("<p>[<span>x</span>](<span>y</span>)</p>", "[x](y)"),
        ("<p>run <code>a\n# b</code></p>", "run a # b"),
        ("<p>run <code>``x`</code></p>", "run ``x`"),
        ("<pre>a\n\n```\nb\n````\n\n# c</pre>", "a ``` b ```` # c"),
        ('<pre class="language-x`y">a</pre>', "a"),
        ("<h2>C <br>#</h2>", "C #"),
        ("<p>run <code>a<br># b</code></p>", "run a # b"),
        ("<pre>a<br># b</pre>", "a # b"),
        ("<table><caption># c</caption><tr><th>a</th></tr><tr><td>b</td></tr></table>", "# c a b"),
        ("<table><tr><th>a</th></tr><tr><td>b</td><td>c</td></tr></table>", "a b c"),
        (
            (
                "<table><tr><th>a</th></tr><tr><td><table><tr><td>b|</td><td>c</td></tr></table></td>"
                "</tr></table>"
            ),
            "a b| c",
        ),
        ("<p>a\n\n\n1. b\n- c</p>", "a 1. b - c"),
        ("<ul><li># a<ul><li>&gt; b</li></ul></li></ul>", "# a > b"),
    ],
)
def test_marks_are_set_so_that_only_words_are_shown(html, words):
    text = read("a.html", f"<p>before</p>{html}{BEHIND}".encode())
    visible, kinds = shown(text)
    assert visible == f"before {words} behind bold Next end", text
    assert kinds[-4:] == KINDS_BEHIND, text
    assert (BlockKind.TABLE in kinds) == ("<table" in html), text


@pytest.mark.parametrize(
    ("html", "numbers"),
    [
        ("<ol><li>a</li><li>b</li></ol>", [1, 2]),
        ("<ol start=4><li>a</li><li>b</li></ol>", [4, 5]),
        ("<ol><li>a</li><li value=9>b</li><li>c</li></ol>", [1, 9, 10]),
        ("<ol start=3><li>a</li><li value=2>b</li><li value=1>c</li></ol>", [3, 2, 1]),
        ("<ol><li value=x>a</li><li value=-2>b</li><li value=9999999999>c</li></ol>", [1, 2, 3]),
        ("<ol><li>a</li><li></li><li>c</li></ol>", [1, 3]),
        ("<ol><li>a</li><li>b</li></ol><ol><li>c</li></ol><ol><li>d</li></ol>", [1, 2, 1, 1]),
        ("<ul><li>x<ol start=7><li>a</li><li value=9>b</li></ol></li></ul>", [7, 9]),
    ],
)
def test_numbers_of_items_are_those_of_the_page(html, numbers):
    page = parse_page(read("a.html", html.encode()))
    items = [place.block for place in page.places() if place.block.number]
    assert [int(item.number.rstrip(".)")) for item in items] == numbers


def test_a_title_has_no_signs_that_escape_it():
    with IsolatedReaders(timeout_s=10, memory_bytes=2**32) as isolated:
        for words in ("Delete *.gz and *.bak", "C:\\temp", "[a](b) and `c`"):
            html = f"<h1>{escape(words)}</h1><p>text</p>"
            document, _ = read_document("a.html", html.encode(), isolated, max_chars=1000)
            assert document.title == words


def test_what_is_searched_has_the_words_without_the_signs_that_escape_them():
    searched = [each for each in WORDS if "][" not in each]
    pairs = [f"<p>{escape(each)}</p><p>go <code>on</code> {escape(each)}</p>" for each in searched]
    blocks = parse(read("a.html", f"<h1>Title</h1>{''.join(pairs)}".encode())).sections[1].blocks
    expected = [one_line(text) for each in searched for text in (each, f"go on {each}")]
    assert [block.text for block in blocks] == expected


def test_words_of_a_word_document_are_shown():
    document = docx.Document()
    for words in WORDS:
        document.add_paragraph(f"see {words}")
        document.add_paragraph(words, style="List Number")
        document.add_paragraph("plain ").add_run(words).bold = True
        document.add_paragraph("run ").add_run(words).font.name = "Consolas"
        document.add_paragraph().add_run(words).font.name = "Consolas"
        document.add_heading(words, 1)
        document.add_table(rows=1, cols=1).rows[0].cells[0].text = words
        document.add_paragraph("end")
    out = io.BytesIO()
    document.save(out)
    text = read("a.docx", out.getvalue())
    visible, kinds = shown(text)
    expected = [f"see {w} {w} plain {w} run {w} {w} {w} {w} end" for w in WORDS]
    assert visible == one_line(" ".join(expected)), text
    assert kinds == len(WORDS) * [
        BlockKind.PARAGRAPH,
        *(BlockKind.LIST, BlockKind.ITEM),
        *(BlockKind.PARAGRAPH, BlockKind.PARAGRAPH, BlockKind.CODE),
        *(BlockKind.HEADING, BlockKind.TABLE, BlockKind.PARAGRAPH),
    ]


def test_words_of_a_pdf_are_shown():
    lines = ["Delete /var/*.gz and /tmp/*.bak", "The <details> of __init__", "# x is [a](b)"]
    out = io.BytesIO()
    canvas = Canvas(out)
    for n, line in enumerate(lines):
        canvas.drawString(72, 700 - 40 * n, line)
    canvas.setFont("Courier", 12)
    canvas.drawString(72, 500, "echo `date` *")
    canvas.save()
    page = parse_page(read("a.pdf", out.getvalue()))
    assert [plain(block.words) or block.verbatim for block in page.blocks] == [
        *lines,
        "echo `date` *",
    ]
