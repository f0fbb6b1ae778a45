"""Blocks as nodes: paragraphs with the code and lists below them, lists, tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from services.knowledge.document.markdown import Block, BlockKind, Item, MarkdownPage
from services.language import cues
from services.language.clauses import Condition, condition
from services.language.deeds import only_finds_out
from services.language.pronouns import whole
from services.language.questions import is_check, is_question, question, states
from services.language.remedies import are_options, names_remedies, remedy
from services.language.sentences import (
    aim,
    capitalised,
    describes_code,
    instruction,
    leads_only,
    sentences,
    shorten,
    tidy,
    without_prefix,
)
from services.language.states import are_of_one, names_fault
from services.procedure.model import (
    Arm,
    Choice,
    Do,
    Loop,
    Mode,
    Node,
    Not,
    Outcome,
    Remark,
    State,
    questions,
)
from services.procedure.page_code import (
    commands_of,
    is_output,
    is_shell,
    output_below,
    places_of,
    sample_output,
)
from services.procedure.rules.places import Places
from services.procedure.rules.prose import (
    MOST_WORDS,
    acts,
    asked_once,
    choice_of,
    handed_over,
    instead,
    is_gate,
    is_sure,
    sentence_nodes,
    taken,
    under_skip,
    with_subjects,
    without_gate,
)
from services.procedure.rules.source import Said, merged, said_in
from services.procedure.rules.tables import row_cases

_LONGEST_PROBLEM = 40
_MOST_FOLDED = 6
_LONGEST_ANSWER = 8
"""Words of an answer before its colon."""
WHICH = "Which of these is to be done"
UNNAMED = "this one"
"""An option that the page gives no name."""
_MOST_LABEL_WORDS = 10
_LONGEST_THING = 9
"""Words of a list item that is a thing to look at, not a sentence."""
_LONGEST_DETAIL = 6
"""Words of an item that is a part of the step above it."""
_ABOUT = re.compile(
    r"^(?:this|these|the (?:following|output|command|script|example|above))\b"
    r"|\b(?:should|must|will|following|below)\b",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\b(?:following|outputs?|see|sees|seen|shows?|shown|returns?|like|messages?|errors?|logs?"
    r"|entry|entries|lines?|displayed|observed|reported)\b",
    re.IGNORECASE,
)
"""What says that the code below is what comes back."""
_PROBLEM_LABEL = re.compile(
    r"^(?:(?:possible|likely|root|common) )?(?:causes?|problem|symptom|issue|error|reason"
    r"|scenario|case|failure)(?:\s*#?\d{1,2})?:\s+(?=\S+\s+\S)",
    re.IGNORECASE,
)
_LEADS_TO = re.compile(r":$|\b(?:below|following|these)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Blocks:
    """Reads the blocks of one page."""

    page: MarkdownPage
    places: Places
    mends: bool = False
    """Whether they stand where remedies are told, so that `Increasing the quota` is one."""
    asking: str = ""
    """The check before them, whose thing they may call `it`."""

    def nodes(self, blocks: Sequence[Block], above: Sequence[Node] = ()) -> list[Node]:
        """What the blocks tell, in order, behind what is told before them."""
        found: list[Node] = [*above]
        place = 0
        while place < len(blocks):
            block = blocks[place]
            below = blocks[place + 1] if place + 1 < len(blocks) else None
            match block.kind:
                case BlockKind.PARAGRAPH:
                    place += self._waited(found, blocks[place:]) or self._paragraph(
                        found, block, below
                    )
                case BlockKind.CODE:
                    before = blocks[place - 1].text if place else ""
                    if acts(found):
                        with_code(found, block, before)
                    else:
                        found += code_step(block, before)
                case BlockKind.LIST:
                    last = _with_code_below(block, below)
                    is_told = not is_index(block, blocks[place - 1] if place else None)
                    found += self.of_list(last or block) if is_told else []
                    place += bool(last)
                case BlockKind.TABLE:
                    found += row_cases(block, self.places)
                case BlockKind.QUOTE:
                    found += self._quoted(block)
            place += 1
        return found

    def _paragraph(self, found: list[Node], block: Block, below: Block | None) -> int:
        """Adds what a paragraph tells, with the list that it leads to; how many more were read."""
        said = [] if self._is_html_table(block) else self._said(block)
        if not said or (_lacks_command(found) and all(describes_code(s.text) for s in said)):
            return 0
        is_list = below is not None and below.kind is BlockKind.LIST
        last = said[-1]
        coded = _coded(last, below)
        if coded:
            sentence_nodes(said[:-1], self.places, found)
            without_gate(found)
            found.append(coded)
            return 1
        if below is None or not is_list:
            sentence_nodes(said, self.places, found)
            return 0
        led = self._led(last, below)
        if led is None:
            sentence_nodes(said, self.places, found)
            return 0
        sentence_nodes(said[:-1], self.places, found)
        found += led
        return 1

    def _waited(self, found: list[Node], blocks: Sequence[Block]) -> int:
        """Adds `If it shows:` with what is shown and what is told below; how many were read."""
        after = _after_shown(blocks)
        if not after:
            return 0
        said = self._said(blocks[0])
        stated = condition(said[-1].text) if said and said[-1].text.endswith(":") else None
        if stated is None or not stated.leads or stated.action or not is_sure(stated):
            return 0
        end = after + _length(blocks[after:])
        body = self.nodes(blocks[after:end])
        if not body or isinstance(body[0], Choice):
            return 0
        sentence_nodes(said[:-1], self.places, found)
        found.append(choice_of(stated, tuple(body), said[-1].lines))
        return end - 1

    def _is_html_table(self, block: Block) -> bool:
        return self.page.text(block.start_line, block.start_line).lstrip().startswith("<t")

    def _led(self, last: Said, below: Block) -> list[Node] | None:
        """What a sentence and the list below it tell together; None where each is for itself."""
        stated = condition(last.text) if last.text.endswith(":") else None
        if stated and stated.leads and is_sure(stated):
            return self._guarded(stated, last, below)
        if stated and is_sure(stated):
            lead = replace(last, text=f"{stated.action}:")
            inner = self._led(lead, below)
            body = inner or [*sentence_nodes([lead], self.places), *self.of_list(below)]
            return [choice_of(stated, tuple(body), last.lines)] if body else None
        if is_question(last.text) and last.text.endswith("?"):
            return self._answers(last, below)
        offered = self._offered(last, below) if _is_offer(last.text) else None
        return offered or (self._listed(last, below) if last.text.endswith(":") else None)

    def _listed(self, last: Said, below: Block) -> list[Node] | None:
        """A sentence that leads to a list of things, or of steps."""
        told = instruction(last.text)
        things = [tidy(item.text) for item in below.items]
        if told and not any(map(_tells, things)):
            return self._folded(last, told, below, things)
        if leads_only(last.text):
            return self.of_list(below)
        if told or not names_remedies(last.text):
            return None
        mending = replace(self, mends=True)
        offered = mending._offered(last, below, keeps=True) if are_options(last.text) else None
        return offered or mending.of_list(below)

    def _offered(self, last: Said, below: Block, *, keeps: bool = False) -> list[Node] | None:
        """Options of which whoever does it takes one, or remedies tried until one has helped.

        With `keeps`, an option that tells nothing to do is there in its own words.
        """
        read = [(item, self.item(item)) for item in below.items]
        if keeps and 2 * sum(acts(nodes) for _, nodes in read) >= len(read):
            read = [(item, nodes if acts(nodes) else _in_words(item)) for item, nodes in read]
        if len(read) < 2 or not all(acts(nodes) and not _is_case(nodes[0]) for _, nodes in read):
            return None
        lines = (last.lines,)
        arms = tuple(_option(item, nodes) for item, nodes in read)
        if cues.tries(last.text):
            if any(_is_part(nodes) for _, nodes in read):
                return None
            tried = tuple(arm.model_copy(update={"guard": None}) for arm in arms)
            return [Choice(mode=Mode.IN_ORDER, arms=tried, lines=lines)]
        if keeps:
            return [Choice(mode=Mode.FREE, question=OPTION_QUESTION, arms=arms, lines=lines)]
        asked = shorten(f"{WHICH}: {last.text.rstrip(' .:')}", words=MOST_WORDS + 5)
        return [Choice(mode=Mode.FREE, question=f"{asked}?", arms=arms, lines=lines)]

    def remedies(self, blocks: Sequence[Block]) -> list[Node]:
        """The one list among the blocks as remedies of which one is taken; else nothing."""
        lists = [block for block in blocks if block.kind is BlockKind.LIST]
        others = {block.kind for block in blocks} - {BlockKind.LIST, BlockKind.PARAGRAPH}
        if len(lists) != 1 or others:
            return []
        here = Said("", (lists[0].start_line, lists[0].end_line))
        return replace(self, mends=True)._offered(here, lists[0], keeps=True) or []

    def _guarded(self, stated: Condition, last: Said, below: Block) -> list[Node] | None:
        """What is told on a condition, with the list that it leads to."""
        named = not leads_only(stated.action) and not stated.action.endswith("to:")
        told = taken(stated.action, last, self.places) if named else []
        offered = _is_offer(stated.action) and self._offered(last, below)
        listed = self.of_list(below)
        if told and not listed:
            things = [tidy(item.text) for item in below.items]
            told = self._folded(last, instruction(stated.action), below, things) or told
        body = offered or (*told, *listed)
        return [choice_of(stated, tuple(body), last.lines)] if body else None

    def _answers(self, asked: Said, below: Block) -> list[Node] | None:
        """A question, and a list that says what to do on each answer."""
        arms: dict[bool, tuple[Node, ...]] = {}
        for item in below.items:
            answer = cues.answered(item.text)
            if answer is None:
                return self._labelled(asked, below)
            lines = (item.start_line, item.start_line)
            said = [Said(text, lines) for text in sentences(answer[1])]
            told = sentence_nodes(said, self.places)
            arms[answer[0]] = tuple(self._continued(told, item.blocks))
        state = State(text=question(asked.text))
        yes, no = arms.get(True, ()), arms.get(False)
        if not yes and no:
            arm = Arm(guard=Not(guard=state), body=no, lines=(asked.lines,))
            return [Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=(asked.lines,))]
        arm = Arm(guard=state, body=yes, lines=(asked.lines,))
        return [
            Choice(mode=Mode.EXCLUSIVE, arms=(arm,), otherwise=no or None, lines=(asked.lines,))
        ]

    def _labelled(self, asked: Said, below: Block) -> list[Node] | None:
        """A question with its answers as labels: `One port: look at the cable`."""
        arms = []
        for item in below.items:
            label, colon, rest = item.text.partition(": ")
            if not colon or not 0 < len(label.split()) <= _LONGEST_ANSWER:
                return None
            lines = (item.start_line, item.start_line)
            said = [Said(text, lines) for text in sentences(rest)]
            body = self._continued(sentence_nodes(said, self.places), item.blocks)
            arms.append(Arm(guard=State(text=label), body=tuple(body), lines=(lines,)))
        if len(arms) < 2 or not any(arm.body for arm in arms):
            return None
        told = (asked.lines,)
        text = capitalised(asked.text)
        return [Choice(mode=Mode.EXCLUSIVE, question=text, arms=tuple(arms), lines=told)]

    def _folded(
        self, last: Said, told: str, below: Block, things: Sequence[str]
    ) -> list[Node] | None:
        """One step of `check the following:` and a list of things."""
        if any(len(thing.split()) > _LONGEST_THING for thing in things if thing):
            return None
        named = ", ".join(thing for thing in things[:_MOST_FOLDED] if thing)
        text = shorten(f"{told}: {named}" if named else told, words=MOST_WORDS + 8)
        return [Do(text=text, lines=(last.lines, (below.start_line, below.end_line)))]

    def of_list(self, block: Block) -> list[Node]:
        """What the items tell: steps in order, or cases of which one holds."""
        if is_contents(block):
            return []
        read: list[list[Node]] = []
        asking = ""
        for item in block.items:
            before = next((each for each in reversed(read) if each), None)
            if not (before and self._otherwise(before, item)):
                if before and whole(item.text, asking):
                    without_gate(before)
                read.append(replace(self, asking=asking).item(item))
            asking = self._check_of(item) or asking
        if not block.ordered and len(read) > 1:
            read = [[node for node in each if not is_gate(node)] for each in read]
        nodes = [node for each in read for node in each]
        told = [each for each in read if each]
        are_cases = all(len(each) == 1 and _is_case(_closed(each[0])) for each in told)
        if not block.ordered and are_cases and len(told) > 1:
            return _grouped([each[0] for each in told])
        return nodes

    def _check_of(self, item: Item) -> str:
        """The last check of an item's own sentences; empty where it has none."""
        first = item.blocks[0] if item.blocks else None
        said = self._said(first) if first and first.kind is BlockKind.PARAGRAPH else []
        checks = (each.text for each in reversed(said) if is_check(without_prefix(each.text)))
        return next(checks, "")

    def _said(self, block: Block) -> list[Said]:
        return with_subjects(said_in(self.page, block), self.asking)

    def _otherwise(self, before: list[Node], item: Item) -> bool:
        """Whether the item is the other half of the choice before it, and was added there."""
        last = before[-1]
        said = self._said(item.blocks[0]) if item.blocks else []
        if len(said) == len(item.blocks) == 1 and instead(before, last, said[0], self.places):
            return True
        told = cues.otherwise(said[0].text) if said else ""
        is_open = isinstance(last, Choice) and (not last.otherwise or is_gate(last))
        is_asked = isinstance(last, Do) and is_check(last.text)
        is_told = told or (said and cues.is_otherwise(said[0].text))
        if not (is_open or is_asked) or not is_told:
            return False
        body = taken(told, said[0], self.places) if told else []
        body = self._continued(sentence_nodes(said[1:], self.places, body), item.blocks)
        if body and is_asked:
            before.append(_unless(last, body))
        elif body:
            other = tuple(handed_over(body))
            before[-1] = last.model_copy(update={"otherwise": other, "confidence": 1.0})
        return bool(body)

    def item(self, item: Item) -> list[Node]:
        """What one item tells, with all that is nested in it."""
        blocks = item.blocks
        first = blocks[0] if blocks else None
        if first is None:
            return []
        if first.kind is not BlockKind.PARAGRAPH:
            return self.nodes(blocks)
        said = _without_label(self._said(first), first.bold_lead)
        stated = condition(said[0].text) if said else None
        if stated and stated.leads and is_sure(stated):
            return self._conditional_item(said, blocks)
        if stated and len(said) == 1 and is_sure(stated) and len(blocks) > 1:
            return self._under_trailing(said, blocks)
        whole = _whole(said, blocks)
        if whole:
            return [whole]
        nodes = under_skip(self.nodes(blocks))
        if said and not nodes and self.mends and remedy(said[0].text):
            said = [replace(said[0], text=remedy(said[0].text)), *said[1:]]
            nodes = self._continued(sentence_nodes(said, self.places), blocks)
        problem = _problem(said[0]) if said and acts(nodes) else None
        return [_case(problem, nodes)] if problem else nodes

    def _under_trailing(self, said: Sequence[Said], blocks: Sequence[Block]) -> list[Node]:
        """An item that ends in its condition: all that is nested in it is done under it."""
        made = sentence_nodes(said, self.places)
        choice = made[0] if len(made) == 1 else None
        if not isinstance(choice, Choice) or len(choice.arms) != 1 or choice.otherwise:
            return under_skip(self.nodes(blocks))
        return self._conditional_item(said, blocks)

    def _conditional_item(self, said: Sequence[Said], blocks: Sequence[Block]) -> list[Node]:
        """All that an item tells which begins with a condition is done under it."""
        stated = condition(said[0].text)
        made = sentence_nodes(said, self.places) if stated else []
        if stated is None or not made or not isinstance(made[0], Choice):
            inner = [*sentence_nodes(said[1:], self.places), *self.nodes(blocks[1:])]
            if stated and inner:
                return [choice_of(stated, tuple(handed_over(inner)), said[0].lines)]
            return [*made[:1], *inner] if made else inner
        choice, turn = made[0], _otherwise_begins(blocks)
        asked = [are_of_one(asked_once(choice), asked_once(each)) for each in made]
        here = asked.index(True) if True in asked else len(made)  # another state of one thing
        coded = _coded(said[0], blocks[1]) if len(said) == 1 < turn else None
        body = coded.arms[0].body if coded else (*choice.arms[0].body, *made[1:here])
        own = [blocks[0], *blocks[2 if coded else 1 : turn]]
        inside = tuple(handed_over(self._continued([*body], own)))
        if is_gate(choice) and acts(inside):  # what it leads to stands in the item
            choice = choice_of(stated, inside, said[0].lines)
        else:
            arm = choice.arms[0].model_copy(update={"body": inside})
            choice = choice.model_copy(update={"arms": (arm,)})
        found: list[Node] = [choice, *made[here:]]
        return self._continued(found, [blocks[0], *blocks[turn:]])

    def _continued(self, nodes: list[Node], blocks: Sequence[Block]) -> list[Node]:
        """The nodes, and what the blocks below the first paragraph tell."""
        before = blocks[0].text
        rest = list(blocks[1:])
        while rest and rest[0].kind is BlockKind.CODE:
            if acts(nodes):
                with_code(nodes, rest.pop(0), before)
            else:
                nodes += code_step(rest.pop(0), before)
            before = ""
        return self.nodes(rest, nodes)

    def _quoted(self, block: Block) -> list[Node]:
        return [
            node
            for node in self.nodes(
                [each for each in block.blocks if each.kind is not BlockKind.CODE]
            )
            if isinstance(node, Choice | Remark)
        ]


