"""States of a page's blocks in its procedures: steps, conditions, notes, ways on."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import NamedTuple

from services.knowledge.page.block import BlockKind, Page
from services.knowledge.page.boxes import candidates
from services.runbook.checklist.build import first_instruction
from services.runbook.checklist.shown import options_in
from services.runbook.editing.block_edits import ListMode
from services.runbook.editing.block_operations import sentences_of
from services.runbook.editing.page_nodes import PageNodes
from services.runbook.model import (
    Arm,
    Choice,
    Do,
    End,
    Guard,
    Jump,
    LineRange,
    Loop,
    Mode,
    Node,
    Not,
    Noted,
    Outcome,
    Procedure,
    Remark,
    State,
    questions,
)
from services.runbook.program import with_ids
from services.runbook.words import ENDS, guard_in_words, quoted
from services.workflow.drawing.svg import StepLink
from services.workflow.model import Workflow
from services.workflow.plain import plain

LONGEST_LABEL = 60
_LIST_MODES = {
    Mode.EXCLUSIVE: ListMode.ONE_OF,
    Mode.FREE: ListMode.ONE_OF,
    Mode.ANY: ListMode.SEVERAL,
    Mode.SEVERAL: ListMode.SEVERAL,
    Mode.IN_ORDER: ListMode.IN_ORDER,
}


class Chip(NamedTuple):
    """A few words about a block, and the block that they point to."""

    kind: str
    words: str
    at: str = ""
    """Key of that block; empty for none."""


@dataclass
class BlockState:
    """A block in the procedures of its page."""

    is_candidate: bool = False
    """True if a person may say whether it is a step."""
    is_step: bool = False
    asks: bool = False
    """True if steps hang on its question."""
    number: int = 0
    """Number of its step in the drawing; 0 if no path leads there."""
    procedure: int | None = None
    drawn: list[str] = field(default_factory=list)
    """Steps of the drawings that cite it: the index of the procedure, a colon, the step's id."""
    chips: list[Chip] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    """Steps and notes behind it that a person added in his own words."""
    label: str = ""
    texts: list[str] = field(default_factory=list)
    """Words of its steps, then of its questions."""
    sentences: int = 0
    """Number of steps that its one step can be split into by its sentences; 0 if it cannot."""

    @property
    def words(self) -> str:
        """State of its box, in words."""
        return "a step" if self.is_step else "a question" if self.asks else "no step"


