import random

import pytest

from evaluation.perturbations.wording import reword


@pytest.mark.parametrize(
    ("text", "others"),
    [
        ("Restart the pod", {"Carry out a restart of the pod", "Perform a restart of the pod"}),
        ("Carry out a restart of the pod", {"Restart the pod"}),
        ("Check that it is up", {"Verify that it is up", "Confirm that it is up",
                                 "Make sure that it is up"}),
        ("Find logs", {"Locate logs"}),
        ("Verify the fan is on", {"Check the fan is on", "Inspect the fan is on",
                                  "Examine the fan is on"}),
        ("Fails due to heat", {"Fails because of heat", "Fails owing to heat"}),
    ],
)  # fmt: skip
def test_words_of_the_same_meaning_stand_in(text: str, others: set[str]) -> None:
    seen = {reword(text, random.Random(seed)) for seed in range(40)}

    assert seen <= others
    assert seen


@pytest.mark.parametrize(
    "text",
    [
        "Look at `check fan` first",
        "Edit /etc/check/run",
        "Pass --use-check",
        "The health check ran",
    ],
)
def test_code_paths_and_nouns_stay_as_written(text: str) -> None:
    kept = [word for word in text.split() if "check" in word or "run" in word]

    for seed in range(20):
        reworded = reword(text, random.Random(seed))
        assert all(word in reworded for word in kept)


@pytest.mark.parametrize("text", ["x509 error", "Healthy?", "Restart it", "光模块"])
def test_a_text_always_changes(text: str) -> None:
    for seed in range(20):
        assert reword(text, random.Random(seed)) != text


def test_a_blank_text_stays_blank() -> None:
    assert reword("  ", random.Random(0)) == "  "


def test_the_same_seed_gives_the_same_words() -> None:
    text = "Check that the issue is gone, then restart the pod again"

    assert reword(text, random.Random(3)) == reword(text, random.Random(3))
