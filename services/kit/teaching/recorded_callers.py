"""Callers of earlier, by what was recorded of them: who they are today, and if somebody is one."""

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from services.kit.access.caller import LOCAL, PLATFORM_KEY, Caller, CallerKind
from services.kit.tables import ApiKeyRow, PersonRow

_KEY = f"{CallerKind.KEY} "


def caller_of_id(session: Session, id_: str, name: str, kind: CallerKind | None = None) -> Caller:
    """Return a caller of earlier, by the id and name that were recorded of it.

    A key is that of its present owner.
    """
    owner, kind = "", kind or _kind_of(id_)
    if kind is CallerKind.KEY and id_ != PLATFORM_KEY.id:
        mine = select(ApiKeyRow.owner).where(
            or_(
                ApiKeyRow.prefix == id_.removeprefix("key:"),
                ApiKeyRow.name == name.removeprefix(_KEY),
            )
        )
        owner = session.scalar(mine.limit(1)) or ""
    return Caller(name, kind, id_, owner=owner)


def is_first_pair_of_eyes(session: Session, caller: Caller, id_: str, names: str) -> bool:
    """Tell whether a caller is who asked, so that the four-eyes rule wants another to vouch.

    All keys of a person are that person. Without an id the names count, joined by "and". Local use
    is a single pair.
    """
    if caller.kind is CallerKind.LOCAL:
        return False
    if id_:
        first = [caller_of_id(session, id_, names)]
    elif f" and {caller.name} and " in f" and {names} and ":
        return True
    else:
        first = [_caller_of_name(session, each) for each in names.split(" and ")]
    return any(
        each.lasting_id == caller.lasting_id
        or each.teacher == caller.teacher
        or each.owner == caller.name
        for each in first
    )


def _caller_of_name(session: Session, name: str) -> Caller:
    if name.startswith(_KEY):
        return caller_of_id(session, "", name, CallerKind.KEY)
    subject = session.scalar(select(PersonRow.subject).where(PersonRow.name == name))
    return Caller(name, CallerKind.PERSON, f"#{subject}" if subject else "")


def _kind_of(id_: str) -> CallerKind:
    if id_.startswith("key:"):
        return CallerKind.KEY
    if id_ == LOCAL.name:
        return CallerKind.LOCAL
    return CallerKind.PERSON if "#" in id_ else CallerKind.PLATFORM
