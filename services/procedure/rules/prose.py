"""Sentences as nodes: instructions, conditions with what they guard, ends, jumps."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from services.language import cues
from services.language.clauses import Condition, concluded, condition, directs, orders, tells
from services.language.deeds import begins_with_condition, lasts, only_finds_out
from services.language.jumps import leads
from services.language.pronouns import whole
from services.language.questions import (
    expects,
    is_check,
    is_secured,
    question,
    states,
    there_is,
)
from services.language.sentences import (
    capitalised,
    instruction,
    is_reference,
    leads_only,
    shorten,
    uncapitalised,
    without_prefix,
)
from services.language.states import opposes
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
    Loop,
    Mode,
    Node,
    Not,
    Outcome,
    Remark,
    State,
)
from services.procedure.page_code import inline_commands
from services.procedure.rules.places import Places
from services.procedure.rules.source import Said

MOST_WORDS = 25
_MOST_QUESTION_WORDS = 30
_MOST_LABEL_WORDS = 10
_YES_OR_NO = re.compile(r"(?:is|are|was|were|does|do|did|has|have|had|can|could)\s", re.IGNORECASE)
_THEN = re.compile(r"^then,?\s+", re.IGNORECASE)
_GOES_ON = re.compile(r",? (?:and then|and|then|to) (?P<told>\w.*)", re.DOTALL)
_HOST = re.compile(
    r"\((?P<name>(?!(?:linux|host|user|root|pod|hostname)\W)[a-z][\w.-]{2,30})[#>$]\s*\)\s",
    re.IGNORECASE,
)
"""`(switch-01#)` in front of what is done there."""
OPEN_TEXT = "Not covered by this page: escalate"
DOUBTFUL = 0.5
"""Confidence of a condition whose scope or weight the words leave open."""


def sentence_nodes(
    said: Sequence[Said], places: Places, found: list[Node] | None = None
) -> list[Node]:
    """What the sentences tell, in order; those that tell nothing give nothing.

    `found` is what stands before them, to which it is added.
    """
    nodes: list[Node] = [] if found is None else found
    sentences = with_subjects(said)
    for place, sentence in enumerate(sentences):
        asked = _asked_and_told(sentence, sentences[place + 1 :], places)
        if asked is not None:
            _add_each(sentences[:place], places, nodes)
            nodes.append(asked)
            return nodes
    _add_each(sentences, places, nodes)
    return nodes


def _add_each(sentences: Sequence[Said], places: Places, nodes: list[Node]) -> None:
    """One sentence after the other, each beside the one before it."""
    before: Said | None = None
    waiting: Condition | None = None
    for sentence in sentences:
        if _continued(nodes, before, sentence, places):
            before, waiting = sentence, None
            continue
        made = [] if _is_remark(sentence, before) else one_sentence(sentence, places, before)
        if waiting and before and made and _is_action(made[0]):
            made = [choice_of(waiting, tuple(handed_over(made)), before.lines)]
        if _is_other_case(nodes, made):
            continue
        if before and _begins_case(sentence, made):
            without_gate(nodes)
        if len(made) == 1 and isinstance(made[0], Remark):
            _warn(nodes, made[0], is_behind=before is not None)
            continue
        if before and made and _goes_along(before, sentence, made) and _is_open(nodes):
            nodes[-1] = _longer(nodes[-1], made)
            before, waiting = replace(sentence, text=before.text), None
            continue
        nodes += made
        if made:
            waiting = None
        elif not waiting or condition(sentence.text):
            waiting = _waiting(sentence)
        else:
            continue
        before = sentence


def _asked_and_told(asked: Said, told: Sequence[Said], places: Places) -> Node | None:
    """`Is the port shut? Let it up.`: what a paragraph tells behind its question is told for Yes.

    None where it does not ask for Yes or No, or goes on to say how to find out.
    """
    question_ = without_prefix(asked.text)
    first = told[0] if told else None
    is_asked = question_.endswith("?") and _YES_OR_NO.match(question_)
    if first is None or not is_asked or cues.answered(first.text):
        return None
    if cues.otherwise(first.text) or condition(first.text):
        return None
    is_then = _THEN.match(first.text) is not None
    said = [replace(first, text=capitalised(_THEN.sub("", first.text))), *told[1:]]
    body = sentence_nodes(said, places)
    acts_ = [node for node in body if not isinstance(node, Remark)]
    if not acts_ or (not is_then and isinstance(acts_[0], Do) and only_finds_out(acts_[0].text)):
        return None
    lines = tuple(dict.fromkeys((asked.lines, *(each.lines for each in told))))
    arm = Arm(guard=_state(asked.text, negated=False), body=tuple(handed_over(body)), lines=lines)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=lines)


def handed_over(body: Sequence[Node]) -> list[Node]:
    """What a case is told; where its last sentence gives the work away, it ends there."""
    last = body[-1] if body else None
    if not isinstance(last, Do) or not cues.escalates(last.text):
        return list(body)
    end = End(kind=EndKind.ESCALATE, text=last.text, lines=last.lines, commands=last.commands)
    return [*body[:-1], end]


def _warn(nodes: list[Node], remark: Remark, *, is_behind: bool) -> None:
    """Adds the remark, in front of the last step where it stands behind that in its paragraph."""
    last = nodes[-1] if nodes and is_behind else None
    if isinstance(last, Choice) and _is_open(nodes):
        arm = last.arms[-1]
        arm = arm.model_copy(update={"body": (*arm.body[:-1], remark, arm.body[-1])})
        nodes[-1] = last.model_copy(update={"arms": (arm,)})
    else:
        nodes.insert(len(nodes) - bool(last), remark)


def with_subjects(said: Sequence[Said], asking: str = "") -> list[Said]:
    """`If it is down` with the name of what a sentence before, or `asking`, asks about."""
    named_: list[Said] = []
    for sentence in said:
        text = whole(sentence.text, asking)
        if text:
            named_.append(replace(sentence, text=text))
        else:
            asking = sentence.text if is_check(without_prefix(sentence.text)) else asking
            named_.append(sentence)
    return named_


def _is_remark(sentence: Said, before: Said | None) -> bool:
    """Whether it only says where to read on what the sentence before tells to do."""
    return before is not None and is_reference(sentence.text) and bool(instruction(before.text))


def _waiting(sentence: Said) -> Condition | None:
    """The condition of a sentence that says what it means, not yet what to do."""
    stated = condition(sentence.text)
    is_open = stated is not None and bool(stated.action or sentence.text.endswith((".", ":")))
    return stated if stated and stated.leads and is_open and is_sure(stated) else None


def _is_action(node: Node) -> bool:
    return isinstance(node, Do | End | Jump | Loop)


def _continued(nodes: list[Node], before: Said | None, sentence: Said, places: Places) -> bool:
    """Whether the sentence is the other half of what stands before it, and was added there."""
    last = nodes[-1] if nodes else None
    if last and instead(nodes, last, sentence, places):
        return True
    told = cues.otherwise(sentence.text)
    if told and isinstance(last, Choice):
        is_open = not last.otherwise or is_gate(last)
        body = taken(told, sentence, places) if is_open else []
        if body:
            nodes[-1] = last.model_copy(update={"otherwise": tuple(body), "confidence": 1.0})
        return bool(body)
    before = before or _last_check(last)
    if told and before and _unless_said(nodes, told, before, sentence, places):
        return True
    answer = (False, told) if told else cues.answered(sentence.text)
    if not answer or before is None or not _asks(before.text):
        return False
    body = taken(answer[1], sentence, places)
    if body:
        lines = (before.lines, sentence.lines)
        arm = Arm(guard=_state(before.text, not answer[0]), body=tuple(body), lines=lines)
        nodes.append(Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=lines))
    return bool(body)


def _last_check(last: Node | None) -> Said | None:
    """The check that the paragraph before ends with."""
    is_check_step = isinstance(last, Do) and bool(last.lines) and _asks(last.text)
    return Said(last.text, last.lines[-1]) if is_check_step and isinstance(last, Do) else None


def _unless_said(
    nodes: list[Node], told: str, before: Said, sentence: Said, places: Places
) -> bool:
    """Whether the sentence says what to do unless a condition holds that asks for nothing."""
    stated = condition(before.text)
    if stated is None or not stated.leads or not is_sure(stated):
        return False
    body = taken(told, sentence, places)
    if body:
        guard = Not(guard=guard_of(stated))
        arm = Arm(guard=guard, body=tuple(body), lines=(before.lines,))
        nodes.append(Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=(before.lines, sentence.lines)))
    return bool(body)


def instead(nodes: list[Node], last: Node, sentence: Said, places: Places) -> bool:
    """Whether the sentence tells what may be done in place of the last step, and was added."""
    if not isinstance(last, Do):
        return False
    told = cues.instead(sentence.text) or _resort(last, sentence.text)
    body = taken(told, sentence, places) if told else []
    if not body or not isinstance(body[0], Do) or only_finds_out(body[0].text):
        return False
    arms = [_named_arm((last,), last.lines), _named_arm(tuple(body), (sentence.lines,))]
    nodes[-1] = Choice(mode=Mode.FREE, arms=tuple(arms), lines=(sentence.lines,))
    return True


def _resort(last: Do, text: str) -> str:
    """What to do where the last step cannot be done, or is not enough: `Otherwise, swap it`."""
    told = (
        instruction(cues.otherwise(text)) if text.lower().startswith(("otherwise", "else")) else ""
    )
    is_check_step = only_finds_out(last.text) or is_check(last.text)
    return "" if is_check_step or begins_with_condition(last.text) else told


def _named_arm(body: Body, lines: tuple[LineRange, ...]) -> Arm:
    first = body[0]
    label = shorten(first.text if isinstance(first, Do) else "", words=_MOST_LABEL_WORDS)
    return Arm(guard=State(text=label), body=body, lines=lines)


def _asks(text: str) -> bool:
    return text.endswith("?") or is_check(without_prefix(text))


def one_sentence(sentence: Said, places: Places, before: Said | None = None) -> list[Node]:
    """The nodes of one sentence; `before` is the one before it."""
    warned = _warned(sentence, places)
    if warned:
        return warned
    sentence = _with_verb(sentence)
    stated = condition(sentence.text)
    if stated and stated.leads and before and cues.points_back(stated.text):
        stated = replace(stated, text=_what(before.text))
        return conditional(stated, sentence, places)
    if stated:
        return conditional(stated, sentence, places)
    told = cues.in_that_case(sentence.text)
    if told and before and states(before.text) and not instruction(before.text):
        return _case_before(told, sentence, before, places)
    only = cues.limits(without_prefix(sentence.text))
    if only:
        text = f"{shorten(f'Does this concern {only}', words=_MOST_QUESTION_WORDS)}?"
        return [_outside(State(text=text), sentence)]
    made = taken(sentence.text, sentence, places, needs_verb=True)
    said, _, told = sentence.text.partition("; ")
    if not made and told and not instruction(said):
        made = taken(told, sentence, places, needs_verb=True)
    return made or _kept_otherwise(sentence, places)


def _with_verb(sentence: Said) -> Said:
    """`On the node, kubectl get pods and note …` with the verb that its code stands for."""
    for code in sentence.codes:
        before, found, behind = sentence.text.partition(code)
        is_first = not before or (before.endswith(", ") and not instruction(before))
        more = _GOES_ON.match(behind) if found and is_first and " " in code else None
        if more and instruction(more["told"]):
            return replace(sentence, text=f"{before}{'run' if before else 'Run'} {code}{behind}")
    return sentence


def _warned(sentence: Said, places: Places) -> list[Node]:
    """What must not be done, or what to be careful of, where nothing else is told.

    What calls itself a warning is one, beside what it tells to do.
    """
    said, lines = without_prefix(sentence.text), (sentence.lines,)
    if cues.labels_warning(sentence.text) and not tells(sentence.text):
        told = (taken(e, sentence, places, needs_verb=True) for e in cues.behind(sentence.text))
        text = shorten(sentence.text, words=MOST_WORDS + 15)
        return [Remark(text=text, lines=lines), *chain.from_iterable(told)]
    clauses = cues.warned(said)
    is_more = any(map(tells, clauses[1:])) or sentence.text.endswith(":")
    if not clauses or is_more or inline_commands(sentence.text, sentence.codes):
        return []
    return [Remark(text=shorten(said, words=MOST_WORDS), lines=lines)]


def acts(nodes: Sequence[Node]) -> bool:
    """Whether anything is told but remarks."""
    return not all(isinstance(each, Remark) for each in nodes)


def _kept_otherwise(sentence: Said, places: Places) -> list[Node]:
    """`If not, restore it` where nothing was asked: the page's own words, so that none are lost."""
    if not taken(cues.otherwise(sentence.text), sentence, places):
        return []
    text = shorten(without_prefix(sentence.text), words=MOST_WORDS + 10)
    return [_do(text, sentence, DOUBTFUL)]


