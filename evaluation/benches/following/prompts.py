"""What an agent is shown: rules, tools, the workflow in a form, and the history."""

import random
from collections.abc import Sequence

from evaluation.benches.following.acts import Act
from evaluation.benches.following.forms import Form, Place
from evaluation.benches.following.sessions import Session, Turn
from services.llm.chat_model import Message

_RULES = """\
You assist a person who handles a ticket about a device. You are shown what was said and done so
far; answer with your next act, one JSON object and nothing else, in one of two forms:

{{"thought": "why, in short"{node}, "call": {{"tool": "…", "arguments": {{"…": "…"}}}}}}
{{"thought": "why, in short"{node}, "say": "what you tell or ask", "off_procedure": false}}

- An act is one call of a tool, or something that you say; never both.
- A call names a tool of the list and gives every one of its arguments. What a page shows as an
  example (an address, a port) is replaced by what this ticket is about.
- {how}
- Ask the person only for what no tool and nothing said so far tells.
- When the person asks for something that {page} does not cover, say so with
  "off_procedure": true and call nothing in that act; then go on.
- The session ends by closing the ticket, handing it over, or going on with another page, or where
  {page} ends with asking a team. Do not end it before what is to be done was done and looked at."""
_HOW = {
    Form.NOTHING: "Nobody has written down what to do: do what a careful engineer would do.",
    Form.GUIDE: (
        "A guide knows the page. It tells you what may come next where you are: steps to do,\n"
        "  and questions that what was said and shown so far answers. Do the one step that the\n"
        "  answers lead to, and no other."
    ),
}
_FOLLOW = (
    "Follow the workflow of the page step by step: each step in its order, every look and every\n"
    "  change that your way through it has, and none of another way. Its questions are answered\n"
    "  by what was said and shown so far."
)


def rules(form: Form) -> str:
    """The system's text; nothing of pages, tickets or tools stands in it."""
    node = ', "node": "the id of the step (or question) at hand"' if form.names_nodes else ""
    page = "the task" if form is Form.NOTHING else "the page"
    return _RULES.format(node=node, how=_HOW.get(form, _FOLLOW), page=page)


def tools_of(session: Session, seed: int) -> str:
    """The tools in an order that tells nothing."""
    cards = sorted(session.cards.values(), key=lambda card: card.name)
    random.Random(f"{seed}/{session.scene.kit}").shuffle(cards)  # noqa: S311 - the same each time
    return "\n".join(card.line() for card in cards)


def page_of(session: Session, form: Form, seed: int) -> str:
    """Role, tools and workflow."""
    shown = form.shown(session.workflow)
    workflow = [f"The workflow of the page:\n\n{shown}"] if shown else []
    return "\n\n".join([session.role, f"Tools:\n{tools_of(session, seed)}", *workflow])


def heard(turn_heard: Sequence[str], form: Form, place: Place) -> str:
    """What an agent hears, with what its guide tells where it has one."""
    guide = (
        [f"The guide tells what may come next:\n{place.describe_next()}"]
        if form is Form.GUIDE
        else []
    )
    return "\n\n".join([*turn_heard, *guide])


def opening(session: Session, form: Form, seed: int, first: str) -> list[Message]:
    """The rules, and all that an agent is shown at the beginning."""
    text = f"{page_of(session, form, seed)}\n\n{first}"
    return [Message(role="system", content=rules(form)), Message(role="user", content=text)]


def histories(session: Session, form: Form, seed: int) -> list[list[Message]]:
    """The messages of each turn on the gold history."""
    dialogues: list[list[Message]] = []
    place = Place(session.workflow)
    for turn in session.turns:
        text = heard(turn.heard, form, place)
        if dialogues:
            before = session.turns[len(dialogues) - 1].act
            did = Message(
                role="assistant", content=before.dump_for_history(with_node=form.names_nodes)
            )
            dialogues.append([*dialogues[-1], did, Message(role="user", content=text)])
        else:
            dialogues.append(opening(session, form, seed, text))
        moved(place, turn)
    return dialogues


def moved(place: Place, turn: Turn) -> None:
    """Let the place go on by the gold act."""
    if turn.act.call and turn.act.node:
        place.does(turn.act.node)


def as_text(messages: Sequence[Message]) -> str:
    """For a reader of files."""
    return "\n\n".join(f"=== {each.role}\n{each.content}" for each in messages) + "\n"


def did(act: Act, form: Form) -> str:
    """An act as it is shown in a history."""
    return act.dump_for_history(with_node=form.names_nodes)
