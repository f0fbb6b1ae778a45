"""Operations on a procedure that a change at a block of its page comes to."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from services.kit.text import clean_text
from services.knowledge.page.block import Block, BlockKind, Page
from services.knowledge.page.boxes import blocks_of, last_own_line
from services.language.clauses import parse_condition
from services.language.questions import as_question
from services.language.sentences import sentences
from services.runbook.checklist.build import first_instruction, step_at_block
from services.runbook.editing.apply import apply
from services.runbook.editing.block_edits import (
    AddOwnNote,
    AddOwnStep,
    BlockEdit,
    GoOn,
    Join,
    ListMode,
    MoveStep,
    SetBox,
    SetCondition,
    SetEnd,
    SetList,
    SetNote,
    SetWords,
    Split,
)
from services.runbook.editing.errors import (
    BlockNotFoundError,
    NothingChangedError,
    NotTogetherError,
    UnusableOperationError,
    WrongKindError,
)
from services.runbook.editing.operations import (
    LONGEST_TEXT,
    ChangeGuard,
    Delete,
    How,
    Insert,
    Move,
    Operation,
    Replace,
)
from services.runbook.editing.page_nodes import PageNodes, walk_below
from services.runbook.model import (
    OTHERWISE,
    START,
    Arm,
    Choice,
    Do,
    End,
    Jump,
    LineRange,
    Mode,
    Node,
    Not,
    Noted,
    Procedure,
    Remark,
    State,
    questions,
)
from services.runbook.program import extent_lines, with_ids
from services.runbook.words import guard_in_words
from services.workflow.plain import plain

YES, NO = "yes", "no"
_GUARDED = {ListMode.ALL: Mode.ANY, ListMode.SEVERAL: Mode.ANY, ListMode.ONE_OF: Mode.EXCLUSIVE}
_UNGUARDED = {ListMode.ONE_OF: Mode.FREE, ListMode.SEVERAL: Mode.SEVERAL}
_LAST = 10**9


_OWN_WORDS = ("text", "question", "answer")
"""Fields of changes that have a person's own words."""


def apply_block_edit(procedure: Procedure, page: Page, edit: BlockEdit) -> tuple[Operation, ...]:
    """Return the operations that a change at a block comes to, at least one.

    The page's blocks have the keys that the edit names, and the lines that the nodes cite. A block
    that the change needs as a step and that is none becomes one, at its place in the page.

    Raises:
        UnusableOperationError: It cannot be done, or would change nothing.
    """
    typed = {name: text for name in _OWN_WORDS if (text := getattr(edit, name, ""))}
    clean = {name: clean_text(text).strip() for name, text in typed.items()}
    for name, text in clean.items():
        if not any(map(str.isalnum, text)):
            raise UnusableOperationError(f"expected some words as {name}, got {typed[name]!r}")
    change = _BlockChange(procedure, page)
    _CHANGES[type(edit)](change, edit.model_copy(update=clean))
    if not change.operations:
        raise NothingChangedError("it leaves everything as it is")
    return tuple(change.operations)


def procedure_at(procedures: Sequence[Procedure], page: Page, key: str) -> int:
    """Return the index of the procedure that has the block in its lines; else the nearest above.

    Raises:
        BlockNotFoundError: The page has no block of this key.
    """
    block = next((each.block for each in page.places() if each.block.key == key), None)
    if block is None:
        raise BlockNotFoundError(f"the page has no block {key[:80]!r}, or no longer has it")
    extents = [sorted(extent_lines(each)) or [0] for each in procedures]
    inside = [(len(lines), n) for n, lines in enumerate(extents) if block.start_line in lines]
    above = [(lines[0], n) for n, lines in enumerate(extents) if lines[0] <= block.start_line]
    return min(inside)[1] if inside else max(above)[1] if above else 0


def refuse_across(procedures: Sequence[Procedure], page: Page, place: int, edit: BlockEdit) -> None:
    """Refuse a change of one procedure that names a block of another one.

    Raises:
        NotTogetherError: It does.
        BlockNotFoundError: The page has no such block.
    """
    others = (getattr(edit, name, None) for name in ("on", "at", "of", "into", "beside"))
    for key in filter(None, others):
        nodes = PageNodes(with_ids(procedures[place]), page)
        is_own = nodes.step(key) or nodes.questions(key) or nodes.noted(key)
        if not is_own and (other := procedure_at(procedures, page, key)) != place:
            raise NotTogetherError(
                f"that block belongs to another procedure, {procedures[other].title!r}, and this "
                f"one to {procedures[place].title!r}"
            )


