"""Coordinates for a layered graph: x so that arrows run straight, y by the height of the layers."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from services.workflow.drawing.layering import Cell, Layering

_LOOSE_ROUNDS, _STRICT_ROUNDS = 30, 60
_STEP_DISTANCE = 34.0
_DISTANCE = 18.0
_LEAST_GAP, _MOST_GAP = 20.0, 60.0
_GAP_PER_SHIFT = 0.09
"""Growth of a gap with the longest sideways way in it, so that no arrow runs flat."""


@dataclass(frozen=True)
class Band:
    """A layer's vertical extent."""

    top: float
    bottom: float


def place(layering: Layering) -> list[Band]:
    """Set `x` of every cell and return the bands of the layers from top to bottom."""
    layers = [[cell for cell in layer if not cell.is_lane] for layer in layering.layers]
    for layer in layers:
        positions = spread([0.0] * len(layer), [1.0] * len(layer), _gaps(layer))
        for cell, position in zip(layer, positions, strict=True):
            cell.x = position
    spaced = [(layer, _gaps(layer)) for layer in layers]
    for round_ in range(_LOOSE_ROUNDS + _STRICT_ROUNDS):
        for layer, gaps in spaced if round_ % 2 == 0 else reversed(spaced):
            _settle(layer, gaps, is_strict=round_ >= _LOOSE_ROUNDS)
    left = min((cell.x - cell.width / 2 for layer in layers for cell in layer), default=0)
    for cell in (cell for layer in layers for cell in layer):
        cell.x -= left
    _place_lanes(layering, layers)
    return _bands(layering.layers)


def _place_lanes(layering: Layering, layers: Sequence[Sequence[Cell]]) -> None:
    """Place each lane straight, to the right of all it passes, short ones first."""
    edges = [max((cell.x + cell.width / 2 for cell in layer), default=0.0) for layer in layers]
    lanes = [way for way, is_up in zip(layering.ways, layering.is_upward, strict=True) if is_up]
    for lane in sorted(lanes, key=len):
        x = max(edges[cell.layer] + _DISTANCE + cell.width / 2 for cell in lane)
        for cell in lane:
            cell.x = x
            edges[cell.layer] = x + cell.width / 2


def spread(wanted: Sequence[float], weights: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Find the positions nearest to `wanted`, in order, with neighbours at least `gaps` apart.

    Nearest by weighted squares: pool adjacent violators on positions less their summed gaps.
    """
    shifts = [0.0]
    for gap in gaps:
        shifts.append(shifts[-1] + gap)
    blocks: list[tuple[float, float, int]] = []
    for want, weight, shift in zip(wanted, weights, shifts, strict=True):
        mean, total, size = want - shift, weight, 1
        while blocks and blocks[-1][0] >= mean:
            other, other_total, other_size = blocks.pop()
            mean = (mean * total + other * other_total) / (total + other_total)
            total, size = total + other_total, size + other_size
        blocks.append((mean, total, size))
    means = [mean for mean, _, size in blocks for _ in range(size)]
    return [mean + shift for mean, shift in zip(means, shifts, strict=True)]


def _gaps(layer: Sequence[Cell]) -> list[float]:
    gaps = []
    for left, right in pairwise(layer):
        distance = _STEP_DISTANCE if left.step and right.step else _DISTANCE
        gaps.append((left.width + right.width) / 2 + distance)
    return gaps


def _settle(layer: Sequence[Cell], gaps: Sequence[float], *, is_strict: bool) -> None:
    """Move the cells of one layer towards their neighbours above and below.

    Loosely every neighbour pulls by its distance; strictly all pull alike, near or far, so that
    most arrows end up straight and a few take the bends. The pull is strongest within an arrow, to
    keep long ones straight.
    """
    wanted, weights = [], []
    for cell in layer:
        pulls = []
        for other in (*cell.above, *cell.below):
            is_inner = not cell.step and not other.step
            pulls.append((other.x, (8.0 if is_inner else 2.0) * min(cell.pull, other.pull)))
        if is_strict:
            pulls = [(x, weight / (0.2 + abs(x - cell.x))) for x, weight in pulls]
        total = sum(weight for _, weight in pulls)
        wanted.append(sum(x * weight for x, weight in pulls) / total if total else cell.x)
        weights.append(total or 0.1)
    for cell, position in zip(layer, spread(wanted, weights, gaps), strict=True):
        cell.x = position


def _bands(layers: Sequence[Sequence[Cell]]) -> list[Band]:
    bands: list[Band] = []
    top = 0.0
    for layer, following in zip(layers, [*layers[1:], []], strict=True):
        bottom = top + max((cell.height for cell in layer), default=0.0)
        bands.append(Band(top, bottom))
        shift = max((abs(b.x - c.x) for c in layer for b in c.below if not b.is_lane), default=0.0)
        lanes = sum(cell.is_lane for cell in (*layer, *following))
        least = _LEAST_GAP + 6.0 * lanes
        top = bottom + min(max(least, _GAP_PER_SHIFT * shift + 14), max(least, _MOST_GAP))
    return bands
