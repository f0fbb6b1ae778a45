"""What an approval costs: the operations that lead from a reading's workflow to its drawing.

An estimate from the matched graphs, not a shortest script: a step or question that the drawing
does not have is deleted, one that is missing is inserted, each condition that steps lack is put
over them once, and each that they have too much is taken away once.
"""

from collections.abc import Sequence

import numpy as np

from evaluation.measures.figures import Figures
from evaluation.measures.logic import Likeness, LogicCase, Matched
from services.knowledge.ports import Embedder


def operations(matched: Matched) -> int:
    """How many; 0 where an approver would leave it as it is."""
    gold, prediction = matched.gold, matched.prediction
    nodes = [*gold.actions, *gold.decisions], [*prediction.actions, *prediction.decisions]
    same = len(matched.actions) + len(matched.decisions)
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
    return len(nodes[0]) + len(nodes[1]) - 2 * same + len(missing) + len(too_much)


def approval_costs(cases: Sequence[LogicCase], embedder: Embedder) -> Figures:
    """Operations a page: median, 90th percentile, mean, and beside the nodes of the drawing."""
    likeness = Likeness.of((text for case in cases for text in case.texts()), embedder)
    costs = [
        (operations(Matched(case.gold, case.prediction, likeness)), len(case.gold.nodes))
        for case in cases
        if case.prediction is not None
    ]
    if not costs:
        return {}
    counts, nodes = (np.array(each) for each in zip(*costs, strict=True))
    return {
        "n": len(costs),
        "median": float(np.median(counts)),
        "90th percentile": float(np.percentile(counts, 90)),
        "mean": round(float(np.mean(counts)), 1),
        "nodes of the drawing": round(float(np.mean(nodes)), 1),
    }
