"""Blocks of a page that are steps to tick off."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.knowledge.page.alternatives import alternatives
from services.knowledge.page.block import Block, BlockKind, Page, Place, plain
from services.knowledge.page.box_fit import (
    AS_SHIPPED,
    BoxFit,
    Habit,
    added_log_odds,
    coarse_signs,
    log_odds,
    shipped_fit,
)
from services.knowledge.page.box_signs import is_only_link, signs_of

_NO_CORRECTIONS: Mapping[str, bool] = {}


@dataclass(frozen=True, slots=True)
class Box:
    """A step to tick off."""

    place: Place
    options: tuple[Block, ...] = ()
    """Items of which one is to be chosen, if the block leads an either/or."""

    @property
    def block(self) -> Block:
        """The block that is the step."""
        return self.place.block


def find_boxes(
    page: Page,
    corrections: Mapping[str, bool] = _NO_CORRECTIONS,
    fit: BoxFit | None = None,
    habit: Habit = AS_SHIPPED,
) -> list[Box]:
    """Return the boxes of a page in its order.

    `corrections` are an owner's decisions by block key; they override everything else. Without a
    `fit` the packaged one decides, adjusted by the `habit` learned from the platform's users.
    """
    places = list(candidates(page))
    steps = _steps(page, places, fit or shipped_fit(), habit) | {
        place.block.key: corrections[place.block.key]
        for place in places
        if place.block.key in corrections
    }
    options = _options(page, steps, corrections)
    of_others = {option.key for group in options.values() for option in group}
    return [
        Box(place, options.get(place.block.key, ()))
        for place in places
        if (steps[place.block.key] or place.block.key in options)
        and place.block.key not in of_others
    ]


def candidates(page: Page) -> Iterator[Place]:
    """Yield the items and paragraphs that may be steps; withheld ones are excluded.

    An item without words of its own is one where its code or table stands in their place.
    """
    for place in page.places():
        block = place.block
        is_of_kind = block.kind in {BlockKind.ITEM, BlockKind.PARAGRAPH}
        if is_of_kind and not block.is_withheld and (plain(block.words) or leading_content(block)):
            yield place


def blocks_of(page: Page, key: str) -> list[Place]:
    """Return the candidates that a key stands for: a block itself, or all of a list or section.

    Those of a list are its own items; those of a heading reach to the next heading.
    """
    return [
        place
        for place in candidates(page)
        if key == place.block.key
        or (place.block.kind is BlockKind.ITEM and key == place.parents[-1].key)
        or (place.headings and key == place.headings[-1].key)
    ]


def step_chances(
    page: Page, fit: BoxFit | None = None, habit: Habit = AS_SHIPPED
) -> dict[str, float]:
    """Return by key the chance that a candidate is a step, of those whose form decides.

    It is of the block's list as a whole, as `find_boxes` decides, but for what the `habit` adds.
    """
    fit = fit or shipped_fit()
    formed = candidates_with_words(page)
    rows = signs_of(page, formed) if formed else []
    means = fit.chances(rows, lists_of(formed)) if formed else []
    chances = {}
    for place, row, mean in zip(formed, rows, means, strict=True):
        odds = log_odds(mean) + added_log_odds(coarse_signs(row), habit)
        if is_of_form(place):
            chances[place.block.key] = 1 / (1 + math.exp(-odds))
    return chances


def candidates_with_words(page: Page) -> list[Place]:
    """Return the candidates with words of their own, whose form decides."""
    return [place for place in candidates(page) if plain(place.block.words)]


def leading_content(item: Block) -> Block | None:
    """Return the code or table that an item without words begins with; None if there is none."""
    first = item.children[0] if item.kind is BlockKind.ITEM and item.children else None
    if first is None or first.is_withheld or plain(item.words):
        return None
    return first if first.kind in {BlockKind.CODE, BlockKind.TABLE} else None


def last_own_line(block: Block) -> int:
    """Return the last line of a candidate's own words, or of the content in their place."""
    instead = leading_content(block)
    return instead.end_line if instead else block.own_end


def lists_of(places: Sequence[Place]) -> list[str]:
    """Return the key of the list of each item, and the own key of each paragraph."""
    return [
        place.parents[-1].key
        if place.block.kind is BlockKind.ITEM and place.parents
        else place.block.key
        for place in places
    ]


def is_of_form(place: Place) -> bool:
    """Return True if a block's form decides if it is a step; pointers and page ticks excluded."""
    return place.block.is_checked is None and not _is_pointer(place)


def _steps(page: Page, places: Sequence[Place], fit: BoxFit, habit: Habit) -> dict[str, bool]:
    """Decide by key which blocks are steps; all items if nothing else is one.

    What the page itself has as a task to tick off is one in any case.
    """
    possible = [not _is_pointer(place) for place in places]
    fitted = _decide_by_form(page, places, fit, habit)
    own = [place.block.is_checked is not None for place in places]
    steps = [
        is_own or (is_possible and is_fitted)
        for is_own, is_possible, is_fitted in zip(own, possible, fitted, strict=True)
    ]
    if not any(steps):
        is_item = [place.block.kind is BlockKind.ITEM for place in places]
        steps = list(map(all, zip(possible, is_item, strict=True)))
    return {place.block.key: step for place, step in zip(places, steps, strict=True)}


def _decide_by_form(page: Page, places: Sequence[Place], fit: BoxFit, habit: Habit) -> list[bool]:
    """Decide for each block if its form makes it a step.

    An item without words goes with the others of its list; where none has any, the numbers of an
    order make steps of them.
    """
    formed = candidates_with_words(page)
    lists = lists_of(formed)
    decisions = fit.are_steps(signs_of(page, formed), lists, habit) if formed else []
    of_block = {place.block.key: step for place, step in zip(formed, decisions, strict=True)}
    of_list: dict[str, bool] = {}
    for name, step in zip(lists, decisions, strict=True):
        of_list[name] = of_list.get(name, False) or step
    return [
        of_block[place.block.key]
        if place.block.key in of_block
        else of_list.get(name, bool(place.block.number))
        for place, name in zip(places, lists_of(places), strict=True)
    ]


def _is_pointer(place: Place) -> bool:
    """Return True if a block only leads elsewhere: a mere link, or an entry of the contents."""
    in_contents = any(parent.kind is BlockKind.CONTENTS for parent in place.parents)
    return in_contents or is_only_link(place.block)


def _options(
    page: Page, steps: Mapping[str, bool], corrections: Mapping[str, bool]
) -> dict[str, tuple[Block, ...]]:
    """Return the options of each either/or by the key of its lead.

    An either/or is dropped if neither its lead nor its items are steps, or if an owner marked the
    lead as no step; an item that an owner marked as a step stays a step of its own.
    """
    options = {}
    for lead, items in alternatives(page):
        is_step = any(steps.get(block.key, False) for block in (lead, *items))
        own = [item for item in items if not corrections.get(item.key, False)]
        if is_step and len(own) > 1 and corrections.get(lead.key, True) and lead.key in steps:
            options[lead.key] = tuple(own)
    return options
