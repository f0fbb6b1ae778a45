import pytest

from services.workflow.page_code import (
    CodePart,
    CodeUse,
    PageCode,
    code_parts,
    commands_of,
    inline_commands,
    is_output,
)


def output_of(code: PageCode) -> list[str]:
    return [part.text for part in code_parts(code) if part.use is CodeUse.OUTPUT]


@pytest.mark.parametrize(
    "prompt",
    ["switch# ", "switch(config)# ", "[me@host ~]$ ", "PS C:\\> ", "ncn-m001# ", "linux# ",
     "mysql> ", "$ ", "me@host:~$ ", "sh-4.4# ", "db=# ", "MariaDB [(none)]> ", "/ # "],
)  # fmt: skip
def test_of_a_pasted_session_the_typed_lines_are_kept(prompt: str) -> None:
    block = PageCode(f"{prompt}show x\nthe answer\n{prompt}show y\n")

    assert commands_of(block) == ("show x", "show y")
    assert output_of(block) == ["the answer"]
    assert not is_output(block, "")


def test_what_is_typed_before_the_first_prompt_is_no_output() -> None:
    block = PageCode("systemctl daemon-reload\nnode-1# systemctl restart pump\ndone\n")
    assert commands_of(block) == ("systemctl daemon-reload", "systemctl restart pump")
    banner = PageCode("Last login: today\nnode-1# show pumps\n")
    assert commands_of(banner) == ("show pumps",)


def test_a_variable_may_stand_behind_the_prompt_of_powershell() -> None:
    block = PageCode("PS C:\\Users\\me> $pumps = Get-Pump\nPS C:\\Users\\me> $pumps\nName State\n")

    assert commands_of(block) == ("$pumps = Get-Pump", "$pumps")
    assert output_of(block) == ["Name State"]


def test_what_follows_a_command_without_a_prompt_is_output() -> None:
    block = PageCode(
        "kubectl get pods\nNAME   READY   STATUS\na-1    1/1     Up\nkubectl get svc\n"
    )

    assert commands_of(block) == ("kubectl get pods", "kubectl get svc")
    assert output_of(block)[0].startswith("NAME   READY")


@pytest.mark.parametrize(
    "text", ["E0724 10:12:44 x\nE0724 10:12:45 y", "NAME  READY\nx     1/1", "kind: Pod\nspec: {}"]
)
def test_a_block_that_begins_with_output_is_output(text: str) -> None:
    assert is_output(PageCode(text), "It is told so.")
    assert commands_of(PageCode(text)) == ()


def test_a_script_stays_whole() -> None:
    text = "foreach ($x in $all) {\n    Get-Disk $x\n}\nGet-Volume"

    assert commands_of(PageCode(text, "powershell")) == (text,)
    assert not output_of(PageCode(text, "powershell"))


def test_a_prompt_that_has_the_command_in_its_name_stays_whole() -> None:
    block = PageCode("switch(config)# show vsx\nUp\nswitch(config)# conf\n")

    assert code_parts(block) == [
        CodePart(CodeUse.COMMAND, "show vsx", "switch(config)#"),
        CodePart(CodeUse.OUTPUT, "Up"),
        CodePart(CodeUse.COMMAND, "conf", "switch(config)#"),
    ]


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("Run fan reset now.", "fan reset"),
        ("fan reset", "fan reset"),
        ("Stop it with kubectl delete pod fan-0.", "kubectl delete pod fan-0"),
        ("Look again: kubectl get pods", "kubectl get pods"),
    ],
)
def test_a_code_in_a_sentence_that_is_to_be_run_is_a_command(text: str, command: str) -> None:
    assert inline_commands(text, [command]) == (command,)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("fan stall errors say that the bearing is worn.", "fan stall"),
        ("Look whether the start fails with fan stall in its log.", "fan stall"),
        ("The state (fan stall) is kept.", "fan stall"),
    ],
)
def test_words_of_an_error_are_no_command(text: str, name: str) -> None:
    assert inline_commands(text, [name]) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Name    : fan-3\nStatus  : FAILURE\nDetail  : The fan stands still.",
        "Fan Trays:\n  tray-1:\n    State:  Stopped\n    Exit Code:  1",
        "tray controller error: bus: no answer",
        "Type 'Reset' of Role 'Tray' raised an exception:\n\nThe tray does not answer.",
    ],
)
def test_the_state_of_a_thing_is_output(text: str) -> None:
    assert commands_of(PageCode(text)) == ()
    assert is_output(PageCode(text), "Look at it.")


def test_a_state_below_its_command_is_output() -> None:
    block = PageCode(
        "  ceph status\n    cluster:\n      health: HEALTH_ERR\n\n    io:\n      client: 8 B/s"
    )

    assert [part.use for part in code_parts(block)] == [CodeUse.COMMAND, CodeUse.OUTPUT]
    assert commands_of(block) == ("ceph status",)


def test_a_command_keeps_its_backticks_and_a_comment_of_several_lines_is_none() -> None:
    code = PageCode(
        "    Remove-PumpService -Name pump\n    New-PumpService `\n        -Name pump `\n"
        "        -NoWait\n    <#\n    Example output\n    pump 2.0\n    #>\n    Get-PumpService\n",
        "powershell",
    )
    assert commands_of(code) == (
        "Remove-PumpService -Name pump",
        "New-PumpService `\n    -Name pump `\n    -NoWait",
        "Get-PumpService",
    )
    uses = [part.use for part in code_parts(code)]
    assert uses == [CodeUse.COMMAND, CodeUse.COMMAND, CodeUse.COMMENT, CodeUse.COMMAND]
