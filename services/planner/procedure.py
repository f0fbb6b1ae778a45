"""Steps in the order of the page, with decisions where its sentences state conditions."""

import re
from collections.abc import Iterator, Sequence

from services.knowledge.markdown import Block, BlockKind, Item
from services.knowledge.model import SectionRole, Span
from services.knowledge.roles import role_of_heading, without_numbering
from services.planner.article import Article, Part
from services.planner.code import commands_of, expected_of
from services.planner.draft import Ask, Do, Draft, Element, End
from services.planner.ends import closing, opening
from services.planner.sentences import (
    condition,
    is_imperative,
    is_otherwise,
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
_CONFIRMATION = re.compile(r"\b(?:validat|confirm|verif)", re.IGNORECASE)
_MOST_STEPS = 40
_MOST_CONDITIONS_PER_STEP = 2


def ordered_procedure(article: Article) -> Draft | None:
    """The page's steps one after the other; None when it has fewer than two."""
    elements: list[Element] = []
    for part in article.of_role(*STEP_ROLES):
        elements.extend(part_elements(part))
    elements = _without_doubles(elements)[:_MOST_STEPS]
    if len(elements) < 2:
        return None
    numbered = any(block.ordered for part in article.parts for block in part.blocks)
    return Draft(
        strategy="procedure",
        title=article.name,
        elements=(opening(article), *elements, closing(article)),
        fitness=0.7 if numbered else 0.5,
        document_ids=(article.document_id,),
        node_ids=(article.node.id,),
    )


def part_elements(part: Part) -> list[Element]:
    """The steps of one section."""
    if part.role is SectionRole.CHECK and _CONFIRMATION.search(part.heading):
        confirmed = _confirmation(part)
        if confirmed:
            return confirmed
    elements: list[Element] = []
    pending: list[Block] = []
    for block in part.blocks:
        if block.kind is BlockKind.LIST:
            elements.extend(_paragraph_steps(part, pending))
            elements.extend(e for item in block.items for e in item_elements(part, item))
            pending = []
        elif block.kind in {BlockKind.PARAGRAPH, BlockKind.CODE}:
            pending.append(block)
    elements.extend(_paragraph_steps(part, pending))
    return _under_heading(part, elements)


def item_elements(part: Part, item: Item) -> Iterator[Element]:
    """A list item: its step, or the decision it states, and the conditions told below it."""
    text = item.text or next((b.text for b in item.blocks if b.text), "")
    if not text:
        return
    span = (part.lines(item.start_line, item.end_line),)
    own = list(item.blocks)
    nested = [b for block in item.blocks for b in block.walk()]
    parts = sentences(text)
    stated = condition(parts[0], parts[1] if len(parts) > 1 else "")
    if stated:
        yield _decision(stated.condition, stated.action, stated.alternative, span, nested)
        return
    yield Do(
        text=_step_text(text),
        cites=span,
        commands=commands_of(nested),
        expected=expected_of(nested),
    )
    rest = [
        *parts[1:],
        *(s for b in own[1:] if b.kind is BlockKind.PARAGRAPH for s in sentences(b.text)),
    ]
    yield from _conditions(rest, span)


def _step_text(text: str) -> str:
    return lead(text)


def _decision(
    asked: str, action: str, alternative: str, span: tuple[Span, ...], blocks: Sequence[Block]
) -> Ask:
    yes = Do(lead(action), span, commands_of(blocks), expected_of(blocks))
    no = (Do(lead(alternative), span),) if alternative else ()
    return Ask(question(asked, words=16), yes=(yes,), no=no, cites=span)


def _conditions(texts: Sequence[str], span: tuple[Span, ...]) -> Iterator[Ask]:
    found = 0
    for index, text in enumerate(texts):
        following = texts[index + 1] if index + 1 < len(texts) else ""
        stated = condition(text, following)
        if stated and is_imperative(stated.action) and found < _MOST_CONDITIONS_PER_STEP:
            found += 1
            yield _decision(stated.condition, stated.action, stated.alternative, span, ())


def _paragraph_steps(part: Part, blocks: Sequence[Block]) -> list[Element]:
    """Prose with its code: a step for each sentence that tells to do something."""
    elements: list[Element] = []
    for index, block in enumerate(blocks):
        if block.kind is not BlockKind.PARAGRAPH:
            continue
        code = _code_after(blocks, index)
        end = code[-1].end_line if code else block.end_line
        span = (part.lines(block.start_line, end),)
        made = list(_sentence_steps(block.text, span))
        if code and not made:
            made = [Do(lead(sentences(block.text)[-1]) if sentences(block.text) else "", span)]
        if code and made:
            made[-1] = _with_code(made[-1], code, block)
        elements.extend(element for element in made if element.text)
    return elements


def _sentence_steps(text: str, span: tuple[Span, ...]) -> Iterator[Element]:
    parts = sentences(text)
    for index, sentence in enumerate(parts):
        if is_otherwise(sentence):
            continue
        stated = condition(sentence, parts[index + 1] if index + 1 < len(parts) else "")
        if stated and is_imperative(stated.action):
            yield _decision(stated.condition, stated.action, stated.alternative, span, ())
        elif is_imperative(sentence):
            yield Do(lead(sentence), span)


def _code_after(blocks: Sequence[Block], index: int) -> list[Block]:
    code: list[Block] = []
    for block in blocks[index + 1 :]:
        if block.kind is not BlockKind.CODE:
            break
        code.append(block)
    return code


def _with_code(element: Element, code: Sequence[Block], lead_block: Block) -> Element:
    blocks = [lead_block, *code]
    return type(element)(
        **{
            **element.__dict__,
            "commands": commands_of(blocks),
            "expected": expected_of(blocks),
        }
    )


def _under_heading(part: Part, elements: list[Element]) -> list[Element]:
    """A section named after what it does is one step, its first step being the rest of the text."""
    heading = without_numbering(part.heading)
    if part.depth < 2 or role_of_heading(part.heading) is not None or not is_imperative(heading):
        return elements
    head = tidy(heading)
    if not elements:
        return [Do(head, (part.span,))]
    first = elements[0]
    if isinstance(first, Do):
        joined = Do(f"{head}: {first.text}", first.cites, first.commands, first.expected)
        return [joined, *elements[1:]]
    return [Do(head, (part.span,)), *elements]


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


def _without_doubles(elements: Sequence[Element]) -> list[Element]:
    seen: set[str] = set()
    kept: list[Element] = []
    for element in elements:
        key = " ".join(element.text.casefold().split())
        if key not in seen:
            seen.add(key)
            kept.append(element)
    return kept
