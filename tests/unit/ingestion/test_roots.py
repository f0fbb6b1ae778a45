import io
import stat
import struct
import zipfile

import pytest

from services.contracts.ingestion import JobStatus, Upload
from services.ingestion.converters import (
    ConvertedDocument,
    FormatReader,
    UnreadableDocumentError,
    reader_of,
)
from services.ingestion.converters.isolation import IsolatedReaders
from services.kit.errors import InvalidInputError, PayloadTooLargeError
from tests.unit.ingestion.harness import IngestionHarness, counters, reasons


def archive(members: dict[str, bytes | str], **how: object) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            for attribute, value in how.items():
                setattr(info, attribute, value)
            file.writestr(info, data)
    return out.getvalue()


class TestArchives:
    def ingest(self, harness, data: bytes):
        path = harness.root / "docs.zip"
        path.write_bytes(data)
        return harness.ingest(path)

    def test_members_are_documents_under_their_paths(self, harness):
        job = self.ingest(harness, archive({"a.md": "a\n", "sub/b.txt": "b\n", "c.png": "x"}))
        assert counters(job) == {"added": 2, "skipped": 1}
        assert set(harness.documents.hashes()) == {"a.md", "sub/b.txt"}

    def test_a_new_version_of_the_archive_is_ingested_incrementally(self, harness):
        self.ingest(harness, archive({"a.md": "a\n", "b.md": "b\n", "c.md": "c\n"}))
        job = self.ingest(harness, archive({"a.md": "a\n", "b.md": "changed\n"}))
        assert counters(job) == {"unchanged": 1, "changed": 1, "deleted": 1}

    @pytest.mark.parametrize("name", ["../out.md", "/etc/out.md", "a/../../out.md", "..\\out.md"])
    def test_paths_that_lead_out_are_refused(self, harness, name):
        job = self.ingest(harness, archive({name: "x\n", "good.md": "x\n"}))
        assert counters(job) == {"added": 1, "failed": 1}
        assert "out of the archive" in job.failed[0].reason

    def test_a_drive_letter_is_refused(self, harness):
        assert counters(self.ingest(harness, archive({"C:/x.md": "x\n"}))) == {"failed": 1}

    def test_a_link_is_refused(self, harness):
        link = (stat.S_IFLNK | 0o777) << 16
        job = self.ingest(harness, archive({"a.md": "/etc/passwd"}, external_attr=link))
        assert "link" in reasons(job)["a.md"]

    def test_a_file_that_expands_beyond_reason_is_refused_alone(self, harness):
        job = self.ingest(harness, archive({"bomb.md": b"a" * 5_000_000, "good.md": "x\n"}))
        assert counters(job) == {"added": 1, "failed": 1}
        assert "bomb" in reasons(job)["bomb.md"]

    def test_an_archive_that_expands_beyond_the_limit_fails_as_a_whole(self, tmp_path):
        harness = IngestionHarness(tmp_path, max_archive_bytes=1_000)
        job = self.ingest(harness, archive({f"{n}.md": "x" * 300 for n in range(4)}))
        assert job.status is JobStatus.FAILED
        assert "1,200 bytes" in job.reason

    def test_a_size_that_lies_does_not_help_a_bomb(self, harness):
        data = bytearray(archive({"a.md": b"a" * 900_000}))
        for at in (data.index(b"PK\x03\x04") + 22, data.index(b"PK\x01\x02") + 24):
            data[at : at + 4] = struct.pack("<I", 10)
        job = self.ingest(harness, bytes(data))
        assert counters(job) == {"failed": 1}
        assert "broken" in reasons(job)["a.md"]

    def test_an_encrypted_member_is_refused(self, harness):
        data = bytearray(archive({"a.md": "x\n"}))
        data[data.index(b"PK\x03\x04") + 6] |= 1
        data[data.index(b"PK\x01\x02") + 8] |= 1
        assert "encrypted" in reasons(self.ingest(harness, bytes(data)))["a.md"]

    @pytest.mark.parametrize("data", [b"", b"no zip", archive({"a.md": "x" * 500})[:80]])
    def test_what_is_no_archive_fails_the_job(self, harness, data):
        job = self.ingest(harness, data)
        assert (job.status, "zip" in job.reason) == (JobStatus.FAILED, True)

    def test_a_damaged_member_fails_alone(self, harness):
        data = bytearray(archive({"a.md": "some words " * 50, "b.md": "fine\n"}))
        start = data.index(b"a.md") + 4
        data[start : start + 8] = b"\xff" * 8
        job = self.ingest(harness, bytes(data))
        assert counters(job) == {"added": 1, "failed": 1}


