"""Answers of a strong model to the scorer's questions, kept by the hash of what was asked.

A row holds no text of a page: the key of the question (prompt, lines, question and options) and
the place of the option that was chosen.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from evaluation.material.pairs import write_lines
from services.kit.files import read_json_lines
from services.knowledge.ports import Embedder
from services.llm.chat_model import ChatRequest, ModelUnavailableError
from services.llm.scripted import ScriptedChatModel
from services.runbook.ports import JudgedAnswer
from services.scorer.judges.fact_judge import FactJudge, chances_of_choice
from services.scorer.judges.question import FactQuestion
from services.scorer.service import ScorerService

RECORDED_JUDGE = Path(__file__).parents[1] / "recorded" / "strong_judge.jsonl"


class RecordedChoice(BaseModel):
    """What was chosen."""

    model_config = ConfigDict(frozen=True)

    key: str
    chosen: int
    """The place of the option in the question."""
    options: int


class SilentModel(ScriptedChatModel):
    """Stands for the model that was recorded, and answers nothing else."""

    name = "strong"

    def __init__(self) -> None:
        super().__init__(_unrecorded)


class RecordedJudge:
    """Implements `AnswerStore` with what was recorded; nothing else is kept."""

    def __init__(self, choices: Iterable[RecordedChoice]) -> None:
        self._answers = {
            row.key: JudgedAnswer("", chances_of_choice(row.chosen, row.options)) for row in choices
        }
        self.unknown: set[str] = set()

    def get_many(self, keys: Collection[str]) -> dict[str, JudgedAnswer]:
        """See `AnswerStore.get_many`."""
        self.unknown.update(set(keys) - self._answers.keys())
        return {key: self._answers[key] for key in keys if key in self._answers}

    def keep(self, answers: Mapping[str, JudgedAnswer]) -> None:
        """See `AnswerStore.keep`."""


def scorer_with(
    judge: str, embedder: Embedder, *, hears_others: bool = True
) -> tuple[ScorerService, RecordedJudge]:
    """The scorer without a model, or (`recorded`) with what was answered."""
    if judge != "recorded":
        return ScorerService(embedder, counts_votes=hears_others), RecordedJudge(())
    answers = RecordedJudge(read_choices(RECORDED_JUDGE).values())
    model = SilentModel()
    return ScorerService(embedder, model=model, answers=answers, counts_votes=hears_others), answers


def key_of(question: FactQuestion) -> str:
    """As the scorer looks for its answer."""
    return question.key(FactJudge(SilentModel()).label)


def read_choices(path: Path) -> dict[str, RecordedChoice]:
    """By key; none where there is no file.

    Raises:
        PairsError: The file cannot be read, or a line holds no choice.
    """
    rows = (row for _, row in read_json_lines(path, RecordedChoice)) if path.exists() else ()
    return {row.key: row for row in rows}


def write_choices(path: Path, rows: Iterable[RecordedChoice]) -> None:
    """Write the rows in the order of their keys, so that a new answer is a small difference."""
    write_lines(path, rows, lambda row: row.key)


def _unrecorded(_request: ChatRequest) -> Sequence[str]:
    raise ModelUnavailableError("this question was not recorded")
