"""What a stated chance is worth: a diagram of chances beside what came true, drawn as SVG."""

from collections.abc import Iterator, Mapping

from evaluation.measures.figures import Figures
from evaluation.report.svg import BLUE, FAINT, INK, line, opening, text

_SIZE, _MARGIN, _SIDE = 420, 56, 180
_LARGEST, _SMALLEST = 15.0, 3.0
"""Radii of the largest bin, and of the smallest that can be seen."""
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def reliability_diagram(title: str, bins: Mapping[str, Figures]) -> str:
    """A point for each bin: its mean chance against the share that was right, as large as the bin.

    On the diagonal a chance means what it says.
    """
    most = max((of["n"] for of in bins.values()), default=1.0)
    width, height = _SIZE + _SIDE, _SIZE
    parts = [
        *opening(title, width, height),
        *_axes(),
        *(part for of in bins.values() for part in _point(of, most)),
        *_legend(bins),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _axes() -> Iterator[str]:
    for tick in _TICKS:
        x, y = _place(tick, tick)
        yield line(x, _place(0, 0)[1], x, _place(0, 1)[1], FAINT)
        yield line(_place(0, 0)[0], y, _place(1, 0)[0], y, FAINT)
        yield text(x, _SIZE - _MARGIN + 18, f"{tick:.0%}", "middle")
        yield text(_MARGIN - 8, y + 4, f"{tick:.0%}", "end")
    (x1, y1), (x2, y2) = _place(0, 0), _place(1, 1)
    yield line(x1, y1, x2, y2, INK)
    yield text(_SIZE / 2, _SIZE - 12, "stated chance", "middle")
    yield text(_MARGIN - 40, _MARGIN - 12, "were acceptable", "start")


def _point(of: Figures, most: float) -> Iterator[str]:
    x, y = _place(of["chance"], of["acceptable"])
    radius = max(_SMALLEST, _LARGEST * (of["n"] / most) ** 0.5)
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{BLUE}" opacity="0.8"/>'


def _legend(bins: Mapping[str, Figures]) -> Iterator[str]:
    for row, (edges, of) in enumerate(bins.items()):
        label = f"{edges}: {of['acceptable']:.0%} of {of['n']:.0f}"
        yield text(_SIZE + 4, _MARGIN + 18 * row, label, "start")


def _place(chance: float, share: float) -> tuple[float, float]:
    inner = _SIZE - 2 * _MARGIN
    return _MARGIN + chance * inner, _SIZE - _MARGIN - share * inner
