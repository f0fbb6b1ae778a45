"""Tools over SSH: the command line of network devices through netmiko, hosts through paramiko."""

import shlex
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import paramiko
from netmiko import ConnectHandler, NetmikoAuthenticationException, NetmikoTimeoutException
from netmiko.exceptions import NetmikoBaseException

from services.execution.adapters.port import (
    BeforeSending,
    NotSentError,
    StoppedError,
    TargetAnswer,
    UnknownEffectError,
    read_secret,
    send_at_once,
)
from services.execution.tools.target import Target
from services.execution.tools.tool import SshWay, Tool, ToolEffect
from services.kit.observability.redaction import redact

CONNECT_WITHIN_S = 15.0
_PART = 32_768
_POLL_S = 0.01
HOST = "linux"
"""Platform whose commands run without a terminal."""

_VENDORS = (NetmikoBaseException, paramiko.SSHException, OSError, EOFError, ValueError)


class SshAdapter:
    """Implements `ToolAdapter`. A connection is opened for each call and closed after it."""

    def call(
        self,
        tool: Tool,
        target: Target,
        arguments: Mapping[str, str],
        *,
        before_sending: BeforeSending = send_at_once,
    ) -> TargetAnswer:
        """See `ToolAdapter.call`."""
        if not isinstance(tool.way, SshWay):
            raise TypeError(tool.name)
        if not target.host_key:
            raise StoppedError(f"no host key of {target.name} is enrolled: nothing is sent")
        vectors = [template.filled(arguments) for template in tool.way.templates]
        if target.platform == HOST:
            return _run_on_host(tool, target, vectors, before_sending)
        lines = [" ".join(words) for words in vectors]
        return TargetAnswer(_run_on_device(tool, target, lines, before_sending))


def _run_on_device(
    tool: Tool, target: Target, lines: list[str], before_sending: BeforeSending
) -> str:
    with tempfile.TemporaryDirectory() as folder:
        known_hosts = Path(folder) / "known_hosts"
        known_hosts.write_text(f"{_host_name(target)} {target.host_key}\n")
        with _translate_connection_errors(target):
            device: Any = ConnectHandler(
                device_type=target.platform,
                host=target.host,
                port=target.port,
                username=target.user,
                password=read_secret(target.password_file) if target.password_file else "",
                use_keys=target.key_file is not None,
                key_file=str(target.key_file) if target.key_file else None,
                allow_agent=target.key_file is None and target.password_file is None,
                ssh_strict=True,
                alt_host_keys=True,
                alt_key_file=str(known_hosts),
                conn_timeout=CONNECT_WITHIN_S,
                auth_timeout=CONNECT_WITHIN_S,
                banner_timeout=CONNECT_WITHIN_S,
            )
    try:
        before_sending()
        if isinstance(tool.way, SshWay) and tool.way.lines:
            return str(device.send_config_set(lines, read_timeout=tool.timeout_s))
        outputs = [device.send_command(line, read_timeout=tool.timeout_s) for line in lines]
        return "\n".join(map(str, outputs))
    except _VENDORS as error:
        raise UnknownEffectError(
            f"{target.name} did not answer {tool.name}: {_first_line(error)}"
        ) from error
    finally:
        with suppress(*_VENDORS):
            device.disconnect()


def _run_on_host(
    tool: Tool, target: Target, vectors: list[list[str]], before_sending: BeforeSending
) -> TargetAnswer:
    client = paramiko.SSHClient()
    kind, _, key = target.host_key.partition(" ")
    entry = paramiko.hostkeys.HostKeyEntry.from_line(f"{_host_name(target)} {kind} {key}")
    if entry is None or entry.key is None:
        raise StoppedError(f"the host key of {target.name} cannot be read")
    client.get_host_keys().add(_host_name(target), entry.key.get_name(), entry.key)
    client.set_missing_host_key_policy(paramiko.RejectPolicy())
    try:
        with _translate_connection_errors(target):
            client.connect(
                target.host,
                target.port,
                username=target.user,
                password=read_secret(target.password_file) if target.password_file else None,
                key_filename=str(target.key_file) if target.key_file else None,
                allow_agent=target.key_file is None and target.password_file is None,
                look_for_keys=False,
                timeout=CONNECT_WITHIN_S,
                auth_timeout=CONNECT_WITHIN_S,
                banner_timeout=CONNECT_WITHIN_S,
            )
        try:
            before_sending()
            answers = [_exec(client, tool, shlex.join(words)) for words in vectors]
        except _VENDORS as error:
            message = f"{target.name} did not answer {tool.name}: {_first_line(error)}"
            raise UnknownEffectError(message) from error
    finally:
        client.close()
    notices = tuple(line for each in answers for line in each.notices)
    return TargetAnswer("\n".join(each.text for each in answers), notices)


def _exec(client: paramiko.SSHClient, tool: Tool, command: str) -> TargetAnswer:
    """Run a command and return stdout with stderr below it, within the tool's timeout.

    Raises:
        UnknownEffectError: It ended with a status that its tool does not name, or with none.
    """
    until = time.monotonic() + tool.timeout_s
    stdin, stdout, _ = client.exec_command(command, timeout=tool.timeout_s)
    channel = stdout.channel
    stdin.channel.shutdown_write()  # nothing is typed: what waits for it ends
    output, errors = b"", b""
    while len(output) + len(errors) <= tool.most_bytes:
        if channel.recv_stderr_ready():
            errors += channel.recv_stderr(_PART)
        elif channel.recv_ready():
            output += channel.recv(_PART)
        elif channel.eof_received or channel.closed:
            break
        elif time.monotonic() > until:
            raise TimeoutError
        else:
            time.sleep(_POLL_S)
    text = output.decode(errors="replace")
    notices = errors.decode(errors="replace").strip()
    both = f"{text}{'' if text.endswith(chr(10)) or not text else chr(10)}{notices}"
    if len(output) + len(errors) <= tool.most_bytes or tool.effect is ToolEffect.CHANGE:
        channel.status_event.wait(max(0.0, until - time.monotonic()))
        status = channel.exit_status
        if isinstance(tool.way, SshWay) and status not in tool.way.statuses:
            first = (notices or text).strip().partition("\n")[0][:200]
            ended = f"ended with status {status}" if status >= 0 else "ended without a status"
            raise UnknownEffectError(f"{tool.name} {ended}{first and f': {redact(first)}'}")
    return TargetAnswer(both[: tool.most_bytes + 1], tuple(notices.splitlines()))


@contextmanager
def _translate_connection_errors(target: Target) -> Iterator[None]:
    try:
        yield
    except (NetmikoAuthenticationException, paramiko.AuthenticationException) as error:
        raise StoppedError(f"{target.name} refused to log {target.user or 'us'} in") from error
    except paramiko.BadHostKeyException as error:
        raise StoppedError(f"{target.name} shows another host key than the enrolled one") from error
    except (NetmikoTimeoutException, *_VENDORS) as error:
        if "not found in known_hosts" in str(error) or "host key" in str(error).casefold():
            message = f"{target.name} shows another host key than the enrolled one"
            raise StoppedError(message) from error
        raise NotSentError(f"{target.name} cannot be reached: {_first_line(error)}") from error


def _host_name(target: Target) -> str:
    return target.host if target.port == 22 else f"[{target.host}]:{target.port}"


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