def _case_before(told: str, sentence: Said, before: Said, places: Places) -> list[Node]:
    """What is told for the case that the sentence before speaks of."""
    body = taken(told, sentence, places)
    text = question(cues.possibility(without_prefix(before.text)))
    guard = State(text=f"{shorten(text.rstrip('?'), words=_MOST_QUESTION_WORDS)}?")
    arm = Arm(guard=guard, body=tuple(body), lines=(before.lines,))
    lines = (before.lines, sentence.lines)
    return [Choice(mode=Mode.EXCLUSIVE, arms=(arm,), lines=lines)] if body else []


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
        return [gate(guard_of(stated), (sentence.lines,))]
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
    return made.model_copy(update={"id": SKIP, "otherwise": ()})


def gate(guard: Guard, lines: tuple[LineRange, ...]) -> Choice:
    """Only where the guard holds the page goes on."""
    arm = Arm(guard=guard, lines=lines)
    end = End(kind=EndKind.ESCALATE, text=OPEN_TEXT)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), otherwise=(end,), lines=lines, confidence=0.5)


def is_gate(node: Node) -> bool:
    """Whether the page says only for one answer how it goes on."""
    end = node.otherwise[0] if isinstance(node, Choice) and node.otherwise else None
    return isinstance(end, End) and not end.lines


