"""What was composed against what is right: components, their order, values, what stands where."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from evaluation.material.composing.instructions import Again, Arms, Call, Tree, calls_of, skeleton
from services.planner.composing.secrets import is_placeholder, without_secrets

Hashed = Mapping[str, str]
"""Values of a call without a word of them: the hash of the name to that of name and value."""


@dataclass(frozen=True)
class Composed:
    """What came of an instruction, without a word of it but the names of components."""

    tree: Tree
    """Calls without values."""
    values: tuple[Hashed, ...]
    """Of each call."""
    open_questions: int = 0
    """Number of questions that are open."""


@dataclass(frozen=True)
class Score:
    """Of one instruction; shares from 0 to 1."""

    exact: float
    """EMR: components in their order and all values are equal."""
    sequence: float
    """AA: the components are equal, in their order."""
    structure: float
    """The components are equal, and what each stands under."""
    equal: int
    """Values that are equal."""
    values: int
    """Values of either side: what is missing and what is too much counts against it."""

    def figures(self) -> dict[str, float]:
        """In percent, values apart."""
        return {
            "exact": 100 * self.exact,
            "sequence": 100 * self.sequence,
            "structure": 100 * self.structure,
        }


def composed(tree: Tree, open_questions: int = 0) -> Composed:
    """A tree with values as what is kept and measured of it."""
    return Composed(
        tuple(_bare(tree)),
        tuple(hashed(call.parameters) for call in calls_of(tree)),
        open_questions,
    )


def hashed(parameters: Mapping[str, str]) -> dict[str, str]:
    """Values that are the same whatever case, blanks and quotes they are written with."""
    return {_hash(name): _hash(f"{name}={normal(value)}") for name, value in parameters.items()}


def normal(value: str) -> str:
    """A value as it is compared; what nobody may write down is a placeholder on both sides."""
    text = without_secrets(" ".join(value.split())).strip("\"'").casefold()
    if is_placeholder(text):
        return "<placeholder>"
    try:
        return str(Decimal(text).normalize())
    except InvalidOperation:
        return text


def score(composition: Composed | None, accepted: Sequence[Tree]) -> Score:
    """Against the accepted one that it is nearest to; nothing scores nothing."""
    return max((_against(composition, each) for each in accepted), key=_rank)


def pooled(scores: Iterable[Score]) -> dict[str, float]:
    """Means in percent, values over all of them together."""
    all_scores = list(scores)
    if not all_scores:
        return {}
    equal, values = sum(each.equal for each in all_scores), sum(each.values for each in all_scores)
    mean = {
        name: sum(each.figures()[name] for each in all_scores) / len(all_scores)
        for name in ("exact", "sequence", "structure")
    }
    return mean | ({"values": 100 * equal / values} if values else {})


def _against(composition: Composed | None, right: Tree) -> Score:
    gold = composed(right)
    wanted = [call.component for call in calls_of(right)]
    components = [call.component for call in calls_of(composition.tree)] if composition else []
    pairs = _paired(components, composition.values if composition else (), wanted, gold.values)
    equal = sum(len(set(a.values()) & set(b.values())) for a, b in pairs)
    values = sum(len(a.keys() | b.keys()) for a, b in pairs)
    same = composition is not None and components == wanted
    return Score(
        exact=float(same and equal == values),
        sequence=float(same),
        structure=float(composition is not None and skeleton(composition.tree) == skeleton(right)),
        equal=equal,
        values=values,
    )


def _paired(
    components: Sequence[str],
    values: Sequence[Hashed],
    wanted: Sequence[str],
    right: Sequence[Hashed],
) -> list[tuple[Hashed, Hashed]]:
    """Calls of the same component in their order; one without a partner stands beside nothing."""
    left = list(zip(components, values, strict=True))
    pairs: list[tuple[Hashed, Hashed]] = []
    for name, of in zip(wanted, right, strict=True):
        place = next((n for n, (each, _) in enumerate(left) if each == name), None)
        pairs.append(({} if place is None else left.pop(place)[1], of))
    return pairs + [(of, {}) for _, of in left]


def _rank(each: Score) -> tuple[float, float, float, int]:
    return each.exact, each.structure, each.sequence, each.equal


def _bare(tree: Tree) -> list[Call | Arms | Again]:
    made: list[Call | Arms | Again] = []
    for each in tree:
        match each:
            case Call():
                made.append(Call(each.component))
            case Arms():
                other = None if each.otherwise is None else tuple(_bare(each.otherwise))
                made.append(Arms(tuple(tuple(_bare(body)) for body in each.bodies), other))
            case Again():
                made.append(Again(tuple(_bare(each.body))))
    return made


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
