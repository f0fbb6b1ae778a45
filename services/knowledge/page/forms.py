"""Recognition of a block's final form: callout, picture, bold heading, contents."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from services.knowledge.page.block import Block, BlockKind, Inline, InlineKind, Words, plain
from services.knowledge.page.callouts import split_lead, split_marker

_BOLD_HEADING_LEVEL = 7
_LONGEST_BOLD_HEADING = 12
"""Word limit; a longer bold paragraph is an emphasised sentence, not a heading."""
_CONTENTS_MARKS = frozenset({"[toc]", "[[toc]]", "[[_toc_]]", "{:toc}", "{{toc}}", "${toc}"})
_HEADING_ANCHOR = re.compile(r"(?<!\s)\s*\{#[\w.:-][^{}]*\}\s*$")
_CHECKBOX = re.compile(r"\[(?P<mark>[ xX])\]\s+")
_CONTENTS_KINDS = frozenset({BlockKind.LIST, BlockKind.CONTENTS})
_LEADS = frozenset({BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.IMAGE})


def settle_forms(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Return the blocks with each paragraph in its final form and adjacent tabs joined."""
    return tuple(_join_tabs([form for block in blocks for form in _form(block)]))


def container(block: Block) -> Block:
    """Return a block with its children in their final forms."""
    return replace(block, children=settle_forms(block.children))


def heading(block: Block) -> Block:
    """Return a heading without the anchor written after its words."""
    last = block.words[-1] if block.words else None
    if last is None or last.kind is not InlineKind.TEXT:
        return block
    text = _HEADING_ANCHOR.sub("", last.text)
    rest = (replace(last, text=text),) if text else ()
    return replace(block, words=(*block.words[:-1], *rest))


def item(block: Block) -> Block:
    """Return an item with its first paragraph as its own words."""
    lead, rest = _lead(block.children)
    if lead is None:
        return replace(block, children=settle_forms(rest))
    words, is_checked = _without_checkbox(lead.words)
    return replace(
        block,
        words=words,
        lead_end=lead.end_line,
        is_checked=block.is_checked if is_checked is None else is_checked,
        children=settle_forms(rest),
    )


def quote(block: Block) -> Block:
    """Return a quote, converted to a callout if it begins as one."""
    first, rest = _lead(block.children)
    marked = split_marker(first.words) if first else None
    split = marked or (split_lead(first.words) if first else None)
    if first is None or split is None:
        return replace(block, children=settle_forms(block.children))
    callout, title, words = split
    start = min(first.start_line + (1 if marked else 0), first.end_line)
    body = (replace(first, start_line=start, words=words),) if words else ()
    return replace(
        block,
        kind=BlockKind.CALLOUT,
        callout=callout,
        words=title,
        lead_end=first.start_line if title else 0,
        children=settle_forms((*body, *rest)),
    )


def callout(block: Block) -> Block:
    """Return a callout of HTML; without another title the lead word becomes its title."""
    if not block.words:
        first, rest = _lead(block.children)
        split = split_lead(first.words) if first else None
        if first and split:
            body = (replace(first, words=split[2]),) if split[2] else ()
            title, children = split[1], (*body, *rest)
            return replace(
                block, words=title, lead_end=first.start_line, children=settle_forms(children)
            )
    return replace(block, children=settle_forms(block.children))


def item_list(block: Block) -> Block:
    """Return a list, as contents if all its items are links to anchors of the page."""
    items = [each for each in block.walk() if each.kind not in _CONTENTS_KINDS]
    is_contents = bool(items) and all(
        each.kind is BlockKind.ITEM and _is_link_to_anchor(each) for each in items
    )
    return replace(block, kind=BlockKind.CONTENTS) if is_contents else block


