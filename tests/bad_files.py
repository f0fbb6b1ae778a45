"""Tries of all commands with bad files: `python tests/bad_files.py paths FOLDER DATA_FOLDER`.

`contents` in the place of `paths` gives them files that hold something else than they expect.

Prints the number of tries, and those that ended in something else than a sentence.
"""

import contextlib
import ctypes
import functools
import inspect
import io
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import sys
import traceback
from collections.abc import Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import typer.main

from services.cli import commands as cli

EXAMPLES = Path(__file__).parents[1] / "examples"
REFUSED_WITHIN_S = 60.0
"""Bound of tries that must be refused, far above what any takes."""
LONGEST_TRY_S = 2.0
"""Time after which a file is held for taken."""
GOES_ON = "goes on"
"""End of a try whose file was taken."""
MOST_BYTES = 3 << 30
"""Memory of the process: less than the largest file has bytes."""
HUGE = 5 << 30

_CHECKS = {
    "require_file": "file",
    "require_folder": "folder",
    "require_file_or_folder": "file or folder",
    "_require_root": "file or folder",
    "require_new_file": "new file",
    "require_new_folder": "new folder",
}
_CHECKED_LATER = {"data_dir", "alert", "operations"}
"""A setting too; relative to a folder that is another option; `-` for stdin."""
_PAIR = {
    "id": "1",
    "query": "A fan tray of the switch has failed",
    "doc": "wiki/fan-failure.md",
    "reference": {"nodes": [{"id": "a", "label": "Seat the tray.", "lines": [[1, 40]]}]},
}


class TooLong(BaseException):
    """A try went on for longer than any refusal may take."""


def drop_rights() -> None:
    """Let modes of files hold for root too, and bound the memory."""
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    if os.geteuid() == 0:
        libc = ctypes.CDLL(None, use_errno=True)
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP, in force after the next exec
        os.environ["BAD_FILES_RIGHTS"] = "dropped"
        os.execv(sys.executable, [sys.executable, *sys.argv])


def main() -> None:
    if os.environ.get("BAD_FILES_RIGHTS") != "dropped":
        drop_rights()
    what, folder, home, *only = sys.argv[1:]
    tries = Tries(Path(folder) / "tries", Path(home))
    try_one = tries.try_paths if what == "paths" else tries.try_contents
    os.chdir(folder)
    os.environ |= {"COLUMNS": "500", "FLOWXPERT_PORT": "0"}
    sys.unraisablehook = lambda _raised: None  # a bound may pass while Python clears up
    end_of(["roots", "--data-dir", home], REFUSED_WITHIN_S)  # no try stops an import half way
    cached = functools.cache(typer.main.get_command)
    typer.main.get_command = cached  # built once, not for each try
    for words, command in commands(cached(cli.app)):
        if not only or words[0] in only:
            try_one(words, [each for each in command.params if each.name != "help"])
    sys.stdout.write(json.dumps({"tries": tries.count, "faults": tries.faults}, indent=1))


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each command with its words, however deep it is."""
    for name, below in (getattr(command, "commands", None) or {}).items():
        yield from commands(below, (*words, name))
    if not getattr(command, "commands", None):
        yield words, command


def is_path(param: Any) -> bool:
    """Tell whether a parameter takes paths."""
    return "Path" in str(getattr(param, "type_descriptor", ""))


def no_files(folder: Path) -> dict[str, Path]:
    """Make what nobody can read or write a file at, by its kind."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "loop").symlink_to(folder / "loop")
    os.mkfifo(folder / "pipe")
    (folder / "secret").touch(mode=0)
    return {
        "loop": folder / "loop",
        "pipe": folder / "pipe",
        "secret": folder / "secret",
        "long": folder / ("n" * 300),
        "below": folder / "pipe" / "below",
    }


