"""Triage by a language model: the summary, and the choice among numbered teams."""

from collections.abc import Mapping, Sequence

import structlog
from pydantic import BaseModel, ConfigDict, Field

from services.contracts.triage import TeamChance
from services.kit.errors import FlowXpertError
from services.llm.chat_model import ChatModel, ChatRequest
from services.llm.prompts import load_prompt
from services.llm.structured import ask_for
from services.tickets.ticket.noise_reduction import reduce_noise

_PACKAGE = "services.tickets.triage"
_SUMMARY = load_prompt(_PACKAGE, "summary")
_CHOICE = load_prompt(_PACKAGE, "choice")
_TOKENS_OF_SUMMARY = 400
_TOKENS_OF_CHOICE = 50
_READ_CHARACTERS = 12_000

_log = structlog.get_logger()


class SummaryAnswer(BaseModel):
    """What the model says of a ticket."""

    model_config = ConfigDict(title="Summary")

    summary: str = Field(max_length=4000)


class NumberedTeam(BaseModel):
    """The number of a team; 0 for none of them."""

    model_config = ConfigDict(title="Choice")

    team: str = Field(max_length=8)


class TriageModel:
    """Client of the model for triage; what it does not answer in time needs a fallback."""

    def __init__(self, model: ChatModel) -> None:
        self._model = model

    def summarise(self, title: str, discussion: str, timeout_s: float) -> str:
        """Summarise the ticket without its noise; extractively if the model does not answer."""
        values = {"title": title, "discussion": discussion[:_READ_CHARACTERS]}
        request = ChatRequest(
            messages=_SUMMARY.render(values),
            temperature=0,
            max_tokens=_TOKENS_OF_SUMMARY,
            prompt=_SUMMARY.label,
            timeout_s=timeout_s,
        )
        try:
            summary = ask_for(self._model, request, SummaryAnswer)[0].summary.strip()
        except FlowXpertError as error:
            _log.warning("gateway.triage_summary_failed", error=error.name)
            summary = ""
        return summary or reduce_noise(title, discussion)

    def choose_team(
        self,
        ticket: str,
        teams: Sequence[TeamChance],
        descriptions: Mapping[str, str],
        doubts: str,
        timeout_s: float,
    ) -> str | None:
        """Return the name of the chosen team; "" for none, None if the model does not answer."""
        numbers = {str(number): team.team for number, team in enumerate(teams, start=1)}
        lines = []
        for number, team in zip(numbers, teams, strict=True):
            line = f"{number}. {team.team}. {descriptions.get(team.team, '')}".strip()
            lines.append(f"{line} ({'; '.join(team.why)})" if team.why else line)
        values = {"ticket": ticket, "teams": "\n".join(lines), "doubts": doubts or "none"}
        request = ChatRequest(
            messages=_CHOICE.render(values),
            temperature=0,
            max_tokens=_TOKENS_OF_CHOICE,
            json_schema=(
                {
                    "type": "object",
                    "properties": {"team": {"type": "string", "enum": ["0", *numbers]}},
                    "required": ["team"],
                    "additionalProperties": False,
                }
            ),
            prompt=_CHOICE.label,
            timeout_s=timeout_s,
        )
        try:
            number = ask_for(self._model, request, NumberedTeam)[0].team.strip()
        except FlowXpertError as error:
            _log.warning("gateway.triage_choice_failed", error=error.name)
            return None
        return "" if number == "0" else numbers.get(number)
