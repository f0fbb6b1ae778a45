"""Sections of a page of several tasks that stand open for a ticket."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from services.knowledge.document.roles import role_of_heading
from services.knowledge.page.block import BlockKind, Page, Place, Section
from services.language.names import is_identifier
from services.procedure.checklist.sections import END_OF_LABEL, family_of, names_alert

_NEAR = 0.75
"""Share of the best task's weight from which a second one stands open too. Of 72 tasks of nine
pages, each searched by 25 of its words, the one that another task surpassed came so near, and six
of the 71 that were best had another task so near."""
_PASSAGES = 2
"""Best passages that count for a section: a long section is not asked for because it is long."""
_MOST_OPEN = 2
_FEWEST_SISTERS = 3
_PUNCTUATION = re.compile(r"[\W_]+")


def open_sections(
    page: Page,
    tasks: Sequence[Section],
    *,
    alert_names: Collection[str],
    anchor: str,
    lines: Mapping[int, float],
) -> tuple[str, ...]:
    """Return the keys of the headings that stand open; none where the whole page does.

    A heading that is an alert's own name decides, then one that the `anchor` of the alert's
    runbook leads to, then the weight of passages: `lines` are their scores by their first line;
    those of all sections of the page tell more than the few best.
    The sections asked for come first, behind them the sisters that are no tasks.
    """
    headings = [place for place in page.places() if place.block.kind is BlockKind.HEADING]
    named = [place for place in headings if _is_named(place.block.text, alert_names)]
    linked = [place for place in headings if place.block.key == page.anchors.get(anchor)]
    asked_for = (
        _tasks_of_headings(named, tasks, headings)
        or _tasks_of_headings(linked, tasks, headings)
        or _nearest(tasks, lines)
    )
    return _with_sisters(asked_for, tasks, headings) if asked_for else ()


def _is_named(title: str, alert_names: Collection[str]) -> bool:
    """Return whether a heading is the name of one of the alerts, alone or before other words.

    A name that is written as one word may stand anywhere in the heading.
    """
    wanted = {bare for name in alert_names if (bare := _bare(name))}
    label = next(filter(None, END_OF_LABEL.split(title)), title)
    whole = {_bare(title), _bare(label)}
    words = {_bare(word) for word in title.split()}
    identifiers = {_bare(name) for name in alert_names if is_identifier(name)}
    return bool(wanted & whole or identifiers & words)


def _bare(text: str) -> str:
    return _PUNCTUATION.sub("", text.casefold())


def _tasks_of_headings(
    wanted: Sequence[Place], tasks: Sequence[Section], headings: Sequence[Place]
) -> tuple[str, ...]:
    """Return the tasks that these headings are or stand in.

    On a page whose form does not say that it has several, these are the headings themselves that
    stand beside others of their level and name no phase; alerts of one level are beside each other
    wherever they are grouped.
    """
    if tasks:
        at = [place.block.start_line for place in wanted]
        return tuple(
            _key(task)
            for task in tasks
            if any(task.start_line <= line <= task.end_line for line in at)
        )
    sisters = Counter(family_of(place) for place in headings if not _is_phase(place))
    alerts = Counter(place.block.level for place in headings if names_alert(place.block.text))
    return tuple(
        place.block.key
        for place in wanted
        if (not _is_phase(place) and sisters[family_of(place)] >= _FEWEST_SISTERS)
        or (names_alert(place.block.text) and alerts[place.block.level] >= _FEWEST_SISTERS)
    )


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
    beside = (
        place.block.key
        for place in headings
        if family_of(place) in families
        and place.block.key not in asked_for
        and (place.block.key not in keys if tasks else _is_phase(place))
    )
    return (*asked_for, *beside)


def _is_phase(place: Place) -> bool:
    title = place.block.text
    return not names_alert(title) and role_of_heading(title) is not None


def _key(section: Section) -> str:
    return section.heading.key if section.heading else ""
