"""Bars with intervals, drawn as SVG: all that the results page needs of a plotting library."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evaluation.report.svg import BLUE, FAINT, INK, line, opening, text

_WIDTH = 760
_LABELS = 150
_VALUES = 185
"""Room for the labels on the left and the numbers on the right."""
_ROW = 30
_BAR = 16
_TOP = 44
_BOTTOM = 34
_TICKS = 6

_BAR_COLOUR, _MARKED = BLUE, "#8a97a5"


@dataclass(frozen=True)
class Bar:
    """One row: a value between the ends of its interval."""

    label: str
    value: float
    low: float
    high: float
    is_marked: bool = False
    """Drawn in grey: what the others are compared with."""


@dataclass(frozen=True)
class Chart:
    """Horizontal bars from zero, the first on top."""

    title: str
    bars: Sequence[Bar]
    signed: bool = False
    """Numbers are written with their sign, as differences are."""

    def svg(self) -> str:
        """The picture; on a white ground, so that it can be read on a dark page too."""
        axis = _Axis.of(self.bars)
        height = _TOP + _ROW * len(self.bars) + _BOTTOM
        parts = [
            *opening(self.title, _WIDTH, height),
            *_grid(axis, _TOP + _ROW * len(self.bars)),
            *(part for place, bar in enumerate(self.bars) for part in self._row(bar, place, axis)),
            "</svg>",
        ]
        return "\n".join(parts) + "\n"

    def _row(self, bar: Bar, place: int, axis: "_Axis") -> Iterator[str]:
        middle = _TOP + _ROW * place + _ROW / 2
        left, right = sorted((axis.x(0), axis.x(bar.value)))
        colour = _MARKED if bar.is_marked else _BAR_COLOUR
        yield text(_LABELS - 10, middle + 4.5, bar.label, "end")
        yield (
            f'<rect x="{left:.1f}" y="{middle - _BAR / 2:.1f}" width="{right - left:.1f}" '
            f'height="{_BAR}" fill="{colour}"/>'
        )
        low, high = axis.x(bar.low), axis.x(bar.high)
        yield line(low, middle, high, middle, INK)
        for end in (low, high):
            yield line(end, middle - 5, end, middle + 5, INK)
        yield text(_WIDTH - 12, middle + 4.5, self._numbers(bar), "end")

    def _numbers(self, bar: Bar) -> str:
        sign = "+" if self.signed else ""
        value, low, high = (
            f"{number:{sign}.1f}".replace("-", "−") for number in (bar.value, bar.low, bar.high)
        )
        return f"{value} ({low} to {high})"


@dataclass(frozen=True)
class _Axis:
    """From figures to places; its ends are round and zero is always on it."""

    start: float
    end: float
    step: float

    @classmethod
    def of(cls, bars: Sequence[Bar]) -> "_Axis":
        least = min([0.0, *(bar.low for bar in bars), *(bar.value for bar in bars)])
        most = max([0.0, *(bar.high for bar in bars), *(bar.value for bar in bars)])
        step = _round_step((most - least or 1.0) / _TICKS)
        start, end = math.floor(least / step) * step, math.ceil(most / step) * step
        return cls(start, max(end, start + step), step)

    def x(self, value: float) -> float:
        share = (value - self.start) / (self.end - self.start)
        return _LABELS + share * (_WIDTH - _LABELS - _VALUES)

    def ticks(self) -> list[float]:
        count = round((self.end - self.start) / self.step)
        return [self.start + place * self.step for place in range(count + 1)]


def _round_step(least: float) -> float:
    """The next of 1, 2, 5, 10, 20, 50, … (or a tenth of these) from `least` on."""
    size: float = 10.0 ** math.floor(math.log10(least))
    return next(size * step for step in (1, 2, 5, 10) if size * step >= least * 0.999)


def _grid(axis: _Axis, bottom: float) -> Iterator[str]:
    for tick in axis.ticks():
        x = axis.x(tick)
        is_zero = abs(tick) < axis.step / 2
        yield line(x, _TOP - 4, x, bottom, INK if is_zero else FAINT)
        yield text(x, bottom + 18, f"{0 if is_zero else tick:g}".replace("-", "−"), "middle")
