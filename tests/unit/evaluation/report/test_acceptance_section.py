from evaluation.measures.acceptance import Verdict, verdict_figures
from evaluation.measures.figures import Report
from evaluation.measures.first_acts import JudgedAct, act_figures
from evaluation.report.acceptance_section import acceptance_section
from evaluation.report.results_page import results_page


def acceptance() -> Report:
    verdict = Verdict(file="f.txt", verdict="accept", harm=False, recall=100, clear=4)
    act = JudgedAct(is_step=True, is_core=False, is_in_turn=True, changes=False)
    return Report.model_validate(
        {
            "benchmark": "acceptance",
            "overall": {},
            "sets": {"page": verdict_figures([verdict])},
            "first_acts": {"found": act_figures([[act]], [4])},
            "config": {},
            "seconds": 1,
        }
    )


def scorer() -> Report:
    return Report(benchmark="scorer", overall={"auc": 0.9}, sets={}, config={}, seconds=1)


def test_results_begin_with_what_an_engineer_would_follow():
    text = results_page([scorer(), acceptance()], "made").text
    assert text.startswith("# Results\n\n## What an engineer would follow")
    assert text.count("What an engineer would follow") == 1
    assert "| page | 1 | 1.00 (0.21 to 1.00) | 0.00 (0.00 to 0.79) | 0.00 | 100 | 4.0 |" in text


def test_first_acts_have_a_table_of_their_own():
    section = acceptance_section([acceptance()])
    assert section is not None
    assert "| found | 1 | 1.00 (1.00 to 1.00) | 0.00 (0.00 to 0.00) |" in section.text()


def test_without_verdicts_there_is_no_such_section():
    assert acceptance_section([scorer()]) is None
    assert "What an engineer would follow" not in results_page([scorer()], "made").text
