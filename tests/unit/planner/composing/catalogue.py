"""A catalogue to compose over, and a composer with or without a scripted model."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from services.contracts.execution import ToolField, ToolParameter, ToolSummary
from services.kit.access.caller import Caller
from services.knowledge.embedding.embedders import HashingEmbedder
from services.llm.chat_model import ChatRequest
from services.llm.guard import guard_model
from services.llm.scripted import ScriptedChatModel
from services.planner.composing.composer import Composer
from services.planner.settings import PlannerSettings


def tool(
    name: str, description: str, *parameters: ToolParameter, changes: bool = False, tells: str = ""
) -> ToolSummary:
    return ToolSummary(
        name=name,
        description=description,
        changes=changes,
        target="router",
        parameters=tuple(each.name for each in parameters),
        details=parameters,
        fields=tuple(ToolField(name=each) for each in tells.split()),
    )


TOOLS = (
    tool(
        "show_bgp_session",
        "Show the state of the BGP session with a neighbor",
        ToolParameter(name="neighbor", description="address of the neighbor", pattern=r"[0-9.]+"),
        tells="state uptime",
    ),
    tool(
        "clear_bgp_session",
        "Clear the BGP session with a neighbor",
        ToolParameter(name="neighbor", description="address of the neighbor", pattern=r"[0-9.]+"),
        changes=True,
    ),
    tool(
        "set_mtu",
        "Set the MTU of an interface",
        ToolParameter(name="interface", description="name of the interface"),
        ToolParameter(name="mtu", description="bytes", type="integer", minimum=68, maximum=9216),
        changes=True,
    ),
    tool(
        "send_message",
        "Send a message to a channel of the team",
        ToolParameter(name="channel", description="name of the channel", pattern=r"[#\w-]+"),
        ToolParameter(name="text", description="the message", pattern=".+"),
        changes=True,
    ),
    tool(
        "delete_volume",
        "Delete a volume with all its data",
        ToolParameter(name="volume", description="name of the volume"),
        changes=True,
    ),
    tool(
        "create_user",
        "Create a user account on a host",
        ToolParameter(name="user", description="name of the account"),
        ToolParameter(name="password", description="its first password", pattern=".+"),
        changes=True,
    ),
)


@dataclass
class Catalogued:
    """What a composer asks of other rooms."""

    tools_: Sequence[ToolSummary] = TOOLS
    readings_: Any = None
    execution: Any = field(init=False)

    def __post_init__(self) -> None:
        self.execution = self

    def tools(self) -> list[ToolSummary]:
        return list(self.tools_)

    @property
    def readings(self) -> Callable[[Caller], Any]:
        return lambda _caller: self.readings_


def composer(
    model: ScriptedChatModel | None = None,
    tools: Sequence[ToolSummary] = TOOLS,
    readings: object = None,
) -> Composer:
    around = Catalogued(tools, readings)
    return Composer(
        PlannerSettings(),
        around,
        lambda: HashingEmbedder(256),
        guard_model(model) if model else None,
    )


@dataclass
class Played:
    """A model that plays the members of the team, each from its own list of answers."""

    supervisor: list[dict[str, Any]] = field(default_factory=list)
    orchestrator: list[dict[str, Any]] = field(default_factory=list)
    filler: list[dict[str, Any]] = field(default_factory=list)
    prompts: list[tuple[str, str]] = field(default_factory=list)
    """Who was asked, and all that it was told."""

    def model(self) -> ScriptedChatModel:
        return ScriptedChatModel(self._answer)

    def _answer(self, request: ChatRequest) -> list[str]:
        member = request.prompt.partition("@")[0].removeprefix("compose-")
        prompt = "\n".join(message.content for message in request.messages)
        self.prompts.append((member, prompt))
        left = getattr(self, member)
        action = left.pop(0) if left else {"next": "done"}
        return [json.dumps({"analysis": "", "action": action})]

    @property
    def order(self) -> list[str]:
        return [member for member, _ in self.prompts]

    def prompts_to(self, member: str) -> str:
        return "\n".join(text for who, text in self.prompts if who == member)


ORCHESTRATE, FILL, DONE = {"next": "orchestrator"}, {"next": "filler"}, {"next": "done"}


def steps(*nodes: dict[str, Any], title: str = "Mend the session") -> dict[str, Any]:
    return {"title": title, "steps": list(nodes)}


def use(name: str | list[str], does: str = "") -> dict[str, Any]:
    return {"use": name, "do": does} if does else {"use": name}


def values(**of_steps: dict[str, Any]) -> dict[str, Any]:
    return {"parameters": of_steps}
