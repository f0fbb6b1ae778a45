"""Judges that answer what a test wants, and what comes of them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from services.contracts.planner import Candidate
from services.contracts.retrieval import PageReading
from services.contracts.scorer import ScoredCandidate, ScoreRequest
from services.knowledge.embedding.embedders import HashingEmbedder
from services.knowledge.model import KnowledgeContext
from services.llm.chat_model import ChatModel, ChatRequest, Message
from services.llm.scripted import ScriptedChatModel
from services.runbook.model import Reader, Reading
from services.runbook.ports import ServedReading
from services.scorer.judges.question import FactQuestion
from services.scorer.judges.questions import rank_questions
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings
from services.workflow.model import Workflow
from tests.unit.scorer.cases import TICKET
from tests.unit.scorer.fan_page import PAGE, TEXT, UNDECIDED

Choose = Callable[[str, Mapping[str, str]], str]
"""From a question and its options by letter, a letter."""

_BLOCK = re.compile(r"<(lines|question|options)-\w+>\n(.*?)\n</", re.DOTALL)


def shown(messages: Sequence[Message]) -> dict[str, str]:
    """Lines, question and options of a request."""
    return dict(_BLOCK.findall(messages[1].content))


def offered(messages: Sequence[Message]) -> dict[str, str]:
    """The options by letter."""
    lines = shown(messages)["options"].splitlines()
    return {line[0]: line[3:] for line in lines}


def judging(choose: Choose, *, seconds: float = 0.0) -> ScriptedChatModel:
    """A judge that chooses by question and options."""

    def script(request: ChatRequest) -> list[str]:
        question = shown(request.messages)["question"]
        return [json.dumps({"answer": choose(question, offered(request.messages))})]

    return ScriptedChatModel(script, seconds=seconds)


_ANSWERS = {
    "when is this done: “Push": "only if “Is the tray loose?” is answered “yes”",
    "done: “Look": "“Is the tray",
    "“Is the tray loose?” is answered “yes”": "“Push",
    "“Is the tray loose?” is answered “no”": "“Blow",
    "next when this is done: “Push": "“Blow",
    "next when this is done: “Blow": "“Verify",
    "next when this is done: “Verify": "nothing",
}


def right(question: str, options: Mapping[str, str]) -> str:
    """What the page about the fan tray says."""
    answers = [option for words, option in _ANSWERS.items() if words in question]
    return by_text(options, *answers, "whatever", "always", "yes", "the lines do not say")


def by_text(options: Mapping[str, str], *beginnings: str) -> str:
    """The first option that begins so."""
    return next(
        letter for b in beginnings for letter, text in options.items() if text.startswith(b)
    )


class TellingModel(ScriptedChatModel):
    """A server that tells log-probabilities and is asked for nothing else."""

    def __init__(self, tells: Callable[[dict[str, str], str], list[float]]) -> None:
        """`tells` gives those of an answer's tokens, by the options and the option's text."""
        super().__init__([""])
        self._tells = tells

    def log_probabilities(
        self, messages: Sequence[Message], text: str, *, timeout_s: float | None = None
    ) -> list[float] | None:
        """What `tells` says."""
        options = offered(messages)
        return self._tells(options, options[json.loads(text)["answer"]])


def service(model: ChatModel | None = None, **settings: object) -> ScorerService:
    """A scorer whose lines say nothing either way."""
    return ScorerService(
        HashingEmbedder(), ScorerSettings(**settings), model=model, fitted=UNDECIDED
    )


def request(*workflows: Workflow) -> ScoreRequest:
    """Candidates for the page about the fan tray."""
    served = ServedReading(reading=Reading(reader=Reader.MODEL))
    return ScoreRequest(
        ticket=TICKET,
        context=KnowledgeContext(),
        pages=(PageReading(document_id=PAGE, title="Fan", served=served, text=TEXT),),
        candidates=tuple(Candidate(id=str(n), workflow=w) for n, w in enumerate(workflows)),
    )


def questions_about(*workflows: Workflow, limit: int = 100) -> list[FactQuestion]:
    """The questions that candidates raise."""
    cases = service().cases(request(*workflows))
    return rank_questions([(case.drawn, case.decided) for case in cases], limit=limit)


def scored(scorer: ScorerService, *workflows: Workflow) -> list[ScoredCandidate]:
    """The candidates in the order given."""
    ranked = scorer.score(request(*workflows)).ranked
    return sorted(ranked, key=lambda each: int(each.candidate.id))
