"""Sections of a page of several tasks that stand open for a ticket."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from services.knowledge.document.roles import role_of_heading
from services.knowledge.page.block import BlockKind, Page, Place, Section
from services.procedure.checklist.sections import WORD, family_of, is_name, names_alert

_NEAR = 0.75
"""Share of the best task's weight from which a second one stands open too. Of 72 tasks of nine
pages, each searched by 25 of its words, the one that another task surpassed came so near, and six
of the 71 that were best had another task so near."""
_PASSAGES = 2
"""Best passages that count for a section: a long section is not asked for because it is long."""
_MOST_OPEN = 2
_FEWEST_SISTERS = 3
_PUNCTUATION = re.compile(r"[\W_]+")
_END_OF_LABEL = re.compile(r"\s*[:：]\s+|\s+[-–—|(]\s*|^\d+[.)]\s+")
"""What divides the name in a heading from other words: `3. FanStopped (critical)`."""


def open_sections(
    page: Page,
    tasks: Sequence[Section],
    *,
    alert_names: Collection[str],
    anchor: str,
    lines: Mapping[int, float],
) -> tuple[str, ...]:
    """Return the keys of the headings that stand open; none where the whole page does.

    A heading that names the alert decides, or the only section that names it in its first line;
    then one that the `anchor` of the alert's runbook leads to; then the weight of passages: `lines`
    are their scores by their first line; those of all sections of the page tell more than the few
    best. The sections asked for come first, behind them the sisters that are no tasks.
    """
    headings = [place for place in page.places() if place.block.kind is BlockKind.HEADING]
    acting = _acting(page)
    named = [place for place in headings if _names(place.block.text, alert_names)]
    named = named or _named_below(page, headings, alert_names)
    named = [place for place in named if place.block.key in acting]
    linked = [
        p for p in headings if p.block.key == page.anchors.get(anchor) and p.block.key in acting
    ]
    asked_for = (
        _sections_at(named, headings, are_named=True)
        or _tasks_around(named, tasks)
        or _tasks_around(linked, tasks)
        or (() if tasks else _sections_at(linked, headings))
        or _nearest(tasks, lines)
    )
    return _with_sisters(asked_for, tasks, headings) if asked_for else ()


def _acting(page: Page) -> set[str]:
    """Return the keys of the headings below which there is code or a list: something to do."""
    return {
        heading.key
        for place in page.places()
        if place.block.kind in {BlockKind.CODE, BlockKind.ITEM}
        for heading in place.headings
    }


def _names(text: str, alert_names: Collection[str]) -> bool:
    """Return whether words are the name of one of the alerts, or have it among them.

    Only a name that is written as one word may stand among others.
    """
    label = next(filter(None, _END_OF_LABEL.split(text)), text)
    whole = {_bare(text), _bare(label)} - {""}
    words = {_bare(word) for word in WORD.findall(text)}
    return any(
        _bare(name) in whole or (is_name(name) and _bare(name) in words) for name in alert_names
    )


def _named_below(
    page: Page, headings: Sequence[Place], alert_names: Collection[str]
) -> list[Place]:
    """Return the heading of the only section whose first line names one of the alerts.

    It must be one of a row: on a page of one alert a section that tells what it means names it too.
    """
    first = {
        section.heading.key: next(_first_words(section))
        for section in page.sections()
        if section.heading and section.blocks
    }
    levels = Counter(
        place.block.level
        for place in headings
        if names_alert(first.get(place.block.key, "")) and not _is_phase(place)
    )
    names = [name for name in alert_names if is_name(name)]
    found = [place for place in headings if _names(first.get(place.block.key, ""), names)]
    is_one_of_a_row = (
        len(found) == 1
        and not _is_phase(found[0])
        and levels[found[0].block.level] >= _FEWEST_SISTERS
    )
    return found if is_one_of_a_row else []


def _first_words(section: Section) -> Iterator[str]:
    """Yield what the first block below a heading that has words says; nothing at last."""
    below = (block for top in section.blocks for block in top.walk())
    yield from (block.text for block in below if block.text and block is not section.heading)
    yield ""


def _bare(text: str) -> str:
    return _PUNCTUATION.sub("", text.casefold())


def _tasks_around(wanted: Sequence[Place], tasks: Sequence[Section]) -> tuple[str, ...]:
    """Return the tasks that these headings are or stand in."""
    at = [place.block.start_line for place in wanted]
    return tuple(
        _key(task) for task in tasks if any(task.start_line <= line <= task.end_line for line in at)
    )


def _sections_at(
    wanted: Sequence[Place], headings: Sequence[Place], *, are_named: bool = False
) -> tuple[str, ...]:
    """Return those of these headings whose sections can be asked for by themselves.

    They name no phase and stand beside others of their level below the same heading; alerts, and
    what names the alert, anywhere on the page. Where one heading alone names the alert, it is no
    phase.
    """
    is_the_one = are_named and len(wanted) == 1
    others = [place for place in headings if not _is_phase(place)]
    sisters = Counter(map(family_of, others))
    levels = Counter(place.block.level for place in others)
    alerts = Counter(place.block.level for place in headings if names_alert(place.block.text))

    def is_task(place: Place) -> bool:
        level = place.block.level
        if names_alert(place.block.text) and alerts[level] >= _FEWEST_SISTERS:
            return True
        beside = levels[level] if are_named else sisters[family_of(place)]
        return (is_the_one or not _is_phase(place)) and beside >= _FEWEST_SISTERS

    return tuple(place.block.key for place in wanted if is_task(place))


def _nearest(tasks: Sequence[Section], lines: Mapping[int, float]) -> tuple[str, ...]:
    """Return the task with the best passages, and a second one that comes near.

    Scores count above those of the page's farthest task, as all text about one system is somewhat
    alike. Where more than two come near nothing tells the tasks apart: none.
    """
    weights = [_weight(task, lines) for task in tasks]
    least = min(weights, default=0.0)
    bar = least + _NEAR * (max(weights, default=0.0) - least)
    found = zip(weights, tasks, strict=True)
    near = sorted((each for each in found if each[0] > least and each[0] >= bar), key=_by_weight)
    return tuple(_key(task) for _, task in near) if len(near) <= _MOST_OPEN else ()


def _by_weight(weighed: tuple[float, Section]) -> float:
    return -weighed[0]


def _weight(task: Section, lines: Mapping[int, float]) -> float:
    inside = [score for line, score in lines.items() if task.start_line <= line <= task.end_line]
    return sum(sorted(inside, reverse=True)[:_PASSAGES])


def _with_sisters(
    asked_for: tuple[str, ...], tasks: Sequence[Section], headings: Sequence[Place]
) -> tuple[str, ...]:
    """Return with the sections asked for what stands beside them and is of the whole page."""
    families = {family_of(place) for place in headings if place.block.key in asked_for}
    keys = {_key(task) for task in tasks}
    are_tasks = keys.issuperset(asked_for)
    beside = (
        place.block.key
        for place in headings
        if family_of(place) in families
        and place.block.key not in asked_for
        and (place.block.key not in keys if are_tasks else _is_phase(place))
    )
    return (*asked_for, *beside)


def _is_phase(place: Place) -> bool:
    title = place.block.text
    is_label = any(is_name(part.strip(" )")) for part in _END_OF_LABEL.split(title))
    return not is_label and role_of_heading(title) is not None


def _key(section: Section) -> str:
    return section.heading.key if section.heading else ""