class PageStates:
    """States of all blocks of a page, by their keys."""

    def __init__(
        self, page: Page, procedures: Sequence[Procedure], workflows: Sequence[Workflow]
    ) -> None:
        """Collect the states; `workflows` are the procedures, drawn."""
        self.page = page
        may_be_steps = {place.block.key for place in candidates(page)}
        self.states = {
            place.block.key: BlockState(
                is_candidate=place.block.key in may_be_steps,
                label=shorten(
                    place.block.text or first_instruction(place.block),
                    LONGEST_LABEL,
                    placeholder="…",
                )
                if place.block.words or place.block.key in may_be_steps
                else "",
            )
            for place in page.places()
        }
        self.list_modes: dict[str, ListMode] = {}
        """Relation between the items of each list, by the key of the list."""
        self.block_of_step: dict[str, str] = {}
        """Keys of the blocks where the steps of the drawings begin, by their place and id."""
        self._indexed = [PageNodes(with_ids(each), page) for each in procedures]
        for number, (nodes, workflow) in enumerate(zip(self._indexed, workflows, strict=True)):
            self._add(number, nodes, workflow)

    def link(self, procedure: int) -> StepLink:
        """Return the function that leads from a step of a drawing to its block."""
        return lambda id_: f"#at-{self.block_of_step.get(f'{procedure}:{id_}', '')}"

    def mark_options(self, boxes: Collection[str]) -> None:
        """Mark what an either/or leads to, of a page that nobody has read."""
        for lead, items in options_in(self.page, boxes).items():
            self.states[lead].chips.append(Chip("list", "one of these"))
            for item in items:
                self.states[item.key].chips.append(Chip("option", "an option", lead))

    def block_at(self, lines: Collection[LineRange], node: str) -> str:
        """Return the key of the block with the first of the lines, or where a node begins."""
        nodes = self._indexed[0] if self._indexed else None
        keys = nodes.keys(lines) if nodes else []
        for each in self._indexed:
            if not keys and node in each.outline.locations:
                keys = each.keys(each.outline.locations[node].thing.lines)
        return keys[0] if keys else ""

    def _add(self, number: int, nodes: PageNodes, workflow: Workflow) -> None:
        numbers = {step.node: n for n, step in enumerate(workflow.steps, start=1)}
        for step in workflow.steps:
            for key in nodes.keys(step.cited_lines):
                name = f"{number}:{step.id}"
                self.states[key].drawn.append(name)
                self.block_of_step.setdefault(name, key)
        last = ""
        for node in nodes.nodes():
            last = self._add_node(number, node, nodes, numbers, last)
        self._add_lists(nodes)

    def _add_node(
        self, number: int, node: Node, nodes: PageNodes, numbers: Mapping[str, int], last: str
    ) -> str:
        """Add a node to the states; return the key of the last block with a step."""
        keys = nodes.keys(node.lines)
        state = self.states[keys[0]] if keys else None
        if isinstance(node, Do | End | Loop) and state is not None:
            last = keys[0]
            if isinstance(node, Do | Loop) or not state.is_step:
                self._add_step(state, node, nodes, numbers)
                state.procedure = number
        elif isinstance(node, Do) and last:
            self.states[last].added.append(node.text)
        elif isinstance(node, Choice):
            self._add_questions(node, nodes, number)
        elif isinstance(node, Remark) and state is not None:
            state.chips.append(Chip("note", "a note"))
        if isinstance(node, Noted):
            self._add_notes(node, nodes, keys[0] if keys else last)
        if isinstance(node, Jump | End):
            self._add_way_out(node, nodes, keys[0] if keys else last)
        return last

    def _add_step(
        self, state: BlockState, node: Node, nodes: PageNodes, numbers: Mapping[str, int]
    ) -> None:
        block = nodes.place(nodes.keys(node.lines)[0]).block
        if isinstance(node, Do | End) and node.text:
            state.texts.append(node.text)
            own = " ".join(plain(block.text).casefold().split())
            if plain(node.text).casefold().strip(" .:") not in own:
                state.chips.append(Chip("wording", f"in the drawing: {_quoted(node.text)}"))
        if state.is_step:
            state.chips.append(Chip("also", f"and step {numbers.get(node.id, '')}".rstrip()))
            return
        state.is_step = True
        state.number = numbers.get(node.id, 0)
        state.chips += _conditions(node, nodes)
        if isinstance(node, Do) and len(nodes.keys(node.lines)) == 1:
            count = len(sentences_of(node, block))
            state.sentences = count if count > 1 else 0
        if not state.number:
            state.chips.append(Chip("lost", "no path leads here"))
        others = [self.states[key].label for key in nodes.keys(node.lines)[1:]]
        state.chips += [Chip("part", f"with {_quoted(each)}") for each in others if each]

    def _add_questions(self, choice: Choice, nodes: PageNodes, number: int) -> None:
        for arm in choice.arms:
            keys = nodes.keys(arm.lines or choice.lines)
            texts = [choice.question] if choice.question else [q.text for q in questions(arm.guard)]
            if not keys or not texts:
                continue
            state = self.states[keys[0]]
            state.asks = True
            if state.procedure is None:
                state.procedure = number
            for text in texts:
                state.texts += [text] if text not in state.texts else []
                chip = Chip("asks", f"asks {_quoted(text)}")
                if chip not in state.chips:
                    state.chips.append(chip)

    def _add_notes(self, node: Noted, nodes: PageNodes, at: str) -> None:
        for note in node.notes:
            keys = nodes.keys(note.lines)
            if keys[:1] == [at]:
                continue
            if keys:
                label = self.states[at].label if at else ""
                words = f"note of {_quoted(label)}" if label else "note of a step"
                self.states[keys[0]].chips.append(Chip("note", words, at))
            elif at:
                self.states[at].added.append(f"Note: {note.text}")

    def _add_way_out(self, node: Jump | End, nodes: PageNodes, at: str) -> None:
        if not at:
            return
        if isinstance(node, End):
            self.states[at].chips.append(Chip("end", ENDS[node.kind]))
            return
        location = nodes.outline.locations.get(node.target)
        keys = nodes.keys(location.thing.lines) if location else []
        words = _quoted(self.states[keys[0]].label) if keys else node.target
        chip = Chip("goes-on", f"goes on at {words}", keys[0] if keys else "")
        self.states[at].chips.append(chip)

    def _add_lists(self, nodes: PageNodes) -> None:
        for place in self.page.places():
            block = place.block
            if block.kind is not BlockKind.LIST or len(block.children) < 2:
                continue
            tops = [own for item in block.children if (own := nodes.tops(item))]
            owners = [nodes.outline.owner(own[0].id) for own in tops]
            bodies = {nodes.outline.locations[own[0].id].body for own in tops}
            if len(bodies) != len(tops) or len(tops) < 2 or not isinstance(owners[0], Choice):
                continue
            if all(each == owners[0] for each in owners):
                self.list_modes[block.key] = _LIST_MODES[owners[0].mode]


def _bare(text: str) -> str:
    return text.replace("`", "")


def _quoted(text: str) -> str:
    return quoted(_bare(text))


def _conditions(node: Node, nodes: PageNodes) -> list[Chip]:
    """Return the answers under which a step is done, the outermost first."""
    chips: list[Chip] = []
    things = nodes.outline.locations
    above = things[node.id].above
    for place, id_ in enumerate(above):
        choice = things[id_].thing
        if not isinstance(choice, Choice):
            continue
        inner = things[above[place + 1]].thing if place + 1 < len(above) else None
        arm = inner if isinstance(inner, Arm) else None
        words = _answer(choice, arm)
        lines = (arm.lines if arm else choice.arms[-1].lines) or choice.lines
        keys = nodes.keys(lines)
        if words:
            chips.append(Chip("only-if", f"only if {words}", keys[0] if keys else ""))
    return chips


def _answer(choice: Choice, arm: Arm | None) -> str:
    """Return a question with the answer that leads to an arm, or to what is done otherwise."""
    if arm is None:
        conditions = [q.text for each in choice.arms for q in questions(each.guard)]
        texts = [choice.question] if choice.question else conditions
        words = ", ".join(map(_quoted, texts)) or "these"
        only = choice.arms[0].guard if len(choice.arms) == 1 else None
        answer = "Yes" if isinstance(only, Not) else "No" if only else "otherwise"
        return f"{words}: {answer}"
    if arm.guard is None:
        return ""
    if choice.question:
        return f"{_quoted(choice.question)}: {guard_in_words(arm.guard, quote=_bare)}"
    guard: Guard = arm.guard.guard if isinstance(arm.guard, Not) else arm.guard
    if isinstance(guard, State | Outcome):
        return f"{_quoted(guard.text)}: {'No' if isinstance(arm.guard, Not) else 'Yes'}"
    return guard_in_words(arm.guard, quote=_quoted)
