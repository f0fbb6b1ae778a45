"""Content that an answer takes from its page: the words of its notes, the commands of its steps."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from services.knowledge.page.block import Block, BlockKind, Page, codes, plain
from services.knowledge.page.parsing import parse_page
from services.language.clauses import parse_condition
from services.language.sentences import sentences
from services.language.states import negates
from services.language.words import tokenise
from services.runbook.checking.check import UNSURE
from services.runbook.checking.cited_blocks import cited_blocks, is_forbidden
from services.runbook.model import (
    Body,
    Do,
    End,
    EndKind,
    LineRange,
    Node,
    Noted,
    Procedure,
    Remark,
)
from services.workflow.page_code import (
    CodePart,
    CodeUse,
    PageCode,
    code_parts,
    inline_commands,
    is_output,
)

_MOST_NOTES = 12
"""Notes of one node; a page with more says them at several."""
_MOST_ALIKE = 5
"""Steps at which the same note may stand."""
_SHORT = 300
"""Characters of cited words that stand whole; of longer ones the sentence nearest to the note."""
OWN_SHARE = 0.6
"""Share of a note's words that its lines must have, so that it may stay as it is."""

_WITHOUT_A_DEED = frozenset({EndKind.NOT_THIS_FAULT, EndKind.RESOLVED, EndKind.STOP})

LONGEST_NOTE = 600
"""Characters of a note in the page's words; the rest is on the page."""
_OWN_WORDS_ONLY = frozenset({BlockKind.ITEM, BlockKind.PARAGRAPH})


def with_page_words(procedures: Sequence[Procedure], text: str) -> tuple[Procedure, ...]:
    """Return the procedures with notes that say what their lines say.

    A note that cites a callout becomes that callout's words. Any other note whose words its lines
    do not have, or that denies what they affirm, becomes their words or the nearest of their
    sentences. A note without lines is dropped. A step that does what its lines forbid is marked as
    unsure. A sentence that tells what is done under a condition is a note of the end behind it,
    and not its words: as a rule it is of the other branch.
    """
    page = parse_page(text)
    places = [place.block for place in page.places() if place.block.kind is not BlockKind.HEADING]
    seen: dict[str, int] = {}

    def changed(node: Node) -> Body:
        if isinstance(node, Remark):
            return tuple(_in_page_words(node, places, page)) if node.lines else ()
        if not isinstance(node, Noted):
            return (node,)
        notes: dict[str, Remark] = {}
        for note in node.notes:
            for own in _in_page_words(note, places, page) if note.lines else ():
                notes.setdefault(own.text, own)
        kept = [note for note in notes.values() if seen.get(note.text, 0) < _MOST_ALIKE]
        kept = kept[:_MOST_NOTES]
        for note in kept:
            seen[note.text] = seen.get(note.text, 0) + 1
        update: dict[str, object] = {"notes": tuple(kept)}
        if isinstance(node, End) and node.kind in _WITHOUT_A_DEED:
            clause = parse_condition(node.text)
            if clause is not None and clause.leads and clause.action:
                sentence = Remark(text=node.text, lines=node.lines)
                update = {"notes": (*kept, sentence), "text": ""}
        if isinstance(node, Do) and is_forbidden(node.text, cited_blocks(node.lines, places)):
            update["confidence"] = min(node.confidence, UNSURE)
        return (node.model_copy(update=update),)

    return tuple(procedure.map(node=changed, order="down") for procedure in procedures)


def _in_page_words(note: Remark, blocks: Sequence[Block], page: Page) -> Iterator[Remark]:
    """Yield the note in the words of its lines, of several callouts one each."""
    cited = list(cited_blocks(note.lines, blocks))
    callouts = [each for each in cited if each.kind is BlockKind.CALLOUT]
    for each in callouts:
        lines = ((each.start_line, each.end_line),)
        yield note.model_copy(update={"text": words_of_page(each, page), "lines": lines})
    others = [each for each in cited if each.kind is not BlockKind.CALLOUT]
    words = {each.key: words_of_page(each, page) for each in others}
    page_words = " ".join(words.values())
    is_supported = shares_words(note.text, page_words)
    if callouts and not is_supported:
        return
    own = set(tokenise(note.text))
    by_sentence = [(s, each) for each in others for s in sentences(words[each.key])]
    if not by_sentence:
        if not callouts:
            yield note
        return
    nearest, block = max(by_sentence, key=lambda pair: len(own & set(tokenise(pair[0]))))
    if is_supported and negates(note.text) == negates(nearest):
        yield note
    elif len(page_words) <= _SHORT:
        yield note.model_copy(update={"text": page_words})
    else:
        lines = ((block.start_line, block.own_end),)
        yield note.model_copy(update={"text": nearest, "lines": lines})


