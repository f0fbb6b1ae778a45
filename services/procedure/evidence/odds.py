"""Chances as log-odds, in which what speaks for and against adds up."""

import math


def log_odds(chance: float, *, nearest: float) -> float:
    """Of a chance that is taken to be no nearer than that to 0 and to 1."""
    bounded = min(1 - nearest, max(nearest, chance))
    return math.log(bounded / (1 - bounded))


def chance_of(odds: float) -> float:
    """0–1, of log-odds."""
    return 1 / (1 + math.exp(-odds))
