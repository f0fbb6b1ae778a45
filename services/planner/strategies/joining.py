"""Workflows of several pages as one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from services.language.names import is_alert_name
from services.workflow.model import Step, StepKind, Transition, Workflow

MOST_STEPS = 120
"""Of a joined workflow; a longer one is no help at night, and the link stays an end."""
_LEAST_TITLE = 2
"""Words of a title that tell a page from a word of the sentence."""


class Drawable(Protocol):
    """A page that draws its workflow when it is named."""

    def workflow(self) -> Workflow:
        """Its graph."""


Page = TypeVar("Page", bound=Drawable)


def chained(parts: Sequence[Workflow], *, title: str) -> Workflow:
    """One after the other: who comes to no end that a page states goes on with the next part.

    Parts that would make it too long are left out.
    """
    whole = parts[0]
    for part in parts[1:]:
        open_ends = {s.id for s in whole.of_kind(StepKind.TERMINAL) if s.implied}
        if len(whole.steps) + len(part.steps) <= MOST_STEPS:
            whole = _joined(whole, part, open_ends, keep=False)
    return whole.model_copy(update={"title": title})


def continued(workflow: Workflow, pages: Mapping[str, Page]) -> tuple[Workflow, list[Page]]:
    """With each end that says the name of another page followed by that page's workflow.

    `pages` by their names. A page joins once; its own ends name nobody any more. Those that joined
    come with it.
    """
    joined: list[Page] = []
    for step in [s for s in workflow.of_kind(StepKind.TERMINAL) if not s.implied]:
        page = _named(step.text, pages)
        if page is None or page in joined:
            continue
        part = page.workflow()
        if len(workflow.steps) + len(part.steps) <= MOST_STEPS:
            workflow = _joined(workflow, part, {step.id}, keep=True)
            joined.append(page)
    return workflow, joined


def is_title(text: str, titles: Iterable[str]) -> bool:
    """Whether it says nothing but the title of one of these pages, or the end of it."""
    said = f" {_words(text)}"
    return len(said.split()) >= _LEAST_TITLE and any(
        f" {_words(title)}".endswith(said) for title in titles
    )


def names_a_page(title: str, *, is_linked: bool) -> bool:
    """Whether a sentence that says this title means the page: an alert's name, or a linked one.

    Other titles may stand in any sentence, and several pages may bear one.
    """
    is_told = is_linked and len(_words(title).split()) >= _LEAST_TITLE
    return is_told or is_alert_name(title.strip("` "))


def _named(text: str, pages: Mapping[str, Page]) -> Page | None:
    said = f" {_words(text)} "
    return next((page for name, page in pages.items() if f" {_words(name)} " in said), None)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _joined(first: Workflow, second: Workflow, ends: set[str], *, keep: bool) -> Workflow:
    """`second` in place of these ends of `first`, or behind them where they are kept as steps."""
    numbers = {step.id: f"s{len(first.steps) + n}" for n, step in enumerate(second.steps, start=1)}
    entry = numbers[second.steps[0].id]
    steps = [_opened(step, ends) for step in first.steps if keep or step.id not in ends]
    steps += [step.model_copy(update={"id": numbers[step.id]}) for step in second.steps]
    arrows = [
        arrow if keep or arrow.target not in ends else arrow.model_copy(update={"target": entry})
        for arrow in first.transitions
    ]
    arrows += [Transition(source=end, target=entry) for end in sorted(ends) if keep]
    arrows += [
        Transition(source=numbers[a.source], target=numbers[a.target], condition=a.condition)
        for a in second.transitions
    ]
    return _renumbered(first.title, steps, arrows)


def _opened(step: Step, ends: set[str]) -> Step:
    return step.model_copy(update={"kind": StepKind.PROCESS}) if step.id in ends else step


def _renumbered(title: str, steps: Sequence[Step], arrows: Sequence[Transition]) -> Workflow:
    numbers = {step.id: f"s{place}" for place, step in enumerate(steps, start=1)}
    steps, arrows = _settled(steps, arrows)
    return Workflow(
        title=title,
        steps=tuple(step.model_copy(update={"id": numbers[step.id]}) for step in steps),
        transitions=tuple(
            Transition(source=numbers[a.source], target=numbers[a.target], condition=a.condition)
            for a in arrows
        ),
    )


def _settled(
    steps: Sequence[Step], arrows: Sequence[Transition]
) -> tuple[list[Step], list[Transition]]:
    """A question whose answers now lead to one step is only something to look at."""
    targets: dict[str, set[str]] = {}
    for arrow in arrows:
        targets.setdefault(arrow.source, set()).add(arrow.target)
    moot = {
        step.id
        for step in steps
        if step.kind is StepKind.DECISION and len(targets.get(step.id, ())) == 1
    }
    looked_at = [
        step.model_copy(update={"kind": StepKind.PROCESS, "text": f"Check: {step.text}"})
        if step.id in moot
        else step
        for step in steps
    ]
    kept = {
        (a.source, a.target): a.model_copy(update={"condition": ""}) if a.source in moot else a
        for a in reversed(arrows)
    }
    ordered = [a for a in arrows if a.source not in moot]
    return looked_at, ordered + [arrow for arrow in kept.values() if arrow.source in moot]
