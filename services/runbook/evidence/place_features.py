"""Features of the places of steps and lines, and of what surrounds a fact."""

import math
import re
from functools import cached_property

from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import SectionRole
from services.runbook.evidence.fact import Fact, FactKind
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages, LinePlace, Lines
from services.workflow.model import Step, StepKind

_MOST_STEPS_BETWEEN = 8
_MOST_QUESTIONS = 5


def relative_place(source: CitedPages, one: Lines, other: Lines) -> dict[str, float]:
    """Return features of the second step's place, seen from the first."""
    if not one or not other:
        return {"first has lines": float(bool(one)), "second has lines": float(bool(other))}
    a, b = min(one), min(other)
    here, there = source.place(a), source.place(b)
    return {
        "first has lines": 1.0,
        "second has lines": 1.0,
        "distance": math.copysign(math.log1p(abs(b - a)), b - a),
        "before": float(b < a),
        "same line": float(bool(one & other)),
        "same block": float(here.block == there.block > 0),
        **_item_features(here, there),
        **_section_features(here, there),
        "first is heading": float(source.is_heading(a)),
        "second is heading": float(source.is_heading(b)),
        "headings between": float(source.headings_between(min(a, b), max(a, b))),
    }


def _item_features(here: LinePlace, there: LinePlace) -> dict[str, float]:
    one, other = here.items, there.items
    return {
        "same item": float(bool(one) and one == other),
        "below the item": float(0 < len(one) < len(other) and other[: len(one)] == one),
        "above the item": float(0 < len(other) < len(one) and one[: len(other)] == other),
        "next to the item": float(
            bool(one) and one != other and one[:-1] == other[:-1] and here.lists == there.lists
        ),
        "numbered": float(there.is_numbered),
        "first in a list": float(bool(one)),
        "second in a list": float(bool(other)),
    }


def _section_features(here: LinePlace, there: LinePlace) -> dict[str, float]:
    one, other = here.sections, there.sections
    common = sum(a == b for a, b in zip(one, other, strict=False))
    return {
        "same section": float(one == other),
        "sections in common": common / max(len(one), len(other), 1),
        "below the section": float(len(other) > len(one) and other[: len(one)] == one),
        "above the section": float(len(one) > len(other) and one[: len(other)] == other),
    }


def between_steps(grounded: GroundedWorkflow, one: str, other: str) -> dict[str, float]:
    """Return the distance of two steps in the page's order, and the questions between them."""
    ranks = grounded.ranks
    if one not in ranks or other not in ranks:
        return {}
    first, last = sorted((ranks[one], ranks[other]))
    before = grounded.questions_before
    question_count = max(0, before[last] - before[first + 1])
    steps = ranks[other] - ranks[one]
    return {
        "steps on": float(max(-_MOST_STEPS_BETWEEN, min(_MOST_STEPS_BETWEEN, steps))),
        "next step": float(steps == 1),
        "questions between": float(min(question_count, _MOST_QUESTIONS)),
    }


_ASSURANCE = re.compile(
    r"\b(?:verify|ensure|confirm|make sure|check|must|should|require\w*|expect\w*)\b", re.IGNORECASE
)
_ROLES = (
    SectionRole.SYMPTOM,
    SectionRole.MEANING,
    SectionRole.CAUSE,
    SectionRole.CHECK,
    SectionRole.REMEDY,
    SectionRole.PROCEDURE,
    SectionRole.VERIFICATION,
    SectionRole.ESCALATION,
    SectionRole.NOTE,
)

Features = dict[str, float]


