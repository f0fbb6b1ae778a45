"""Sentences as nodes: instructions, conditions with what they guard, ends, jumps."""

from collections.abc import Sequence
from dataclasses import replace

from services.language import cues
from services.language.clauses import Condition, condition, directs, tells
from services.language.jumps import leads
from services.language.questions import expects, is_check, is_secured, question
from services.language.sentences import (
    capitalised,
    instruction,
    is_reference,
    leads_only,
    shorten,
    without_prefix,
)
from services.procedure.model import (
    Arm,
    Body,
    Choice,
    Do,
    End,
    EndKind,
    Guard,
    Jump,
    LineRange,
    Mode,
    Node,
    Not,
    Outcome,
    State,
)
from services.procedure.rules.commands import told_in
from services.procedure.rules.places import Places
from services.procedure.rules.source import Said

MOST_WORDS = 25
_MOST_QUESTION_WORDS = 30
DOUBTFUL = 0.5
"""Confidence of a condition whose scope or weight the words leave open."""


def sentence_nodes(
    said: Sequence[Said], places: Places, found: list[Node] | None = None
) -> list[Node]:
    """What the sentences tell, in order; those that tell nothing give nothing.

    `found` is what stands before them, to which it is added.
    """
    nodes: list[Node] = [] if found is None else found
    before: Said | None = None
    waiting: Condition | None = None
    for sentence in said:
        if _continued(nodes, before, sentence, places):
            before, waiting = sentence, None
            continue
        made = [] if _is_remark(sentence, before) else one_sentence(sentence, places, before)
        if waiting and before and made and _is_action(made[0]):
            made = [choice_of(waiting, tuple(made), before.lines)]
        nodes += made
        waiting = None if made else _waiting(sentence)
        before = sentence
    return nodes


def _is_remark(sentence: Said, before: Said | None) -> bool:
    """Whether it only says where to read on what the sentence before tells to do."""
    return before is not None and is_reference(sentence.text) and bool(instruction(before.text))


def _waiting(sentence: Said) -> Condition | None:
    """The condition of a sentence that says what it means, not yet what to do."""
    stated = condition(sentence.text)
    is_open = stated is not None and bool(stated.action or sentence.text.endswith((".", ":")))
    return stated if stated and stated.leads and is_open and is_sure(stated) else None


def _is_action(node: Node) -> bool:
    return isinstance(node, Do | End | Jump)


def _continued(nodes: list[Node], before: Said | None, sentence: Said, places: Places) -> bool:
    """Whether the sentence is the other half of what stands before it, and was added there."""
    last = nodes[-1] if nodes else None
    told = cues.otherwise(sentence.text)
    if told and isinstance(last, Choice):
        is_open = last.otherwise is None or is_gate(last)
        body = taken(told, sentence, places) if is_open else []
        if body:
            nodes[-1] = last.model_copy(update={"otherwise": tuple(body), "confidence": 1.0})
        return bool(body)
    answer = (False, told) if told else cues.answered(sentence.text)
    if not answer or before is None or not _asks(before.text):
        return False
    body = taken(answer[1], sentence, places)
    if body:
        lines = (before.lines, sentence.lines)
        arm = Arm(guard=_state(before.text, not answer[0]), body=tuple(body), lines=lines)
        nodes.append(Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=lines))
    return bool(body)


def _asks(text: str) -> bool:
    return text.endswith("?") or is_check(without_prefix(text))


def one_sentence(sentence: Said, places: Places, before: Said | None = None) -> list[Node]:
    """The nodes of one sentence; `before` is the one before it."""
    stated = condition(sentence.text)
    if stated and stated.leads and before and cues.points_back(stated.text):
        stated = replace(stated, text=_what(before.text))
        return conditional(stated, sentence, places)
    if stated:
        return conditional(stated, sentence, places)
    only = cues.limits(without_prefix(sentence.text))
    if only:
        text = f"{shorten(f'Does this concern {only}', words=_MOST_QUESTION_WORDS)}?"
        return [_outside(State(text=text), sentence)]
    return taken(sentence.text, sentence, places, needs_verb=True)


def _outside(state: State, sentence: Said) -> Choice:
    """Where the state does not hold, the page is not for it."""
    lines = (sentence.lines,)
    end = End(kind=EndKind.NOT_THIS_FAULT, text="This page does not apply", lines=lines)
    arm = Arm(guard=Not(guard=state), body=(end,), lines=lines)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=lines)


def _what(text: str) -> str:
    """The state that a sentence before tells of."""
    stated = condition(text)
    return stated.text if stated else cues.possibility(without_prefix(text))


def conditional(stated: Condition, sentence: Said, places: Places) -> list[Node]:
    """What is told under a condition: a choice, or the whole sentence where that is not sure."""
    if is_sure(stated) and cues.skips(stated.action):
        return [_skipped(stated, sentence)]
    if (
        is_sure(stated)
        and stated.leads
        and not stated.alternative
        and (cues.proceeds(stated.action) or leads_only(stated.action))
    ):
        later = _led_later(stated.action, sentence, places)
        if later:
            return [choice_of(stated, tuple(later), sentence.lines)]
        return [_gate(guard_of(stated), sentence)]
    body = taken(stated.action, sentence, places)
    if not is_sure(stated) or not (body or stated.alternative):
        return _hedged(stated, sentence)
    other = taken(stated.alternative, sentence, places) if stated.alternative else []
    if not body and not other:
        return []
    return [choice_of(stated, tuple(body), sentence.lines, tuple(other) or None)]


SKIP = "#skip"
"""The id of a choice that all that is told beside it belongs to."""