def _with_code_below(listed: Block, below: Block | None) -> Block | None:
    """The list with the code that its last item leads to, where that is not indented into it."""
    item = listed.items[-1] if listed.items else None
    leads = item and item.blocks and item.blocks[-1].text.endswith(":")
    if not item or not leads or below is None or below.kind is not BlockKind.CODE:
        return None
    longer = replace(item, blocks=(*item.blocks, below), end_line=below.end_line)
    return replace(listed, items=(*listed.items[:-1], longer), end_line=below.end_line)


def _otherwise_begins(blocks: Sequence[Block]) -> int:
    """The place of the paragraph that tells the other case; behind all where there is none."""
    return next(
        (
            place
            for place, block in enumerate(blocks)
            if place and block.kind is BlockKind.PARAGRAPH and cues.otherwise(block.text)
        ),
        len(blocks),
    )


def _coded(last: Said, below: Block | None) -> Choice | None:
    """`If it is stopped, run the following command:` with that command."""
    stated = condition(last.text) if last.text.endswith(":") else None
    if below is None or below.kind is not BlockKind.CODE or stated is None:
        return None
    if not stated.leads or not is_sure(stated) or not leads_only(stated.action):
        return None
    made = code_step(below, "") or [Do(text=_run_of(below), lines=())]
    step = made[-1].model_copy(update={"commands": commands_of(below)})
    lines = (last.lines, (below.start_line, below.end_line))
    return choice_of(stated, (*made[:-1], step.model_copy(update={"lines": lines})), last.lines)


