"""Pages under attack: what strangers write comes in where it really comes in, and stays text."""

import json
import re
from collections.abc import Iterator
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from services.knowledge.screening.document import hash_of
from tests.e2e.conftest import Running
from tests.readings import drawn_reading
from tests.waiting import eventually

PAYLOADS = (
    "<script>pwn()</script>",
    '"><img src=x onerror=pwn()>',
    "'-pwn()-'\" autofocus onfocus=pwn() x=\"",
    '<svg onload=pwn()><a xlink:href="javascript:pwn()"><text>x</text></a></svg>',
    "javascript:pwn()//%0Apwn()",
    "</title></textarea></style></script><script>pwn()</script>",
    "{{ 7*191 }} ${7*191} {% raw %} <%= 7*191 %> #{7*191} {{constructor.constructor('pwn()')()}}",
    "<style>*{display:none}@import'//evil.example/c.css';</style>",
    "<iframe srcdoc='<script>parent.pwn()</script>'></iframe><object data=//evil.example></object>",
    "<base href=//evil.example/><meta http-equiv=refresh content='0;url=//evil.example/'>",
    "<form action=//evil.example><button autofocus onfocus=pwn()>go</button></form>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;<img src=x onerror=pwn()>'>",
    "[go](javascript:pwn()) ![go](//evil.example/a.png) <a href='data:text/html,<b>x'>a</a>",
    "%3Cscript%3Epwn()%3C/script%3E &lt;script&gt;pwn()&lt;/script&gt; \\u003cscript\\u003e",
    "\u202egnp.exe\u2066 \u0430dmin \ufeff\u200b\u2028pwn()\u0085 \x1b[31m \x07",
)
NAME = "<img src=x onerror=pwn()>"
"""Where no slash may stand: of a team, of a file."""
LONG = "A" * 40_000
PAGE = f"""# Hydraulic flange leaks {NAME}

{"B" * 100_000}

## Diagnosis <script>pwn()</script>

1. Look at the hydraulic flange <script>pwn()</script> of the pump {NAME}.

   ```
   pump-1# show flange '"><img src=x onerror=pwn()>'
   ```

2. If the hydraulic flange drips "><svg onload=pwn()>, tighten it; otherwise
   [go on](javascript:pwn()).
3. Call the <a href="javascript:pwn()" onclick="pwn()">plumber</a> {{{{ 7*191 }}}}.

```mermaid
%%{{init: {{"securityLevel": "loose", "themeCSS": "*{{background:url(//evil.example/m)}}"}}}}%%
flowchart TD
  A["Is the flange wet? {NAME}"] -->|"<script>pwn()</script>"| B["Dry the flange"]
  A -->|no| C["<iframe src=javascript:pwn()></iframe>"]
  click A "javascript:pwn()" "tip"
  click B call pwn()
  click C href "javascript:pwn()"
  style A fill:url(//evil.example/s)
```

<script>pwn()</script><img src=x onerror=pwn()><iframe src="javascript:pwn()"></iframe>
"""
KNOWLEDGE = (
    "/knowledge/readings",
    "/knowledge/documents",
    "/knowledge/document/{}",
    "/knowledge/incidents",
    "/knowledge/coverage",
    "/knowledge/upload",
)
"""Pages that show what a document says; a new one has its line here."""

WATCH = """
globalThis.pwn = () => console.error("a payload ran");
globalThis.alert = globalThis.prompt = globalThis.confirm = pwn;
addEventListener("securitypolicyviolation", (event) => console.error("CSP", event.blockedURI));
"""
SUSPICIOUS = """() => [...document.querySelectorAll("*")].flatMap((element) =>
  [...element.attributes].filter(({ name, value }) =>
    name.startsWith("on") || name === "style" || name === "srcdoc" ||
    (["href", "src", "action", "formaction", "xlink:href", "data"].includes(name) &&
      !/^https?:$/.test(new URL(value, location).protocol)) ||
    (["src", "action", "formaction"].includes(name) &&
      new URL(value, location).origin !== location.origin)
  ).map(({ name, value }) => `${element.nodeName} ${name}=${value}`)).concat(
    [...document.querySelectorAll("iframe, object, embed, base, style, script:not([src])")]
      .map((element) => element.outerHTML))"""


