"""What `bench clarify` runs on, from what was asked for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluation.benches.clarify.bench import (
    Ask,
    See,
    by_gain,
    drawn,
    everything,
    nothing,
    page_alone,
    walked,
)
from evaluation.material.gold_pages import PageOf, page_of_pairs
from evaluation.material.logic_rows import LogicRow
from evaluation.material.recorded_answers import RECORDED, by_record, read_answers
from services.deployment.embedded import Embedded
from services.knowledge.screening.document import ScreenedDocument
from services.tickets.settings import GatewaySettings


@dataclass(frozen=True)
class Setting:
    """The platform whose tickets are walked, or the pages that are given."""

    platform: Embedded | None
    pairs: Path
    reader: str = "recorded"
    corpus: Path | None = None

    def rows(self, rows: Sequence[LogicRow]) -> list[LogicRow]:
        """Those with a drawing; of recorded answers, the recorded ones."""
        conditional = [row for row in rows if row.reference]
        if self.reader != "recorded" or self.platform:
            return conditional
        answered, page_of = read_answers(RECORDED), self._page_of()
        return [
            row
            for row in conditional
            if row.doc and ScreenedDocument(page_of(row)).text_hash in answered
        ]

    def see(self) -> See:
        """The workflow of a ticket as it stands."""
        if self.platform:
            return walked(self.platform.retrieval, self.platform.planner, self.platform.scorer)
        if self.reader == "drawn":
            return drawn
        return page_alone(self._page_of(), by_record(read_answers(RECORDED)))

    def config(self) -> dict[str, object]:
        """What a report says of it."""
        if self.platform:
            return {"given": "ticket"}
        return {"given": "page", "reader": self.reader}

    def _page_of(self) -> PageOf:
        return page_of_pairs(self.pairs, self.corpus, self.platform)


def ways(setting: Setting, most: int | None) -> Mapping[str, Ask]:
    """The gateway's way first, then those that it stands between."""
    settings = setting.platform.gateway.settings if setting.platform else GatewaySettings()
    most_questions = most or settings.clarify_most
    return {
        "by gain": by_gain(settings.clarify_least_gain, most_questions),
        "everything": everything,
        "nothing": nothing,
    }
