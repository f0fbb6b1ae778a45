import json
import shutil
from pathlib import Path

import pytest

from training.adapting.adapters import AdapterKind, AdapterRecipe, SftRecipe, train_adapter
from training.adapting.lessons import judge_lessons, reader_lessons
from training.adapting.material import read_material
from training.cards import read_card
from training.errors import SharedPagesError, UnusableMaterialError
from training.recipes import DpoRecipe

EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture(scope="module")
def material(tmp_path_factory):
    """Three pages of the examples."""
    folder = tmp_path_factory.mktemp("material")
    rows = (EXAMPLES / "readings.jsonl").read_text("utf-8").splitlines()
    kept = [row for row in rows if json.loads(row)["document"].endswith(".md")][:3]
    (folder / "readings.jsonl").write_text("\n".join(kept) + "\n", encoding="utf-8")
    for row in kept:
        path = folder / "documents" / json.loads(row)["document"]
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(EXAMPLES / "documents" / json.loads(row)["document"], path)
    return folder


def test_a_reader_is_asked_as_the_product_asks_and_answers_what_was_approved(material):
    loaded = read_material(material)
    assert len(loaded.pages) == 3
    for page, lesson in zip(loaded.pages, reader_lessons(loaded.pages), strict=True):
        assert f"1 | {page.text.splitlines()[0]}" in lesson.messages[-1].content
        programs = json.loads(lesson.right)["procedures"]
        assert [each["title"] for each in programs] == [p.title for p in page.reading.procedures]
        assert '"commands"' not in lesson.right


def test_a_judges_right_answer_does_not_hang_on_the_letter(material):
    lessons = list(judge_lessons(read_material(material).pages, label="x"))
    assert len(lessons) > 10
    assert len(lessons) % 2 == 0
    for one, other in zip(lessons[::2], lessons[1::2], strict=True):
        assert _option(one) == _option(other)
        assert one.right != other.right
        assert one.wrong != one.right


def _option(lesson):
    letter = json.loads(lesson.right)["answer"]
    return next(
        line.removeprefix(f"{letter}. ")
        for line in lesson.messages[-1].content.splitlines()
        if line.startswith(f"{letter}. ")
    )


def test_what_was_corrected_is_the_worse_one_of_a_pair(material, tmp_path):
    shutil.copytree(material, tmp_path, dirs_exist_ok=True)
    rows = (tmp_path / "readings.jsonl").read_text("utf-8").splitlines()
    before = json.loads(rows[0])
    before["reading"]["procedures"][0]["title"] = "Something else"
    (tmp_path / "corrected.jsonl").write_text(json.dumps(before) + "\n", encoding="utf-8")
    lessons = list(reader_lessons(read_material(tmp_path).pages))
    assert [bool(each.wrong) for each in lessons] == [True, False, False]
    assert "Something else" in lessons[0].wrong


def test_readings_that_nobody_approved_are_left_out_and_counted(material, tmp_path):
    shutil.copytree(material, tmp_path, dirs_exist_ok=True)
    text = (tmp_path / "readings.jsonl").read_text("utf-8")
    (tmp_path / "readings.jsonl").write_text(
        text.replace('"state": "approved"', '"state": "read"', 1), encoding="utf-8"
    )
    loaded = read_material(tmp_path)
    assert (len(loaded.pages), loaded.not_approved) == (2, 1)
    (tmp_path / "readings.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(UnusableMaterialError, match="line 1: no reading as exported"):
        read_material(tmp_path)


@pytest.mark.slow
def test_a_judge_is_trained_with_a_card_and_goes_on(untrained, material, tmp_path):
    recipe = AdapterRecipe(
        sft=SftRecipe(batch=4, epochs=1, most_tokens=120, learning_rate=1e-3),
        dpo=DpoRecipe(batch=4, most_tokens=120, learning_rate=1e-3),
    )
    with pytest.raises(SharedPagesError, match="3 pages"):
        _judge(material, untrained, tmp_path / "x", recipe, test=material / "documents")
    with pytest.raises(UnusableMaterialError, match="raise --most-tokens"):
        _judge(material, untrained, tmp_path / "x", recipe)
    longer = AdapterRecipe(
        sft=recipe.sft.model_copy(update={"most_tokens": 2000}),
        dpo=recipe.dpo.model_copy(update={"most_tokens": 2000}),
    )
    corrected = _corrected(material, tmp_path / "corrected")
    card = _judge(corrected, untrained, tmp_path / "run", longer)
    assert card == read_card(tmp_path / "run" / "adapter")
    assert card.counts["pages"] == 3
    assert card.counts["pairs"] > 0
    right = [value for name, value in card.figures.items() if name.startswith("log-probability")]
    assert right[1] > right[0]
    assert "| on pages that it did not learn | not measured |" in (
        tmp_path / "run" / "adapter" / "CARD.md"
    ).read_text("utf-8")


def _corrected(material, folder):
    """The material with what it was corrected from: nothing hung on a condition there."""
    shutil.copytree(material, folder)
    rows = map(json.loads, (folder / "readings.jsonl").read_text("utf-8").splitlines())
    before = []
    for row in rows:
        procedures = [
            each | {"steps": [step for one in each["steps"] for step in _without_guards(one)]}
            for each in row["reading"]["procedures"]
        ]
        reading = row["reading"] | {"procedures": procedures}
        before.append(json.dumps(row | {"reading": reading}))
    (folder / "corrected.jsonl").write_text("\n".join(before) + "\n", encoding="utf-8")
    return folder


def _without_guards(step):
    if "choice" not in step:
        return [step]
    return [below for arm in step["arms"] for below in arm.get("steps", ()) if "do" in below]


def _judge(material, base, out, recipe, test=None):
    return train_adapter(
        AdapterKind.JUDGE, material, base, out, recipe, test=test, licence="Apache-2.0"
    )
