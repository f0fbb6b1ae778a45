"""Which facts of a ticket's candidates are worth asking a model about.

Asked is what the lines leave open and what candidates say differently about the same lines, once
for all candidates; first that on which most depends.
"""

from collections.abc import Iterable, Iterator, Sequence

from services.language.deeds import first_stem, mends
from services.procedure.evidence.decide import Decided
from services.procedure.evidence.drawn import Drawn
from services.procedure.evidence.fact import Fact, FactKind
from services.scorer.judges.excerpt import excerpt
from services.scorer.judges.question import FactClaim, FactQuestion, Option, OptionKind
from services.scorer.judges.shared_steps import PageStep
from services.scorer.judges.topics import Says, Topic, TopicClaims, Topics
from services.scorer.judges.wording import CandidateWords
from services.workflow.graph import reachable, successors
from services.workflow.model import Step

_MOST_STEPS = 4
"""Steps that a question offers as the next one."""
_DISPUTED = 2.0
"""How much it counts that candidates differ, when an even chance counts 1."""
_REMEDY = 1.5
"""How much more a step that mends something counts."""


def questions(
    candidates: Sequence[tuple[Drawn, Sequence[Decided]]], *, limit: int
) -> list[FactQuestion]:
    """At most `limit`, those on which most depends first; all pages are of one `Source`."""
    asking = _Asking(Topics(candidates))
    return sorted(asking.all(), key=lambda question: (-question.weight, question.text))[:limit]


class _Asking:
    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._drawn, self._shared = topics.drawn, topics.shared
        self._wording = CandidateWords(topics.shared)
        self._arrows = [successors(drawn.workflow.transitions) for drawn in topics.drawn]

    def all(self) -> Iterator[FactQuestion]:
        for topic, said in self._topics.worth_asking().items():
            # Two steps of the same words are one option: nobody could choose between them.
            offered = {
                says: Option(says.kind, self._wording.option(topic, says))
                for says in self._offered(topic, said)
            }
            options = tuple(dict.fromkeys(offered.values()))
            yield FactQuestion(
                lines=excerpt(self._drawn[0].source, self._lines(topic, offered)),
                text=self._wording.question(topic),
                options=options,
                claims=tuple(
                    FactClaim(each.candidate, each.decided.fact, options.index(offered[each.says]))
                    for each in said.sayings
                    if each.says in offered
                ),
                weight=self._weight(topic, said),
                text_hash=self._text_hash(topic.step),
            )

    def _offered(self, topic: Topic, said: TopicClaims) -> list[Says]:
        """What may be, then what candidates say, then silence."""
        claimed = [says for says, _ in said.different.most_common()]
        match topic.kind:
            case FactKind.GUARD:
                found = [Says(OptionKind.ALWAYS), *_answers(claimed)]
            case FactKind.FREE:
                found = [Says(OptionKind.ALWAYS), Says(OptionKind.CONDITION)]
            case FactKind.QUESTION:
                found = [Says(OptionKind.ASKED)]
            case _:
                steps = [*(says for says in claimed if says.step), *self._following(topic)]
                found = [*list(dict.fromkeys(steps))[:_MOST_STEPS], Says(OptionKind.ENDS)]
        return [*found, Says(OptionKind.UNSAID)]

    def _following(self, topic: Topic) -> Iterator[Says]:
        """The step that the page tells next, as the candidate that words the step has it."""
        candidate, id_ = topic.step
        ranks = self._drawn[candidate].ranks
        for other, rank in ranks.items():
            shared = self._shared.of(candidate, other)
            if shared and id_ in ranks and rank == ranks[id_] + 1:
                yield Says(OptionKind.NEXT, shared)

    def _lines(self, topic: Topic, offered: Iterable[Says]) -> Iterator[frozenset[int]]:
        for shared in (topic.step, topic.other, *(says.step for says in offered)):
            if shared:
                yield self._drawn[shared.candidate].lines[shared.id]

    def _text_hash(self, step: PageStep) -> str:
        source, lines = self._drawn[0].source, self._drawn[step.candidate].lines[step.id]
        return source.text_hash(min(lines)) if lines else ""

    def _weight(self, topic: Topic, said: TopicClaims) -> float:
        behind = max(self._behind(each.candidate, each.decided.fact) for each in said.sayings)
        weight = (said.doubt + _DISPUTED * said.dispute) * (1 + behind)
        is_remedy = any(mends(first_stem(step.text)) for step in self._touched(topic, said))
        return weight * _REMEDY if is_remedy else weight

    def _touched(self, topic: Topic, said: TopicClaims) -> Iterator[Step]:
        yield self._shared.step(topic.step)
        yield from (self._shared.step(says.step) for says in said.different if says.step)

    def _behind(self, candidate: int, fact: Fact) -> float:
        """Share of a candidate's steps that come after the fact."""
        begin = fact.other if fact.kind is FactKind.ARROW else fact.step
        steps = self._drawn[candidate].workflow.steps
        return len(reachable(begin, self._arrows[candidate])) / len(steps)


def _answers(claimed: Sequence[Says]) -> list[Says]:
    """Yes and no, or what candidates have in other words."""
    given = [says for says in claimed if says.kind is OptionKind.ON_ANSWER]
    if any(isinstance(says.answer, str) for says in given):
        return given
    return [Says(OptionKind.ON_ANSWER, answer=answer) for answer in (True, False)]
