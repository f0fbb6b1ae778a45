"""Pages of incidents: the knowledge on each from the documents, and its neighbours as drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from services.contracts.retrieval import Link, NodeQuery, NodeSummary, NodeSurroundings
from services.kit.access.needs import Need, needs
from services.kit.text import clean_text
from services.knowledge.model import Attribute
from services.web.ui.knowledge.backend import KnowledgeBackend
from services.web.ui.knowledge.readings.pages import filtered_list_address

PAGE_SIZE = 50
TITLES = {
    Attribute.FAILURE_DESCRIPTION: "What fails",
    Attribute.MITIGATION_STEPS: "Mitigation steps",
    Attribute.TYPICAL_CASES: "Typical cases",
    Attribute.ADDITIONAL_NOTES: "Notes",
}


def create_incident_pages(backend: KnowledgeBackend) -> APIRouter:
    """Build the router of the pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/knowledge/incidents")
    @needs(Need.READ)
    def incidents_page(
        text: Annotated[str, Query(max_length=200)] = "",
        start: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    ) -> HTMLResponse:
        """List incident nodes by their names."""
        query = NodeQuery(text=text, start=start, limit=PAGE_SIZE + 1)
        nodes = backend.services.retrieval.nodes(query)
        return backend.page(
            "knowledge/graph/list.html",
            tab="Known incidents",
            nodes=nodes[:PAGE_SIZE],
            text=text,
            start=start,
            asked=filtered_list_address("/knowledge/incidents", {"text": text}),
            following=start + PAGE_SIZE if len(nodes) > PAGE_SIZE else None,
        )

    @router.get("/knowledge/incidents/{node_id:path}")
    @needs(Need.READ)
    def incident_page(node_id: str, hops: Annotated[int, Query(ge=1, le=2)] = 1) -> HTMLResponse:
        """Show one incident with its passages, and a drawing of its neighbours."""
        surroundings = backend.services.retrieval.surroundings(node_id, hops=hops)
        return backend.page(
            "knowledge/graph/page.html",
            tab="Known incidents",
            found=surroundings,
            node=surroundings.node,
            fields=[(TITLES[each], surroundings.node.passages(each)) for each in Attribute],
            drawing=draw_surroundings(surroundings),
            hops=hops,
        )

    return router


_WIDTH, _HEIGHT = 220.0, 44.0
_COLUMN, _ROW = 300.0, 60.0
_MARGIN = 12.0
_BEND = 44.0
_LONGEST = 25
"""Characters of a name that fit into a box."""


@dataclass(frozen=True)
class _NodeBox:
    node: NodeSummary
    x: float
    y: float


def draw_surroundings(surroundings: NodeSurroundings) -> Markup:
    """Draw the node on the left, the nodes that it leads to in columns, unlinked ones last.

    Every text in it is escaped here.
    """
    columns = list(columns_of(surroundings))
    tallest = max(map(len, columns))
    boxes = {
        node.id: _NodeBox(node, place * _COLUMN, (tallest - len(column)) * _ROW / 2 + row * _ROW)
        for place, column in enumerate(columns)
        for row, node in enumerate(column)
    }
    shapes = "".join(
        (
            *(_draw_arrow(link, boxes) for link in surroundings.links),
            *map(_draw_box, boxes.values()),
        )
    )
    width = len(columns) * _COLUMN - _COLUMN + _WIDTH + _BEND + 2 * _MARGIN
    height = tallest * _ROW + 2 * _MARGIN
    name = f"Incidents around {clean_text(surroundings.node.name)}"
    return Markup(  # noqa: S704
        f'<svg xmlns="http://www.w3.org/2000/svg" class="nodes" role="group" '
        f'aria-label="{escape(name)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="currentColor">{shapes}</svg>'
    )


def columns_of(surroundings: NodeSurroundings) -> Iterator[Sequence[NodeSummary]]:
    """Yield the nodes by the number of links that lead to them; unlinked ones come last."""
    column = [NodeSummary.of(surroundings.node)]
    left = {node.id: node for node in surroundings.around}
    while column:
        yield column
        reached = {node.id for node in column}
        targets = [link.target for link in surroundings.links if link.source in reached]
        column = [left.pop(id_) for id_ in dict.fromkeys(targets) if id_ in left]
    if left:
        yield list(left.values())


def _draw_arrow(link: Link, boxes: dict[str, _NodeBox]) -> str:
    """Draw a curve to the left side of a node in a later column, else to its right side."""
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


def _draw_box(box: _NodeBox) -> str:
    name = clean_text(box.node.name)
    label = name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
    is_first = box.x == 0
    stroke = "var(--flow-decision, #b7791f)" if is_first else "var(--flow-process, currentColor)"
    return (
        f'<a href="/knowledge/incidents/{escape(quote(box.node.id, safe=""))}" '
        f'aria-label="{escape(name)}"><title>{escape(name)}</title>'
        f'<rect x="{box.x:.0f}" y="{box.y:.0f}" width="{_WIDTH:.0f}" height="{_HEIGHT:.0f}" '
        f'rx="8" fill="var(--card, white)" stroke="{stroke}" stroke-width="1.5"/>'
        f'<text x="{box.x + 12:.0f}" y="{box.y + 27:.0f}">{escape(label)}</text></a>'
    )
