"""Pictures come in with their page, are renewed with it, and go with it."""

import io
import os
import subprocess
import zipfile

import pytest
from sqlalchemy import func, select, update

from services.contracts.ingestion import ForgetRequest, Upload
from services.contracts.pictures import PictureNotFoundError
from services.ingestion.pictures.sniffing import MOST_BYTES
from services.ingestion.pictures.taking import MOST_BYTES_OF_A_PAGE, picture_paths
from services.ingestion.tables import IngestedRow, PictureRow
from tests.pictures import picture
from tests.unit.ingestion.stand import Killed, Stand, counters

PAGE = "# Tray\n\n1. Look:\n\n   ![Lamps of the tray](img/lamps.png)\n\n2. Seat the tray.\n"
LAMPS = picture("PNG", (7, 5))


def known(stand: Stand, document_id: str = "net/tray.md") -> dict[str, str]:
    """The pictures of a document by path: the media type, or why there is none."""
    found = stand.service.pictures(document_id)
    return {each.path: each.media_type or each.refusal for each in found}


def rows(stand: Stand) -> int:
    with stand.database.session() as session:
        return session.scalar(select(func.count()).select_from(PictureRow)) or 0


def with_page(stand: Stand, text: str = PAGE) -> Stand:
    stand.write("net/tray.md", text)
    stand.write("net/img/lamps.png", LAMPS)
    return stand


def test_a_relative_picture_comes_in_with_its_page(stand):
    with_page(stand).ingest()
    (found,) = stand.service.pictures("net/tray.md")
    assert (found.path, found.media_type) == ("net/img/lamps.png", "image/png")
    assert (found.width, found.height, found.refusal) == (7, 5, "")
    file = stand.service.picture("net/tray.md", found.content_hash)
    assert (file.content, file.media_type) == (LAMPS, "image/png")


def test_the_document_is_the_same_with_and_without_the_file_of_its_picture(stand, tmp_path):
    with_page(stand).ingest()
    bare = Stand(tmp_path / "bare")
    bare.write("net/tray.md", PAGE)
    bare.ingest()
    assert stand.contents() == bare.contents()
    assert known(bare) == {"net/img/lamps.png": "no such file was ingested with the page"}


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
def test_what_is_refused_keeps_no_bytes_and_says_why(stand, name, data, reason):
    stand.write("net/tray.md", f"# Tray\n\n![Lamps]({name})\n")
    stand.write(f"net/{name}", data)
    stand.ingest()
    assert reason in known(stand)[f"net/{name}"]
    (found,) = stand.service.pictures("net/tray.md")
    with pytest.raises(PictureNotFoundError):
        stand.service.picture("net/tray.md", found.content_hash)


def test_the_name_says_nothing_of_the_form(stand):
    with_page(stand).write("net/img/lamps.png", picture("JPEG"))
    stand.ingest()
    assert known(stand) == {"net/img/lamps.png": "image/jpeg"}


