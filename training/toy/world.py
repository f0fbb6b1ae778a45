"""Queries of the toy world, at the three levels of context."""

import random
from functools import cached_property

from training.toy.grammar import (
    ACTIONS,
    ALWAYS,
    GUARDS,
    INCIDENTS,
    MOST_STEPS,
    Page,
    Step,
    facts_f1,
    written,
)
from training.world import Level, Query

_LEAST_STEPS = 3


_LEFT_OUT, _UNGUARDED, _SWAPPED = 0.15, 0.2, 0.15
"""How often demonstrations that the toy model learns the form from go wrong."""


class ToyWorld:
    """Incidents with a page each: those to train on and others that are held out."""

    def __init__(
        self, *, train: int = 128, holdout: int = 64, test: int = 64, seed: int = 0
    ) -> None:
        """As many queries of each; the same seed makes the same pages.

        `holdout` tells when to stop, so figures are of `test`, which nothing else looks at.
        """
        self._random = random.Random(f"world {seed}")  # noqa: S311 - repeatable, no secret
        pages = self._pages(train + holdout + test)
        named = [
            (Query(f"{self._random.choice(INCIDENTS)}", str(n)), page)
            for n, page in enumerate(pages)
        ]
        self.train = [query for query, _ in named[:train]]
        self.holdout = [query for query, _ in named[train : train + holdout]]
        self.test = [query for query, _ in named[train + holdout :]]
        self._page = dict(named)

    def page(self, query: Query) -> Page:
        """What is right for it."""
        return self._page[query]

    def prompt(self, query: Query, level: Level = Level.GOOD) -> str:
        """See `World.prompt`."""
        page = self._page[query]
        match level:
            case Level.GOOD:
                context = written(page.cited)
            case Level.FAIR:
                context = written(page.reversed().cited)
            case Level.POOR:
                context = "nothing"
        return f"<s> {query.text} context {context} workflow"

    def measure(self, query: Query, workflow: str) -> float:
        """See `World.measure`."""
        return facts_f1(workflow, self._page[query])

    def demonstrations(self, count: int, *, seed: int = 0) -> list[tuple[str, str]]:
        """Prompts and workflows that teach the form, with mistakes; of pages of their own.

        One in eight has no context, and a workflow of some page.
        """
        rng = random.Random(f"demonstrations {seed}")  # noqa: S311 - repeatable, no secret
        pairs: list[tuple[str, str]] = []
        while len(pairs) < count:
            page = _drawn(rng)
            if page in self._pages_here:
                continue
            query = Query(rng.choice(INCIDENTS), "")
            context = written(page.cited) if rng.random() > 1 / 8 else "nothing"
            pairs.append(
                (f"<s> {query.text} context {context} workflow", _careless_workflow(page, rng))
            )
        return pairs

    @cached_property
    def _pages_here(self) -> set[Page]:
        return set(self._page.values())

    def _pages(self, count: int) -> list[Page]:
        pages: dict[Page, None] = {}
        while len(pages) < count:
            pages[_drawn(self._random)] = None
        return list(pages)


def _drawn(rng: random.Random) -> Page:
    actions = rng.sample(ACTIONS, rng.randint(_LEAST_STEPS, MOST_STEPS))
    return Page(tuple((each, rng.choice(GUARDS)) for each in actions))


def _careless_workflow(page: Page, rng: random.Random) -> str:
    """Return the page's workflow as a careless person writes it."""
    steps = [s for s in page.cited if rng.random() >= _LEFT_OUT]
    for place in range(len(steps) - 1):
        if rng.random() < _SWAPPED:
            steps[place], steps[place + 1] = steps[place + 1], steps[place]
    written_steps = [
        Step(s.line, s.action, ALWAYS if rng.random() < _UNGUARDED else s.guard) for s in steps
    ]
    return written(written_steps, len(page.steps) + 1)
