import pytest

from services.workflow.effects.output import is_command, is_printed

PRINTED = [
    "E0724 10:12:44.101 1 main.go:12] no route", "Jul 24 10:12:44 n1 kernel: oops",
    '{"level": "warn"}', "NAME   READY   STATUS", "pod-a   1/1   Running   0   3d",
    "  at com.x.Main(Main.java:3)", "Error: cannot connect", "bash: foo: command not found",
    "replicas: 3", "- name: x", "[apiclient] Waiting for it", "2026-01-02T10:00:00Z started",
    "The disk is full and has to be cleaned", "| a | b |", "(3 rows)", "x.y = 3",
    'up{job="x"} == 0', "[section]",
]  # fmt: skip
TYPED = [
    "kubectl get pods", "show interface brief", "SELECT * FROM t;", "Get-Service x", "SHOW TABLES;",
    "$x = Get-Disk", "A=1 make run", "ps aux  |  grep x", "./run.sh --now", "echo 'a: b'",
    "interface Ethernet1/1", "no shutdown", "for i in a b; do ls $i; done", "[ -f x ] && cat x",
    "20 permit tcp any any", "# why\n$disks = Get-Disk\nif ($disks) { \"it's\" }",
]  # fmt: skip


@pytest.mark.parametrize("line", PRINTED)
def test_what_a_program_prints_is_no_command(line: str) -> None:
    assert is_printed(line)
    assert not is_command(line)


@pytest.mark.parametrize("line", TYPED)
def test_what_is_typed_is_a_command(line: str) -> None:
    assert is_command(line)


@pytest.mark.parametrize("text", ["", "# only said", "echo 'open", "don't do it"])
def test_what_cannot_be_run_is_no_command(text: str) -> None:
    assert not is_command(text)


def test_a_script_with_a_document_in_it_is_a_command() -> None:
    assert is_command("# make it\ncat <<EOF > x.yaml\nkind: Pod\nEOF\n")
