"""Plain text of a label, without the markup around it."""

import html
import re

HTML_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|center|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li"
    r"|mark|ol|p|pre|q|s|samp|small|span|strike|strong|sub|summary|sup|svg|table|tbody|td|th|thead"
    r"|tr|tt|u|ul|var)(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
"""Elements that format text. Other words in angle brackets are placeholders and stay."""

LINE_BREAK = re.compile(r"<(?:br|wbr)\b[^<>]*>", re.IGNORECASE)

_MARKDOWN = (
    (re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s+\"[^\"]*\")?\)"), r"\1"),
    (re.compile(r"!?\[([^\[\]]+)\]\[[^\[\]]*\]"), r"\1"),
    (re.compile(r"<((?:https?|mailto):[^<>\s]*)>"), r"\1"),
    (re.compile(r"`+"), ""),
    (re.compile(r"\*\*([^*]+)\*\*"), r"\1"),
    (re.compile(r"(?<!\w)__([^_]+)__(?!\w)"), r"\1"),
    (re.compile(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])"), r"\1"),
    (re.compile(r"(?<!\w)_([^_\s][^_]*)_(?!\w)"), r"\1"),
    (re.compile(r"~~([^~]+)~~"), r"\1"),
    (re.compile(r"^\s*(?:#{1,6}|[-*+>])\s+"), ""),
)


def plain(label: str) -> str:
    """Return `label` on one line, with Markdown marks, HTML tags and entities resolved.

    Placeholders such as `<node>` are words, not tags, and stay.
    """
    text = HTML_TAG.sub("", LINE_BREAK.sub(" ", label))
    for pattern, replacement in _MARKDOWN:
        text = pattern.sub(replacement, text)
    return " ".join(html.unescape(text).split())
