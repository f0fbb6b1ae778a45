"""Cases to be scored: candidates with the pages that they cite and the facts that they state."""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from services.contracts.planner import SERVED_BY
from services.contracts.retrieval import PageReading
from services.grounding.evidence import Evidence
from services.grounding.grounder import GroundedStep, Grounder, RecentVectors
from services.kit.lru_cache import LruCache
from services.knowledge.model import KnowledgeContext
from services.knowledge.screening.document import hash_of
from services.runbook.evidence.conditions import Condition, ConditionForests, conditions_of
from services.runbook.evidence.fact import Forests, ScoredFact, Voter, score_facts, with_votes
from services.runbook.evidence.facts import facts_of
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages
from services.scorer.approved_procedures import ApprovedProcedures
from services.scorer.scoring_fit import ScoringFit, ScoringWeights
from services.workflow.graph import successors
from services.workflow.lint import LintIssue, lint
from services.workflow.model import Workflow

_MOST_LINES = 1_000_000
"""Lines, over all pages, into which passages are put; deeper ones are left out."""
_KEPT = 2048
"""Drawings whose facts are cached: some 40 MB."""


@dataclass(frozen=True)
class ScoringCase:
    """One candidate to be scored. It knows neither the ticket nor the other retrieved pages."""

    evidence: Evidence
    """Text of the pages that it cites."""
    workflow: Workflow
    grounded: tuple[GroundedStep, ...]
    """One entry per step, in the order of the steps."""
    findings: Sequence[LintIssue]
    drawn: GroundedWorkflow
    """The workflow with the lines that it cites."""
    decided: Sequence[ScoredFact]
    """Facts of the candidate, each with the chance that it is right."""
    conditions: tuple[Condition, ...]
    """Conditions, each with the chance that it is right: no part of any score."""
    weighings: ScoringWeights
    """Weights of the features, by dimension."""

    @cached_property
    def explicit_steps(self) -> tuple[GroundedStep, ...]:
        """Steps that a page should state; those that only follow from others are left out."""
        return tuple(grounded for grounded in self.grounded if not grounded.step.implied)

    @cached_property
    def depths(self) -> Mapping[str, int]:
        """Number of transitions from the first step to each step that can be reached."""
        depths = {self.workflow.steps[0].id: 0} if self.workflow.steps else {}
        arrows = successors(self.workflow.transitions)
        waiting = list(depths)
        for step_id in waiting:
            for target in arrows.get(step_id, ()):
                if target not in depths:
                    depths[target] = depths[step_id] + 1
                    waiting.append(target)
        return depths


class DecidedFacts(NamedTuple):
    """Facts of a drawing as the evidence of the lines decides them."""

    decided: Sequence[ScoredFact]
    """All facts of the drawing."""
    conditions: tuple[Condition, ...]
    """Conditions that are marked if they are doubtful."""


class PageFacts:
    """Decider of facts by the evidence of the lines, with a cache of recent drawings."""

    def __init__(self, forests: Forests, doubting: ConditionForests) -> None:
        self._forests = forests
        self._doubting = doubting
        self._recent: LruCache[Hashable, DecidedFacts] = LruCache(_KEPT)

    def of(self, drawn: GroundedWorkflow) -> DecidedFacts:
        """Return the facts of a drawing, decided by the features of its lines."""
        # All that features are read from: transitions, steps, and the pages they cite. What labels
        # of the ticket put into commands is left out; no feature reads it.
        steps, source, origin = drawn.workflow.steps, drawn.pages, drawn.workflow.provenance
        cited = dict.fromkeys(c.document_id for step in steps for c in step.citations)
        key = (
            (origin.reader, origin.planner) if origin else None,
            drawn.workflow.transitions,
            tuple((s.id, s.kind, s.text, s.citations, s.implied, bool(s.doubt)) for s in steps),
            tuple((id_, hash_of(source.page_text(id_))) for id_ in cited if id_ in source),
        )
        cached = self._recent.get_many([key])
        if not cached:
            facts = facts_of(drawn)
            decided_facts = DecidedFacts(
                tuple(score_facts(facts, self._forests)),
                conditions_of(drawn, facts, self._doubting),
            )
            cached = {key: decided_facts}
            self._recent.keep(cached)
        return cached[key]


