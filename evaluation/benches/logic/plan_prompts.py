"""The planner's prompts as files, for whoever is to answer them, and the answers as a record.

Each ticket has a name; `NAME.prompt.txt` is what the model is asked. Answers are
`NAME.answer-1.json` and so on beside it; once they are there, `NAME.review-1.txt` is what the
planner would say of each.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from evaluation.material.logic_rows import LogicRow
from evaluation.material.pairs import read_lines
from evaluation.material.recorded_plans import RecordedPlans, asking, best_hash, kept
from evaluation.material.requests import RequestOf
from services.contracts.planner import PlanRequest
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import Message
from services.llm.parsing import parse_answer
from services.llm.scripted import ScriptedChatModel
from services.planner.generation.question import LABEL
from services.procedure.by_model.question import Program

_ROWS = "rows.jsonl"


def write_prompts(
    rows: Iterable[LogicRow],
    request_of: RequestOf,
    folder: Path,
    advance: Callable[[], None],
) -> None:
    """A prompt for each row, and a review for each answer that is there already."""
    folder.mkdir(parents=True, exist_ok=True)
    told = []
    for row in rows:
        request, name = request_of(row), re.sub(r"[^\w.-]+", "-", row.id)
        first, *_ = _turns(request, "")
        (folder / f"{name}.prompt.txt").write_text(_as_text(first), encoding="utf-8")
        for path in _answers(folder, name):
            *_, last = _turns(request, path.read_text(encoding="utf-8"))
            review = path.with_name(path.stem.replace(".answer-", ".review-") + ".txt")
            review.write_text(last[-1].content, encoding="utf-8")
        told.append({"name": name, "id": row.id, "prompt": LABEL, "text_hash": best_hash(request)})
        advance()
    (folder / _ROWS).write_text("".join(f"{json.dumps(row)}\n" for row in told), encoding="utf-8")


def collected(folder: Path) -> Iterator[RecordedPlans]:
    """The answers of each ticket that has any.

    Raises:
        PairsError: There are no prompts in the folder.
        ModelAnswerError: An answer is no program.
    """
    for _, row in read_lines(folder / _ROWS, _Row):
        texts = [path.read_text(encoding="utf-8") for path in _answers(folder, row.name)]
        answers = tuple(kept(parse_answer(text, Program)) for text in texts)
        if answers:
            yield RecordedPlans(**row.model_dump(exclude={"name", "answers"}), answers=answers)


class _Row(RecordedPlans):
    name: str
    answers: tuple[dict[str, object], ...] = ()


def _answers(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"{name}.answer-*.json"))


def _turns(request: PlanRequest, answer: str) -> list[tuple[Message, ...]]:
    """What the planner asks, and asks again when this is answered."""
    model = ScriptedChatModel([answer])
    asking(model, HashingEmbedder(), samples=1, corrections=1).plan(request)
    return [asked.messages for asked in model.requests]


def _as_text(messages: Iterable[Message]) -> str:
    return "\n\n".join(f"=== {message.role}\n{message.content}" for message in messages) + "\n"
