"""Pictures come in with their page, are renewed with it, and go with it."""

import io
import os
import subprocess
import zipfile

import pytest
from sqlalchemy import func, select, update

from services.contracts.ingestion import ForgetRequest, Upload
from services.contracts.pictures import PictureNotFoundError
from services.ingestion.pictures.page_pictures import MOST_BYTES_OF_A_PAGE, picture_paths
from services.ingestion.pictures.sniffing import MOST_BYTES
from services.ingestion.tables import IngestedRow, PictureRow
from tests.pictures import picture
from tests.unit.ingestion.harness import IngestionHarness, Killed, counters

PAGE = "# Tray\n\n1. Look:\n\n   ![Lamps of the tray](img/lamps.png)\n\n2. Seat the tray.\n"
LAMPS = picture("PNG", (7, 5))


def pictures_of(harness: IngestionHarness, document_id: str = "net/tray.md") -> dict[str, str]:
    """The pictures of a document by path: the media type, or why there is none."""
    pictures = harness.service.pictures(document_id)
    return {each.path: each.media_type or each.refusal for each in pictures}


def rows(harness: IngestionHarness) -> int:
    with harness.database.session() as session:
        return session.scalar(select(func.count()).select_from(PictureRow)) or 0


def with_page(harness: IngestionHarness, text: str = PAGE) -> IngestionHarness:
    harness.write("net/tray.md", text)
    harness.write("net/img/lamps.png", LAMPS)
    return harness


def test_a_relative_picture_comes_in_with_its_page(harness):
    with_page(harness).ingest()
    (lamps,) = harness.service.pictures("net/tray.md")
    assert (lamps.path, lamps.media_type) == ("net/img/lamps.png", "image/png")
    assert (lamps.width, lamps.height, lamps.refusal) == (7, 5, "")
    file = harness.service.picture("net/tray.md", lamps.content_hash)
    assert (file.content, file.media_type) == (LAMPS, "image/png")


def test_the_document_is_the_same_with_and_without_the_file_of_its_picture(harness, tmp_path):
    with_page(harness).ingest()
    bare = IngestionHarness(tmp_path / "bare")
    bare.write("net/tray.md", PAGE)
    bare.ingest()
    assert harness.contents() == bare.contents()
    assert pictures_of(bare) == {"net/img/lamps.png": "no such file was ingested with the page"}


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("![a](x.png) and ![b](<y z.png>) ![a](./x.png)", ["net/x.png", "net/y z.png"]),
        ("![a][lamps]\n\n[lamps]: ../x.png", ["x.png"]),
        ("| A |\n|---|\n| ![a](x.png) |\n", ["net/x.png"]),
        ("- one\n  - [![a](x.png)](https://x.example)\n", ["net/x.png"]),
        ('<p><IMG SRC="x.png" alt="a"></p>', ["net/x.png"]),
        ("![a](/static/x.png?raw=true#full)", ["static/x.png"]),
        ("![a](https://x.example/x.png) ![b](//x.example/x.png)", []),
        ("![a](data:image/png;base64,AAAA) ![b](javascript:alert(1))", []),
        ("![a](../../x.png)", []),
        ("![a](http://[broken)", []),
        ("```\n![a](x.png)\n```\n", []),
        (f"![a]({'x' * 1100}.png)", []),
    ],
)
def test_pictures_that_are_files_of_the_root_are_those_that_a_page_shows(text, paths):
    assert picture_paths(text, "net/tray.md") == paths


def test_so_many_pictures_of_a_page_are_taken_and_no_more():
    text = "\n".join(f"![n](x{n}.png)" for n in range(60))
    assert len(picture_paths(text, "a.md")) == 50


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("lamps.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>", "SVG or HTML"),
        ("lamps.png", b"<html><script>alert(1)</script></html>", "SVG or HTML"),
        ("lamps.png", picture("PNG")[:20], "cut off"),
        ("lamps.png", b"\x89PNG\r\n\x1a\n" + b"\0" * MOST_BYTES, "5,000,008 bytes"),
        ("lamps.png", b"", "no PNG"),
    ],
)
def test_what_is_refused_keeps_no_bytes_and_says_why(harness, name, data, reason):
    harness.write("net/tray.md", f"# Tray\n\n![Lamps]({name})\n")
    harness.write(f"net/{name}", data)
    harness.ingest()
    assert reason in pictures_of(harness)[f"net/{name}"]
    (refused,) = harness.service.pictures("net/tray.md")
    with pytest.raises(PictureNotFoundError):
        harness.service.picture("net/tray.md", refused.content_hash)


