"""The parts of a service's OpenAPI description beside its routes: credentials and refusals."""

from collections import defaultdict
from typing import Any

from services.kit.errors import (
    FlowXpertError,
    ForbiddenError,
    InvalidInputError,
    PayloadTooLargeError,
    TooManyRequestsError,
    UnauthorizedError,
    UnavailableError,
)

Responses = dict[int | str, dict[str, Any]]

_CREDENTIALS = {
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "token": {"type": "http", "scheme": "bearer", "description": "A key, or a person's token."},
}
_RETRY_AFTER = {
    "Retry-After": {
        "description": "Seconds until the same request may be taken.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    }
}
_REFUSAL = {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}}


def refusals(*errors: type[FlowXpertError]) -> Responses:
    """Return the `responses=` of an endpoint that may refuse in these ways."""
    by_status: dict[int, list[type[FlowXpertError]]] = defaultdict(list)
    for error in errors:
        by_status[error.status_code].append(error)
    responses: Responses = {}
    for status, of in by_status.items():
        # Every operation refuses malformed requests (422).
        always = (InvalidInputError,) if status == InvalidInputError.status_code else ()
        summaries = {each: (each.__doc__ or "").partition("\n")[0] for each in (*always, *of)}
        responses[status] = _refusal(*(f"`{e.name}`: {text}" for e, text in summaries.items()))
        if all(error.retryable for error in of):
            responses[status]["headers"] = _RETRY_AFTER
    return responses


def complete_description(described: dict[str, Any]) -> dict[str, Any]:
    """Add the credentials, and the refusals of every operation, to a description."""
    components = described.setdefault("components", {})
    components["securitySchemes"] = _CREDENTIALS
    components.setdefault("schemas", {})["Refusal"] = FlowXpertError.schema()
    components["responses"] = _ANYWHERE | _WITH_A_BODY
    described["security"] = [{name: []} for name in _CREDENTIALS]
    operations = (each for path in described["paths"].values() for each in path.values())
    for operation in operations:
        common = _ANYWHERE | (_WITH_A_BODY if "requestBody" in operation else {})
        for name in common:
            reference = {"$ref": f"#/components/responses/{name}"}
            operation["responses"].setdefault(name, reference)
    return described


def _refusal(*summaries: str) -> dict[str, Any]:
    return {"description": "\n".join(summaries), "content": _REFUSAL}


def _named(*errors: type[FlowXpertError]) -> dict[str, Any]:
    return {str(status): response for status, response in refusals(*errors).items()}


_ANYWHERE = _named(UnauthorizedError, ForbiddenError, TooManyRequestsError, UnavailableError)
_WITH_A_BODY = {
    "400": _refusal("The body cannot be read, or is nested too deeply."),
    "408": _refusal("The body did not come in time."),
    **_named(PayloadTooLargeError),
}
