"""What makes the code hard to read does not come back."""

import pytest

from tests.contract import house_counts

MOST = {
    "functions_per_1000_lines": 56.4,
    "short_called_once": 81,
    "files_with_one_importer": 202,
    "class_names_in_two_rooms": 0,
    "banned_names_services": 0,
    "banned_names_elsewhere": 0,
    "fragment_docstrings": 0,
    "caches": 15,
    "calls_of_screening": 26,
}
"""What was reached; a figure may only fall."""


@pytest.fixture(scope="module")
def house() -> house_counts.House:
    return house_counts.House(house_counts.ROOT)


def test_no_measure_rises(house):
    figures = house.figures()
    risen = {name: figures[name] for name, most in MOST.items() if figures[name] > most}
    assert risen == {}, "tests/contract/house_counts.py --list MEASURE"


def test_no_name_is_excused_that_is_not_there(house):
    modules = house.modules
    defined = {name for module in modules for name, _ in module.definitions}
    assert defined >= house_counts.WIRE
    classes = {
        each.name for module in modules for each in module.docstrings if each.kind == "class"
    }
    assert classes >= house_counts.PROMPT_DOCSTRINGS