def question_of(block: Block) -> str:
    """Return the question that a block asks: its own, or that of its condition or statement."""
    clauses = sentences(block.text)
    own = next((each for each in clauses if each.rstrip().endswith("?")), None)
    if own is not None:
        return own.strip()
    return own_condition(block) or as_question(first_instruction(block))


def own_condition(block: Block) -> str:
    """Return the condition in a block's words as a question; empty if there is none."""
    conditions = (parse_condition(each) for each in sentences(block.text))
    return next((as_question(each.text) for each in conditions if each is not None), "")


class _BlockChange:
    """The operations of one change so far, and the nodes after them."""

    def __init__(self, procedure: Procedure, page: Page) -> None:
        self._original, self._page = procedure, page
        self.operations: list[Operation] = []
        self._nodes = PageNodes(with_ids(procedure), page)

    def _do(self, *operations: Operation) -> None:
        self.operations += operations
        self._nodes = PageNodes(apply(self._original, self.operations), self._page)

    def _insert(self, node: Node, place: dict[str, str]) -> str:
        """Insert a node and return its id."""
        before = set(self._nodes.outline.locations)
        self._do(Insert(node=node, **place))
        return next(each for each in self._nodes.outline.locations if each not in before)

    def node(self, key: str) -> Node:
        """Return the step of a block, which becomes one if it is none."""
        if self._nodes.step(key) is None:
            self._become_step(key)
        node = self._nodes.step(key)
        if node is None:
            raise BlockNotFoundError("the block has no words that could be a step")
        return node

    # Boxes and notes.

    def set_box(self, edit: SetBox) -> None:
        """Make the block, or all of a list or section, steps in their places, or none."""
        below = [place.block.key for place in blocks_of(self._page, edit.block)]
        for key in below or [edit.block]:
            if edit.is_step and self._nodes.step(key) is None:
                self._become_step(key)
            elif not edit.is_step:
                self._drop_notes(key)
                self._drop_steps(key)

    def _become_step(self, key: str) -> None:
        place = self._nodes.place(key)
        if place.block.is_withheld:
            raise BlockNotFoundError("the words of this block are withheld: it is no step")
        self._drop_notes(key)
        boxes = {k for k in self._nodes.places if self._nodes.step(k) is not None}
        step = step_at_block(self._page, key, boxes)
        words = _words(self._page, place.block)
        if step is None and not words:
            raise BlockNotFoundError("the block has no words that could be a step")
        step = step or Do(text=words, lines=self._nodes.lines(key))
        lines = {n for first, last in step.lines for n in range(first, last + 1)}
        for other in self._nodes.nodes():
            cited = {n for first, last in other.lines for n in range(first, last + 1)}
            if not isinstance(other, Do) or not cited & lines:
                continue
            left = tuple(each for each in other.commands if each not in step.commands)
            self._replace(
                other.id,
                lines=tuple((n, n) for n in sorted(cited - lines)),
                commands=left,
                expected="" if other.expected == step.expected else other.expected,
            )
        self._insert(step, self._place_in_page(key))

    def _place_in_page(self, key: str) -> dict[str, str]:
        """Return the place of a new step, between the steps before and behind it on the page."""
        nodes, locations = self._nodes, self._nodes.outline.locations
        place = nodes.place(key)
        line = place.block.start_line
        starts = {node.id: _start(node) for node in nodes.nodes()}
        # A step that cites lines before and behind the block says nothing of its place.
        around = {node.id for node in nodes.nodes() if node.lines and node.lines[-1][1] > line}
        before = [id_ for id_, start in starts.items() if start < line and id_ not in around]
        behind = [id_ for id_, start in starts.items() if line < start < _LAST]
        following = min(behind, key=lambda id_: starts[id_]) if behind else None
        if not before:
            return {"before": following} if following else {"last_in": START}
        last = max(reversed(before), key=lambda id_: starts[id_])
        while (owner := nodes.outline.owner(last)) and not self._stays(last, key, following):
            last = owner.id
        is_way_out = isinstance(locations[last].thing, Jump | End)
        return {"before" if is_way_out else "after": last}

    def _stays(self, last: str, key: str, following: str | None) -> bool:
        """Return True if a new step is under the same condition as the step before it."""
        nodes, place = self._nodes, self._nodes.place(key)
        location = nodes.outline.locations[last]
        if following and nodes.outline.is_below(nodes.outline.locations[following].body, last):
            return True
        if following and nodes.outline.locations[following].body == location.body:
            return True
        condition = nodes.outline.locations[location.above[-1]].thing
        around = {each.key for each in (*place.parents, *place.headings)}
        keys = nodes.keys(condition.lines)
        if keys:
            return keys[0] in around
        own = nodes.keys(location.thing.lines)
        items = [p for p in nodes.place(own[0]).parents if p.kind is BlockKind.ITEM] if own else []
        return bool(items) and items[-1].key in around

    def _drop_notes(self, key: str) -> None:
        for noted in self._nodes.noted(key):
            left = tuple(n for n in noted.notes if key not in self._nodes.keys(n.lines)[:1])
            self._do(Replace(node=noted.id, notes=left))
        for node in list(self._nodes.nodes()):
            if isinstance(node, Remark) and key in self._nodes.keys(node.lines)[:1]:
                self._delete(node.id)

    def _drop_steps(self, key: str) -> None:
        """Take the steps of a block away; their notes go to the step above, else below."""
        node = self._nodes.step(key)
        while node is not None:
            is_own = self._nodes.keys(node.lines)[0] == key
            nearest = self._nearest(node) if is_own else None
            if isinstance(node, Noted) and node.notes and nearest is not None:
                self._move_notes(node, nearest.id)
            self._drop_step(key, node)
            left = self._nodes.step(key)
            is_another = isinstance(left, Do) and self._nodes.keys(left.lines)[0] == key
            node = left if is_own and isinstance(node, Do) and is_another else None

    def _nearest(self, node: Node) -> Do | None:
        """Return the step above that is done whenever a node is reached; else the next one."""
        locations, nodes = self._nodes.outline.locations, list(self._nodes.nodes())
        at = [each.id for each in nodes].index(node.id)
        around = {locations[id_].body for id_ in (node.id, *locations[node.id].above)}
        own = {each.id for each in _below(node)}
        before = [n for n in nodes[:at] if isinstance(n, Do) and locations[n.id].body in around]
        behind = (n for n in nodes[at + 1 :] if isinstance(n, Do) and n.id not in own)
        return before[-1] if before else next(behind, None)

    def _drop_step(self, key: str, node: Node) -> None:
        """Delete a step, or take a block's lines out of a step that begins elsewhere."""
        if key != self._nodes.keys(node.lines)[0]:
            first, last = self._nodes.lines(key)[0]
            numbers = [n for a, b in node.lines for n in range(a, b + 1) if not first <= n <= last]
            self._replace(node.id, lines=_ranges(numbers))
            return
        run = self._run(node.id)
        location = self._nodes.outline.locations[node.id]
        is_alone = len(self._nodes.outline.bodies[location.body]) == len(run)
        for id_ in run[1:]:
            self._delete(id_)
        self._delete(node.id, keep_below=isinstance(node, Choice))
        if is_alone and not isinstance(node, Choice):
            self._drop_empty(location.body)

    def _drop_empty(self, body: str) -> None:
        """Delete an arm that fell empty, where its answer leads nowhere else for that."""
        location = self._nodes.outline.locations.get(body)
        if location is None or not isinstance(location.thing, Arm) or location.thing.body:
            return
        choice = self._nodes.outline.choice_of(location)
        is_last_one = len(choice.arms) == 1 and not choice.otherwise
        if is_last_one or (len(choice.arms) > 1 and choice.mode is not Mode.EXCLUSIVE):
            self._delete(choice.id if is_last_one else location.thing.id)

    def _delete(self, id_: str, *, keep_below: bool = False) -> None:
        """Delete a node; jumps to it lead to what follows, or go where nothing does."""
        outline = self._nodes.outline
        location = outline.locations[id_]
        gone = {id_} if keep_below else {id_, *(each.id for each in _below(location.thing))}
        jumps = [each.id for each in outline.jumps() if each.target in gone and each.id not in gone]
        siblings = outline.bodies.get(location.body, ())[location.at + 1 :]
        below = [n for n in walk_below(location.thing) if not isinstance(n, Arm)]  # type: ignore[arg-type]
        following = [*(below if keep_below else ()), *siblings]
        target = next((each.id for each in following if each.id not in jumps), None)
        if target is None:
            self._do(*(Delete(node=each) for each in jumps))
        jumps_to = target if jumps else None
        self._do(Delete(node=id_, keep_below=keep_below, jumps_to=jumps_to))

    def set_note(self, edit: SetNote) -> None:
        """Make the block's words a note of another block's step."""
        if edit.block == edit.of:
            raise WrongKindError("a block is no note of itself")
        self._nodes.place(edit.block)
        below = [place.block for place in blocks_of(self._page, edit.block)]
        for block in below or [self._nodes.place(edit.block).block]:
            self._become_note(block, edit.of)

    def _become_note(self, block: Block, of: str) -> None:
        """Make a block a note, with all that its steps cite, and their commands and notes."""
        steps = [
            each
            for each in self._nodes.nodes()
            if isinstance(each, Do | End) and self._nodes.keys(each.lines)[:1] == [block.key]
        ]
        cited = [n for each in steps for first, last in each.lines for n in range(first, last + 1)]
        lines = _ranges(cited) or self._nodes.lines(block.key)
        blocks = [self._nodes.place(key).block for key in self._nodes.keys(lines)]
        words = "\n".join(filter(None, (_words(self._page, each) for each in blocks)))
        if any(each.is_withheld for each in blocks) or not words:
            raise BlockNotFoundError("the block has no words that could be a note")
        plain_words = " ".join(words.split())
        own = (c for each in steps for c in each.commands if " ".join(c.split()) not in plain_words)
        self._drop_notes(block.key)
        target = self.node(of)
        for each in steps:
            self._refuse_to_free(each, target, block.key)
            if each.id == target.id:
                raise NotTogetherError("both blocks are one step: split it first")
            if each.notes:
                self._move_notes(each, target.id)
        self._drop_steps(block.key)
        text = "\n".join((words, *own))
        self.add_notes(self.node(of).id, Remark(text=text[:LONGEST_TEXT], lines=lines))

    def _refuse_to_free(self, step: Node, target: Node, key: str) -> None:
        """Refuse a note of a step under no such condition, unless the block's own words say it."""
        for id_ in set(self._above(step)) - set(self._above(target)):
            thing = self._nodes.outline.locations[id_].thing
            if isinstance(thing, Arm) and thing.guard and self._nodes.keys(thing.lines) != [key]:
                raise WrongKindError(
                    f"it is done only if {guard_in_words(thing.guard)}, which the note would not "
                    "say: take the condition away first"
                )

    def add_note(self, edit: AddOwnNote) -> None:
        """Put a note of a person's own at the step."""
        self.add_notes(self.node(edit.block).id, Remark(text=edit.text.strip() or edit.text))

    def _move_notes(self, node: Noted, to: str) -> None:
        self._do(Replace(node=node.id, notes=()))
        self.add_notes(to, *node.notes)

    def add_notes(self, id_: str, *notes: Remark) -> None:
        """Put notes behind those that stand in a step."""
        node = self._nodes.outline.locations[id_].thing
        if not isinstance(node, Noted):
            raise WrongKindError("expected a step that a note can stand in")
        self._do(Replace(node=id_, notes=(*node.notes, *notes)))

    # Conditions.

    def set_condition(self, edit: SetCondition) -> None:
        """Put the step under an answer to the question of a block, or take its condition away."""
        if edit.on is None:
            if self._nodes.step(edit.block) is None or not self._free(edit.block):
                raise NothingChangedError("the step stands under no condition")
            return
        asking = self._nodes.place(edit.on).block
        if asking.start_line > self._nodes.place(edit.block).block.start_line:
            raise BlockNotFoundError("expected a block that asks before the step on the page")
        node = self.node(edit.block)
        arms = [each for each in self._nodes.questions(edit.on) if each.id not in self._above(node)]
        choices = [self._choice(each) for each in arms]
        question = edit.question.strip() or next(
            (
                text
                for choice, arm in zip(choices, arms, strict=True)
                for text in (choice.question, *(q.text for q in questions(arm.guard)))
                if text
            ),
            "",
        )
        question = question or question_of(asking)
        if not question:
            raise BlockNotFoundError("the block that asks has no words: put them into `question`")
        if edit.block != edit.on or self._is_under(node, question):
            self._free(edit.block)
        run = self._run(node.id)
        if not self._joins_condition(run, edit.on, question, edit.answer):
            self._put_under(run, edit.on, question, edit.answer)

    def _joins_condition(self, run: Sequence[str], on: str, question: str, answer: str) -> bool:
        """Move steps under the same question, if it is asked directly before them."""
        location = self._nodes.outline.locations[run[0]]
        before = self._nodes.outline.bodies[location.body][: location.at][-1:]
        if not before or not isinstance(before[0], Choice):
            return False
        choice = before[0]
        asking = [each for each in self._nodes.questions(on) if self._choice(each) == choice]
        if choice.mode is not Mode.EXCLUSIVE or not asking:
            return False
        target = next((a.id for a in choice.arms if _answers(choice, a, question, answer)), None)
        if target is None and len(choice.arms) == 1 and not choice.question:
            contrary = {YES: NO, NO: YES}.get(answer.casefold())
            if contrary and _answers(choice, choice.arms[0], question, contrary):
                target = f"{choice.id}{OTHERWISE}"
        if target is None and choice.question == question:
            before_ids = set(self._nodes.outline.locations)
            arm = Arm(guard=State(text=answer), lines=self._nodes.lines(on))
            self._do(Insert(arm=arm, last_in=choice.id))
            target = next(i for i in self._nodes.outline.locations if i not in before_ids)
        if target is None:
            return False
        self._do(*(Move(node=each, last_in=target) for each in run))
        return True

    def _put_under(self, run: Sequence[str], on: str, question: str, answer: str) -> None:
        """Ask a question directly before steps, which one answer leads to."""
        lines = self._nodes.lines(on)
        plain = answer.strip().casefold()
        if plain in {YES, NO}:
            guard = State(text=question) if plain == YES else Not(guard=State(text=question))
            self._do(ChangeGuard(nodes=tuple(run), how=How.PUT, when=guard, lines=lines))
            return
        arm = Arm(guard=State(text=answer.strip() or answer), lines=lines)
        choice = Choice(mode=Mode.EXCLUSIVE, question=question, arms=(arm,), lines=lines)
        arm_id = self._insert_choice(choice, {"before": run[0]}).arms[0].id
        self._do(*(Move(node=each, last_in=arm_id) for each in run))

    def _insert_choice(self, choice: Choice, place: dict[str, str]) -> Choice:
        id_ = self._insert(choice, place)
        inserted = self._nodes.outline.locations[id_].thing
        if not isinstance(inserted, Choice):
            raise TypeError(inserted.id)
        return inserted

    def _free(self, key: str) -> bool:
        """Take the step out of the condition that it stands directly under, if there is one."""
        node = self._nodes.step(key)
        choice = self._nodes.outline.owner(node.id) if node else None
        if node is None or not isinstance(choice, Choice):
            return False
        location = self._nodes.outline.locations[node.id]
        run, body = self._run(node.id), self._nodes.outline.bodies[location.body]
        is_plain = choice.mode is Mode.EXCLUSIVE and not choice.question and not choice.otherwise
        if is_plain and len(choice.arms) == 1 and len(body) == len(run):
            self._do(ChangeGuard(nodes=(choice.arms[0].id,), how=How.REMOVE))
            return True
        is_first = location.at == 0 and len(body) > len(run)
        beside = choice.id
        for each in run:
            place = {"before": choice.id} if is_first else {"after": beside}
            self._do(Move(node=each, **place))
            beside = each
        self._drop_empty(location.body)
        return True

    # Lists.

    def set_list(self, edit: SetList) -> None:
        """Say how the items of a list go together."""
        items = self._nodes.items(edit.block)
        tops = [self._nodes.tops(item) for item in items]
        choice = self._choice_of_items(tops)
        if choice is not None:
            self._set_mode(choice, edit.mode)
            return
        if edit.mode is ListMode.ALL:
            raise NothingChangedError("each item is done as it is")
        for item, own in zip(items, tops, strict=True):
            if not own and not item.is_withheld:
                self._become_step(item.key)
        tops = [each for item in items if (each := self._nodes.tops(item))]
        bodies = {self._nodes.outline.locations[n.id].body for own in tops for n in own}
        if len(bodies) != 1:
            raise NotTogetherError(
                "the items are done under different conditions: take these away first"
            )
        self._choose_among(items[0], tops, edit.mode)

    def _choice_of_items(self, tops: Sequence[Sequence[Node]]) -> Choice | None:
        """Return the choice that has the steps of each item in an arm of its own."""
        outline = self._nodes.outline
        steps = [own[0] for own in tops if own]
        if len(steps) == 1 and isinstance(steps[0], Choice):
            return steps[0]
        bodies = {outline.locations[step.id].body for step in steps}
        owners = [outline.owner(step.id) for step in steps]
        is_one = len(bodies) == len(steps) > 1 and all(each == owners[0] for each in owners)
        return owners[0] if is_one and isinstance(owners[0], Choice) else None

    def _set_mode(self, choice: Choice, mode: ListMode) -> None:
        is_guarded = all(arm.guard is not None for arm in choice.arms)
        if mode is ListMode.ALL and not is_guarded:
            if choice.question and choice.lines:
                lead = Do(text=choice.question, lines=choice.lines, notes=choice.notes)
                self._insert(lead, {"before": choice.id})
            self._delete(choice.id, keep_below=True)
            return
        now = (_GUARDED if is_guarded else _UNGUARDED).get(mode, Mode.IN_ORDER)
        self._do(Replace(node=choice.id, mode=now))

    def _choose_among(self, item: Block, tops: Sequence[Sequence[Node]], mode: ListMode) -> None:
        """Put the steps of items into the arms of a new choice.

        Steps that begin with a condition of their own bring it along; what leads the list is asked.
        """
        outline, arms, runs, emptied = self._nodes.outline, [], [], []
        notes: list[Remark] = []
        conditions = [_only_condition(own) for own in tops]
        is_guarded = all(conditions)
        for own, condition in zip(tops, conditions, strict=True):
            if condition is not None and is_guarded:
                arms.append(Arm(guard=condition.arms[0].guard, lines=condition.arms[0].lines))
                runs.append([each.id for each in condition.arms[0].body])
                emptied.append(condition.id)
                notes += condition.notes
            else:
                arms.append(Arm(lines=own[0].lines))
                runs.append([each.id for each in own])
        first = min((own[0].id for own in tops), key=lambda id_: outline.locations[id_].at)
        location = outline.locations[first]
        lead = outline.bodies[location.body][: location.at][-1:]
        lines: tuple[LineRange, ...] = ()
        question = ""
        step = lead[0] if lead and isinstance(lead[0], Do) and not lead[0].commands else None
        if step and mode is not ListMode.IN_ORDER and self._leads(step, item):
            lines, question = step.lines, step.text.rstrip(" :")
        now = (_GUARDED if is_guarded else _UNGUARDED).get(mode, Mode.IN_ORDER)
        new = Choice(
            mode=now,
            question="" if is_guarded else question,
            arms=tuple(each.model_copy(update={"body": ()}) for each in arms),
            lines=lines,
            notes=(*(step.notes if step and lines else ()), *notes),
        )
        choice = self._insert_choice(new, {"before": first})
        for arm, run in zip(choice.arms, runs, strict=True):
            self._do(*(Move(node=each, last_in=arm.id) for each in run))
        for each in emptied:
            self._delete(each)
        if step and lines:
            self._delete(step.id)

    def _leads(self, node: Node, item: Block) -> bool:
        """Return True if a step is the block directly before the list of an item."""
        keys = list(self._nodes.places)
        place = self._nodes.place(item.key)
        at = keys.index(place.parents[-1].key)
        return self._nodes.keys(node.lines) == keys[at - 1 : at]

    # Ways on.

    def go_on(self, edit: GoOn) -> None:
        """Go on at another block behind the step, or at the next step again."""
        node = self.node(edit.block)
        if edit.at is None:
            self._drop_way_out(node, Jump)
            return
        self.node(edit.at)
        target = self._top(edit.at)
        jump = Jump(target=target, lines=self._nodes.lines(edit.block))
        self._put_way_out(edit.block, jump)

    def set_end(self, edit: SetEnd) -> None:
        """End the path behind the step, or take its end away."""
        node = self.node(edit.block)
        if isinstance(node, End):
            if edit.kind is not None:
                self._do(Replace(node=node.id, end=edit.kind))
                return
            text = node.text or _words(self._page, self._nodes.place(edit.block).block)
            step = Do(text=text, lines=node.lines, commands=node.commands, notes=node.notes)
            self._insert(step, {"before": node.id})
            self._delete(node.id)
        elif edit.kind is None:
            self._drop_way_out(node, End)
        else:
            end = End(kind=edit.kind, lines=self._nodes.lines(edit.block))
            self._put_way_out(edit.block, end)

    def _put_way_out(self, key: str, way: Jump | End) -> None:
        node = self.node(key)
        following = self._following(node)
        if isinstance(following, Jump | End):
            if following.model_copy(update={"id": ""}) == way:
                raise NothingChangedError("it leaves everything as it is")
            self._delete(following.id)
        self._insert(way, {"after": node.id})

    def _drop_way_out(self, node: Node, kind: type[Jump] | type[End]) -> None:
        following = self._following(node)
        if not isinstance(following, kind):
            is_other = isinstance(following, Jump | End)
            other = "the path ends there" if kind is Jump else "it goes on at another step"
            raise NothingChangedError(
                f"{other}: change that instead"
                if is_other
                else "the step leads to the next one as it is"
            )
        self._delete(following.id)

    def _following(self, node: Node) -> Node | None:
        location = self._nodes.outline.locations[node.id]
        return next(iter(self._nodes.outline.bodies[location.body][location.at + 1 :]), None)

    # Steps.

    def set_words(self, edit: SetWords) -> None:
        """Say a step, an end or a question in a person's words."""
        text = edit.text.strip() or edit.text
        node = self.node(edit.block)
        for each in self._nodes.nodes():
            is_own = edit.block in self._nodes.keys(each.lines)[:1]
            if is_own and isinstance(each, Do | End) and each.text == edit.was:
                node = each
        for arm in self._nodes.questions(edit.block):
            texts = {self._choice(arm).question, *(q.text for q in questions(arm.guard))}
            node = self._choice(arm) if edit.was in texts - {""} else node
        if isinstance(node, Do | End) or (isinstance(node, Choice) and node.question):
            if text != (node.question if isinstance(node, Choice) else node.text):
                self._do(Replace(node=node.id, text=text))
            return
        arms = node.arms if isinstance(node, Choice) else ()
        guard = arms[0].guard if len(arms) == 1 else None
        state = guard.guard if isinstance(guard, Not) else guard
        if not isinstance(state, State):
            raise WrongKindError("expected a step or one question")
        new = state.model_copy(update={"text": text})
        when = Not(guard=new) if isinstance(guard, Not) else new
        self._do(ChangeGuard(nodes=(arms[0].id,), how=How.CHANGE, when=when))

    def split(self, edit: Split) -> None:
        """Make a step of each block that the block's step cites, or of each of its sentences."""
        node = self._nodes.step(edit.block)
        if not isinstance(node, Do):
            raise WrongKindError("expected a step that cites several blocks")
        groups: list[list[Block]] = []
        for key in self._nodes.keys(node.lines):
            block = self._nodes.place(key).block
            is_own = block.kind in {BlockKind.ITEM, BlockKind.PARAGRAPH} and bool(block.text)
            if is_own or not groups:
                groups.append([])
            groups[-1].append(block)
        parts = [self._part(node, group) for group in groups]
        if len(groups) == 1:
            parts = _parts_by_sentence(node, groups[0][0])
        taken = {command for part in parts[1:] for command in part.commands}
        first, beside = parts[0], node.id
        self._replace(
            node.id,
            text=first.text,
            lines=first.lines,
            commands=tuple(each for each in node.commands if each not in taken),
            expected="" if any(p.expected for p in parts[1:]) else node.expected,
        )
        for part in parts[1:]:
            beside = self._insert(part, {"after": beside})

    def _part(self, node: Do, group: Sequence[Block]) -> Do:
        """Return the part of a step that some of its blocks are."""
        words = " ".join(" ".join(map(self._page.verbatim, group)).split())
        ranges = [(block.start_line, last_own_line(block)) for block in group]
        return Do(
            text=first_instruction(group[0]) or _words(self._page, group[0]),
            lines=_ranges(n for first, last in ranges for n in range(first, last + 1)),
            commands=tuple(c for c in node.commands if " ".join(c.split()) in words),
            expected=node.expected if " ".join(node.expected.split()) in words else "",
        )

    def join(self, edit: Join) -> None:
        """Make the block's step a part of another block's step."""
        part, whole = self.node(edit.block), self.node(edit.into)
        if not isinstance(part, Do) or not isinstance(whole, Do) or part.id == whole.id:
            raise WrongKindError("expected two steps that are done")
        ordered = sorted((part, whole), key=_start)
        lines = [n for each in ordered for a, b in each.lines for n in range(a, b + 1)]
        notes = tuple(note for each in ordered for note in each.notes)
        self._replace(
            whole.id,
            text=". ".join(each.text.rstrip(" .") for each in ordered)[:LONGEST_TEXT],
            commands=tuple(dict.fromkeys(c for each in ordered for c in each.commands)),
            expected="\n".join(each.expected for each in ordered if each.expected),
            lines=_ranges(lines),
        )
        if part.notes:
            self._do(Replace(node=whole.id, notes=notes))
        location = self._nodes.outline.locations[part.id]
        self._delete(part.id)
        self._drop_empty(location.body)

    def move(self, edit: MoveStep) -> None:
        """Do the step of the block before or behind that of another block."""
        self.node(edit.beside)
        self.node(edit.block)
        beside, run = self._top(edit.beside), [self._top(edit.block)]
        if run[0] == beside:
            raise NotTogetherError("both blocks are one step")
        run = self._run(run[0])
        if not edit.is_before:
            beside = self._run(beside)[-1]
        for id_ in run:
            place = {"before" if edit.is_before else "after": beside}
            self._do(Move(node=id_, **place))
            beside = beside if edit.is_before else id_

    def add_step(self, edit: AddOwnStep) -> None:
        """Put a step of a person's own behind the block."""
        node = self._nodes.step(edit.block)
        place = {"after": node.id} if node else self._place_in_page(edit.block)
        self._insert(Do(text=edit.text.strip() or edit.text), place)

    # What a change needs to know.

    def _top(self, key: str) -> str:
        """Return the id of the block's step, or of the condition that it alone stands under."""
        node = self.node(key)
        while isinstance(choice := self._nodes.outline.owner(node.id), Choice):
            location = self._nodes.outline.locations[node.id]
            length = len(self._nodes.outline.bodies[location.body])
            is_alone = location.at == 0 and length == len(self._run(node.id))
            if len(choice.arms) > 1 or choice.otherwise or not is_alone:
                break
            node = choice
        return node.id

    def _run(self, id_: str) -> list[str]:
        """Return a step with its way out directly behind it."""
        node = self._nodes.outline.locations[id_].thing
        following = self._following(node) if not isinstance(node, Arm) else None
        is_own = isinstance(following, Jump | End) and (
            not following.lines
            or self._nodes.keys(following.lines)[:1] == self._nodes.keys(node.lines)[:1]
        )
        return [id_, following.id] if following and is_own else [id_]

    def _above(self, node: Node) -> tuple[str, ...]:
        return self._nodes.outline.locations[node.id].above

    def _choice(self, arm: Arm) -> Choice:
        return self._nodes.outline.choice_of(self._nodes.outline.locations[arm.id])

    def _is_under(self, node: Node, question: str) -> bool:
        """Return True if a question is asked directly above a step."""
        above = [self._nodes.outline.locations[id_].thing for id_ in self._above(node)[-2:]]
        guards = [q.text for each in above if isinstance(each, Arm) for q in questions(each.guard)]
        return question in [*guards, *(c.question for c in above if isinstance(c, Choice))]

    def _replace(self, id_: str, **fields: object) -> None:
        """Set those fields of a node that differ."""
        node = self._nodes.outline.locations[id_].thing
        changed = {name: each for name, each in fields.items() if getattr(node, name) != each}
        if changed:
            self._do(Replace(node=id_, **changed))


