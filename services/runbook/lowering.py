"""Lowering of a program to a graph with two continuations: after success and after failure.

A remedy leads to the verification of the page, or to the question whether it helped. If it did
not, the next remedy follows, and the escalation when there is none. Nothing is duplicated: what
two paths share is one step.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
"""Confidence below which a step is shown as doubtful."""

_DONE, _CONFIRMED, _OPEN = "#done", "#confirmed", "#open"
"""Names: last step done; known to have helped; nothing left to do."""
_RESOLVED = "#resolved"
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
        graph, procedure = self._graph, self._procedure
        open_end = graph.add(_implied(OPEN_TEXT, StepKind.TERMINAL))
        graph.set_target(_OPEN, open_end)
        resolved = graph.add(_implied(RESOLVED_TEXT, StepKind.TERMINAL))
        graph.set_target(_RESOLVED, resolved)
        failed = _name(ESCALATION) if procedure.escalation else _OPEN
        self._place_success(failed)
        ways = _Continuations(_DONE, failed)
        for name, body in procedure.parts.items():
            graph.set_target(_name(name), self._body(body, ways))
        if procedure.escalation:
            escalation = _with_end(procedure.escalation)
            graph.set_target(
                _name(ESCALATION), self._body(escalation, _Continuations(_OPEN, _OPEN))
            )
        graph.set_target(_name(START), self._body(procedure.body, ways))
        start = graph.resolve(_name(START)) or open_end
        graph.end_open_loops(start, open_end)
        graph.drop_needless_questions()
        steps, arrows = graph.in_reading_order(start)
        return Workflow(title=procedure.title, steps=tuple(steps), transitions=tuple(arrows))

    def _place_success(self, failed: ArrowTarget) -> None:
        """Place the page's verification, or the question before its escalation."""
        graph, procedure = self._graph, self._procedure
        after_success: ArrowTarget = _RESOLVED
        if procedure.escalation and not (
            procedure.verification and isinstance(procedure.verification[-1], Choice)
        ):
            after_success = self._ask(SOLVED_TEXT, procedure.escalation[0].lines, _RESOLVED, failed)
        if procedure.verification:
            verified = self._body(procedure.verification, _Continuations(after_success, failed))
            graph.set_target(_name(VERIFICATION), verified)
        graph.set_target(_DONE, _name(VERIFICATION) if procedure.verification else after_success)
        graph.set_target(_CONFIRMED, _name(VERIFICATION) if procedure.verification else _RESOLVED)

    # Bodies and nodes, from the last to the first.

    def _body(self, body: Body, ways: _Continuations) -> ArrowTarget:
        entry = ways.done
        for node, notes in reversed(_with_notes(body)):
            entry = self._node(node, entry, ways, notes)
            if node.id:
                self._graph.set_target(_name(node.id), entry)
                entry = _name(node.id)
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
                again = f"#loop{id(node)}"
                self._graph.mark_jump(again)
                until = self._guard(node.until, node, following, again)
                entry = self._body(node.body, replace(ways, done=until))
                self._graph.set_target(again, entry)
                return entry
            case Choice():
                return self._choice(node, following, ways, notes)
            case Remark():
                return following

    def _jump(self, jump: Jump, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        if jump.target not in self._names and jump.target != START:
            lacking = {ESCALATION: ways.not_helped, VERIFICATION: _DONE}
            return lacking.get(jump.target, following)
        self._graph.mark_jump(_name(jump.target))
        return _name(jump.target)

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
            case Mode.FREE:
                entry = self._cases(choice, following, ways)
            case Mode.EXCLUSIVE:
                asks_one = bool(choice.question)
                entry = (self._cases if asks_one else self._chain)(choice, following, ways)
        step = self._graph.steps.get(entry)
        if step and notes:
            self._graph.steps[entry] = step.model_copy(update={"notes": tuple(notes)})
        return entry

    def _chain(self, choice: Choice, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        inner = replace(ways, done=following)
        entry = self._otherwise(choice, following, ways)
        for arm in reversed(choice.arms):
            entry = self._guarded(arm, self._body(arm.body, inner), entry)
        return entry

    def _any(self, choice: Choice, following: ArrowTarget, ways: _Continuations) -> ArrowTarget:
        if (
            choice.otherwise is None
            and following in {_DONE, _RESOLVED}
            and not self._is_checked_at_end
        ):
            following = self._ask(SOLVED_TEXT, choice.lines, following, ways.not_helped)
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
            label, target = _label(arm), self._body(arm.body, inner)
            by_label.setdefault(label.casefold(), (label, target))
        exits, labels = list(by_label.values()), set(by_label)
        if choice.otherwise is not None or (len(exits) == 1 and choice.mode is not Mode.FREE):
            name = "No" if labels == {"yes"} else "Yes" if labels == {"no"} else "Otherwise"
            exits.append((name, self._otherwise(choice, following, ways)))
        text = choice.question or "Which of these is to be done?"
        if len(exits) == 1:
            return exits[0][1]
        lines = choice.lines or tuple(r for arm in choice.arms for r in arm.lines)
        return self._graph.add(self._decision(text, lines, choice), exits)

    def _in_order(
        self, choice: Choice, following: ArrowTarget, ways: _Continuations
    ) -> ArrowTarget:
        """Place remedies one after the other, each if the one before did not help."""
        if choice.otherwise is not None:
            failed: ArrowTarget | None = self._body(choice.otherwise, replace(ways, done=following))
        elif following not in {_DONE, _RESOLVED}:
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
        body = self._body(arm.body, _Continuations(done, failed or ways.not_helped))
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
        nothing_left = following in {_DONE, _RESOLVED}
        if any(isinstance(q, Outcome) for arm in choice.arms for q in questions(arm.guard)):
            last = [arm.body[-1] for arm in choice.arms if arm.body]
            # Where an arm ends well, the other answer is the bad one.
            helped = any(isinstance(n, End) and n.kind is EndKind.RESOLVED for n in last)
            return ways.not_helped if helped and nothing_left else _confirmed(following)
        is_way_out = all(_gives_up(arm.body) for arm in choice.arms)
        is_verified = following == _DONE and self._is_checked_at_end
        return following if not nothing_left or is_way_out or is_verified else ways.not_helped

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
    """Return the nodes that are no remarks, each with the remarks before it.

    The last remarks go to the last node.
    """
    nodes: list[tuple[Node, tuple[str, ...]]] = []
    notes: list[Remark] = []
    for node in body:
        if isinstance(node, Remark):
            notes.append(node)
            continue
        if isinstance(node, Jump):  # it is no step that a note could stand at
            nodes += [(_as_step(note), ()) for note in notes]
            notes = []
        nodes.append((node, tuple(note.text for note in notes)))
        notes = []
    if notes and nodes and not isinstance(nodes[-1][0], Jump):
        nodes[-1] = (nodes[-1][0], (*nodes[-1][1], *(note.text for note in notes)))
    elif notes:
        nodes += [(_as_step(note), ()) for note in notes]
    return nodes


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
    return isinstance(last, End | Jump)


def _gives_up(body: Body) -> bool:
    """Return True if the body leads to an end at which the fault persists."""
    last = body[-1] if body else None
    if isinstance(last, Jump):
        return last.target == ESCALATION
    return isinstance(last, End) and last.kind is not EndKind.RESOLVED
