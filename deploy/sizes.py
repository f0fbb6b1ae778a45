"""Tells how many packages each lock installs and what they take: `deploy/sizes.py [LOCK …]`."""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCKS = [ROOT / "requirements.txt", *sorted((ROOT / "deploy" / "requirements").glob("*.txt"))]


def installed(lock: Path) -> tuple[int, int]:
    """Packages and bytes; what is compiled when it is first imported is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--quiet"]
        options = ["--no-deps", "--require-hashes", "--target", folder, "--requirement", str(lock)]
        subprocess.run([*uv, *options], check=True)  # noqa: S603 - a lock of this checkout
        packages = len(list(Path(folder).glob("*.dist-info")))
        return packages, sum(p.stat().st_size for p in Path(folder).rglob("*") if p.is_file())


def main() -> None:
    """Print a row for each lock."""
    sys.stdout.write("| lock | packages | MB |\n|---|---:|---:|\n")
    for lock in [Path(argument) for argument in sys.argv[1:]] or LOCKS:
        packages, size = installed(lock)
        sys.stdout.write(f"| {lock.stem} | {packages} | {size / 1e6:.0f} |\n")


if __name__ == "__main__":
    main()
