"""Store of a model's choices, by all that it was shown."""

import hashlib
import time

from sqlalchemy import select

from services.kit.sql.database import Database
from services.tickets.page_choice.model_choice import PROMPT, ModelChoice
from services.tickets.page_choice.shown_pages import ShownPages
from services.tickets.tables import PageChoiceRow

_JUDGED_BY = 10
"""Latest choices by which it is seen whether a model only names one position, whatever is there:
the pages are shuffled, so that the right one may be anywhere.
"""


class ModelChoiceStore:
    """Store of choices, kept as long as tickets are: a page that changes is another question."""

    def __init__(self, database: Database, model: str) -> None:
        """Keep the choices of one model, by its name."""
        self._database = database
        self._model = f"{PROMPT.label} {model}"[:200]

    def find(self, shown: ShownPages) -> ModelChoice | None:
        """Return what was chosen among these pages for this ticket; None if nothing was."""
        with self._database.session() as session:
            row = session.get(PageChoiceRow, self._key(shown))
        if row is None or (row.page and row.page not in shown.ids):
            return None
        return ModelChoice(page=row.page or None, stated=row.stated, place=row.place)

    def keep(self, shown: ShownPages, chosen: ModelChoice) -> None:
        """Store the choice, unless there is one already."""
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
        """Return True if the model looks at the pages: not if it always names one position."""
        latest = (
            select(PageChoiceRow.place)
            .where(PageChoiceRow.model == self._model)
            .order_by(PageChoiceRow.chosen_at.desc())
            .limit(_JUDGED_BY)
        )
        with self._database.session() as session:
            places = session.scalars(latest).all()
        return len(places) < _JUDGED_BY or len(set(places)) > 1

    def _key(self, shown: ShownPages) -> str:
        return hashlib.sha256(f"{self._model}\0{shown.content}".encode()).hexdigest()
