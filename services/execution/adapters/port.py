"""Port to what carries a tool out, with the credentials that it needs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from services.execution.tools.target import Target
from services.execution.tools.tool import Tool
from services.kit.errors import FlowXpertError


class NotSentError(FlowXpertError):
    """Error of a call that cannot have reached the target: no connection, no log-in."""

    status_code = 502


class StoppedError(NotSentError):
    """Error of a call that was not sent and is not to be retried, such as a wrong host key."""


class UnknownEffectError(FlowXpertError):
    """Error of a call that was sent, or may have been, with an unknown effect."""

    status_code = 502


class NotSeenError(FlowXpertError):
    """Error of a look whose answer does not show what was asked for."""

    status_code = 502


BeforeSending = Callable[[], None]


def send_at_once() -> None:
    """Do nothing before a call is sent."""


class TargetAnswer(NamedTuple):
    """Answer of a target."""

    text: str
    notices: tuple[str, ...] = ()
    """Lines beside it: stderr of a host, headers of an HTTP answer."""


class ToolAdapter(Protocol):
    """Adapter that carries out tools of one way. Safe to use in several threads."""

    def call(
        self,
        tool: Tool,
        target: Target,
        arguments: Mapping[str, str],
        *,
        before_sending: BeforeSending = send_at_once,
    ) -> TargetAnswer:
        """Return what the target answered: at most `tool.most_bytes` and a few more characters.

        `before_sending` is called once it is connected, before the first byte of the call leaves;
        what it raises keeps the call from being sent.

        Raises:
            NotSentError: Nothing can have reached the target.
            UnknownEffectError: Something may have reached it.
        """


Adapters = Mapping[str, ToolAdapter]
"""Adapters by the way that tools name: `ssh`, `http`, `prometheus`, `mcp`."""


def read_secret(path: Path) -> str:
    """Read a secret from its file.

    Raises:
        StoppedError: The file cannot be read or is empty.
    """
    try:
        secret = path.read_text().strip()
    except OSError as error:
        raise StoppedError(f"the credentials cannot be read: {error.strerror}") from error
    if not secret:
        raise StoppedError(f"the file {path.name} of the credentials is empty")
    return secret
