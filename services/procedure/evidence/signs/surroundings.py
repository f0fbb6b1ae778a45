"""What stands around a fact: its branch, the sections of its lines, and the workflow as a whole."""

import math
import re
from functools import cached_property

from services.knowledge.document.roles import role_of_heading
from services.knowledge.model import SectionRole
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.workflow.model import Step, StepKind

_ASSURES = re.compile(
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

Signs = dict[str, float]


class Surroundings:
    """Signs of the facts of one workflow beside those that each fact has by itself."""

    def __init__(self, drawn: Drawn) -> None:
        self._drawn = drawn

    def of(self, fact: Fact) -> Signs:
        """A guard hangs on its branch alone; of all else the page's kind tells more than noise."""
        by_id = self._drawn.workflow.by_id
        step = by_id[fact.step]
        if fact.kind is FactKind.GUARD:
            return self._branch(by_id[fact.other], fact.answer, step)
        found = self._whole | self._before(step) | self._place(step, "step")
        if fact.kind is FactKind.QUESTION:
            sizes = [len(steps) for _, steps in self._branches(step)]
            found["smallest branch"] = math.log1p(min(sizes, default=0))
            found["largest branch"] = math.log1p(max(sizes, default=0))
        elif fact.kind is FactKind.ARROW:
            target = by_id[fact.other]
            found |= self._place(target, "target")
            if step.kind is StepKind.DECISION:
                found |= self._branch(step, fact.answer, target)
        return found

    @cached_property
    def _whole(self) -> Signs:
        """How much of what its page tells the workflow has."""
        drawn, told = self._drawn, self._drawn.told
        steps, asked = drawn.workflow.steps, drawn.lines_of(drawn.decisions)
        free = sum(not drawn.guards.get(step.id) for step in drawn.actions)
        held = told.instructing & drawn.lines_of(steps)
        return {
            "all steps": math.log1p(len(steps)),
            "share of questions": len(drawn.decisions) / max(1, len(steps)),
            "share of free steps": free / max(1, len(drawn.actions)),
            "conditions told": math.log1p(len(told.conditional)),
            "conditions asked": len(told.conditional & asked) / max(1, len(told.conditional)),
            "told lines": math.log1p(len(told.instructing)),
            "told lines held": len(held) / max(1, len(told.instructing)),
        }

    def _before(self, step: Step) -> Signs:
        ranks = self._drawn.ranks
        rank = ranks.get(step.id, 0)
        asked = [r for d in self._drawn.decisions if (r := ranks.get(d.id, len(ranks))) < rank]
        return {
            "questions before": float(len(asked)),
            "since a question": float(rank - max(asked)) if asked else -1.0,
            "relative place": rank / max(1, len(ranks)),
        }

    def _place(self, step: Step, whose: str) -> Signs:
        """Where a step's lines stand, and how it shares them with others."""
        drawn, lines = self._drawn, self._drawn.lines[step.id]
        found = {
            "words": math.log1p(len(step.text.split())),
            "commands": float(bool(step.commands)),
            "doubted": float(bool(step.doubt)),
        }
        if lines:
            first = min(lines)
            place = drawn.source.place(first)
            headings = (drawn.source.words(line) for line in reversed(place.sections[1:]))
            role = next((role for role in map(role_of_heading, headings) if role), None)
            sharing = drawn.at(lines, drawn.workflow.steps)
            text = drawn.source.text(lines)
            found |= {f"in {each.value}": float(role is each) for each in _ROLES}
            found |= {
                "depth of sections": float(len(place.sections)),
                "depth of items": float(len(place.items)),
                "in a numbered list": float(place.is_numbered),
                "first line of its item": float(place.items[-1:] == (first,)),
                "sharing": float(len(sharing)),
                "place among sharing": float(sharing.index(step)),
                "length of its lines": math.log1p(len(text)),
                "assures": float(bool(_ASSURES.search(text))),
            }
        return {f"{whose} {name}": value for name, value in found.items()}

    def _branch(self, question: Step, answer: str, step: Step) -> Signs:
        """The branch behind an answer, and the others of its question."""
        workflow, sizes = self._drawn.workflow, dict(self._branches(question))
        own = sizes.get(answer, [])
        exits = workflow.exits(question.id)
        others = [workflow.by_id[e.target] for e in exits if _answer(e.condition) != answer]
        largest = max((len(ids) for told, ids in sizes.items() if told != answer), default=0)
        found = {
            "branch": math.log1p(len(own)),
            "largest other branch": math.log1p(largest),
            "others end": float(any(s.kind is StepKind.TERMINAL for s in others)),
            "others ask": float(any(s.kind is StepKind.DECISION for s in others)),
            "others implied": float(any(s.implied for s in others)),
        }
        if step.id in own:
            found["place in branch"] = float(own.index(step.id))
            found["last of branch"] = float(own[-1] == step.id)
        return found

    def _branches(self, question: Step) -> list[tuple[str, list[str]]]:
        """Answers of a question, each with the steps that stand under it."""
        exits = self._drawn.workflow.exits(question.id)
        answers = dict.fromkeys(_answer(edge.condition) for edge in exits)
        return [(answer, self._under.get((question.id, answer), [])) for answer in answers]

    @cached_property
    def _under(self) -> dict[tuple[str, str], list[str]]:
        found: dict[tuple[str, str], list[str]] = {}
        for step in self._drawn.workflow.steps:
            for guard in self._drawn.guards.get(step.id, ()):
                found.setdefault((guard.decision, guard.answer), []).append(step.id)
        return found


def _answer(condition: str) -> str:
    return condition.strip().casefold()