def _run_of(block: Block) -> str:
    first = next(iter(commands_of(block)), block.text).split("\n", 1)[0]
    return shorten(f"{RUN}{first}", words=MOST_WORDS)


def _is_part(nodes: Sequence[Node]) -> bool:
    """Whether an item is no remedy by itself: it only looks, or asks what came of those before."""
    first = nodes[0]
    return not isinstance(first, Do) or only_finds_out(first.text)


def _is_offer(text: str) -> bool:
    return cues.offers(text) or cues.tries(text)


def _in_words(item: Item) -> list[Node]:
    said = shorten(tidy(item.text), words=MOST_WORDS)
    return [Do(text=said, lines=((item.start_line, item.end_line),))] if said else []


def _option(item: Item, nodes: Sequence[Node]) -> Arm:
    said = without_prefix(next(iter(sentences(item.text)), "")).partition(": ")[0]
    label = shorten(remedy(said) or said, words=_MOST_LABEL_WORDS)
    here = (item.start_line, item.start_line)
    return Arm(guard=State(text=label or UNNAMED), body=tuple(nodes), lines=(here,))


_SETTING = re.compile(r"[\w`'\" .-]{2,40}=\s*\S")
"""`Type = String`, which a form is filled in with."""


def _lacks_command(nodes: Sequence[Node]) -> bool:
    """Whether the last step still waits for what it is done with."""
    last = nodes[-1] if nodes else None
    return isinstance(last, Do) and not last.commands


