"""Selection of the facts of a ticket's candidates that are worth asking a model about.

A question is asked about what the lines leave open and what candidates claim differently about the
same lines, once for all candidates; first the one on which most depends.
"""

from collections.abc import Iterator, Sequence

from services.language.deeds import first_stem, is_repair_verb
from services.runbook.evidence.fact import Fact, FactKind, ScoredFact
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.scorer.judges.question import FactClaim, FactQuestion, Option, OptionKind
from services.scorer.judges.topics import Topic, TopicClaims, TopicOption, Topics
from services.scorer.judges.wording import TopicWording, excerpt
from services.workflow.graph import reachable, successors

_MOST_STEPS = 4
"""Steps that a question offers as the next one."""
_DISPUTED = 2.0
"""Weight of a disagreement of candidates, relative to an even chance."""
_REMEDY = 1.5
"""Factor on the weight of a step that repairs something."""


def rank_questions(
    candidates: Sequence[tuple[GroundedWorkflow, Sequence[ScoredFact]]], *, limit: int
) -> list[FactQuestion]:
    """Return at most `limit` questions, those on which most depends first.

    All pages are of one `Source`.
    """
    builder = _QuestionBuilder(Topics(candidates))
    return sorted(builder.build(), key=lambda question: (-question.weight, question.text))[:limit]


class _QuestionBuilder:
    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._drawn, self._shared = topics.drawn, topics.shared
        self._wording = TopicWording(topics.shared)
        self._successors = [successors(drawn.workflow.transitions) for drawn in topics.drawn]

    def build(self) -> Iterator[FactQuestion]:
        for topic, claims in self._topics.worth_asking().items():
            # Two steps of the same words are one option: nobody could choose between them.
            offered = {
                says: Option(says.kind, self._wording.option(topic, says))
                for says in self._options(topic, claims)
            }
            options = tuple(dict.fromkeys(offered.values()))
            source = self._drawn[0].pages
            about = [topic.step, topic.other, *(says.step for says in offered)]
            lines = self._drawn[topic.step.candidate].lines[topic.step.id]
            yield FactQuestion(
                lines=excerpt(source, [self._drawn[s.candidate].lines[s.id] for s in about if s]),
                text=self._wording.question(topic),
                options=options,
                claims=tuple(
                    FactClaim(
                        each.candidate, each.decided.fact, options.index(offered[each.option])
                    )
                    for each in claims.claims
                    if each.option in offered
                ),
                weight=self._weight(topic, claims),
                text_hash=source.text_hash(min(lines)) if lines else "",
            )

    def _options(self, topic: Topic, claims: TopicClaims) -> list[TopicOption]:
        """Return the options: what is possible, then what candidates claim, then silence."""
        claimed = [says for says, _ in claims.option_counts.most_common()]
        match topic.kind:
            case FactKind.GUARD:
                options = [TopicOption(OptionKind.ALWAYS), *_answer_options(claimed)]
            case FactKind.FREE:
                options = [TopicOption(OptionKind.ALWAYS), TopicOption(OptionKind.CONDITION)]
            case FactKind.QUESTION:
                options = [TopicOption(OptionKind.IS_QUESTION)]
            case _:
                steps = [*(says for says in claimed if says.step), *self._next_steps(topic)]
                options = [*list(dict.fromkeys(steps))[:_MOST_STEPS], TopicOption(OptionKind.ENDS)]
        return [*options, TopicOption(OptionKind.UNSAID)]

    def _next_steps(self, topic: Topic) -> Iterator[TopicOption]:
        """Yield the step that the page states next, if the candidate that words this one has it."""
        candidate, id_ = topic.step
        ranks = self._drawn[candidate].ranks
        for other, rank in ranks.items():
            shared = self._shared.of(candidate, other)
            if shared and id_ in ranks and rank == ranks[id_] + 1:
                yield TopicOption(OptionKind.NEXT, shared)

    def _weight(self, topic: Topic, claims: TopicClaims) -> float:
        share_behind = max(
            self._share_behind(each.candidate, each.decided.fact) for each in claims.claims
        )
        weight = (claims.doubt + _DISPUTED * claims.dispute) * (1 + share_behind)
        shared = [topic.step, *(says.step for says in claims.option_counts if says.step)]
        is_remedy = any(is_repair_verb(first_stem(self._shared.step(s).text)) for s in shared)
        return weight * _REMEDY if is_remedy else weight

    def _share_behind(self, candidate: int, fact: Fact) -> float:
        """Return the share of a candidate's steps that come after the fact."""
        begin = fact.other if fact.kind is FactKind.ARROW else fact.step
        steps = self._drawn[candidate].workflow.steps
        return len(reachable(begin, self._successors[candidate])) / len(steps)


def _answer_options(claimed: Sequence[TopicOption]) -> list[TopicOption]:
    """Return yes and no, or the answers in other words that candidates have."""
    answers = [says for says in claimed if says.kind is OptionKind.ON_ANSWER]
    if any(isinstance(says.answer, str) for says in answers):
        return answers
    return [TopicOption(OptionKind.ON_ANSWER, answer=answer) for answer in (True, False)]