def test_no_link_leads_out_of_the_root_and_one_within_is_followed(stand, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(LAMPS)
    stand.write("net/tray.md", "![a](out.png) ![b](folder/secret.png) ![c](in.png)\n")
    within = stand.write("img/lamps.png", LAMPS)
    (stand.root / "net" / "out.png").symlink_to(outside / "secret.png")
    (stand.root / "net" / "folder").symlink_to(outside)
    (stand.root / "net" / "in.png").symlink_to(within)
    stand.ingest()
    leads_out = "its path leads out of the ingested root"
    assert known(stand) == {
        "net/out.png": leads_out,
        "net/folder/secret.png": leads_out,
        "net/in.png": "image/png",
    }


def test_what_is_no_regular_file_is_not_read(stand):
    with_page(stand)
    (stand.root / "net/img/lamps.png").unlink()
    os.mkfifo(stand.root / "net/img/lamps.png")
    stand.ingest()
    assert known(stand) == {"net/img/lamps.png": "no such file was ingested with the page"}


def test_all_pictures_of_a_page_have_so_many_bytes_together(stand):
    number = MOST_BYTES_OF_A_PAGE // MOST_BYTES + 1
    stand.write("a.md", "\n".join(f"![n](x{n}.png)" for n in range(number)))
    for n in range(number):
        stand.write(f"x{n}.png", (LAMPS + bytes(MOST_BYTES))[:MOST_BYTES])
    stand.ingest()
    found = list(known(stand, "a.md").values())
    assert found[:-1] == ["image/png"] * (number - 1)
    assert "25,000,000 bytes together" in found[-1]


def test_a_picture_that_changed_is_renewed_though_its_page_did_not(stand):
    with_page(stand).ingest()
    before, embedded = stand.contents(), stand.embedder.texts
    stand.write("net/img/lamps.png", picture("GIF"))
    assert counters(stand.ingest()) == {"unchanged": 1, "skipped": 1}
    assert known(stand) == {"net/img/lamps.png": "image/gif"}
    (stand.root / "net/img/lamps.png").unlink()
    stand.ingest()
    assert known(stand) == {"net/img/lamps.png": "no such file was ingested with the page"}
    stand.write("net/img/lamps.png", LAMPS)
    stand.ingest()
    assert known(stand) == {"net/img/lamps.png": "image/png"}
    assert stand.contents() == before
    assert stand.embedder.texts == embedded


def test_a_picture_that_did_not_change_is_not_read_again(stand, monkeypatch):
    with_page(stand).ingest()
    os.utime(stand.root / "net/tray.md")  # the page is read, and turns out to be the same
    monkeypatch.setattr("services.ingestion.pictures.taking.sniff", None)
    assert counters(stand.ingest()) == {"unchanged": 1, "skipped": 1}
    assert known(stand) == {"net/img/lamps.png": "image/png"}


def test_a_page_that_changed_keeps_no_picture_that_it_no_longer_names(stand):
    with_page(stand).ingest()
    stand.write("net/tray.md", "# Tray\n\nSeat the tray.\n")
    stand.ingest()
    assert rows(stand) == 0


def test_pages_that_an_older_version_ingested_get_their_pictures_with_the_next_ingest(stand):
    with_page(stand).ingest()
    with stand.database.session() as session:
        session.execute(update(IngestedRow).values(pictures_taken=False))
        session.query(PictureRow).delete()
    before = stand.contents()
    assert counters(stand.ingest()) == {"unchanged": 1, "skipped": 1}
    assert known(stand) == {"net/img/lamps.png": "image/png"}
    assert stand.contents() == before


@pytest.mark.parametrize("how", ["removed", "forgotten"])
def test_pictures_go_with_their_document(stand, how):
    with_page(stand).write("net/other.md", "![Lamps](img/lamps.png)\n")
    stand.ingest()
    assert rows(stand) == 2
    if how == "removed":
        (stand.root / "net/tray.md").unlink()
        stand.ingest()
        assert (known(stand), rows(stand)) == ({}, 1)
        assert known(stand, "net/other.md") == {"net/img/lamps.png": "image/png"}
    else:
        stand.forget()
        assert rows(stand) == 0


def test_one_upload_that_is_forgotten_takes_its_pictures_along(stand):
    files = [
        ("a.md", b"![Lamps](lamps.png)\n"),
        ("b.md", b"![L](lamps.png)\n"),
        ("lamps.png", LAMPS),
    ]
    job = stand.service.upload([Upload(name, io.BytesIO(data)) for name, data in files])
    stand.run_queued(job)
    assert known(stand, "a.md") == {"lamps.png": "image/png"}
    root = stand.service.roots()[0].path
    stand.forget_queued(stand.service.forget(ForgetRequest(root=root, document="a.md")).id)
    assert (known(stand, "a.md"), rows(stand)) == ({}, 1)


def test_an_ingest_killed_at_any_write_ends_with_the_pictures_by_the_next(tmp_path_factory):
    for after in range(100):
        stand = with_page(Stand(tmp_path_factory.mktemp("killed")))
        stand.break_writing(after=after)
        try:
            stand.ingest()
            break
        except Killed:
            stand.ingest()
            assert known(stand) == {"net/img/lamps.png": "image/png"}
    assert after > 1


def test_a_page_of_another_root_keeps_its_own_pictures(stand, tmp_path):
    with_page(stand).ingest()
    other = Stand(tmp_path / "other").write("net/tray.md", "![a](x.png)\n").parents[1]
    assert counters(stand.ingest(other)) == {"failed": 1}
    assert known(stand) == {"net/img/lamps.png": "image/png"}


class TestArchives:
    def test_pictures_of_an_archive_come_from_it_alone(self, stand):
        def pack(**members: bytes | str) -> bytes:
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as file:
                for name, data in members.items():
                    file.writestr(name, data)
            return out.getvalue()

        page = "![Lamps](img/lamps.png) ![Out](/etc/x.png)\n"
        data = pack(**{"net/tray.md": page, "net/img/lamps.png": LAMPS})
        job = stand.service.upload([Upload("pages.zip", io.BytesIO(data))])
        stand.run_queued(job)
        assert known(stand) == {
            "net/img/lamps.png": "image/png",
            "etc/x.png": "no such file was ingested with the page",
        }


class TestRepositories:
    def git(self, folder, *arguments: str) -> None:
        named = ("-c", "user.name=a", "-c", "user.email=a@b.example")
        subprocess.run(["git", *named, *arguments], cwd=folder, check=True, capture_output=True)

    def test_pictures_of_a_repository_come_from_its_newest_commit(self, stand, tmp_path):
        with_page(stand, PAGE + "\n![Link](link.png) ![Folder](img) ![None](img/x/y.png)\n")
        (stand.root / "net/link.png").symlink_to("img/lamps.png")
        self.git(stand.root, "init", "-q")
        self.git(stand.root, "add", ".")
        self.git(stand.root, "commit", "-qm", "pages")
        bare = tmp_path / "pages.git"
        self.git(tmp_path, "clone", "-q", "--bare", str(stand.root), str(bare))
        stand.ingest(bare)
        nothing = "no such file was ingested with the page"
        assert known(stand) == {
            "net/img/lamps.png": "image/png",
            "net/link.png": "it is a link, which is not followed in a repository",
            "net/img": nothing,
            "net/img/x/y.png": nothing,
        }
