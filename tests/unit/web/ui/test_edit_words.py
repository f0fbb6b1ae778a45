"""What a form of an edit says when it cannot be used."""

import re

import pytest

from services.kit.errors import InvalidInputError
from services.web.ui.files import FILES
from services.web.ui.ticket.work_forms import _parse_edit
from services.workflow.editing.edits import MOST_LINES

CHANGE = {"edit": "change", "step": "a", "text": "Look.", "commands": (), "notes": ()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"commands": ("x", "x" * 100_000)}, "the commands, line 2: at most "),
        ({"notes": ("x",) * (MOST_LINES + 1)}, f"the notes: at most {MOST_LINES} lines"),
        ({"text": "x" * 100_000}, "what to do: at most "),
    ],
)
def test_the_field_is_named_in_words(change, message):
    with pytest.raises(InvalidInputError) as refused:
        _parse_edit(CHANGE | change)
    assert str(refused.value).startswith(message)


def test_a_script_that_shows_a_refusals_words_asks_for_its_page():
    """Without it a refusal comes as JSON, and the script says "That did not work."."""
    script = FILES["work.js"].read_text(encoding="utf-8")
    (fetch_arguments,) = re.findall(r"await fetch\((.*)\);", script)
    assert 'accept: "text/html"' in fetch_arguments
