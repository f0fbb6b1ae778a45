"""Shares with their intervals."""

from scipy.stats import binomtest

from evaluation.measures.figures import Figures


def wilson(name: str, count: int, n: int) -> Figures:
    """Return a share and Wilson's 95 % interval of it; nothing of nothing."""
    if not n:
        return {}
    interval = binomtest(count, n).proportion_ci(method="wilson")
    return {
        name: round(count / n, 3),
        f"{name} from": round(float(interval.low), 3),
        f"{name} to": round(float(interval.high), 3),
    }
