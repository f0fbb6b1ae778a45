"""Past tickets in parts, so that what is known of one part comes from the others alone."""

import numpy as np
from numpy.typing import NDArray

FOLDS = 5


def folds_of(team: NDArray[np.int64]) -> NDArray[np.int64]:
    """The part that each ticket belongs to.

    Parts are runs of neighbours, since the next ticket comes from later or from elsewhere, not from
    in between; where tickets lie sorted by team, so that runs would hide whole teams, every fifth.
    """
    places = np.arange(len(team))
    runs = places * min(FOLDS, max(2, len(team) // 2)) // max(1, len(team))
    turns = places % FOLDS
    return runs if hidden(team, runs).mean() <= 2 * hidden(team, turns).mean() + 0.2 else turns


def hidden(team: NDArray[np.int64], folds: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether no other part holds a ticket of the same team."""
    size = int(team.max()) + 1
    inside = np.bincount(folds * size + team, minlength=(int(folds.max()) + 1) * size)
    return np.asarray(inside[folds * size + team] == np.bincount(team, minlength=size)[team])
