"""Choices that a model has made, kept by all that it was shown."""

import hashlib
import time

from sqlalchemy import select

from services.gateway.page_choice.by_model import PROMPT, Chosen
from services.gateway.page_choice.shown import Shown
from services.gateway.tables import PageChoiceRow
from services.kit.sql.database import Database

_JUDGED_BY = 10
"""Latest choices by which it is seen whether a model only names one place, whatever stands there:
the pages are shuffled, so that the right one stands anywhere."""


class Choices:
    """Kept as long as tickets are: a page that changes, or comes, is another question."""

    def __init__(self, database: Database, model: str) -> None:
        """`model` by its name."""
        self._database = database
        self._model = f"{PROMPT.label} {model}"[:200]

    def known(self, shown: Shown) -> Chosen | None:
        """What was chosen among these pages for this ticket."""
        with self._database.session() as session:
            row = session.get(PageChoiceRow, self._key(shown))
        if row is None or (row.page and row.page not in shown.ids):
            return None
        return Chosen(page=row.page or None, stated=row.stated, place=row.place)

    def keep(self, shown: Shown, chosen: Chosen) -> None:
        """The first answer stands."""
        row = {
            "key": self._key(shown),
            "model": self._model,
            "page": chosen.page or "",
            "stated": chosen.stated,
            "place": chosen.place,
            "chosen_at": time.time(),
        }
        insert = self._database.insert(PageChoiceRow).values(row).on_conflict_do_nothing()
        with self._database.session() as session:
            session.execute(insert)

    def is_heard(self) -> bool:
        """Whether the model looks at what it is shown: not while it names one place throughout."""
        latest = (
            select(PageChoiceRow.place)
            .where(PageChoiceRow.model == self._model)
            .order_by(PageChoiceRow.chosen_at.desc())
            .limit(_JUDGED_BY)
        )
        with self._database.session() as session:
            places = session.scalars(latest).all()
        return len(places) < _JUDGED_BY or len(set(places)) > 1

    def _key(self, shown: Shown) -> str:
        return hashlib.sha256(f"{self._model}\0{shown.content}".encode()).hexdigest()
