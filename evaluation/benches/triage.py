"""How often the right team is named, beside TF-IDF with logistic regression, and without parts."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from evaluation.measures.bootstrap import intervals
from evaluation.measures.figures import Figures, Report
from evaluation.measures.telling_apart import calibration_error
from services.kit.errors import InvalidInputError
from services.kit.files import read_json_lines
from services.knowledge.model import Case
from services.knowledge.ports import Embedder, Vectors
from services.tickets.ticket.noise_reduction import reduce_noise
from services.tickets.triage.choice import RoutingLimits, choose_by_ranker
from services.tickets.triage.routing.cases import case_of
from services.tickets.triage.routing.router import RoutingModel

_WEIGHT_OF_ERRORS = 10.0
"""The regression's C; of 1 and 10 the better on parts of training sets."""
_MASK = "<name>"
_EARLIER = 0.7
_DRAWS = 200
"""Outcomes that are drawn for the calibration error of chances that are right."""


class NoLabelError(InvalidInputError):
    """A row has no text, or nothing in the field that says whose it is."""


@dataclass(frozen=True)
class TriageOutcome:
    """The prediction for one row, and whether it was right."""

    is_first: bool
    is_among_three: bool
    chance: float
    is_abstained: bool
    seconds: float


class Remembering:
    """An embedder that embeds a text once; the first to ask pays."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}
        self.model_name = embedder.model_name
        self.dimensions = embedder.dimensions
        self.max_tokens = embedder.max_tokens

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder.embed`."""
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        return np.stack([self._vectors[text] for text in texts])

    def count_tokens(self, text: str) -> int:
        """See `Embedder.count_tokens`."""
        return self._embedder.count_tokens(text)


def read_cases(path: Path, label: str) -> list[Case]:
    """Rows of `text` and a label, in the order of the file; blank lines are left out.

    Raises:
        NoLabelError: A row lacks one of the two.
    """
    rows = read_json_lines(path, dict[str, object])
    return [_case(row, label, place, number) for number, (place, row) in enumerate(rows, 1)]


def _case(row: dict[str, object], label: str, place: str, number: int) -> Case:
    text, team = row.get("text"), row.get(label)
    if not isinstance(text, str) or not team:
        raise NoLabelError(f"{place}: expected `text` and `{label}`")
    return case_of(str(number), text, str(team), float(number))


def masked(cases: Iterable[Case], names: Iterable[str]) -> list[Case]:
    """The cases without the names of teams in their texts, whole words of any case."""
    longest_first = sorted(set(names), key=len, reverse=True)
    pattern = re.compile(
        rf"(?<![^\W_])(?:{'|'.join(map(re.escape, longest_first))})(?![^\W_])", re.IGNORECASE
    )
    return [_reworded(case, pattern.sub(_MASK, case.text)) for case in cases]


def _reworded(case: Case, text: str) -> Case:
    return case_of(case.id, text, case.team, case.at)


def run(
    train: Sequence[Case],
    test: Sequence[Case],
    embedder: Embedder,
    limits: RoutingLimits,
    *,
    config: dict[str, object],
    advance: Callable[[], None] = lambda: None,
) -> Report:
    """All ways over the same rows; the platform's own comes first, so that it pays for vectors."""
    started, caching_embedder = time.perf_counter(), Remembering(embedder)
    caching_embedder.embed(["warm"])
    short = [_reworded(case, reduce_noise("", case.text)) for case in train]
    router = RoutingModel(short, (), caching_embedder)
    once = replace(limits, rounds=1)
    ways: dict[str, Callable[[], list[TriageOutcome]]] = {
        "triage": lambda: _tell(router, test, limits, reduce_noise),
        "one round": lambda: _tell(router, test, once, reduce_noise),
        "without graph": lambda: _tell(
            RoutingModel(short, (), caching_embedder, with_graph=False), test, limits, reduce_noise
        ),
        "without noise reduction": lambda: _tell(
            RoutingModel(train, (), caching_embedder), test, limits, lambda _, text: text
        ),
        "TF-IDF and logistic regression": lambda: _baseline(train, test, limits),
    }
    rows = {}
    for name, tell in ways.items():
        rows[name] = _figures(tell())
        advance()
    seen = {case.team for case in train}
    facts: dict[str, object] = {
        "train": len(train),
        "test": len(test),
        "teams": len(seen),
        "test_of_teams_not_in_train": sum(case.team not in seen for case in test),
    }
    return Report(
        benchmark="triage",
        overall={name: value for name, value in rows["triage"].items() if name != "n"},
        sets=rows,
        config={**config, **facts},
        seconds=round(time.perf_counter() - started, 1),
        mean_over="triage",
    )


