"""Steps in the order of the page, with decisions where its sentences state conditions."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from services.knowledge.markdown import Block, BlockKind, Item
from services.knowledge.model import SectionRole, Span
from services.knowledge.roles import role_of_heading, without_numbering
from services.planner.article import Article, Part
from services.planner.code import commands_of, expected_of, inline_commands
from services.planner.draft import Ask, Do, Draft, Element, End, GoTo
from services.planner.ends import closing, opening
from services.planner.fault_pairs import row_chain
from services.planner.references import References, of_headings, of_list, of_lists, resolved
from services.planner.scenarios import Scenario, scenarios
from services.planner.sentences import (
    condition,
    ends_path,
    goes_on,
    is_check,
    is_imperative,
    is_otherwise,
    joined,
    jump,
    lead,
    question,
    sentences,
    tidy,
)

STEP_ROLES = (
    SectionRole.CHECK,
    SectionRole.REMEDY,
    SectionRole.PROCEDURE,
    SectionRole.VERIFICATION,
    SectionRole.ESCALATION,
)
_CONFIRMATION = re.compile(
    r"(?:(?:issue|problem|scenario|symptom|fault)\s+)?(?:validation|confirmation|verification)"
    r"|(?:confirm|validate|verify) (?:the|this) (?:issue|problem|scenario|symptoms?|fault)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(?:(?:step|phase)\s+\w{1,3}\b|\d{1,2}[.):])", re.IGNORECASE)
_ANSWER = re.compile(
    r"^(?:if\s+)?(?P<answer>yes|no)\b(?:\s*(?:[,:.;–—→⇒]|[=-]+>|-+(?=\s)))*\s*(?P<action>\S.*)$",
    re.IGNORECASE,
)
_PURPOSE = re.compile(r"^to\s+[a-z]+", re.IGNORECASE)
_INTRODUCING = frozenset({SectionRole.NOTE, SectionRole.PARAMETER})
_TOLD_ELSEWHERE = frozenset(
    {SectionRole.MEANING, SectionRole.SYMPTOM, SectionRole.CAUSE, SectionRole.NOTE}
)
_MOST_STEPS = 60
_MOST_CONDITIONS_PER_STEP = 2
_MOST_SCENARIO_STEPS = 5
_LEAST_HEADING_WORDS = 3


def ordered_procedure(article: Article) -> Draft | None:
    """The page's steps one after the other; None when it has none."""
    elements = _without_doubles(_elements(article))
    if not elements:
        return None
    last = closing(article)
    if len(elements) > _MOST_STEPS:
        beyond = elements[_MOST_STEPS]
        last = End(f"Go on in the document: {beyond.text}", beyond.cites)
    numbered = any(block.ordered for part in article.parts for block in part.blocks)
    return Draft(
        strategy="procedure",
        title=article.name,
        elements=(opening(article), *elements[:_MOST_STEPS], last),
        fitness=0.7 if numbered else 0.6,
        document_ids=(article.document_id,),
        node_ids=(article.node.id,),
    )


def _elements(article: Article) -> Iterator[Iterable[Element]]:
    """Part by part; sections that each treat one fault of several become one chain of questions."""
    found = scenarios(article)
    roles = _step_roles(article)
    numbered = of_lists(article.parts)
    inside = {id(part) for scenario in found for part in scenario.parts}
    asked = False
    for part in article.parts:
        if id(part) in inside:
            if not asked:
                yield _resolved(_scenario_chain(found), of_headings(article.parts))
            asked = True
            continue
        told = part_elements(part) if part.role in roles else _rows(part)
        for known in (of_headings(article.parts, part), of_lists([part]), numbered):
            told = _resolved(told, known)
        yield told


def _resolved(elements: Iterable[Element], known: References) -> list[Element]:
    return [resolved(element, known) for element in elements]


def _rows(part: Part) -> list[Element]:
    return [asked for block in part.blocks for asked in row_chain(part, block)]


def _step_roles(article: Article) -> frozenset[SectionRole]:
    """Where steps are looked for: wherever something is told, on a page whose form is unknown."""
    known = frozenset(STEP_ROLES)
    return known if article.of_role(*STEP_ROLES) else known | _TOLD_ELSEWHERE


def _scenario_chain(found: Sequence[Scenario]) -> tuple[Element, ...]:
    if not found:
        return ()
    first, *rest = found
    steps = (part_elements(part) for part in first.parts if part.role in STEP_ROLES)
    yes = tuple(_without_doubles(steps)[:_MOST_SCENARIO_STEPS])
    cites = tuple(part.span for part in first.parts[:2])
    return (Ask(question(first.heading, words=24), yes, _scenario_chain(rest), cites),)


