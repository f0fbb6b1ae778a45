"""Triage by a language model: the summary, and the choice among numbered teams."""

from collections.abc import Mapping, Sequence

import structlog
from pydantic import BaseModel, Field

from services.contracts.triage import TeamChance
from services.gateway.ticket.noise_reduction import reduce_noise
from services.kit.errors import FlowXpertError
from services.llm.chat_model import ChatModel, ChatRequest
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for

_ROOM = "services.gateway.triage"
_SUMMARY = load_prompt(_ROOM, "summary")
_CHOICE = load_prompt(_ROOM, "choice")
_TOKENS_OF_SUMMARY = 400
_TOKENS_OF_CHOICE = 50
_READ_CHARACTERS = 12_000

_log = structlog.get_logger()


class Summary(BaseModel):
    """What the model says of a ticket."""

    summary: str = Field(max_length=4000)


class Choice(BaseModel):
    """The number of a team; 0 for none of them."""

    team: str = Field(max_length=8)


class TriageModel:
    """Asks the model; what it cannot answer in time is left to what needs no model."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def summary(self, title: str, discussion: str, timeout_s: float) -> str:
        """The ticket without its noise; the extractive summary when the model does not answer."""
        values = {"title": title, "discussion": discussion[:_READ_CHARACTERS]}
        request = ChatRequest(
            messages=_SUMMARY.render(values),
            temperature=0,
            max_tokens=_TOKENS_OF_SUMMARY,
            prompt=_SUMMARY.label,
            timeout_s=timeout_s,
        )
        try:
            told = ask_for(self._model, request, Summary)[0].summary.strip()
        except FlowXpertError as error:
            _log.warning("gateway.triage_summary_failed", error=type(error).__name__)
            told = ""
        return told or reduce_noise(title, discussion)

    def choice(
        self,
        ticket: str,
        teams: Sequence[TeamChance],
        descriptions: Mapping[str, str],
        doubts: str,
        timeout_s: float,
    ) -> str | None:
        """One of the teams by name; "" for none of them, None when the model does not answer."""
        numbers = {str(number): team.team for number, team in enumerate(teams, start=1)}
        lines = (
            f"{number}. {_told(team, descriptions.get(team.team, ''))}"
            for number, team in zip(numbers, teams, strict=True)
        )
        values = {"ticket": ticket, "teams": "\n".join(lines), "doubts": doubts or "none"}
        request = ChatRequest(
            messages=_CHOICE.render(values),
            temperature=0,
            max_tokens=_TOKENS_OF_CHOICE,
            json_schema=_schema(["0", *numbers]),
            prompt=_CHOICE.label,
            timeout_s=timeout_s,
        )
        try:
            number = ask_for(self._model, request, Choice)[0].team.strip()
        except FlowXpertError as error:
            _log.warning("gateway.triage_choice_failed", error=type(error).__name__)
            return None
        return "" if number == "0" else numbers.get(number)


def _told(team: TeamChance, description: str) -> str:
    about = f"{team.team}. {description}".strip()
    return f"{about} ({'; '.join(team.why)})" if team.why else about


def _schema(numbers: Sequence[str]) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {"team": {"type": "string", "enum": list(numbers)}},
        "required": ["team"],
        "additionalProperties": False,
    }
