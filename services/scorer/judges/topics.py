"""What the candidates of a ticket say about the same steps of a page, side by side."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from services.language.answers import compared_answer
from services.procedure.evidence.decide import Decided
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.scorer.approved import BY_APPROVED
from services.scorer.judges.question import OptionKind
from services.scorer.judges.shared_steps import PageStep, SharedSteps
from services.workflow.model import StepKind

Answer = bool | str
"""As answers are compared: whether the state holds that is asked for, else the words."""

_OPEN_FROM, _OPEN_TO = 0.15, 0.85
"""Chances between which the lines have not decided a fact."""


class Topic(NamedTuple):
    """What a question is about."""

    kind: FactKind
    """A guard also stands for a step that is free of it, an arrow for an end."""
    step: PageStep
    other: PageStep | None = None
    answer: Answer = ""


class Says(NamedTuple):
    """What may be said about a topic."""

    kind: OptionKind
    step: PageStep | None = None
    answer: Answer = ""


class Saying(NamedTuple):
    """What a candidate says about a topic, and in which of its facts."""

    candidate: int
    decided: Decided
    says: Says


@dataclass
class TopicClaims:
    """All that candidates say about one topic."""

    sayings: list[Saying] = field(default_factory=list)

    @property
    def different(self) -> Counter[Says]:
        """What is said, with how often."""
        return Counter(each.says for each in self.sayings)

    @property
    def is_open(self) -> bool:
        """Whether the lines have not decided it for some candidate."""
        return any(_OPEN_FROM <= each.decided.chance <= _OPEN_TO for each in self.sayings)

    @property
    def dispute(self) -> float:
        """Share of the candidates that say another thing than most; 0 where they agree."""
        counts = self.different
        return 1 - max(counts.values()) / counts.total()

    @property
    def doubt(self) -> float:
        """1 for an even chance, 0 for what is certain."""
        chances = (each.decided.chance for each in self.sayings)
        return max(4 * chance * (1 - chance) for chance in chances)


class Topics:
    """All that may be asked about the candidates of one ticket."""

    def __init__(self, candidates: Sequence[tuple[Drawn, Sequence[Decided]]]) -> None:
        """All of one `Source`."""
        self._candidates = candidates
        self.drawn = [drawn for drawn, _ in candidates]
        self.shared = SharedSteps(self.drawn)

    def worth_asking(self) -> dict[Topic, TopicClaims]:
        """What the lines leave open, and what candidates say differently."""
        found: dict[Topic, TopicClaims] = {}
        for candidate, decided in self._asked():
            for topic, says in self._of(candidate, decided.fact):
                said = found.setdefault(topic, TopicClaims())
                said.sayings.append(Saying(candidate, decided, says))
        _put_free_to_guards(found)
        return {t: said for t, said in found.items() if said.is_open or said.dispute}

    def _asked(self) -> Iterator[tuple[int, Decided]]:
        """What people have approved or refuted is not asked."""
        for candidate, (_, decided) in enumerate(self._candidates):
            for each in decided:
                if each.by != BY_APPROVED:
                    yield candidate, each

    def _of(self, candidate: int, fact: Fact) -> Iterator[tuple[Topic, Says]]:
        step = self.shared.of(candidate, fact.step)
        if step is None:
            return
        match fact.kind:
            case FactKind.QUESTION:
                yield Topic(FactKind.QUESTION, step), Says(OptionKind.ASKED)
            case FactKind.GUARD:
                if other := self.shared.of(candidate, fact.other):
                    answer = self._answer(candidate, fact.other, fact.answer)
                    topic = Topic(FactKind.GUARD, step, other)
                    yield topic, Says(OptionKind.ON_ANSWER, answer=answer)
            case FactKind.FREE:
                yield Topic(FactKind.FREE, step), Says(OptionKind.ALWAYS)
            case FactKind.ARROW:
                if says := self._next(candidate, fact.other):
                    answer = self._answer(candidate, fact.step, fact.answer)
                    yield Topic(FactKind.ARROW, step, answer=answer), says
            case FactKind.END:
                yield Topic(FactKind.ARROW, step), Says(OptionKind.ENDS)

    def _next(self, candidate: int, target: str) -> Says | None:
        """None for a question that no line asks: what it stands for, lines cannot tell."""
        shared = self.shared.of(candidate, target)
        if shared:
            return Says(OptionKind.NEXT, shared)
        is_end = self.drawn[candidate].workflow.by_id[target].kind is StepKind.TERMINAL
        return Says(OptionKind.ENDS) if is_end else None

    def _answer(self, candidate: int, step: str, answer: str) -> Answer:
        asked = self.drawn[candidate].workflow.by_id[step]
        return compared_answer(asked.text, answer) if answer else ""


def _put_free_to_guards(found: dict[Topic, TopicClaims]) -> None:
    """A step that one candidate does always and another on an answer is asked about once."""
    guarded: dict[PageStep, list[Topic]] = {}
    for topic in found:
        if topic.kind is FactKind.GUARD:
            guarded.setdefault(topic.step, []).append(topic)
    for topic in [t for t in found if t.kind is FactKind.FREE and t.step in guarded]:
        free = found.pop(topic)
        for other in guarded[topic.step]:
            found[other].sayings += free.sayings
