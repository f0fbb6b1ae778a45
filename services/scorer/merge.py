"""Several parts' values of one dimension become one; `overall` stays the mean of the five."""

from collections.abc import Mapping

from services.contracts.scorer import DIMENSIONS, Dimension, Score
from services.scorer.judges.opinion import EVIDENCE, Opinion
from services.scorer.weights import Shares


def merged(evidence: Score, opinions: Mapping[str, Opinion], shares: Shares) -> Score:
    """The score with each part's own value shown; as it was where there is no other part.

    A part that is missing leaves its vote to the others in proportion. Where `shares` say nothing
    of a dimension, or only of parts that are missing, the evidence alone decides.
    """
    if not opinions:
        return evidence
    return Score(
        **{
            name: _merged(name, evidence.dimensions[name], opinions, shares.get(name, {}))
            for name in DIMENSIONS
        }
    )


def _merged(
    name: str,
    evidence: Dimension,
    opinions: Mapping[str, Opinion],
    shares: Mapping[str, float],
) -> Dimension:
    parts = {EVIDENCE: evidence.value} | {
        part: opinion.values[name] for part, opinion in opinions.items()
    }
    votes = {part: shares.get(part, 0.0) for part in parts}
    total = sum(votes.values())
    value = (
        sum(votes[part] * parts[part] for part in parts) / total if total > 0 else evidence.value
    )
    reasons = [opinion.reasons[name] for opinion in opinions.values() if opinion.reasons.get(name)]
    said = "".join(f" The judge: {reason}" for reason in reasons)
    return Dimension(
        value=min(5.0, max(1.0, value)), reason=f"{evidence.reason}{said}", parts=parts
    )
