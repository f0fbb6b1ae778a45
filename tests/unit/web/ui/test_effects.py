import pytest

from services.web.ui.templates import _ENVIRONMENT


def shown(command: str) -> str:
    return _ENVIRONMENT.get_template("ticket/effect.html").render(command=command).strip()


def test_a_change_is_told_in_words() -> None:
    assert shown("kubectl cordon n1") == (
        '<p class="effect changes">Changes something: keeps new pods off a node; '
        "undo: uncordon it</p>"
    )
    assert shown("frobnicate") == '<p class="effect changes">May change something</p>'


def test_what_destroys_says_what() -> None:
    markup = '<p class="effect destroys">Destroys: deletes files</p>'

    assert shown("rm -rf /x") == markup


@pytest.mark.parametrize("command", ["ls -l", "NAME   READY   STATUS"])
def test_nothing_is_told_of_a_look_and_of_what_is_no_command(command: str) -> None:
    assert shown(command) == ""