def _is_open(nodes: Sequence[Node]) -> bool:
    """Whether the last node is a condition whose path goes on."""
    last = nodes[-1] if nodes else None
    is_one = isinstance(last, Choice) and len(last.arms) == 1 and not last.otherwise
    body = last.arms[0].body if is_one and isinstance(last, Choice) else ()
    return bool(body) and not isinstance(body[-1], End | Jump)


def _goes_along(before: Said, sentence: Said, made: Sequence[Node]) -> bool:
    """Whether a sentence goes on with what the one before tells on a condition.

    One that leads away does: otherwise nobody would come to what follows.
    """
    stated = condition(before.text)
    is_case = stated is not None and stated.leads and not stated.alternative
    is_case = is_case or bool(cues.in_that_case(before.text))
    return (
        is_case
        and condition(sentence.text) is None
        and (cues.continues(sentence.text) or isinstance(made[-1], End | Jump))
    )


def _longer(choice: Node, nodes: Sequence[Node]) -> Node:
    if not isinstance(choice, Choice):
        return choice
    arm = choice.arms[0]
    longer = arm.model_copy(update={"body": (*arm.body, *nodes)})
    return choice.model_copy(update={"arms": (longer,)})


def _begins_case(sentence: Said, made: Sequence[Node]) -> bool:
    """Whether the sentence says what is done in a case of its own."""
    stated = condition(sentence.text)
    is_case = bool(made) and isinstance(made[0], Choice) and not is_gate(made[0])
    return is_case and stated is not None and stated.leads


