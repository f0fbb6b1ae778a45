"""The questions that tickets over pages which nobody approved are asked, for a reader to judge.

    python tests/harm/questions.py --tickets 100 QUESTIONS.json
    python tests/harm/questions.py --tickets 100 --skip 100 OTHER_QUESTIONS.json

Half of the tickets are those of the read pages, the other half are titles of pages of two further
collections; both are drawn by hash. No model is asked. Of each question it is told which lines the
page has for it, and of each answer what it settles and which steps it takes off the path.
"""

import argparse
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import select

from services.deployment.embedded import Embedded
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.tickets.clarify.branches import Situation
from services.tickets.tables import ClarificationRow
from services.tickets.ticket.question import ClarifyingQuestion, answered_exits, words
from services.workflow.model import Citation, Workflow

DATA = Path(os.environ.get("FLOWXPERT_DATA", "../shared/data"))
FAULTS = ("openshift-runbooks/alerts", "cray-csm-docs/troubleshooting")
"""Folders of pages that are about faults."""
SHOWN_LINES = 12


def drawn(tickets: int, skip: int) -> list[dict[str, str]]:
    """The tickets, each with the page that it was written for."""
    rows = [json.loads(row) for row in (DATA / "logic" / "pages.jsonl").open()]
    read = {row["doc"] for row in rows}
    rows.sort(key=lambda row: _hash(row["doc"]))
    half, after = tickets // 2, skip // 2
    from_rows = [{"page": row["doc"], **row["ticket"]} for row in rows[after : after + half]]
    pages = sorted((page for page in _pages() if page not in read), key=_hash)
    chosen = pages[after : after + tickets - half]
    return from_rows + [{"page": page, "title": _title(page), "description": ""} for page in chosen]


def _pages() -> Iterator[str]:
    for folder in FAULTS:
        for path in (DATA / "corpus" / folder).rglob("*.md"):
            yield path.relative_to(DATA / "corpus").as_posix()


def _title(page: str) -> str:
    """Alerts are told by their name; of other pages the heading says what is wrong."""
    if "/alerts/" in page:
        return Path(page).stem
    lines = _lines(page)
    heading = next((line.lstrip("# ") for line in lines if line.startswith("# ")), "")
    return heading or Path(page).stem.replace("_", " ")


def _lines(page: str) -> list[str]:
    return (DATA / "corpus" / page).read_text(encoding="utf-8", errors="replace").splitlines()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def collect_questions(tickets: list[dict[str, str]], folder: Path) -> list[dict[str, Any]]:
    """What each of the tickets is asked, over their pages."""
    for page in {ticket["page"] for ticket in tickets}:
        path = folder / "pages" / page
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(DATA / "corpus" / page, path)
    settings = PlatformSettings(_env_file=None, data_dir=folder / "data")
    with Embedded(settings) as platform:
        platform.ingestion.ingest_here(folder / "pages")
        platform.start()
        server = ServerThread(platform.app, host="127.0.0.1", port=0)
        server.start()
        with (
            httpx.Client(base_url=server.url, timeout=150) as client,
            ThreadPoolExecutor(4) as pool,
        ):
            records = list(
                pool.map(lambda ticket: _questions_of(platform, client, ticket), tickets)
            )
        server.stop()
    return records


def _questions_of(
    platform: Embedded, client: httpx.Client, ticket: dict[str, str]
) -> dict[str, Any]:
    body = {"title": ticket["title"], "description": ticket["description"]}
    answer = client.post("/workflow", json=body, params={"wait": 120})
    walked = client.get(answer.json()["status_url"]).json()
    record = {"ticket": body, "its_page": ticket["page"], "status": walked["status"]}
    workflow = None
    if walked["workflow_id"]:
        stored = client.get(f"/v1/workflows/{walked['workflow_id']}").json()
        workflow = Workflow.model_validate(stored["workflow"])
        origin = stored["workflow"]["provenance"]
        record |= {"fit": walked["fit"], "pages": origin["document_ids"], "state": origin["state"]}
    statement = select(ClarificationRow).where(ClarificationRow.ticket_id == walked["id"])
    with platform.database.session() as session:
        rows = session.scalars(statement.order_by(ClarificationRow.turn)).all()
        questions = [
            _question(row.wording, ClarifyingQuestion.model_validate(row.question), workflow)
            for row in rows
        ]
        kept = [ClarifyingQuestion.model_validate(each) for row in rows for each in row.others]
    would = [_question(each.text, each, workflow) for each in kept]
    return record | {"questions": questions, "next_in_line": would}


def _question(
    wording: str, question: ClarifyingQuestion, workflow: Workflow | None
) -> dict[str, Any]:
    record: dict[str, Any] = {"question": wording, "about": question.about.value}
    if workflow is None or question.about.value != "steps":
        return record | {"choices": [choice.text for choice in question.choices]}
    asks = [step for step in workflow.steps if step.text in question.decisions]
    cited = dict.fromkeys(citation for step in asks for citation in step.citations)
    record["page_says"] = [_cited(citation) for citation in cited]
    return record | {"choices": [_effect(choice, workflow) for choice in question.choices]}


def _cited(citation: Citation) -> dict[str, Any]:
    lines = _lines(citation.document_id)[citation.start_line - 1 : citation.end_line]
    place = f"{citation.document_id}:{citation.start_line}-{citation.end_line}"
    return {"at": place, "lines": lines[:SHOWN_LINES]}


def _effect(choice: Any, workflow: Workflow) -> dict[str, Any]:
    exits = answered_exits(workflow, choice.facts)
    situation = Situation(workflow, {})
    gone = situation.steps_left() - situation.steps_left(exits)
    goes_on = [
        workflow.by_id[edge.target].text
        for id_, exit_ in exits.items()
        for edge in workflow.exits(id_)
        if edge.condition == exit_
    ]
    return {
        "answer": choice.text,
        "settles": [f"{fact.decision} -> {fact.answer}" for fact in choice.facts],
        "settles_decisions": len({words(fact.decision) for fact in choice.facts}),
        "leads_to": goes_on,
        "takes_away": [step.text for step in workflow.steps if step.id in gone],
    }


def main() -> None:
    """Write the questions as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tickets", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="of the same order, for other tickets")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        records = collect_questions(drawn(arguments.tickets, arguments.skip), Path(folder))
    arguments.out.write_text(json.dumps(records, ensure_ascii=False, indent=1))


if __name__ == "__main__":
    main()