def part_elements(part: Part) -> list[Element]:
    """The steps of one section."""
    if _introduces(part):
        return _one_step(part)
    if part.role is SectionRole.CHECK and _CONFIRMATION.fullmatch(part.heading):
        confirmed = _confirmation(part)
        if confirmed:
            return confirmed
    elements = list(_block_elements(part))
    return _under_heading(part, elements) if _names_a_step(part) else elements


def _block_elements(part: Part) -> Iterator[Element]:
    pending: list[Block] = []
    for block in part.blocks:
        if block.kind in {BlockKind.PARAGRAPH, BlockKind.CODE}:
            pending.append(block)
            continue
        if block.kind is BlockKind.QUOTE or _is_contents(block):
            continue
        folded = _answered(part, pending, block) or _folded(part, pending, block)
        if folded:
            yield from _paragraph_steps(part, pending[:-1])
            yield folded
        else:
            yield from _paragraph_steps(part, pending)
            yield from row_chain(part, block)
            numbered = of_list(part, block)
            made = (e for item in block.items for e in _item_elements(part, block, item))
            yield from (resolved(element, numbered) for element in made)
        pending = []
    yield from _paragraph_steps(part, pending)


def _is_contents(block: Block) -> bool:
    """A list of links into the page itself."""
    links = block.links
    return bool(links) and all(link.target.startswith("#") for link in links)


def _answered(part: Part, before: Sequence[Block], block: Block) -> Ask | None:
    """A question, and a list that says what to do on yes and on no."""
    said = sentences(before[-1].text) if before else []
    told = _answers(block)
    if not said or not _asks(said[-1]) or set(told) != {"yes", "no"}:
        return None
    span = (part.lines(before[-1].start_line, block.end_line),)
    return _ask(said[-1], told, span)


def _answers(block: Block) -> dict[str, str]:
    """What a list says to do, by `yes` and `no`."""
    return {m["answer"].lower(): m["action"] for m in map(_ANSWER.match, _texts(block)) if m}


def _asks(sentence: str) -> bool:
    """Whether yes or no answers it, be it a question or `check whether …`."""
    return sentence.endswith("?") or is_check(sentence)


def _ask(
    sentence: str, told: Mapping[str, str], span: tuple[Span, ...], blocks: Sequence[Block] = ()
) -> Ask:
    """`blocks` show how to find the answer."""
    yes, no = (_taken(told.get(answer, ""), span, ()) for answer in ("yes", "no"))
    asked = question(sentence, words=16)
    return Ask(asked, yes, no, span, commands_of(blocks), expected_of(blocks))


def _texts(block: Block) -> list[str]:
    return [item.text for item in block.items]


def _folded(part: Part, before: Sequence[Block], block: Block) -> Do | None:
    """One step of `do this with the following:` and a list of things."""
    intro = before[-1] if before else None
    if block.ordered or intro is None or intro.kind is not BlockKind.PARAGRAPH:
        return None
    said = sentences(intro.text)
    if not said or not intro.text.endswith(":") or not is_imperative(said[-1]):
        return None
    things = [tidy(item.text) for item in block.items if item.text]
    if not things or any(is_imperative(thing) or condition(thing) for thing in things):
        return None
    if any(len(thing.split()) > _LEAST_HEADING_WORDS * 3 for thing in things):
        return None
    span = part.lines(intro.start_line, block.end_line)
    return Do(f"{lead(said[-1])}: {', '.join(things[:6])}", (span,))


def _item_elements(part: Part, block: Block, item: Item) -> Iterator[Element]:
    """A list item: its step, or the decision it states, and the conditions told below it."""
    text = item.text or next((b.text for b in item.blocks if b.text), "")
    if not text:
        return
    span = (part.lines(item.start_line, item.end_line),)
    nested = [b for block in item.blocks for b in block.walk()]
    parts = joined(sentences(text))
    told_below = [s for block in item.blocks[1:] for s in _said_below(block)]
    stated = condition(parts[0], parts[1] if len(parts) > 1 else "")
    if stated:
        yield _decision(stated.condition, stated.action, stated.alternative, span, nested)
        yield from _conditions([*parts[1:], *told_below], span, told_to_do=True)
        return
    answered = next((b for b in item.blocks if b.kind is BlockKind.LIST and _answers(b)), None)
    if answered and _asks(parts[-1]):
        if len(parts) > 1:
            yield Do(lead(parts[0]), span)
        yield _ask(parts[-1], _answers(answered), span, nested)
        return
    yield Do(lead(parts[0]), span, commands_of(nested), expected_of(nested))
    said = joined([*parts, *told_below])
    yield from _conditions(said[1:], span, told_to_do=not block.ordered)
    yield from _leads_elsewhere(said, span)


