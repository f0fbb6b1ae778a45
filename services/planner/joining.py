"""Joining of workflows of several pages into one."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, TypeVar

from services.language.names import is_alert_name
from services.runbook.lowering import NONE_OF_THESE, OPEN_TEXT, distinct_label
from services.workflow.model import Step, StepKind, Transition, Workflow

MOST_STEPS = 120
"""Limit on a joined workflow; a longer one helps nobody at night, so the link stays an end."""
WHICH_TEXT = "Which of these is it?"
_LEAST_TITLE = 2
"""Minimum of words by which a title differs from words of a sentence."""


class Drawable(Protocol):
    """A page that can draw its workflow when another one names it."""

    def workflow(self) -> Workflow:
        """Return its graph."""


DrawablePage = TypeVar("DrawablePage", bound=Drawable)


def chain_workflows(parts: Sequence[Workflow], *, title: str) -> Workflow:
    """Chain the parts: each implied end, with the question before it, continues with the next part.

    Parts that would make it too long are left out.
    """
    whole = parts[0]
    for part in parts[1:]:
        open_ends = {s.id for s in whole.of_kind(StepKind.TERMINAL) if s.implied}
        open_ends |= {
            s.id
            for s in whole.of_kind(StepKind.DECISION)
            if s.implied and all(edge.target in open_ends for edge in whole.exits(s.id))
        }
        if len(whole.steps) + len(part.steps) <= MOST_STEPS:
            whole = _join(whole, part, open_ends, keep=False)
    return whole.model_copy(update={"title": title})


def choose_among(parts: Sequence[Workflow], *, title: str) -> Workflow:
    """Return the parts behind one question, whose answers are their titles.

    Ends that nobody wrote are shared. Parts that would make it too long are left out, the last ones
    first.
    """
    question = Step(id="s1", kind=StepKind.DECISION, text=WHICH_TEXT, implied=True)
    steps, arrows = [question], list[Transition]()
    shared: dict[str, str] = {}
    answers = {NONE_OF_THESE.casefold()}
    for number, part in enumerate(parts, start=1):
        if len(steps) + len(part.steps) > MOST_STEPS and len(steps) > 1:
            continue
        new_ids: dict[str, str] = {}
        for step in part.steps:
            is_shared = step.implied and step.kind is StepKind.TERMINAL
            id_ = f"s{len(steps) + 1}"
            new_ids[step.id] = shared.setdefault(step.text, id_) if is_shared else id_
            if new_ids[step.id] == id_:
                steps.append(step.model_copy(update={"id": id_}))
        answer = distinct_label(part.title.strip() or f"Procedure {number}", answers)
        answers.add(answer.casefold())
        arrows.append(Transition(source="s1", target=new_ids[part.steps[0].id], condition=answer))
        arrows += [
            Transition(source=new_ids[a.source], target=new_ids[a.target], condition=a.condition)
            for a in part.transitions
        ]
    if OPEN_TEXT not in shared:
        shared[OPEN_TEXT] = f"s{len(steps) + 1}"
        steps.append(
            Step(id=shared[OPEN_TEXT], kind=StepKind.TERMINAL, text=OPEN_TEXT, implied=True)
        )
    arrows.append(Transition(source="s1", target=shared[OPEN_TEXT], condition=NONE_OF_THESE))
    return Workflow(title=title, steps=tuple(steps), transitions=tuple(arrows))


def append_named_pages(
    workflow: Workflow, pages: Mapping[str, DrawablePage]
) -> tuple[Workflow, list[DrawablePage]]:
    """Append to each end that names another page the workflow of that page.

    `pages` by their names. A page joins once; its own ends name nobody any more. Those that joined
    come with it.
    """
    joined: list[DrawablePage] = []
    for step in [s for s in workflow.of_kind(StepKind.TERMINAL) if not s.implied]:
        words = f" {_words(step.text)} "
        page = next((p for name, p in pages.items() if f" {_words(name)} " in words), None)
        if page is None or page in joined:
            continue
        part = page.workflow()
        if len(workflow.steps) + len(part.steps) <= MOST_STEPS:
            workflow = _join(workflow, part, {step.id}, keep=True)
            joined.append(page)
    return workflow, joined


def is_title(text: str, titles: Iterable[str]) -> bool:
    """Return True if the text is just the title of one of these pages, or the end of one."""
    words = f" {_words(text)}"
    return len(words.split()) >= _LEAST_TITLE and any(
        f" {_words(title)}".endswith(words) for title in titles
    )


def names_a_page(title: str, *, is_linked: bool) -> bool:
    """Tell whether a sentence with this title means the page: an alert's name, or a linked page.

    Other titles may stand in any sentence, and several pages may bear one.
    """
    is_linked_title = is_linked and len(_words(title).split()) >= _LEAST_TITLE
    return is_linked_title or is_alert_name(title.strip("` "))


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _join(first: Workflow, second: Workflow, ends: set[str], *, keep: bool) -> Workflow:
    """Put `second` in place of these ends of `first`, or after them if they are kept as steps."""
    numbers = {step.id: f"s{len(first.steps) + n}" for n, step in enumerate(second.steps, start=1)}
    entry = numbers[second.steps[0].id]
    opened = {"kind": StepKind.PROCESS}
    steps = [
        step.model_copy(update=opened) if step.id in ends else step
        for step in first.steps
        if keep or step.id not in ends
    ]
    steps += [step.model_copy(update={"id": numbers[step.id]}) for step in second.steps]
    arrows = [
        arrow if keep or arrow.target not in ends else arrow.model_copy(update={"target": entry})
        for arrow in first.transitions
        if keep or arrow.source not in ends
    ]
    arrows += [Transition(source=end, target=entry) for end in sorted(ends) if keep]
    arrows += [
        Transition(source=numbers[a.source], target=numbers[a.target], condition=a.condition)
        for a in second.transitions
    ]
    places = {step.id: f"s{place}" for place, step in enumerate(steps, start=1)}
    steps, arrows = _settle_questions(steps, arrows)
    return Workflow(
        title=first.title,
        steps=tuple(step.model_copy(update={"id": places[step.id]}) for step in steps),
        transitions=tuple(
            Transition(source=places[a.source], target=places[a.target], condition=a.condition)
            for a in arrows
        ),
    )


def _settle_questions(
    steps: Sequence[Step], arrows: Sequence[Transition]
) -> tuple[list[Step], list[Transition]]:
    """Turn each question whose answers all lead to one step into a check."""
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
