"""Programs that run another command, and the command that they run."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Inner:
    """What a program runs; without commands it opens a shell where `may_stand`."""

    commands: tuple[str, ...] = ()
    may_stand: bool = True


_NO = Inner(may_stand=False)
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "pwsh", "powershell", "cmd"})
_VALUED = {
    "sudo": "-u --user -g -h -p -C -r -t -U", "doas": "-u -C",
    "env": "-u -C", "timeout": "-s -k --signal",
    "watch": "-n --interval", "xargs": "-I -n -P -L -d -a -s -E",
    "nohup": "", "time": "-f -o",
    "nice": "-n", "ionice": "-c -n -p", "stdbuf": "-i -o -e", "setsid": "",
    "taskset": "", "chrt": "",
    "exec": "-a", "chroot": "", "nsenter": "-t --target", "builtin": "", "unbuffer": "",
    "ssh": "-i -l -p -o -F -J -L -R -D -b -c -E -m -O -Q -S -W -w", "sshpass": "-p -f -e",
    "pdsh": "-w -x -g -l -t -u -f -R", "clush": "-w -x -g -l -t -f", "dsh": "-w -g -l",
    "oc rsh": "-n --namespace -c --container --context", "busybox": "", "caffeinate": "",
    "strace": "-p -e -o -f -s", "vtysh": "", "torsocks": "",
    "runuser": "-u -g", "gosu": "",
}  # fmt: skip
_OPERANDS = {"timeout": 1, "ssh": 1, "chroot": 1, "taskset": 1, "gosu": 1, "chrt": 1, "oc rsh": 1}
"""How many words come before the command."""
_CLIENTS = {
    "psql": "-c --command", "gitlab-psql": "-c --command", "mysql": "-e --execute",
    "mariadb": "-e --execute", "cqlsh": "-e --execute", "clickhouse-client": "--query -q",
    "vtysh": "-c", "cli": "-c", "sqlcmd": "-Q -q", "cockroach": "-e --execute",
}  # fmt: skip
"""Options of clients of databases and routers that are given what to run."""
_CONTAINERS = frozenset(
    {"kubectl", "oc", "k", "docker", "podman", "crictl", "nerdctl", "docker-compose"}
)
_FILES = re.compile(r"-f$|--file|-i$|--init-command|-o$|--output")
_SQL_CLIENTS = frozenset(_CLIENTS) - {"vtysh", "cli"}
_IP_LOOKS = re.compile(
    r"(?:\w+)?(?: (?:show|list|ls|lst|get|sh|s)(?: .*)?)?|monitor(?: .*)?"
    r"|netns (?:list|identify|pids).*"
)


def inner_command(name: str, arguments: Sequence[str], *, is_fed: bool) -> Inner | None:
    """What a program runs; nothing where it is none that runs another."""
    words = list(arguments)
    if name in _SHELLS:
        return _of_shell(words, is_fed=is_fed)
    if name == "su":
        told = [word for word in words if word != "-" and not _is_name(word)]
        return _of_shell(told, is_fed=is_fed)
    if name in {"find", "gfind", "ip"}:
        return _of_ip(words) if name == "ip" else _of_find(words)
    if name in _CLIENTS:
        return _of_client(name, words, is_fed=is_fed)
    if name in _CONTAINERS:
        return _of_container(name, words, is_fed=is_fed)
    return _of_wrapper(name, words, is_fed=is_fed) if name in _VALUED else None


def runs_others(name: str) -> bool:
    """Whether the program is one that `inner_command` knows."""
    return name in _SHELLS | _CONTAINERS | _CLIENTS.keys() | _VALUED.keys() | {"su", "find", "ip"}


def _is_name(word: str) -> bool:
    return bool(re.fullmatch(r"[\w$<>{}-]+", word)) and not word.startswith("-")


def _joined(words: Sequence[str]) -> str:
    return shlex.join(words)


def _rest(words: Sequence[str], valued: str) -> list[str]:
    """The words behind the options."""
    taken, left = set(valued.split()), list(words)
    while left and left[0].startswith("-") and len(left[0]) > 1:
        word = left.pop(0)
        if word == "--":
            break
        if word in taken and left:
            left.pop(0)
    return left


def _of_shell(words: list[str], *, is_fed: bool) -> Inner:
    for place, word in enumerate(words):
        if re.fullmatch(r"-[a-z]*c|-Command|/c", word, re.IGNORECASE) and place + 1 < len(words):
            return Inner(
                (words[place + 1],) if word != "-Command" else (" ".join(words[place + 1 :]),)
            )
        if not word.startswith("-") or word == "-s":
            return _NO
    return _NO if is_fed else Inner()


def _of_wrapper(name: str, words: list[str], *, is_fed: bool) -> Inner:
    if name == "sudo" and {"-e", "-K", "-i", "-s"} & set(words) and not _rest(words, _VALUED[name]):
        return _NO if "-e" in words or is_fed else Inner()
    if name == "strace" and any(word.startswith("-p") for word in words):
        return Inner()
    left = _rest(words, _VALUED[name])
    if name == "ssh":
        left = [left[0], *_rest(left[1:], _VALUED[name])] if left else left
    left = left[_OPERANDS.get(name, 0) :]
    while name in {"env", "sudo"} and left and re.match(r"[A-Za-z_]\w*=", left[0]):
        left.pop(0)
    if not left:
        is_shell = name in {"ssh", "pdsh", "clush", "chroot", "nsenter", "oc rsh", "exec"}
        return _NO if is_shell and is_fed else Inner()
    if name in {"ssh", "pdsh", "clush", "dsh", "watch"}:
        return Inner((" ".join(left),)) if len(left) == 1 or not _has_signs(left) else _NO
    if name == "xargs" and left[0] in _SHELLS:
        return _of_shell(left[1:], is_fed=True)
    return Inner((_joined(left),))


def _has_signs(words: Sequence[str]) -> bool:
    """Whether a word has what a second shell would read once more and change."""
    return bool(re.search(r"[`>]|\$\(", " ".join(words)))


def _of_find(words: list[str]) -> Inner:
    commands = []
    place = 0
    while place < len(words):
        word = words[place]
        if word == "-delete" or word.startswith(("-fprint", "-fls")):
            return _NO
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            ends = (n for n in range(place + 1, len(words)) if words[n] in {";", "+"})
            end = next(ends, len(words))
            commands.append(_joined(words[place + 1 : end]))
            place = end
        place += 1
    return Inner(tuple(commands))


def _of_ip(words: list[str]) -> Inner:
    left = _rest(words, "-n -netns -f -family")
    if left[:2] == ["netns", "exec"]:
        return Inner((_joined(left[3:]),)) if len(left) > 3 else Inner()
    if left[:2] == ["vrf", "exec"]:
        return Inner((_joined(left[3:]),))
    return Inner(may_stand=bool(_IP_LOOKS.fullmatch(" ".join(left))))


def _of_client(name: str, words: list[str], *, is_fed: bool) -> Inner:
    told, options, place = [], _CLIENTS[name].split(), 0
    if any(_FILES.match(word) and word != "-i" for word in words) and name in _SQL_CLIENTS:
        return _NO
    while place < len(words):
        word = words[place]
        name_, _, value = word.partition("=")
        if word in options:
            told.append(words[place + 1] if place + 1 < len(words) else "")
            place += 1
        elif name_ in options:
            told.append(value)
        elif any(len(each) == 2 and word.startswith(each) and len(word) > 2 for each in options):
            told.append(word[2:])
        elif re.fullmatch(r"-[A-Za-z]*[ce]", word) and place + 1 < len(words):
            told.append(words[place + 1])
            place += 1
        place += 1
    if not told:
        return _NO if is_fed else Inner()
    return Inner(tuple(f"select 1; {each}" if name in _SQL_CLIENTS else each for each in told))


def _of_container(name: str, words: list[str], *, is_fed: bool) -> Inner | None:
    """`exec POD -- ls`, `debug node/x -- chroot /host ls`; another subcommand runs nothing."""
    verb = next((n for n, word in enumerate(words) if word in {"exec", "rsh", "debug"}), None)
    before = words[:verb] if verb is not None else []
    if verb is None or any(
        word in {"get", "logs", "describe", "delete", "apply"} for word in before
    ):
        dry = any(re.fullmatch(r"--dry-run=(?:client|server)", word) for word in words)
        return Inner() if name in {"kubectl", "oc", "k"} and dry and "--" not in words else None
    if words[verb] == "debug" and name != "oc":
        return None
    left = words[verb + 1 :]
    if "--" in left:
        ran = left[left.index("--") + 1 :]
    else:
        ran = _rest(
            left, "-n --namespace -c --container -e --env -u --user -w --workdir --context"
        )[1:]
        ran = _rest(ran, "-n --namespace -c --container") if name in {"kubectl", "oc", "k"} else ran
    if not ran:
        return _NO if is_fed else Inner()
    if ran[0] in _SHELLS:
        return _of_shell(ran[1:], is_fed=is_fed)
    return Inner((_joined(ran),))
