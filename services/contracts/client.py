"""Clients of the contracts: each method of a Protocol with the route that answers it."""

import inspect
import re
from collections.abc import Callable, Iterator
from functools import wraps
from operator import attrgetter
from types import NoneType, SimpleNamespace
from typing import (
    Any,
    Concatenate,
    Literal,
    ParamSpec,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)
from urllib.parse import quote

from pydantic import BaseModel, TypeAdapter

from services.kit.http.client import ServiceClient

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")

_PLACE = re.compile(r"\{([\w.]+)(:path)?\}")


class ContractClient:
    """A contract in another process, over HTTP; it raises the refusals of the service."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client


def route(
    method: Callable[Concatenate[Any, Parameters], Answer],
    verb: Literal["GET", "POST", "PUT", "DELETE"],
    path: str,
) -> Callable[Concatenate[ContractClient, Parameters], Answer]:
    """Return a Protocol's method as one of its client.

    Parameters that the path names are put there, `{name}` quoted and `{name:path}` with its
    slashes. A message is the body, or the query of a GET by those of its fields that are set.
    Other parameters belong to the query, unless they are None. The answer is parsed as the type
    that the method returns, line by line if that is an iterator.
    """
    signature = inspect.signature(method)
    returned = get_type_hints(method)["return"]
    is_stream = get_origin(returned) is Iterator
    adapter = TypeAdapter[Any](get_args(returned)[0] if is_stream else returned)
    in_path = {place[1] for place in _PLACE.finditer(path)}

    @wraps(method)
    def call(
        self: ContractClient, /, *args: Parameters.args, **kwargs: Parameters.kwargs
    ) -> Answer:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        values = {name: value for name, value in bound.arguments.items() if value is not self}
        parts = SimpleNamespace(**values)
        where = _PLACE.sub(
            lambda place: quote(str(attrgetter(place[1])(parts)), "/" if place[2] else ""), path
        )
        message = next((each for each in values.values() if isinstance(each, BaseModel)), None)
        query = {
            name: value
            for name, value in values.items()
            if name not in in_path and value is not message and value is not None
        }
        body: Any = {} if message is None else message
        http, payload = self._client, None
        match verb:
            case "GET":
                if message is not None:
                    query |= message.model_dump(mode="json", exclude_defaults=True)
                payload = http.get(where, **query)
            case "POST" if is_stream:
                lines = http.post_for_lines(where, body)
                return cast("Answer", (adapter.validate_json(line) for line in lines))
            case "POST":
                payload = http.post(where, body, **query)
            case "PUT":
                payload = http.put(where, body, **query)
            case "DELETE":
                http.delete(where)
        answer: Answer = adapter.validate_python(None if returned is NoneType else payload)
        return answer

    return call