def shares_words(text: str, page_words: str, least: float = OWN_SHARE) -> bool:
    """Return True if the page's words have at least this share of the words of the text."""
    own = set(tokenise(text))
    return len(own & set(tokenise(page_words))) >= least * len(own)


_LONGEST_EXPECTED = 600
"""Characters; a longer sample does not help to compare."""


def words_of_page(block: Block, page: Page) -> str:
    """Return the words of a block as a note: cells and code in a row, of a callout all below it."""
    blocks = (block,) if block.kind in _OWN_WORDS_ONLY else block.walk()
    parts = [part for each in blocks if (part := _own_words(each, page))]
    words = " ".join(" · ".join(parts).split())
    return words if len(words) <= LONGEST_NOTE else f"{words[: LONGEST_NOTE - 1]}…"


def _own_words(block: Block, page: Page) -> str:
    if block.kind is BlockKind.CODE:
        return block.verbatim
    if block.kind is BlockKind.TABLE:
        rows = [": ".join(filter(None, map(plain, row))) for row in (block.header, *block.rows)]
        return "; ".join(filter(None, rows))
    return block.text or ("" if block.children else page.verbatim(block))


class _LineCommands(NamedTuple):
    """A command of the page, or several in prose, with its sample output."""

    lines: LineRange
    block: LineRange
    """Lines of the whole block."""
    commands: tuple[str, ...]
    expected: str = ""


def with_commands(procedures: Sequence[Procedure], text: str) -> tuple[Procedure, ...]:
    """Add to each action the commands and the sample output of its lines.

    Of several actions of a procedure with the same lines only the first gets them. One that cites
    some lines of a code block gets the commands of these lines alone.
    """
    all_commands = list(_line_commands(parse_page(text)))

    def with_own(node: Node, left: list[_LineCommands]) -> Body:
        if not isinstance(node, Do):
            return (node,)
        exact = [each for each in left if _overlap(node.lines, each.lines)]
        exact_blocks = {each.block for each in exact}
        own = [
            each
            for each in left
            if each in exact
            or (
                each.block not in exact_blocks
                and _overlap(node.lines, (each.block[0], each.block[0]))
            )
        ]
        left[:] = [each for each in left if each not in own]
        commands = tuple(dict.fromkeys(command for each in own for command in each.commands))
        expected = next((each.expected for each in own if each.expected), "")
        return (node.model_copy(update={"commands": commands, "expected": expected}),)

    return tuple(
        procedure.map(node=partial(with_own, left=list(all_commands)), order="down")
        for procedure in procedures
    )


def _overlap(cited: Sequence[LineRange], lines: LineRange) -> bool:
    return any(first <= lines[1] and lines[0] <= last for first, last in cited)


def _line_commands(page: Page) -> Iterator[_LineCommands]:
    before = ""
    for block in (place.block for place in page.places()):
        text_before = before
        before = "" if block.kind is BlockKind.HEADING else block.text
        lines = (block.start_line, block.end_line)
        if block.kind is BlockKind.CODE:
            code = PageCode(block.verbatim, block.language)
            parts = code_parts(code, text_before)
            if not any(part.use is CodeUse.COMMAND for part in parts):
                expected = block.verbatim if is_output(code, text_before) else ""
                yield _LineCommands(lines, lines, (), expected[:_LONGEST_EXPECTED].rstrip())
                continue
            yield from _commands_of(block, parts, page)
        elif block.kind is not BlockKind.HEADING:
            own = (block.start_line, block.own_end)
            yield _LineCommands(own, own, inline_commands(block.text, codes(block.words)))


def _commands_of(block: Block, parts: Sequence[CodePart], page: Page) -> Iterator[_LineCommands]:
    """Yield the commands of a code block, each with its lines and the output behind it."""
    lines = (block.start_line, block.end_line)
    at = block.start_line
    for place, part in enumerate(parts):
        if part.use is not CodeUse.COMMAND:
            continue
        first, *others = part.text.split("\n")
        rest = range(at, block.end_line + 1)
        at = next((n for n in rest if first.strip() in page.lines[n - 1]), at)
        behind = parts[place + 1 : place + 2]
        output = next((each.text for each in behind if each.use is CodeUse.OUTPUT), "")
        own = (at, min(at + len(others), block.end_line))
        yield _LineCommands(own, lines, (part.text,), output[:_LONGEST_EXPECTED].rstrip())
        at = own[1]
