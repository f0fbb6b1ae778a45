"""A scripted solver of the simulated network: it knows the tools and what is right, and no page.

It tries irrelevant looks, sometimes a wrong one, sometimes one that fails; then it looks where the
fault is, changes what mends it, and watches whether that shows. What it leaves behind are traces.
"""

import random
from collections.abc import Callable, Mapping, Sequence

from services.contracts.execution import RunOutcome
from services.execution.adapters.port import NotSentError, ToolAdapter
from services.execution.tools.catalogue import Catalogue
from services.execution.tools.compare import Scalar, all_hold
from services.execution.tools.outputs import read_output
from services.execution.tools.tool import Tool, ToolEffect
from services.investigation.summary.trace import Call, Trace
from services.kit.value import Value
from services.simulator.faults import Fault
from services.simulator.model import GATEWAY

THINKS_S = (2.0, 15.0)
"""Seconds between two of its calls."""
RISES_S = 45.0
"""Seconds between two looks at what may rise."""
DETOURS = ("bgp_summary", "fans", "cpu", "flash", "default_route", "log", "ping")


class Gold(Value):
    """What it knows of one kind of fault."""

    tools: tuple[str, ...]
    """In their order; changes after a `!`."""
    end: str
    """`recovered`, `hands` or `closed`."""


class Solver:
    """Works on one ticket after the other; the same seed makes the same traces."""

    def __init__(
        self,
        catalogue: Catalogue,
        adapter: ToolAdapter,
        now: Callable[[], float],
        wait: Callable[[float], None],
        *,
        seed: int = 0,
    ) -> None:
        self._catalogue = catalogue
        self._adapter = adapter
        self._now = now
        self._wait = wait
        self._chance = random.Random(f"solver/{seed}")  # noqa: S311 - the same each time

    def trace(self, fault: Fault, labels: Mapping[str, str], gold: Gold, name: str) -> Trace:
        """What it does about a ticket."""
        return _Solving(self, fault, labels, gold, name).done()


class _Solving:
    def __init__(
        self, solver: Solver, fault: Fault, labels: Mapping[str, str], gold: Gold, name: str
    ) -> None:
        self._solver = solver
        self._fault = fault
        self._labels = labels
        self._gold = gold
        self._name = name
        self._begun = solver._now()
        self._calls: list[Call] = []
        self._observed_fields: dict[str, Scalar] = {}

    def done(self) -> Trace:
        chance, wanted = self._solver._chance, [*self._gold.tools]
        looks = [each for each in wanted if not each.startswith("!")]
        self._detour(chance.randrange(3))
        if chance.random() < 0.3:
            self._fail(looks[0])
        if chance.random() < 0.3:
            self._look_wrong()
        for tool in looks:
            self._look(tool)
            if self._fault.kind == "crc_errors":
                self._solver._wait(RISES_S)
                self._look(tool)
            self._detour(chance.randrange(2))
        ended = RunOutcome.HANDED_OVER if self._gold.end == "hands" else RunOutcome.DONE
        for tool in (each.removeprefix("!") for each in wanted if each.startswith("!")):
            ended = RunOutcome.RECOVERED if self._change(tool) else RunOutcome.HANDED_OVER
        return Trace(
            id=self._name,
            ticket=self._name,
            labels=dict(self._labels),
            begins_at=self._begun,
            calls=tuple(self._calls),
            ended=ended,
        )

    def _detour(self, times: int) -> None:
        for name in self._solver._chance.sample(DETOURS, times):
            self._look(name)

    def _look(self, name: str, **arguments: str) -> Mapping[str, Scalar]:
        tool = self._solver._catalogue.tool(name)
        return self._call(tool, {n: arguments.get(n) or self._argument(n) for n in tool.parameters})

    def _look_wrong(self) -> None:
        """At a port that has nothing to do with it."""
        self._look("interface_state", interface=f"Ethernet1/{self._solver._chance.randint(1, 4)}")

    def _fail(self, name: str) -> None:
        tool = self._solver._catalogue.tool(name)
        arguments = {n: self._argument(n) for n in tool.parameters}
        self._note(tool, arguments, {}, succeeded=False)

    def _change(self, name: str) -> bool:
        tool = self._solver._catalogue.tool(name)
        arguments = {n: self._argument(n) for n in tool.parameters}
        self._call(tool, arguments)
        place, is_seen = len(self._calls) - 1, False
        wanted = tool.verify
        if wanted is not None:
            by, until = (
                self._solver._catalogue.tool(wanted.tool),
                self._solver._now() + wanted.within_s,
            )
            while not is_seen and self._solver._now() < until:
                self._solver._wait(wanted.every_s)
                fields = self._call(by, wanted.filled(arguments))
                is_seen = all_hold(wanted.tests, fields) is True
        self._calls[place] = self._calls[place].model_copy(update={"verified": is_seen})
        return is_seen

    def _argument(self, name: str) -> str:
        """What the ticket or a look has told, as somebody at the keyboard would know it."""
        values = {**self._observed_fields, **self._labels, "count": "20", "gateway": GATEWAY}
        if name == "neighbor" and "neighbor" not in self._labels:
            return GATEWAY
        return str(values.get(name) or self._fault.place)

    def _call(self, tool: Tool, arguments: Mapping[str, str]) -> Mapping[str, Scalar]:
        self._solver._wait(self._solver._chance.uniform(*THINKS_S))
        target = self._solver._catalogue.target(self._fault.device)
        try:
            answer = self._solver._adapter.call(tool, target, tool.checked(arguments))
        except NotSentError:
            self._note(tool, arguments, {}, succeeded=False)
            return {}
        fields = read_output(tool, answer.text, target.platform).fields
        self._note(tool, arguments, fields)
        if tool.effect is ToolEffect.READ and tool.name in self._gold.tools:
            self._observed_fields |= fields
        return fields

    def _note(
        self,
        tool: Tool,
        arguments: Mapping[str, str],
        fields: Mapping[str, Scalar],
        *,
        succeeded: bool = True,
    ) -> None:
        self._calls.append(
            Call(
                tool=tool.name,
                effect=tool.effect,
                kind=tool.target,
                target=self._fault.device,
                arguments=dict(arguments),
                fields=dict(fields),
                at=self._solver._now() - self._begun,
                succeeded=succeeded,
            )
        )


def expected(
    fault: Fault, traces: Sequence[Trace], gold: Gold
) -> set[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Changes that are right for this fault, as the solver made them on the same device."""
    tools = {each.removeprefix("!") for each in gold.tools if each.startswith("!")}
    return {
        (c.target, c.tool, tuple(sorted(c.arguments.items())))
        for each in traces
        for c in each.calls
        if c.tool in tools and c.target == fault.device
    }
