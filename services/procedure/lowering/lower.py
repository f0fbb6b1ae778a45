"""A program as a graph, with two continuations: what comes when it is done, what when it failed.

A remedy leads to the verification of the page, or to the question whether it helped; who is not
helped comes to the next remedy, and to the escalation when there is none. Nothing is duplicated:
what two paths share is one step.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from services.language.verbs import begins_with_verb
from services.procedure.lowering.graph import Graph, Target
from services.procedure.model import (
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
    Remark,
    Some,
    Sourced,
    State,
    questions,
)
from services.workflow.model import Citation, Step, StepKind, Workflow

RESOLVED_TEXT = "Resolved"
OPEN_TEXT = "Not covered by this page: escalate"
HELPED_TEXT = "Did that help?"
SOLVED_TEXT = "Is the issue resolved?"
UNSURE_BELOW = 0.6
"""Confidence under which a step is shown as doubtful."""

_DONE, _CONFIRMED, _OPEN = "#done", "#confirmed", "#open"
"""When the last step is done; when it is known to have helped; when nothing is left to do."""
_RESOLVED = "#resolved"
_MOST_LABEL_WORDS = 8
_MOST_ASKED_WORDS = 14

_MAY = re.compile(
    r"^(?:you|we|one)\s+(?:can|could|may|might|should|must|(?:need|have)\s+to)\s+(?:(?:also|then|now)\s+)?",
    re.IGNORECASE,
)
_MARKS = re.compile(r"`+|\*\*|(?<!\w)__|__(?!\w)")
_END_TEXTS = {
    EndKind.RESOLVED: RESOLVED_TEXT,
    EndKind.ESCALATE: "Escalate",
    EndKind.OTHER_PAGE: "Go on with the other page",
    EndKind.NOT_THIS_FAULT: "It is another fault",
}


def lower(
    procedure: Procedure, document_id: str, doubts: Mapping[str, str] | None = None
) -> Workflow:
    """The workflow of a procedure, its steps citing the lines of `document_id`.

    `doubts` tells by the id of a node what is not sure about it.
    """
    return _Lowering(procedure, document_id, doubts or {}).workflow()


@dataclass(frozen=True)
class _Ways:
    """Where a body leads."""

    done: Target
    not_helped: Target


class _Lowering:
    def __init__(self, procedure: Procedure, document_id: str, doubts: Mapping[str, str]) -> None:
        self._procedure = procedure
        self._document_id = document_id
        self._doubts = doubts
        self._graph = Graph()
        self._names = {node.id for node in procedure.walk() if node.id} | {
            name for name, body in procedure.bodies.items() if body
        }

    def workflow(self) -> Workflow:
        start = self._placed()
        steps, arrows = self._graph.in_reading_order(start)
        return Workflow(title=self._procedure.title, steps=tuple(steps), transitions=tuple(arrows))

    def _placed(self) -> str:
        graph, told = self._graph, self._procedure
        open_end = graph.add(_implied(OPEN_TEXT, StepKind.TERMINAL))
        graph.name(_OPEN, open_end)
        resolved = graph.add(_implied(RESOLVED_TEXT, StepKind.TERMINAL))
        graph.name(_RESOLVED, resolved)
        failed = _name(ESCALATION) if told.escalation else _OPEN
        self._place_success(failed)
        ways = _Ways(_DONE, failed)
        for name, body in told.parts.items():
            graph.name(_name(name), self._body(body, ways))
        if told.escalation:
            ended = _ended(told.escalation)
            graph.name(_name(ESCALATION), self._body(ended, _Ways(_OPEN, _OPEN)))
        graph.name(_name(START), self._body(told.body, ways))
        start = graph.resolve(_name(START)) or open_end
        graph.end_open_loops(start, open_end)
        graph.settle_questions()
        return start

    def _place_success(self, failed: Target) -> None:
        """The verification of the page, or else the question that its escalation hangs on."""
        graph, told = self._graph, self._procedure
        asked: Target = _RESOLVED
        if told.escalation and not (
            told.verification and isinstance(told.verification[-1], Choice)
        ):
            asked = self._ask(SOLVED_TEXT, told.escalation[0].lines, _RESOLVED, failed)
        if told.verification:
            verified = self._body(told.verification, _Ways(asked, failed))
            graph.name(_name(VERIFICATION), verified)
        graph.name(_DONE, _name(VERIFICATION) if told.verification else asked)
        graph.name(_CONFIRMED, _name(VERIFICATION) if told.verification else _RESOLVED)

    # Bodies and nodes, from the last to the first.

    def _body(self, body: Body, ways: _Ways) -> Target:
        entry = ways.done
        for node, notes in reversed(_with_notes(body)):
            entry = self._node(node, entry, ways, notes)
            if node.id:
                self._graph.name(_name(node.id), entry)
                entry = _name(node.id)
        return entry

    def _node(self, node: Node, following: Target, ways: _Ways, notes: Sequence[str]) -> Target:
        match node:
            case Do():
                return self._graph.add(self._action(node, notes), [("", following)])
            case End():
                return self._graph.add(self._end(node, notes))
            case Jump():
                return self._jump(node, following, ways)
            case Loop():
                return self._loop(node, following, ways)
            case Choice():
                return self._choice(node, following, ways, notes)
            case Remark():
                return following

    def _jump(self, jump: Jump, following: Target, ways: _Ways) -> Target:
        if jump.target not in self._names and jump.target != START:
            lacking = {ESCALATION: ways.not_helped, VERIFICATION: _DONE}
            return lacking.get(jump.target, following)
        self._graph.mark_jump(_name(jump.target))
        return _name(jump.target)

    def _loop(self, loop: Loop, following: Target, ways: _Ways) -> Target:
        again = f"#loop{id(loop)}"
        self._graph.mark_jump(again)
        asked = self._guard(loop.until, loop, following, again)
        entry = self._body(loop.body, replace(ways, done=asked))
        self._graph.name(again, entry)
        return entry

    # Choices.

    def _choice(
        self, choice: Choice, following: Target, ways: _Ways, notes: Sequence[str]
    ) -> Target:
        arms = [_cited(arm, choice) for arm in choice.arms]
        choice = choice.model_copy(update={"arms": tuple(arms)})
        match choice.mode:
            case Mode.IN_ORDER:
                entry = self._in_order(choice, following, ways)
            case Mode.ANY:
                entry = self._any(choice, following, ways)
            case Mode.FREE:
                entry = self._cases(choice, following, ways)
            case Mode.EXCLUSIVE:
                asks_one = bool(choice.question)
                entry = (self._cases if asks_one else self._chain)(choice, following, ways)
        step = self._graph.steps.get(entry)
        if step and notes:
            self._graph.steps[entry] = step.model_copy(update={"notes": tuple(notes)})
        return entry

    def _chain(self, choice: Choice, following: Target, ways: _Ways) -> Target:
        inner = replace(ways, done=following)
        entry = self._otherwise(choice, following, ways)
        for arm in reversed(choice.arms):
            entry = self._guarded(arm, self._body(arm.body, inner), entry)
        return entry

    def _any(self, choice: Choice, following: Target, ways: _Ways) -> Target:
        if choice.otherwise is None and following in {_DONE, _RESOLVED} and not self._asks_at_last:
            following = self._ask(SOLVED_TEXT, choice.lines, following, ways.not_helped)
        entry = following
        if choice.otherwise is not None:
            otherwise = self._body(choice.otherwise, replace(ways, done=following))
            entry = self._ask("Did none of these apply?", choice.lines, otherwise, following)
        for arm in reversed(choice.arms):
            body = self._body(arm.body, replace(ways, done=entry))
            entry = self._guarded(arm, body, entry)
        return entry

    def _cases(self, choice: Choice, following: Target, ways: _Ways) -> Target:
        """One question with an exit for each arm."""
        inner = replace(ways, done=following)
        exits = [(_label(arm), self._body(arm.body, inner)) for arm in choice.arms]
        exits = [(label, to) for n, (label, to) in enumerate(exits) if _is_first(exits, n)]
        labels = {label.casefold() for label, _ in exits}
        if choice.otherwise is not None or (len(exits) == 1 and choice.mode is not Mode.FREE):
            name = "No" if labels == {"yes"} else "Yes" if labels == {"no"} else "Otherwise"
            exits.append((name, self._otherwise(choice, following, ways)))
        text = choice.question or "Which of these is to be done?"
        if len(exits) == 1:
            return exits[0][1]
        lines = choice.lines or tuple(r for arm in choice.arms for r in arm.lines)
        return self._graph.add(self._decision(text, lines, choice), exits)

    def _in_order(self, choice: Choice, following: Target, ways: _Ways) -> Target:
        """Remedies one after the other, the next one where the last did not help."""
        if choice.otherwise is not None:
            failed: Target | None = self._body(choice.otherwise, replace(ways, done=following))
        elif following not in {_DONE, _RESOLVED}:
            failed = following
        else:
            failed = ways.not_helped if ways.not_helped != _OPEN else None
        for arm, after in reversed(list(zip(choice.arms, [*choice.arms[1:], None], strict=True))):
            failed = self._resort(arm, after, failed, following, ways)
        return failed or following

    def _resort(
        self, arm: Arm, after: Arm | None, failed: Target | None, following: Target, ways: _Ways
    ) -> Target:
        """One remedy of several; `failed` is where the next one begins."""
        asks = after is not None and any(isinstance(q, Outcome) for q in questions(after.guard))
        verified = after is None and following == _DONE and self._asks_at_last
        if failed is None or asks or verified or _tells_outcome(arm.body):
            done = failed if asks and failed else following
        else:
            asked = _helped(arm.body)
            done = self._ask(asked, (after or arm).lines, _confirmed(following), failed)
        body = self._body(arm.body, _Ways(done, failed or ways.not_helped))
        if isinstance(arm.guard, Outcome):
            return self._guarded(arm, body, _confirmed(following))
        return self._guarded(arm, body, failed or following)

    def _otherwise(self, choice: Choice, following: Target, ways: _Ways) -> Target:
        """Where no guard holds. Who silently falls off the end of a page is not helped."""
        if choice.otherwise is not None:
            return self._body(choice.otherwise, replace(ways, done=following))
        nothing_left = following in {_DONE, _RESOLVED}
        if any(isinstance(q, Outcome) for arm in choice.arms for q in questions(arm.guard)):
            helped = any(_succeeds(arm.body) for arm in choice.arms)
            return ways.not_helped if helped and nothing_left else _confirmed(following)
        is_way_out = all(_gives_up(arm.body) for arm in choice.arms)
        verified = following == _DONE and self._asks_at_last
        return following if not nothing_left or is_way_out or verified else ways.not_helped

    @property
    def _asks_at_last(self) -> bool:
        """Whether what follows the last step finds out by itself if it helped."""
        return bool(self._procedure.verification or self._procedure.escalation)

    # Guards.

    def _guarded(self, arm: Arm, yes: Target, no: Target) -> Target:
        entry = self._guard(arm.guard, arm, yes, no) if arm.guard else yes
        if arm.id:
            self._graph.name(_name(arm.id), entry)
        return entry

    def _guard(self, guard: Guard, said: Sourced, yes: Target, no: Target) -> Target:
        match guard:
            case State() | Outcome():
                return self._ask(guard.text, said.lines, yes, no, said)
            case Not():
                return self._guard(guard.guard, said, no, yes)
            case All():
                for each in reversed(guard.guards):
                    yes = self._guard(each, said, yes, no)
                return yes
            case Some():
                for each in reversed(guard.guards):
                    no = self._guard(each, said, yes, no)
                return no

    def _ask(
        self,
        text: str,
        lines: Sequence[LineRange],
        yes: Target,
        no: Target,
        said: Sourced | None = None,
    ) -> Target:
        if yes == no and said is None:
            return yes
        return self._graph.add(self._decision(text, lines, said), [("Yes", yes), ("No", no)])

    # Steps.

    def _action(self, node: Do, notes: Sequence[str]) -> Step:
        return Step(
            id="",
            kind=StepKind.PROCESS,
            text=_plain(node.text),
            commands=node.commands,
            expected=node.expected,
            citations=self._citations(node.lines),
            notes=tuple(notes),
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

    def _decision(self, text: str, lines: Sequence[LineRange], said: Sourced | None) -> Step:
        asked = _plain(text)
        return Step(
            id="",
            kind=StepKind.DECISION,
            text=asked if asked.endswith("?") else f"{asked.rstrip(' .:;,')}?",
            citations=self._citations(lines),
            doubt=self._doubt(said) if said else "",
            node=said.id if said else "",
            implied=said is None,
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
    """Without the marks of code and emphasis that a page's words may bring along."""
    return _MARKS.sub("", text).strip()


