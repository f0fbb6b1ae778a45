"""Lowering of a program to a graph with two continuations: after success and after failure.

A remedy leads to the verification of the page, or to the question whether it helped. If it did
not, the next remedy or the other options follow, and the escalation when there is none. What does
a task, or only finds something out, ends with its steps. Nothing is duplicated: what two paths
share is one step.
"""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

from services.language.deeds import is_inspection
from services.language.verbs import begins_with_verb
from services.runbook.lowering_graph import ArrowTarget, Graph
from services.runbook.model import (
    ESCALATION,
    START,
    VERIFICATION,
    All,
    Arm,
    Body,
    Choice,
    Do,
    End,
    EndKind,
    Guard,
    Jump,
    LineRange,
    Loop,
    Mode,
    Node,
    Not,
    Outcome,
    Procedure,
    Purpose,
    Remark,
    Some,
    Sourced,
    State,
    questions,
    walk,
)
from services.workflow.effects.effect import effect_of
from services.workflow.model import Citation, Step, StepKind, Workflow

RESOLVED_TEXT = "Resolved"
DONE_TEXT = "Done"
STOP_TEXT = "The page says no more"
OPEN_TEXT = "Nothing else on this page: escalate"
HELPED_TEXT = "Did that help?"
SOLVED_TEXT = "Is the issue resolved?"
ROUND_TEXT = "Is another round needed?"
"""Question at the end of a loop for which the page names no way out."""
UNSURE_BELOW = 0.6
"""Confidence below which a step is shown as doubtful."""

_DONE, _CONFIRMED, _OPEN = "#done", "#confirmed", "#open"
"""Names: last step done; known to have helped; nothing left to do."""
_SUCCESS, _HANDED_OVER = "#success", "#handed-over"
NONE_OF_THESE = "None of these"
_MOST_LABEL_WORDS = 8
_MOST_QUESTION_WORDS = 14

_MODAL = re.compile(
    r"^(?:you|we|one)\s+(?:can|could|may|might|should|must|(?:need|have)\s+to)\s+(?:(?:also|then|now)\s+)?",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"`+|\*\*|(?<!\w)__|__(?!\w)")
_END_TEXTS = {
    EndKind.RESOLVED: RESOLVED_TEXT,
    EndKind.ESCALATE: "Escalate",
    EndKind.OTHER_PAGE: "Go on with the other page",
    EndKind.NOT_THIS_FAULT: "It is another fault",
    EndKind.STOP: STOP_TEXT,
}


def lower(
    procedure: Procedure, document_id: str, doubts: Mapping[str, str] | None = None
) -> Workflow:
    """Return the workflow of a procedure, its steps citing the lines of `document_id`.

    `doubts` has, by the id of a node, a text about what is uncertain.
    """
    return _Lowering(procedure, document_id, doubts or {}).workflow()


@dataclass(frozen=True)
class _Continuations:
    """The targets after a body: done, or not helped."""

    done: ArrowTarget
    not_helped: ArrowTarget
    claimed: ArrowTarget = _DONE
    """The target of an end that claims success without words, behind a remedy."""
    has_acted: bool = False
    """True if something that may have mended the fault was done on the way here."""


