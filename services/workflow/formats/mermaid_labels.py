"""Labels and ids in Mermaid: written so that nothing in them is syntax, read back exactly.

Escapes are Mermaid's own (`#quot;`, `#35;`). Beside quotes and HTML they cover the patterns that
Mermaid looks for in the whole text, quoted or not: directives, `direction LR`, `style…:…#…;`.
"""

import re
from html.entities import html5

from services.workflow.plain import HTML_TAG, LINE_BREAK

_NAMED = {'"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;"}
_ENTITY = re.compile(
    r"&?\#\+?(?P<decimal>\d{1,7});|&\#[xX](?P<hex>[0-9a-fA-F]{1,6});|[&#](?P<name>\w+);"
)
_ICON = re.compile(r"\bfa[bsrl]?:fa-[\w-]+\s?")
_EMPHASIS = re.compile(r"(\*\*|__|(?<!\w)[*_])(?=\S)([^*_]+)(?<=\S)\1")
_TROUBLE = re.compile(
    r"""[\x00-\x1f\x7f-\x9f\ufeff] | [^\S ]      # line ends, controls, unusual spaces
    | ^\s | \s$ | (?<=\s)\s                      # spaces that reading would drop
    | [<>"*]                                     # HTML, end of the string, emphasis
    | \#(?=\w+;) | &(?!\ \S)                     # looks like an entity
    | %(?=%) | \$(?=\$) | \\(?=n)                # directive, formula, line break
    | ^` | ^[-+](?=\s) | (?<=^\d)[.)](?=\s) | (?<=^\d\d)[.)](?=\s) | (?<!\w)_ | _(?!\w)  # Markdown
    | (?<=direction)\s(?=\s*(?:TB|BT|RL|LR|TD))
    | \bfa[bsrl]?(?=:fa-)                        # icon
    """,
    re.VERBOSE,
)

_SAFE_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")
_RESERVED = re.compile(
    r"br|bt|call|class|classdef|click|default|direction|end|flowchart|graph|href|interpolate"
    r"|linkstyle|lr|rl|style|subgraph|swimlane|tb|td|v",
    re.IGNORECASE,
)
_ESCAPED_ID = re.compile(r"id_((?:[A-Za-z0-9]|_[0-9a-f]{1,6}_)*)")


def escape_label(text: str) -> str:
    """Escape `text` for double quotes; `unescape_label` returns it unchanged."""
    escaped = _TROUBLE.sub(
        lambda match: "".join(_NAMED.get(sign, f"#{ord(sign)};") for sign in match[0]), text
    )
    if any(0 <= word.find(":") < word.rfind("#") for word in escaped.split()):
        escaped = escaped.replace(":", "#58;")
    return escaped


def unescape_label(raw: str, *, markdown: bool = False) -> str:
    """Return the words of a label on one line.

    Line breaks become spaces, formatting tags and icons go, entities become characters. In a
    Markdown string emphasis marks go too.
    """
    text = HTML_TAG.sub("", LINE_BREAK.sub(" ", _ICON.sub("", raw)))
    if markdown:
        text = _EMPHASIS.sub(r"\2", text)
    return _ENTITY.sub(_character, " ".join(text.replace("\\n", " ").split()))


def _character(entity: re.Match[str]) -> str:
    if entity["name"]:
        return html5.get(f"{entity['name']};", entity.group())
    code = int(entity["hex"], 16) if entity["hex"] else int(entity["decimal"].strip("+#"))
    is_character = code < 0x110000 and not 0xD800 <= code < 0xE000
    return chr(code) if is_character else entity.group()


def escape_id(step_id: str) -> str:
    """Return an id that Mermaid reads as one word; most ids are kept as they are."""
    is_word = _SAFE_ID.fullmatch(step_id) and not _ESCAPED_ID.fullmatch(step_id)
    if is_word and not _RESERVED.fullmatch(re.split(r"[-.]", step_id)[0]):
        return step_id
    return "id_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in step_id)


def unescape_id(raw: str) -> str:
    """Reverse `escape_id`; any other id is returned unchanged."""
    if not (match := _ESCAPED_ID.fullmatch(raw)):
        return raw
    codes = re.split(r"_([0-9a-f]{1,6})_", match[1])
    if any(int(code, 16) >= 0x110000 for code in codes[1::2]):
        return raw
    codes[1::2] = [chr(int(code, 16)) for code in codes[1::2]]
    step_id = "".join(codes)
    return step_id if escape_id(step_id) == raw else raw
