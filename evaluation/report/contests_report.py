"""The figures of `bench best-of-n` and of `bench duels`."""

from collections.abc import Mapping

from evaluation.measures.figures import Figures, Report


def best_of_n_report(
    figures: Mapping[str, Figures], config: Mapping[str, object], seconds: float
) -> Report:
    """What is taken as the headline; beside it what there was, and how pairs were ranked."""
    chosen = {name: of for name, of in figures.items() if name != "pairs"}
    return Report.model_validate(
        {
            "benchmark": "best-of-n",
            "overall": figures["taken"],
            "sets": {},
            "chosen": chosen,
            "pairs": {"better one ranked first": figures["pairs"]},
            "config": dict(config),
            "seconds": seconds,
            "mean_over": "tickets",
        }
    )


def duels_report(
    figures: Mapping[str, Figures], config: Mapping[str, object], seconds: float
) -> Report:
    """How often the drawing has the higher score, by what it was set against."""
    total = sum(of["n"] for of in figures.values())
    won = sum(of["n"] * of["right above"] for of in figures.values())
    overall = {"n": total, "right above": round(won / total, 1)} if total else {"n": 0.0}
    return Report.model_validate(
        {
            "benchmark": "duels",
            "overall": overall,
            "sets": {},
            "against": dict(figures),
            "config": dict(config),
            "seconds": seconds,
            "mean_over": "duels",
        }
    )