def _whole(said: Sequence[Said], blocks: Sequence[Block]) -> Do | None:
    """An item that short items below spell out is one step."""
    below = blocks[1] if len(blocks) == 2 else None
    if len(said) != 1 or below is None or below.kind is not BlockKind.LIST or below.ordered:
        return None
    told, things = instruction(said[0].text), [tidy(item.text) for item in below.items]
    are_short = all(len(item.blocks) == 1 for item in below.items) and all(
        (instruction(thing) or _SETTING.match(thing))
        and condition(thing) is None
        and len(thing.split()) <= _LONGEST_DETAIL
        for thing in things
    )
    if not told or not are_short or not 2 <= len(things) <= _MOST_FOLDED:
        return None
    lines = (said[0].lines, (below.start_line, below.end_line))
    return Do(text=f"{told.rstrip(':')}: {'; '.join(things)}", lines=lines)


OPTION_QUESTION = "Which of these options is to be taken?"


def _after_shown(blocks: Sequence[Block]) -> int:
    """Where the text goes on after a paragraph and the output below it; 0 where it does not."""
    place = 1
    while place < len(blocks) and blocks[place].kind is BlockKind.CODE:
        if not (is_output(blocks[place], blocks[0].text) or _SHOWN.search(blocks[0].text)):
            return 0
        place += 1
    told = {BlockKind.PARAGRAPH, BlockKind.LIST} if place > 1 else {BlockKind.PARAGRAPH}
    return place if place < len(blocks) and blocks[place].kind in told else 0


