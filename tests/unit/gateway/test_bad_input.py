"""Whatever is sent, the answer is a clear 4xx, and what was accepted is shown escaped."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from services.workflow.model import Citation, Step, StepKind, Transition, Workflow

JSON = {"content-type": "application/json"}
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>{{7*7}}](javascript:alert(1))"


def post(gateway, raw, path="/workflow", headers=JSON):
    return gateway.client.post(path, content=raw, headers=headers)


def deep(levels):
    return b'{"title": "x", "a": ' + b"[" * levels + b"]" * levels + b"}"


def test_a_body_that_is_no_ticket_is_refused_and_nothing_is_stored(gateway):
    for raw, status in [
        (b"", 400),
        (b"   \n", 400),
        (b"{", 400),
        (b"title=Fan", 400),
        (b"<xml/>", 400),
        (b'{"title": "a" "b"}', 400),
        (b'{"title": NaN}', 400),
        (b'{"title": "x", "labels": {"a": Infinity}}', 400),
        (b'{"title": "x", "labels": {"a": 1e999}}', 400),
        (b'{"title": "x", "n": ' + b"9" * 5000 + b"}", 400),
        (b'{"title": "\xff\xfe"}', 400),
        ('{"title": "Lüfter"}'.encode("utf-16"), 400),
        (b'{"title": "a\x00b"}', 400),
        (b'{"title": "a\\u0000b"}', 422),
        (b'{"title": "\\ud800"}', 422),
        (b'{"title": "x", "labels": {"\\udc00": "y"}}', 422),
        (deep(100_000), 400),
        (b"[]", 422),
        (b"null", 422),
        (b"{}", 422),
        (b'{"title": 1}', 422),
    ]:
        answer = post(gateway, raw)
        assert answer.status_code == status
        assert set(answer.json()) == {"error", "detail"}
        assert gateway.client.get("/v1/tickets").json()["tickets"] == []


def test_nesting_in_fields_that_nobody_reads_does_no_harm(gateway):
    assert post(gateway, deep(300)).status_code == 202


def test_a_byte_order_mark_does_no_harm(gateway):
    assert post(gateway, b'\xef\xbb\xbf{"title": "Fan"}').status_code == 202


def test_a_huge_body_is_refused_by_its_length(gateway):
    assert post(gateway, b'{"title": "' + b"x" * 2_000_000 + b'"}').status_code == 413


def test_a_huge_body_that_hides_its_length_is_refused(gateway):
    chunks = (b"x" * 100_000 for _ in range(30))
    assert post(gateway, chunks).status_code == 413


def test_a_million_labels_are_refused(gateway):
    labels = ",".join(f'"{n}":""' for n in range(1_000_000))
    assert post(gateway, f'{{"title": "x", "labels": {{{labels}}}}}'.encode()).status_code == 413


def test_as_many_labels_as_a_body_can_hold_are_refused(gateway):
    labels = ",".join(f'"{n}":""' for n in range(150_000))
    assert post(gateway, f'{{"title": "x", "labels": {{{labels}}}}}'.encode()).status_code == 413


def test_another_content_type_is_refused(gateway):
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
        "x",
    ]:
        answer = post(gateway, b'{"title": "x"}', headers={"content-type": content_type})
        assert answer.status_code == 415
        assert "application/json" in answer.json()["detail"]


def test_json_in_another_dress_is_taken(gateway):
    headers = {"content-type": "application/vnd.tickets+json; charset=utf-8"}
    assert post(gateway, b'{"title": "x"}', headers=headers).status_code == 202


def test_an_unknown_source_is_refused_with_the_list_of_sources(gateway):
    for source in ["heartbeats", "..%2f..", "%ff", "a" * 5000, "<b>", "Generic"]:
        answer = post(gateway, b'{"title": "x"}', f"/workflow/{source}")
        assert answer.status_code == 404
        if source != "..%2f..":  # that is another address altogether
            assert "alertmanager" in answer.json()["detail"]
            assert "<b>" not in answer.text or answer.headers["content-type"] == "application/json"


def hostile_workflow():
    cited = (Citation(document_id=HOSTILE, start_line=1, end_line=2),)
    return Workflow(
        title=HOSTILE,
        steps=(
            Step(
                id=HOSTILE,
                kind=StepKind.DECISION,
                text=HOSTILE,
                commands=(HOSTILE, "```\n</code>" + HOSTILE),
                expected=HOSTILE,
                citations=cited,
            ),
            Step(id="b", kind=StepKind.TERMINAL, text=HOSTILE),
            Step(id="c", kind=StepKind.TERMINAL, text=HOSTILE),
        ),
        transitions=(
            Transition(source=HOSTILE, target="b", condition=HOSTILE),
            Transition(source=HOSTILE, target="c", condition="no" + HOSTILE),
        ),
    )


@pytest.fixture
def hostile(gateway):
    """A ticket and a workflow with markup in every field, walked to the end."""
    gateway.planner.workflows = [hostile_workflow()]
    gateway.scorer.findings = (HOSTILE,)
    body = dict.fromkeys(
        ("id", "title", "description", "severity", "alert_name", "url"), HOSTILE
    ) | {"labels": {HOSTILE: HOSTILE}}
    ticket_id = gateway.post(body)["id"]
    gateway.work()
    return gateway.ticket(ticket_id)


def assert_harmless(page):
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "{{7*7}}" in page  # rendered as a template it would be 49


def test_markup_in_every_field_is_text_on_the_pages(gateway, hostile):
    assert hostile["status"] == "planned"
    for path in ("/", f"/tickets/{hostile['id']}", f"/?text={HOSTILE}", "/tickets/<script>alert"):
        page = gateway.client.get(path)
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert "<script>alert" not in page.text
        assert "<img src=x" not in page.text
        assert 'href="javascript:' not in page.text


def test_markup_in_a_workflow_is_text_in_its_drawing_and_in_markdown(gateway, hostile):
    url = hostile["candidates"][0]["url"]
    svg = gateway.client.get(url, params={"format": "svg"}).text
    assert_harmless(svg)
    assert_svg_parses(svg)
    markdown = gateway.client.get(url, params={"format": "markdown"}).text
    tokens = list(flat(MarkdownIt("commonmark").parse(markdown)))
    assert not [token for token in tokens if token.type in {"html_block", "html_inline", "image"}]
    links = [token.attrs["href"] for token in tokens if token.type == "link_open"]
    assert all(link.startswith("/sources/") for link in links)


def flat(tokens):
    for token in tokens:
        yield token
        yield from flat(token.children or ())


def assert_svg_parses(svg):
    from xml.etree import ElementTree

    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg).iter()}
    assert "script" not in tags
    assert "foreignObject" not in tags


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//evil", "http://[", ""]
)
def test_a_link_that_could_do_more_than_open_a_page_is_no_link(gateway, url):
    ticket_id = gateway.post({"title": "x", "url": url})["id"]
    page = gateway.client.get(f"/tickets/{ticket_id}").text
    assert "Open in generic" not in page


def test_failures_and_refusals_are_escaped_too(gateway):
    from services.kit.errors import InvalidInputError

    gateway.retrieval.failures = [InvalidInputError(HOSTILE)]
    ticket_id = gateway.post({"title": "x"})["id"]
    gateway.work()
    assert_harmless(gateway.client.get(f"/tickets/{ticket_id}").text)
    for lines in ("1", HOSTILE):
        page = gateway.client.get(f"/sources/{HOSTILE}", params={"lines": lines})
        assert page.status_code in {404, 422}
        assert "<script>alert" not in page.text


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "title",
                    "id",
                    "labels",
                    "alerts",
                    "version",
                    "description",
                    "annotations",
                    "status",
                ]
            )
            | st.text(max_size=6),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(body=ANY_JSON, path=st.sampled_from(["", "/alertmanager", "/generic"]))
def test_any_json_is_taken_or_refused_and_never_breaks_the_gateway(gateway, body, path):
    answer = post(gateway, json.dumps(body).encode(), f"/workflow{path}")
    assert answer.status_code in {202, 400, 413, 422}, answer.text


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(raw=st.binary(max_size=200))
def test_any_bytes_are_taken_or_refused_and_never_break_the_gateway(gateway, raw):
    assert post(gateway, raw).status_code in {202, 400, 422}


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=st.text(max_size=40),
    path=st.sampled_from(
        [
            "/v1/tickets/{}",
            "/v1/workflows/{}",
            "/v1/sources/{}?lines=1",
            "/tickets/{}",
            "/static/{}",
            "/v1/tickets?cursor={}",
            "/v1/tickets?text={}",
            "/?status={}",
            "/?cursor={}",
            "/v1/sources/a?lines={}",
            "/sources/{}",
        ]
    ),
)
def test_any_text_in_an_address_is_answered_without_a_defect(gateway, text, path):
    from urllib.parse import quote

    address = path.format(quote(text.encode("utf-8", "surrogatepass"), safe=""))
    assert gateway.client.get(address).status_code < 500


def test_a_last_event_id_that_is_none_begins_at_the_beginning(gateway):
    for last in ["-1", "x", "9" * 39, "1.5", "٣"]:
        ticket_id = gateway.post({"title": "x"})["id"]
        gateway.work()
        headers = {"Last-Event-ID": last.encode()}
        answer = gateway.client.get(f"/v1/tickets/{ticket_id}/events", headers=headers)
        assert answer.text.count("event: received") == 1
