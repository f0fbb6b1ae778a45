"""What answers an agent's calls: switches that are simulated, or what is written down of a site."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from evaluation.benches.following.acts import Call
from evaluation.benches.following.scenes import (
    DEVICE,
    Card,
    PersonFact,
    Scene,
    is_of_every_page,
    network_tools,
)
from services.execution.tools.tool import BadArgumentError, SshWay
from services.simulator.faults import ActiveFaults
from services.simulator.model import Device, healthy_world
from services.simulator.shell import Shell

CALL_S = 60.0
"""Seconds of the simulated clock that a call takes; late effects have come by the next one."""
_BEGINS_AT = 1_000_000.0
_DOES_NOT_KNOW = "I cannot tell you more; please go on as you think right."


class Surroundings(Protocol):
    """A site, changed by what is called."""

    def call(self, call: Call) -> str:
        """What the tool tells; an error in words where it cannot be called so."""


def open_surroundings(
    scene: Scene, cards: Mapping[str, Card], values: Mapping[str, str]
) -> Surroundings:
    """A fresh site."""
    if scene.fault:
        return SimulatedSwitches(scene, cards)
    return WrittenSite(scene, cards, values)


def complaint(call: Call, cards: Mapping[str, Card]) -> str:
    """Why it cannot be called; empty where it can."""
    card = cards.get(call.tool)
    if card is None:
        return f"error: there is no tool {call.tool}"
    if missing := sorted(card.parameters.keys() - call.arguments.keys()):
        return f"error: {call.tool} needs {', '.join(missing)}"
    if unknown := sorted(call.arguments.keys() - card.parameters.keys()):
        return f"error: {call.tool} does not take {', '.join(unknown)}"
    return ""


class SimulatedSwitches:
    """The simulator's own shells, on a clock that stands still between calls."""

    def __init__(self, scene: Scene, cards: Mapping[str, Card]) -> None:
        self._cards = cards
        self._now = _BEGINS_AT
        self.world = healthy_world(self._now)
        self.broken = ActiveFaults(self.world, lambda: self._now)
        self.fault = scene.broken()
        self.broken.inject(self.fault)

    def call(self, call: Call) -> str:
        """See `Surroundings.call`."""
        if refusal := complaint(call, self._cards):
            return refusal
        if is_of_every_page(call.tool):
            return "done"
        arguments = dict(call.arguments)
        device = self.world.devices.get(arguments.pop(DEVICE))
        if device is None:
            return f"error: there is no switch {call.arguments[DEVICE]}"
        tool = network_tools()[call.tool]
        try:
            arguments = tool.checked(arguments)
        except BadArgumentError as error:
            return f"error: {error}"
        self._now += CALL_S
        self.broken.run_due()
        if not isinstance(tool.way, SshWay):
            raise TypeError(f"{tool.name} is no tool of a switch")
        lines = [" ".join(template.filled(arguments)) for template in tool.way.templates]
        if tool.way.lines:
            lines = ["configure terminal", *lines, "end"]
        return self._run(device, lines) or "done"

    def _run(self, device: Device, lines: Sequence[str]) -> str:
        def act(kind: str, what: str, change: Callable[[], None]) -> None:
            self.broken.apply_change(device, kind, what, change)

        shell = Shell(self.world, device, lambda: self._now, act)
        return "\n".join(filter(None, (shell.run(line) for line in lines)))


class WrittenSite:
    """Answers that are written down, some of them for the time after another call."""

    def __init__(self, scene: Scene, cards: Mapping[str, Card], values: Mapping[str, str]) -> None:
        self._scene = scene
        self._cards = cards
        self._values = values
        self._called: set[str] = set()

    def call(self, call: Call) -> str:
        """See `Surroundings.call`."""
        if refusal := complaint(call, self._cards):
            return refusal
        for name, value in call.arguments.items():
            expected = self._values.get(name, value)
            if expected.casefold() != value.strip().casefold():
                return f"error: nothing is found for {name} {value}"
        self._called.add(call.tool)
        fine = "done" if self._cards[call.tool].change else "nothing out of the ordinary"
        answer = "done" if is_of_every_page(call.tool) else fine
        for trigger, shown in self._scene.shows.items():
            name, _, after = trigger.partition(" after ")
            if name == call.tool and (not after or after in self._called):
                answer = shown
        return answer


def matching_facts(knows: Sequence[PersonFact], question: str) -> tuple[int, ...]:
    """Return the indices of the facts that a question asks about."""
    folded = question.casefold()
    return tuple(
        place
        for place, fact in enumerate(knows)
        if any(word.casefold() in folded for word in fact.about)
    )


def reply_of(knows: Sequence[PersonFact], fact_indices: Sequence[int]) -> str:
    """What the person says."""
    return " ".join(knows[place].says for place in fact_indices) or _DOES_NOT_KNOW
