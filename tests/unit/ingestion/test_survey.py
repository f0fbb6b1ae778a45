"""What pages mention is remembered, and what has come apart between them is told."""

import pytest

from services.contracts.ingestion import DecayKind
from services.ingestion.survey.mentions import MentionKind, mentions_of

NAMING = "# {title}\n\n1. Look at `edge-broker`.\n"


def decay_of(harness, kind):
    return [each for each in harness.service.decay() if each.kind is kind]


class TestMentions:
    def test_links_and_names_of_code_are_told_once_with_their_first_line(self):
        text = "See [a](./b.md#top).\n\n`kubectl -n kube-infra logs edge-broker`\n`edge-broker`\n"
        mentions = [(each.kind, each.what, each.line) for each in mentions_of(text, "docs/a.md")]
        assert mentions == [
            (MentionKind.LINK, "docs/b.md", 1),
            (MentionKind.NAME, "kube-infra", 3),
            (MentionKind.NAME, "edge-broker", 3),
        ]

    @pytest.mark.parametrize(
        "line",
        [
            "`kubectl get pods --field-selector x`",
            "`cat /etc/edge-broker/conf`",
            "`kubectl logs <pod-name>`",
            "`curl https://edge-broker.example.net`",
            "![a picture](edge.png)",
            "[outside](https://example.net/a.md)",
            "[template]({FOLDER_NAME}/a.md)",
            "[shortcode]({{< ref a.md >}})",
            "[broken](http://[::1)",
            "`[in code](b.md)`",
        ],
    )
    def test_options_paths_and_places_to_fill_in_are_nothing_that_is_named(self, line):
        assert mentions_of(line, "a.md") == []

    def test_a_name_of_prose_is_told_as_such_and_its_line_in_code_comes_first(self):
        text = "The edge-broker is on-call-free.\n\n`edge-broker`\n"
        mentions = [(each.what, each.line, each.in_code) for each in mentions_of(text, "a.md")]
        assert mentions == [("edge-broker", 3, True), ("on-call-free", 1, False)]

    def test_a_fence_ends_where_its_own_mark_does(self):
        text = "````\n```\n[no](b.md)\nedge-broker\n```\n````\n[yes](c.md)\n"
        assert [each.what for each in mentions_of(text, "a.md")] == ["edge-broker", "c.md"]

    def test_links_are_told_however_they_are_written(self):
        text = "---\nowner: edge-team\n---\n[a [b]\n`c`](d.md) and [e][1]\n\n[1]: f.md\n"
        mentions = [(each.what, each.line) for each in mentions_of(text, "a.md")]
        assert mentions == [("edge-team", 2), ("d.md", 4), ("f.md", 5)]