_CHANGES: dict[type, Callable[[_BlockChange, Any], None]] = {
    SetBox: _BlockChange.set_box,
    SetCondition: _BlockChange.set_condition,
    SetList: _BlockChange.set_list,
    GoOn: _BlockChange.go_on,
    SetNote: _BlockChange.set_note,
    SetWords: _BlockChange.set_words,
    Split: _BlockChange.split,
    Join: _BlockChange.join,
    SetEnd: _BlockChange.set_end,
    MoveStep: _BlockChange.move,
    AddOwnStep: _BlockChange.add_step,
    AddOwnNote: _BlockChange.add_note,
}


def sentences_of(step: Do, block: Block) -> list[str]:
    """Return the sentences that a step of one block can be split into: its own, or the block's."""
    own = sentences(plain(step.text), step.commands)
    return own if len(own) > 1 else sentences(plain(block.text), step.commands)


def _parts_by_sentence(step: Do, block: Block) -> list[Do]:
    """Return a step for each sentence; commands that none has are the last one's."""
    texts = sentences_of(step, block)
    if len(texts) < 2:
        raise NothingChangedError("the step is one sentence of one block")
    commands: list[list[str]] = [[] for _ in texts]
    for command in step.commands:
        at = next((n for n, text in enumerate(texts) if command in text), len(texts) - 1)
        commands[at].append(command)
    parts = [
        Do(text=text.rstrip(" ."), lines=step.lines, commands=tuple(own))
        for text, own in zip(texts, commands, strict=True)
    ]
    return [*parts[:-1], parts[-1].model_copy(update={"expected": step.expected})]