def _is_other_case(nodes: Sequence[Node], made: Sequence[Node]) -> bool:
    """Whether `If it is up, go on` stands behind what is told for `If it is down`."""
    last, other = nodes[-1:], made[0] if made else None
    if not last or other is None or not is_gate(other):
        return False
    asked = [asked_once(each) for each in (*last, other)]
    return all(asked) and opposes(asked[0], asked[1])


def asked_once(node: Node) -> str:
    """The state that a choice of one arm asks for."""
    guard = node.arms[0].guard if isinstance(node, Choice) and len(node.arms) == 1 else None
    return guard.text if isinstance(guard, State) else ""


def without_gate(nodes: list[Node]) -> None:
    """Takes away `If it is up, proceed` where the sentence behind it tells the other case."""
    if nodes and is_gate(nodes[-1]) and not isinstance(nodes[-1], Do):
        nodes.pop()


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
    is_told = not cues.is_vague(stated.text) or bool(_optional(stated))
    return stated.word != "even if" and is_told


def _optional(stated: Condition) -> str:
    """What to ask where a step is left to who does it; empty where it is not."""
    told = instruction(stated.action)
    if cues.is_need(stated.text) and told:
        return f"Is it necessary to {uncapitalised(told)}?"
    return cues.wish(stated.text)


