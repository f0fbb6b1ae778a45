"""What an approval costs: the operations that lead from a reading's workflow to its drawing.

An estimate from the matched graphs, not a shortest script: a step or question that the drawing
does not have is deleted, one that is missing is inserted, each condition that steps lack is put
over them once, and each that they have too much is taken away once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from evaluation.measures.boxes import PageBlocks
from evaluation.measures.figures import Figures
from evaluation.measures.logic import Likeness, LogicCase, Matched
from services.knowledge.ports import Embedder

_FORM_ACTIONS = 3
"""Of one operation in a form: open it, fill a field, send it."""
_BOX_TAPS, _CONDITION_TAPS = 1, 3
"""At the block itself: a box on or off; “only if”, the block that asks, its answer."""


class Operations(NamedTuple):
    """Operations from a reading to its drawing."""

    boxes: int
    """Steps to insert or delete, and questions to delete."""
    conditions: int
    """Conditions to put over steps or to take away, and questions to insert."""

    @property
    def total(self) -> int:
        """All of them; 0 where an approver would leave the reading as it is."""
        return self.boxes + self.conditions

    @property
    def actions_in_forms(self) -> int:
        """Actions if each operation has a form, with the approval."""
        return _FORM_ACTIONS * self.total + 1

    @property
    def actions_at_blocks(self) -> int:
        """Taps if each operation is done at its block, with the approval."""
        return _BOX_TAPS * self.boxes + _CONDITION_TAPS * self.conditions + 1


def count_operations(matched: Matched) -> Operations:
    """Count the operations from a workflow to the drawing that it is matched with."""
    gold, prediction = matched.gold, matched.prediction
    missing = {
        guard
        for action, own in matched.actions.items()
        for guard in gold.guards[action]
        if not matched.is_kept(guard, prediction.guards[own]) and guard[0] in matched.decisions
    }
    decisions = set(matched.decisions.values())
    too_much = {
        guard
        for action, own in matched.actions.items()
        if len(prediction.guards[own]) > len(gold.guards[action])
        for guard in prediction.guards[own]
        if guard[0] in decisions
    }
    steps = len(gold.actions) + len(prediction.actions) - 2 * len(matched.actions)
    extra = len(prediction.decisions) - len(matched.decisions)
    lacking = len(gold.decisions) - len(matched.decisions)
    return Operations(steps + extra, len(missing) + len(too_much) + lacking)


def approval_costs(cases: Sequence[LogicCase], embedder: Embedder) -> Figures:
    """Operations a page: median, 90th percentile, mean, and beside the nodes of the drawing."""
    drawn = [case for case in cases if case.prediction is not None]
    if not drawn:
        return {}
    counts = [each.total for each in operations_of(drawn, embedder)]
    nodes = [len(case.gold.nodes) for case in drawn]
    return spread(counts) | {"nodes of the drawing": round(float(np.mean(nodes)), 1)}


def operations_of(cases: Sequence[LogicCase], embedder: Embedder) -> list[Operations]:
    """Return the operations of each case that has a workflow; texts are embedded in one batch."""
    likeness = Likeness.of((text for case in cases for text in case.texts()), embedder)
    return [
        count_operations(Matched(case.gold, case.prediction, likeness))
        for case in cases
        if case.prediction is not None
    ]


def box_taps(sections: Sequence[Sequence[PageBlocks]]) -> int:
    """Return the fewest taps that set the boxes of a page right.

    A tap sets one block, all of a list or all of a section, each given as lists of blocks.
    """

    def of_lists(lists: Sequence[PageBlocks], boxed: bool | None) -> int:
        """Return the taps for the lists of a section, all of its blocks set before to `boxed`."""
        taps = 0
        for blocks in lists:
            steps = sum(block.is_step for block in blocks)
            wrong = sum(
                (block.has_box if boxed is None else boxed) != block.is_step for block in blocks
            )
            taps += min(wrong, 1 + steps, 1 + len(blocks) - steps)
        return taps

    return sum(
        min(of_lists(lists, None), 1 + of_lists(lists, False), 1 + of_lists(lists, True))
        for lists in sections
    )


def spread(counts: Sequence[int]) -> Figures:
    """Return the median, the 90th percentile and the mean of counts by page."""
    return {
        "n": len(counts),
        "median": float(np.median(counts)),
        "90th percentile": float(np.percentile(counts, 90)),
        "mean": round(float(np.mean(counts)), 1),
    }
