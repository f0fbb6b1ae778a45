import pytest

from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.kinds.tasks import tasks_of
from services.knowledge.page.parsing import parse_page
from services.runbook.checklist.opening import open_sections
from services.runbook.checklist.sections import closed_headings


def section(title: str) -> str:
    return (
        f"## {title}\n\nNeeded now and then.\n\n1. Look at the gauge:\n\n"
        "   ```bash\n   gauge read 3\n   ```\n\n2. Open the valve by hand.\n\n"
    )


ALERTS = "# Hall 2\n\n" + "".join(
    map(section, ["Prerequisites", "PumpStopped", "`TankLevelHigh`: the tank runs over", "LidOpen"])
)
GERMAN = "# Halle 2\n\n" + "".join(
    map(section, ["Pumpe steht still", "Behälter läuft über", "Deckel nicht zu", "Escalation"])
)
ONE = "# Pump\n\n" + section("Diagnosis") + section("Mitigation") + section("Verification")


def opened(text, *, names=(), anchor="", near=None):
    page = parse_page(text)
    lines = {
        section.start_line: (near or {}).get(section.path[-1].split(":")[0], 0.0)
        for section in page.sections()
        if section.heading
    }
    keys = open_sections(
        page, tasks_of(page, find_boxes(page)), alert_names=names, anchor=anchor, lines=lines
    )
    titles = {block.key: block.text for block in page.blocks}
    return [titles[key] for key in keys]


LEVEL = "TankLevelHigh: the tank runs over"


@pytest.mark.parametrize("name", ["PumpStopped", "pump_stopped", "PUMP-STOPPED"])
def test_a_heading_that_is_the_alerts_name_decides(name):
    near = {"LidOpen": 5.0}
    assert opened(ALERTS, names=[name], near=near) == ["PumpStopped", "Prerequisites"]


def test_a_name_before_other_words_decides():
    assert opened(ALERTS, names=["TankLevelHigh"]) == [LEVEL, "Prerequisites"]


def test_each_alert_of_a_group_opens_its_section():
    names = ["LidOpen", "PumpStopped"]
    assert opened(ALERTS, names=names) == ["PumpStopped", "LidOpen", "Prerequisites"]


def test_a_word_of_the_name_decides_nothing():
    assert opened(ALERTS, names=["Pump", "Stopped", ""]) == []


def test_the_anchor_of_a_runbook_decides_where_no_heading_is_named():
    assert opened(ALERTS, names=["Other"], anchor="lidopen") == ["LidOpen", "Prerequisites"]
    assert opened(ALERTS, names=["PumpStopped"], anchor="lidopen")[0] == "PumpStopped"


def test_an_anchor_that_leads_nowhere_decides_nothing():
    near = {"LidOpen": 2.0}
    assert opened(ALERTS, anchor="gone", near=near) == ["LidOpen", "Prerequisites"]


GROUPED = "# Halls\n\n" + "".join(
    f"## {hall}\n\n" + "".join(section(title).replace("## ", "### ") for title in titles)
    for hall, titles in {
        "Hall 1": ["Alert: PumpStopped", "Alert: LidOpen"],
        "Hall 2": ["3. ResolverStopped (critical)", "TankLevelHigh – it runs over"],
    }.items()
)


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("LidOpen", "Alert: LidOpen"),
        ("ResolverStopped", "3. ResolverStopped (critical)"),
        ("TankLevelHigh", "TankLevelHigh – it runs over"),
    ],
)
def test_alerts_are_beside_each_other_wherever_they_are_grouped(name, title):
    assert opened(GROUPED, names=[name]) == [title]
    page = parse_page(GROUPED)
    titles = {block.key: block.text for block in page.blocks}
    wanted = [key for key, text in titles.items() if text == title]
    boxes = {box.block.key for box in find_boxes(page)}
    closed = {titles[key] for key in closed_headings(page, wanted, boxes)}
    alerts = {text for text in titles.values() if ": " in text or "(" in text or "–" in text}
    assert closed == alerts - {title}


def alert_section(name):
    """A section whose first line names an alert."""
    return section(f"When {name[:4]} is bad").replace("Needed now", f"`{name}` fires: needed now")


def test_the_only_section_whose_first_line_names_the_alert_stands_open():
    page = "# Hall 2\n\n" + "".join(map(alert_section, ["PumpStopped", "LidOpen", "TankHigh"]))
    assert opened(page, names=["LidOpen"]) == ["When LidO is bad"]


@pytest.mark.parametrize(
    "meaning", ["What is wrong", "Qué significa", "どういうこと", "What `PumpStopped` says"]
)
def test_a_section_that_tells_what_the_pages_own_alert_means_closes_no_other(meaning):
    means = f"## {meaning}\n\n`PumpStopped` fires when the loop stands still.\n\n"
    rest = section("Look at the pump") + section("Start it again") + section("Tell the shift")
    assert opened(f"# Pump\n\n{means}{rest}", names=["PumpStopped"], anchor="what-is-wrong") == []


def test_an_alert_in_the_words_of_another_language_opens_its_section():
    expected = ["Behälter läuft über", "Escalation"]
    assert opened(GERMAN, names=["Behälter läuft über"]) == expected
    assert opened(GERMAN, anchor="behälter-läuft-über") == expected


def test_the_nearest_section_stands_open():
    near = {"PumpStopped": 0.2, "TankLevelHigh": 0.3, "LidOpen": 0.9, "Prerequisites": 2.0}
    assert opened(ALERTS, near=near) == ["LidOpen", "Prerequisites"]


def test_below_the_margin_two_stand_open_the_nearest_first():
    near = {"PumpStopped": 0.8, "TankLevelHigh": 0.1, "LidOpen": 0.9}
    assert opened(ALERTS, near=near) == ["LidOpen", "PumpStopped", "Prerequisites"]


@pytest.mark.parametrize(
    "near",
    [
        {},
        {"Prerequisites": 3.0},
        {"PumpStopped": 0.5, "TankLevelHigh": 0.5, "LidOpen": 0.5},
    ],
)
def test_where_nothing_tells_tasks_apart_the_whole_page_is_open(near):
    assert opened(ALERTS, near=near) == []


def test_a_page_of_one_task_is_open_whole():
    assert opened(ONE, near={"Mitigation": 1.0}) == []
    assert opened(ONE, anchor="mitigation") == []
    assert opened(ONE, names=["Pump"]) == []