@pytest.fixture
def page(browser, running) -> Iterator[Page]:
    """A page that notes whatever a payload could bring about."""
    context = browser.new_context(base_url=running.url)
    context.add_init_script(WATCH)
    page = context.new_page()
    noted: list[str] = []
    page.on("pageerror", lambda error: noted.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (noted.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("popup", lambda popup: noted.append(f"popup: {popup.url}"))
    page.on("console", lambda m: noted.append(m.text) if m.type in {"error", "warning"} else None)
    page.on("request", lambda r: noted.append(r.url) if not r.url.startswith(running.url) else None)
    yield page
    context.close()
    assert [each for each in noted if "status of 4" not in each] == []


def inert(page: Page, address: str) -> str:
    """Opens the page, which must hold nothing but text of strangers; gives what it shows."""
    page.goto(address)
    assert page.evaluate(SUSPICIOUS) == [], address
    shown = page.evaluate("document.documentElement.textContent")
    evaluated = re.search(r"(?<![0-9a-f])1337(?![0-9a-f])", shown)  # ids of traces are hexadecimal
    assert evaluated is None, address
    return " ".join(shown.split())


def posted(running: Running, number: int, payload: str) -> str:
    fields = ("title", "alert_name", "severity", "service", "team", "url")
    body = dict.fromkeys(fields, payload) | {
        "id": f"ATTACK-{number} {payload}"[:390],
        "labels": {payload: payload, "long": LONG[:900]},
        "description": f"{payload}\n{LONG if number == 0 else ''}",
    }
    answer = running.post(body)
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def commented(running: Running) -> str:
    """A ticket of Jira whose comments, question and triage are all hostile."""
    fields = {"summary": PAYLOADS[0], "status": {"name": "Open", "statusCategory": {"key": "new"}}}
    issue = {"id": "666", "key": "EVIL-1", "fields": fields}
    created = {"webhookEvent": "jira:issue_created", "issue": issue}
    ticket_id = running.walked(created | {"x": 1})["id"]
    for number, payload in enumerate(PAYLOADS):
        remark = {"id": str(number), "author": {"displayName": payload}, "body": payload}
        event = {"webhookEvent": "comment_created", "issue": issue, "comment": remark}
        assert running.post(event, "/workflow/jira").status_code == 202
    team = {"name": NAME, "description": PAYLOADS[0]}
    running.client.post("/v1/teams", json=team).raise_for_status()
    triage = f"/v1/tickets/{ticket_id}/triage"
    running.client.post(triage, json={"reason": PAYLOADS[1]}).raise_for_status()
    running.client.put(f"/v1/tickets/{ticket_id}/team", json={"team": NAME}).raise_for_status()
    return ticket_id


def uploaded(running: Running) -> str:
    """A hostile document by its hostile name; gives its id."""
    files = {"files": (f"{NAME}.md", PAGE.encode())}
    job = running.client.post("/v1/documents", files=files).raise_for_status().json()
    where = f"/v1/ingestions/{job['id']}"
    job = eventually(
        lambda: running.client.get(where).json(), lambda now: now["status"] in {"done", "failed"}
    )
    assert (job["status"], job["added"]) == ("done", 1), job
    documents = running.client.get("/v1/documents", params={"limit": 500}).json()
    return next(each["id"] for each in documents if "onerror" in each["id"])


def read(running: Running) -> None:
    """Somebody reads the hostile document word for word, and approves it."""
    lines = PAGE.split("\n")

    def at(begins: str) -> list[list[int]]:
        number = next(n for n, line in enumerate(lines, start=1) if line.strip().startswith(begins))
        return [[number, number]]

    look = {
        "do": f"Look at the hydraulic flange <script>pwn()</script> of the pump {NAME}",
        "at": at("1. "),
        "commands": ["show flange '\"><img src=x onerror=pwn()>'"],
    }
    tighten = {"do": "Tighten it <iframe src=javascript:pwn()></iframe>", "at": at("2. ")}
    drips = {"when": 'Does it drip "><svg onload=pwn()>?', "at": at("2. "), "steps": [tighten]}
    goes_on = {"steps": [{"do": "[go on](javascript:pwn())", "at": at("[go on]")}]}
    call = {"do": 'Call the <a href="javascript:pwn()">plumber</a> {{ 7*191 }}', "at": at("3. ")}
    choice = {"choice": "exclusive", "arms": [drips, goes_on]}
    reading = drawn_reading(f"Hydraulic flange leaks {NAME}", look, choice, call)
    line = json.dumps({"text_hash": hash_of(PAGE), "reading": reading.model_dump(mode="json")})
    file = {"file": ("readings.jsonl", line.encode())}
    taken = running.client.post("/v1/readings/import?approve=true", files=file)
    assert not taken.raise_for_status().json()["refused"], taken.text


def test_tickets_of_strangers_are_text_in_the_list_and_on_their_pages(page, running):
    posts = [posted(running, number, payload) for number, payload in enumerate(PAYLOADS)]
    shown = inert(page, "/?text=attack-")
    filtered = inert(page, f"/?severity={quote(PAYLOADS[0])}&team={quote(PAYLOADS[0][:200])}")
    assert PAYLOADS[0] in filtered
    for ticket_id, payload in zip(posts, PAYLOADS, strict=True):
        text = " ".join(payload.split())
        if payload.isprintable():
            assert text in shown
        one = inert(page, f"/tickets/{ticket_id}")
        if payload.isprintable():
            assert page.locator("h1").inner_text() == text
            assert one.count(text) >= 3
        assert page.evaluate("document.title").endswith("FlowXpert")


def test_comments_and_teams_of_strangers_are_text(page, running):
    ticket_id = commented(running)
    shown = inert(page, f"/tickets/{ticket_id}")
    for payload in (NAME, *filter(str.isprintable, PAYLOADS[:6])):
        assert " ".join(payload.split()) in shown
    inert(page, f"/?team={quote(NAME)}")


def test_a_hostile_document_is_text_in_steps_drawings_and_sources(page, running):
    document_id = uploaded(running)
    leak = {"title": "Hydraulic flange of the pump leaks"}
    unread = running.walked(leak | {"id": "FLANGE-1"})
    assert unread["workflow_id"], unread["reason"]
    shown = inert(page, f"/tickets/{unread['id']}")
    for text in (
        "Look at the hydraulic flange of the pump",
        "show flange '\"><img src=x onerror=pwn()>'",
        "[go on](javascript:pwn())",
        "plumber {{ 7*191 }}",
        'click A "javascript:pwn()" "tip"',
    ):
        assert text in shown
    assert page.locator(".page-shown li.box").count() == 3
    read(running)
    ticket = running.walked(leak | {"id": "FLANGE-2"})
    assert ticket["workflow_id"], ticket["reason"]
    shown = inert(page, f"/tickets/{ticket['id']}")
    assert f"Look at the hydraulic flange <script>pwn()</script> of the pump {NAME}" in shown
    page.locator(".drawing a").first.click()
    page.locator("a.cite").first.click()
    page.locator("dialog#source .line").first.wait_for()
    assert page.evaluate(SUSPICIOUS) == []
    for at, candidate in [(t["id"], c) for t in (unread, ticket) for c in t["candidates"]]:
        inert(page, f"/tickets/{at}?candidate={candidate['id']}")
        page.goto(f"{candidate['url']}?format=svg")
        assert page.evaluate(SUSPICIOUS) == []
    source = inert(page, f"/sources/{quote(document_id)}?lines=1-60")
    assert NAME in source
    assert 'click A "javascript:pwn()" "tip"' in source
    for address in KNOWLEDGE:
        inert(page, address.format(quote(document_id)))


@pytest.mark.parametrize(
    "address",
    [
        "/?text={}",
        "/?cursor={}&sort=severity",
        "/?within={}",
        "/?source={}&service={}&status={}",
        "/tickets/{}",
        "/sources/{}?lines={}",
        "/nowhere/{}",
    ],
)
def test_an_address_of_strangers_is_text(page, address):
    for payload in PAYLOADS[:6]:
        inert(page, address.replace("{}", quote(payload, safe="")))


VIOLATIONS = [
    "img-src",
    "script-src-attr",  # of the picture
    "script-src-attr",  # of the drawing
    "script-src-elem",  # the script
    "script-src-elem",  # the link
    "style-src-attr",
]
"""What the policy is to stop, by the directives that say so."""


def test_the_policy_stops_what_would_get_in_all_the_same(browser, running):
    context = browser.new_context(base_url=running.url)
    context.add_init_script(
        """globalThis.pwn = () => { globalThis.ran = true; };
        globalThis.violations = [];
        addEventListener("securitypolicyviolation", (event) => {
          globalThis.violations.push(event.effectiveDirective);
        });"""
    )
    page = context.new_page()
    page.goto("/")
    picture, drawing = "<img src=//evil.example/x onerror=pwn()>", "<svg onload=pwn()></svg>"
    show = "markup => { document.querySelector('main').innerHTML = markup; }"
    with page.expect_event("requestfailed") as stopped:
        page.evaluate(show, picture)
    assert stopped.value.failure == "csp"
    page.evaluate(show, drawing)
    page.evaluate(
        """() => { const script = document.createElement('script');
        script.textContent = 'pwn()'; document.body.append(script);
        const link = document.createElement('a');
        link.href = 'javascript:pwn()'; document.body.append(link); link.click();
        document.querySelector('main').style.cssText = '';
        document.querySelector('main').setAttribute('style', 'color: rgb(1, 2, 3)'); }"""
    )
    page.wait_for_function(f"violations.length === {len(VIOLATIONS)}")
    assert sorted(page.evaluate("violations")) == VIOLATIONS
    assert page.evaluate("globalThis.ran") is None
    assert page.evaluate("getComputedStyle(document.querySelector('main')).color") != "rgb(1, 2, 3)"
    context.close()


def test_a_form_of_another_site_changes_nothing(running):
    ticket_id = running.post({"id": "CROSS-1", "title": "Cross-site"}).json()["id"]
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ):
        for path in ("resolution", "triage", "team", "retry"):
            address = f"/tickets/{ticket_id}/{path}"
            answer = running.client.post(address, data={"team": "x"}, headers=headers)
            assert answer.status_code == 403, (path, headers)
    assert running.client.get(f"/v1/tickets/{ticket_id}").json()["resolved_at"] is None
