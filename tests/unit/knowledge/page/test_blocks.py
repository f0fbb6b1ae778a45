"""Forms of a page's blocks: what people write, and the block that it is."""

import pytest

from services.knowledge.page.block import Block, BlockKind, InlineKind, Page, links, plain
from services.knowledge.page.parsing import parse_page


def outline(blocks: tuple[Block, ...]) -> list[object]:
    """Return kinds and words, what is nested as a list behind what it is nested in."""
    rows: list[object] = []
    for block in blocks:
        words = block.verbatim or block.text
        rows.append(f"{block.kind} {block.number} {words}".replace("  ", " ").strip())
        if block.children:
            rows.append(outline(block.children))
    return rows


def only(text: str) -> Block:
    page = parse_page(text)
    assert len(page.blocks) == 1, outline(page.blocks)
    return page.blocks[0]


def of_kind(page: Page, kind: BlockKind) -> list[Block]:
    return [place.block for place in page.places() if place.block.kind is kind]


def test_a_list_keeps_its_numbers_nesting_and_boxes() -> None:
    page = parse_page("3. Stop\n   - [x] cache\n   - [ ] queue\n4. Go\n\n   ```sh\n   go\n   ```\n")
    assert outline(page.blocks) == [
        "list",
        ["item 3. Stop", ["list", ["item cache", "item queue"]], "item 4. Go", ["code go"]],
    ]
    assert [item.is_checked for item in of_kind(page, BlockKind.ITEM)] == [None, True, False, None]
    assert of_kind(page, BlockKind.ITEM)[3].lead_end == 4


def test_details_hold_markdown() -> None:
    summary = "<summary>If it <b>fails</b></summary>"
    text = f"<details>\n{summary}\n\n1. Look\n\n```sh\nls\n```\n</details>\n"
    block = only(text)
    assert (block.kind, block.text, block.end_line) == (BlockKind.DETAILS, "If it fails", 9)
    assert outline(block.children) == ["list", ["item 1. Look"], "code ls"]


def test_details_without_empty_lines_hold_markdown_too() -> None:
    block = only(
        "<details>\n<summary>More</summary>\n- one `x`\n- two\n```sh\nls <pod>\n```\n</details>"
    )
    assert outline(block.children) == ["list", ["item one x", "item two"], "code ls <pod>"]
    assert [child.start_line for child in block.children] == [3, 5]


def test_lists_of_html_are_lists() -> None:
    block = only('<ol start="4" type="a">\n<li>One\n<ul><li>Deep</li></ul></li>\n<li>Two\n</ol>')
    assert outline((block,)) == ["list", ["item d. One", ["list", ["item Deep"]], "item e. Two"]]
    assert [item.start_line for item in block.children] == [2, 4]


def test_a_table_of_html_is_a_table() -> None:
    block = only(
        "<table>\n<tr><th>Host</th><th>Do</th></tr>\n"
        "<tr>\n<td>a<br>b</td>\n"
        "<td><ul><li>x</li><li>y</li></ul><pre>ls\n  -l</pre></td></tr>\n</table>"
    )
    assert [plain(cell) for cell in block.header] == ["Host", "Do"]
    assert [[plain(cell) for cell in row] for row in block.rows] == [["a b", "x y ls -l"]]
    assert block.rows[0][1][-1].kind is InlineKind.CODE


def test_code_of_html_is_code_as_it_stands() -> None:
    block = only(
        '<pre><code class="language-bash">\nls  -l &amp;&amp; cat <pod>\n\n  tail\n</code></pre>'
    )
    assert (block.kind, block.language) == (BlockKind.CODE, "bash")
    assert block.verbatim == "ls  -l && cat <pod>\n\n  tail"


def test_html_within_a_line_becomes_pieces() -> None:
    block = only(
        'Open <a href="/d" onclick="steal()">the <b>board</b></a> of <cluster> <kbd>F5</kbd>'
    )
    assert block.text == "Open the board of <cluster> F5"
    assert [link.target for link in links(block.words)] == ["/d"]


@pytest.mark.parametrize("target", ["javascript:alert(1)", "vbscript:x", "data:text/html,x"])
def test_a_target_that_runs_is_no_link(target: str) -> None:
    page = parse_page(f'<p><a href="{target}">go</a></p>\n\n[go]({target})\n\n<img src="{target}">')
    assert not [each for place in page.places() for each in links(place.block.words)]
    assert not [place.block.target for place in page.places() if place.block.target]


def test_scripts_frames_and_handlers_show_nothing() -> None:
    page = parse_page(
        "a <script>evil()</script> b\n\n<script>\nevil()\n\nevil()\n</script>\n\n"
        '<iframe src="evil"></iframe>\n\n<div onclick="evil()">c</div>\n'
    )
    kinds = [block.kind for block in page.blocks]
    assert kinds == ["paragraph", "comment", "paragraph"]
    assert [block.text for block in page.blocks if block.text] == ["a b", "c"]


def test_a_script_that_never_ends_is_shown_verbatim() -> None:
    page = parse_page("# a\n\n<script>\nrestart it\n\n1. then this\n")
    assert page.blocks[-1].kind is BlockKind.OTHER
    assert page.blocks[-1].verbatim.endswith("1. then this")


def test_an_element_that_never_ends_takes_in_nothing_below() -> None:
    page = parse_page("<div>\n\n# A\n\n<details><summary>More</summary>\n\n## B\n\n<div>x</div>\n")
    assert [block.text for block in page.blocks if block.kind is BlockKind.HEADING] == ["A", "B"]


def test_a_row_may_end_without_its_tags() -> None:
    block = only("<table>\n<tr><td>\n\n`a`\n\n<td>\n\n- b\n\n<tr><td>c\n</table>")
    assert [[plain(cell) for cell in row] for row in block.rows] == [["a", "b"], ["c"]]