def choice_of(
    stated: Condition, body: Body, lines: LineRange, otherwise: Body | None = None
) -> Choice:
    """The condition as a choice with one arm; who does not take an option goes on."""
    if otherwise is None and _optional(stated):
        otherwise = ()
    arm = _arm(guard_of(stated), body, lines)
    return Choice(mode=Mode.EXCLUSIVE, arms=(arm,), otherwise=otherwise, lines=(lines,))


def guard_of(stated: Condition) -> Guard:
    """The condition as a guard."""
    said = there_is(stated.text) if stated.word == "in case of" else stated.text
    text = _optional(stated) or question(said)
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
    meant = "" if needs_verb else concluded(said)
    if meant:
        return _meant(said, taken(meant, sentence, places))
    stated = None if needs_verb else condition(said)
    if stated and stated.leads and len(said) < len(sentence.text):
        return conditional(stated, sentence, places)
    closing = cues.closing(said)
    if closing and tells(closing[0]):
        end = End(kind=EndKind.RESOLVED, text=capitalised(closing[1]), lines=(sentence.lines,))
        return [*taken(closing[0], sentence, places, needs_verb=needs_verb), end]
    kind = next((kind for ends, kind in _ENDS if ends(said)), None)
    if not needs_verb and cues.dismisses(said) and not cues.until(said):
        kind = EndKind.RESOLVED
    if not needs_verb and cues.escalates(said):
        kind = EndKind.ESCALATE
    if kind:
        return [End(kind=kind, text=shorten(said, words=MOST_WORDS), lines=(sentence.lines,))]
    return _led(said, sentence, places) or _told(said, sentence, needs_verb=needs_verb)


def _meant(said: str, nodes: list[Node]) -> list[Node]:
    """The nodes of what is told; a first step keeps the words that say what it is for."""
    first = nodes[0] if nodes else None
    if not isinstance(first, Do) or len(said.split()) > MOST_WORDS:
        return nodes
    return [first.model_copy(update={"text": capitalised(said.rstrip(" ."))}), *nodes[1:]]


_ENDS = ((cues.excludes, EndKind.NOT_THIS_FAULT), (cues.closes, EndKind.RESOLVED))


def _told(said: str, sentence: Said, *, needs_verb: bool) -> list[Node]:
    ordered = instruction(said)
    told = ordered or (said if is_told(said, needs_verb) else "")
    if not told:
        return []
    done = _do(shorten(told, words=MOST_WORDS), sentence)
    looped = _repeated(ordered, done)
    if looped:
        return [looped]
    if not expects(told) or is_secured(told):
        return [done]
    asked = f"{shorten(question(told).rstrip('?'), words=_MOST_QUESTION_WORDS)}?"
    return [done, gate(State(text=asked), done.lines)]


def is_told(said: str, needs_verb: bool) -> bool:
    """Whether it says what must be done, in a sentence that is no imperative."""
    return orders(said) if needs_verb else directs(said)


def _repeated(told: str, done: Do) -> Loop | None:
    """`Run it until all pods are ready` as what is done again and again."""
    found = cues.until(told)
    if found is None or lasts(told) or not states(found[1]) or cues.is_vague(found[1]):
        return None
    asked = f"{shorten(question(found[1]).rstrip('?'), words=_MOST_QUESTION_WORDS)}?"
    return Loop(body=(done,), until=State(text=asked), lines=done.lines)


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
    host = _HOST.match(sentence.text)
    return Do(
        text=f"{text} (on {host['name']})" if host else text,
        lines=(sentence.lines,),
        commands=inline_commands(sentence.text, sentence.codes),
        confidence=confidence,
    )
