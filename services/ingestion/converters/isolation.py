"""Isolation of readers of complex formats in a process, so that a bad file harms only itself."""

import base64
import json
import os
import subprocess
import sys
import threading
from types import TracebackType
from typing import Self

from services.ingestion.converters import ConvertedDocument, FormatReader, UnreadableDocumentError

_PROGRAM = "services.ingestion.converters.isolated"
_KEPT_VARIABLES = ("PATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "SYSTEMROOT")


class IsolatedReaders:
    """Runner of isolated readers in one process, replaced when it hangs or dies.

    Not for several threads at once.
    """

    def __init__(self, *, timeout_s: float, memory_bytes: int) -> None:
        """Give each document `timeout_s`; limit the process's address space to `memory_bytes`."""
        self._timeout_s = timeout_s
        self._memory_bytes = memory_bytes
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def read(self, reader: FormatReader, data: bytes) -> ConvertedDocument:
        """Call `reader.read`, bounded in time and memory.

        Raises:
            UnreadableDocumentError: Also when it took too long or brought the process down.
        """
        process = self._started()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(self._timeout_s, expire)
        timer.start()
        try:
            answer = _ask(process, reader.name, data)
        finally:
            timer.cancel()
        if not answer:
            self.close()
            raise UnreadableDocumentError(
                f"reading it takes longer than {self._timeout_s:g} s"
                if expired.is_set()
                else "reading it brought the reader down"
            )
        result = json.loads(answer)
        if "reason" in result:
            raise UnreadableDocumentError(result["reason"])
        pictures = {name: base64.b64decode(each) for name, each in result["pictures"].items()}
        return ConvertedDocument(**{**result, "pictures": pictures})

    def close(self) -> None:
        """End the process; a later `read` starts another."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._process = subprocess.Popen(  # noqa: S603  (every word of it is ours)
                [sys.executable, "-m", _PROGRAM, str(self._memory_bytes)],
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process


def _environment() -> dict[str, str]:
    """Return only the variables that Python needs: a hostile document must find no secret."""
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}


def _ask(process: subprocess.Popen[bytes], name: str, data: bytes) -> bytes:
    """Return the line of the answer, or nothing if the process ended before it."""
    if process.stdin is None or process.stdout is None:
        return b""
    try:
        process.stdin.write(json.dumps({"reader": name, "bytes": len(data)}).encode() + b"\n")
        process.stdin.write(data)
        process.stdin.flush()
    except BrokenPipeError:
        return b""
    line = process.stdout.readline()
    return line if line.endswith(b"\n") else b""
