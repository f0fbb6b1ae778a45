"""Pictures stand where the page has them: on the ticket's page, on the page's own, in its text."""

import re

import pytest

from services.kit.errors import UnavailableError
from services.web.ui.knowledge.backend import Knowledge
from tests.checklists import checklist_of
from tests.pictures import picture
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.ingestion.proposing import proposals_of

DOCUMENT = "net/tray.md"
PAGE = """# Tray

1. Look at the lamps:

   ![Lamps & fans](img/lamps.png)

2. Seat the tray, see [![](img/seat.png)](seat.md) and ![wiring](img/wiring.svg).

| Lamp |
|---|
| ![red](img/lamps.png) |

![afar](https://x.example/a.png) ![gone](img/gone.png) ![out](../../out.png)
"""
LAMPS, SEAT = picture("PNG", (7, 5)), picture("GIF", (9, 4))
IMAGE = re.compile(r"<img [^>]*>")


@pytest.fixture
def ingestion(tmp_path):
    ingestion = IngestionHarness(tmp_path)
    ingestion.write(DOCUMENT, PAGE)
    ingestion.write("net/img/lamps.png", LAMPS)
    ingestion.write("net/img/seat.png", SEAT)
    ingestion.write("net/img/wiring.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")
    ingestion.ingest()
    return ingestion


@pytest.fixture
def knowledge(ingestion):
    return Knowledge(
        ingestion.service,
        lambda caller: ingestion.service.readings(caller.name),
        FakeRetrieval(),
        proposals_of(ingestion),
    )


@pytest.fixture
def gateway(make_gateway, knowledge):
    return make_gateway(knowledge=knowledge)


@pytest.fixture
def ticket_page(gateway):
    gateway.planner.workflows = [checklist_of(PAGE, document_id=DOCUMENT)]
    ticket_id = gateway.post({"id": "T-7", "title": "A fan stands still"})["id"]
    gateway.work()
    return f"/tickets/{ticket_id}"


@pytest.fixture
def own_page(ingestion):
    text_hash = ingestion.service.contents(DOCUMENT).document.text_hash
    return f"/knowledge/readings/{text_hash}"


def images(html):
    """The pictures between the page's beginning and its end."""
    return IMAGE.findall(html[html.index('class="page-shown') :])


def addresses(tags):
    return [re.search(r'src="([^"]+)"', each)[1].replace("&amp;", "&") for each in tags]


@pytest.mark.parametrize("where", ["ticket_page", "own_page"])
def test_pictures_stand_where_the_page_has_them(gateway, where, request):
    html = gateway.client.get(request.getfixturevalue(where)).text
    tags = images(html)
    alts = [re.search(r'alt="([^"]*)"', each)[1] for each in tags]
    assert alts == ["Lamps &amp; fans", "seat.png", "red"]
    assert 'loading="lazy"' in tags[0]
    assert 'width="7" height="5"' in tags[0]
    served = [gateway.client.get(each) for each in addresses(tags)]
    assert [each.content for each in served] == [LAMPS, SEAT, LAMPS]
    page = html[html.index('class="page-shown') :]
    assert page.index("Look at the lamps") < page.index(tags[0]) < page.index("Seat the tray")


def test_a_click_on_a_picture_opens_it_and_one_in_a_link_follows_the_link(gateway, own_page):
    html = gateway.client.get(own_page).text
    lamps, seat, _ = images(html)
    at = re.search(r'src="([^"]+)"', lamps)[1]
    assert f'<a href="{at}" title="img/lamps.png">{lamps}</a>' in html
    linked = f'<a href="/knowledge/link?from=net%2Ftray.md&amp;to=seat.md" title="seat.md">{seat}'
    assert linked in html


def test_a_picture_that_is_not_here_is_a_link_with_its_words_and_says_why(gateway, ticket_page):
    html = gateway.client.get(ticket_page).text
    lines = "/sources/net/tray.md?lines="
    for words, title in (
        ("wiring", "img/wiring.svg: it is SVG or HTML, which can hold a program"),
        ("gone", "img/gone.png: no such file was ingested with the page"),
        ("out", "../../out.png: it was not taken in with the page"),
    ):
        link = rf'<a href="{re.escape(lines)}\d+-\d+" title="{re.escape(title)}">'
        assert re.search(rf'{link}<span class="picture">{words}</span></a>', html), words
    afar = '<a href="https://x.example/a.png" rel="noreferrer noopener" target="_blank">'
    assert f'{afar}<span class="picture">afar</span></a>' in html


def test_in_the_text_of_a_document_pictures_stand_below_the_lines_that_name_them(gateway):
    html = gateway.client.get(f"/knowledge/document/{DOCUMENT}").text
    for line, alt in ((5, "Lamps &amp; fans"), (7, "img/seat.png"), (11, "red")):
        row = html[html.index(f'id="L{line}"') : html.index(f'id="L{line + 1}"')]
        assert f'alt="{alt}"' in IMAGE.search(row)[0]
    assert len(IMAGE.findall(html[html.index('id="L1"') :])) == 3


def test_pages_are_shown_without_pictures_where_ingestion_is_away(
    gateway, ticket_page, knowledge, monkeypatch
):
    def away(_document_id):
        raise UnavailableError("down for a moment")

    monkeypatch.setattr(knowledge.ingestion, "pictures", away)
    shown = gateway.client.get(ticket_page)
    assert shown.status_code == 200
    assert images(shown.text) == []
    assert "img/lamps.png: it was not taken in with the page" in shown.text


def test_for_a_page_without_pictures_ingestion_is_not_called(gateway, knowledge, monkeypatch):
    monkeypatch.setattr(knowledge.ingestion, "pictures", None)
    gateway.planner.workflows = [checklist_of("# Tray\n\n- Seat it.\n", document_id=DOCUMENT)]
    ticket_id = gateway.post({"id": "T-8", "title": "A fan stands still"})["id"]
    gateway.work()
    assert gateway.client.get(f"/tickets/{ticket_id}").status_code == 200


def test_plain_formats_keep_words_and_address(gateway, ticket_page):
    workflow_id = gateway.ticket(ticket_page.rpartition("/")[2])["workflow_id"]
    for form in ("markdown", "text"):
        text = gateway.client.get(f"/v1/workflows/{workflow_id}?format={form}").text
        assert "image: red" in text
        assert "img/lamps.png" in text
        assert "/knowledge/picture/" not in text
