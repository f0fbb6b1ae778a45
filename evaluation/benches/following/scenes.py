"""The sessions as they are written down: pages, tools, what the site is like and what is asked."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from evaluation.material.page_reader import workflow_of
from services.execution.tools.tool import Tool, ToolEffect
from services.kit.errors import InvalidInputError
from services.kit.value import Value
from services.runbook.lowering import DONE_TEXT, OPEN_TEXT, RESOLVED_TEXT, STOP_TEXT
from services.runbook.model import Reading
from services.simulator.faults import Fault, alert_of, variants
from services.simulator.simulation import CATALOGUE, READINGS
from services.workflow.model import StepKind, Workflow

SCENES = Path(__file__).parents[2] / "material" / "following.yaml"
EXAMPLES = Path(__file__).parents[3] / "examples" / "readings.jsonl"
NETWORK = "network"
DEVICE = "device"
_ON_DEVICE = {DEVICE: "name of the switch"}
_IMPLIED_ENDS = {
    OPEN_TEXT: "hand_over duty engineer",
    "Escalate": "hand_over duty engineer",
    STOP_TEXT: "close_ticket nothing more on the page",
    DONE_TEXT: "close_ticket done",
    RESOLVED_TEXT: "close_ticket resolved",
}
"""Tools of ends that no page says."""
_ENDS = {"close_ticket": "outcome", "hand_over": "team", "follow_page": "page", "ask_team": "work"}
"""Tools of every page, each with its parameter."""
_SAYS = {
    "close_ticket": "Close the ticket, which ends the session",
    "hand_over": "Hand the ticket over to a team, which ends the session",
    "follow_page": "Go on with another page, which ends the session",
    "ask_team": "Ask the data center team to do something at the device",
}


class SceneError(InvalidInputError):
    """A session contradicts its page: a step without a tool, a question without an answer."""


class WrittenTool(Value):
    """A tool of a page."""

    says: str
    steps: tuple[str, ...]
    """First words of the steps that it carries out."""
    takes: tuple[str, ...] = ()
    """Parameters beside the device."""
    change: bool = False
    anywhere: bool = False
    """Whether it names no device."""


class Kit(Value):
    """What carries out the steps of a page, or of the pages of the network."""

    role: str
    tools: Mapping[str, WrittenTool] = Field(default={})
    steps: Mapping[str, str] = Field(default={})
    """First words of a step, and the tool of the network's catalogue with its one argument."""
    ends: Mapping[str, str] = Field(default={})


class PersonFact(Value):
    """A fact that a person tells who is asked about it."""

    about: tuple[str, ...]
    """Words of which a question has one."""
    says: str
    decides: str = ""
    """First words of the question of the page that only the person can answer."""
    asks: str = ""
    """How a good agent asks for it."""


class Aside(Value):
    """What the person asks for in between."""

    after: str
    """The tool after whose first call."""
    says: str


class Scene(Value):
    """One session as it is written down."""

    id: str
    task: str
    fault: str = ""
    variant: int = 0
    page: str = ""
    labels: Mapping[str, str] = Field(default={})
    answers: Mapping[str, str] = Field(default={})
    shows: Mapping[str, str] = Field(default={})
    knows: tuple[PersonFact, ...] = ()
    aside: Aside | None = None

    @property
    def kit(self) -> str:
        """The name of its tools."""
        return NETWORK if self.fault else self.page

    @property
    def document(self) -> str:
        """The page that it is about."""
        return f"{alert_of(self.fault)}.md" if self.fault else self.page

    def broken(self) -> Fault:
        """The fault of the simulated network."""
        return variants(self.fault)[self.variant]


class Card(Value):
    """A tool as an agent is shown it."""

    name: str
    says: str
    parameters: Mapping[str, str]
    """What each of them is; all are required."""
    change: bool = False

    def line(self) -> str:
        """For a prompt."""
        parameters = (
            f"{name} ({what})" if what else name for name, what in self.parameters.items()
        )
        return f"- {self.name}: {self.says}. Arguments: {'; '.join(parameters) or 'none'}."


