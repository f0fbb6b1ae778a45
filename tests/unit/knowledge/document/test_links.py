import pytest

from services.knowledge.document.links import LinkResolver, normalise_link

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
