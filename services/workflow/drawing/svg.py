"""A workflow as an SVG drawing, top to bottom, that any page can hold without a script.

Colours come from `currentColor` and the custom properties `--flow-decision`, `--flow-terminal` and
`--flow-process`, so the drawing follows the page, light or dark. Only presentation attributes are
used: a strict content security policy does not touch them.
"""

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from itertools import pairwise
from types import MappingProxyType
from urllib.parse import quote

from services.workflow.drawing.layering import Arrow, Layering, Size, assign_layers
from services.workflow.drawing.placement import place
from services.workflow.drawing.routes import Point, Route, route_arrows
from services.workflow.model import Step, StepKind, Workflow

StepLink = Callable[[str], str]
"""The address of a step's details, by step id."""

_LINE_LENGTH, _MOST_LINES = 34, 5
_LABEL_LENGTH, _LABEL_LINES = 24, 2
_TEXT_SIZE, _LINE_HEIGHT = 14, 19
_LABEL_SIZE, _LABEL_HEIGHT = 12, 15
_CODE_SIZE = 12
_PADDING = 12.0
_NUMBER_WIDTH = 9.0
_POINT = 16.0
"""Width of the pointed sides of a decision."""
_MARGIN = 26.0
_CORNER = 7.0
_ARROW_LENGTH, _ARROW_WIDTH = 9.0, 4.5
_MOST_CELLS = 20_000
"""Limit of steps times transitions; beyond it arrows are neither readable nor quick to lay out."""
_RUNG_GAP = 14.0

_STROKES = {
    StepKind.PROCESS: "var(--flow-process, currentColor)",
    StepKind.DECISION: "var(--flow-decision, #b7791f)",
    StepKind.TERMINAL: "var(--flow-terminal, #2f855a)",
}
_FILL_OPACITY = {StepKind.PROCESS: 0.04, StepKind.DECISION: 0.13, StepKind.TERMINAL: 0.13}
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_NARROW, _WIDE = frozenset("iljtfrI.,:;'`|!()[]{}/\\- \""), frozenset("mwMW@%")


@dataclass(frozen=True)
class _Label:
    """The condition of a transition, in lines."""

    text: str
    lines: tuple[str, ...]
    size: Size


@dataclass(frozen=True)
class _StepBox:
    """A step with its lines; `code` is its first command, if it has one."""

    step: Step
    number: str
    """Number of the step, with a question mark if the step is in doubt."""
    lines: tuple[str, ...]
    code: str
    size: Size
    shown: "StepShown | None"


class StepShown(StrEnum):
    """Progress of a step, as a drawing shows it."""

    DONE = "done"
    SKIPPED = "skipped"
    NEXT = "next"
    ASIDE = "aside"
    """The step is reached only by branches that were not followed."""


_STATE_SIGNS = {
    StepShown.DONE: "✓",
    StepShown.SKIPPED: "↷",
    StepShown.NEXT: "▶",
    StepShown.ASIDE: "–",
}
_STATE_PHRASES = {
    StepShown.DONE: ", done",
    StepShown.SKIPPED: ", skipped",
    StepShown.NEXT: ", next",
    StepShown.ASIDE: ", left aside",
}


def to_svg(
    workflow: Workflow,
    *,
    link: StepLink | None = None,
    shown: Mapping[str, StepShown] = MappingProxyType({}),
) -> str:
    """Draw one `<svg>` element at its natural size, with a `viewBox` to scale it by.

    Each step is a link, to `#step-<id>` unless `link` says otherwise, and carries `data-step`.
    `shown` is the progress of the steps: a sign precedes the number, the next step has a thick
    outline, and steps left aside are faint.

    Texts are cut after five lines; the whole text is in the step's `<title>`, with its notes, whose
    number is in the box. Steps without a
    source have a dashed outline, steps in doubt a question mark. If a decision was answered before,
    the arrow that holds is thick and the others are faint. A workflow too large for arrows is drawn
    as a list of steps in reading order, with its ways as words that lead to their steps.
    """
    boxes = {step.id: _box(step, n, shown.get(step.id)) for n, step in enumerate(workflow.steps, 1)}
    labels = [_label(edge.condition) for edge in workflow.transitions]
    if not boxes:
        return _element(workflow, 320, 80, '<text x="0" y="8">No steps</text>')
    if len(boxes) * len(labels) > _MOST_CELLS:
        return _ladder(workflow, boxes, link or _fragment)
    layering = assign_layers(
        {step_id: box.size for step_id, box in boxes.items()},
        [
            Arrow(edge.source, edge.target, label.size if label else None)
            for edge, label in zip(workflow.transitions, labels, strict=True)
        ],
    )
    return _drawing(workflow, boxes, labels, layering, link or _fragment)