def by_outcomes(
    cases: Sequence[Case], embedder: Embedder, limits: RoutingLimits, sizes: Iterable[int]
) -> dict[str, Figures]:
    """The last three in ten, learned from so many tickets right before them, with intervals."""
    cut = int(len(cases) * _EARLIER)
    train, test = cases[:cut], cases[cut:]
    short = [_reworded(case, reduce_noise("", case.text)) for case in train]
    caching_embedder, figures = Remembering(embedder), {}
    for size in sizes:
        router = RoutingModel(short[-size:], (), caching_embedder)
        outcomes = _tell(router, test, limits, reduce_noise)
        (usual, _), *_ = Counter(case.team for case in train[-size:]).most_common(1)
        rows = np.array(
            [[each.is_first, case.team == usual] for each, case in zip(outcomes, test, strict=True)]
        )
        first, most = intervals([rows.astype(float)], 0)
        figures[f"triage, {size}"] = {
            "n": float(len(test)),
            "acc1": first.mean,
            "from": first.low,
            "to": first.high,
            "acc1 of the commonest": most.mean,
            "ece": calibration_error((each.chance, each.is_first) for each in outcomes),
        }
    return figures


def _tell(
    router: RoutingModel,
    test: Sequence[Case],
    limits: RoutingLimits,
    summarise: Callable[[str, str], str],
) -> list[TriageOutcome]:
    outcomes = []
    for case in test:
        started = time.perf_counter()
        chosen = choose_by_ranker(router, summarise("", case.text), case.text, limits)
        seconds = time.perf_counter() - started
        names = [team.team for team in chosen.teams]
        outcomes.append(
            TriageOutcome(
                names[:1] == [case.team],
                case.team in names[:3],
                chosen.teams[0].chance if chosen.teams else 0.0,
                chosen.is_abstained,
                seconds,
            )
        )
    return outcomes


def _baseline(
    train: Sequence[Case], test: Sequence[Case], limits: RoutingLimits
) -> list[TriageOutcome]:
    model = make_pipeline(
        TfidfVectorizer(sublinear_tf=True),
        LogisticRegression(C=_WEIGHT_OF_ERRORS, max_iter=1000),
    )
    model.fit([case.text for case in train], [case.team for case in train])
    chances = model.predict_proba([case.text for case in test])
    names = model.classes_[np.argsort(-chances, axis=1)[:, :3]]
    return [
        TriageOutcome(
            first[0] == case.team, case.team in first, top, top < limits.abstain_below, 0.0
        )
        for case, first, top in zip(test, names, chances.max(axis=1).tolist(), strict=True)
    ]


def _figures(outcomes: Sequence[TriageOutcome]) -> Figures:
    kept = [each for each in outcomes if not each.is_abstained]
    seconds = sorted(each.seconds for each in outcomes)
    return {
        "n": float(len(outcomes)),
        "acc1": _share(each.is_first for each in outcomes),
        "acc3": _share(each.is_among_three for each in outcomes),
        "ece": calibration_error((each.chance, each.is_first) for each in outcomes),
        "ece_by_chance": _error_by_chance([each.chance for each in outcomes]),
        "abstained": _share(each.is_abstained for each in outcomes),
        "acc1_of_the_others": _share(each.is_first for each in kept),
        "ms_median": round(1000 * seconds[len(seconds) // 2], 1),
        "ms_p95": round(1000 * seconds[int(0.95 * (len(seconds) - 1))], 1),
    }


def _error_by_chance(chances: Sequence[float]) -> float:
    """The calibration error that these chances would show on the mean if all of them were right.

    The fewer the rows, the larger: bins of few rows are off by chance.
    """
    drawn = np.random.default_rng(0).random((_DRAWS, len(chances))) < np.array(chances)
    errors = [calibration_error(zip(chances, row.tolist(), strict=True)) for row in drawn]
    return round(float(np.mean(errors)), 4)


def _share(flags: Iterable[bool]) -> float:
    counted = list(flags)
    return round(sum(counted) / len(counted), 4) if counted else 0.0
