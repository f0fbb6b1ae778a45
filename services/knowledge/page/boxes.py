"""Blocks of a page that are steps to tick off."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from services.knowledge.page.alternatives import alternatives
from services.knowledge.page.block import Block, BlockKind, Page, Place, plain
from services.knowledge.page.box_fit import AS_SHIPPED, BoxFit, Habit, shipped_fit
from services.knowledge.page.box_signs import is_only_link, signs_of

_NO_CORRECTIONS: Mapping[str, bool] = {}


@dataclass(frozen=True, slots=True)
class Box:
    """A step to tick off."""

    place: Place
    options: tuple[Block, ...] = ()
    """Items of which one is to be chosen, where the block leads an either/or."""

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

    `corrections` are an owner's words by the key of a block: they stand above anything else.
    Without a `fit` the one that comes with the package decides, with what the `habit` of the
    platform's people adds to it.
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
    """Yield the items and paragraphs that may be steps; withheld ones are none.

    An item without words of its own is one where its code or table stands in their place.
    """
    for place in page.places():
        block = place.block
        is_of_kind = block.kind in {BlockKind.ITEM, BlockKind.PARAGRAPH}
        if (
            is_of_kind
            and not block.is_withheld
            and (plain(block.words) or in_place_of_words(block))
        ):
            yield place


def worded(page: Page) -> list[Place]:
    """Return the candidates with words of their own, of which the form of the words decides."""
    return [place for place in candidates(page) if plain(place.block.words)]


def in_place_of_words(item: Block) -> Block | None:
    """Return the code or table that an item without words begins with; None where there is none."""
    first = item.children[0] if item.kind is BlockKind.ITEM and item.children else None
    if first is None or first.is_withheld or plain(item.words):
        return None
    return first if first.kind in {BlockKind.CODE, BlockKind.TABLE} else None


def last_own_line(block: Block) -> int:
    """Return the last line of a candidate's own words, or of what stands in their place."""
    instead = in_place_of_words(block)
    return instead.end_line if instead else block.own_end


def lists_of(places: Sequence[Place]) -> list[str]:
    """Return the key of the list that each item is of, and the own key of each paragraph."""
    return [
        place.parents[-1].key
        if place.block.kind is BlockKind.ITEM and place.parents
        else place.block.key
        for place in places
    ]


def is_of_form(place: Place) -> bool:
    """Return whether a block's form decides that it is a step; of pointers and page ticks not."""
    return place.block.is_checked is None and not _is_pointer(place)


def _steps(page: Page, places: Sequence[Place], fit: BoxFit, habit: Habit) -> dict[str, bool]:
    """Return by its key whether a block is a step; all items where nothing else is one.

    What the page itself has as a task to tick off is one in any case.
    """
    possible = [not _is_pointer(place) for place in places]
    fitted = _fitted(page, places, fit, habit)
    own = [place.block.is_checked is not None for place in places]
    steps = [
        is_own or (is_possible and is_fitted)
        for is_own, is_possible, is_fitted in zip(own, possible, fitted, strict=True)
    ]
    if not any(steps):
        is_item = [place.block.kind is BlockKind.ITEM for place in places]
        steps = list(map(all, zip(possible, is_item, strict=True)))
    return {place.block.key: step for place, step in zip(places, steps, strict=True)}


def _fitted(page: Page, places: Sequence[Place], fit: BoxFit, habit: Habit) -> list[bool]:
    """Return for each block whether its form makes it a step.

    An item without words goes with the others of its list; where none has any, the numbers of an
    order make steps of them.
    """
    formed = worded(page)
    lists = lists_of(formed)
    fitted = fit.are_steps(signs_of(page, formed), lists, habit) if formed else []
    of_block = {place.block.key: step for place, step in zip(formed, fitted, strict=True)}
    of_list: dict[str, bool] = {}
    for name, step in zip(lists, fitted, strict=True):
        of_list[name] = of_list.get(name, False) or step
    return [
        of_block[place.block.key]
        if place.block.key in of_block
        else of_list.get(name, bool(place.block.number))
        for place, name in zip(places, lists_of(places), strict=True)
    ]


def _is_pointer(place: Place) -> bool:
    """Return whether a block only leads elsewhere: a mere link, or an entry of the contents."""
    in_contents = any(parent.kind is BlockKind.CONTENTS for parent in place.parents)
    return in_contents or is_only_link(place.block)


def _options(
    page: Page, steps: Mapping[str, bool], corrections: Mapping[str, bool]
) -> dict[str, tuple[Block, ...]]:
    """Return the options of each either/or by the key of its lead.

    An either/or of which neither lead nor items are steps is none, nor one whose lead an owner
    took for no step; an item that an owner took for a step remains one of its own.
    """
    found = {}
    for lead, items in alternatives(page):
        is_step = any(steps.get(block.key, False) for block in (lead, *items))
        own = [item for item in items if not corrections.get(item.key, False)]
        if is_step and len(own) > 1 and corrections.get(lead.key, True) and lead.key in steps:
            found[lead.key] = tuple(own)
    return found
