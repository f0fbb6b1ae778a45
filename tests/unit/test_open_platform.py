"""Where not everything is installed, a command that needs everything says so."""

import sys

import pytest

from services.cli.platform_access import OneServiceError, open_platform
from services.kit.settings import PlatformSettings


def test_what_misses_is_named_and_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "services.deployment.embedded", None)
    with pytest.raises(OneServiceError, match="use the image `tools`"):
        open_platform(PlatformSettings(_env_file=None, data_dir=tmp_path))