def test_tabs_of_both_documentation_sites() -> None:
    mkdocs = only('=== "Linux"\n\n    1. one\n\n=== "Windows"\n\n    two\n')
    docusaurus = only(
        '<Tabs>\n<TabItem value="a" label="Linux">\n\n1. one\n\n</TabItem>\n'
        '<TabItem value="Windows">two</TabItem>\n</Tabs>'
    )
    for tabs in (mkdocs, docusaurus):
        assert outline((tabs,)) == [
            "tabs",
            ["tab Linux", ["list", ["item 1. one"]], "tab Windows", ["paragraph two"]],
        ]


def test_definition_lists_of_markdown_and_html() -> None:
    markdown = only("Leader\n: takes writes\n\nReplica\n: follows\n")
    html = only("<dl><dt>Leader</dt><dd>takes writes</dd>\n<dt>Replica<dd>follows</dl>")
    for block in (markdown, html):
        assert outline(block.children) == [
            "definition Leader", ["paragraph takes writes"],
            "definition Replica", ["paragraph follows"],
        ]  # fmt: skip


def test_references_are_blocks_and_footnotes_are_text() -> None:
    page = parse_page('See [it][a].\n\n[a]: https://x.example/y "T"\n[^1]: why\n')
    reference = of_kind(page, BlockKind.REFERENCE)[0]
    assert (reference.text, reference.target, reference.start_line) == (
        "a",
        "https://x.example/y",
        3,
    )
    assert page.blocks[-1].text == "[^1]: why"


@pytest.mark.parametrize("text", ["- [A](#a)\n- [B](#b)\n  - [C](#c)\n", "[TOC]\n", "[[_TOC_]]\n"])
def test_contents(text: str) -> None:
    assert only(text).kind is BlockKind.CONTENTS


def test_a_list_of_links_elsewhere_is_no_contents() -> None:
    assert only("- [A](#a)\n- [B](b.md)\n").kind is BlockKind.LIST
    assert only("- [A](#a) first\n- [B](#b)\n").kind is BlockKind.LIST


@pytest.mark.parametrize("fence", ["---", "+++"])
def test_front_matter(fence: str) -> None:
    page = parse_page(f"\ufeff{fence}\ntitle: x\n\ntags: y\n{fence}\n# A\n")
    assert (page.blocks[0].kind, page.blocks[0].verbatim) == ("front_matter", "title: x\n\ntags: y")
    assert page.blocks[1].text == "A"


def test_a_page_between_two_rules_is_no_front_matter() -> None:
    page = parse_page("---\n\n1. Stop the writer\n\n---\n")
    assert [block.kind for block in page.blocks] == ["rule", "list", "rule"]


def test_images_also_in_items_and_links() -> None:
    page = parse_page(
        "![Graph](g.png)\n\n- ![One](1.png)\n\n  ![Two](2.png)\n\n[![S](s.svg)](/s)\n"
    )
    assert [(image.target, image.text) for image in of_kind(page, BlockKind.IMAGE)] == [
        ("g.png", "Graph"), ("2.png", "Two"), ("s.svg", "S"),
    ]  # fmt: skip
    assert of_kind(page, BlockKind.ITEM)[0].text == "One"


def test_templates_stay_as_they_are_written() -> None:
    text = '{{< note >}}\n\n{% if a %} Do <%= b %> {% endif %}\n\n{{ include "x" }}\n'
    assert [block.text for block in parse_page(text).blocks] == text.strip().split("\n\n")


def test_addresses_in_text_are_links() -> None:
    block = only("Open https://a.example/x_(y)?b=1), or www.b.example. `http://c.example`")
    targets = [link.target for link in links(block.words)]
    assert targets == ["https://a.example/x_(y)?b=1", "http://www.b.example"]


def test_html_on_one_line_is_one_outermost_block() -> None:
    block = only("<h2>Stop</h2><p>First.</p><ul><li>a</li></ul>")
    assert outline(block.children) == ["heading Stop", "paragraph First.", "list", ["item a"]]


def test_a_key_stays_where_other_parts_change() -> None:
    before = parse_page("# A\n\n- check\n- check\n\n# B\n\n- check\n")
    after = parse_page("# A\n\nNew.\n\n- check\n- check\n\n# B\n\n- check\n")
    keys = [[item.key for item in of_kind(page, BlockKind.ITEM)] for page in (before, after)]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 3
    assert [key.partition("-")[2] for key in keys[0]] == ["1.2", "2.2", "1.1"]


def test_lines_end_as_on_windows() -> None:
    unix, windows = "# A\n\n- one\n  two\n", "# A\r\n\r\n- one\r\n  two\r\n"
    assert parse_page(windows).blocks == parse_page(unix).blocks
    assert parse_page("a\rb\n\nc\n").blocks[-1].start_line == 3


def test_withheld_lines_mark_the_block_that_has_them_as_its_own() -> None:
    page = parse_page("- one\n  - two\n  - three\n\n> four\n", withheld=[3])
    assert [(p.block.kind, p.block.start_line) for p in page.places() if p.block.is_withheld] == [
        (BlockKind.ITEM, 3)
    ]


def test_what_is_withheld_keeps_its_words_and_addresses_and_links_nowhere() -> None:
    text = "Get [the agent](http://evil.example/a) from <http://evil.example/b>, **now**.\n"
    (block,) = parse_page(text, withheld=[1]).blocks
    assert list(links(block.words)) == []
    assert block.text == ("Get the agent (http://evil.example/a) from http://evil.example/b, now.")
    assert block.key == parse_page(text).blocks[0].key
