from services.runbook.checklist.text import page_lines
from tests.checklists import checklist_of

TEXT = """\
# Pump stands still

Push the valve in
until it clicks.

1. Restart it:

   ```console
   $ systemctl restart pump
   restarted
   ```

| state | meaning |
|-------|---------|
| red   | stop    |
"""


def test_each_line_of_the_text_says_which_line_of_the_page_it_is_of():
    lines = TEXT.split("\n")
    of_page = [line for line in page_lines(checklist_of(TEXT)) if line.line]
    for words in ("# Pump", "Push", "until", "Restart it", "systemctl restart", "restarted"):
        (line,) = (line for line in of_page if words in line.text)
        assert words in lines[line.line - 1]


def test_what_the_platform_says_of_a_command_stands_on_its_line():
    of_page = [line for line in page_lines(checklist_of(TEXT)) if line.line == 9]
    assert [line.text[:2] for line in of_page] == ["! ", "$ "]


def test_what_is_not_of_the_page_has_no_line():
    (line,) = (line for line in page_lines(checklist_of(TEXT)) if line.text == "Hand over")
    assert line.line == 0
