import subprocess
import sys

import pytest

from services.kit.data_dir import DataDirInUseError, describe_owner, own_data_dir


def test_a_folder_that_is_owned_is_refused_and_its_owner_named(tmp_path):
    with own_data_dir(tmp_path / "d"):
        describe_owner(tmp_path / "d", "http://127.0.0.1:8080")
        with pytest.raises(DataDirInUseError, match=r"at http://127\.0\.0\.1:8080") as caught:
            own_data_dir(tmp_path / "d").__enter__()
    assert caught.value.url == "http://127.0.0.1:8080"


def test_a_folder_is_free_again_when_its_owner_was_killed(tmp_path):
    code = (
        "import sys, os, signal; from pathlib import Path;"
        "from services.kit.data_dir import own_data_dir;"
        "owned = own_data_dir(Path(sys.argv[1])); owned.__enter__();"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert "process" in (tmp_path / "owner.lock").read_text()
    with own_data_dir(tmp_path) as folder:
        assert folder == tmp_path
