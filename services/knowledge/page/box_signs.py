"""Features of form that distinguish the steps of a page from the rest of its text.

No sign knows a word of any language.
"""

import hashlib
import re
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from services.knowledge.page.block import (
    Block,
    BlockKind,
    Inline,
    InlineKind,
    Page,
    Place,
    Words,
    codes,
    links,
    plain,
)

_WITHOUT_WORDS = frozenset(
    {
        BlockKind.LIST,
        BlockKind.QUOTE,
        BlockKind.CALLOUT,
        BlockKind.TABS,
        BlockKind.TAB,
        BlockKind.DETAILS,
        BlockKind.DEFINITIONS,
        BlockKind.GROUP,
        BlockKind.COMMENT,
        BlockKind.RULE,
        BlockKind.FRONT_MATTER,
        BlockKind.REFERENCE,
    }
)
"""Kinds that hold others, or that nobody reads."""
_CALLOUTS = frozenset({BlockKind.CALLOUT, BlockKind.QUOTE})
COLONS = (":", "：")
_QUESTIONS = ("?", "？", "؟")
_STOPS = (".", "。", "!", "！", "।")
_SENTENCE_END = re.compile(r"[.!?؟](?=\s|$)|[。！？।]")
_INNER_COLON = re.compile(r"[:：]\s")
_PLACEHOLDER = re.compile(r"<[^\W\d][^<>]*>")
_ADDRESS = re.compile(r"https?://")
_ONLY_ADDRESS = re.compile(r"<?https?://\S+")
_ARROW = re.compile(r"->|→| > ")
_DASH = re.compile(r" [-–] |—")
_WORD = re.compile(r"\w+")
_NUMBER_IN_FRONT = re.compile(r"\W*\w{0,9}\s*\d+")
_WITHOUT_SPACES = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
"""Letters of Thai, Japanese and Chinese, which put no space between words."""
_LETTERS_OF_A_WORD = 2
_PROMPT = re.compile(r"^\s*(?:[\w.@~/\[\]() :-]{0,60}[#$%]|PS [^>]{0,60}>)\s+\S", re.MULTILINE)
_NEARLY_ALL = 0.9
"""Share of a text; punctuation may remain."""
_FAR = 12
"""Distance in blocks at which code counts as far away."""


class _Own(NamedTuple):
    """Form of a block's own words."""

    item: bool
    numbered: bool
    checkbox: bool
    ends_with_colon: bool
    ends_with_question: bool
    ends_with_stop: bool
    has_question: bool
    inner_colon: bool
    sentences: int
    words: float
    breaks: int
    codes: int
    code_share: float
    begins_with_code: bool
    links: int
    link_share: float
    only_link: bool
    address: bool
    begins_with_link: bool
    begins_strong: bool
    label: bool
    """A strong beginning that a colon ends."""
    strong: int
    image: bool
    parentheses: int
    commas: int
    placeholder: bool
    digit_share: float
    begins_small: bool
    capital_share: float
    """Words in capitals alone, as in abbreviations."""
    arrow: bool
    dash: bool


class _Near(NamedTuple):
    """Blocks above and below."""

    depth: int
    """Items around it."""
    indent: int
    callout: bool
    paragraph_of_item: bool
    code_above: bool
    code_below: bool
    item_above: bool
    item_below: bool
    deeper_below: bool
    paragraph_below: bool
    heading_above: bool
    heading_below: bool
    code_lines: int
    """Lines of the code below it."""
    code_prompt: bool
    children: int
    to_code_above: int = _FAR
    """Blocks between it and the last code of the section."""
    to_code_below: int = _FAR


class _Lead(NamedTuple):
    """The block that leads an item's list, and the item around it; nothing of a paragraph."""

    lead_colon: bool = False
    lead_length: float = -1
    lead_sentences: int = -1
    parent_numbered: bool = False
    parent_colon: bool = False


_NO_LEAD = _Lead()


class _Wording(NamedTuple):
    """Words of the block compared with those of the page; lengths are shares of the page's mean."""

    of_title: float
    """Share of the words that the first heading has too."""
    of_heading: float
    common: float
    """Mean share of the page's blocks that have a word."""
    variety: float
    begins_alike: int
    """Blocks that begin with the same word."""
    begins_alike_share: float
    first_word_common: int
    names: float
    """Words behind the first that begin with a capital."""
    word_length: float
    first_word_length: float
    last_word_length: float
    in_code: int
    """Inline codes whose words all stand in the page's code."""
    codes_above: float
    """Share of the page's code."""
    page_codes: int


