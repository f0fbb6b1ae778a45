"""The policy: what may be changed, when and how often. All is off until a file turns it on."""

from datetime import datetime, time
from enum import StrEnum

from pydantic import Field

from services.executor.tools.entry import CatalogueEntry
from services.executor.tools.target import Target
from services.executor.tools.tool import Tool


class Weekday(StrEnum):
    """As the policy file names them."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


class ChangeWindow(CatalogueEntry):
    """When changes may be made; UTC."""

    days: tuple[Weekday, ...] = tuple(Weekday)
    begins: time
    ends: time
    """Before `begins`: on the next day."""

    def holds(self, at: datetime) -> bool:
        """Whether the moment lies in it."""
        days, now = list(Weekday), at.time().replace(tzinfo=None)
        today, before = days[at.weekday()], days[at.weekday() - 1]
        if self.begins <= self.ends:
            return today in self.days and self.begins <= now < self.ends
        late = today in self.days and now >= self.begins
        return late or (before in self.days and now < self.ends)


class Switches(CatalogueEntry):
    """Three switches; a change needs all of them. One without a page needs `by_hand` for a page."""

    installation: bool = False
    tools: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Ids of documents whose approved procedures may change something; `*` stands for all."""
    by_hand: bool = False
    """Whether a person may have a tool change something that no page tells."""

    def allow(self, documents: frozenset[str], *, is_by_hand: bool) -> bool:
        """Whether the third switch is on for what rests on these documents, or on none."""
        if is_by_hand:
            return self.by_hand
        return bool(documents) and ("*" in self.documents or documents <= set(self.documents))


class Policy(CatalogueEntry):
    """What a team allows."""

    changes: Switches = Switches()
    denied_targets: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    windows: tuple[ChangeWindow, ...] = ()
    """None: at any time."""
    changes_per_target_and_hour: int = Field(default=4, ge=0)
    requester_may_approve: bool = False
    approval_expires_s: float = Field(default=900.0, gt=0)

    def denies(self, tool: Tool, target: Target) -> str:
        """Why this tool may not be used on this target at all; empty where it may."""
        if target.name in self.denied_targets:
            return f"the policy denies the target {target.name}"
        if tool.name in self.denied_tools:
            return f"the policy denies the tool {tool.name}"
        if tool.target != target.kind:
            return f"{tool.name} is for a {tool.target}, and {target.name} is a {target.kind}"
        return ""

    def denies_change(
        self,
        tool: Tool,
        target: Target,
        documents: frozenset[str],
        at: datetime,
        lately: int,
        *,
        is_by_hand: bool = False,
    ) -> str:
        """Why this change may not be made now; empty where it may.

        `documents` are those that the step cites, `lately` the changes of this target in the hour;
        `is_by_hand`: a person has chosen the tool, and no page tells it.
        """
        on = self.changes
        if not on.installation:
            return "changes are off in this installation"
        if tool.name not in on.tools:
            return f"changes by {tool.name} are off"
        if not on.allow(documents, is_by_hand=is_by_hand):
            told = "that no page tells" if is_by_hand else "by this document's procedures"
            return f"changes {told} are off"
        if self.windows and not any(window.holds(at) for window in self.windows):
            return "it is outside the change windows"
        if lately >= self.changes_per_target_and_hour:
            return f"{target.name} was changed {lately} times within the hour"
        return self.denies(tool, target)