def _drawing(
    workflow: Workflow,
    boxes: dict[str, _StepBox],
    labels: Sequence[_Label | None],
    layering: Layering,
    link: StepLink,
) -> str:
    bands = place(layering)
    ends = [(edge.source, edge.target) for edge in workflow.transitions]
    routes = route_arrows(layering, bands, ends, inset=_POINT + 10)
    arrows = [
        _arrow(route, label, workflow.holds(edge))
        for route, label, edge in zip(routes, labels, workflow.transitions, strict=True)
    ]
    shapes = [
        _step(box, layering.steps[step_id].x, bands[layering.steps[step_id].layer].top, link)
        for step_id, box in boxes.items()
    ]
    right = max(cell.x + cell.width / 2 for layer in layering.layers for cell in layer)
    width, height = right + 2 * _MARGIN, bands[-1].bottom + 2 * _MARGIN
    return _element(workflow, width, height, "".join((*arrows, *shapes)))


def _fragment(step_id: str) -> str:
    return f"#step-{quote(step_id, safe='')}"


def _element(workflow: Workflow, width: float, height: float, content: str) -> str:
    name = f"Workflow with {len(workflow.steps)} steps: {_clean(workflow.title)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="flow" role="group" '
        f'aria-label="{escape(name)}" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="{-_MARGIN:.0f} {-_MARGIN:.0f} {width:.0f} {height:.0f}" '
        f'font-family="system-ui, sans-serif" font-size="{_TEXT_SIZE}" fill="currentColor">'
        f"{content}</svg>"
    )


def _ladder(workflow: Workflow, boxes: dict[str, _StepBox], link: StepLink) -> str:
    ways = defaultdict(list)
    for edge in workflow.transitions:
        ways[edge.source].append(edge)
    parts, top = [], 0.0
    for step_id, box in boxes.items():
        parts.append(_step(box, box.size.width / 2, top, link))
        top += box.size.height
        for edge in ways[step_id]:
            top += _LABEL_HEIGHT
            condition = _shorten(edge.condition.strip() or "then", 2 * _LABEL_LENGTH)
            number = boxes[edge.target].number.rstrip("?").split()[-1]
            parts.append(
                f'<a href="{escape(link(edge.target))}"><text x="{_PADDING:.0f}" y="{top:.1f}" '
                f'font-size="{_LABEL_SIZE}">{escape(f"{condition} → {number}")}</text></a>'
            )
        top += _RUNG_GAP
    width = max(box.size.width for box in boxes.values())
    return _element(workflow, width + 2 * _MARGIN, top + 2 * _MARGIN, "".join(parts))


def _box(step: Step, number: int, shown: StepShown | None) -> _StepBox:
    lines = _wrap(step.text, _LINE_LENGTH, _MOST_LINES)
    code = _shorten(" ".join(step.commands[0].split()), _LINE_LENGTH) if step.commands else ""
    if len(step.commands) > 1:
        code = f"{_shorten(code, _LINE_LENGTH - 4)} +{len(step.commands) - 1}"
    text_width = max(_width(line, _TEXT_SIZE) for line in lines)
    notes = _note_count(step)
    width = max(text_width, 7.3 * _columns(code), _width(notes, _LABEL_SIZE), 56.0) + 2 * _PADDING
    mark = f"{number}?" if step.doubt else str(number)
    mark = f"{_STATE_SIGNS[shown]} {mark}" if shown else mark
    width += _NUMBER_WIDTH * len(mark) + 7
    more = bool(code) + bool(notes)
    height = (len(lines) + more) * _LINE_HEIGHT + 2 * _PADDING - 4
    if step.kind is not StepKind.PROCESS:
        width += 2 * _POINT if step.kind is StepKind.DECISION else _PADDING
    return _StepBox(step, mark, lines, code, Size(width, height), shown)


def _note_count(step: Step) -> str:
    return f"+{len(step.notes)} note{'' if len(step.notes) == 1 else 's'}" if step.notes else ""


