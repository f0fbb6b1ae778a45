"""What every store of pictures keeps."""

import pytest

from services.ingestion.pictures.page_pictures import EMBEDDED, LoadedPicture
from services.ingestion.pictures.sniffing import sniff
from services.ingestion.pictures.store import PictureStore
from tests.contract.databases import database_of
from tests.pictures import picture

RED = LoadedPicture("img/red.png", "1-2-3", picture(), sniff(picture()))
EMBEDDED_PICTURE = LoadedPicture(
    "media/image1.gif", EMBEDDED, picture("GIF"), sniff(picture("GIF"))
)
REFUSED = LoadedPicture("img/drawing.svg", "4-5-6", refusal="it is SVG")


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request):
    with database_of(request.param) as database:
        yield database


@pytest.fixture
def store(database):
    return PictureStore(database)


def paths(store, document_id="a.md"):
    return [each.path for each in store.of_document(document_id)]


def test_pictures_come_back_with_their_document_in_the_order_of_their_paths(store):
    store.replace("a.md", [RED, REFUSED])
    refused, red = store.of_document("a.md")
    assert (red.path, red.media_type, red.width, red.height) == ("img/red.png", "image/png", 3, 2)
    assert (refused.path, refused.content_hash, refused.refusal) == (REFUSED.path, "", "it is SVG")
    file = store.file("a.md", red.content_hash)
    assert (file.content, file.media_type) == (RED.content, "image/png")


def test_bytes_are_those_of_the_document_alone_and_a_refused_one_has_none(store):
    store.replace("a.md", [RED, REFUSED])
    assert store.file("b.md", RED.content_hash) is None
    assert store.file("a.md", "") is None
    assert store.file("a.md", "0" * 64) is None


def test_a_later_version_takes_the_place_of_an_earlier_one(store):
    store.replace("a.md", [RED, EMBEDDED_PICTURE])
    store.replace("a.md", [REFUSED])
    assert paths(store) == [REFUSED.path]


def test_those_that_the_document_holds_may_stay_when_the_others_are_renewed(store):
    store.replace("a.docx", [RED, EMBEDDED_PICTURE])
    store.replace("a.docx", [REFUSED], keeps_embedded=True)
    assert paths(store, "a.docx") == [REFUSED.path, EMBEDDED_PICTURE.path]


def test_fingerprints_are_by_document_and_path(store):
    store.replace("a.md", [RED, EMBEDDED_PICTURE])
    store.replace("b.md", [REFUSED])
    assert store.fingerprints(["a.md", "b.md", "c.md"]) == {
        "a.md": {RED.path: "1-2-3", EMBEDDED_PICTURE.path: EMBEDDED},
        "b.md": {REFUSED.path: "4-5-6"},
    }


def test_pictures_go_with_documents_that_are_forgotten(store, database):
    store.replace("a.md", [RED])
    store.replace("b.md", [RED])
    with database.session() as session:
        store.forget(session, ["a.md"])
    assert (paths(store), paths(store, "b.md")) == ([], [RED.path])