def _said_below(block: Block) -> list[str]:
    """What a paragraph or a list below an item says, sentence by sentence."""
    if block.kind is BlockKind.LIST:
        return [said for text in _texts(block) for said in joined(sentences(text))]
    return sentences(block.text) if block.kind is BlockKind.PARAGRAPH else []


def _leads_elsewhere(said: Sequence[str], span: tuple[Span, ...]) -> Iterator[GoTo]:
    """The jump that a step ends in, whatever is found."""
    last = said[-1] if said else ""
    told = None if condition(last) or is_otherwise(last) else jump(last)
    if told:
        yield _go_to(told[1], span)


def _decision(
    asked: str, action: str, alternative: str, span: tuple[Span, ...], blocks: Sequence[Block]
) -> Ask:
    yes = _taken(action, span, blocks)
    other = condition(alternative) if alternative else None
    if other:
        no: tuple[Element, ...] = (_decision(other.condition, other.action, "", span, ()),)
    elif yes and isinstance(yes[-1], End):
        # One case goes on, else the steps that follow on the page would belong to neither.
        no = () if not alternative or goes_on(alternative) else (Do(lead(alternative), span),)
    else:
        no = _taken(alternative, span, ())
    shown = () if action else blocks  # of a question that only No answers, how to find out
    return Ask(question(asked, words=16), yes, no, span, commands_of(shown), expected_of(shown))


def _taken(action: str, span: tuple[Span, ...], blocks: Sequence[Block]) -> tuple[Element, ...]:
    """What to do in one case; the path ends there, or leads elsewhere, where the page says so."""
    told = jump(action)
    before, jumps = (told[0], (_go_to(told[1], span),)) if told else (action, ())
    if not before or goes_on(before):
        return jumps
    make = End if ends_path(before) and not jumps else Do
    return (make(lead(before), span, commands_of(blocks), expected_of(blocks)), *jumps)


def _go_to(number: int, span: tuple[Span, ...]) -> GoTo:
    return GoTo(number, f"Go to step {number}", span)


def _conditions(
    texts: Sequence[str], span: tuple[Span, ...], *, told_to_do: bool
) -> Iterator[Element]:
    """Decisions among the sentences; with `told_to_do` only those that lead to an action.

    At most two, beside those that lead to another step.
    """
    found = 0
    for index, text in enumerate(texts):
        following = texts[index + 1] if index + 1 < len(texts) else ""
        stated = condition(text, following)
        if stated and (_is_told(stated.action or stated.alternative) or not told_to_do):
            found += jump(stated.action) is None
            yield _decision(stated.condition, stated.action, stated.alternative, span, ())
        if found >= _MOST_CONDITIONS_PER_STEP:
            return


def _is_told(action: str) -> bool:
    return is_imperative(action) or jump(action) is not None


def _paragraph_steps(part: Part, blocks: Sequence[Block]) -> list[Element]:
    """Prose with its code: a step for each sentence that tells to do something."""
    elements: list[Element] = []
    for index, block in enumerate(blocks):
        if block.kind is not BlockKind.PARAGRAPH:
            continue
        code = _code_after(blocks, index)
        end = code[-1].end_line if code else block.end_line
        span = (part.lines(block.start_line, end),)
        after = blocks[index + len(code) + 1 :]
        made = list(_sentence_steps(block, after, span, has_code=bool(code)))
        if code:
            made = _with_code(made, [block, *code])
        elements.extend(element for element in made if element.text)
    return elements


def _sentence_steps(
    block: Block, after: Sequence[Block], span: tuple[Span, ...], *, has_code: bool
) -> Iterator[Element]:
    parts = joined(sentences(block.text))
    beyond = sentences(after[0].text)[:1] if after else []
    told = inline_commands(block)
    for index, sentence in enumerate(parts):
        if is_otherwise(sentence):
            continue
        stated = condition(sentence, _otherwise((*parts[index + 1 :], *beyond)))
        shows = has_code and index + 1 == len(parts)
        if stated and _is_told(stated.action or stated.alternative):
            shown = () if stated.action else (block,)
            yield _decision(stated.condition, stated.action, stated.alternative, span, shown)
        elif _is_told(sentence) or (shows and _PURPOSE.match(sentence)):
            yield from _told(sentence, span, tuple(each for each in told if each in sentence))


