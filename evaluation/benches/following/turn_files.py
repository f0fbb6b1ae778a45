"""Turns as files for one reader: `FORM.prompt.md`, further rounds beside it, one file of answers.

In a round stands one turn of a session at most, and no history in it tells the right act of another
turn in it, whatever the session. The next round goes on from what was right. So nothing that is
asked is told before, as long as the rounds are answered in their order.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from evaluation.benches.following.acts import Act, digest_of
from evaluation.benches.following.forms import Form, Place
from evaluation.benches.following.prompts import (
    as_text,
    did,
    heard,
    histories,
    moved,
    page_of,
    rules,
)
from evaluation.benches.following.sessions import Session
from evaluation.material.recorded_following import RecordedAct
from services.kit.files import read_json

_HEAD = """\
# Next acts: {form}

{rules}

## How to answer

{rounds} files are to be answered in their order: this one, then {names}.
Answer every item of a file before you open the next one, and change no answer afterwards: a later
file shows what was right in the earlier ones. Each item is judged as a turn of its own: go on from
what was right, not from what you answered. All answers go into one file beside them,
`{form}.answers.json`, keyed by the items, each with the JSON object of one act:

{{"s01t1": {{…}}, "s02t1": {{…}}, …, "s01t2": {{…}}, …}}
"""


def key_of(session: Session, place: int) -> str:
    """Names a turn: `s03t2`."""
    return f"{session.id}t{place + 1}"


def digests(sessions: Sequence[Session], form: Form, seed: int) -> dict[str, str]:
    """What each turn asks, by its key."""
    return {
        key_of(session, place): digest_of(as_text(messages))
        for session in sessions
        for place, messages in enumerate(histories(session, form, seed))
    }


def write_turns(sessions: Sequence[Session], form: Form, seed: int, folder: Path) -> list[Path]:
    """The files of a form, in the order in which they are to be answered."""
    rounds = sorted({turn.round for session in sessions for turn in session.turns})
    items = _items(sessions, form)
    names = [f"{form.value}.prompt.md"]
    names += [f"{form.value}.round-{number:02}.md" for number in range(2, len(rounds) + 1)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, which in zip(names, rounds, strict=True):
        texts = [items[which, session.id] for session in sessions if (which, session.id) in items]
        head = [_first(sessions, form, seed, names)] if name == names[0] else [f"# {name}"]
        (folder / name).write_text("\n\n".join([*head, *texts]) + "\n", encoding="utf-8")
    return [folder / name for name in names]


def _first(sessions: Sequence[Session], form: Form, seed: int, names: Sequence[str]) -> str:
    others = f"`{names[1]}` to `{names[-1]}`"
    head = _HEAD.format(form=form.value, rules=rules(form), rounds=len(names), names=others)
    pages = []
    for name, session in _by_page(sessions, form).items():
        pages.append(f"## {name}\n\n{page_of(session, form, seed)}")
    return "\n\n".join([head, *pages, "## Items"])


def _page(session: Session, form: Form) -> str:
    """What is shown once for all sessions with it."""
    shows_page = bool(form.shown(session.workflow))
    return f"Page {session.scene.document}" if shows_page else f"Tools {session.scene.kit}"


def _by_page(sessions: Sequence[Session], form: Form) -> dict[str, Session]:
    return {_page(session, form): session for session in reversed(sessions)}


def _items(sessions: Sequence[Session], form: Form) -> Mapping[tuple[tuple[int, int], str], str]:
    items = {}
    for session in sessions:
        place = Place(session.workflow)
        for number, turn in enumerate(session.turns):
            lines = [f"### {key_of(session, number)}"]
            if number:
                right = did(session.turns[number - 1].act, form)
                lines.append(f"{session.id} goes on. What was right, and done: `{right}`")
            else:
                lines.append(f"With: {_page(session, form)}")
            lines.append(heard(turn.heard, form, place))
            items[turn.round, session.id] = "\n\n".join(lines)
            moved(place, turn)
    return items


def read_turns(
    sessions: Sequence[Session], form: Form, seed: int, folder: Path
) -> list[RecordedAct]:
    """The answers that are there, as they are kept; one that is no act is kept as none."""
    path = folder / f"{form.value}.answers.json"
    if not path.exists():
        return []
    answers = read_json(path, dict[str, Any])
    prompt_digests = digests(sessions, form, seed)
    return [
        kept(f"turn/{form.value}/{key}", prompt_digests[key], act_of(answer))
        for key, answer in answers.items()
        if key in prompt_digests
    ]


def act_of(answer: object) -> Act | None:
    """What an agent answered; None where it is no act."""
    try:
        return Act.model_validate(answer)
    except ValidationError:
        return None


def kept(key: str, prompt: str, act: Act | None, fact_indices: Sequence[int] = ()) -> RecordedAct:
    """Choices only: neither thoughts nor what was said."""
    return RecordedAct(
        key=key,
        prompt=prompt,
        node=(act.node or "") if act else "",
        tool=act.call.tool if act and act.call else "",
        arguments=dict(act.call.arguments) if act and act.call else {},
        said=bool(act and act.say),
        off_procedure=bool(act and act.off_procedure),
        told=tuple(fact_indices),
    )
