import pytest

from evaluation.measures.acceptance import Verdict, verdict_figures


def verdict(word: str, *, harm: bool = False) -> Verdict:
    return Verdict.model_validate(
        {"file": "f.txt", "verdict": word, "harm": harm, "recall": 90, "clear": 4}
    )


def test_shares_have_the_interval_of_wilson():
    figures = verdict_figures([verdict("accept")] * 27 + [verdict("reject", harm=True)])
    assert figures["accept"] == 0.964
    assert figures["accept from"] == pytest.approx(0.823, abs=0.001)
    assert figures["accept to"] == pytest.approx(0.994, abs=0.001)
    assert (figures["harm"], figures["reject"]) == (0.036, 0.036)
    assert (figures["key steps"], figures["clear"]) == (90, 4)


def test_to_edit_is_neither_to_accept_nor_to_reject():
    figures = verdict_figures([verdict("edit")])
    assert (figures["accept"], figures["reject"]) == (0, 0)


def test_without_verdicts_there_are_no_figures():
    assert verdict_figures([]) == {}