def _label(condition: str) -> _Label | None:
    if not condition.strip():
        return None
    lines = _wrap(condition, _LABEL_LENGTH, _LABEL_LINES)
    width = max(_width(line, _LABEL_SIZE) for line in lines) + 8
    return _Label(_clean(condition), lines, Size(width, len(lines) * _LABEL_HEIGHT + 4))


def _wrap(text: str, columns: int, most: int) -> tuple[str, ...]:
    """Wrap the text at `columns`; wide characters count twice, long words are broken."""
    lines: list[str] = [""]
    for word in _clean(text).split():
        for piece in _pieces(word, columns):
            joined = f"{lines[-1]} {piece}".strip()
            if _columns(joined) <= columns:
                lines[-1] = joined
            else:
                lines.append(piece)
    if len(lines) > most:
        lines = [*lines[: most - 1], _shorten(f"{lines[most - 1]} {lines[most]}", columns - 1)]
        lines[-1] = f"{lines[-1].rstrip('…')}…"
    return tuple(lines)


def _pieces(word: str, columns: int) -> Iterator[str]:
    while _columns(word) > columns:
        cut = next(i for i in range(len(word), 0, -1) if _columns(word[:i]) <= columns)
        yield word[:cut]
        word = word[cut:]
    yield word


def _shorten(text: str, columns: int) -> str:
    text = _clean(text)
    if _columns(text) <= columns:
        return text
    while _columns(text) > columns - 1:
        text = text[: -max(1, (_columns(text) - columns) // 2)]
    return f"{text.rstrip()}…"


def _clean(text: str) -> str:
    """Replace characters that XML does not allow."""
    return _UNPRINTABLE.sub("\ufffd", text)


def _columns(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in text)


def _width(text: str, size: int) -> float:
    """Estimate the width in a common sans-serif font, rather too wide than too narrow."""
    return size * sum(_em(character) for character in text)


def _em(character: str) -> float:
    if character in _NARROW:
        return 0.37
    if character in _WIDE or unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.72 if character.isupper() else 0.61


def _step(box: _StepBox, x: float, y: float, link: StepLink) -> str:
    step, width, height = box.step, box.size.width, box.size.height
    left = x - width / 2
    dash = "" if step.is_sourced else ' stroke-dasharray="5 4"'
    marks = "" if step.is_sourced else ", no source"
    marks += ", not sure" if step.doubt else ""
    marks += _STATE_PHRASES[box.shown] if box.shown else ""
    number = box.number.rstrip("?").split()[-1]
    name = f"Step {number}, {step.kind}{marks}: {_clean(step.text)}"
    faint = ' opacity="0.4"' if box.shown is StepShown.ASIDE else ""
    thick = 3.5 if box.shown is StepShown.NEXT else 1.5
    state = f" {box.shown}" if box.shown else ""
    doubt = (f"Not sure: {step.doubt}",) if step.doubt else ()
    settled = (f"{step.settled}. {step.settled_by}",) if step.settled else ()
    notes = (f"Note: {note}" for note in step.notes)
    full = "\n".join((step.text, *step.commands, *notes, *doubt, *settled))
    return (
        f'<a href="{escape(link(step.id))}" class="step {step.kind}{state}"{faint} '
        f'data-step="{escape(_clean(step.id))}" aria-label="{escape(name)}">'
        f"<title>{escape(_clean(full))}</title>"
        f'{_outline(step.kind, left, y, width, height)} fill="{_STROKES[step.kind]}" '
        f'fill-opacity="{_FILL_OPACITY[step.kind]}" stroke="{_STROKES[step.kind]}" '
        f'stroke-width="{thick}"{dash}/>{_words(box, left, y)}</a>'
    )


def _outline(kind: StepKind, left: float, top: float, width: float, height: float) -> str:
    """Return the opening of the shape's element."""
    if kind is StepKind.DECISION:
        right, bottom, middle = left + width, top + height, top + height / 2
        corners = (
            (left, middle), (left + _POINT, top), (right - _POINT, top),
            (right, middle), (right - _POINT, bottom), (left + _POINT, bottom),
        )  # fmt: skip
        return f'<polygon points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"'
    radius = min(height / 2, 24.0) if kind is StepKind.TERMINAL else 6.0
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" '
        f'rx="{radius:.1f}"'
    )


def _words(box: _StepBox, left: float, top: float) -> str:
    inset = {StepKind.PROCESS: 0.0, StepKind.DECISION: _POINT, StepKind.TERMINAL: _PADDING / 2}
    start = left + _PADDING + inset[box.step.kind]
    text_start = start + _NUMBER_WIDTH * len(box.number) + 7
    baseline = top + _PADDING + _TEXT_SIZE - 2
    parts = [
        (
            f'<text x="{start:.1f}" y="{baseline:.1f}" font-weight="700" fill-opacity="0.55">'
            f"{box.number}</text>"
        )
    ]
    for i, line in enumerate(box.lines):
        parts.append(
            f'<text x="{text_start:.1f}" y="{baseline + i * _LINE_HEIGHT:.1f}">'
            f"{escape(line)}</text>"
        )
    if box.code:
        parts.append(
            f'<text x="{text_start:.1f}" y="{baseline + len(box.lines) * _LINE_HEIGHT:.1f}" '
            f'font-family="ui-monospace, monospace" font-size="{_CODE_SIZE}" fill-opacity="0.75">'
            f"{escape(box.code)}</text>"
        )
    if notes := _note_count(box.step):
        row = len(box.lines) + bool(box.code)
        parts.append(
            f'<text x="{text_start:.1f}" y="{baseline + row * _LINE_HEIGHT:.1f}" '
            f'font-size="{_LABEL_SIZE}" font-style="italic" fill-opacity="0.75">{notes}</text>'
        )
    return "".join(parts)


def _arrow(route: Route, label: _Label | None, holds: bool | None) -> str:
    """Draw an arrow: thick if it holds, faint if it is ruled out."""
    x, y = route.end
    width = 3 if holds else 1.5
    faint = ' opacity="0.35"' if holds is False else ""
    line = (
        f'<path d="{_path(route)}" fill="none" stroke="currentColor" stroke-opacity="0.6" '
        f'stroke-width="{width}"/>'
    )
    head = (
        f'<path d="M{x:.1f} {y:.1f}l{-_ARROW_WIDTH} {-_ARROW_LENGTH}h{2 * _ARROW_WIDTH}z" '
        'fill-opacity="0.75"/>'
    )
    words = ""
    if label and route.label_at:
        x, y = route.label_at
        top = y - label.size.height / 2 + _LABEL_SIZE + 1
        words = "".join(
            f'<text x="{x:.1f}" y="{top + i * _LABEL_HEIGHT:.1f}" text-anchor="middle" '
            f'font-size="{_LABEL_SIZE}" font-style="italic">{escape(line)}</text>'
            for i, line in enumerate(label.lines)
        )
        words = f"<g><title>{escape(label.text)}</title>{words}</g>"
    return f'<g class="arrow"{faint}>{line}{head}{words}</g>'


def _path(route: Route) -> str:
    """Return the path data: rounded corners for an upward arrow, waves for a downward one."""
    parts = []
    for stroke in route.strokes:
        x, y = stroke[0]
        parts.append(f"M{x:.1f} {y:.1f}")
        if route.is_upward:
            for before, corner, after in zip(stroke, stroke[1:], stroke[2:], strict=False):
                (x0, y0), (x1, y1) = _towards(corner, before), _towards(corner, after)
                x, y = corner
                parts.append(f"L{x0:.1f} {y0:.1f}Q{x:.1f} {y:.1f} {x1:.1f} {y1:.1f}")
            x, y = stroke[-1]
            parts.append(f"L{x:.1f} {y:.1f}")
            continue
        for (x0, y0), (x1, y1) in pairwise(stroke):
            if abs(x0 - x1) < 0.5:
                parts.append(f"V{y1:.1f}")
            else:
                y = (y0 + y1) / 2
                parts.append(f"C{x0:.1f} {y:.1f} {x1:.1f} {y:.1f} {x1:.1f} {y1:.1f}")
    return "".join(parts)


def _towards(corner: Point, other: Point) -> Point:
    """Return the point where the rounding of a corner begins."""
    length = math.dist(corner, other)
    share = min(_CORNER, length / 2) / length if length else 0.0
    return (
        corner[0] + (other[0] - corner[0]) * share,
        corner[1] + (other[1] - corner[1]) * share,
    )