def _length(blocks: Sequence[Block]) -> int:
    """How many blocks belong to the first: the code below it, and the list that it leads to."""
    place = 1
    leads = blocks[0].kind is BlockKind.PARAGRAPH and blocks[0].text.endswith(":")
    if leads and place < len(blocks) and blocks[place].kind is BlockKind.LIST:
        place += 1
    while place < len(blocks) and blocks[place].kind is BlockKind.CODE:
        place += 1
    return place


RUN = "Run: "
"""How a step begins that only its code tells."""


def code_step(block: Block, before: str) -> list[Node]:
    """The step of commands that nothing tells to run, in the words before them that end in `:`."""
    commands = commands_of(block)
    if not commands or not is_shell(block) or is_output(block, before):
        return []
    lines = ((block.start_line, block.end_line),)
    said = aim(sentences(before)[-1]) if before.endswith(":") and sentences(before) else ""
    first = commands[0].split("\n", 1)[0]
    text = shorten(said, words=MOST_WORDS) if said else shorten(f"{RUN}{first}", words=MOST_WORDS)
    return [*_places(block), Do(text=text, lines=lines, commands=commands)]


def _places(block: Block) -> list[Node]:
    """Where commands of the block are run, where its comments say so."""
    lines = ((block.start_line, block.end_line),)
    return [
        Remark(text=shorten(where, words=MOST_WORDS), lines=lines) for where in places_of(block)
    ]


