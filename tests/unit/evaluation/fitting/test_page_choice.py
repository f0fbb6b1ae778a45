from evaluation.benches.logic.page_choice import ChoiceCase
from evaluation.fitting.page_choice import fit_choices
from services.tickets.page_choice.model_choice import ModelChoice


def case(page: str | None, stated: float, *, right: str = "a.md", hidden: bool = False, n: int = 0):
    chosen = ModelChoice(page=page, stated=stated, place=1 if page else 0)
    return ChoiceCase(chosen, "a.md", 0.5, right, hidden, is_fitted=n % 2 == 0)


CASES = [
    *(case("a.md", 0.95, n=n) for n in range(40)),
    *(case("b.md", 0.9, right="b.md", n=n) for n in range(20)),
    *(case("b.md", 0.4, n=n) for n in range(20)),
    *(case(None, 0.8, hidden=True, n=n) for n in range(20)),
    *(case("a.md", 0.3, hidden=True, n=n) for n in range(10)),
]


def test_a_choice_is_believed_as_far_as_it_was_right():
    fitted = fit_choices(CASES, "test")
    of = {
        name: fitted.chance_of(ModelChoice(page=page, stated=stated, place=1), "a.md", 0.5)
        for name, page, stated in (
            ("same", "a.md", 0.95),
            ("other", "b.md", 0.9),
            ("doubted", "b.md", 0.4),
            ("none", None, 0.8),
        )
    }
    assert of["same"] > of["doubted"]
    assert of["other"] > 0.7 > of["doubted"]
    assert of["none"] < 0.3
    assert of["same"] >= fitted.sure_from > of["doubted"]
    assert fitted.figures["unfitted"]["brier"] < fitted.figures["unfitted"]["brier of retrieval"]
