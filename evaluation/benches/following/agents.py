"""Who acts in a session that is played: a model, a reader of files, or a record of either."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evaluation.benches.following.acts import Act, Call
from evaluation.benches.following.prompts import as_text
from evaluation.benches.following.turn_files import act_of
from evaluation.benches.following.turns import next_act
from evaluation.material.recorded_following import RecordedAct
from services.llm.chat_model import ChatModel, Message

LOOKED_EVERY_S = 0.5


class AgentGoneError(Exception):
    """Nobody acts any more: the session is left out."""


@dataclass(frozen=True)
class Decision:
    """What an agent does next."""

    act: Act | None
    """None: it answered nothing that can be read."""
    fact_indices: tuple[int, ...] | None = None
    """Indices of the person's facts that the act asks for; set in records alone."""


class Agent(Protocol):
    """Acts in sessions; several may be played at once."""

    def decide(self, key: str, prompt: str, messages: Sequence[Message]) -> Decision:
        """The next act; `key` names the turn, `prompt` what is asked in it.

        Raises:
            AgentGoneError: Nobody answers.
        """

    def has_ended(self, key: str) -> None:
        """The session has ended, after this many turns."""


class ModelAgent:
    """A chat model."""

    def __init__(self, model: ChatModel, seed: int) -> None:
        self._model = model
        self._seed = seed

    def decide(self, _key: str, _prompt: str, messages: Sequence[Message]) -> Decision:
        """See `Agent.decide`."""
        return Decision(next_act(self._model, messages, self._seed))

    def has_ended(self, _key: str) -> None:
        """See `Agent.has_ended`."""


class FileAgent:
    """Whoever writes `NNN.answer.json` beside `NNN.prompt.txt`, in a folder for each session."""

    def __init__(self, folder: Path, wait_s: float) -> None:
        """Waits so long for each answer; one that is there already is taken at once."""
        self._folder = folder
        self._wait_s = wait_s

    def decide(self, key: str, _prompt: str, messages: Sequence[Message]) -> Decision:
        """See `Agent.decide`."""
        stem = self._stem(key)
        stem.parent.mkdir(parents=True, exist_ok=True)
        prompt, answer = stem.with_suffix(".prompt.txt"), stem.with_suffix(".answer.json")
        is_first = len(messages) <= 2
        text = as_text(messages) if is_first else f"(goes on)\n\n{as_text(messages[-1:])}"
        form = "" if is_first else "\nAnswer with one JSON object in the form that 001 tells.\n"
        prompt.write_text(f"{text}{form}\nThe answer goes into {answer.name}.\n", encoding="utf-8")
        until = time.monotonic() + self._wait_s
        while True:
            if answer.exists():
                try:
                    return Decision(act_of(json.loads(answer.read_text(encoding="utf-8"))))
                except ValueError:  # as a rule, it is being written
                    if time.monotonic() >= until:
                        return Decision(None)
            if time.monotonic() >= until:
                raise AgentGoneError(f"{answer} did not come")
            time.sleep(min(LOOKED_EVERY_S, self._wait_s))

    def has_ended(self, key: str) -> None:
        """See `Agent.has_ended`."""
        path = self._stem(key).parent / "ended.txt"
        path.write_text("The session has ended.\n", encoding="utf-8")

    def _stem(self, key: str) -> Path:
        """`live/text/s03/002` is `text-s03/002`."""
        _, form, session, number = key.split("/")
        return self._folder / f"{form}-{session}" / number


class RecordedAgent:
    """What was done before, as long as the same is asked."""

    def __init__(self, acts: Mapping[str, RecordedAct]) -> None:
        self._acts = acts

    def decide(self, key: str, prompt: str, _messages: Sequence[Message]) -> Decision:
        """See `Agent.decide`."""
        kept = self._acts.get(key)
        if kept is None or kept.prompt != prompt:
            raise AgentGoneError(f"{key} was not recorded")
        call = Call(tool=kept.tool, arguments=kept.arguments) if kept.tool else None
        if call is None and not kept.said:
            return Decision(None)
        act = Act(node=kept.node or None, call=call, off_procedure=kept.off_procedure)
        return Decision(act if call else act.model_copy(update={"say": "…"}), kept.told)

    def has_ended(self, _key: str) -> None:
        """See `Agent.has_ended`."""
