"""Routes of the arrows over the placed layers."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.workflow.drawing.layering import Cell, Layering
from services.workflow.drawing.placement import Band, spread

Point = tuple[float, float]

_PORT_DISTANCE = 20.0
_DIP, _RISE, _LANE_DISTANCE = 10.0, 14.0, 6.0
"""Distances of an upward arrow: below its layer, before its turn, and per further lane."""


@dataclass(frozen=True)
class Route:
    """Points an arrow runs through, in strokes: it is interrupted at its label."""

    strokes: tuple[tuple[Point, ...], ...]
    label_at: Point | None
    """Centre of the label."""
    is_upward: bool

    @property
    def end(self) -> Point:
        """Point at which it meets its target, coming from above."""
        return self.strokes[-1][-1]


def route_arrows(
    layering: Layering, bands: Sequence[Band], ends: Sequence[tuple[str, str]], *, inset: float
) -> list[Route]:
    """Route each pair of source and target, in the order of `layering.ways`.

    Arrows bend only between layers, so none runs through a box or a label. `inset` is how far from
    the corners of a box they stay.
    """
    leaving = _attachment_points(layering, [source for source, _ in ends], inset, end=0)
    arriving = _attachment_points(layering, [target for _, target in ends], inset, end=-1)
    routes = []
    for i, (source_id, target_id) in enumerate(ends):
        source, target = layering.steps[source_id], layering.steps[target_id]
        start = (leaving[i], bands[source.layer].top + source.height)
        finish = (arriving[i], bands[target.layer].top)
        way = layering.ways[i]
        if layering.is_upward[i]:
            nths = [
                sum(cell.is_lane and cell.x < lane.x for cell in layering.layers[lane.layer])
                for lane in (way[0], way[-1])
            ]
            routes.append(_upward(way, bands, start, finish, nths))
        else:
            routes.append(_downward(way, bands, start, finish, bands[source.layer].bottom))
    return routes


def _attachment_points(
    layering: Layering, steps: Sequence[str], inset: float, *, end: int
) -> dict[int, float]:
    """Compute where each arrow meets its step, side by side in the order of their directions."""
    by_step: dict[str, list[tuple[float, int]]] = {}
    for i, step in enumerate(steps):
        way = layering.ways[i]
        by_step.setdefault(step, []).append((way[end].x, i))
    ports: dict[int, float] = {}
    for step, arrows in by_step.items():
        arrows.sort()
        cell = layering.steps[step]
        room = max(0.0, cell.width / 2 - inset)
        wanted = [min(max(x, cell.x - room), cell.x + room) for x, _ in arrows]
        if len(arrows) == 1:
            wanted = [cell.x]
        gaps = [min(_PORT_DISTANCE, 2 * room / len(arrows))] * (len(arrows) - 1)
        xs = spread(wanted, [1.0] * len(arrows), gaps)
        ports.update({i: x for (_, i), x in zip(arrows, xs, strict=True)})
    return ports


def _downward(
    way: Sequence[Cell], bands: Sequence[Band], start: Point, finish: Point, bottom: float
) -> Route:
    strokes: list[list[Point]] = [[start, (start[0], bottom)]]
    label_at = None
    for cell in way:
        band = bands[cell.layer]
        strokes[-1].append((cell.x, band.top))
        if cell.is_label:
            label_at = (cell.x, band.top + cell.height / 2)
            strokes.append([(cell.x, band.top + cell.height)])
        strokes[-1].append((cell.x, band.bottom))
    strokes[-1].append(finish)
    return Route(tuple(map(tuple, strokes)), label_at, is_upward=False)


def _upward(
    way: Sequence[Cell],
    bands: Sequence[Band],
    start: Point,
    finish: Point,
    nths: Sequence[int],
) -> Route:
    """Route down from the source, aside, up the lane, aside, and down into the target.

    `nths` are the numbers of lanes further left at the top and at the bottom.
    """
    high = finish[1] - _RISE - _LANE_DISTANCE * nths[0]
    low = bands[way[-1].layer].bottom + _DIP + _LANE_DISTANCE * nths[1]
    strokes: list[list[Point]] = [[start, (start[0], low), (way[-1].x, low)]]
    label_at = None
    for cell in reversed(way):
        band = bands[cell.layer]
        if cell.is_label:
            label_at = (cell.x, (band.top + band.bottom) / 2)
            strokes[-1].append((cell.x, label_at[1] + cell.height / 2))
            strokes.append([(cell.x, label_at[1] - cell.height / 2)])
        else:
            strokes[-1] += [(cell.x, band.bottom), (cell.x, band.top)]
    strokes[-1] += [(way[0].x, high), (finish[0], high), finish]
    return Route(tuple(map(tuple, strokes)), label_at, is_upward=True)