def _words(page: Page, block: Block) -> str:
    """Return a block's words: of code and tables their lines, of others the plain text."""
    return block.text or block.verbatim.strip() or page.verbatim(block).strip()


def _below(thing: Node | Arm) -> list[Node | Arm]:
    if isinstance(thing, Arm):
        return [each for node in thing.body for each in (node, *walk_below(node))]
    return list(walk_below(thing))


def _start(node: Node) -> int:
    """Return the first line of a node and of all below it; far behind the page without one."""
    ranges = [*node.lines, *(each for below in _below(node) for each in below.lines)]
    return min((first for first, _ in ranges), default=_LAST)


def _ranges(numbers: Iterable[int]) -> tuple[LineRange, ...]:
    """Return the ranges of line numbers."""
    ranges: list[LineRange] = []
    for n in sorted(set(numbers)):
        if ranges and ranges[-1][1] == n - 1:
            ranges[-1] = (ranges[-1][0], n)
        else:
            ranges.append((n, n))
    return tuple(ranges)


def _only_condition(nodes: Sequence[Node]) -> Choice | None:
    """Return the condition that steps consist of: a choice with one arm and nothing otherwise."""
    first = nodes[0]
    if len(nodes) > 1 or not isinstance(first, Choice) or first.mode is not Mode.EXCLUSIVE:
        return None
    is_plain = len(first.arms) == 1 and not first.question and first.otherwise is None
    return first if is_plain else None


def _answers(choice: Choice, arm: Arm, question: str, answer: str) -> bool:
    """Return True if an arm is done on this answer to the question."""
    plain = answer.strip().casefold()
    if choice.question:
        texts = [each.text.strip().casefold() for each in questions(arm.guard)]
        return choice.question == question and texts == [plain]
    guard = arm.guard
    is_no = isinstance(guard, Not)
    state = guard.guard if isinstance(guard, Not) else guard
    is_same = state is not None and getattr(state, "text", None) == question
    return is_same and plain == (NO if is_no else YES)