def definitions(block: Block) -> Block:
    """Return a definition list with the content below each term."""
    entries: list[list[Block]] = []
    for part in block.children:
        if entries and not part.words:
            entries[-1].append(part)
        else:
            entries.append([part])
    children = (
        replace(
            parts[0],
            end_line=parts[-1].end_line,
            children=settle_forms([child for part in parts for child in part.children]),
        )
        for parts in entries
    )
    return replace(block, children=tuple(children))


def flatten(blocks: Sequence[Block]) -> Words:
    """Return everything that blocks show as words, with a break between blocks."""
    words: list[Inline] = []
    for outermost in blocks:
        for block in outermost.walk():
            shown = list(_shown(block))
            if shown and words:
                words.append(Inline(InlineKind.BREAK))
            words += shown
    return tuple(words)


def _form(paragraph: Block) -> Iterator[Block]:
    words = paragraph.words
    if paragraph.kind is not BlockKind.PARAGRAPH:
        yield paragraph
        return
    only = [each for each in words if each.text.strip() or each.children or each.target]
    if not only:
        return
    text = plain(words)
    if text.lower().replace(" ", "") in _CONTENTS_MARKS:
        yield replace(paragraph, kind=BlockKind.CONTENTS)
    elif picture := _picture(only):
        yield replace(paragraph, kind=BlockKind.IMAGE, target=picture.target)
    elif lead := split_lead(words):
        callout, title, rest = lead
        body = (replace(paragraph, words=rest),) if rest else ()
        yield replace(
            paragraph, kind=BlockKind.CALLOUT, callout=callout, words=title, children=body,
            lead_end=paragraph.start_line,
        )  # fmt: skip
    elif (
        len(only) == 1
        and only[0].kind is InlineKind.STRONG
        and len(text.split()) <= _LONGEST_BOLD_HEADING
        and not text.endswith((".", "!", ","))
    ):
        yield replace(paragraph, kind=BlockKind.HEADING, level=_BOLD_HEADING_LEVEL, lead_end=0)
    else:
        yield paragraph


def _picture(pieces: Sequence[Inline]) -> Inline | None:
    """Return the only image among the pieces, also one that is a link."""
    if len(pieces) != 1:
        return None
    if pieces[0].kind is InlineKind.LINK:
        return _picture(pieces[0].children)
    return pieces[0] if pieces[0].kind is InlineKind.IMAGE else None


def _join_tabs(blocks: Sequence[Block]) -> Iterator[Block]:
    for is_tab, group in groupby(blocks, key=lambda each: each.kind is BlockKind.TAB):
        run = tuple(group)
        if is_tab:
            yield Block(BlockKind.TABS, run[0].start_line, run[-1].end_line, children=run)
        else:
            yield from run


def _lead(blocks: Sequence[Block]) -> tuple[Block | None, Sequence[Block]]:
    if blocks and blocks[0].kind in _LEADS and blocks[0].words:
        return blocks[0], blocks[1:]
    return None, blocks


def _is_link_to_anchor(item: Block) -> bool:
    pieces = [each for each in item.words if each.text.strip() or each.children]
    is_link = len(pieces) == 1 and pieces[0].kind is InlineKind.LINK
    return is_link and pieces[0].target.startswith("#")


def _without_checkbox(words: Words) -> tuple[Words, bool | None]:
    first = words[0] if words else None
    match = _CHECKBOX.match(first.text) if first and first.kind is InlineKind.TEXT else None
    if first is None or match is None:
        return words, None
    return (replace(first, text=first.text[match.end() :]), *words[1:]), match["mark"] != " "


def _shown(block: Block) -> Iterator[Inline]:
    if block.number:
        yield Inline(InlineKind.TEXT, f"{block.number} ")
    yield from block.words
    if block.kind is BlockKind.CODE:
        yield Inline(InlineKind.CODE, block.verbatim)
    elif block.verbatim:
        yield Inline(InlineKind.TEXT, block.verbatim)
    for row in (block.header, *block.rows):
        for cell in row:
            yield from cell
            yield Inline(InlineKind.BREAK)