class _Lowering:
    def __init__(self, procedure: Procedure, document_id: str, doubts: Mapping[str, str]) -> None:
        self._procedure = procedure
        self._document_id = document_id
        self._doubts = doubts
        self._graph = Graph()
        self._numbers = count(1)
        self._names = {each.id for each in procedure.sourced() if each.id} | {
            name for name, body in procedure.bodies.items() if body
        }

    def workflow(self) -> Workflow:
        graph, procedure = self._graph, self._procedure
        open_end = graph.add(_implied(OPEN_TEXT, StepKind.TERMINAL))
        graph.set_target(_OPEN, open_end)
        handed_over = _implied(_END_TEXTS[EndKind.ESCALATE], StepKind.TERMINAL)
        graph.set_target(_HANDED_OVER, graph.add(handed_over))
        failed = _name(ESCALATION) if procedure.escalation else _OPEN
        self._place_success(failed)
        ways = _Continuations(_DONE, failed)
        for name, body in procedure.parts.items():
            graph.set_target(_name(name), self._body(body, ways))
        if procedure.escalation:
            escalation = _with_end(procedure.escalation)
            graph.set_target(
                _name(ESCALATION),
                self._body(escalation, _Continuations(_HANDED_OVER, _HANDED_OVER, _SUCCESS)),
            )
        graph.set_target(_name(START), self._body(procedure.body, ways))
        start = graph.resolve(_name(START)) or open_end
        rounds: dict[str, ArrowTarget] = {}

        def ask_for_round(target: str, endless: Container[str]) -> ArrowTarget:
            if target not in rounds:
                done = _DONE if graph.resolve(_DONE) not in endless else _SUCCESS
                rounds[target] = self._ask(ROUND_TEXT, (), target, done)
            return rounds[target]

        graph.open_loops(start, open_end, ask_for_round)
        graph.drop_needless_questions()
        steps, arrows = graph.in_reading_order(start)
        return Workflow(title=procedure.title, steps=tuple(steps), transitions=tuple(arrows))

    def _place_success(self, failed: ArrowTarget) -> None:
        """Place what follows the last step: the page's verification, a question, or an end."""
        graph, procedure = self._graph, self._procedure
        is_fault = procedure.purpose is Purpose.FAULT
        text = RESOLVED_TEXT if is_fault else DONE_TEXT
        graph.set_target(_SUCCESS, graph.add(_implied(text, StepKind.TERMINAL)))
        steps = [
            node
            for name, body in procedure.bodies.items()
            for node in walk(body)
            if name not in {VERIFICATION, ESCALATION}
        ]
        asks_itself = bool(procedure.verification) and isinstance(
            procedure.verification[-1], Choice
        )
        after_steps: ArrowTarget = _SUCCESS
        if not asks_itself and (procedure.escalation or (is_fault and any(map(_acts, steps)))):
            lines = procedure.escalation[0].lines if procedure.escalation else ()
            after_steps = self._ask(SOLVED_TEXT, lines, _SUCCESS, failed)
        elif is_fault and not procedure.verification:
            after_steps = graph.add(_implied(STOP_TEXT, StepKind.TERMINAL))
        if procedure.verification:
            ways = _Continuations(after_steps, failed, claimed=after_steps)
            verified = self._body(procedure.verification, ways)
            graph.set_target(_name(VERIFICATION), verified)
            after_steps = _name(VERIFICATION)
        graph.set_target(_DONE, after_steps)
        graph.set_target(_CONFIRMED, after_steps if procedure.verification else _SUCCESS)

    # Bodies and nodes, from the last to the first.

    def _body(self, body: Body, ways: _Continuations) -> ArrowTarget:
        entry = ways.done
        nodes = _with_notes(body)
        has_acted = [ways.has_acted]
        for node, _ in nodes:
            has_acted.append(has_acted[-1] or any(map(_acts, walk((node,)))))
        for place in reversed(range(len(nodes))):
            node, notes = nodes[place]
            if _claims_success(node) and place and _acts(nodes[place - 1][0]):
                entry = ways.claimed
            else:
                entry = self._node(node, entry, replace(ways, has_acted=has_acted[place]), notes)
            if node.id:
                self._graph.set_target(_name(node.id), entry)
                entry = _name(node.id)
        behind, placed = ways.done, {node.id for node, _ in nodes}
        for node in reversed(body):  # whoever jumps to a note goes on at the node behind it
            if not isinstance(node, Remark):
                behind = _name(node.id) if node.id else behind
            elif node.id and node.id not in placed:
                self._graph.set_target(_name(node.id), behind)
        return entry

    def _node(
        self, node: Node, following: ArrowTarget, ways: _Continuations, notes: Sequence[str]
    ) -> ArrowTarget:
        match node:
            case Do():
                return self._graph.add(self._action(node, notes), [("", following)])
            case End():
                return self._graph.add(self._end(node, notes))
            case Jump():
                return self._jump(node, following, ways)
            case Loop():
                again = f"#loop{next(self._numbers)}"
                self._graph.mark_jump(again)
                over = following if self._procedure.escalation else _confirmed(following)
                until = self._guard(node.until, node, over, again)
                entry = self._body(node.body, replace(ways, done=until))
                self._graph.set_target(again, entry)
                return self._with_own_notes(entry, node, notes)
            case Choice():
                return self._choice(node, following, ways, notes)
            case Remark():
                return following

    def _jump(self, jump: Jump, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        if jump.target not in self._names and jump.target != START:
            lacking = {ESCALATION: ways.not_helped, VERIFICATION: _DONE}
            return lacking.get(jump.target, following)
        jumped = f"#jump{next(self._numbers)}"  # others come to the target's own name
        self._graph.mark_jump(jumped)
        self._graph.set_target(jumped, _name(jump.target))
        return jumped

    # Choices.

    def _choice(
        self, choice: Choice, following: ArrowTarget, ways: _Continuations, notes: Sequence[str]
    ) -> ArrowTarget:
        arms = [
            arm if arm.lines else arm.model_copy(update={"lines": choice.lines})
            for arm in choice.arms
        ]
        choice = choice.model_copy(update={"arms": tuple(arms)})
        match choice.mode:
            case Mode.IN_ORDER:
                entry = self._in_order(choice, following, ways)
            case Mode.ANY:
                entry = self._any(choice, following, ways)
            case Mode.FREE | Mode.SEVERAL:
                entry = self._options(choice, following, ways)
            case Mode.EXCLUSIVE:
                asks_one = bool(choice.question)
                entry = (self._cases if asks_one else self._chain)(choice, following, ways)
        return self._with_own_notes(entry, choice, notes)

    def _with_own_notes(
        self, entry: ArrowTarget, node: Choice | Loop, notes: Sequence[str]
    ) -> ArrowTarget:
        """Put the notes of a choice or loop at its first step, or in front as a step."""
        if not notes:
            return entry
        first = self._graph.resolve(entry)
        if first is None:
            note = Remark(text="\n".join(notes), lines=node.lines)
            return self._graph.add(self._action(_as_step(note), ()), [("", entry)])
        step = self._graph.steps[first]
        own = _distinct((*notes, *step.notes))
        self._graph.steps[first] = step.model_copy(update={"notes": own})
        return entry

    def _chain(self, choice: Choice, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        inner = replace(ways, done=following)
        entry = self._otherwise(choice, following, ways)
        for arm in reversed(choice.arms):
            entry = self._guarded(arm, self._body(arm.body, inner), entry)
        return entry

    def _any(self, choice: Choice, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        entry = following
        if choice.otherwise is not None:
            otherwise = self._body(choice.otherwise, replace(ways, done=following))
            entry = self._ask("Did none of these apply?", choice.lines, otherwise, following)
        for arm in reversed(choice.arms):
            body = self._body(arm.body, replace(ways, done=entry))
            entry = self._guarded(arm, body, entry)
        return entry

    def _cases(self, choice: Choice, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        """Place one question with an exit for each arm."""
        inner = replace(ways, done=following)
        by_label: dict[str, tuple[str, ArrowTarget]] = {}
        for arm in choice.arms:
            label, target = distinct_label(_label(arm), by_label), self._body(arm.body, inner)
            if arm.id:
                self._graph.set_target(_name(arm.id), target)
            by_label[label.casefold()] = (label, target)
        exits, labels = list(by_label.values()), set(by_label)
        if choice.otherwise is not None or len(exits) == 1:
            name = "No" if labels == {"yes"} else "Yes" if labels == {"no"} else "Otherwise"
            exits.append((name, self._otherwise(choice, following, ways)))
        return self._question_with(choice, exits)

    def _question_with(
        self, choice: Choice, exits: Sequence[tuple[str, ArrowTarget]]
    ) -> ArrowTarget:
        if len(exits) == 1:
            return exits[0][1]
        text = choice.question or "Which of these is to be done?"
        lines = choice.lines or tuple(r for arm in choice.arms for r in arm.lines)
        return self._graph.add(self._decision(text, lines, choice), exits)

    def _options(self, choice: Choice, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        """Place options as one question with an exit for each; a failed remedy leads back to it.

        So does each of several options that may be taken.
        """
        is_several = choice.mode is Mode.SEVERAL
        is_unchecked = following == _DONE and not self._procedure.verification
        is_unchecked = is_unchecked and self._procedure.purpose is Purpose.FAULT
        back = f"#options{next(self._numbers)}"
        by_label: dict[str, tuple[str, ArrowTarget]] = {}
        leads_back = False
        for arm in choice.arms:
            done: ArrowTarget = back if is_several else following
            if is_unchecked and any(map(_acts, walk(arm.body))):
                question = _help_question(arm.body)
                done = self._ask(question, arm.lines, _confirmed(following), back)
            leads_back = leads_back or done != following
            label = distinct_label(_label(arm), by_label)
            claimed = ways.claimed if done == following else done
            target = self._body(arm.body, replace(ways, done=done, claimed=claimed))
            if arm.id:
                self._graph.set_target(_name(arm.id), target)
            by_label[label.casefold()] = (label, target)
        exits = list(by_label.values())
        if choice.otherwise is not None:
            exits.append(("Otherwise", self._otherwise(choice, following, ways)))
        elif leads_back:
            self._graph.mark_jump(back)
            exits.append((NONE_OF_THESE, ways.not_helped if is_unchecked else following))
        entry = self._question_with(choice, exits)
        self._graph.set_target(back, entry)
        return entry

    def _in_order(
        self, choice: Choice, following: ArrowTarget, ways: _Continuations
    ) -> ArrowTarget:
        """Place remedies one after the other, each if the one before did not help."""
        if choice.otherwise is not None:
            failed: ArrowTarget | None = self._body(choice.otherwise, replace(ways, done=following))
        elif following not in {_DONE, _SUCCESS}:
            failed = following
        else:
            failed = ways.not_helped if ways.not_helped != _OPEN else None
        for arm, after in reversed(list(zip(choice.arms, [*choice.arms[1:], None], strict=True))):
            failed = self._remedy(arm, after, failed, following, ways)
        return failed or following

    def _remedy(
        self,
        arm: Arm,
        after: Arm | None,
        failed: ArrowTarget | None,
        following: ArrowTarget,
        ways: _Continuations,
    ) -> ArrowTarget:
        """Place one of several remedies; `failed` is the start of the next one."""
        has_outcome_question = after is not None and any(
            isinstance(q, Outcome) for q in questions(after.guard)
        )
        is_verified = after is None and following == _DONE and self._is_checked_at_end
        if failed is None or has_outcome_question or is_verified or _settles_outcome(arm.body):
            done = failed if has_outcome_question and failed else following
        else:
            question = _help_question(arm.body)
            done = self._ask(question, (after or arm).lines, _confirmed(following), failed)
        body = self._body(arm.body, _Continuations(done, failed or ways.not_helped, claimed=done))
        if isinstance(arm.guard, Outcome):
            return self._guarded(arm, body, _confirmed(following))
        return self._guarded(arm, body, failed or following)

    def _otherwise(
        self, choice: Choice, following: ArrowTarget, ways: _Continuations
    ) -> ArrowTarget:
        """Return the target if no guard holds.

        Who comes to the end of the page without an action is not helped.
        """
        if choice.otherwise is not None:
            return self._body(choice.otherwise, replace(ways, done=following))
        nothing_left = following in {_DONE, _SUCCESS}
        if any(isinstance(q, Outcome) for arm in choice.arms for q in questions(arm.guard)):
            last = [arm.body[-1] for arm in choice.arms if arm.body]
            # Where an arm ends well, the other answer is the bad one.
            helped = any(isinstance(n, End) and n.kind is EndKind.RESOLVED for n in last)
            return ways.not_helped if helped and nothing_left else _confirmed(following)
        is_way_out = all(_gives_up(arm.body) for arm in choice.arms)
        is_checked = following == _DONE and (
            self._is_checked_at_end or ways.has_acted or self._procedure.purpose is Purpose.TASK
        )
        return following if not nothing_left or is_way_out or is_checked else ways.not_helped

    @property
    def _is_checked_at_end(self) -> bool:
        """True if the steps after the last one find out whether it helped."""
        return bool(self._procedure.verification or self._procedure.escalation)

    # Guards.

    def _guarded(self, arm: Arm, yes: ArrowTarget, no: ArrowTarget) -> ArrowTarget:
        entry = self._guard(arm.guard, arm, yes, no) if arm.guard else yes
        if arm.id:
            self._graph.set_target(_name(arm.id), entry)
        return entry

    def _guard(
        self, guard: Guard, source: Sourced, yes: ArrowTarget, no: ArrowTarget
    ) -> ArrowTarget:
        match guard:
            case State() | Outcome():
                return self._ask(guard.text, source.lines, yes, no, source)
            case Not():
                return self._guard(guard.guard, source, no, yes)
            case All():
                for each in reversed(guard.guards):
                    yes = self._guard(each, source, yes, no)
                return yes
            case Some():
                for each in reversed(guard.guards):
                    no = self._guard(each, source, yes, no)
                return no

    def _ask(
        self,
        text: str,
        lines: Sequence[LineRange],
        yes: ArrowTarget,
        no: ArrowTarget,
        source: Sourced | None = None,
    ) -> ArrowTarget:
        if yes == no and source is None:
            return yes
        return self._graph.add(self._decision(text, lines, source), [("Yes", yes), ("No", no)])

    # Steps.

    def _action(self, node: Do, notes: Sequence[str]) -> Step:
        return Step(
            id="",
            kind=StepKind.PROCESS,
            text=_plain(node.text),
            commands=node.commands,
            expected=node.expected,
            citations=self._citations(node.lines),
            notes=tuple(note for note in notes if note.strip("` ") not in node.commands),
            doubt=self._doubt(node),
            node=node.id,
        )

    def _end(self, node: End, notes: Sequence[str]) -> Step:
        return Step(
            id="",
            kind=StepKind.TERMINAL,
            text=_plain(node.text) or _END_TEXTS[node.kind],
            commands=node.commands,
            citations=self._citations(node.lines),
            notes=tuple(notes),
            doubt=self._doubt(node),
            node=node.id,
            implied=not node.lines,
        )

    def _decision(self, text: str, lines: Sequence[LineRange], source: Sourced | None) -> Step:
        question = _plain(text)
        return Step(
            id="",
            kind=StepKind.DECISION,
            text=question if question.endswith("?") else f"{question.rstrip(' .:;,')}?",
            citations=self._citations(lines),
            doubt=self._doubt(source) if source else "",
            node=source.id if source else "",
            implied=source is None,
        )

    def _doubt(self, node: Sourced) -> str:
        if node.id in self._doubts:
            return self._doubts[node.id]
        return "The page does not say this clearly" if node.confidence < UNSURE_BELOW else ""

    def _citations(self, lines: Sequence[LineRange]) -> tuple[Citation, ...]:
        return tuple(
            Citation(document_id=self._document_id, start_line=first, end_line=last)
            for first, last in lines
        )


def _plain(text: str) -> str:
    """Strip the marks of code and emphasis that a page's words may have."""
    return _MARKUP.sub("", text).strip()


def _confirmed(following: ArrowTarget) -> ArrowTarget:
    """Return the target after a confirmed success, which is not asked for again."""
    return _CONFIRMED if following == _DONE else following


def _name(id_: str) -> str:
    return f"@{id_}"


def _implied(text: str, kind: StepKind) -> Step:
    return Step(id="", kind=kind, text=text, implied=True)


def _with_notes(body: Body) -> list[tuple[Node, tuple[str, ...]]]:
    """Return the nodes that are no remarks, each with its own notes and the remarks beside it.

    Of remarks between two nodes those with lines nearer to the one before go to that one, the
    others to the one behind; the last remarks go to the last node.
    """
    nodes: list[tuple[Node, list[str]]] = []
    waiting: list[Remark] = []
    for place, node in enumerate(body):
        if isinstance(node, Remark):
            behind = next((n for n in body[place:] if not isinstance(n, Remark)), None)
            if nodes and _is_nearer(node, nodes[-1][0], behind) and not waiting:
                nodes[-1][1].append(node.text)
            else:
                waiting.append(node)
            continue
        if isinstance(node, Jump):  # it is no step that a note could stand at
            nodes += [(_as_step(note), []) for note in waiting]
            nodes.append((node, []))
        else:
            nodes.append((node, [note.text for note in (*waiting, *node.notes)]))
        waiting = []
    if waiting and nodes and not isinstance(nodes[-1][0], Jump):
        nodes[-1][1].extend(note.text for note in waiting)
    elif waiting:
        nodes += [(_as_step(note), []) for note in waiting]
    return [(node, _distinct(notes)) for node, notes in nodes]


def _distinct(notes: Iterable[str]) -> tuple[str, ...]:
    """Return the notes once each, whatever case and full stop they have."""
    return tuple({note.strip(" .").casefold(): note for note in reversed([*notes])}.values())[::-1]


def _is_nearer(remark: Remark, before: Node, behind: Node | None) -> bool:
    """Return True if the page says the remark nearer to the node before it than to the next one."""
    if isinstance(before, Jump) or not remark.lines or not before.lines:
        return False
    gap = remark.lines[0][0] - before.lines[-1][1]
    if gap < 0:
        return False
    if behind is None or isinstance(behind, Jump) or not behind.lines:
        return True
    return gap < behind.lines[0][0] - remark.lines[-1][1]


def _acts(node: Node) -> bool:
    """Return True if the node may mend something: an action that is no mere look."""
    if not isinstance(node, Do):
        return False
    effects = [effect_of(command) for command in node.commands]
    if any(effect.what and not effect.only_looks for effect in effects):
        return True
    only_looks = bool(effects) and all(effect.only_looks for effect in effects)
    return not only_looks and not is_inspection(_plain(node.text))


def _as_step(note: Remark) -> Do:
    """Turn a remark without a step beside it into a step of its own."""
    return Do(id=note.id, text=note.text, lines=note.lines, confidence=note.confidence)


def _with_end(body: Body) -> Body:
    """Turn the last action of an escalation into the end of the path."""
    last = body[-1]
    if not isinstance(last, Do):
        return body
    end = End(
        id=last.id,
        kind=EndKind.ESCALATE,
        text=last.text,
        lines=last.lines,
        confidence=last.confidence,
        commands=last.commands,
        notes=last.notes,
    )
    return (*body[:-1], end)


def _help_question(body: Body) -> str:
    """Return the question whether the last action helped, with that action as its subject."""
    last = next((node.text for node in reversed(body) if isinstance(node, Do)), "")
    for part in re.split(r"[,:;(]| - ", last):
        action = _MODAL.sub("", part.strip()).rstrip(".")
        if begins_with_verb(action) and 1 < len(action.split()) <= _MOST_QUESTION_WORDS:
            return f"Did it help to {action[:1].lower()}{action[1:]}?"
    return HELPED_TEXT


def _label(arm: Arm) -> str:
    state = next(questions(arm.guard), None)
    if state is not None:
        return state.text.rstrip("?")
    first = next((node.text for node in arm.body if isinstance(node, Do | End) and node.text), "")
    return " ".join(first.split()[:_MOST_LABEL_WORDS]) or "Nothing"


def _settles_outcome(body: Body) -> bool:
    """Return True if the body ends in a question about its outcome, an end or a jump."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, Choice):
        return any(isinstance(q, Outcome) for arm in last.arms for q in questions(arm.guard))
    return isinstance(last, End | Jump) and not _claims_success(last)


def _claims_success(node: Node) -> bool:
    """Return True for an end as resolved that no line and no word of the page says."""
    return isinstance(node, End) and node.kind is EndKind.RESOLVED and not (node.lines or node.text)


def distinct_label(label: str, taken: Container[str]) -> str:
    """Return the label, with a number if it is taken; labels are compared without case."""
    numbered = (f"{label} ({n})" for n in count(2))
    return next(each for each in chain((label,), numbered) if each.casefold() not in taken)


def _gives_up(body: Body) -> bool:
    """Return True if the body leads to an end at which the fault persists."""
    last = body[-1] if body else None
    if isinstance(last, Jump):
        return last.target == ESCALATION
    return isinstance(last, End) and last.kind is not EndKind.RESOLVED