class TestNames:
    @pytest.fixture
    def named(self, harness):
        for name in ("a", "b", "c"):
            harness.write(f"{name}.md", NAMING.format(title=name))
        harness.ingest()
        return harness

    def test_a_name_that_two_others_gave_up_is_told_with_who_had_it_and_what_they_say(self, named):
        for name in ("a", "b"):
            named.write(f"{name}.md", f"# {name}\n\n1. Look at `edge-relay`.\n")
        named.ingest()
        (finding,) = decay_of(named, DecayKind.NAME)
        assert (finding.document_id, finding.line, finding.said) == ("c.md", 3, "edge-broker")
        assert (finding.was, finding.others, finding.instead) == (("a.md", "b.md"), 2, "edge-relay")

    def test_pages_that_had_it_in_prose_had_it_too(self, named):
        named.write("a.md", "# a\n\nThe edge-broker is fine.\n")
        named.ingest()
        for name in ("a", "b"):
            named.write(f"{name}.md", f"# {name}\n\nThe edge-relay is fine.\n")
        named.ingest()
        (finding,) = decay_of(named, DecayKind.NAME)
        assert finding.was == ("a.md", "b.md")

    def test_a_name_that_the_page_has_in_prose_alone_is_not_reported(self, named):
        named.write("c.md", "# c\n\nThe edge-broker is fine.\n")
        named.ingest()
        for name in ("a", "b"):
            named.write(f"{name}.md", f"# {name}\n\n1. Look.\n")
        named.ingest()
        assert decay_of(named, DecayKind.NAME) == []

    def test_pages_that_are_gone_named_it_too(self, named):
        for name in ("a", "b"):
            (named.root / f"{name}.md").unlink()
        named.ingest()
        (finding,) = decay_of(named, DecayKind.NAME)
        assert finding.was == ("a.md", "b.md")

    def test_one_page_that_gives_it_up_and_a_name_of_one_page_are_nothing(self, named):
        named.write("a.md", "# a\n\n1. Look at `edge-relay`.\n")
        named.write("b.md", "# b\n\n1. Look at `edge-broker` and `only-here`.\n")
        named.ingest()
        assert decay_of(named, DecayKind.NAME) == []

    def test_a_page_that_names_it_in_prose_knows_it_still(self, named):
        named.write("d.md", "# d\n\nThe Edge-Broker is fine.\n")
        for name in ("a", "b"):
            named.write(f"{name}.md", f"# {name}\n\n1. Look.\n")
        named.ingest()
        assert decay_of(named, DecayKind.NAME) == []

    def test_who_changes_the_line_afterwards_has_seen_it(self, named):
        for name in ("a", "b"):
            named.write(f"{name}.md", f"# {name}\n\n1. Look.\n")
        named.ingest()
        named.write("c.md", "# c\n\n1. Look at the old `edge-broker`.\n")
        named.ingest()
        assert decay_of(named, DecayKind.NAME) == []

    def test_a_root_that_was_given_up_is_no_evidence(self, named, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        (other / "x.md").write_text(NAMING.format(title="x").replace("broker", "proxy"))
        (other / "y.md").write_text(NAMING.format(title="y").replace("broker", "proxy"))
        named.write("c.md", "# c\n\n1. Look at `edge-proxy`.\n")
        named.ingest(other)
        named.ingest()
        named.forget(other)
        assert decay_of(named, DecayKind.NAME) == []


class TestLinks:
    def test_a_link_to_a_page_that_was_moved_says_where_its_text_is(self, harness):
        harness.write("a.md", "# A\n\nSee [B](net/b.md).\n")
        harness.write("net/b.md", "# B\n\nText.\n")
        harness.ingest()
        assert harness.service.decay() == []
        (harness.root / "net/b.md").rename(harness.root / "net/renamed.md")
        harness.ingest()
        (finding,) = decay_of(harness, DecayKind.LINK)
        assert (finding.document_id, finding.line, finding.said) == ("a.md", 3, "net/b.md")
        assert (finding.was, finding.instead) == (("net/b.md",), "net/renamed.md")

    def test_it_is_no_finding_any_more_once_the_link_is_mended(self, harness):
        self.test_a_link_to_a_page_that_was_moved_says_where_its_text_is(harness)
        harness.write("a.md", "# A\n\nSee [B](net/renamed.md).\n")
        harness.ingest()
        assert harness.service.decay() == []

    def test_a_page_that_never_was_is_missed_where_nearly_all_links_lead_somewhere(self, harness):
        for number in range(10):
            harness.write(f"docs/{number}.md", f"# N\n\n[next]({(number + 1) % 10}.md)\n")
        harness.write("docs/0.md", "# N\n\n[next](1.md) [missed](gone.md) [file](on-disk.md)\n")
        harness.write("docs/on-disk.md", "")
        harness.ingest()
        assert [(each.line, each.said) for each in decay_of(harness, DecayKind.LINK)] == [
            (3, "gone.md")
        ]

    def test_of_a_part_of_a_library_nobody_can_tell(self, harness):
        for number in range(3):
            harness.write(f"docs/{number}.md", f"# N\n\n[x](x{number}.md) [y](y{number}.md)\n")
        harness.ingest()
        assert harness.service.decay() == []


def test_nothing_is_written_where_nothing_changed(harness):
    harness.write("a.md", NAMING.format(title="a"))
    harness.ingest()
    with harness.database.engine.connect() as connection:
        before = connection.exec_driver_sql("SELECT * FROM ingestion_mention").all()
    harness.service.decay()
    harness.ingest()
    with harness.database.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT * FROM ingestion_mention").all() == before
