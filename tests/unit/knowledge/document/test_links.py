import pytest

from services.knowledge.document.links import LinkResolver, linked_documents, normalise_link

IDS = ["docs/steps/net/check-mtu.md", "docs/net/index.md", "docs/net/fans.md", "old/net/fans.md"]


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("fans.md", "docs/net/fans.md"),
        ("../steps/x.md#top", "docs/steps/x.md"),
        ("/steps/net/check-mtu", "steps/net/check-mtu"),
        ("my%20page.md", "docs/net/my page.md"),
        ("https://example.org/a.md", ""),
        ("mailto:noc@example.org", ""),
        ("#symptoms", ""),
        ("../../../etc/passwd", ""),
    ],
)
def test_a_link_becomes_a_path_from_the_root(target: str, path: str) -> None:
    assert normalise_link(target, "docs/net/index.md") == path


@pytest.mark.parametrize(
    ("link", "document_id"),
    [
        ("docs/net/fans.md", "docs/net/fans.md"),
        ("steps/net/check-mtu", "docs/steps/net/check-mtu.md"),
        ("net/fans.html", "old/net/fans.md"),
        ("docs/net", "docs/net/index.md"),
        ("net/nowhere.md", None),
    ],
)
def test_a_path_is_found_among_the_documents(link: str, document_id: str | None) -> None:
    assert LinkResolver(IDS).resolve(link) == document_id


def test_links_of_a_page_lead_to_documents_by_how_they_are_written():
    document_ids = ["net/dns.md", "net/page.md", "other/dns.md", "runbooks/index.md"]
    batches = []

    def ids_with(parts):
        batches.append(list(parts))
        return [id_ for id_ in document_ids if any(part in id_ for part in parts)]

    written = (
        "dns.md#flush",
        "./page",
        "../runbooks/",
        "gone.md",
        "https://x.example/dns.md",
        "http://[",
        "#here",
    )
    links = linked_documents(written, "net/page.md", ids_with)
    assert links == {
        "dns.md#flush": "net/dns.md",
        "./page": "net/page.md",
        "../runbooks/": "runbooks/index.md",
    }
    assert len(batches) == 1


def test_very_many_links_are_asked_for_in_parts():
    batch_sizes = []

    def ids_with(parts):
        batch_sizes.append(len(parts))
        return [f"{part}.md" for part in parts]

    written = [f"page{n}.md" for n in range(450)]
    assert len(linked_documents(written, "a.md", ids_with)) == 450
    assert max(batch_sizes) <= 200


@pytest.mark.parametrize("link", ["net/fan.md", "net/fan.html", "net/fan.txt"])
def test_the_file_of_that_very_name_is_meant_before_others(link: str) -> None:
    assert LinkResolver(["net/fan.html", "net/fan.md", "net/fan.txt"]).resolve(link) == link
