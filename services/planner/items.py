"""List items: the step of each, or the decision it states, and what is told below it."""

from collections.abc import Iterator

from services.knowledge.document.markdown import Block, BlockKind, Item
from services.planner.article import Part
from services.planner.code import commands_of, expected_of
from services.planner.decisions import answers, ask, asks, conditions, decision, leads_elsewhere
from services.planner.draft import Do, Element
from services.planner.sentences import condition, joined, lead, sentences


def item_elements(part: Part, block: Block, item: Item) -> Iterator[Element]:
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
        yield decision(stated, span, nested)
        yield from conditions([*parts[1:], *told_below], span, told_to_do=True)
        return
    answered = next((b for b in item.blocks if b.kind is BlockKind.LIST and answers(b)), None)
    if answered and asks(parts[-1]):
        if len(parts) > 1:
            yield Do(lead(parts[0]), span)
        yield ask(parts[-1], answers(answered), span, nested)
        return
    yield Do(lead(parts[0]), span, commands_of(nested), expected_of(nested))
    said = joined([*parts, *told_below])
    yield from conditions(said[1:], span, told_to_do=not block.ordered)
    yield from leads_elsewhere(said, span)


def _said_below(block: Block) -> list[str]:
    """What a paragraph or a list below an item says, sentence by sentence."""
    if block.kind is BlockKind.LIST:
        return [said for item in block.items for said in joined(sentences(item.text))]
    return sentences(block.text) if block.kind is BlockKind.PARAGRAPH else []
