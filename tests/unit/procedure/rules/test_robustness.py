"""Whatever a page looks like, it is read in bounded time and never fails."""

import time

import pytest

from services.procedure.checking.check import checked
from services.procedure.lowering import lower
from services.procedure.rules import read_by_rules

BAD = {
    "nothing": "",
    "dots": "1. ...\n2. ...\n",
    "deep list": "".join(f"{'  ' * n}- Restart pump {n}.\n" for n in range(12)),
    "large table": "| Symptom | Action |\n|---|---|\n"
    + "".join(f"| Pump {n} is dead | Swap pump {n} |\n" for n in range(1000)),
    "circular jumps": "1. Go to step 2.\n2. If it is dead, go to step 1.\n3. Go to step 3.\n",
    "many gates": "If it is up, proceed to the next step.\n\n" * 400 + "Stop it.",
    "otherwise": "If x is up, stop it. " + "Otherwise, if y is up, stop it. " * 200,
    "only if": "if " * 5000,
    "commas": "If " + "a, " * 5000 + "stop it.",
    "brackets": "[" * 2000 + "](" * 2000,
    "one sentence": "the pump that " * 5000,
    "quotes": ">" * 400 + " Stop it",
    "control characters": "\x00\x01 # a\r\n- \r\n",
    "headings": "".join(
        f"{'#' * (n % 6 + 1)} Failure {n}\n\nStop pump {n}.\n\n" for n in range(300)
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_page_is_read(name):
    began = time.monotonic()
    found = checked(read_by_rules(BAD[name]), BAD[name]).reading
    for procedure in found.procedures:
        lower(procedure, "pump.md")
    assert time.monotonic() - began < 10


def test_a_page_of_twenty_thousand_lines_is_read():
    text = "".join(f"{n}. If pump {n} is dead, swap pump {n}.\n" for n in range(20_000))
    assert read_by_rules(text).procedures


@pytest.mark.parametrize(
    "text",
    ["# Obst\n\nÄpfel sind rot.\n", "# Fruit\n\nApples are red.\n", "# 障害\n\n再起動します。\n"],
)
def test_a_page_without_instructions_tells_no_procedure(text):
    assert read_by_rules(text).procedures == ()