_NO_WORDS = _Wording(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)


class _InSection(NamedTuple):
    """The section and the place in it and on the page."""

    section_blocks: int
    section_items: int
    section_numbered: int
    section_codes: int
    section_colons: int
    section_length: float
    """Mean number of words."""
    section_links: float
    section_inline_codes: float
    section_place: int = 0
    section_share: float = 0
    page_share: float = 0


class _Heading(NamedTuple):
    """The heading above; 0 throughout where there is none."""

    heading_level: int = 0
    heading_length: float = 0
    heading_number: bool = False
    heading_question: bool = False
    heading_code: bool = False
    headings: int = 0
    heading_sisters: int = 0
    """Headings of its level on the page."""


_NO_HEADING = _Heading()
SIGNS: tuple[str, ...] = (
    *_Own._fields,
    *_Near._fields,
    *_Lead._fields,
    *_Wording._fields,
    *_InSection._fields,
    *_Heading._fields,
)
"""Names of the features in the order of a row."""
SIGNS_HASH = hashlib.sha256("\n".join(SIGNS).encode()).hexdigest()[:16]

Row = tuple[float, ...]


def signs_of(page: Page, places: Sequence[Place]) -> list[Row]:
    """Compute the features of items and paragraphs with words, in their order on the page."""
    return _Signs(page, places).rows()


def is_only_link(block: Block) -> bool:
    """Return True if a block consists of one or more links, with no words of its own."""
    text = block.text
    is_linked = bool(text) and _linked(block) >= _NEARLY_ALL * len(text)
    return is_linked or bool(_ONLY_ADDRESS.fullmatch(text))


def word_count(text: str) -> float:
    """Return the number of words, estimated for scripts without spaces between them."""
    return len(text.split()) + len(_WITHOUT_SPACES.findall(text)) / _LETTERS_OF_A_WORD