def with_code(nodes: list[Node], block: Block, before: str) -> None:
    """Adds a code block to the last step, as what is run or what comes back."""
    place = len(nodes) - 1
    while place > 0 and (is_gate(nodes[place]) or isinstance(nodes[place], Remark)):
        place -= 1
    if place >= 0:
        nodes[place] = _with_code(nodes[place], block, before)
        nodes[place:place] = _places(block) if isinstance(nodes[place], Do) else []


def _with_code(node: Node, block: Block, before: str) -> Node:
    if isinstance(node, Choice):
        place = _arm_of(node, block)
        arm = node.arms[place]
        if node.otherwise or not arm.body:
            return node
        body = list(arm.body)
        with_code(body, block, before)
        changed = arm.model_copy(update={"body": tuple(body)})
        arms = (*node.arms[:place], changed, *node.arms[place + 1 :])
        return node.model_copy(update={"arms": arms})
    if isinstance(node, Loop):
        body = list(node.body)
        with_code(body, block, before)
        return node.model_copy(update={"body": tuple(body)})
    if not isinstance(node, Do):
        return node
    lines = (*node.lines, (block.start_line, block.end_line))
    if is_output(block, before):
        shown = node.expected or sample_output(block)
        return node.model_copy(update={"expected": shown, "lines": lines})
    told, own = commands_of(block), node.commands
    is_first = len(node.lines) == 1  # what its sentence has in code may stand in the block again
    more = [each for each in told if not (is_first and each in own)]
    commands = told if is_first and set(own) <= set(told) else (*own, *more)
    shown = node.expected or output_below(block)
    return node.model_copy(update={"commands": commands, "expected": shown, "lines": lines})


