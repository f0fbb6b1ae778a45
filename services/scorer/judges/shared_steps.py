"""Which steps of several candidates are the same step of a page."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from services.procedure.agreement import matched
from services.procedure.evidence.drawn import Drawn
from services.workflow.model import Step


class PageStep(NamedTuple):
    """A step as the first candidate that has it words it."""

    candidate: int
    id: str


class SharedSteps:
    """The steps of all candidates that cite lines, each under one of those that say the same."""

    def __init__(self, candidates: Sequence[Drawn]) -> None:
        self._candidates = candidates
        self._same = [dict[str, PageStep]() for _ in candidates]
        known: dict[str, dict[PageStep, Step]] = {}
        for place, drawn in enumerate(candidates):
            for page, steps in _by_page(drawn).items():
                self._put(place, steps, known.setdefault(page, {}))

    def of(self, candidate: int, step: str) -> PageStep | None:
        """None for a step that cites no known line."""
        return self._same[candidate].get(step)

    def step(self, shared: PageStep) -> Step:
        """In the words that it is asked about."""
        return self._candidates[shared.candidate].workflow.by_id[shared.id]

    def _put(self, place: int, steps: Sequence[Step], known: dict[PageStep, Step]) -> None:
        ids = {f"{shared.candidate}/{shared.id}": shared for shared in known}
        theirs = [known[shared].model_copy(update={"id": id_}) for id_, shared in ids.items()]
        same = matched(steps, theirs)
        for step in steps:
            shared = ids[same[step.id]] if step.id in same else PageStep(place, step.id)
            known.setdefault(shared, step)
            self._same[place][step.id] = shared


def _by_page(drawn: Drawn) -> Mapping[str, list[Step]]:
    found: dict[str, list[Step]] = {}
    for step in drawn.workflow.steps:
        pages = [c.document_id for c in step.citations if c.document_id in drawn.source]
        if pages:
            found.setdefault(pages[0], []).append(step)
    return found
