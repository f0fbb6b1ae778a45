"""Choice of the open sections for a ticket, on a page of several tasks."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from services.knowledge.document.roles import role_of_heading
from services.knowledge.page.block import BlockKind, Page, Place, Section
from services.runbook.checklist.sections import WORD, family_of, is_name, names_alert

_NEAR_SHARE = 0.75
"""The share of the best task's weight from which a second task is opened too.

Of 72 tasks of nine pages, each searched by 25 of its words, the one that another task surpassed
came so near, and six of the 71 that were best had another task so near.
"""
_COUNTED_PASSAGES = 2
"""Best passages that count for a section, so that a long one gains nothing by its length."""
_MOST_OPEN = 2
_FEWEST_SIBLINGS = 3
_PUNCTUATION = re.compile(r"[\W_]+")
_END_OF_LABEL = re.compile(r"\s*[:：]\s+|\s+[-–—|(]\s*|^\d+[.)]\s+")
"""Separators of a heading's name from other words: `3. FanStopped (critical)`."""


def open_sections(
    page: Page,
    tasks: Sequence[Section],
    *,
    alert_names: Collection[str],
    anchor: str,
    lines: Mapping[int, float],
) -> tuple[str, ...]:
    """Return the keys of the headings to open; none if the whole page stands open.

    A heading that names the alert decides, or the only section that names it in its first line.
    Next comes the heading that the `anchor` of the alert's runbook leads to, last the weight of
    passages. `lines` are their scores by their first line; scores of all sections of the page tell
    more than the few best. The requested sections come first, then siblings that are no tasks.
    """
    headings = [place for place in page.places() if place.block.kind is BlockKind.HEADING]
    with_steps = {
        heading.key
        for place in page.places()
        if place.block.kind in {BlockKind.CODE, BlockKind.ITEM}
        for heading in place.headings
    }
    matches = [place for place in headings if _names_alert(place.block.text, alert_names)]
    matches = matches or _named_in_first_line(page, headings, alert_names)
    matches = [place for place in matches if place.block.key in with_steps]
    linked = [
        p for p in headings if p.block.key == page.anchors.get(anchor) and p.block.key in with_steps
    ]
    requested = (
        _sections_at(matches, headings, are_named=True)
        or _tasks_around(matches, tasks)
        or _tasks_around(linked, tasks)
        or (() if tasks else _sections_at(linked, headings))
        or _nearest(tasks, lines)
    )
    return _with_siblings(requested, tasks, headings) if requested else ()


def _names_alert(text: str, alert_names: Collection[str]) -> bool:
    """Return True if the text is the name of one of the alerts, or has it among its words.

    Only a name that is written as one word may stand among others.
    """
    label = next(filter(None, _END_OF_LABEL.split(text)), text)
    whole = {_letters(text), _letters(label)} - {""}
    words = {_letters(word) for word in WORD.findall(text)}
    return any(
        _letters(name) in whole or (is_name(name) and _letters(name) in words)
        for name in alert_names
    )


def _named_in_first_line(
    page: Page, headings: Sequence[Place], alert_names: Collection[str]
) -> list[Place]:
    """Return the heading of the only section whose first line names one of the alerts.

    It must have siblings: on a page of one alert the section about its meaning names it too.
    """
    first: dict[str, str] = {}
    for section in page.sections():
        below = (block for top in section.blocks for block in top.walk())
        texts = (block.text for block in below if block.text and block is not section.heading)
        if section.heading and section.blocks:
            first[section.heading.key] = next(texts, "")
    levels = Counter(
        place.block.level
        for place in headings
        if names_alert(first.get(place.block.key, "")) and not _is_phase(place)
    )
    names = [name for name in alert_names if is_name(name)]
    matches = [place for place in headings if _names_alert(first.get(place.block.key, ""), names)]
    is_one_of_a_row = (
        len(matches) == 1
        and not _is_phase(matches[0])
        and levels[matches[0].block.level] >= _FEWEST_SIBLINGS
    )
    return matches if is_one_of_a_row else []


def _letters(text: str) -> str:
    return _PUNCTUATION.sub("", text.casefold())


def _tasks_around(headings: Sequence[Place], tasks: Sequence[Section]) -> tuple[str, ...]:
    """Return the keys of the tasks that these headings are, or are inside of."""
    lines = [place.block.start_line for place in headings]
    return tuple(
        _key(task)
        for task in tasks
        if any(task.start_line <= line <= task.end_line for line in lines)
    )


def _sections_at(
    matches: Sequence[Place], headings: Sequence[Place], *, are_named: bool = False
) -> tuple[str, ...]:
    """Return those of the headings whose sections can be opened by themselves.

    They name no phase and have siblings: headings of their level below the same heading. For
    alerts, and for a heading that names the alert, siblings may be anywhere on the page. A heading
    that alone names the alert may name a phase.
    """
    is_the_one = are_named and len(matches) == 1
    others = [place for place in headings if not _is_phase(place)]
    siblings = Counter(map(family_of, others))
    levels = Counter(place.block.level for place in others)
    alerts = Counter(place.block.level for place in headings if names_alert(place.block.text))

    def is_task(place: Place) -> bool:
        level = place.block.level
        if names_alert(place.block.text) and alerts[level] >= _FEWEST_SIBLINGS:
            return True
        sibling_count = levels[level] if are_named else siblings[family_of(place)]
        return (is_the_one or not _is_phase(place)) and sibling_count >= _FEWEST_SIBLINGS

    return tuple(place.block.key for place in matches if is_task(place))


def _nearest(tasks: Sequence[Section], lines: Mapping[int, float]) -> tuple[str, ...]:
    """Return the task with the best passages, and a second one that comes near.

    Scores count above the page's lowest one, as all text about one system is somewhat similar. None
    if more than two come near: then nothing tells the tasks apart.
    """
    weights = []
    for task in tasks:
        inside = (score for n, score in lines.items() if task.start_line <= n <= task.end_line)
        weights.append(sum(sorted(inside, reverse=True)[:_COUNTED_PASSAGES]))
    lowest = min(weights, default=0.0)
    bar = lowest + _NEAR_SHARE * (max(weights, default=0.0) - lowest)
    weighted = zip(weights, tasks, strict=True)
    candidates = sorted(
        (each for each in weighted if each[0] > lowest and each[0] >= bar),
        key=lambda each: -each[0],
    )
    return tuple(_key(task) for _, task in candidates) if len(candidates) <= _MOST_OPEN else ()


def _with_siblings(
    requested: tuple[str, ...], tasks: Sequence[Section], headings: Sequence[Place]
) -> tuple[str, ...]:
    """Add to the requested sections their siblings that concern the whole page."""
    families = {family_of(place) for place in headings if place.block.key in requested}
    keys = {_key(task) for task in tasks}
    are_tasks = keys.issuperset(requested)
    siblings = (
        place.block.key
        for place in headings
        if family_of(place) in families
        and place.block.key not in requested
        and (place.block.key not in keys if are_tasks else _is_phase(place))
    )
    return (*requested, *siblings)


def _is_phase(place: Place) -> bool:
    title = place.block.text
    is_label = any(is_name(part.strip(" )")) for part in _END_OF_LABEL.split(title))
    return not is_label and role_of_heading(title) is not None


def _key(section: Section) -> str:
    return section.heading.key if section.heading else ""