def _arm_of(choice: Choice, block: Block) -> int:
    """Of two ways to do something, the one that names the program of the code; else the last."""
    last = len(choice.arms) - 1
    programs = {command.split()[0] for command in commands_of(block) if command.split()}
    if choice.mode is not Mode.FREE or not programs:
        return last
    told = [" ".join(node.text for node in arm.body if isinstance(node, Do)) for arm in choice.arms]
    named = [n for n, text in enumerate(told) if programs & set(text.split())]
    return named[0] if len(named) == 1 else last


def _without_label(said: list[Said], label: str) -> list[Said]:
    """The sentences without bold words and a colon before the first."""
    if not said or not label.endswith(":") or not said[0].text.startswith(label):
        return said
    rest = said[0].text[len(label) :].strip()
    if condition(rest) is None:
        return said
    return [replace(said[0], text=rest), *said[1:]]


def _problem(said: Said) -> Said | None:
    """The fault that a sentence names, without the word that calls it one."""
    named = _PROBLEM_LABEL.match(said.text)
    if cues.labels_warning(said.text):
        return None
    if named:
        return replace(said, text=said.text[named.end() :])
    return said if is_problem(said.text) else None


def is_problem(text: str) -> bool:
    """Whether the sentence states a fault instead of telling to do something."""
    return (
        2 < len(text.split()) < _LONGEST_PROBLEM
        and not instruction(text)
        and condition(text) is None
        and not cues.otherwise(text)
        and not _ABOUT.search(text)
        and names_fault(text)
        and states(text)
    )


def _case(said: Said, nodes: Sequence[Node]) -> Choice:
    text = f"{shorten(question(cues.possibility(said.text)).rstrip('?'), words=MOST_WORDS)}?"
    arm = Arm(guard=State(text=text), body=tuple(nodes), lines=(said.lines,))
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=(said.lines,))


def _tells(thing: str) -> bool:
    return bool(instruction(thing)) or condition(thing) is not None


def is_contents(block: Block) -> bool:
    """A list of links into the page itself."""
    return _only_links(block) and all(item.links[0].target.startswith("#") for item in block.items)


def is_index(block: Block, before: Block | None) -> bool:
    """A list of links in no order, which no sentence before it says to follow."""
    is_led = before is not None and _LEADS_TO.search(before.text) is not None
    return not is_led and not block.ordered and len(block.items) > 1 and _only_links(block)


def _only_links(block: Block) -> bool:
    return all(item.links and item.links[0].text == item.text for item in block.items)


def _is_case(node: Node) -> bool:
    return (
        isinstance(node, Choice)
        and node.mode is Mode.EXCLUSIVE
        and not node.question
        and len(node.arms) == 1
        and node.otherwise is None
        and not any(isinstance(each, Outcome) for each in questions(node.arms[0].guard))
    )


def _grouped(cases: Sequence[Node]) -> list[Node]:
    """Cases as choices; what is done otherwise ends one, as no case before it holds then."""
    groups: list[list[Node]] = [[]]
    for case in cases:
        groups[-1].append(case)
        if isinstance(case, Choice) and case.otherwise:
            groups.append([])
    return [_together(group) for group in groups if group]


def _together(cases: Sequence[Node]) -> Node:
    choices = [case for case in cases if isinstance(case, Choice)]
    lines = merged([each for choice in choices for each in choice.lines])
    arms = tuple(arm for choice in choices for arm in choice.arms)
    return Choice(mode=Mode.EXCLUSIVE, arms=arms, otherwise=choices[-1].otherwise, lines=lines)


def _unless(asked: Node, body: Sequence[Node]) -> Choice:
    """What is done where a step does not find what it looks for."""
    text = question(asked.text) if isinstance(asked, Do) else ""
    arm = Arm(guard=Not(guard=State(text=text)), body=tuple(body), lines=asked.lines)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=asked.lines)


def _closed(node: Node) -> Node:
    """The choice without what is done otherwise."""
    told = isinstance(node, Choice) and node.otherwise is not None and not is_gate(node)
    return node.model_copy(update={"otherwise": None}) if told else node
