"""Pages are broken as they are said to be, and what is foretold knows nothing of later days."""

import json
import random
from datetime import UTC, datetime, timedelta

import pytest

from evaluation.benches.staleness import edits
from evaluation.benches.staleness.edits import AHEAD, cases_of, changes_in, foretell
from evaluation.benches.staleness.world import Break, break_pages, is_made_dead, sample_of

START = datetime(2020, 1, 1, tzinfo=UTC)
PAGE = "# Page {n}\n\nSee [other]({other}.md) of `edge-broker`.\n\n1. Run `show fan {n}`.\n"


@pytest.fixture
def corpus(tmp_path):
    for n in range(12):
        (tmp_path / f"{n}.md").write_text(PAGE.format(n=n, other=(n + 1) % 12))
    return tmp_path


def test_a_page_is_broken_by_what_the_others_do_and_stays_as_it_is(corpus):
    sample = sample_of(corpus)
    kinds = {each.kind for each in sample.broken}
    assert kinds <= set(Break)
    assert Break.NAME in kinds
    named = next(each for each in sample.broken if each.kind is Break.NAME)
    before = (corpus / named.page).read_text()
    break_pages(sample, corpus)
    assert (corpus / named.page).read_text() == before
    assert not any("edge-broker" in (corpus / other).read_text() for other in named.others)
    assert not {each.page for each in sample.broken} & set(sample.others)


def test_a_link_to_a_page_that_was_moved_away_is_dead_for_every_page(corpus):
    for path in corpus.iterdir():  # no name: links are what is left to break
        path.write_text(path.read_text().replace("edge-broker", "edge"))
    sample = sample_of(corpus)
    link = next(each for each in sample.broken if each.kind is Break.LINK)
    assert is_made_dead(sample, "elsewhere.md", f"{link.others[0]}#top")
    break_pages(sample, corpus)
    assert not (corpus / link.others[0]).exists()


def row(page, day, *, review=False, size=2):
    at = START + timedelta(days=day)
    return {
        "page": page,
        "date": at.isoformat(),
        "added": size,
        "removed": 0,
        "review_date_only": review,
        "diff": "+[a](b.md)",
    }


def test_the_signs_of_a_day_are_the_same_whatever_comes_later(tmp_path):
    early = [row("a", 0), row("b", 1), row("a", 300), row("b", 310, review=True)]
    late = [row("a", 500), row("b", 520, size=90), row("a", 900)]
    file = tmp_path / "changes.jsonl"
    signs = []
    for rows in ([*early, row("a", 900)], [*early, *late]):
        file.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
        cases = cases_of(changes_in(file))
        signs.append([(c.page, c.signs) for c in cases if c.day < START + timedelta(days=500)])
    assert signs[0] == signs[1]
    first = next(each for each in cases if each.page == "a" and each.day > START + AHEAD)
    assert first.is_edited == any(
        first.day <= START + timedelta(days=day) < first.day + AHEAD for day in (300, 500, 900)
    )


def test_first_texts_and_review_dates_are_no_edits(tmp_path):
    file = tmp_path / "changes.jsonl"
    rows = [row("a", 0), row("a", 5, review=True), row("a", 9)]
    file.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    assert [each.is_edit for each in changes_in(file)] == [False, False, True]


def test_every_figure_has_its_interval(tmp_path, monkeypatch):
    monkeypatch.setattr(edits, "_DRAWS", 100)
    draw = random.Random(1)
    rows = [row(f"p{n}", 0) for n in range(12)]
    rows += [row(f"p{draw.randrange(12)}", draw.randrange(1, 1500)) for _ in range(150)]
    file = tmp_path / "changes.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    report = foretell(file, seed=0)
    assert set(report.sets) == {"base rate", "days since the last change", "log of changes"}
    for figures in report.sets.values():
        assert figures["auc_low"] <= figures["auc"] <= figures["auc_high"]
        assert figures["brier_low"] <= figures["brier"] <= figures["brier_high"]
