"""A picture from its folder over ingestion and the gateway to whoever may read its page."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import httpx
import pytest
from pydantic import SecretStr

from services.contracts.ingestion import IngestionClient
from services.contracts.readings import ReadingsClient
from services.gateway.app import create_app as create_gateway
from services.gateway.parts import GatewayParts
from services.ingestion.app import create_app as create_ingestion
from services.kit.access.access import Access
from services.kit.access.keys import Keys
from services.kit.access.scopes import Scope
from services.kit.http.client import ServiceClient
from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.tickets.settings import GatewaySettings
from services.web.ui.knowledge.backend import Knowledge
from tests.pictures import picture
from tests.unit.gateway.fakes import FakeRetrieval
from tests.unit.ingestion.harness import IngestionHarness
from tests.unit.ingestion.proposing import proposals_of

KEY = SecretStr("the-key-of-the-platform")
PAGE = "# Tray\n\n1. Look at the lamps:\n\n   ![Lamps](img/lamps.png)\n"
LAMPS = picture("JPEG", (40, 30))


@dataclass
class Platform:
    """Ingestion and a gateway, each on a port of its own."""

    gateway: str
    ingestion: str
    harness: IngestionHarness
    keys: Keys

    def get(
        self, address: str, key: str | None, service: str = "", *, etag: str = ""
    ) -> httpx.Response:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        headers |= {"if-none-match": etag} if etag else {}
        return httpx.get((service or self.gateway) + address, headers=headers)


@pytest.fixture
def platform(tmp_path) -> Iterator[Platform]:
    harness = IngestionHarness(tmp_path)
    harness.database.migrate("gateway")
    harness.write("net/tray.md", PAGE)
    harness.write("net/img/lamps.png", LAMPS)
    harness.ingest()
    settings = PlatformSettings(_env_file=None, api_key=KEY)
    with ExitStack() as stack:

        def serve(app) -> str:
            server = ServerThread(app, host="127.0.0.1", port=0)
            server.start()
            stack.callback(server.stop)
            return server.url

        ingestion = serve(
            create_ingestion(
                settings,
                service=harness.service,
                syncs=None,
                readings=lambda caller: harness.service.readings(caller.name),
                proposals=None,
                access=Access.of(settings, harness.database),
            )
        )
        client = stack.enter_context(ServiceClient(ingestion, api_key=KEY))
        gateway = create_gateway(
            GatewayParts(
                GatewaySettings(_env_file=None),
                settings,
                database=harness.database,
                outbox=harness.outbox,
                retrieval=FakeRetrieval(),
                triage=None,
                knowledge=Knowledge(
                    IngestionClient(client),
                    lambda _caller: ReadingsClient(client),
                    FakeRetrieval(),
                    proposals_of(harness),
                ),
                write_back=None,
            )
        )
        yield Platform(serve(gateway), ingestion, harness, Keys(harness.database))
    harness.database.close()


def test_a_picture_goes_from_its_folder_to_who_may_read_its_page_and_to_nobody_else(platform):
    reader = platform.keys.create("reader", frozenset({Scope.READ}))
    page = platform.get("/knowledge/document/net/tray.md", reader)
    assert "img-src 'self'" in page.headers["content-security-policy"]
    (address,) = re.findall(r'src="(/knowledge/picture/[^"]+)"', page.text)
    shown = platform.get(address.replace("&amp;", "&"), reader)
    assert (shown.status_code, shown.content) == (200, LAMPS)
    expected = {
        "content-type": "image/jpeg",
        "x-content-type-options": "nosniff",
        "content-security-policy": "default-src 'none'; sandbox",
        "content-disposition": "inline",
        "cache-control": "private, no-cache",
    }
    assert {name: shown.headers[name] for name in expected} == expected
    again = platform.get(address.replace("&amp;", "&"), reader, etag=shown.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")
    assert platform.get(address, None).status_code == 401
    writer = platform.keys.create("writer", frozenset({Scope.INGEST}))
    assert platform.get(address, writer).status_code == 403


def test_ingestion_itself_lists_and_serves_them_to_readers_alone(platform):
    reader = platform.keys.create("reader", frozenset({Scope.READ}))
    listed = "/v1/pictures?document=net/tray.md"
    (row,) = platform.get(listed, reader, platform.ingestion).json()
    assert (row["path"], row["media_type"]) == ("net/img/lamps.png", "image/jpeg")
    address = f"/v1/pictures/{row['content_hash']}?document=net/tray.md"
    assert platform.get(address, reader, platform.ingestion).content == LAMPS
    for each in (listed, address):
        assert platform.get(each, None, platform.ingestion).status_code == 401


@pytest.mark.parametrize(
    "address",
    [
        "/knowledge/picture/{hash}?document=other.md",
        "/knowledge/picture/{other}?document=net/tray.md",
        "/knowledge/picture/..%2F..%2Fetc%2Fpasswd?document=net/tray.md",
    ],
)
def test_no_address_leads_to_another_file(platform, address):
    reader = platform.keys.create("reader", frozenset({Scope.READ}))
    (stored,) = platform.harness.service.pictures("net/tray.md")
    path = address.format(hash=stored.content_hash, other="0" * 64)
    assert platform.get(path, reader).status_code == 404


def test_a_picture_is_gone_from_its_address_with_its_document(platform):
    reader = platform.keys.create("reader", frozenset({Scope.READ}))
    (stored,) = platform.harness.service.pictures("net/tray.md")
    address = f"/knowledge/picture/{stored.content_hash}?document=net/tray.md"
    assert platform.get(address, reader).status_code == 200
    platform.harness.forget()
    assert platform.get(address, reader).status_code == 404
