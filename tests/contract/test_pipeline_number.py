"""What documents become changes with a declared number, and never without it."""

import json
from copy import deepcopy

import pytest

from tests.contract.pipeline_output import COMMAND, FILE, changed, output


@pytest.fixture(scope="module")
def now():
    return output()


@pytest.mark.parametrize("kind", ["pipeline"])
def test_a_change_of_what_documents_become_is_declared(kind, now):
    wrong = changed(kind, json.loads(FILE.read_text(encoding="utf-8")), now)
    assert not wrong, wrong


@pytest.mark.parametrize("kind", ["pipeline"])
def test_what_is_wrong_is_told_with_what_to_do(kind, now):
    other = deepcopy(now)
    other[kind]["documents"]["wiki/fan-failure.md"] = "else"
    assert "raise it" in changed(kind, now, other)
    assert "wiki/fan-failure.md" in changed(kind, now, other)
    other[kind]["number"] = "next"
    assert changed(kind, now, other).endswith(f"run `{COMMAND}`")
    assert "raise it" not in changed(kind, now, other)
    assert changed(kind, now, now) == ""


def test_documents_of_every_form_are_among_them(now):
    endings = {name.rpartition(".")[2] for name in now["pipeline"]["documents"]}
    assert endings == {"docx", "html", "md", "pdf", "txt"}


def test_the_same_documents_become_the_same_again(now):
    assert output() == now
