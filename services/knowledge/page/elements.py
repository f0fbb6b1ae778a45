"""HTML elements by what they display, and tags that are placeholders rather than HTML."""

from collections.abc import Mapping

from services.knowledge.page.block import InlineKind

FORMATTING = {
    "b": InlineKind.STRONG,
    "strong": InlineKind.STRONG,
    "i": InlineKind.EMPHASIS,
    "em": InlineKind.EMPHASIS,
    "cite": InlineKind.EMPHASIS,
    "var": InlineKind.EMPHASIS,
    "code": InlineKind.CODE,
    "tt": InlineKind.CODE,
    "samp": InlineKind.CODE,
    "kbd": InlineKind.KEYS,
    "del": InlineKind.STRIKE,
    "s": InlineKind.STRIKE,
    "strike": InlineKind.STRIKE,
    "a": InlineKind.LINK,
}
PLAIN = frozenset(
    {
        "span",
        "font",
        "u",
        "ins",
        "small",
        "big",
        "sub",
        "sup",
        "mark",
        "abbr",
        "q",
        "time",
        "label",
        "bdi",
        "bdo",
        "wbr",
        "input",
        "picture",
        "source",
        "button",
        "dfn",
        "ruby",
        "rt",
        "rp",
    }
)
"""Elements that show their text and nothing else."""
BLOCK_LIKE = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "col",
        "colgroup",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "optgroup",
        "option",
        "p",
        "pre",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "tabs",
        "tabitem",
        "tab",
        "admonition",
    }
)
"""Elements that end a line; those of documentation sites' components among them."""
INVISIBLE = frozenset(
    {
        "script",
        "style",
        "iframe",
        "object",
        "embed",
        "template",
        "noscript",
        "head",
        "title",
        "link",
        "meta",
        "base",
        "svg",
        "math",
        "canvas",
        "audio",
        "video",
        "track",
        "map",
        "area",
        "textarea",
        "noframes",
        "frameset",
        "frame",
        "param",
    }
)
VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "frame",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    }
)
_NEVER_VALUES = frozenset(
    {
        "script",
        "style",
        "iframe",
        "wbr",
        "hr",
        "br",
        "p",
        "div",
        "pre",
        "ul",
        "ol",
        "li",
        "dl",
        "dt",
        "dd",
    }
    | {"table", "thead", "tbody", "tfoot", "tr", "td", "th", "details", "summary", "blockquote"}
)
_NAMES_OF_VALUES = (INVISIBLE | BLOCK_LIKE | PLAIN | {"var", "cite", "code", "a", "i", "s"}) - (
    _NEVER_VALUES
)
"""Element names that people also use for values to be filled in, as in `router ospf <area>`."""
HTML_ELEMENTS = frozenset(FORMATTING) | PLAIN | BLOCK_LIKE | INVISIBLE | {"br", "img"}


def is_placeholder(name: str, attributes: Mapping[str, str | None], *, is_closed: bool) -> bool:
    """Return True if a tag stands for a value to be filled in, as `<node>` does."""
    is_value = name in _NAMES_OF_VALUES and not attributes and not is_closed
    return is_value or name not in HTML_ELEMENTS
