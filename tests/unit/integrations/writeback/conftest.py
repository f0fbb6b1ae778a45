"""A ticket system, and gateways that may write to it."""

import pytest

from tests.unit.integrations.writeback.system import LOCAL, System


@pytest.fixture
def system():
    made = System()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def telling(make_gateway, system):
    def make(model=None, **settings):
        allowed = {"allowed_hosts": [LOCAL], "allow_private": True, "timeout_s": 2}
        link = {"public_url": "https://flowxpert.example.net/"}
        return make_gateway(write_back=allowed | link | settings, model=model)

    return make