def test_the_name_says_nothing_of_the_form(harness):
    with_page(harness).write("net/img/lamps.png", picture("JPEG"))
    harness.ingest()
    assert pictures_of(harness) == {"net/img/lamps.png": "image/jpeg"}


def test_no_link_leads_out_of_the_root_and_one_within_is_followed(harness, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(LAMPS)
    harness.write("net/tray.md", "![a](out.png) ![b](folder/secret.png) ![c](in.png)\n")
    within = harness.write("img/lamps.png", LAMPS)
    (harness.root / "net" / "out.png").symlink_to(outside / "secret.png")
    (harness.root / "net" / "folder").symlink_to(outside)
    (harness.root / "net" / "in.png").symlink_to(within)
    harness.ingest()
    leads_out = "its path leads out of the ingested root"
    assert pictures_of(harness) == {
        "net/out.png": leads_out,
        "net/folder/secret.png": leads_out,
        "net/in.png": "image/png",
    }


def test_what_is_no_regular_file_is_not_read(harness):
    with_page(harness)
    (harness.root / "net/img/lamps.png").unlink()
    os.mkfifo(harness.root / "net/img/lamps.png")
    harness.ingest()
    assert pictures_of(harness) == {"net/img/lamps.png": "no such file was ingested with the page"}


def test_all_pictures_of_a_page_have_so_many_bytes_together(harness):
    number = MOST_BYTES_OF_A_PAGE // MOST_BYTES + 1
    harness.write("a.md", "\n".join(f"![n](x{n}.png)" for n in range(number)))
    for n in range(number):
        harness.write(f"x{n}.png", (LAMPS + bytes(MOST_BYTES))[:MOST_BYTES])
    harness.ingest()
    outcomes = list(pictures_of(harness, "a.md").values())
    assert outcomes[:-1] == ["image/png"] * (number - 1)
    assert "25,000,000 bytes together" in outcomes[-1]


def test_a_picture_that_changed_is_renewed_though_its_page_did_not(harness):
    with_page(harness).ingest()
    before, embedded = harness.contents(), harness.embedder.texts
    harness.write("net/img/lamps.png", picture("GIF"))
    assert counters(harness.ingest()) == {"unchanged": 1, "skipped": 1}
    assert pictures_of(harness) == {"net/img/lamps.png": "image/gif"}
    (harness.root / "net/img/lamps.png").unlink()
    harness.ingest()
    assert pictures_of(harness) == {"net/img/lamps.png": "no such file was ingested with the page"}
    harness.write("net/img/lamps.png", LAMPS)
    harness.ingest()
    assert pictures_of(harness) == {"net/img/lamps.png": "image/png"}
    assert harness.contents() == before
    assert harness.embedder.texts == embedded


def test_a_picture_that_did_not_change_is_not_read_again(harness, monkeypatch):
    with_page(harness).ingest()
    os.utime(harness.root / "net/tray.md")  # the page is read, and turns out to be the same
    monkeypatch.setattr("services.ingestion.pictures.page_pictures.sniff", None)
    assert counters(harness.ingest()) == {"unchanged": 1, "skipped": 1}
    assert pictures_of(harness) == {"net/img/lamps.png": "image/png"}


def test_a_page_that_changed_keeps_no_picture_that_it_no_longer_names(harness):
    with_page(harness).ingest()
    harness.write("net/tray.md", "# Tray\n\nSeat the tray.\n")
    harness.ingest()
    assert rows(harness) == 0


def test_pages_that_an_older_version_ingested_get_their_pictures_with_the_next_ingest(harness):
    with_page(harness).ingest()
    with harness.database.session() as session:
        session.execute(update(IngestedRow).values(pictures_taken=False))
        session.query(PictureRow).delete()
    before = harness.contents()
    assert counters(harness.ingest()) == {"unchanged": 1, "skipped": 1}
    assert pictures_of(harness) == {"net/img/lamps.png": "image/png"}
    assert harness.contents() == before


@pytest.mark.parametrize("how", ["removed", "forgotten"])
def test_pictures_go_with_their_document(harness, how):
    with_page(harness).write("net/other.md", "![Lamps](img/lamps.png)\n")
    harness.ingest()
    assert rows(harness) == 2
    if how == "removed":
        (harness.root / "net/tray.md").unlink()
        harness.ingest()
        assert (pictures_of(harness), rows(harness)) == ({}, 1)
        assert pictures_of(harness, "net/other.md") == {"net/img/lamps.png": "image/png"}
    else:
        harness.forget()
        assert rows(harness) == 0


def test_one_upload_that_is_forgotten_takes_its_pictures_along(harness):
    files = [
        ("a.md", b"![Lamps](lamps.png)\n"),
        ("b.md", b"![L](lamps.png)\n"),
        ("lamps.png", LAMPS),
    ]
    job = harness.service.upload([Upload(name, io.BytesIO(data)) for name, data in files])
    harness.run_queued(job)
    assert pictures_of(harness, "a.md") == {"lamps.png": "image/png"}
    root = harness.service.roots()[0].path
    harness.forget_queued(harness.service.forget(ForgetRequest(root=root, document="a.md")).id)
    assert (pictures_of(harness, "a.md"), rows(harness)) == ({}, 1)


def test_an_ingest_killed_at_any_write_ends_with_the_pictures_by_the_next(tmp_path_factory):
    for after in range(100):
        harness = with_page(IngestionHarness(tmp_path_factory.mktemp("killed")))
        harness.break_writing(after=after)
        try:
            harness.ingest()
            break
        except Killed:
            harness.ingest()
            assert pictures_of(harness) == {"net/img/lamps.png": "image/png"}
    assert after > 1


def test_a_page_of_another_root_keeps_its_own_pictures(harness, tmp_path):
    with_page(harness).ingest()
    other = IngestionHarness(tmp_path / "other").write("net/tray.md", "![a](x.png)\n").parents[1]
    assert counters(harness.ingest(other)) == {"failed": 1}
    assert pictures_of(harness) == {"net/img/lamps.png": "image/png"}


class TestArchives:
    def test_pictures_of_an_archive_come_from_it_alone(self, harness):
        def pack(**members: bytes | str) -> bytes:
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as file:
                for name, data in members.items():
                    file.writestr(name, data)
            return out.getvalue()

        page = "![Lamps](img/lamps.png) ![Out](/etc/x.png)\n"
        data = pack(**{"net/tray.md": page, "net/img/lamps.png": LAMPS})
        job = harness.service.upload([Upload("pages.zip", io.BytesIO(data))])
        harness.run_queued(job)
        assert pictures_of(harness) == {
            "net/img/lamps.png": "image/png",
            "etc/x.png": "no such file was ingested with the page",
        }


class TestRepositories:
    def git(self, folder, *arguments: str) -> None:
        named = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)

    def test_pictures_of_a_repository_come_from_its_newest_commit(self, harness, tmp_path):
        with_page(harness, PAGE + "\n![Link](link.png) ![Folder](img) ![None](img/x/y.png)\n")
        (harness.root / "net/link.png").symlink_to("img/lamps.png")
        self.git(harness.root, "init", "-q")
        self.git(harness.root, "add", ".")
        self.git(harness.root, "commit", "-qm", "pages")
        bare = tmp_path / "pages.git"
        self.git(tmp_path, "clone", "-q", "--bare", str(harness.root), str(bare))
        harness.ingest(bare)
        nothing = "no such file was ingested with the page"
        assert pictures_of(harness) == {
            "net/img/lamps.png": "image/png",
            "net/link.png": "it is a link, which is not followed in a repository",
            "net/img": nothing,
            "net/img/x/y.png": nothing,
        }
