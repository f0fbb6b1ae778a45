"""What tickets are told of their workflow beside whether its page is theirs: verdict × truth.

    python tests/harm/verdicts.py --repository . > VERDICTS.json

The tickets are those of the drawn pages, over these pages and some others of the corpus. Told twice
over is a page that says in open sight, outside of folds, that its workflow is well and that it is
not.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

sys.path.insert(0, str(Path(__file__).parents[1]))
from sameness.answers import DATA, Checkout, collect_pages

FOLDS = re.compile(r"<details(?![^>]*\bopen\b).*?</details>", re.DOTALL)
WELL = re.compile(r'class="pill planned"|class="judged checked"')
ILL = re.compile(r'class="pill unsure"|class="judged closest"|Closest known')
CHANCE = re.compile(r"<b>(\d+) %</b> likely right")
LIKELY = 50


def verdict_of(client: httpx.Client, row: dict[str, Any], number: int) -> dict[str, Any]:
    """What one ticket is told, and whether its page was found."""
    body = row["ticket"] | {"external_id": f"drawn-{number}"}
    posted = client.post("/workflow/generic", params={"wait": 60}, json=body).json()
    ticket = client.get(f"/v1/tickets/{posted['tickets'][0]['id']}").json()
    document_id = ""
    if ticket["workflow_id"]:
        stored = client.get(f"/v1/workflows/{ticket['workflow_id']}").json()
        document_id = next(iter(stored["workflow"]["provenance"]["document_ids"]), "")
    page = client.get(f"/tickets/{ticket['id']}").text
    seen = FOLDS.sub("", page)
    chance = CHANCE.search(seen)
    is_ill = bool(ILL.search(seen)) or bool(chance and int(chance[1]) < LIKELY)
    before = f"{ticket['status']}, {ticket['fit']}"
    return {
        "told": ticket.get("verdict_words") or before,
        "right": document_id == row["doc"],
        "has_workflow": bool(document_id),
        "contradicts": bool(WELL.search(seen)) and is_ill,
    }


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, default=Path())
    parser.add_argument("--tickets", type=int, default=210)
    arguments = parser.parse_args()
    lines = (DATA / "logic" / "pages.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines][: arguments.tickets]
    with tempfile.TemporaryDirectory() as folder:
        pages = Path(folder, "pages")
        collect_pages(rows, pages)
        checkout = Checkout(arguments.repository, Path(folder, "data"))
        checkout.run("ingest", str(pages))
        with checkout.up() as client:
            answers = [verdict_of(client, row, number) for number, row in enumerate(rows)]
    counts: dict[str, Counter[str]] = {}
    for each in answers:
        truth = "none" if not each["has_workflow"] else "right" if each["right"] else "another page"
        counts.setdefault(each["told"], Counter())[truth] += 1
    twice = sum(each["contradicts"] for each in answers)
    json.dump({"verdicts": counts, "contradict": twice}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
