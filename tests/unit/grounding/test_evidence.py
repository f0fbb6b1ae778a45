import pytest

from services.grounding.evidence import Evidence, terms_of, units_of_page
from services.knowledge.model import Document, KnowledgeContext
from services.workflow.model import Citation
from tests.unit.scorer.cases import CONTEXT, DOCUMENT


def test_every_list_item_is_a_unit_with_its_own_line():
    evidence = Evidence.of(CONTEXT)
    (latch,) = [unit for unit in evidence.units if "latch" in unit.text]
    assert (latch.document_id, latch.start_line) == (DOCUMENT, 17)


def test_nearest_names_the_sentence_that_says_most_of_the_words():
    evidence = Evidence.of(CONTEXT)
    unit, share = evidence.nearest(terms_of("push in the tray until the latch clicks"), 3)[0]
    assert "latch" in unit.text
    assert share == 1.0


def test_a_rare_word_weighs_more_than_one_that_is_everywhere():
    evidence = Evidence.of(CONTEXT)
    assert evidence.mass(terms_of("latch")) > evidence.mass(terms_of("tray"))


def test_citing_a_line_finds_what_stands_there():
    evidence = Evidence.of(CONTEXT)
    cited = evidence.cited([Citation(document_id=DOCUMENT, start_line=18, end_line=18)])
    assert [unit.text for unit in cited] == ["Blow the dust out of the blocked rotor."]


def test_commands_are_quoted_spacing_aside():
    evidence = Evidence.of(CONTEXT)
    assert evidence.quotes("show  environment fan")
    assert not evidence.quotes("show environment power")


def test_an_empty_context_supports_nothing():
    evidence = Evidence.of(KnowledgeContext())
    assert evidence.nearest(terms_of("anything"), 5) == []


PAGE = """# Cache full

Empty it with `du -sh /var/cache` first, then run show cache.

```
admin@leaf:~$ rm -rf /var/lib/app/cache/old && sync
Router#show version
[root@host ~]# systemctl status app
kubectl get pods  # list them
docker exec db rm -rf /data
kubectl delete ns \\
  prod-test
```

- show clock

Never run rm -rf /.

| fault | remedy |
|---|---|
| full | Run `du -s /tmp` to see |
"""


@pytest.mark.parametrize(
    ("command", "is_quoted"),
    [
        ("rm -rf /var/lib/app/cache/old && sync", True),
        ("show version", True),
        ("systemctl status app", True),
        ("kubectl get pods", True),
        ("show clock", True),
        ("du -s /tmp", True),
        ("rm -rf /var/lib/app/cache/old", False),
        ("rm -rf /data", False),
        ("kubectl delete ns prod-test", True),
        ("du -sh /var/cache", True),
        ("show cache", True),
        ("show cache\ndu -sh /var/cache", True),
        ("rm -rf /", False),
        ("rm -rf /var", False),
        ("kubectl delete ns prod", False),
        ("kubectl delete ns", False),
        ("show cache\nrm -rf /", False),
        (" ", False),
    ],
)
def test_only_whole_commands_are_quoted(command, is_quoted):
    page = Document(id="cache.md", title="Cache", text=PAGE, content_hash="0")
    assert Evidence(units_of_page(page.id, page.text)).quotes(command) is is_quoted


def test_a_command_behind_the_prompt_of_root_is_quoted_without_it() -> None:
    evidence = Evidence.of_pages(
        {"pump.md": "```\n# systemctl restart pump\n# cat /run/pump\n```\n"}
    )

    assert evidence.quotes("systemctl restart pump")
    assert not evidence.quotes("systemctl restart")
