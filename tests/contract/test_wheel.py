"""The wheel holds what the checkout's packages hold."""

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGES = ("services", "evaluation", "training")


def package_files() -> set[str]:
    files = (path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.is_file())
    return {p.relative_to(ROOT).as_posix() for p in files if "__pycache__" not in p.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> zipfile.ZipFile:
    # A copy, because setuptools leaves a build folder in the sources.
    folder = tmp_path_factory.mktemp("wheel")
    sources = folder / "sources"
    for name in PACKAGES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, sources / name, ignore=ignored)
    for name in (
        "pyproject.toml",
        "requirements.in",
        "requirements-torch.in",
        "requirements-training.in",
        "README.md",
        "LICENSE",
    ):
        shutil.copy(ROOT / name, sources)
    pip = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(sources)], check=True)
    (built,) = folder.glob("*.whl")
    return zipfile.ZipFile(built)


def test_nothing_of_the_packages_is_left_out(wheel):
    assert package_files() - set(wheel.namelist()) == set()


def test_nothing_else_is_shipped(wheel):
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.startswith("flowxpert-")} == set(PACKAGES)
