from services.runbook.checking.left_out import background_lines, uncited_conditions

PAGE = """# Pump

It hums.

## Meaning

If it hums, the seal is worn.

## If the seal is worn

- **Caution:** if it is hot, wait.
- Open the lid.

      if [ -f seal ]; then exit; fi

```
if this is code
```
"""


def test_conditions_of_instructing_sections_are_listed_and_those_of_code_and_meaning_are_not():
    assert list(uncited_conditions([], PAGE)) == [(9, 9), (11, 11)]


def test_the_head_of_a_page_and_what_it_means_is_background():
    assert {1, 3, 5, 7} <= background_lines(PAGE)
    assert not background_lines(PAGE) & set(range(9, 18))
