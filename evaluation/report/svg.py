"""The parts that pictures of figures are made of."""

from collections.abc import Iterator
from html import escape

INK, FAINT, BLUE = "#1f2933", "#d5dbe1", "#4a7fb5"
_STYLE = f'role="img" font-family="system-ui, sans-serif" font-size="13" fill="{INK}"'


def opening(title: str, width: float, height: float) -> Iterator[str]:
    """The head of a picture, on a white ground, so that it can be read on a dark page too."""
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {_STYLE}>'
    yield f"<title>{escape(title)}</title>"
    yield f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    yield f'<text x="16" y="24" font-size="15" font-weight="600">{escape(title)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    """A thin one."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        'stroke-width="1.2"/>'
    )


def text(x: float, y: float, words: str, anchor: str) -> str:
    """Words that begin, are centred or end at a place."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
