"""Sessions with their gold histories: the way through the page that the site calls for."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evaluation.benches.execution import Right, rights
from evaluation.benches.following.acts import Act, Call
from evaluation.benches.following.scenes import (
    DEVICE,
    Card,
    PersonFact,
    Scene,
    SceneError,
    call_argument,
    cards_of,
    is_of_every_page,
    longest,
    tools_of_steps,
    workflow_for,
    written,
)
from evaluation.benches.following.surroundings import Surroundings, open_surroundings
from services.runbook.lowering import SOLVED_TEXT
from services.simulator.faults import RepairEffect
from services.simulator.model import GATEWAY, healthy_world
from services.workflow.model import Step, StepKind, Workflow

GO_ON = "All right. Please go on."
NOT_COVERED = "The page does not cover that; please open a ticket of its own for it. I go on here."
_IN_VAIN = {"still ": "Yes", "session Established": "No"}
"""Where a change does not help: what is answered to questions with these words."""
_LONGEST_WAY = 60


@dataclass(frozen=True)
class Turn:
    """What an agent hears, and what is right to do then."""

    heard: tuple[str, ...]
    """Messages of the person and of tools since its last act."""
    act: Act
    round: tuple[int, int]
    """Acts of the procedure before it, and whether it follows what the page does not cover. Turns
    of one round can be asked together: no history among them tells the right act of another."""


@dataclass(frozen=True)
class Session:
    """One session."""

    scene: Scene
    role: str
    task: str
    workflow: Workflow
    cards: Mapping[str, Card]
    values: Mapping[str, str]
    """Every argument that is right in it, by the name of the parameter."""
    calls: Mapping[str, Call]
    """What carries out each step of the workflow that is no question."""
    turns: tuple[Turn, ...]

    @property
    def id(self) -> str:
        """Its name."""
        return self.scene.id

    @property
    def path(self) -> list[str]:
        """Steps that are done on the right way, in order."""
        return [turn.act.node or "" for turn in self.turns if turn.act.call]

    @property
    def goals(self) -> tuple[Call, ...]:
        """What the person wants done: what is changed or asked for on the way, and the end."""
        way = self.path
        return tuple(
            self.calls[step]
            for step in way
            if self.cards[self.calls[step].tool].change or step == way[-1]
        )

    def open(self) -> Surroundings:
        """The site as it is at the beginning."""
        return open_surroundings(self.scene, self.cards, self.values)

    def ends(self, call: Call) -> bool:
        """Whether it is the end of some way through the page, or of the session whatever it is."""
        if call.tool != "ask_team" and is_of_every_page(call.tool):
            return True
        return any(
            call.is_same(self.calls[step.id]) for step in self.workflow.of_kind(StepKind.TERMINAL)
        )


def sessions() -> list[Session]:
    """All of them, in the order in which they are written down."""
    gold = rights()
    return [_session(scene, gold) for scene in written()[1]]


def _session(scene: Scene, gold: Mapping[str, Right]) -> Session:
    workflow, cards, values = workflow_for(scene.document), cards_of(scene.kit), _values(scene)
    calls = {
        step: _call(command, cards, values)
        for step, command in tools_of_steps(scene.kit, workflow).items()
    }
    way = _Way(scene, workflow, calls, gold)
    return Session(
        scene=scene,
        role=written()[0][scene.kit].role,
        task=scene.task.format(**values),
        workflow=workflow,
        cards=cards,
        values=values,
        calls=calls,
        turns=tuple(
            way.turns(scene.task.format(**values), open_surroundings(scene, cards, values))
        ),
    )


def _call(command: str, cards: Mapping[str, Card], values: Mapping[str, str]) -> Call:
    tool, _, value = command.partition(" ")
    if is_of_every_page(tool):
        return Call(tool=tool, arguments=call_argument(tool, value))
    arguments = {name: values.get(name, "") for name in cards[tool].parameters}
    return Call(tool=tool, arguments=arguments)


def _values(scene: Scene) -> dict[str, str]:
    """Of a fault also what only looking tells."""
    if not scene.fault:
        return dict(scene.labels)
    fault, world = scene.broken(), healthy_world(0.0)
    device, place = world.devices[fault.device], fault.place
    labels: dict[str, str] = fault.alert(world)["labels"]
    session = device.sessions.get(labels.get("neighbor", ""))
    return {
        DEVICE: fault.device,
        "neighbor": labels.get("neighbor", ""),
        "interface": session.interface if session else labels.get("interface", ""),
        "asn": str(device.asn),
        "gateway": GATEWAY,
        "process": place,
        "core": place,
    }


class _Way:
    """The right way through a page, step by step."""

    def __init__(
        self,
        scene: Scene,
        workflow: Workflow,
        calls: Mapping[str, Call],
        gold: Mapping[str, Right],
    ) -> None:
        self._scene = scene
        self._workflow = workflow
        self._calls = calls
        self._gold = gold

    def turns(self, task: str, site: Surroundings) -> Iterator[Turn]:
        """Each act with what is heard before it."""
        heard: tuple[str, ...] = (user_line(task),)
        step = self._workflow.steps[0]
        depth, aside = 0, self._scene.aside
        for _ in range(_LONGEST_WAY):
            fact = self._fact_for(step) if step.kind is StepKind.DECISION else None
            if fact:
                yield Turn(heard, Act(node=step.id, say=fact.asks), (depth, 0))
                heard, depth = (user_line(fact.says),), depth + 1
            elif step.kind is not StepKind.DECISION:
                call, after = self._calls[step.id], int(heard[-1] == user_line(GO_ON))
                yield Turn(heard, Act(node=step.id, call=call), (depth, after))
                heard, depth = (shown(site.call(call)),), depth + 1
                if aside and aside.after == call.tool:
                    heard = (*heard, user_line(aside.says))
                    yield Turn(heard, Act(say=NOT_COVERED, off_procedure=True), (depth, 0))
                    heard, aside = (user_line(GO_ON),), None
            if step.kind is StepKind.TERMINAL:
                return
            step = self._next(step)
        raise SceneError(f"{self._scene.id} goes round and round")

    def _fact_for(self, step: Step) -> PersonFact | None:
        facts = self._scene.knows
        return next((k for k in facts if k.decides and step.text.startswith(k.decides)), None)

    def _next(self, step: Step) -> Step:
        exits = self._workflow.exits(step.id)
        if step.kind is StepKind.DECISION:
            answer = self._answer(step)
            exits = [edge for edge in exits if edge.condition == answer]
        if len(exits) != 1:
            raise SceneError(f"{self._scene.id}: nobody says how {step.text!r} goes on")
        return self._workflow.by_id[exits[0].target]

    def _answer(self, step: Step) -> str:
        is_in_vain = bool(self._scene.fault) and (self._scene.broken().acts is RepairEffect.NOTHING)
        if step.implied and step.text == SOLVED_TEXT:
            return "No" if is_in_vain else "Yes"
        if not self._scene.fault:
            words = longest(self._scene.answers, step.text)
            return self._scene.answers[words] if words is not None else ""
        right = self._gold[self._scene.fault].answer_to(step.text)
        if is_in_vain:
            return next((answer for words, answer in _IN_VAIN.items() if words in step.text), right)
        return right


def user_line(text: str) -> str:
    """Return the person's words as they are shown to the agent."""
    return f"The user says: {text}"


def shown(text: str) -> str:
    """What a tool answers, as it is shown."""
    return f"The tool answers:\n{text}"
