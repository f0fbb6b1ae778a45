"""A workflow with the lines that its steps cite, and the answers that they stand under."""

from collections import Counter
from collections.abc import Mapping
from functools import cached_property

from services.procedure.evidence.page_lines import NOTHING_TOLD, CitedPages, LineRoles, Lines
from services.procedure.facts import GuardFact, guards
from services.workflow.model import Step, StepKind, Workflow

_LONGEST_SPAN = 15
"""Lines; a longer citation says too little about where a step stands."""


class Drawn:
    """A workflow beside its pages."""

    def __init__(self, workflow: Workflow, source: CitedPages) -> None:
        self.workflow = workflow
        self.source = source
        self.lines: Mapping[str, Lines] = {s.id: _lines(s, source) for s in workflow.steps}

    @cached_property
    def guards(self) -> Mapping[str, frozenset[GuardFact]]:
        """For each step the answers that every way to it passes."""
        return guards(self.workflow)

    @cached_property
    def ranks(self) -> Mapping[str, int]:
        """Places of the steps in the order of their lines; steps without lines have none."""
        placed = sorted((min(lines), id_) for id_, lines in self.lines.items() if lines)
        return {id_: rank for rank, (_, id_) in enumerate(placed)}

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
        """The id of the page that most steps cite; empty where no page is known."""
        cited = Counter(
            citation.document_id
            for step in self.workflow.steps
            for citation in step.citations
            if citation.document_id in self.source
        )
        return cited.most_common(1)[0][0] if cited else ""

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """Of all pages that it cites, by id, in the order of its citations."""
        cited = (c.document_id for step in self.workflow.steps for c in step.citations)
        return {id_: self.source.whole(id_) for id_ in dict.fromkeys(cited) if id_ in self.source}

    @property
    def page_text(self) -> str:
        """Of the page that most steps cite."""
        return self.source.whole(self.page) if self.page else ""

    @property
    def told(self) -> LineRoles:
        """What the sentences of that page tell."""
        return self.source.told(self.page) if self.page else NOTHING_TOLD

    def lines_of(self, steps: tuple[Step, ...]) -> Lines:
        """All lines that these steps cite."""
        return frozenset().union(*(self.lines[step.id] for step in steps))

    def at(self, lines: Lines, steps: tuple[Step, ...]) -> list[Step]:
        """Those of the steps that share a line with these."""
        return [step for step in steps if self.lines[step.id] & lines]


def _lines(step: Step, source: CitedPages) -> Lines:
    cited = [c for c in step.citations if c.document_id in source]
    short = [c for c in cited if c.end_line - c.start_line < _LONGEST_SPAN]
    if not short:
        return frozenset(source.number(c.document_id, c.start_line) for c in cited[:1])
    return frozenset(
        source.number(c.document_id, line)
        for c in short
        for line in range(c.start_line, c.end_line + 1)
    )
