"""An incident and those around it as an SVG drawing: columns by distance, links as curves.

As in a workflow's drawing, colours are those of the page and only presentation attributes are used.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from markupsafe import Markup

from services.contracts.retrieval import Link, NodeSummary, NodeSurroundings
from services.kit.text import clean_text

_WIDTH, _HEIGHT = 220.0, 44.0
_COLUMN, _ROW = 300.0, 60.0
_MARGIN = 12.0
_BEND = 44.0
_LONGEST = 25
"""Characters of a name that fit a box."""


@dataclass(frozen=True)
class _Box:
    node: NodeSummary
    x: float
    y: float


def drawn(found: NodeSurroundings) -> Markup:
    """The node on the left, what it leads to in columns beside it, others of its pages last.

    Every text in it is escaped here.
    """
    columns = list(columns_of(found))
    tallest = max(map(len, columns))
    boxes = {
        node.id: _Box(node, place * _COLUMN, (tallest - len(column)) * _ROW / 2 + row * _ROW)
        for place, column in enumerate(columns)
        for row, node in enumerate(column)
    }
    shapes = "".join((*(_arrow(link, boxes) for link in found.links), *map(_shape, boxes.values())))
    width = len(columns) * _COLUMN - _COLUMN + _WIDTH + _BEND + 2 * _MARGIN
    height = tallest * _ROW + 2 * _MARGIN
    name = f"Incidents around {clean_text(found.node.name)}"
    return Markup(  # noqa: S704
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nodes" role="group" '
        f'aria-label="{escape(name)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="currentColor">{shapes}</svg>'
    )


def columns_of(found: NodeSurroundings) -> Iterator[Sequence[NodeSummary]]:
    """Nodes by the number of links that lead to them; those that none leads to come last."""
    column = [NodeSummary.of(found.node)]
    left = {node.id: node for node in found.around}
    while column:
        yield column
        reached = {node.id for node in column}
        targets = [link.target for link in found.links if link.source in reached]
        column = [left.pop(id_) for id_ in dict.fromkeys(targets) if id_ in left]
    if left:
        yield list(left.values())


def _arrow(link: Link, boxes: dict[str, _Box]) -> str:
    """A curve into the left side of what comes later, into the right side of what does not."""
    source, target = boxes[link.source], boxes[link.target]
    is_onward = target.x > source.x
    x1, y1 = source.x + _WIDTH, source.y + _HEIGHT / 2
    x2, y2 = target.x + (0 if is_onward else _WIDTH), target.y + _HEIGHT / 2
    bend = -_BEND if is_onward else _BEND
    return (
        f'<path d="M{x1:.0f} {y1:.0f}C{x1 + _BEND:.0f} {y1:.0f} {x2 + bend:.0f} {y2:.0f} '
        f'{x2:.0f} {y2:.0f}" fill="none" stroke="currentColor" stroke-opacity="0.45" '
        f'stroke-width="1.5"/><circle cx="{x2:.0f}" cy="{y2:.0f}" r="3.5" fill-opacity="0.6"/>'
    )


def _shape(box: _Box) -> str:
    name = clean_text(box.node.name)
    told = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    is_first = box.x == 0
    stroke = "var(--flow-decision, #b7791f)" if is_first else "var(--flow-process, currentColor)"
    return (
        f'<a href="/knowledge/incidents/{escape(quote(box.node.id, safe=""))}" '
        f'aria-label="{escape(name)}"><title>{escape(name)}</title>'
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" '
        f'rx="8" fill="var(--card, white)" stroke="{stroke}" stroke-width="1.5"/>'
        f'<text x="{box.x + 12:.0f}" y="{box.y + 27:.0f}">{escape(told)}</text></a>'
    )