class TestUploads:
    def upload(self, harness, *files: tuple[str, bytes]):
        job = harness.service.upload([Upload(name, io.BytesIO(data)) for name, data in files])
        return harness.run_queued(job)

    def test_files_and_archives_become_documents(self, harness):
        zipped = archive({"in/c.md": "c\n", "../d.md": "d\n"})
        job = self.upload(harness, ("a.md", b"a\n"), ("sub/b.txt", b"b\n"), ("x.zip", zipped))
        assert counters(job) == {"added": 3, "failed": 1}
        assert set(harness.documents.hashes()) == {"a.md", "sub/b.txt", "in/c.md"}

    def test_each_file_that_is_left_out_is_named_with_the_reason(self, harness):
        names = (".hidden.md", "__MACOSX/a.md", "node_modules/b.md", "LICENSE.txt", "a.xlsx")
        sent = [(name, b"# a\n") for name in names]
        job = self.upload(harness, *sent, ("a.md", b"![p](p.png)\n"), ("p.png", b"x"))
        assert counters(job) == {"added": 1, "skipped": 1, "failed": len(names)}
        failures = reasons(job)
        assert set(failures) == set(names)
        assert "hidden" in failures[".hidden.md"]
        assert "'node_modules'" in failures["node_modules/b.md"]

    def test_a_later_upload_replaces_and_never_deletes(self, harness):
        self.upload(harness, ("a.md", b"a\n"), ("b.md", b"b\n"))
        job = self.upload(harness, ("a.md", b"new\n"))
        assert counters(job) == {"changed": 1}
        assert harness.service.document("a.md").text == "new\n"
        assert set(harness.documents.hashes()) == {"a.md", "b.md"}
        assert counters(self.upload(harness, ("a.md", b"new\n"))) == {"unchanged": 1}

    def test_a_broken_archive_fails_alone(self, harness):
        job = self.upload(harness, ("a.md", b"a\n"), ("x.zip", b"no zip"))
        assert counters(job) == {"added": 1, "failed": 1}

    @pytest.mark.parametrize("name", ["", "../a.md", "/a.md", "C:\\a.md", "..", "a\0.md", "."])
    def test_names_that_lead_elsewhere_are_refused(self, harness, name):
        with pytest.raises(InvalidInputError):
            self.upload(harness, (name, b"x"))
        assert harness.service.jobs() == []

    def test_a_name_given_twice_is_refused_and_nothing_kept(self, harness):
        with pytest.raises(InvalidInputError, match="twice"):
            self.upload(harness, ("a.md", b"1"), ("a.md", b"2"))
        assert list((harness.work / "uploads").iterdir()) == []

    def test_a_file_where_a_folder_stands_is_refused(self, harness):
        with pytest.raises(InvalidInputError):
            self.upload(harness, ("a.md", b"1"), ("a.md/b.md", b"2"))

    def test_no_file_is_refused(self, harness):
        with pytest.raises(InvalidInputError, match="at least one"):
            self.upload(harness)

    def test_too_much_is_refused(self, tmp_path):
        harness = IngestionHarness(tmp_path, max_upload_bytes=10, max_upload_files=2)
        with pytest.raises(PayloadTooLargeError):
            self.upload(harness, ("a.md", b"123456"), ("b.md", b"123456"))
        with pytest.raises(PayloadTooLargeError):
            self.upload(harness, *((f"{n}.md", b"1") for n in range(3)))


class TestIsolation:
    def test_a_reader_that_hangs_is_ended_and_the_next_document_read(self, monkeypatch):
        html = reader_of("a.html")
        with IsolatedReaders(timeout_s=30, memory_bytes=2**32) as isolated:
            assert isolated.read(html, b"<p>one</p>").text == "one\n"
            monkeypatch.setattr(isolated, "_timeout_s", 0.2)
            slow = b"<table>" + b"<tr><td>x|</td></tr>" * 200_000
            with pytest.raises(UnreadableDocumentError, match="longer than"):
                isolated.read(html, slow)
            monkeypatch.setattr(isolated, "_timeout_s", 30)
            assert isolated.read(html, b"<p>two</p>").text == "two\n"

    def test_a_reader_that_dies_fails_its_document_only(self):
        html = reader_of("a.html")
        unknown = FormatReader(
            "unknown", (), "", lambda _data: ConvertedDocument(""), isolated=True
        )
        with IsolatedReaders(timeout_s=30, memory_bytes=2**32) as isolated:
            with pytest.raises(UnreadableDocumentError):
                isolated.read(unknown, b"x")
            assert isolated.read(html, b"<p>two</p>").text == "two\n"

    def test_a_reader_that_takes_all_memory_is_refused_it(self):
        html = reader_of("a.html")
        with (
            IsolatedReaders(timeout_s=60, memory_bytes=200_000_000) as isolated,
            pytest.raises(UnreadableDocumentError),
        ):
            isolated.read(html, b"<p>x" * 500_000)

    def test_the_process_sees_no_secret_of_its_parent(self, monkeypatch):
        from services.ingestion.converters.isolation import _environment

        monkeypatch.setenv("FLOWXPERT_API_KEY", "secret")
        assert "FLOWXPERT_API_KEY" not in _environment()
