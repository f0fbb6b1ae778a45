"""Comparison of two readings of one page: a step that only one of them has is a doubt."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from services.language.words import tokenise
from services.runbook.facts import GuardFact, guards, without_negation
from services.runbook.lowering import lower
from services.runbook.model import Doubt, DoubtKind, LineRange, Procedure
from services.runbook.program import line_numbers
from services.workflow.assignment import best_pairs
from services.workflow.model import Step, StepKind, Workflow

_LEAST_LIKENESS = 0.5
"""The likeness from which two steps are one: half their words, or lines and some words."""
_SAME_LINES_BONUS = 0.35
_LONGEST_SPAN = 15
"""Lines; a longer citation says too little about where a step stands."""


@dataclass(frozen=True)
class _LoweredProcedure:
    """A procedure together with the workflow that engineers would see."""

    procedure: Procedure

    @cached_property
    def workflow(self) -> Workflow:
        return lower(self.procedure, "page")

    @cached_property
    def guards(self) -> Mapping[str, frozenset[GuardFact]]:
        return guards(self.workflow)

    def answer(self, fact: GuardFact) -> str:
        """Return the answer in the form in which it is compared."""
        return without_negation(fact.answer, self.workflow.by_id[fact.decision].text)

    def facts(self) -> set[tuple[str, str, str]]:
        """Return each step with every decision and answer that it depends on."""
        return {
            (step, fact.decision, self.answer(fact))
            for step, facts in self.guards.items()
            for fact in facts
        }


def find_missing_steps(
    base: Sequence[Procedure], others: Sequence[Sequence[Procedure]]
) -> tuple[Doubt, ...]:
    """Return a doubt for each step that only another reading has, at the step of `base` before it.

    Nodes must be numbered: doubts name them. Where readings differ otherwise is not a doubt: of
    conditions that two samples drew differently no more were wrong than of others, and of steps
    that only the base had two of 23 (28 drawn pages).
    """
    by_lines: dict[tuple[int, tuple[LineRange, ...]], Doubt] = {}
    for other in others:
        for place, procedure in enumerate(base):
            counterpart = _counterpart(procedure, other)
            for doubt in _missing(procedure, counterpart) if counterpart else ():
                placed = doubt.model_copy(update={"procedure": place})
                by_lines.setdefault((place, doubt.lines), placed)
    return tuple(
        doubt.model_copy(update={"id": f"d{number}"})
        for number, doubt in enumerate(by_lines.values(), start=1)
    )


def most_agreed_index(readings: Sequence[Sequence[Procedure]]) -> int:
    """Return the index of the reading that the others agree with most, the first of equals."""
    shared = [
        sum(_agreement(one, other) for at, other in enumerate(readings) if at != place)
        for place, one in enumerate(readings)
    ]
    return shared.index(max(shared))


def _agreement(one: Sequence[Procedure], other: Sequence[Procedure]) -> float:
    """Return the mean, over the procedures, of shared steps and shared conditions, each 0–1."""
    pairs = [(procedure, _counterpart(procedure, other)) for procedure in one]
    alike = [_alike(_LoweredProcedure(a), _LoweredProcedure(b)) if b else 0.0 for a, b in pairs]
    return sum(alike) / len(alike) if alike else float(not other)


def _alike(one: _LoweredProcedure, other: _LoweredProcedure) -> float:
    same = match_steps(one.workflow.steps, other.workflow.steps)
    ours, theirs = one.facts(), other.facts()
    moved = {
        (same.get(step, ""), same.get(decision, ""), answer) for step, decision, answer in ours
    }
    steps = len(one.workflow.steps) + len(other.workflow.steps)
    conditions = len(ours) + len(theirs)
    shared = 2 * len(moved & theirs) / conditions if conditions else 1.0
    return len(same) / steps + shared / 2


def _counterpart(procedure: Procedure, others: Sequence[Procedure]) -> Procedure | None:
    """Return the procedure of another reading that shares the most lines with this one."""
    own = _lines_of(procedure)
    shared = [len(own & _lines_of(other)) for other in others]
    return others[shared.index(max(shared))] if any(shared) else None


def _lines_of(procedure: Procedure) -> set[int]:
    return line_numbers(span for node in procedure.walk() for span in node.lines)


def _missing(base: Procedure, other: Procedure) -> Iterator[Doubt]:
    ours, theirs = lower(base, "page").steps, lower(other, "page").steps
    matched_ids = set(match_steps(ours, theirs).values())
    placed = [each for each in ours if each.node and each.citations]
    for step in theirs:
        if step.id in matched_ids or not step.citations or step.kind is StepKind.TERMINAL:
            continue
        first = step.citations[0].start_line
        before = [each for each in placed if each.citations[0].start_line <= first]
        nearest = max(before or placed[:1], key=lambda s: s.citations[0].start_line, default=None)
        if nearest is not None:
            yield Doubt(
                id="",
                kind=DoubtKind.MISSING,
                node=nearest.node,
                question=f"Is this a step of its own: “{step.text}”?",
                lines=step.cited_lines,
            )


def match_steps(ours: Sequence[Step], theirs: Sequence[Step]) -> dict[str, str]:
    """Match steps of one kind that say the same, one to one, by id, for the best total likeness."""
    matches: dict[str, str] = {}
    for is_question in (True, False):
        a = [s for s in ours if (s.kind is StepKind.DECISION) is is_question]
        b = [s for s in theirs if (s.kind is StepKind.DECISION) is is_question]
        if not a or not b:
            continue
        left, right = map(_StepSignature.of, a), [_StepSignature.of(step) for step in b]
        likeness = [[x.likeness(y) for y in right] for x in left]
        pairs = best_pairs(likeness)
        matches |= {a[i].id: b[j].id for i, j in pairs if likeness[i][j] >= _LEAST_LIKENESS}
    return matches


class _StepSignature(NamedTuple):
    """The words and lines by which two steps are compared."""

    words: set[str]
    lines: set[int]

    @classmethod
    def of(cls, step: Step) -> "_StepSignature":
        lines = {
            line
            for cite in step.citations
            if cite.end_line - cite.start_line < _LONGEST_SPAN
            for line in range(cite.start_line, cite.end_line + 1)
        }
        return cls(set(tokenise(step.text)), lines)

    def likeness(self, other: "_StepSignature") -> float:
        """Return the share of common words (0–1), and more if both cite a common line."""
        total = len(self.words) + len(other.words)
        both = bool(self.words and other.words)
        shared = 2 * len(self.words & other.words) / total if both else 0.0
        return shared + (_SAME_LINES_BONUS if self.lines & other.lines else 0.0)
