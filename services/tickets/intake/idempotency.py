"""The `Idempotency-Key`: a request that is sent again gets the answer that it got."""

import hashlib
import re
import time
from dataclasses import dataclass
from typing import Self

from sqlalchemy.orm import Session

from services.contracts.gateway import Accepted
from services.kit.errors import ConflictError, InvalidInputError
from services.kit.sql.database import Database
from services.tickets.tables import IdempotencyRow

_KEY = re.compile(r"[\x21-\x7e]{1,255}")


class InvalidKeyError(InvalidInputError):
    """The `Idempotency-Key` is empty, too long, or holds more than visible ASCII."""


class IdempotencyKeyReusedError(ConflictError):
    """The `Idempotency-Key` was used before with another body."""


class KeyTakenError(Exception):
    """Another request stored its answer under the key first; this one's work is rolled back."""


@dataclass(frozen=True)
class DeliveryKey:
    """The sender's `Idempotency-Key` and a hash of what it was sent with."""

    key: str
    request_hash: str

    @classmethod
    def of_request(cls, key: str, source: str, body: bytes) -> Self:
        """Return the key of a body that was sent to this source's address, or to no source's.

        Raises:
            InvalidKeyError: It is no key.
        """
        if not _KEY.fullmatch(key):
            raise InvalidKeyError("an Idempotency-Key is 1 to 255 visible ASCII characters")
        return cls(key, hashlib.sha256(f"{source}\n".encode() + body).hexdigest())


class Answers:
    """Answers that were stored under an `Idempotency-Key`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._insert = database.insert

    def find(self, key: DeliveryKey) -> Accepted | None:
        """Return the answer to this request, if it came before.

        Raises:
            IdempotencyKeyReusedError: The key came before with another body.
        """
        with self._database.session() as session:
            row = session.get(IdempotencyRow, key.key)
        if row is None:
            return None
        if row.request_hash != key.request_hash:
            raise IdempotencyKeyReusedError(
                "this Idempotency-Key was used with another body; use a new key for a new request"
            )
        accepted = Accepted.model_validate_json(row.answer)
        return accepted.with_tickets(
            tuple(t.model_copy(update={"created": False}) for t in accepted.tickets)
        )

    def keep(self, session: Session, key: DeliveryKey, accepted: Accepted) -> None:
        """Store the answer with the work that it tells of; raises `KeyTakenError`."""
        statement = (
            self._insert(IdempotencyRow)
            .values(
                key=key.key,
                request_hash=key.request_hash,
                answer=accepted.model_dump_json(),
                created_at=time.time(),
            )
            .on_conflict_do_nothing()
            .returning(IdempotencyRow.key)
        )
        if session.scalar(statement) is None:
            raise KeyTakenError
