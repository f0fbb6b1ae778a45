import pytest

from services.knowledge.page.alternatives import alternatives
from services.knowledge.page.parsing import parse_page


def options(text: str) -> list[list[str]]:
    return [[item.text for item in items] for _, items in alternatives(parse_page(text))]


@pytest.mark.parametrize(
    ("lead", "items"),
    [
        ("Empty the tank:", ["open the valve, or", "start the pump"]),
        ("Empty the tank:", ["open the valve;", "start the pump; or", "use a bucket"]),
        ("Empty the tank:", ["open the valve", "OR start the pump"]),
        ("Den Tank leeren:", ["das Ventil öffnen oder", "die Pumpe starten"]),
        ("Vider la cuve :", ["ouvrir la vanne, ou", "démarrer la pompe"]),
        ("タンクを空にします：", ["バルブを開ける", "または、ポンプを起動する"]),
    ],
)
def test_items_that_or_joins_are_to_be_chosen_from(lead, items):
    told = "\n".join(f"- {item}" for item in items)
    assert options(f"{lead}\n\n{told}\n") == [items]


@pytest.mark.parametrize(
    "text",
    [
        "Empty the tank:\n\n- open the valve\n- start the pump\n",
        "Empty the tank.\n\n- open the valve, or\n- start the pump\n",
        "Empty the tank:\n\n- open the valve or the lid\n- start the pump\n",
        "Empty the tank:\n\n- open the door\n- start the motor\n",
        "Empty the tank:\n\n- read the logs, or not\n- organise help\n",
        "- open the valve, or\n- start the pump\n",
    ],
)
def test_other_lists_are_none(text):
    assert options(text) == []


def test_one_in_an_item_is_led_by_the_item():
    page = parse_page(
        "1. Empty the tank:\n   - open the valve, or\n   - start the pump\n2. Leave.\n"
    )
    ((lead, items),) = alternatives(page)
    assert lead.number == "1."
    assert len(items) == 2