class _Signs:
    """Computation of the features of a page's blocks."""

    def __init__(self, page: Page, places: Sequence[Place]) -> None:
        self._page = page
        self._places = places
        everything = list(page.places())
        self._order = [place for place in everything if place.block.kind not in _WITHOUT_WORDS]
        self._own = {id(place.block): _own(place.block) for place in places}
        self._leads = _leads(page, everything)
        self._words = _PageWords(page, places, [place.block for place in self._order])
        self._sisters = Counter(b.level for b in page.blocks if b.kind is BlockKind.HEADING)

    def rows(self) -> list[Row]:
        """Return a row of features for each block."""
        blocks = [place.block for place in self._order]
        at = {id(block): number for number, block in enumerate(blocks)}
        to_code_above = _distances(blocks)
        to_code_below = _distances(blocks[::-1])[::-1]
        members: dict[int, list[Block]] = {}
        for place in self._order:
            members.setdefault(_section(place), []).append(place.block)
        sections = {key: self._section(blocks_below) for key, blocks_below in members.items()}
        seen = Counter[int]()
        rows: list[Row] = []
        for number, place in enumerate(self._places):
            own, key, n = self._own[id(place.block)], _section(place), at[id(place.block)]
            near = self._near(place, n)._replace(
                to_code_above=to_code_above[n], to_code_below=to_code_below[n]
            )
            section = sections[key]
            last = max(1, section.section_blocks - 1)
            section = section._replace(
                section_place=seen[key],
                section_share=seen[key] / last,
                page_share=number / max(1, len(self._places) - 1),
            )
            lead, words, heading = self._lead(place), self._words.of(place), self._heading(place)
            rows.append((*own, *near, *lead, *words, *section, *heading))
            seen[key] += 1
        return rows

    def _near(self, place: Place, at: int) -> _Near:
        block, depth = place.block, _depth(place)
        above = self._order[at - 1].block.kind if at else BlockKind.HEADING
        following = self._order[at + 1] if at + 1 < len(self._order) else None
        below = following.block.kind if following else BlockKind.HEADING
        code = following.block if following and below is BlockKind.CODE else None
        line = self._page.lines[block.start_line - 1]
        return _Near(
            depth=depth,
            indent=len(line) - len(line.lstrip()),
            callout=any(each.kind in _CALLOUTS for each in place.parents),
            paragraph_of_item=depth > 0 and block.kind is BlockKind.PARAGRAPH,
            code_above=above is BlockKind.CODE,
            code_below=code is not None,
            item_above=above is BlockKind.ITEM,
            item_below=below is BlockKind.ITEM,
            deeper_below=following is not None
            and below is BlockKind.ITEM
            and _depth(following) >= depth + (block.kind is BlockKind.ITEM),
            paragraph_below=below is BlockKind.PARAGRAPH,
            heading_above=above is BlockKind.HEADING,
            heading_below=below is BlockKind.HEADING,
            code_lines=code.verbatim.count("\n") + 1 if code else 0,
            code_prompt=bool(code and _PROMPT.search(code.verbatim)),
            children=len(block.children),
        )

    def _lead(self, place: Place) -> _Lead:
        if place.block.kind is not BlockKind.ITEM:
            return _NO_LEAD
        lead = self._leads.get(id(place.parents[-1])) if place.parents else None
        around = next((b for b in reversed(place.parents) if b.kind is BlockKind.ITEM), None)
        text = lead.text if lead else ""
        return _Lead(
            lead_colon=text.endswith(COLONS),
            lead_length=word_count(text),
            lead_sentences=len(_SENTENCE_END.findall(text)),
            parent_numbered=bool(around and around.number),
            parent_colon=bool(around and around.text.endswith(COLONS)),
        )

    def _section(self, blocks: Sequence[Block]) -> _InSection:
        owns = [self._own[id(block)] for block in blocks if id(block) in self._own]
        count = max(1, len(owns))
        return _InSection(
            section_blocks=len(owns),
            section_items=sum(own.item for own in owns),
            section_numbered=sum(own.numbered for own in owns),
            section_codes=sum(block.kind is BlockKind.CODE for block in blocks),
            section_colons=sum(own.ends_with_colon for own in owns),
            section_length=sum(own.words for own in owns) / count,
            section_links=sum(own.links > 0 for own in owns) / count,
            section_inline_codes=sum(own.codes > 0 for own in owns) / count,
        )

    def _heading(self, place: Place) -> _Heading:
        heading = place.headings[-1] if place.headings else None
        if heading is None:
            return _NO_HEADING
        return _Heading(
            heading_level=heading.level,
            heading_length=word_count(heading.text),
            heading_number=bool(_NUMBER_IN_FRONT.match(heading.text)),
            heading_question=heading.text.endswith(_QUESTIONS),
            heading_code=any(each.kind is InlineKind.CODE for each in heading.words),
            headings=len(place.headings),
            heading_sisters=self._sisters[heading.level],
        )


class _PageWords:
    """Word counts of a page's blocks."""

    def __init__(self, page: Page, places: Sequence[Place], blocks: Sequence[Block]) -> None:
        self._words = {id(place.block): _words(place.block.text) for place in places}
        distinct = [set(_folded(words)) for words in self._words.values()]
        self._blocks_with = Counter(word for words in distinct for word in words)
        self._beginning = Counter(_folded(words[:1])[0] for words in self._words.values() if words)
        lengths = [len(word) for words in self._words.values() for word in words]
        self._length = sum(lengths) / max(1, len(lengths)) or 1.0
        title = next((b.text for b in page.blocks if b.kind is BlockKind.HEADING), "")
        self._title = set(_folded(_words(title)))
        self._codes = [block for block in blocks if block.kind is BlockKind.CODE]
        self._starts = [block.start_line for block in self._codes]
        self._coded = {word for code in self._codes for word in code.verbatim.split()}

    def of(self, place: Place) -> _Wording:
        """Return the wording features of a block."""
        words = self._words[id(place.block)]
        if not words:
            return _NO_WORDS
        folded = _folded(words)
        distinct = set(folded)
        heading = set(_folded(_words(place.headings[-1].text))) if place.headings else set()
        share = 1 / len(distinct)
        blocks = len(self._words)
        return _Wording(
            of_title=len(distinct & self._title) * share,
            of_heading=len(distinct & heading) * share,
            common=sum(self._blocks_with[word] for word in distinct) * share / blocks,
            variety=len(distinct) / len(words),
            begins_alike=self._beginning[folded[0]],
            begins_alike_share=self._beginning[folded[0]] / blocks,
            first_word_common=self._blocks_with[folded[0]],
            names=sum(word[0].isupper() for word in words[1:]) / len(words),
            word_length=sum(map(len, words)) / len(words) / self._length,
            first_word_length=len(words[0]) / self._length,
            last_word_length=len(words[-1]) / self._length,
            in_code=sum(self._coded.issuperset(code.split()) for code in codes(place.block.words)),
            codes_above=bisect(self._starts, place.block.start_line) / max(1, len(self._codes)),
            page_codes=len(self._codes),
        )


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _folded(words: Sequence[str]) -> list[str]:
    return [word.casefold() for word in words]


