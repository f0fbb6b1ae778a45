"""One section of a page as steps: its blocks in order, under its heading where that is a step."""

import re
from collections.abc import Iterator, Sequence

from services.knowledge.document.markdown import Block, BlockKind, Item
from services.knowledge.document.roles import role_of_heading, without_numbering
from services.knowledge.model import SectionRole
from services.planner.article import Part
from services.planner.code import commands_of, expected_of
from services.planner.decisions import answers, ask, asks
from services.planner.draft import Ask, Do, Element, End
from services.planner.fault_pairs import row_chain
from services.planner.items import item_elements
from services.planner.prose import paragraph_steps
from services.planner.references import of_list, resolved
from services.planner.sentences import condition, is_imperative, lead, sentences, tidy

_CONFIRMATION = re.compile(
    r"(?:(?:issue|problem|scenario|symptom|fault)\s+)?(?:validation|confirmation|verification)"
    r"|(?:confirm|validate|verify) (?:the|this) (?:issue|problem|scenario|symptoms?|fault)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"^(?:(?:step|phase)\s+\w{1,3}\b|\d{1,2}[.):])", re.IGNORECASE)
_INTRODUCING = frozenset({SectionRole.NOTE, SectionRole.PARAMETER})
_LEAST_HEADING_WORDS = 3


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
        whole = _answered(part, pending, block) or _folded(part, pending, block)
        if whole:
            yield from paragraph_steps(part, pending[:-1])
            yield whole
        else:
            yield from paragraph_steps(part, pending)
            yield from row_chain(part, block)
            numbered = of_list(part, block)
            made = (e for item in block.items for e in _with_tables(part, block, item))
            yield from (resolved(element, numbered) for element in made)
        pending = []
    yield from paragraph_steps(part, pending)


def _with_tables(part: Part, block: Block, item: Item) -> Iterator[Element]:
    yield from item_elements(part, block, item)
    for nested in item.blocks:
        yield from row_chain(part, nested)


def _is_contents(block: Block) -> bool:
    """A list of links into the page itself."""
    links = block.links
    return bool(links) and all(link.target.startswith("#") for link in links)


def _answered(part: Part, before: Sequence[Block], block: Block) -> Ask | None:
    """A question, and a list that says what to do on yes and on no."""
    said = sentences(before[-1].text) if before else []
    told = answers(block)
    if not said or not asks(said[-1]) or set(told) != {"yes", "no"}:
        return None
    span = (part.lines(before[-1].start_line, block.end_line),)
    return ask(said[-1], told, span)


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
