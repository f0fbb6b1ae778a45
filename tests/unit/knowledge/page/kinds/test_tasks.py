import pytest

from services.knowledge.page.boxes import find_boxes
from services.knowledge.page.kinds.tasks import tasks_of
from services.knowledge.page.parsing import parse_page


def section(title: str, *, level: str = "##", first: int = 1, code: str = "") -> str:
    code_block = f"{code}\n\n" if code else ""
    return (
        f"{level} {title}\n\nNeeded now and then by the night shift.\n\n"
        f"{first}. Look at the gauge of the tank:\n\n   ```bash\n   gauge read 3\n   ```\n\n"
        f"{first + 1}. Open the valve by hand.\n{first + 2}. Close the lid again.\n\n{code_block}"
    )


def titles(text: str) -> list[str]:
    page = parse_page(text)
    return [task.path[-1] for task in tasks_of(page, find_boxes(page))]


PUMPS = ["Restart the upper pump", "Drain the lower pump", "Replace the filter of a pump"]


def page(*names: str, title: str = "# Pumps\n\nAll pumps are in hall 2.\n\n") -> str:
    return title + "".join(map(section, names))


def test_sisters_that_each_treat_the_same_in_another_way_are_tasks():
    assert titles(page(*PUMPS)) == PUMPS


def test_what_holds_for_the_whole_page_is_no_task():
    assert titles(page("Prerequisites", *PUMPS)) == PUMPS
    assert titles(page(*PUMPS, "References")) == PUMPS


def test_names_of_alerts_are_tasks():
    alerts = ["PumpStopped", "TankLevelHigh", "ValveStuck"]
    assert titles(page(*alerts)) == alerts


def test_tasks_in_another_language_are_recognised():
    names = ["Obere Pumpe neu starten", "Untere Pumpe leeren", "Filter einer Pumpe tauschen"]
    assert titles(page(*names)) == names
    names = ["ポンプを再起動する手順", "ポンプを停止する手順", "ポンプを交換する手順"]
    assert titles(page(*names)) == names


def test_a_page_without_a_title_has_tasks_too():
    assert titles(page(*PUMPS, title="")) == PUMPS


def test_tasks_below_the_only_section_that_acts_are_recognised():
    below = "".join(section(name, level="###") for name in PUMPS)
    assert titles(f"# Hall 2\n\n## Work on the pumps of the hall\n\n{below}") == PUMPS
    assert titles(f"# Hall 2\n\n## Procedure\n\n{below}") == []


@pytest.mark.parametrize(
    "names",
    [
        ["Diagnosis", "Mitigation", "Verification"],
        ["Erkennung", "Behebung", "Prüfung"],
        ["1. Restart the pump", "2. Drain the pump", "3. Fill the pump"],
        ["Step 1: restart the pump", "Step 2: drain the pump", "Step 3: fill the pump"],
        ["Is the upper pump on?", "Is the lower pump on?", "Is the filter of the pump clean?"],
        ["Restart the upper pump", "Drain the lower pump"],
        ["Drain the upper tank", "Open a lid by hand", "Write the protocol"],
        ["Set up the new pump", "Fix the old pump", "Verify the pump of the tank"],
        ["Restart the upper pump", "Drain the lower pump", "Fill the pump", "Diagnosis"],
    ],
)
def test_phases_of_one_task_are_no_tasks(names):
    assert titles(page(*names)) == []


def test_a_page_without_headings_or_boxes_has_no_tasks():
    assert titles("") == []
    assert titles("Look at the gauge.\n") == []
    assert titles("# Pumps\n\n" + "".join(f"## {name}\n\n" for name in PUMPS)) == []


def test_lists_numbered_through_are_one_task():
    numbered = (section(name, first=1 + 3 * n) for n, name in enumerate(PUMPS))
    assert titles("# Pumps\n\n" + "".join(numbered)) == []


def test_a_section_that_uses_what_another_sets_belongs_to_it():
    sets, uses = "```bash\nPUMP=3\n```", "```bash\npump start $PUMP\n```"
    codes = [sets, "", uses]
    parts = [section(name, code=code) for name, code in zip(PUMPS, codes, strict=True)]
    assert titles("# Pumps\n\n" + "".join(parts)) == []
    parts[2] = section(PUMPS[2], code=f"{sets}\n\n{uses}")
    assert titles("# Pumps\n\n" + "".join(parts)) == PUMPS


def test_sections_that_send_on_to_the_next_are_one_task():
    on = [
        "Go on with [the next](#drain-the-lower-pump).",
        "Go on with [the next](#replace-the-filter-of-a-pump).",
        "",
    ]
    parts = [section(name, code=code) for name, code in zip(PUMPS, on, strict=True)]
    assert titles("# Pumps\n\n" + "".join(parts)) == []


def test_boxes_elsewhere_say_that_sections_are_not_the_matter_of_the_page():
    steps = "".join(f"{n}. Turn wheel {n} by hand.\n" for n in range(1, 12))
    assert titles(page(*PUMPS, title=f"# Pumps\n\n{steps}\n")) == []