def _skipped(stated: Condition, sentence: Said) -> Choice:
    made = choice_of(replace(stated, word="if" if stated.negated else "unless"), (), sentence.lines)
    return made.model_copy(update={"id": SKIP})


def _gate(guard: Guard, sentence: Said) -> Choice:
    """Only where the guard holds the page goes on."""
    lines = (sentence.lines,)
    arm = Arm(guard=guard, lines=lines)
    end = End(kind=EndKind.ESCALATE, text="Not covered by this page: escalate")
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), otherwise=(end,), lines=lines, confidence=0.5)


def is_gate(node: Node) -> bool:
    """Whether the page says only for one answer how it goes on."""
    end = node.otherwise[0] if isinstance(node, Choice) and node.otherwise else None
    return isinstance(end, End) and not end.lines


def under_skip(nodes: list[Node]) -> list[Node]:
    """All nodes under the condition among them on which they are left out."""
    place = next((n for n, node in enumerate(nodes) if node.id == SKIP), -1)
    skip = nodes[place] if place >= 0 else None
    if not isinstance(skip, Choice):
        return nodes
    rest = [node for node in nodes if node.id != SKIP]
    arm = skip.arms[0].model_copy(update={"body": tuple(rest)})
    return [skip.model_copy(update={"id": "", "arms": (arm,)})] if rest else []


def is_sure(stated: Condition) -> bool:
    """Whether the words make a decision of it, rather than a remark on a step."""
    return stated.word != "even if" and not cues.is_vague(stated.text)


def choice_of(
    stated: Condition, body: Body, lines: LineRange, otherwise: Body | None = None
) -> Choice:
    """The condition as a choice with one arm."""
    arm = _arm(guard_of(stated), body, lines)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), otherwise=otherwise, lines=(lines,))


def guard_of(stated: Condition) -> Guard:
    """The condition as a guard."""
    text = question(f"there is {stated.text}" if stated.word == "in case of" else stated.text)
    text = f"{shorten(text.rstrip('?'), words=_MOST_QUESTION_WORDS)}?"
    if cues.is_outcome(stated.text):
        return Outcome(text=text)
    return Not(guard=State(text=text)) if stated.negated else State(text=text)


def _state(asked: str, negated: bool) -> Guard:
    state = State(text=question(without_prefix(asked)))
    return Not(guard=state) if negated else state


def _arm(guard: Guard, body: Sequence[Node], lines: LineRange) -> Arm:
    return Arm(guard=guard, body=tuple(body), lines=(lines,))


def _hedged(stated: Condition, sentence: Said) -> list[Node]:
    """The page's own words as a step, the condition in them."""
    if not tells(stated.action):
        return []
    text = shorten(without_prefix(sentence.text), words=MOST_WORDS + 10)
    confidence = DOUBTFUL if stated.leads else 0.7
    return [_do(text, sentence, confidence)]


def taken(action: str, sentence: Said, places: Places, *, needs_verb: bool = False) -> list[Node]:
    """What to do in one case; the path ends there, or leads elsewhere, where the page says so."""
    said = without_prefix(action.strip())
    if not said or cues.goes_on(said):
        return []
    stated = None if needs_verb else condition(said)
    if stated and stated.leads and len(said) < len(sentence.text):
        return conditional(stated, sentence, places)
    closing = cues.closing(said)
    if closing and tells(closing[0]):
        end = End(kind=EndKind.RESOLVED, text=capitalised(closing[1]), lines=(sentence.lines,))
        return [*taken(closing[0], sentence, places, needs_verb=needs_verb), end]
    kind = next((kind for ends, kind in _ENDS if ends(said)), None)
    if not needs_verb and cues.dismisses(said):
        kind = EndKind.RESOLVED
    if not needs_verb and cues.escalates(said):
        kind = EndKind.ESCALATE
    if kind:
        return [End(kind=kind, text=shorten(said, words=MOST_WORDS), lines=(sentence.lines,))]
    return _led(said, sentence, places) or _told(said, sentence, needs_verb=needs_verb)


_ENDS = ((cues.excludes, EndKind.NOT_THIS_FAULT), (cues.closes, EndKind.RESOLVED))


def _told(said: str, sentence: Said, *, needs_verb: bool) -> list[Node]:
    told = instruction(said) or (said if not needs_verb and directs(said) else "")
    if not told:
        return []
    done = _do(shorten(told, words=MOST_WORDS), sentence)
    if not expects(told) or is_secured(told):
        return [done]
    asked = f"{shorten(question(told).rstrip('?'), words=_MOST_QUESTION_WORDS)}?"
    return [done, _gate(State(text=asked), sentence)]


def _led(said: str, sentence: Said, places: Places) -> list[Node]:
    way = leads(said)
    if way is None or not (way.number or way.title):
        return []
    line = sentence.lines[0]
    found = places.step(way.number, line) if way.number else places.section(way.title, line)
    before = taken(way.before, sentence, places) if way.before else []
    if found is None or (way.before and not before):
        return []
    return [*before, Jump(target=f"{found[0]}-{found[1]}", lines=(sentence.lines,))]


def _led_later(said: str, sentence: Said, places: Places) -> list[Node]:
    """The jump to a section below that is named as where to go on."""
    made = _led(without_prefix(said.strip()), sentence, places)
    last = made[-1] if made else None
    is_later = isinstance(last, Jump) and int(last.target.split("-")[0]) > sentence.lines[1]
    return made if is_later else []


def _do(text: str, sentence: Said, confidence: float = 1.0) -> Do:
    return Do(
        text=text,
        lines=(sentence.lines,),
        commands=told_in(sentence.text, sentence.codes),
        confidence=confidence,
    )