def _confirmed(following: Target) -> Target:
    """Who was asked whether it helped is not asked once more at the end."""
    return _CONFIRMED if following == _DONE else following


def _name(id_: str) -> str:
    return f"@{id_}"


def _implied(text: str, kind: StepKind) -> Step:
    return Step(id="", kind=kind, text=text, implied=True)


def _cited(arm: Arm, choice: Choice) -> Arm:
    return arm if arm.lines else arm.model_copy(update={"lines": choice.lines})


def _with_notes(body: Body) -> list[tuple[Node, tuple[str, ...]]]:
    """The nodes that are no remarks, each with those before it; the last remarks go to the end."""
    found: list[tuple[Node, tuple[str, ...]]] = []
    notes: list[Remark] = []
    for node in body:
        if isinstance(node, Remark):
            notes.append(node)
            continue
        if isinstance(node, Jump):  # it is no step that a note could stand at
            found += [(_noted(note), ()) for note in notes]
            notes = []
        found.append((node, tuple(note.text for note in notes)))
        notes = []
    if notes and found and not isinstance(found[-1][0], Jump):
        found[-1] = (found[-1][0], (*found[-1][1], *(note.text for note in notes)))
    elif notes:
        found += [(_noted(note), ()) for note in notes]
    return found


def _noted(note: Remark) -> Do:
    """A remark that no step stands beside is read as a step of its own."""
    return Do(id=note.id, text=note.text, lines=note.lines, confidence=note.confidence)


