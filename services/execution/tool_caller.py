"""Calls of tools on targets of the current catalogue, if the current policy allows them."""

import time
from collections.abc import Callable, Mapping

from services.execution import metrics
from services.execution.adapters.port import (
    Adapters,
    BeforeSending,
    NotSeenError,
    NotSentError,
    StoppedError,
    UnknownEffectError,
    send_at_once,
)
from services.execution.tools.catalogue import BadCatalogueError, Catalogue
from services.execution.tools.outputs import ParsedOutput, read_output
from services.execution.tools.policy import ReadPolicy
from services.execution.tools.tool import Tool, ToolEffect


class ToolCaller:
    """Caller of tools through the adapters."""

    def __init__(self, catalogue: Callable[[], Catalogue], adapters: Adapters) -> None:
        self._catalogue = catalogue
        self._adapters = adapters

    @property
    def read_policy(self) -> ReadPolicy:
        """Policy for looks that nobody asked for; the default if the catalogue cannot be read."""
        try:
            return self._catalogue().policy.reads
        except BadCatalogueError:  # then the call itself is refused
            return ReadPolicy()

    def call(
        self,
        tool: Tool,
        target_name: str,
        arguments: Mapping[str, str],
        *,
        is_whole: bool = False,
        before_sending: BeforeSending = send_at_once,
    ) -> ParsedOutput:
        """Call the tool and return its parsed output.

        See `read_output` for `is_whole`, and `ToolAdapter.call` for `before_sending`.

        Raises:
            NotSentError: Nothing can have reached the target.
            UnknownEffectError: Something may have reached it.
            NotSeenError: It is a look, and the answer does not show what was asked for.
            BadArgumentError: The arguments may not be sent.
        """
        try:
            catalogue = self._catalogue()
        except BadCatalogueError as error:
            raise StoppedError(f"the catalogue cannot be read: {error}") from error
        target = catalogue.targets_by_name.get(target_name)
        if target is None:
            raise StoppedError(f"the catalogue has no target {target_name!r} any more")
        if why := catalogue.policy.reason_to_deny(tool, target):
            raise StoppedError(why)
        checked = tool.checked(arguments)
        effect, outcome, begun = tool.effect.value, "unknown", time.monotonic()
        try:
            answer = self._adapters[tool.way.by].call(
                tool, target, checked, before_sending=before_sending
            )
            outcome = "answered"
        except NotSentError:
            outcome = "not_sent"
            raise
        finally:
            metrics.CALLS.labels(effect, outcome).inc()
            metrics.CALL_SECONDS.labels(effect).observe(time.monotonic() - begun)
        output = read_output(
            tool, answer.text, target.platform, notices=answer.notices, is_whole=is_whole
        )
        if output.unseen and tool.effect is ToolEffect.READ:
            raise NotSeenError(f"{target.name} did not show it to {tool.name}: {output.unseen}")
        if output.is_refused and tool.effect is ToolEffect.CHANGE:
            raise UnknownEffectError(f"{target.name} answered {tool.name}: {output.unseen}")
        return output
