"""Policy: what may be changed, when and how often. All is off until a file turns it on."""

from datetime import datetime, time
from enum import StrEnum

from pydantic import Field

from services.execution.tools.compare import CatalogueEntry
from services.execution.tools.target import Target
from services.execution.tools.tool import Tool


class Weekday(StrEnum):
    """Day of the week, as the policy file names it."""

    MON = "mon"
    TUE = "tue"
    WED = "wed"
    THU = "thu"
    FRI = "fri"
    SAT = "sat"
    SUN = "sun"


class ChangeWindow(CatalogueEntry):
    """Hours in UTC in which changes may be made."""

    days: tuple[Weekday, ...] = tuple(Weekday)
    begins: time
    ends: time
    """End of the window; a time before `begins` is on the next day."""

    def contains(self, at: datetime) -> bool:
        """Return True if the moment lies in the window."""
        days, now = list(Weekday), at.time().replace(tzinfo=None)
        today, before = days[at.weekday()], days[at.weekday() - 1]
        if self.begins <= self.ends:
            return today in self.days and self.begins <= now < self.ends
        late = today in self.days and now >= self.begins
        return late or (before in self.days and now < self.ends)


class ChangeSwitches(CatalogueEntry):
    """The three switches of a change: it needs all, and `by_hand` replaces the page's."""

    installation: bool = False
    tools: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Ids of documents whose approved procedures may change something; `*` stands for all."""
    by_hand: bool = False
    """True if a person may have a tool change something without a page."""


class ReadPolicy(CatalogueEntry):
    """Policy for looks that nobody asked for, of runs and searches that begin by themselves."""

    at_once: bool = False
    """True if a run looks as soon as a workflow surely fits; it asks nobody and changes nothing."""
    per_ticket_and_hour: int = Field(default=60, ge=0)
    """Most looks for one ticket within an hour; those beyond are left to a person."""
    per_target_and_minute: int = Field(default=20, ge=0)
    """Most looks at one target within a minute; those beyond wait."""
    per_minute: int = Field(default=120, ge=0)
    """Most looks at all targets within a minute; those beyond wait."""


class SearchPolicy(CatalogueEntry):
    """Policy for searches for causes."""

    at_once: bool = False
    """True if one begins by itself when no workflow fits a ticket."""


class Policy(CatalogueEntry):
    """Policy of a team."""

    changes: ChangeSwitches = ChangeSwitches()
    reads: ReadPolicy = ReadPolicy()
    searches: SearchPolicy = SearchPolicy()
    denied_targets: tuple[str, ...] = ()
    denied_tools: tuple[str, ...] = ()
    windows: tuple[ChangeWindow, ...] = ()
    """Windows in which changes may be made; without any, at any time."""
    changes_per_target_and_hour: int = Field(default=4, ge=0)
    requester_may_approve: bool = False
    approval_expires_s: float = Field(default=900.0, gt=0)

    def reason_to_deny(self, tool: Tool, target: Target) -> str:
        """Return why this tool may not be used on this target at all; empty if it may."""
        if target.name in self.denied_targets:
            return f"the policy denies the target {target.name}"
        if tool.name in self.denied_tools:
            return f"the policy denies the tool {tool.name}"
        if tool.target != target.kind:
            return f"{tool.name} is for a {tool.target}, and {target.name} is a {target.kind}"
        return ""

    def reason_to_deny_change(
        self,
        tool: Tool,
        target: Target,
        documents: frozenset[str],
        at: datetime,
        lately: int,
        *,
        is_by_hand: bool = False,
    ) -> str:
        """Return why this change may not be made now; empty if it may.

        `documents` are those that the step cites, `lately` the changes of this target in the hour;
        `is_by_hand`: a person has chosen the tool, without a page.
        """
        on = self.changes
        if not on.installation:
            return "changes are off in this installation"
        if tool.name not in on.tools:
            return f"changes by {tool.name} are off"
        if is_by_hand:
            is_on, scope = on.by_hand, "that no page tells"
        else:
            is_on = bool(documents) and ("*" in on.documents or documents <= set(on.documents))
            scope = "by this document's procedures"
        if not is_on:
            return f"changes {scope} are off"
        if self.windows and not any(window.contains(at) for window in self.windows):
            return "it is outside the change windows"
        if lately >= self.changes_per_target_and_hour:
            return f"{target.name} was changed {lately} times within the hour"
        return self.reason_to_deny(tool, target)