def bad_contents(folder: Path) -> dict[str, Path]:
    """Make files that hold something else than anybody expects."""
    contents = {
        "binary": random.Random(1).randbytes(3_000),
        "torn.json": b'{"id": "1", "query": "a fan',
        "other.json": b'{"version": 99, "id": [1]}\n',
        "broken.db": b"SQLite format 3\0" + bytes(3_000),
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    with (folder / "huge").open("wb") as file:
        file.truncate(HUGE)
    return {name: folder / name for name in (*contents, "huge")}


def broken_homes(folder: Path, home: Path) -> dict[str, Path]:
    """Make data folders, each with another fault."""
    made = {}
    for kind, path in bad_contents(folder).items():
        if kind in {"binary", "broken.db", "huge"}:
            made[f"home of {kind}"] = folder / f"home-{kind}"
            made[f"home of {kind}"].mkdir()
            path.rename(made[f"home of {kind}"] / "flowxpert.db")
    for kind, path in no_files(folder / "none").items():
        if kind in {"loop", "pipe", "secret"}:
            made[f"home of {kind}"] = folder / f"home-{kind}"
            made[f"home of {kind}"].mkdir()
            path.rename(made[f"home of {kind}"] / "flowxpert.db")
    for kind in ("torn", "newer", "locked"):
        made[f"home {kind}"] = shutil.copytree(home, folder / f"home-{kind}")
    torn = made["home torn"] / "flowxpert.db"
    os.truncate(torn, torn.stat().st_size // 2)
    with contextlib.closing(sqlite3.connect(made["home newer"] / "flowxpert.db")) as database:
        database.execute("UPDATE alembic_gateway SET version_num = '9999_future'")
        database.commit()
    (made["home locked"] / "owner.lock").unlink()
    (made["home locked"] / "owner.lock").mkdir()
    return made


class Tries:
    """Tries made so far, in a folder of their own."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.count, self.faults = 0, list[str]()
        self._folder, self._home = folder, home
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self._homes = broken_homes(folder, home)
        (folder / "corpus").symlink_to(EXAMPLES / "documents")
        pairs = folder / "pairs.jsonl"
        pairs.write_text(f"{json.dumps(_PAIR)}\n")
        self._good = {"file": pairs, "folder": EXAMPLES / "documents", "file or folder": pairs}

    def try_paths(self, words: Sequence[str], params: Sequence[Any]) -> None:
        """Try a command with each path at which there is nothing of the kind it takes."""
        for tested in filter(is_path, params):
            role = role_of(tested)
            if not role:
                option = f"{' '.join(words)}: {tested.opts[0]}"
                self.faults.append(f"{option} has no check of services/kit/files.py as callback")
                continue
            bad = no_files(self._folder / "bad")
            if not role.startswith("new") and role != "data_dir":
                bad["missing"] = self._folder / "bad" / "missing"
            if "folder" not in role and role != "data_dir":
                bad["folder"] = self._folder / "bad"
            for kind, path in bad.items():
                status, printed = self._end(words, params, tested, path, REFUSED_WITHIN_S)
                is_named = path.name in "".join(printed.split()) or kind == "below"
                is_refused = status == 2 and is_named
                if role == "data_dir":  # not all read it, nor all before they read others
                    is_refused = status in {0, 1, 2}
                if not is_refused or "Traceback (most" in printed:
                    self._note(words, tested, kind, status, printed)

    def try_contents(self, words: Sequence[str], params: Sequence[Any]) -> None:
        """Try a command with files of each bad content, and with broken data folders."""
        for tested in filter(is_path, params):
            role = role_of(tested)
            if "new" in role or role == "folder":
                continue
            bad = self._homes if role == "data_dir" else bad_contents(self._folder)
            for kind, path in bad.items():
                status, printed = self._end(words, params, tested, path, LONGEST_TRY_S)
                if status not in {0, 1, 2, GOES_ON} or "Traceback (most" in printed:
                    self._note(words, tested, kind, status, printed)

    def _note(
        self, words: Sequence[str], tested: Any, kind: str, status: object, printed: str
    ) -> None:
        command = f"flowxpert {' '.join(words)}: {tested.opts[0]} ({kind})"
        self.faults.append(f"{command}: {status}, {printed.strip()[-400:]}")

    def _end(
        self,
        words: Sequence[str],
        params: Sequence[Any],
        tested: Any,
        path: Path,
        within_s: float,
    ) -> tuple[int | str, str]:
        """Return how the command ends with this path, everything else being good."""
        self.count += 1
        shutil.rmtree(self._folder / "new", ignore_errors=True)
        options, arguments = list[str](), list[str]()
        for each in params:
            if each is tested:
                value = str(path)
            elif each.required or each.name == "data_dir":
                value = self._good_value(each)
            else:
                continue
            is_option = each.opts[0].startswith("-")
            (options if is_option else arguments).extend([each.opts[0], value][not is_option :])
        return end_of([*words, *options, *arguments], within_s)

    def _good_value(self, param: Any) -> str:
        if param.name == "data_dir":
            return str(self._home)
        if is_path(param):
            return str(self._good.get(role_of(param), self._folder / "new" / param.name))
        annotation = param.type_descriptor.annotation
        is_choice = inspect.isclass(annotation) and issubclass(annotation, Enum)
        return str(next(iter(annotation)).value) if is_choice else "x"


def role_of(param: Any) -> str:
    """Return the kind of path that a parameter takes; empty where nothing checks it."""
    check = getattr(param.callback, "__name__", "")
    return _CHECKS.get(check, param.name if param.name in _CHECKED_LATER else "")


def end_of(arguments: list[str], within_s: float) -> tuple[int | str, str]:
    """Return the exit status of a command, and what it printed."""
    printed = io.StringIO()
    signals = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGALRM, _give_up)
    signal.setitimer(signal.ITIMER_REAL, within_s, 1)
    sys.argv, sys.stdin = ["flowxpert", *arguments], io.StringIO()
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            cli.main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 1, printed.getvalue()
    except TooLong:
        return GOES_ON, printed.getvalue()
    except BaseException:  # noqa: BLE001 - what no command may raise
        return "raised", traceback.format_exc()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in signals.items():
            signal.signal(number, handler)
    return 0, printed.getvalue()


def _give_up(*_: object) -> None:
    raise TooLong


if __name__ == "__main__":
    main()
