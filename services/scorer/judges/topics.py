"""Topics: the claims of a ticket's candidates about the same steps of a page."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from services.language.answers import compared_answer
from services.runbook.agreement import match_steps
from services.runbook.evidence.fact import Fact, FactKind, ScoredFact
from services.runbook.evidence.grounded_workflow import GroundedWorkflow
from services.scorer.approved_procedures import BY_APPROVED
from services.scorer.judges.question import OptionKind
from services.workflow.model import Step, StepKind

ComparedAnswer = bool | str
"""Form in which answers are compared: True or False for a state, else the words."""

_OPEN_FROM, _OPEN_TO = 0.15, 0.85
"""Chances between which the lines have not decided a fact."""


class PageStep(NamedTuple):
    """A step in the words of the first candidate that has it."""

    candidate: int
    id: str


class SharedSteps:
    """Steps of all candidates that cite lines; equal steps share one representative."""

    def __init__(self, candidates: Sequence[GroundedWorkflow]) -> None:
        self._candidates = candidates
        self._same = [dict[str, PageStep]() for _ in candidates]
        shared_by_page: dict[str, dict[PageStep, Step]] = {}
        for place, drawn in enumerate(candidates):
            for page, steps in _steps_by_page(drawn).items():
                self._add(place, steps, shared_by_page.setdefault(page, {}))

    def of(self, candidate: int, step: str) -> PageStep | None:
        """Return the shared step; None for a step that cites no known line."""
        return self._same[candidate].get(step)

    def step(self, shared: PageStep) -> Step:
        """Return the step whose words the question uses."""
        return self._candidates[shared.candidate].workflow.by_id[shared.id]

    def _add(self, place: int, steps: Sequence[Step], shared_steps: dict[PageStep, Step]) -> None:
        ids = {f"{shared.candidate}/{shared.id}": shared for shared in shared_steps}
        theirs = [
            shared_steps[shared].model_copy(update={"id": id_}) for id_, shared in ids.items()
        ]
        same = match_steps(steps, theirs)
        for step in steps:
            shared = ids[same[step.id]] if step.id in same else PageStep(place, step.id)
            shared_steps.setdefault(shared, step)
            self._same[place][step.id] = shared


def _steps_by_page(drawn: GroundedWorkflow) -> Mapping[str, list[Step]]:
    by_page: dict[str, list[Step]] = {}
    for step in drawn.workflow.steps:
        pages = [c.document_id for c in step.citations if c.document_id in drawn.pages]
        if pages:
            by_page.setdefault(pages[0], []).append(step)
    return by_page


class Topic(NamedTuple):
    """Subject of a question."""

    kind: FactKind
    """Kind of the facts; a guard also stands for a step that is free of it, an arrow for an end."""
    step: PageStep
    other: PageStep | None = None
    answer: ComparedAnswer = ""


class TopicOption(NamedTuple):
    """Option of a topic."""

    kind: OptionKind
    step: PageStep | None = None
    answer: ComparedAnswer = ""


class CandidateClaim(NamedTuple):
    """Claim of a candidate about a topic, with the fact that makes it."""

    candidate: int
    decided: ScoredFact
    option: TopicOption


@dataclass
class TopicClaims:
    """Claims of all candidates about one topic."""

    claims: list[CandidateClaim] = field(default_factory=list)

    @property
    def option_counts(self) -> Counter[TopicOption]:
        """Options claimed, with the number of candidates."""
        return Counter(each.option for each in self.claims)

    @property
    def is_open(self) -> bool:
        """True if the lines have not decided it for some candidate."""
        return any(_OPEN_FROM <= each.decided.chance <= _OPEN_TO for each in self.claims)

    @property
    def dispute(self) -> float:
        """Share of the candidates that claim another option than most; 0 if they agree."""
        counts = self.option_counts
        return 1 - max(counts.values()) / counts.total()

    @property
    def doubt(self) -> float:
        """Doubt of the lines: 1 for an even chance, 0 for certainty."""
        chances = (each.decided.chance for each in self.claims)
        return max(4 * chance * (1 - chance) for chance in chances)


class Topics:
    """Topics that may be asked about the candidates of one ticket."""

    def __init__(self, candidates: Sequence[tuple[GroundedWorkflow, Sequence[ScoredFact]]]) -> None:
        """Compare the candidates, which must all be of one `Source`."""
        self._candidates = candidates
        self.drawn = [drawn for drawn, _ in candidates]
        self.shared = SharedSteps(self.drawn)

    def worth_asking(self) -> dict[Topic, TopicClaims]:
        """Return the topics that the lines leave open, or that candidates claim differently."""
        by_topic: dict[Topic, TopicClaims] = {}
        for candidate, (_, facts) in enumerate(self._candidates):
            for decided in facts:
                if decided.by == BY_APPROVED:  # people have approved or refuted it
                    continue
                for topic, option in self._claims_of(candidate, decided.fact):
                    claims = by_topic.setdefault(topic, TopicClaims())
                    claims.claims.append(CandidateClaim(candidate, decided, option))
        _merge_free_into_guards(by_topic)
        return {t: claims for t, claims in by_topic.items() if claims.is_open or claims.dispute}

    def _claims_of(self, candidate: int, fact: Fact) -> Iterator[tuple[Topic, TopicOption]]:
        step = self.shared.of(candidate, fact.step)
        if step is None:
            return
        match fact.kind:
            case FactKind.QUESTION:
                yield Topic(FactKind.QUESTION, step), TopicOption(OptionKind.IS_QUESTION)
            case FactKind.GUARD:
                if other := self.shared.of(candidate, fact.other):
                    answer = self._compared_answer(candidate, fact.other, fact.answer)
                    topic = Topic(FactKind.GUARD, step, other)
                    yield topic, TopicOption(OptionKind.ON_ANSWER, answer=answer)
            case FactKind.FREE:
                yield Topic(FactKind.FREE, step), TopicOption(OptionKind.ALWAYS)
            case FactKind.ARROW:
                if option := self._next_option(candidate, fact.other):
                    answer = self._compared_answer(candidate, fact.step, fact.answer)
                    yield Topic(FactKind.ARROW, step, answer=answer), option
            case FactKind.END:
                yield Topic(FactKind.ARROW, step), TopicOption(OptionKind.ENDS)

    def _next_option(self, candidate: int, target: str) -> TopicOption | None:
        """Return the next step as an option.

        None for a question that no line asks: lines cannot say what it stands for.
        """
        shared = self.shared.of(candidate, target)
        if shared:
            return TopicOption(OptionKind.NEXT, shared)
        is_end = self.drawn[candidate].workflow.by_id[target].kind is StepKind.TERMINAL
        return TopicOption(OptionKind.ENDS) if is_end else None

    def _compared_answer(self, candidate: int, step: str, answer: str) -> ComparedAnswer:
        question = self.drawn[candidate].workflow.by_id[step]
        return compared_answer(question.text, answer) if answer else ""


def _merge_free_into_guards(by_topic: dict[Topic, TopicClaims]) -> None:
    """Merge claims that a step is always done into topics on its guards, asked once."""
    guarded: dict[PageStep, list[Topic]] = {}
    for topic in by_topic:
        if topic.kind is FactKind.GUARD:
            guarded.setdefault(topic.step, []).append(topic)
    for topic in [t for t in by_topic if t.kind is FactKind.FREE and t.step in guarded]:
        free = by_topic.pop(topic)
        for other in guarded[topic.step]:
            by_topic[other].claims += free.claims
