"""A real browser in front of a platform that has a key."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser
from pydantic import SecretStr

from services.kit.http.server import ServerThread
from services.kit.settings import PlatformSettings
from services.serving.embedded import Embedded

KEY = "the-key-of-the-platform"


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an empty platform that asks who calls."""
    folder = tmp_path_factory.mktemp("locked")
    settings = PlatformSettings(
        _env_file=None, data_dir=folder, port=0, api_key=SecretStr(KEY), access_log=False
    )
    with Embedded.open(settings) as platform:
        server = ServerThread(platform.app, host="127.0.0.1", port=0)
        server.start()
        yield server.url
        server.stop()


@pytest.mark.parametrize(
    ("password", "title", "status"), [(KEY, "Incidents", 200), (KEY[1:], "Say who you are", 401)]
)
def test_a_browser_asks_for_the_key_and_shows_a_page(
    browser: Browser, locked: str, password: str, title: str, status: int
) -> None:
    given = {"username": "ann", "password": password}
    context = browser.new_context(base_url=locked, http_credentials=given)
    page = context.new_page()
    answer = page.goto("/")
    assert answer is not None
    assert answer.status == status
    assert title in page.inner_text("body")
    styles = "[...document.styleSheets].map(sheet => sheet.cssRules.length)"
    assert min(page.evaluate(styles)) > 0
    context.close()
