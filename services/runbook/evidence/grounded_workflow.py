"""A workflow with the lines that its steps cite, and the answers that they depend on."""

import math
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from itertools import accumulate

from services.runbook.evidence.page_lines import NO_ROLES, CitedPages, LineRoles, Lines
from services.runbook.facts import GuardFact, guards
from services.workflow.model import Step, StepKind, Transition, Workflow

_LONGEST_SPAN = 15
"""Lines; a longer citation says too little about a step's place."""


class GroundedWorkflow:
    """A workflow together with its pages."""

    def __init__(self, workflow: Workflow, pages: CitedPages) -> None:
        self.workflow = workflow
        self.pages = pages
        self.lines: Mapping[str, Lines] = {s.id: _lines(s, pages) for s in workflow.steps}

    @cached_property
    def guards(self) -> Mapping[str, frozenset[GuardFact]]:
        """The answers that every path to a step passes, by step."""
        return guards(self.workflow)

    @cached_property
    def ranks(self) -> Mapping[str, int]:
        """Ranks of the steps in the order of their lines; steps without lines have none."""
        placed = sorted((min(lines), id_) for id_, lines in self.lines.items() if lines)
        return {id_: rank for rank, (_, id_) in enumerate(placed)}

    @cached_property
    def by_rank(self) -> tuple[Step, ...]:
        """The steps with lines, in the order of their ranks."""
        return tuple(self.workflow.by_id[id_] for id_ in self.ranks)

    @cached_property
    def question_ranks(self) -> list[int]:
        """The ranks of the questions with lines."""
        steps = enumerate(self.by_rank)
        return [rank for rank, step in steps if step.kind is StepKind.DECISION]

    @cached_property
    def questions_before(self) -> tuple[int, ...]:
        """Number of questions before each rank, and of all behind the last one."""
        return (0, *accumulate(step.kind is StepKind.DECISION for step in self.by_rank))

    @cached_property
    def entries(self) -> Mapping[str, tuple[Transition, ...]]:
        """The arrows that lead to each step."""
        into: dict[str, tuple[Transition, ...]] = {}
        for edge in self.workflow.transitions:
            into[edge.target] = (*into.get(edge.target, ()), edge)
        return into

    def citing_any(self, lines: Lines) -> list[str]:
        """Return the ids of the steps that cite one of the lines, in their order."""
        places = {place for line in lines for place in self._places_by_line.get(line, ())}
        return [self.workflow.steps[place].id for place in sorted(places)]

    @cached_property
    def _places_by_line(self) -> Mapping[int, list[int]]:
        places: dict[int, list[int]] = {}
        for place, step in enumerate(self.workflow.steps):
            for line in self.lines[step.id]:
                places.setdefault(line, []).append(place)
        return places

    @cached_property
    def decisions(self) -> tuple[Step, ...]:
        """The questions."""
        return tuple(self.workflow.of_kind(StepKind.DECISION))

    @cached_property
    def actions(self) -> tuple[Step, ...]:
        """All other steps."""
        return tuple(s for s in self.workflow.steps if s.kind is not StepKind.DECISION)

    @cached_property
    def page(self) -> str:
        """The id of the page that most steps cite; empty if no page is known."""
        cited = Counter(
            citation.document_id
            for step in self.workflow.steps
            for citation in step.citations
            if citation.document_id in self.pages
        )
        return cited.most_common(1)[0][0] if cited else ""

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The texts of all cited pages by id, in the order of the citations."""
        cited = (c.document_id for step in self.workflow.steps for c in step.citations)
        return {id_: self.pages.page_text(id_) for id_ in dict.fromkeys(cited) if id_ in self.pages}

    @property
    def page_text(self) -> str:
        """The text of the page that most steps cite."""
        return self.pages.page_text(self.page) if self.page else ""

    @property
    def roles(self) -> LineRoles:
        """The lines of that page by their role."""
        return self.pages.roles(self.page) if self.page else NO_ROLES

    def lines_of(self, steps: tuple[Step, ...]) -> Lines:
        """Return all lines that these steps cite."""
        return frozenset().union(*(self.lines[step.id] for step in steps))

    def steps_at(self, lines: Lines, steps: tuple[Step, ...]) -> list[Step]:
        """Return those of the steps that cite one of the lines."""
        return [step for step in steps if self.lines[step.id] & lines]


def _lines(step: Step, pages: CitedPages) -> Lines:
    cited = [c for c in step.citations if c.document_id in pages]
    short = [c for c in cited if c.end_line - c.start_line < _LONGEST_SPAN]
    if not short:
        return frozenset(pages.number(c.document_id, c.start_line) for c in cited[:1])
    return frozenset(
        pages.number(c.document_id, line)
        for c in short
        for line in range(c.start_line, c.end_line + 1)
    )


def coverage_features(grounded: GroundedWorkflow, roles: LineRoles) -> Mapping[str, float]:
    """Return the covered shares of the page's lines by role, and how many are missing.

    All 0 without a known page.
    """
    action_lines, question_lines = (
        grounded.lines_of(grounded.actions),
        grounded.lines_of(grounded.decisions),
    )
    default = float(bool(grounded.page))
    return {
        "instructions": _share(roles.instructing, action_lines, default),
        "conditions": _share(roles.conditional, question_lines, default),
        "escalations": _share(roles.escalating, action_lines, default),
        "closings": _share(roles.closing, action_lines | question_lines, default),
        "jumps": _share(roles.jumping, action_lines | question_lines, default),
        "instructions missing": math.log1p(len(roles.instructing - action_lines)),
        "conditions missing": math.log1p(len(roles.conditional - question_lines)),
    }


def brevity_features(grounded: GroundedWorkflow, roles: LineRoles) -> Mapping[str, float]:
    """Return the shares of steps that repeat others, that no instruction supports, or that end."""
    steps = grounded.workflow.steps
    count = max(1, len(steps))
    step_lines = roles.instructing | roles.conditional | roles.escalating
    lines = [(step.kind, grounded.lines[step.id]) for step in steps if grounded.lines[step.id]]
    unsupported = [
        s for s in steps if s.citations and not s.implied and not grounded.lines[s.id] & step_lines
    ]
    return {
        "beside instructions": len(unsupported) / count,
        "repeated": (len(lines) - len(set(lines))) / count,
        "ends": sum(not grounded.workflow.exits(step.id) for step in steps) / count,
        "implied": sum(step.implied for step in steps) / count,
    }


def _share(lines: Lines, covered: Lines, default: float) -> float:
    return len(lines & covered) / len(lines) if lines else default
