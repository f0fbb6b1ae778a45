"""From the bytes of a request to JSON, strictly."""

import json
import math
from typing import Any

from services.kit.errors import InvalidInputError


class NotJsonError(InvalidInputError):
    """The body is empty, or no JSON in UTF-8."""

    status_code = 400


def parse_json(raw: bytes) -> Any:  # noqa: ANN401 - JSON
    """Strict JSON in UTF-8: no NaN, no infinity.

    Raises:
        NotJsonError: It is something else; the message says where.
    """
    if not raw.strip():
        raise NotJsonError("the body is empty; expected a JSON object")
    try:
        return json.loads(
            raw.decode("utf-8-sig"), parse_constant=_refuse_constant, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        raise NotJsonError(f"the body is not UTF-8 at byte {error.start}") from None
    except json.JSONDecodeError as error:
        raise NotJsonError(
            f"the body is not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        ) from None
    except RecursionError:
        raise NotJsonError("the body is nested too deeply") from None
    except ValueError as error:  # numbers of thousands of digits, NaN, infinity
        raise NotJsonError(f"the body is not JSON: {str(error)[:100]}") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number is too large")
    return number
