"""Turn level: the next act on gold histories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.benches.following.acts import Act, Call, digest_of
from evaluation.benches.following.forms import Form
from evaluation.benches.following.prompts import as_text, histories
from evaluation.benches.following.sessions import Session, Turn
from evaluation.benches.following.turn_files import kept, key_of
from evaluation.material.recorded_following import RecordedAct
from evaluation.measures.following import Judged, turn_figures
from services.llm.chat_model import (
    ChatModel,
    ChatRequest,
    Message,
    ModelAnswerError,
    ModelRefusedError,
)
from services.llm.structured import ask_for

MOST_TOKENS = 256
"""Of an answer."""

Answer = Callable[[str, Sequence[Message]], RecordedAct | None]
"""The act of a turn by its key, as it is kept; None where nobody was asked."""


@dataclass(frozen=True)
class TurnRow:
    """A session's figures under one form."""

    session: str
    form: Form
    turns: int
    figures: Mapping[str, float]


def by_model(model: ChatModel, seed: int) -> Answer:
    """A chat model; what cannot be read counts as no act."""

    def answer(key: str, messages: Sequence[Message]) -> RecordedAct:
        return kept(key, digest_of(as_text(messages)), next_act(model, messages, seed))

    return answer


def next_act(model: ChatModel, messages: Sequence[Message], seed: int) -> Act | None:
    """What a model answers; None where that is no act, or where its server refuses the request."""
    request = ChatRequest(
        messages=tuple(messages), temperature=0.0, max_tokens=MOST_TOKENS, seed=seed
    )
    try:
        return ask_for(model, request, Act)[0]
    except (ModelAnswerError, ModelRefusedError):  # too long a page, as a rule
        return None


def by_record(acts: Mapping[str, RecordedAct]) -> Answer:
    """What was recorded, where the same was asked."""

    def answer(key: str, messages: Sequence[Message]) -> RecordedAct | None:
        act = acts.get(key)
        return act if act and act.prompt == digest_of(as_text(messages)) else None

    return answer


def measure_turns(
    sessions: Sequence[Session],
    form: Form,
    answer: Answer,
    seed: int,
    advance: Callable[[], None] = lambda: None,
) -> list[TurnRow]:
    """A row for each session of which any turn was answered, by its answered turns."""
    rows = []
    for session in sessions:
        turns = zip(session.turns, histories(session, form, seed), strict=True)
        judged = [
            judge(turn, act, form)
            for place, (turn, messages) in enumerate(turns)
            if (act := answer(f"turn/{form.value}/{key_of(session, place)}", messages)) is not None
        ]
        if judged:
            rows.append(TurnRow(session.id, form, len(judged), turn_figures(judged)))
        advance()
    return rows


def judge(turn: Turn, act: RecordedAct, form: Form) -> Judged:
    """An act beside the right one."""
    right = turn.act.call
    return Judged(
        tool=act.tool,
        arguments=Call(tool=act.tool, arguments=act.arguments).pairs(),
        right_tool=right.tool if right else "",
        right_arguments=right.pairs() if right else frozenset(),
        node=act.node.strip().strip("[]") if form.names_nodes else None,
        right_node=turn.act.node,
        off=act.off_procedure,
        right_off=bool(turn.act.off_procedure),
        is_none=act.is_none,
    )
