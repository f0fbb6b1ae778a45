"""The scorer's questions as files, for whoever is to answer them, and the answers as a record.

`NAME.prompt.txt` holds numbered questions, `NAME.keys.json` what they are known by; the answers are
`NAME.answer.json`, letters by number.
"""

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from string import ascii_uppercase

from evaluation.benches.scoring.judge_candidates import ONE_GUARD
from evaluation.benches.scoring.judge_setup import Judging
from evaluation.material.recorded_judge import RECORDED_JUDGE, RecordedChoice, key_of, read_choices
from services.kit.files import read_json
from services.llm.prompts import load_prompt
from services.scorer.judges.controls import CONTROLS
from services.scorer.judges.question import FactQuestion
from services.scorer.service import ScorerService
from services.scorer.settings import ScorerSettings

_MOST_OF_PLANS = 20
"""Questions about the plans of one ticket: more than are asked, to see whether more would help."""
_SYSTEM = load_prompt("services.scorer", "fact").system


def fact_questions(judging: Judging, guards_of: int) -> Iterator[FactQuestion]:
    """Yield the facts to judge: of recorded plans, their duels and one wrong guard of more rows.

    The controls come first, which show whether a judge gives one answer to everything.
    """
    yield from CONTROLS
    apart = ScorerService(judging.embedder, counts_votes=False)
    together = ScorerService(judging.embedder, ScorerSettings(judged_facts=_MOST_OF_PLANS))
    rows, bench = judging.rows("all", recorded=True), judging.best_of_n()
    for row in rows:
        yield from together.questions(together.cases(bench.request(row)))
    recorded_ids = {row.id for row in rows}
    more = [row for row in judging.rows("odd", recorded=False) if row.id not in recorded_ids][
        :guards_of
    ]
    duels = judging.duels()
    beyond = [duel for duel in duels.all(more) if duel.worse.origin == ONE_GUARD]
    for duel in (*duels.all(rows), *beyond):
        yield from apart.questions(apart.cases(duel.request))


def write_batches(questions: Iterable[FactQuestion], folder: Path, size: int) -> int:
    """Files of `size` questions that are not recorded yet, those about the same lines together.

    Returns how many questions.
    """
    folder.mkdir(parents=True, exist_ok=True)
    recorded = read_choices(RECORDED_JUDGE)
    keyed = ((key_of(question), question) for question in questions)
    open_questions = {key: question for key, question in keyed if key not in recorded}
    keys = sorted(open_questions, key=lambda key: open_questions[key].lines)
    for number, start in enumerate(range(0, len(keys), size), start=1):
        _write(
            folder / f"batch-{number:02}", {key: open_questions[key] for key in keys[start:][:size]}
        )
    return len(keys)


def collected(folder: Path) -> Iterator[RecordedChoice]:
    """The answers that there are; what names no option is left out."""
    for path in sorted(folder.glob("*.answer.json")):
        letters = read_json(path, dict[str, str])
        keys = read_json(
            path.with_name(f"{path.name.split('.')[0]}.keys.json"), dict[str, tuple[str, list[int]]]
        )
        for number, (key, order) in keys.items():
            place = ascii_uppercase.find(letters.get(number, "?"))
            if 0 <= place < len(order):
                yield RecordedChoice(key=key, chosen=order[place], options=len(order))


def _write(path: Path, batch: dict[str, FactQuestion]) -> None:
    orders = {key: _order(key, question) for key, question in batch.items()}
    numbered = {str(n): (key, orders[key]) for n, key in enumerate(batch, start=1)}
    texts = [_question_text(n, batch[key], order) for n, (key, order) in numbered.items()]
    path.with_suffix(".prompt.txt").write_text("\n\n".join((_SYSTEM, *texts)), encoding="utf-8")
    path.with_suffix(".keys.json").write_text(json.dumps(numbered), encoding="utf-8")


def _question_text(number: str, question: FactQuestion, order: Sequence[int]) -> str:
    options = "\n".join(
        f"{letter}. {question.options[place].text}"
        for letter, place in zip(ascii_uppercase, order, strict=False)
    )
    return f"##### {number}\nThe lines:\n{question.lines}\n\n{question.text}\n{options}"


def _order(key: str, question: FactQuestion) -> list[int]:
    order = list(range(len(question.options)))
    random.Random(key).shuffle(order)  # noqa: S311 - repeatable, no secret
    return order
