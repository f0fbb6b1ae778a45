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
    listing = "\n".join(f"- {item}" for item in items)
    assert options(f"{lead}\n\n{listing}\n") == [items]


@pytest.mark.parametrize(
    "lead",
    [
        "Restart one of the following services:",
        "Use one of these methods:",
        "Do one of these:",
        "Choose one of the following options:",
        "Choose one:",
        "The tank is full. Select either of these options to go on:",
        "If the tank is full, do one of the following:",
        "To empty the tank, either:",
        "You can either:",
        "To empty the tank you can try one of the following approaches:",
        "You can empty the tank by doing one of the following:",
        "Empty the tank using one of the following methods:",
        "Either of the following options can be used:",
        "Wählen Sie eine der folgenden Optionen:",
        "Führen Sie einen der folgenden Schritte aus:",
        "Elija una de las siguientes opciones:",
        "Haga una de estas cosas:",
        "Choisissez l’une des options suivantes :",
        "Effectuez l'une de ces opérations :",
        "Escolha uma das seguintes opções:",
        "Faça um dos seguintes:",
    ],
)
def test_a_lead_may_ask_for_one_item(lead):
    items = ["open the valve", "start the pump"]
    assert options(f"{lead}\n\n1. {items[0]}\n2. {items[1]}\n") == [items]


@pytest.mark.parametrize(
    "lead",
    [
        "This happens for one of the following reasons:",
        "Fix one of the following causes:",
        "The tank is in one of these states:",
        "The lamp is either:",
        "Check that the pump has one of the following seals:",
        "Look for one of the following lamps:",
        "Do one or more of the following:",
        "Do at least one of the following:",
        "Choose one of these. Then do all of the following:",
        "This command takes one of the following values:",
        "Wait until one of the following things happens:",
        "You may see one of the following messages:",
        "Make sure that you use one of the following methods:",
        "Dies hat eine der folgenden Ursachen:",
        "Esto se debe a una de las siguientes causas:",
        "Cela a l’une des causes suivantes :",
        "Isto tem uma das seguintes causas:",
    ],
)
def test_a_lead_that_says_what_is_so_asks_for_none(lead):
    assert options(f"{lead}\n\n- the valve\n- the pump\n") == []


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
