"""What workers do on the gateway's queue, composed alike for one process and for many."""

from collections.abc import Callable
from dataclasses import dataclass, field

from services.contracts.execution import Execution
from services.contracts.ingestion import Ingestion
from services.contracts.planner import Planner
from services.contracts.retrieval import Retrieval
from services.contracts.scorer import Scorer
from services.contracts.searching import Searching
from services.gateway import tasks
from services.gateway.adoption.doubts import Doubts
from services.gateway.archive.ticket_archive import TicketArchive
from services.gateway.clarify.answering import Answering
from services.gateway.clarify.asking import Asking
from services.gateway.clarify.choosing import Clarify
from services.gateway.clarify.comment_reading import CommentReader
from services.gateway.clarify.wording import Wording
from services.gateway.coverage.dismissals import Dismissals
from services.gateway.page_choice.chance import ChoiceChance
from services.gateway.page_choice.choosing import PageChoosing
from services.gateway.page_words.store import PageWordStore
from services.gateway.ran import Looking
from services.gateway.settings import GatewaySettings
from services.gateway.triage.desk import TriageDesk
from services.gateway.walk.catch_up import CatchUp
from services.gateway.walk.finding import Finding
from services.gateway.walk.fit import Thresholds
from services.gateway.walk.reconsidering import Reconsidering
from services.gateway.walk.tickets import Tickets
from services.gateway.walk.walk import Walk
from services.gateway.writeback.service import WriteBack
from services.gateway.writeback.weekly import LOOK_EVERY_S, WeeklyDigest
from services.kit.queue.outbox import Outbox
from services.kit.queue.periodic import Periodic
from services.kit.sql.database import Database
from services.llm.chat_model import ChatModel


@dataclass(frozen=True)
class GatewayWork:
    """The gateway's tasks over the other services."""

    settings: GatewaySettings
    database: Database
    outbox: Outbox
    retrieval: Retrieval
    planner: Planner
    scorer: Scorer
    ingestion: Ingestion
    triage: TriageDesk
    write_back: WriteBack
    thresholds: Thresholds = field(default_factory=Thresholds.shipped)
    choice_chance: ChoiceChance = field(default_factory=ChoiceChance.shipped)
    model: ChatModel | None = None
    """Words questions, and reads comments that are no plain answer."""
    execution: Callable[[], Execution] | None = None
    """Hears of workflows that surely fit; asked for when there is one, since it calls back."""
    searching: Callable[[], Searching] | None = None
    """Searches for causes; asked for when it is first needed, since the executor asks us too."""
    digest: WeeklyDigest | None = None

    def register(self) -> None:
        """Make workers do them."""
        outbox = self.outbox
        archiving = TicketArchive(
            self.database, outbox, self.ingestion, is_on=self.settings.archive_resolved
        )
        doubting = Doubts(self.database, outbox, self.ingestion)
        walk = self._walk()
        tasks.register_tasks(outbox, walk, self.write_back, self._wording())
        tasks.register_choice(outbox, walk.reconsidering)
        tasks.register_comments(outbox, self._comment_reader())
        tasks.register_learning(outbox, self.triage, archiving)
        tasks.register_doubts(outbox, doubting)
        if self.execution is not None:
            tasks.register_looking(outbox, Looking(self.execution))
        tasks.register_searches(outbox, self.searching)
        if self.digest is not None:
            tasks.register_digest(outbox, self.digest)

    def periodic(self) -> tuple[Periodic | None, ...]:
        """What is done every so often beside them."""
        told = self.digest.look if self.digest is not None else None
        dismissals = Dismissals(self.database)
        return (
            tasks.purging(self.database, self.settings),
            Periodic(
                "dismissals",
                lambda: dismissals.forget_gone(self.ingestion),
                every_s=tasks.PURGE_EVERY_S,
            ),
            Periodic("digest", told, every_s=LOOK_EVERY_S) if told else None,
        )

    def _walk(self) -> Walk:
        return create_walk(
            self.settings,
            database=self.database,
            outbox=self.outbox,
            retrieval=self.retrieval,
            planner=self.planner,
            scorer=self.scorer,
            write_back=self.write_back,
            triage=self.triage,
            thresholds=self.thresholds,
            choice_chance=self.choice_chance,
            model=self.model,
            looks=self.execution is not None,
            searches=self.searching is not None,
        )

    def _wording(self) -> Wording | None:
        return create_wording(
            self.settings,
            database=self.database,
            outbox=self.outbox,
            write_back=self.write_back,
            model=self.model,
        )

    def _comment_reader(self) -> CommentReader:
        return create_comment_reader(
            self.settings,
            database=self.database,
            outbox=self.outbox,
            write_back=self.write_back,
            model=self.model,
        )


def create_walk(
    settings: GatewaySettings,
    *,
    database: Database,
    outbox: Outbox,
    retrieval: Retrieval,
    planner: Planner,
    scorer: Scorer,
    write_back: WriteBack,
    triage: TriageDesk | None = None,
    thresholds: Thresholds | None = None,
    choice_chance: ChoiceChance | None = None,
    model: ChatModel | None = None,
    looks: bool = False,
    searches: bool = False,
) -> Walk:
    """The walk over these services, for `tasks.register_tasks`; `looks` as of `Tickets`.

    With a model questions about tickets are worded again (see `create_wording`), and it is asked
    which of the nearest pages is the one.
    """
    tickets = Tickets(
        database,
        outbox,
        write_back,
        asking_of(settings, outbox, model),
        CatchUp(database, outbox, settings),
        looks=looks,
        searches=searches,
    )
    chosen = (thresholds or Thresholds.shipped()).with_settings(settings)
    choosing = None
    if model is not None and settings.choose_page:
        fitted = choice_chance or ChoiceChance.shipped()
        choosing = PageChoosing(database, model, fitted, within_s=settings.choose_page_within_s)
    finding = Finding(retrieval, chosen, choosing, PageWordStore(database))
    return Walk(
        tickets,
        finding=finding,
        reconsidering=Reconsidering(
            database, outbox, tickets, finding, wanted_s=settings.model_within_s
        ),
        planner=planner,
        scorer=scorer,
        clarify=Clarify(settings.clarify_most, settings.clarify_least_gain),
        nearest_documents=settings.nearest_documents,
        model_within_s=settings.model_within_s,
        degrade_after_s=settings.degrade_after_s,
        triage=triage,
    )


def create_wording(
    settings: GatewaySettings,
    *,
    database: Database,
    outbox: Outbox,
    write_back: WriteBack,
    model: ChatModel | None,
) -> Wording | None:
    """What words questions about tickets with the model, for `tasks.register_tasks`."""
    if model is None:
        return None
    return Wording(
        database,
        outbox,
        model,
        write_back,
        within_s=settings.clarify_within_s,
        wanted_s=settings.model_within_s,
    )


def create_comment_reader(
    settings: GatewaySettings,
    *,
    database: Database,
    outbox: Outbox,
    write_back: WriteBack | None = None,
    model: ChatModel | None = None,
) -> CommentReader:
    """What reads comments from ticket systems, for `tasks.register_comments`."""
    asking = asking_of(settings, outbox, model)
    return CommentReader(database, outbox, Answering(database, outbox, asking, write_back))


def asking_of(settings: GatewaySettings, outbox: Outbox, model: ChatModel | None) -> Asking:
    """What asks about tickets; a model may word its questions."""
    return Asking(outbox, most=settings.clarify_most, is_worded=model is not None)
