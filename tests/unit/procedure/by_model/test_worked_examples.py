"""Which page a model is shown with its program before it reads another."""

import pytest

from services.procedure.by_model.worked_examples import (
    Kind,
    WorkedExample,
    kind_of,
    most_similar,
    worked_examples,
)

CHECKS = "# Slow\n\n- Check the disk\n- Verify the quota\n- Is the cache off?\n- Call the owner\n"
COMMAND = "```\nshow quota\n```\n"
RUNBOOK = "# Slow\n\n## Meaning\n\nSlow.\n\n## Mitigation\n\n1. Restart it.\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (CHECKS, Kind.CHECKLIST),
        (f"{CHECKS}\n## Mitigation\n", Kind.CHECKLIST),
        (f"{CHECKS}\n{COMMAND}\n## Mitigation\n", Kind.RUNBOOK),
        ("- Check the disk\n- Verify the quota\n", None),
        (RUNBOOK, Kind.RUNBOOK),
        ("# Full\n\n### Failure: no path\n\n### Mitigation\n", Kind.VALIDATION),
        ("# Fan failure\n\n## Symptoms\n", Kind.RUNBOOK),
        ("# Login fails\n\n## Possible causes\n\n## Resolution\n", Kind.CAUSES),
        ("# Renew it\n\n## Prerequisites\n\n## Procedure\n", Kind.TASK),
        ("Nothing but a sentence.", None),
        ("", None),
    ],
)
def test_list_items_and_headings_tell_the_kind(text, kind):
    assert kind_of(text) is kind


def test_a_page_is_shown_one_of_its_kind_though_another_is_worded_more_like_it():
    near = WorkedExample("# Disk\n\nThe disk of the volume is slow: restart the volume.", {})
    alike = WorkedExample("# Fan\n\n## Mitigation\n\nReplace the tray.", {})
    page = "# Volume\n\n## Mitigation\n\nThe disk of the volume is slow: restart the volume.\n"
    assert most_similar(page, examples=[near, alike]) is alike


def test_words_decide_among_those_of_a_kind_and_where_there_are_none_of_it():
    bgp, disk = (WorkedExample(f"# {of}\n\n## Mitigation\n", {}) for of in ("BGP peer", "Disk"))
    assert most_similar("# Disk full\n\n## Mitigation\n", examples=[bgp, disk]) is disk
    assert most_similar("# Disk\n\n## Procedure\n", examples=[bgp, disk]) is disk


def test_there_is_an_example_of_every_kind_and_each_tells_a_procedure():
    assert {kind_of(example.text) for example in worked_examples()} >= set(Kind)
    assert all(example.program["procedures"] for example in worked_examples())