def _otherwise(said: Sequence[str]) -> str:
    """What is to be done otherwise, where that is not said of another condition."""
    for sentence in said:
        if is_otherwise(sentence):
            return sentence
        if condition(sentence):
            break
    return ""


def _told(sentence: str, span: tuple[Span, ...], commands: tuple[str, ...]) -> Iterator[Element]:
    before, number = jump(sentence) or (sentence, 0)
    if before:
        yield Do(lead(before), span, commands)
    if number:
        yield _go_to(number, span)


def _code_after(blocks: Sequence[Block], index: int) -> list[Block]:
    code: list[Block] = []
    for block in blocks[index + 1 :]:
        if block.kind is not BlockKind.CODE:
            break
        code.append(block)
    return code


def _with_code(elements: Sequence[Element], blocks: Sequence[Block]) -> list[Element]:
    """The elements, the last step among them with the commands."""
    *before, last = elements or (None,)
    if last is None:
        return []
    if isinstance(last, GoTo):
        return [*_with_code(before, blocks), last]
    if isinstance(last, Ask) and any(not isinstance(each, GoTo) for each in last.yes):
        return [*before, replace(last, yes=tuple(_with_code(last.yes, blocks)))]
    return [*before, replace(last, commands=commands_of(blocks), expected=expected_of(blocks))]


def _names_a_step(part: Part) -> bool:
    """Whether the heading says what to do or is one of several numbered ones."""
    if part.depth < 2:
        return False
    heading = without_numbering(part.heading)
    if _NUMBERED.match(part.heading):
        return True
    if len(heading.split()) >= _LEAST_HEADING_WORDS and is_imperative(heading):
        return True
    return part.depth > 2 and role_of_heading(part.heading) is None


def _introduces(part: Part) -> bool:
    return part.depth > 2 and role_of_heading(part.heading) in _INTRODUCING


def _under_heading(part: Part, elements: list[Element]) -> list[Element]:
    """The section as one step with the decisions in it; numbered steps in it stay apart."""
    head = tidy(without_numbering(part.heading))
    if any(block.ordered for block in part.blocks):
        return elements
    actions = [element for element in elements if isinstance(element, Do)]
    others = [element for element in elements if not isinstance(element, Do)]
    return [_step_of(part, head, actions), *others]


def _step_of(part: Part, head: str, actions: Sequence[Do]) -> Do:
    said = actions[0].text if actions else _first_sentence(part)
    nested = [b for block in part.blocks for b in block.walk()]
    text = f"{head}: {said}" if said else head
    return Do(text, (part.span,), commands_of(nested), expected_of(nested))


def _one_step(part: Part) -> list[Element]:
    """Prerequisites and the like: what has to be at hand, in one step."""
    things = [tidy(item.text) for block in part.blocks for item in block.items if item.text]
    said = "; ".join(things[:5]) or _first_sentence(part)
    return [Do(f"{tidy(without_numbering(part.heading))}: {said}", (part.span,))] if said else []


def _first_sentence(part: Part) -> str:
    texts = (b.text for b in part.blocks if b.kind is BlockKind.PARAGRAPH)
    return lead(next(texts, ""))


def _confirmation(part: Part) -> list[Element]:
    """A section that tells how to see whether this page applies at all."""
    text = next((b.text for b in part.blocks if b.kind is BlockKind.PARAGRAPH), "")
    text = text or next((item.text for b in part.blocks for item in b.items), "")
    if not text:
        return []
    nested = [b for block in part.blocks for b in block.walk()]
    cites = (part.span,)
    return [
        Do(f"{tidy(part.heading)}: {lead(text)}", cites, commands_of(nested), expected_of(nested)),
        Ask("Issue confirmed?", no=(End("Not this issue: escalate", cites),), cites=cites),
    ]


def _without_doubles(sections: Iterable[Iterable[Element]]) -> list[Element]:
    """The elements of all sections; what an earlier section said is not said again.

    Within a section a repeated step is meant: look, change, look again. A question is asked again
    where its answers lead to something else, and a jump is one from its own section.
    """
    seen: set[_Meaning] = set()
    kept: list[Element] = []
    for section in sections:
        said: set[_Meaning] = set()
        for element in section:
            key = _meaning(element)
            if key not in seen or isinstance(element, GoTo):
                kept.append(element)
            said.add(key)
        seen.update(said)
    return kept


_Meaning = tuple[object, ...]


def _meaning(element: Element) -> _Meaning:
    """What the element tells to do, wherever it stands."""
    text = " ".join(element.text.casefold().split())
    if not isinstance(element, Ask):
        return (text,)
    return (text, *(tuple(map(_meaning, branch)) for branch in (element.yes, element.no)))
