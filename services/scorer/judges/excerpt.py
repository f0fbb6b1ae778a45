"""The lines of a page that a question is about, with what stands around them."""

from collections.abc import Iterable, Iterator

from services.procedure.evidence.page_lines import CitedPages, Lines

_BEFORE, _BEHIND = 3, 4
"""Lines shown around: a condition stands before what it holds for, its `otherwise` behind it."""
_MOST_LINES = 60
_LONGEST_LINE = 400
"""Characters; tables and output have longer ones that no step is told by."""


def excerpt(source: CitedPages, about: Iterable[Lines]) -> str:
    """Numbered lines under their headings and list items; a gap is an ellipsis."""
    cited = [lines for lines in about if lines]
    page = min((min(lines) for lines in cited), default=0)
    wanted = {line for lines in cited for line in _around(source, lines)}
    shown = [line for line in sorted(wanted) if source.is_same_page(line, page)][:_MOST_LINES]
    return "\n".join(_numbered(source, shown))


def _around(source: CitedPages, lines: Lines) -> Iterator[int]:
    first, last = min(lines), max(lines)
    yield from range(max(first - _BEFORE, source.first_line(first)), last + _BEHIND + 1)
    place = source.place(first)
    yield from place.items
    yield from (line for line in place.sections if source.is_heading(line))


def _numbered(source: CitedPages, lines: list[int]) -> Iterator[str]:
    before = lines[0] if lines else 0
    for line in lines:
        text = source.text((line,)).rstrip()[:_LONGEST_LINE]
        if not text:
            continue
        if any(source.text((between,)).strip() for between in range(before + 1, line)):
            yield "…"
        yield f"{source.local(line)} | {text}"
        before = line
