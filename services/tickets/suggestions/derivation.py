"""Derivation of suggested edits from the work on a page."""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from services.contracts.adoption import StepState
from services.contracts.suggestions import SuggestedEdit, SuggestionKind, SuggestionSource
from services.kit.teaching.teacher import are_enough, are_heard
from services.knowledge.screening.instructions import instruction_in
from services.runbook.editing.block_edits import (
    LONGEST_ADDED,
    AddOwnNote,
    AddOwnStep,
    BlockEdit,
    MoveStep,
    SetBox,
)
from services.tickets.suggestions.page_blocks import PageBlocks, normalise
from services.tickets.suggestions.page_work import BlockMark, PageWork, WrittenText

LEAST_TICKETS = 3
"""Fewest tickets that suggest to leave out a step or to do it elsewhere: who skips one once may
not have needed it that time. One person's tickets alone suggest it to nobody else.
"""
SHOWN_SOURCES = 10


def suggest(work: PageWork, page: PageBlocks) -> Iterator[SuggestedEdit]:
    """Yield what the work speaks for and the page does not have yet, by kind."""
    by_block = defaultdict[str, list[BlockMark]](list)
    for mark in work.marks.values():
        by_block[mark.block].append(mark)
    for block in filter(lambda key: page.position(key) is not None, by_block):
        yield from _left_aside(work, page, block, by_block)
    yield from _written(work, page, work.steps, SuggestionKind.ADDED)
    yield from _written(work, page, work.notes, SuggestionKind.NOTE)
    for move, marks in find_moves(work, page):
        edit = MoveStep(block=move.block, beside=move.beside, is_before=move.is_before)
        sources = [_source(work, mark.ticket_id, mark.by, mark.at) for mark in marks]
        yield _suggestion(page, SuggestionKind.ORDER, edit, sources, page.words(move.beside))


def _left_aside(
    work: PageWork, page: PageBlocks, block: str, by_block: Mapping[str, Sequence[BlockMark]]
) -> Iterator[SuggestedEdit]:
    """Yield the block's suggestion if it was left aside often enough.

    A ticket on which a step around it does not apply, or another step of the block was done, says
    nothing.
    """
    done = {mark.ticket_id for mark in by_block[block] if mark.state is StepState.DONE}
    around = page.ancestors(block) | {block}
    spared = {
        mark.ticket_id
        for key in around & by_block.keys()
        for mark in by_block[key]
        if mark.state is StepState.NOT_APPLICABLE
    }
    skipped = {
        mark.ticket_id: mark
        for mark in by_block[block]
        if mark.state is StepState.SKIPPED
        and mark.is_called_for
        and mark.ticket_id not in done | spared
    }
    if _is_habit(skipped.values()):
        edit = SetBox(block=block, is_step=False)
        sources = [
            _source(
                work,
                mark.ticket_id,
                mark.by,
                mark.at,
                work.values[mark.ticket_id].parameterise(mark.why),
            )
            for mark in skipped.values()
        ]
        suggestion = _suggestion(page, SuggestionKind.LEFT_ASIDE, edit, sources)
        yield suggestion.model_copy(update={"done": len(done)})


def _is_habit(marks: Collection[BlockMark]) -> bool:
    """Return True if marks on different tickets are enough, and of enough people."""
    return len(marks) >= LEAST_TICKETS and are_enough(mark.teacher for mark in marks)


def _written(
    work: PageWork, page: PageBlocks, texts: Iterable[WrittenText], kind: SuggestionKind
) -> Iterator[SuggestedEdit]:
    """Yield a suggestion for each text at each block that the reading does not have.

    The text is without the values of its tickets. A person is shown as who wrote it; where nobody
    is known to be one, two must have written the same.
    """
    same = defaultdict[tuple[str, str], list[WrittenText]](list)
    for each in texts:
        text = work.values[each.ticket_id].parameterise(each.text)
        same[each.block, normalise(text)].append(each._replace(text=text))
    for (block, _), those in same.items():
        if not are_heard(each.teacher for each in those):
            continue
        text = " ".join(those[0].text.split())
        if len(text) > LONGEST_ADDED:
            text = f"{text[: LONGEST_ADDED - 1]}…"
        if page.has_text(text):
            continue
        is_step = kind is SuggestionKind.ADDED
        edit = AddOwnStep(block=block, text=text) if is_step else AddOwnNote(block=block, text=text)
        by_ticket = {each.ticket_id: each for each in sorted(those, key=lambda each: each.at)}
        sources = [
            _source(work, each.ticket_id, each.by, each.at, each.text)
            for each in by_ticket.values()
        ]
        yield _suggestion(page, kind, edit, sources, text)


