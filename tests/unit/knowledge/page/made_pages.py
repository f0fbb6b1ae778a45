"""Pages made by chance of all forms, for what must hold of any page."""

from collections.abc import Callable
from random import Random

_WORDS = [
    "check",
    "restart",
    "the",
    "node",
    "pod",
    "queue",
    "disk",
    "ok",
    "logs",
    "until",
    "then",
    "verify",
    "<node>",
    "if",
    "wait",
    "42",
    "überprüfen",
    "再起動",
    "نظام",
    "a_b_c",
    "10.0.0.1",
    "--force",
    "$HOME",
    "x=1",
]
_MARKS = ("**{}**", "*{}*", "`{}`", "~~{}~~", "<b>{}</b>", "<code>{}</code>", "[{}](#a)", "{}:")
_SCRIPTS = ("<script>alert('x')</script>", '<iframe src="x"></iframe>', "<!-- hidden -->")

_INDENTS = ("", "", "", "  ", "    ", "   ", "\t", "> ", "- ", "      ")
_PIECES = (
    *("", "", "", "- item", "1. one", "7) seven", "> quote", "> [!NOTE]", "```sh", "~~~", "text"),
    *("# head", "---", "===", "| a | b |", "|---|---|", "**bold** lead", "<b>b</b>", "- [ ] box"),
    *("<div>", "</div>", "<details>", "<summary>S</summary>", "</details>", "<p>para", "</p>"),
    *("<table><tr><td>cell", "</td></tr></table>", "<ul><li>li", "</ul>", "<pre>x", "</pre>"),
    *("<!-- c -->", "<!--", "-->", "<script>", "</script>", "<ns>", "<br>", "[r]: http://x.y"),
    *("Note: n", "**Warning: w**", ": def", "!!! note", '=== "Tab"', ":::tip", ":::", "{info}"),
    *("<Tabs>", '<TabItem label="A">', "</TabItem>", "</Tabs>", "[TOC]", "\\", "<dl><dt>t<dd>d"),
)


def made_page(chance: Random) -> str:
    """Return a page of a few blocks, nested in one another."""
    blocks = [_block(chance, 0) for _ in range(chance.randint(2, 9))]
    front = "---\ntitle: made\n---\n" if chance.random() < 0.2 else ""
    text = front + "\n\n".join(blocks) + "\n"
    return text.replace("\n", "\r\n") if chance.random() < 0.1 else text


def made_soup(chance: Random) -> str:
    """Return lines that begin blocks and rarely end them, with indentation by chance."""
    lines = (chance.choice(_INDENTS) + chance.choice(_PIECES) for _ in range(chance.randint(3, 14)))
    return "\n".join(lines) + "\n"


def _block(chance: Random, depth: int) -> str:
    forms = _LEAVES if depth > 3 else _LEAVES + _CONTAINERS
    return chance.choice(forms)(chance, depth)


def _sentence(chance: Random) -> str:
    words = [chance.choice(_WORDS) for _ in range(chance.randint(1, 9))]
    if chance.random() < 0.5:
        at = chance.randrange(len(words))
        words[at] = chance.choice(_MARKS).format(words[at].strip("_<>$-"))
    if chance.random() < 0.1:
        words.append("https://example.com/a?b=1")
    return "So " + " ".join(words)


def _blocks(chance: Random, depth: int) -> str:
    return "\n\n".join(_block(chance, depth + 1) for _ in range(chance.randint(1, 3)))


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line if line else line for line in text.split("\n"))


def _paragraph(chance: Random, _: int) -> str:
    return "\n".join(_sentence(chance) for _ in range(chance.randint(1, 3)))


def _heading(chance: Random, _: int) -> str:
    anchor = " {#here}" if chance.random() < 0.2 else ""
    return f"{'#' * chance.randint(1, 6)} {_sentence(chance)}{anchor}"


def _lead(chance: Random, _: int) -> str:
    lead = chance.choice(("**Warning:** {}", "NOTE: {}", "**Achtung: {}**", "⚠️ **Caution** {}"))
    return lead.format(chance.choice(("do not", "nicht neu starten", "stop")))


