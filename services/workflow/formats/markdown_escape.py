"""Escaping of document text for Markdown, so that nothing in it takes effect."""

import html
import re

_SPECIAL = re.compile(r"([\\`*_\[\]|~$])|(?<![^\s])([#+>-])(?=\s)|(?<=\d)([.)])(?=\s)")


def escape_markdown(text: str) -> str:
    """Return the text on one line, without effect; space at its ends stays."""
    plain = html.escape(re.sub(r"\s+", " ", text), quote=False)
    return _SPECIAL.sub(lambda match: f"\\{match.group()}", plain)


def fence_code(code: str, language: str) -> str:
    """Return a code block whose fence is longer than any run of backticks in it."""
    fence = "`" * max(3, _longest_run(code) + 1)
    return f"{fence}{language}\n{code}\n{fence}"


def code_span(code: str) -> str:
    """Return code within a line, between more backticks than any run in it."""
    text = re.sub(r"\s+", " ", code)
    mark = "`" * (_longest_run(text) + 1)
    is_bare = text.startswith("`") or text.endswith("`")
    room = " " if is_bare or (text.startswith(" ") and text.endswith(" ")) else ""
    return f"{mark}{room}{text}{room}{mark}" if text else ""


def is_safe_address(address: str) -> bool:
    """Return True if the address is relative or http(s) and cannot break out of a link."""
    has_scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", address)
    if has_scheme and not re.match(r"https?:", address, re.IGNORECASE):
        return False
    return bool(address) and not re.search(r"[<>\s\x00-\x1f\\]", address)


def _longest_run(code: str) -> int:
    return max((len(run) for run in re.findall(r"`+", code)), default=0)