@cache
def written(path: Path = SCENES) -> tuple[Mapping[str, Kit], tuple[Scene, ...]]:
    """The kits by name, and the sessions."""
    content: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    kits = {name: Kit.model_validate(each) for name, each in content["kits"].items()}
    return kits, tuple(Scene.model_validate(each) for each in content["sessions"])


@cache
def workflow_for(document: str) -> Workflow:
    """Of an approved page of the simulated network, or of the examples.

    Raises:
        SceneError: There is no such page, or it tells no procedure.
    """
    rows = [
        json.loads(line)
        for path in (READINGS, EXAMPLES)
        if path.exists()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    row = next((row for row in rows if row["document"] == document), None)
    if row is None and not EXAMPLES.exists():
        raise SceneError(f"the examples are not at {EXAMPLES}: use a checkout of the sources")
    reading = Reading.model_validate(row["reading"]) if row else None
    workflow = workflow_of(reading, document, "") if reading else None
    if workflow is None:
        raise SceneError(f"{document!r} has no approved reading")
    return workflow


@cache
def network_tools() -> Mapping[str, Tool]:
    """The catalogue of the simulated network."""
    entries = yaml.safe_load((CATALOGUE / "switch.yaml").read_text(encoding="utf-8"))
    return {each["name"]: Tool.model_validate(each) for each in entries}


def cards_of(kit_name: str) -> dict[str, Card]:
    """Every tool that a session with this kit may call, by name."""
    kit = written()[0][kit_name]
    if kit_name == NETWORK:
        cards = [_card_of(tool) for tool in network_tools().values()]
    else:
        cards = [
            Card(
                name=name,
                says=tool.says,
                parameters=({} if tool.anywhere else _ON_DEVICE) | dict.fromkeys(tool.takes, ""),
                change=tool.change,
            )
            for name, tool in kit.tools.items()
        ]
    commands = (*kit.steps.values(), *kit.ends.values(), *_IMPLIED_ENDS.values())
    ends = [command.partition(" ") for command in dict.fromkeys(commands)]
    for tool_name, parameter in _ENDS.items():
        values = sorted({value for name, _, value in ends if name == tool_name})
        if values:
            says = f"one of: {', '.join(values)}"
            cards.append(
                Card(
                    name=tool_name,
                    says=_SAYS[tool_name],
                    parameters={parameter: says},
                    change=tool_name == "ask_team",
                )
            )
    return {card.name: card for card in cards}


def _card_of(tool: Tool) -> Card:
    parameters = {
        name: each.description or ("number" if each.type == "integer" else "")
        for name, each in tool.parameters.items()
    }
    return Card(
        name=tool.name,
        says=tool.description,
        parameters=_ON_DEVICE | parameters,
        change=tool.effect is ToolEffect.CHANGE,
    )


def tools_of_steps(kit_name: str, workflow: Workflow) -> dict[str, str]:
    """The tool, perhaps with its one argument, of every step that is no question, by its id.

    Raises:
        SceneError: A step has none.
    """
    kit = written()[0][kit_name]
    tool_by_words = {words: name for name, tool in kit.tools.items() for words in tool.steps}
    tool_by_words |= {**_IMPLIED_ENDS, **kit.steps, **kit.ends}
    tool_by_step = {}
    for step in workflow.steps:
        if step.kind is not StepKind.DECISION:
            words = longest(tool_by_words, step.text)
            if words is None:
                raise SceneError(f"{kit_name}: no tool carries out {step.text!r}")
            tool_by_step[step.id] = tool_by_words[words]
    return tool_by_step


def longest(prefixes: Mapping[str, object], text: str) -> str | None:
    """Of these first words the longest that a text begins with; None where it has none."""
    return max((words for words in prefixes if text.startswith(words)), key=len, default=None)


def call_argument(tool: str, value: str) -> dict[str, str]:
    """The one argument of a tool that every page has."""
    return {_ENDS[tool]: value} if value else {}


def is_of_every_page(tool: str) -> bool:
    """Whether it is one by which a session is ended, or somebody asked for hands."""
    return tool in _ENDS