def _ended(body: Body) -> Body:
    """An escalation ends where it ends: its last action is the end of the path."""
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
    )
    return (*body[:-1], end)


def _helped(body: Body) -> str:
    """The question whether the last action helped, with that action as its subject."""
    last = next((node.text for node in reversed(body) if isinstance(node, Do)), "")
    for part in re.split(r"[,:;(]| - ", last):
        deed = _MAY.sub("", part.strip()).rstrip(".")
        if begins_with_verb(deed) and 1 < len(deed.split()) <= _MOST_ASKED_WORDS:
            return f"Did it help to {deed[:1].lower()}{deed[1:]}?"
    return HELPED_TEXT


def _label(arm: Arm) -> str:
    asked = next(questions(arm.guard), None)
    if asked is not None:
        return asked.text.rstrip("?")
    first = next((node.text for node in arm.body if isinstance(node, Do | End) and node.text), "")
    return " ".join(first.split()[:_MOST_LABEL_WORDS]) or "Nothing"


def _is_first(exits: Sequence[tuple[str, Target]], place: int) -> bool:
    label = exits[place][0].casefold()
    return all(before.casefold() != label for before, _ in exits[:place])


def _tells_outcome(body: Body) -> bool:
    """Whether it ends in a question about what came of it, or never comes to its end."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, Choice):
        return any(isinstance(q, Outcome) for arm in last.arms for q in questions(arm.guard))
    return isinstance(last, End | Jump)


def _succeeds(body: Body) -> bool:
    """Whether it ends well: then the other answer is the bad one."""
    return bool(body) and isinstance(body[-1], End) and body[-1].kind is EndKind.RESOLVED


def _gives_up(body: Body) -> bool:
    """Whether it leads to an end at which the fault is still there."""
    last = body[-1] if body else None
    if isinstance(last, Jump):
        return last.target == ESCALATION
    return isinstance(last, End) and last.kind is not EndKind.RESOLVED