class CaseBuilder:
    """Builder of cases: it grounds the steps and decides the facts of candidates."""

    def __init__(self, fitted: ScoringFit, vectors: RecentVectors, *, counts_votes: bool) -> None:
        self._facts = PageFacts(fitted.forests, fitted.conditions)
        self._weighings = fitted.weighings
        self._vectors = vectors
        self._counts_votes = counts_votes

    def build(
        self, workflows: Sequence[Workflow], texts: Mapping[str, str], pages: Sequence[PageReading]
    ) -> list[ScoringCase]:
        """Build one case per workflow; `texts` are those of the cited pages, by document."""
        source, approved = CitedPages(texts), ApprovedProcedures(pages)
        cases = self._after_votes([self._case(each, source) for each in workflows])
        return [replace(c, decided=approved.settle(c.drawn, c.decided)) for c in cases]

    def _case(self, workflow: Workflow, source: CitedPages) -> ScoringCase:
        drawn = GroundedWorkflow(workflow, source)
        facts = self._facts.of(drawn)
        evidence = Evidence.of_pages(drawn.texts)
        (grounded,) = Grounder(evidence, self._vectors).ground([workflow])
        return ScoringCase(
            evidence=evidence,
            workflow=workflow,
            grounded=grounded,
            findings=lint(workflow),
            drawn=drawn,
            decided=facts.decided,
            conditions=facts.conditions,
            weighings=self._weighings,
        )

    def _after_votes(self, cases: list[ScoringCase]) -> list[ScoringCase]:
        """Return the cases after candidates have voted on the facts of others of the same page.

        Readings of the platform itself have no second vote beside their own.
        """
        if not self._counts_votes or all(is_served(case.workflow) for case in cases):
            return cases
        voted = list(cases)
        for page in {case.drawn.page for case in cases}:
            own = [n for n, case in enumerate(cases) if case.drawn.page == page]
            voices = [Voter(cases[n].drawn, cases[n].decided) for n in own]
            if len(own) > 1:
                for place, decided in zip(own, with_votes(voices), strict=True):
                    voted[place] = replace(cases[place], decided=decided)
        return voted


def is_served(workflow: Workflow) -> bool:
    """Return True if it is a reading that the platform serves, not written for this ticket."""
    return bool(workflow.provenance and workflow.provenance.planner == SERVED_BY)


def cited_texts(
    workflows: Iterable[Workflow], pages: Sequence[PageReading], context: KnowledgeContext
) -> dict[str, str]:
    """Return by document, in order of first citation, the page's text, else its passages.

    A page is missing if the request has neither, or only passages too deep for their lines.
    """
    whole = {page.document_id: page.text for page in pages if page.text}
    cited = dict.fromkeys(
        citation.document_id
        for workflow in workflows
        for step in workflow.steps
        for citation in step.citations
    )
    pieces = dict(_assemble_pages(context, cited.keys() - whole.keys()))
    texts = {id_: whole.get(id_) or pieces.get(id_, "") for id_ in cited}
    return {id_: text for id_, text in texts.items() if text}


def _assemble_pages(
    context: KnowledgeContext, wanted: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield pages with the lines that passages contain; the others are blank."""
    nodes = (*(hit.node for hit in context.nodes), *context.linked)
    passages = [(each.span, each.text) for node in nodes for each in node.all_passages()]
    passages += [(hit.chunk.span, hit.chunk.text) for hit in context.chunks]
    lines: dict[str, dict[int, str]] = {}
    for span, text in passages:
        if span.document_id in wanted:
            shown = lines.setdefault(span.document_id, {})
            for number, line in enumerate(text.split("\n"), start=span.start_line):
                shown.setdefault(number, line)
    left = _MOST_LINES
    for id_, shown in lines.items():
        last = max(shown)
        if last <= left:
            left -= last
            yield id_, "\n".join(shown.get(number, "") for number in range(1, last + 1))