def _fence(chance: Random, _: int) -> str:
    code = "\n".join(_sentence(chance) for _ in range(chance.randint(1, 4)))
    return f"```bash\n{code}\n\n    # indented\n```"


def _table(chance: Random, _: int) -> str:
    rows = [f"| {_cell(chance)} | {_cell(chance)} |" for _ in range(3)]
    return "\n".join([rows[0], "| --- | :-: |", *rows[1:]])


def _cell(chance: Random) -> str:
    return chance.choice(("", _sentence(chance), "`a \\| b`", "![alt](x.png)"))


def _image(_: Random, __: int) -> str:
    return "![the dashboard](images/a.png)"


def _reference(chance: Random, _: int) -> str:
    return f'See [{chance.choice(_WORDS[:9])}][ref].\n\n[ref]: https://example.com/ref "Title"'


def _hidden(chance: Random, _: int) -> str:
    return chance.choice(_SCRIPTS)


def _html_list(chance: Random, _: int) -> str:
    items = "".join(f"<li>{_sentence(chance)}</li>\n" for _ in range(2))
    return f'<ol start="3">\n{items}</ol>' if chance.random() < 0.5 else f"<ul>{items}</ul>"


def _html_table(chance: Random, _: int) -> str:
    row = f"<tr><td>{_sentence(chance)}</td><td><pre>a\n  b</pre></td></tr>"
    return f"<table>\n<tr><th>One</th><th>Two</th></tr>\n{row}\n</table>"


def _list(chance: Random, depth: int) -> str:
    marker = chance.choice(("- ", "* ", "1. ", "7) ", "- [ ] ", "- [x] "))
    indent = " " * (2 if marker[0] in "-*" else len(marker))
    return "\n".join(_item(chance, depth, marker, indent) for _ in range(chance.randint(1, 3)))


def _item(chance: Random, depth: int, marker: str, indent: str) -> str:
    below = "\n\n" + _indented(_blocks(chance, depth), indent) if chance.random() < 0.4 else ""
    return f"{marker}{_sentence(chance)}{below}"


def _quote(chance: Random, depth: int) -> str:
    marker = chance.choice(("", "[!NOTE]\n", "[!WARNING]\n"))
    text = f"{marker}{_sentence(chance)}\n\n{_blocks(chance, depth)}"
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _details(chance: Random, depth: int) -> str:
    summary = f"<summary>{_sentence(chance)}</summary>"
    return f"<details>\n{summary}\n\n{_blocks(chance, depth)}\n\n</details>"


def _div(chance: Random, depth: int) -> str:
    kind = chance.choice(('class="alert alert-warning"', 'align="center"'))
    return f"<div {kind}>\n\n{_blocks(chance, depth)}\n\n</div>"


def _outermost_callout(chance: Random, depth: int) -> str:
    """Return a callout or tab of a documentation site; only the outermost ones are undone."""
    if depth:
        return _paragraph(chance, depth)
    body = "\n\n".join(chance.choice(_FLAT)(chance, depth) for _ in range(2))
    return chance.choice(
        (
            f'!!! warning "Stop"\n{_indented(body, "    ")}\n',
            f'??? note "More"\n\n{_indented(body, "    ")}\n',
            f'=== "Linux"\n\n{_indented(body, "    ")}\n',
            f":::danger Stop\n\n{body}\n\n:::",
            f"{{warning:title=Stop}}\n\n{body}\n\n{{warning}}",
        )
    )


_Form = Callable[[Random, int], str]
_FLAT: tuple[_Form, ...] = (_paragraph, _lead, _image)
_LEAVES: tuple[_Form, ...] = (
    *_FLAT, _heading, _fence, _table, _reference, _hidden, _html_list, _html_table,
)  # fmt: skip
_CONTAINERS: tuple[_Form, ...] = (_list, _list, _quote, _details, _div, _outermost_callout)