def _own(block: Block) -> _Own:
    text, pieces = block.text, list(_pieces(block.words))
    length = max(1, len(text))
    words = word_count(text)
    first = next((e for e in block.words if e.text.strip() or e.children or e.target), None)
    strong = plain(first.children) if first and first.kind is InlineKind.STRONG else ""
    kinds = Counter(each.kind for each in pieces)
    coded = sum(len(each.text) for each in pieces if each.kind is InlineKind.CODE)
    return _Own(
        item=block.kind is BlockKind.ITEM,
        numbered=bool(block.number),
        checkbox=block.is_checked is not None,
        ends_with_colon=text.endswith(COLONS),
        ends_with_question=text.endswith(_QUESTIONS),
        ends_with_stop=text.endswith(_STOPS),
        has_question=any(mark in text for mark in _QUESTIONS),
        inner_colon=bool(_INNER_COLON.search(text)),
        sentences=len(_SENTENCE_END.findall(text)),
        words=words,
        breaks=kinds[InlineKind.BREAK],
        codes=kinds[InlineKind.CODE],
        code_share=coded / length,
        begins_with_code=bool(first and first.kind is InlineKind.CODE),
        links=kinds[InlineKind.LINK],
        link_share=_linked(block) / length,
        only_link=is_only_link(block),
        address=bool(_ADDRESS.search(text)),
        begins_with_link=bool(first and first.kind is InlineKind.LINK),
        begins_strong=bool(strong),
        label=bool(strong) and (strong.endswith(COLONS) or text[len(strong) :].startswith(COLONS)),
        strong=kinds[InlineKind.STRONG],
        image=kinds[InlineKind.IMAGE] > 0,
        parentheses=text.count("(") + text.count("（"),
        commas=sum(text.count(comma) for comma in ",，、،"),
        placeholder=bool(_PLACEHOLDER.search(text)),
        digit_share=sum(map(str.isdigit, text)) / length,
        begins_small=text[:1].islower(),
        capital_share=sum(len(w) > 2 and w.isupper() for w in text.split()) / max(1.0, words),
        arrow=bool(_ARROW.search(text)),
        dash=bool(_DASH.search(text)),
    )


def _pieces(words: Words) -> Iterator[Inline]:
    for each in words:
        yield each
        yield from _pieces(each.children)


def _linked(block: Block) -> int:
    """Count the letters that belong to links."""
    return sum(len(plain(each.children)) for each in links(block.words))


def _depth(place: Place) -> int:
    return sum(each.kind is BlockKind.ITEM for each in place.parents)


def _section(place: Place) -> int:
    """Return an id shared by the blocks below one heading."""
    return id(place.headings[-1]) if place.headings else 0


def _distances(blocks: Sequence[Block]) -> list[int]:
    """Return the number of blocks between each block and the last code of its section."""
    distances, distance = [], _FAR
    for block in blocks:
        distances.append(distance)
        if block.kind is BlockKind.CODE:
            distance = 0
        elif block.kind is BlockKind.HEADING:
            distance = _FAR
        else:
            distance = min(_FAR, distance + 1)
    return distances


def _leads(page: Page, places: Sequence[Place]) -> dict[int, Block]:
    """Return the block above each list: the one before it, or the item that contains it."""
    leads = {}
    for above, block in pairwise(page.blocks):
        if block.kind is BlockKind.LIST:
            leads[id(block)] = above
    for place in places:
        for above, block in pairwise((place.block, *place.block.children)):
            if block.kind is BlockKind.LIST:
                leads[id(block)] = above
    return leads
