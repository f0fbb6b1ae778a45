"""Commands that run other commands, such as `sudo`, `ssh` and `kubectl exec`."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from services.workflow.effects.table import CLIENTS, WRAPPERS


@dataclass(frozen=True)
class InnerCommands:
    """Commands that a program runs; without any it opens a shell, if `is_allowed`."""

    commands: tuple[str, ...] = ()
    is_allowed: bool = True


_NO = InnerCommands(is_allowed=False)
_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "ash", "pwsh", "powershell", "cmd"})
_CONTAINERS = frozenset(
    {"kubectl", "oc", "k", "docker", "podman", "crictl", "nerdctl", "docker-compose"}
)
_FILES = re.compile(r"-f$|--file|-i$|--init-command|-o$|--output")
_SQL_CLIENTS = frozenset(CLIENTS) - {"vtysh", "cli"}
_IP_LOOKS = re.compile(
    r"(?:\w+)?(?: (?:show|list|ls|lst|get|sh|s)(?: .*)?)?|monitor(?: .*)?"
    r"|netns (?:list|identify|pids).*"
)


def inner_commands(name: str, arguments: Sequence[str], *, is_fed: bool) -> InnerCommands | None:
    """Return the commands that a program runs; None if it runs no other program."""
    words = list(arguments)
    if name in _SHELLS:
        return _of_shell(words, is_fed=is_fed)
    if name == "su":
        options = [
            word for word in words if word != "-" and not re.fullmatch(r"(?!-)[\w$<>{}-]+", word)
        ]
        return _of_shell(options, is_fed=is_fed)
    if name in {"find", "gfind", "ip"}:
        return _of_ip(words) if name == "ip" else _of_find(words)
    if name in CLIENTS:
        return _of_client(name, words, is_fed=is_fed)
    if name in _CONTAINERS:
        return _of_container(name, words, is_fed=is_fed)
    return _of_wrapper(name, words, is_fed=is_fed) if name in WRAPPERS else None


def is_wrapper(name: str) -> bool:
    """Return True if `inner_commands` knows the program."""
    return name in _SHELLS | _CONTAINERS | CLIENTS.keys() | WRAPPERS.keys() | {"su", "find", "ip"}


def _without_options(words: Sequence[str], valued: str) -> list[str]:
    """Return the words after the options."""
    taken, left = set(valued.split()), list(words)
    while left and left[0].startswith("-") and len(left[0]) > 1:
        word = left.pop(0)
        if word == "--":
            break
        if word in taken and left:
            left.pop(0)
    return left


def _of_shell(words: list[str], *, is_fed: bool) -> InnerCommands:
    for place, word in enumerate(words):
        if re.fullmatch(r"-[a-z]*c|-Command|/c", word, re.IGNORECASE) and place + 1 < len(words):
            return InnerCommands(
                (words[place + 1],) if word != "-Command" else (" ".join(words[place + 1 :]),)
            )
        if not word.startswith("-") or word == "-s":
            return _NO
    return _NO if is_fed else InnerCommands()


def _of_wrapper(name: str, words: list[str], *, is_fed: bool) -> InnerCommands:
    wrapper = WRAPPERS[name]
    valued = wrapper.valued
    if (
        name == "sudo"
        and {"-e", "-K", "-i", "-s"} & set(words)
        and not _without_options(words, valued)
    ):
        return _NO if "-e" in words or is_fed else InnerCommands()
    if name == "strace" and any(word.startswith("-p") for word in words):
        return InnerCommands()
    left = _without_options(words, valued)
    if name == "ssh":
        left = [left[0], *_without_options(left[1:], valued)] if left else left
    left = left[wrapper.operands :]
    while name in {"env", "sudo"} and left and re.match(r"[A-Za-z_]\w*=", left[0]):
        left.pop(0)
    if not left:
        is_shell = name in {"ssh", "pdsh", "clush", "chroot", "nsenter", "oc rsh", "exec"}
        return _NO if is_shell and is_fed else InnerCommands()
    if name in {"ssh", "pdsh", "clush", "dsh", "watch"}:
        line = " ".join(left)
        is_expanded_again = len(left) > 1 and re.search(r"[`>]|\$\(", line)
        return _NO if is_expanded_again else InnerCommands((line,))
    if name == "xargs" and left[0] in _SHELLS:
        return _of_shell(left[1:], is_fed=True)
    return InnerCommands((shlex.join(left),))


def _of_find(words: list[str]) -> InnerCommands:
    commands = []
    place = 0
    while place < len(words):
        word = words[place]
        if word == "-delete" or word.startswith(("-fprint", "-fls")):
            return _NO
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            ends = (n for n in range(place + 1, len(words)) if words[n] in {";", "+"})
            end = next(ends, len(words))
            commands.append(shlex.join(words[place + 1 : end]))
            place = end
        place += 1
    return InnerCommands(tuple(commands))


def _of_ip(words: list[str]) -> InnerCommands:
    left = _without_options(words, "-n -netns -f -family")
    if left[:2] == ["netns", "exec"]:
        return InnerCommands((shlex.join(left[3:]),)) if len(left) > 3 else InnerCommands()
    if left[:2] == ["vrf", "exec"]:
        return InnerCommands((shlex.join(left[3:]),))
    return InnerCommands(is_allowed=bool(_IP_LOOKS.fullmatch(" ".join(left))))


def _of_client(name: str, words: list[str], *, is_fed: bool) -> InnerCommands:
    statements, options, place = [], CLIENTS[name].split(), 0
    if any(_FILES.match(word) and word != "-i" for word in words) and name in _SQL_CLIENTS:
        return _NO
    while place < len(words):
        word = words[place]
        name_, _, value = word.partition("=")
        if word in options:
            statements.append(words[place + 1] if place + 1 < len(words) else "")
            place += 1
        elif name_ in options:
            statements.append(value)
        elif any(len(each) == 2 and word.startswith(each) and len(word) > 2 for each in options):
            statements.append(word[2:])
        elif re.fullmatch(r"-[A-Za-z]*[ce]", word) and place + 1 < len(words):
            statements.append(words[place + 1])
            place += 1
        place += 1
    if not statements:
        return _NO if is_fed else InnerCommands()
    return InnerCommands(
        tuple(f"select 1; {each}" if name in _SQL_CLIENTS else each for each in statements)
    )


def _of_container(name: str, words: list[str], *, is_fed: bool) -> InnerCommands | None:
    """Handle `exec POD -- ls`, `debug node/x -- chroot /host ls`; other subcommands run nothing."""
    verb = next((n for n, word in enumerate(words) if word in {"exec", "rsh", "debug"}), None)
    before = words[:verb] if verb is not None else []
    if verb is None or any(
        word in {"get", "logs", "describe", "delete", "apply"} for word in before
    ):
        dry = any(re.fullmatch(r"--dry-run=(?:client|server)", word) for word in words)
        return (
            InnerCommands()
            if name in {"kubectl", "oc", "k"} and dry and "--" not in words
            else None
        )
    if words[verb] == "debug" and name != "oc":
        return None
    left = words[verb + 1 :]
    if "--" in left:
        ran = left[left.index("--") + 1 :]
    else:
        ran = _without_options(
            left, "-n --namespace -c --container -e --env -u --user -w --workdir --context"
        )[1:]
        ran = (
            _without_options(ran, "-n --namespace -c --container")
            if name in {"kubectl", "oc", "k"}
            else ran
        )
    if not ran:
        return _NO if is_fed else InnerCommands()
    if ran[0] in _SHELLS:
        return _of_shell(ran[1:], is_fed=is_fed)
    return InnerCommands((shlex.join(ran),))