def _source(work: PageWork, ticket_id: str, by: str, at: float, text: str = "") -> SuggestionSource:
    return SuggestionSource(
        ticket_id=ticket_id,
        title=work.titles[ticket_id],
        by=by,
        at=datetime.fromtimestamp(at, UTC),
        text=text,
    )


def _suggestion(
    page: PageBlocks,
    kind: SuggestionKind,
    edit: SetBox | AddOwnStep | AddOwnNote | MoveStep,
    sources: Sequence[SuggestionSource],
    text: str = "",
) -> SuggestedEdit:
    identity = "\n".join((kind.value, page.document_id, edit.block, normalise(text)))
    usable: BlockEdit | None = edit
    if isinstance(edit, AddOwnStep | AddOwnNote) and instruction_in(edit.text) is not None:
        usable = None
    return SuggestedEdit(
        key=hashlib.sha256(identity.encode()).hexdigest()[:16],
        kind=kind,
        document_id=page.document_id,
        block=edit.block,
        words=page.words(edit.block),
        text=text,
        sources=tuple(sorted(sources, key=lambda each: each.at, reverse=True)),
        tickets=len(sources),
        edit=usable,
    )


@dataclass(frozen=True)
class StepMove:
    """A step that engineers did elsewhere than the page has it."""

    block: str
    beside: str
    is_before: bool


def find_moves(work: PageWork, page: PageBlocks) -> Iterator[tuple[StepMove, list[BlockMark]]]:
    """Yield the fewest moves that explain in which order engineers ticked, with the marks of each.

    Two steps count as turned round if the lower one was ticked first on three tickets or more, by
    enough people, and never behind the upper one. A step that contains another is mostly ticked
    when that is done, and is left out.
    """
    by_ticket = defaultdict[str, dict[str, BlockMark]](dict)
    for mark in work.marks.values():
        if mark.state is StepState.DONE and page.position(mark.block) is not None:
            first = by_ticket[mark.ticket_id].setdefault(mark.block, mark)
            by_ticket[mark.ticket_id][mark.block] = min(first, mark, key=lambda each: each.at)
    order = {key: page.position(key) or 0 for key in page.places}
    turned = defaultdict[tuple[str, str], list[str]](list)
    kept = set[tuple[str, str]]()
    for ticket_id, marks in by_ticket.items():
        blocks = sorted(marks, key=order.__getitem__)
        for n, upper in enumerate(blocks):
            for lower in blocks[n + 1 :]:
                if marks[lower].at < marks[upper].at:
                    turned[upper, lower].append(ticket_id)
                else:
                    kept.add((upper, lower))
    pairs = {
        (upper, lower)
        for (upper, lower), tickets in turned.items()
        if _is_habit([by_ticket[ticket_id][lower] for ticket_id in tickets])
        and (upper, lower) not in kept
        and upper not in page.ancestors(lower)
    }
    while pairs:
        options = list(_options(pairs, kept, order))
        if not options:
            return
        # Of moves that explain as much, the one that puts a step earlier.
        move, explained = max(
            options, key=lambda each: (len(each[1]), each[0].is_before, -order[each[0].block])
        )
        pairs -= explained
        ends = (move.beside, move.block) if move.is_before else (move.block, move.beside)
        yield move, [by_ticket[ticket_id][move.block] for ticket_id in turned[ends]]


def _options(
    pairs: set[tuple[str, str]], kept: set[tuple[str, str]], order: Mapping[str, int]
) -> Iterator[tuple[StepMove, set[tuple[str, str]]]]:
    """Yield possible moves, each with the pairs that it explains.

    No step is moved past one that was ticked in the page's order with it.
    """
    for upper, lower in pairs:
        between = [key for key in order if order[upper] < order[key] < order[lower]]
        if not any((key, lower) in kept for key in between):
            up = {each for each in pairs if each[1] == lower and order[each[0]] >= order[upper]}
            yield StepMove(lower, upper, is_before=True), up
        if not any((upper, key) in kept for key in between):
            down = {each for each in pairs if each[0] == upper and order[each[1]] <= order[lower]}
            yield StepMove(upper, lower, is_before=False), down