class Surroundings:
    """Features of one workflow's facts that depend on more than the fact itself."""

    def __init__(self, grounded: GroundedWorkflow) -> None:
        self._grounded = grounded

    def features_of(self, fact: Fact) -> Features:
        """Return the features around a fact.

        For a guard only those of its branch; for all else those of the workflow help as well.
        """
        by_id = self._grounded.workflow.by_id
        step = by_id[fact.step]
        if fact.kind is FactKind.GUARD:
            return self._branch_features(by_id[fact.other], fact.answer, step)
        features = (
            self._workflow_features
            | self._features_before(step)
            | self._place_features(step, "step")
        )
        if fact.kind is FactKind.QUESTION:
            sizes = [len(steps) for _, steps in self._branches(step)]
            features["smallest branch"] = math.log1p(min(sizes, default=0))
            features["largest branch"] = math.log1p(max(sizes, default=0))
        elif fact.kind is FactKind.ARROW:
            target = by_id[fact.other]
            features |= self._place_features(target, "target")
            if step.kind is StepKind.DECISION:
                features |= self._branch_features(step, fact.answer, target)
        return features

    @cached_property
    def _workflow_features(self) -> Features:
        """The share of the page's lines and questions that the workflow has."""
        grounded, roles = self._grounded, self._grounded.roles
        steps, question_lines = grounded.workflow.steps, grounded.lines_of(grounded.decisions)
        free = sum(not grounded.guards.get(step.id) for step in grounded.actions)
        covered = roles.instructing & grounded.lines_of(steps)
        return {
            "all steps": math.log1p(len(steps)),
            "share of questions": len(grounded.decisions) / max(1, len(steps)),
            "share of free steps": free / max(1, len(grounded.actions)),
            "conditions told": math.log1p(len(roles.conditional)),
            "conditions asked": len(roles.conditional & question_lines)
            / max(1, len(roles.conditional)),
            "told lines": math.log1p(len(roles.instructing)),
            "told lines held": len(covered) / max(1, len(roles.instructing)),
        }

    def _features_before(self, step: Step) -> Features:
        grounded = self._grounded
        rank = grounded.ranks.get(step.id, 0)
        count = grounded.questions_before[rank]
        return {
            "questions before": float(count),
            "since a question": float(rank - grounded.question_ranks[count - 1]) if count else -1.0,
            "relative place": rank / max(1, len(grounded.ranks)),
        }

    def _place_features(self, step: Step, prefix: str) -> Features:
        """Return features of a step's lines, and of the steps that share them."""
        grounded, lines = self._grounded, self._grounded.lines[step.id]
        features = {
            "words": math.log1p(len(step.text.split())),
            "commands": float(bool(step.commands)),
            "doubted": float(bool(step.doubt)),
        }
        if lines:
            first = min(lines)
            place = grounded.pages.place(first)
            headings = (grounded.pages.words(line) for line in reversed(place.sections[1:]))
            role = next((role for role in map(role_of_heading, headings) if role), None)
            sharing = grounded.citing_any(lines)
            text = grounded.pages.text(lines)
            features |= {f"in {each.value}": float(role is each) for each in _ROLES}
            features |= {
                "depth of sections": float(len(place.sections)),
                "depth of items": float(len(place.items)),
                "in a numbered list": float(place.is_numbered),
                "first line of its item": float(place.items[-1:] == (first,)),
                "sharing": float(len(sharing)),
                "place among sharing": float(sharing.index(step.id)),
                "length of its lines": math.log1p(len(text)),
                "assures": float(bool(_ASSURANCE.search(text))),
            }
        return {f"{prefix} {name}": value for name, value in features.items()}

    def _branch_features(self, question: Step, answer: str, step: Step) -> Features:
        """Return features of the branch behind an answer, and of the others."""
        workflow, sizes = self._grounded.workflow, dict(self._branches(question))
        own = sizes.get(answer, [])
        exits = workflow.exits(question.id)
        others = [workflow.by_id[e.target] for e in exits if _answer(e.condition) != answer]
        largest = max((len(ids) for other, ids in sizes.items() if other != answer), default=0)
        features = {
            "branch": math.log1p(len(own)),
            "largest other branch": math.log1p(largest),
            "others end": float(any(s.kind is StepKind.TERMINAL for s in others)),
            "others ask": float(any(s.kind is StepKind.DECISION for s in others)),
            "others implied": float(any(s.implied for s in others)),
        }
        if step.id in own:
            features["place in branch"] = float(own.index(step.id))
            features["last of branch"] = float(own[-1] == step.id)
        return features

    def _branches(self, question: Step) -> list[tuple[str, list[str]]]:
        """Return the answers of a question, each with the steps below it."""
        exits = self._grounded.workflow.exits(question.id)
        answers = dict.fromkeys(_answer(edge.condition) for edge in exits)
        return [
            (answer, self._steps_by_answer.get((question.id, answer), [])) for answer in answers
        ]

    @cached_property
    def _steps_by_answer(self) -> dict[tuple[str, str], list[str]]:
        by_answer: dict[tuple[str, str], list[str]] = {}
        for step in self._grounded.workflow.steps:
            for guard in self._grounded.guards.get(step.id, ()):
                by_answer.setdefault((guard.decision, guard.answer), []).append(step.id)
        return by_answer


def _answer(condition: str) -> str:
    return condition.strip().casefold()
