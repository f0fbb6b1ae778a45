"""What the steps of a composition change, and the words that it takes to propose it."""

import re
from collections.abc import Iterable

from services.contracts.composing import ComposedCall, ComposedChange, Danger
from services.language.names import parts_of
from services.planner.composing.catalogue.component import Components, Effect
from services.planner.composing.page import called
from services.workflow.dangers import danger_in_prose
from services.workflow.effects.effect import Level, effect_of
from services.workflow.looking import text_only_looks

_DESTROYS = frozenset(
    {"delete", "deletes", "remove", "removes", "drop", "drops", "destroy", "destroys"}
    | {"purge", "purges", "wipe", "wipes", "erase", "erases", "truncate", "truncates"}
    | {"format", "formats", "terminate", "terminates", "uninstall", "shutdown", "poweroff", "flush"}
)
"""Verbs by which what is there is lost or stops."""


def changes(calls: Iterable[ComposedCall], components: Components) -> tuple[ComposedChange, ...]:
    """The steps that do more than look; what is not known to look counts."""
    return tuple(found for call in calls if (found := _change(call, components)) is not None)


def words_for(found: Iterable[ComposedChange]) -> str:
    """What has to be said, naming what destroys; empty where nothing does."""
    named = dict.fromkeys(
        each.component or each.step for each in found if each.danger is Danger.DESTROYS
    )
    return f"destroy with {', '.join(named)}" if named else ""


def _change(call: ComposedCall, components: Components) -> ComposedChange | None:
    component = components.named(call.component) if call.component else None
    if component is not None and component.effect is Effect.READ:
        return None
    what = _destroys(call)
    if what:
        return _told(call, Danger.DESTROYS, what)
    if component is None and (not call.options and text_only_looks(call.does)):
        return None
    return _told(call, Danger.CHANGES, "") if component or call.options else None


def _destroys(call: ComposedCall) -> str:
    danger = danger_in_prose(call.does) or danger_in_prose(called(call))
    if danger:
        return danger.what
    for value in call.parameters.values():
        effect = effect_of(value.value) if " " in value.value else None
        if effect and effect.level is Level.DESTROYS:
            return effect.what
    words = [
        part.casefold() for piece in re.split(r"[\W_]+", call.component) for part in parts_of(piece)
    ]
    first = re.match(r"\W*(\w+)", call.does)
    found = _DESTROYS.intersection(words) or (
        _DESTROYS.intersection([first[1].casefold()] if first else [])
    )
    return f"it is to {min(found)}" if found else ""


def _told(call: ComposedCall, danger: Danger, what: str) -> ComposedChange:
    return ComposedChange(
        step=call.step, text=call.does, component=call.component, danger=danger, what=what
    )
