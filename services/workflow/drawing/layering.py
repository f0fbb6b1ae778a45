"""Layout of a directed graph in layers, top to bottom: the layer and order of each step.

Sugiyama's method: arrows that close a cycle are set apart, each step gets the layer of its longest
path from the start, long arrows get a cell in every layer they cross, and sweeps by barycentre
order the cells of a layer so that few arrows cross. Steps stand in even layers; odd ones hold the
labels of arrows. An arrow that closes a cycle runs upwards in a lane at the right.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_SWEEPS = 12


@dataclass(frozen=True)
class Size:
    """Extent of a box or label, in pixels."""

    width: float
    height: float


@dataclass(frozen=True)
class Arrow:
    """An arrow to draw; `label` is the extent of its text, None when it has none."""

    source: str
    target: str
    label: Size | None = None


@dataclass(eq=False)
class Cell:
    """A position in a layer: a step, or a piece of an arrow on its way through the layer."""

    layer: int
    width: float
    height: float = 0.0
    step: str = ""
    is_label: bool = False
    is_lane: bool = False
    pull: float = 1.0
    """Weight of straightness: lower on the way to a step where the work ends."""
    above: list["Cell"] = field(default_factory=list)
    below: list["Cell"] = field(default_factory=list)
    x: float = 0.0
    """Centre, set by the placement."""


@dataclass
class Layering:
    """Cells by layer, each layer from left to right; the cells of each arrow from top to bottom."""

    layers: list[list[Cell]]
    steps: dict[str, Cell]
    ways: list[list[Cell]]
    """Cells between the two steps of each arrow; empty for an arrow from a step to itself."""
    is_upward: list[bool]
    """True for each arrow that closes a cycle."""


def assign_layers(sizes: Mapping[str, Size], arrows: Sequence[Arrow]) -> Layering:
    """Assign the steps to layers; the first step is the start."""
    is_upward = _find_back_edges(list(sizes), arrows)
    ranks = _longest_path_ranks(
        list(sizes), [a for a, is_up in zip(arrows, is_upward, strict=True) if not is_up]
    )
    steps = {
        step: Cell(2 * ranks[step], size.width, size.height, step=step)
        for step, size in sizes.items()
    }
    layers: list[list[Cell]] = [[] for _ in range(2 * max(ranks.values(), default=0) + 1)]
    for cell in steps.values():
        layers[cell.layer].append(cell)
    going_on = {arrow.source for arrow in arrows}
    ways = [
        _way(steps, arrow, is_upward=is_up, pull=1.0 if arrow.target in going_on else 0.2)
        for arrow, is_up in zip(arrows, is_upward, strict=True)
    ]
    for cell in (cell for way in ways for cell in way):
        layers[cell.layer].append(cell)
    _order_layers(layers)
    return Layering(layers, steps, ways, is_upward)


def _find_back_edges(steps: Sequence[str], arrows: Sequence[Arrow]) -> list[bool]:
    """Mark the arrows that lead back, in a depth-first walk from the first step on."""
    targets: dict[str, list[str]] = {step: [] for step in steps}
    for arrow in arrows:
        targets[arrow.source].append(arrow.target)
    number: dict[str, int] = {}
    left: set[str] = set()
    back: set[tuple[str, str]] = set()
    for root in steps:
        stack = [] if root in number else [(root, iter(targets[root]))]
        number.setdefault(root, len(number))
        while stack:
            step, rest = stack[-1]
            target = next(rest, None)
            if target is None:
                left.add(step)
                stack.pop()
            elif target not in number:
                number[target] = len(number)
                stack.append((target, iter(targets[target])))
            elif target not in left:
                back.add((step, target))
    return [(arrow.source, arrow.target) in back for arrow in arrows]


def _longest_path_ranks(steps: Sequence[str], arrows: Sequence[Arrow]) -> dict[str, int]:
    """Count the arrows on the longest path to each step."""
    waiting = dict.fromkeys(steps, 0)
    targets: dict[str, list[str]] = {step: [] for step in steps}
    for arrow in arrows:
        waiting[arrow.target] += 1
        targets[arrow.source].append(arrow.target)
    ranks = dict.fromkeys(steps, 0)
    ready = [step for step in steps if not waiting[step]]
    for step in ready:
        for target in targets[step]:
            ranks[target] = max(ranks[target], ranks[step] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return ranks


def _way(steps: Mapping[str, Cell], arrow: Arrow, *, is_upward: bool, pull: float) -> list[Cell]:
    """Create the cells of an arrow, those beside its two steps included if it runs upwards.

    The label of a downward arrow is right below its source.
    """
    source, target = steps[arrow.source], steps[arrow.target]
    if is_upward:
        way = [Cell(layer, 2.0, is_lane=True) for layer in range(target.layer, source.layer + 1)]
        chain, label_cell = way, way[-2] if len(way) > 1 else way[0]
    else:
        way = [Cell(layer, 2.0, pull=pull) for layer in range(source.layer + 1, target.layer)]
        chain, label_cell = [source, *way, target], way[0]
    if label := arrow.label:
        label_cell.width, label_cell.height, label_cell.is_label = label.width, label.height, True
    for upper, lower in pairwise(chain):
        upper.below.append(lower)
        lower.above.append(upper)
    return way


def _order_layers(layers: list[list[Cell]]) -> None:
    """Order each layer in place, lanes last, so that few arrows cross."""
    _order_by_walk(layers)
    best, fewest = [list(layer) for layer in layers], _crossings(layers)
    for sweep in range(_SWEEPS):
        if not fewest:
            break
        downwards = sweep % 2 == 0
        for layer in layers if downwards else reversed(layers):
            _sort_by_neighbours(layers, layer, downwards=downwards)
        if (crossings := _crossings(layers)) < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    for layer, order in zip(layers, best, strict=True):
        layer[:] = sorted(order, key=lambda cell: cell.is_lane)


def _order_by_walk(layers: list[list[Cell]]) -> None:
    """Order the cells as a depth-first walk meets them: a tree then has no crossings."""
    place: dict[Cell, int] = {}
    for root in (cell for layer in layers for cell in layer):
        stack = [root]
        while stack:
            cell = stack.pop()
            if cell not in place:
                place[cell] = len(place)
                stack.extend(reversed(cell.below))
    for layer in layers:
        layer.sort(key=lambda cell: (cell.is_lane, place[cell]))


def _sort_by_neighbours(layers: list[list[Cell]], layer: list[Cell], *, downwards: bool) -> None:
    """Sort by the mean position of neighbours in the previous layer; cells without any stay."""
    place = {cell: i for other in layers if other for i, cell in enumerate(other)}
    weight: dict[Cell, float] = {}
    for i, cell in enumerate(layer):
        neighbours = cell.above if downwards else cell.below
        places = [place[neighbour] for neighbour in neighbours]
        weight[cell] = sum(places) / len(places) if places else float(i)
    layer.sort(key=lambda cell: (cell.is_lane, weight[cell]))


def _crossings(layers: list[list[Cell]]) -> int:
    total = 0
    for upper, lower in pairwise(layers):
        place = {cell: i for i, cell in enumerate(lower)}
        ends = [
            place[below] for cell in upper for below in sorted(cell.below, key=place.__getitem__)
        ]
        total += sum(b < a for i, a in enumerate(ends) for b in ends[i + 1 :])
    return total
