"""A composition as a page: lines of Markdown, and the procedure that cites them."""

from collections.abc import Sequence

from services.contracts.composing import ComposedCall, ComposedValue, ValueOrigin
from services.runbook.markdown import write_steps
from services.runbook.model import Body, Do, Node, Procedure


def write_page(
    title: str, instructions: Sequence[str], procedure: Procedure, calls: Sequence[ComposedCall]
) -> tuple[str, Procedure]:
    """Write the page; return it and the procedure with each node's lines and each step's call."""
    by_step = {call.step: call for call in calls}

    def with_call(node: Node) -> Body:
        if not isinstance(node, Do):
            return (node,)
        call = by_step.get(node.id)
        does = _line(call.does if call else node.text).rstrip(".")
        by = describe_call(call) if call else ""
        return (node.model_copy(update={"text": f"{does} ({by})" if by else does}),)

    lines = [f"# {_line(title)}", "", "Composed from what was asked for:", ""]
    quoted = [line for each in instructions for line in (f"> {_line(each)}", ">")]
    lines += [*quoted[:-1], *([""] if quoted else []), "## Steps", ""]
    heading = len(lines) - 1
    body = write_steps(Procedure(title="", body=procedure.body).map(node=with_call).body, lines)
    update = {"title": title, "treats": title, "body": body, "lines": ((heading, len(lines)),)}
    return "\n".join(lines) + "\n", procedure.model_copy(update=update)


def describe_call(call: ComposedCall) -> str:
    """Return the call in one line, component and parameters; empty if a person does it."""
    if not call.component:
        return ""
    arguments = ", ".join(f"{name}={display_value(name, v)}" for name, v in call.parameters.items())
    return f"{call.component}: {arguments}" if arguments else call.component


def display_value(name: str, value: ComposedValue) -> str:
    """Return a value as people read it; an unknown one becomes a placeholder."""
    if value.origin is ValueOrigin.PERSON:
        return value.value or f"<{name}>"
    if value.origin is ValueOrigin.LABEL:
        return f"<{value.value}>"
    if value.origin is ValueOrigin.FIELD:
        return f"[{value.value}]"
    text = _line(value.value)
    return f'"{text}"' if " " in text or "," in text else text


def _line(text: str) -> str:
    return " ".join(text.split())
