"""Questions to a model about the facts of a ticket's candidates: their selection and wording.

A question is asked about what the lines leave open and what candidates claim differently about the
same lines, once for all candidates; first the one on which most depends.
"""

from collections.abc import Iterable, Iterator, Sequence

from services.language.answers import compared_answer
from services.language.deeds import first_stem, is_repair_verb
from services.runbook.evidence.fact import FactKind, ScoredFact
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.runbook.evidence.page_lines import CitedPages, Lines
from services.scorer.judges.question import FactClaim, FactQuestion, Option, OptionKind
from services.scorer.judges.topics import (
    ComparedAnswer,
    PageStep,
    SharedSteps,
    Topic,
    TopicClaims,
    TopicOption,
    Topics,
)
from services.workflow.graph import reachable, successors
from services.workflow.plain import plain

_MOST_STEPS = 4
"""Steps that a question offers as the next one."""
_DISPUTED = 2.0
"""Weight of a disagreement of candidates, relative to an even chance."""
_REMEDY = 1.5
"""Factor on the weight of a step that repairs something."""
_BEFORE, _BEHIND = 3, 4
"""Lines of context: a condition stands before what it holds for, its `otherwise` behind it."""
_MOST_LINES = 60
_LONGEST_LINE = 400
"""Characters shown of a line; tables and output have longer ones that state no step."""
_FIXED = {
    OptionKind.ALWAYS: "always",
    OptionKind.CONDITION: "only under a condition that the lines state",
    OptionKind.ENDS: "nothing: the work ends here",
    OptionKind.IS_QUESTION: "yes",
    OptionKind.UNSAID: "the lines do not say it",
}


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
        self._wording = _TopicWording(topics.shared)
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
                lines=_excerpt(source, [self._drawn[s.candidate].lines[s.id] for s in about if s]),
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
        shares_behind = []  # shares of a candidate's steps that come after the fact
        for candidate, decided, _ in claims.claims:
            fact, steps = decided.fact, self._drawn[candidate].workflow.steps
            begin = fact.other if fact.kind is FactKind.ARROW else fact.step
            shares_behind.append(len(reachable(begin, self._successors[candidate])) / len(steps))
        weight = (claims.doubt + _DISPUTED * claims.dispute) * (1 + max(shares_behind))
        shared = [topic.step, *(says.step for says in claims.option_counts if says.step)]
        is_remedy = any(is_repair_verb(first_stem(self._shared.step(s).text)) for s in shared)
        return weight * _REMEDY if is_remedy else weight


def _answer_options(claimed: Sequence[TopicOption]) -> list[TopicOption]:
    """Return yes and no, or the answers in other words that candidates have."""
    answers = [says for says in claimed if says.kind is OptionKind.ON_ANSWER]
    if any(isinstance(says.answer, str) for says in answers):
        return answers
    return [TopicOption(OptionKind.ON_ANSWER, answer=answer) for answer in (True, False)]


class _TopicWording:
    """Wording of topics, in the words of the first candidate that has a step."""

    def __init__(self, shared: SharedSteps) -> None:
        self._shared = shared

    def question(self, topic: Topic) -> str:
        """Word the question of a topic."""
        step = self._quoted(topic.step)
        if topic.kind is FactKind.QUESTION:
            return f"Do these lines make anything depend on the answer to this: {step}?"
        if topic.kind is not FactKind.ARROW:
            return f"By these lines, when is this done: {step}?"
        if topic.answer == "":
            return f"By these lines, what comes next when this is done: {step}?"
        label = self._label(topic.step, topic.answer)
        return f"By these lines, what comes next when {step} is answered “{label}”?"

    def option(self, topic: Topic, option: TopicOption) -> str:
        """Word an option of a topic."""
        if option.step:
            return self._quoted(option.step)
        if topic.other and option.kind is OptionKind.ALWAYS:
            return f"whatever {self._quoted(topic.other)} is answered"
        if topic.other and option.kind is OptionKind.ON_ANSWER:
            label = self._label(topic.other, option.answer)
            return f"only if {self._quoted(topic.other)} is answered “{label}”"
        is_denied = topic.kind is FactKind.QUESTION and option.kind is OptionKind.UNSAID
        return "no" if is_denied else _FIXED[option.kind]

    def _quoted(self, step: PageStep) -> str:
        return f"“{plain(self._shared.step(step).text)}”"

    def _label(self, step: PageStep, answer: ComparedAnswer) -> str:
        """Return the label of an answer; yes to a negated question is no to what it negates."""
        if isinstance(answer, str):
            return answer
        text = self._shared.step(step).text
        return next(label for label in ("yes", "no") if compared_answer(text, label) is answer)


def _excerpt(source: CitedPages, about: Iterable[Lines]) -> str:
    """Return the numbered lines under their headings and list items; a gap is an ellipsis."""
    cited = [lines for lines in about if lines]
    page = min((min(lines) for lines in cited), default=0)
    wanted = set[int]()
    for lines in cited:
        first, last = min(lines), max(lines)
        place = source.place(first)
        wanted.update(range(max(first - _BEFORE, source.first_line(first)), last + _BEHIND + 1))
        wanted.update(place.items, filter(source.is_heading, place.sections))
    shown = [line for line in sorted(wanted) if source.is_same_page(line, page)][:_MOST_LINES]
    excerpt: list[str] = []
    before = shown[0] if shown else 0
    for line in shown:
        text = source.text((line,)).rstrip()[:_LONGEST_LINE]
        if not text:
            continue
        if any(source.text((between,)).strip() for between in range(before + 1, line)):
            excerpt.append("…")
        excerpt.append(f"{source.local_number(line)} | {text}")
        before = line
    return "\n".join(excerpt)
