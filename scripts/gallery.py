#!/usr/bin/env python3
"""scripts/gallery.py COMMIT FOLDER...: keeps of studies' full results (`trunkline study NAME --out`) what their pages
show, as studies/NAME/results.json. COMMIT is that of the program which has made them.

For `scripts/site`, `table` is the list of studies with their verdicts, and `report` a study's page: the one that
`trunkline study` leaves, with the committed results in it."""

import hashlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VERDICTS = ("reproduced", "not reproduced", "cannot tell")
#: Where studies/gallery.md has what `table` makes.
PLACE = "<!-- scripts/site puts the table here -->\n"
#: Where the page of a study has its data.
DATA = "__REPORT_DATA__"
#: Points of a curve over time, or of a cloud, that are kept.
MOST = 400
#: The documents first: studies whose folders are named after them.
DOCUMENTS = ("alsultani2018", "lee2014", "rista2017", "wang2014", "yang2012")


def short(values: list[float | None], digits: int) -> list[float | None]:
    return [None if value is None else float(f"{value:.{digits}g}") for value in values]


def thin(study: dict[str, Any], commit: str) -> dict[str, Any]:
    """A `study.json` with fewer digits and points, and the digests of its files in place of their texts."""
    for figure in study["figures"]:
        for curve in figure["curves"]:
            step = -(-len(curve["x"]) // MOST) if figure["kind"] != "sweep" else 1
            for column, digits in (("x", 6), ("mean", 4), ("low", 4), ("high", 4)):
                curve[column] = short(curve[column][::step], digits)
    files = [[name, digest(text)] for name, text in study["files"]]
    return {"commit": commit, **study, "files": files}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def text(results: dict[str, Any]) -> str:
    """As a file: a line for each figure, so that a change of one is a change of a line."""
    head = json.dumps({**results, "figures": []}, ensure_ascii=False, separators=(",", ":"))
    rows = ",\n".join(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in results["figures"])
    return head.replace('"figures":[]', f'"figures":[\n{rows}\n]', 1) + "\n"


def kept() -> list[dict[str, Any]]:
    """All committed results, the documents' first."""
    read = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(ROOT.glob("studies/*/results.json"))]
    return sorted(read, key=lambda results: results["name"] not in DOCUMENTS)


def counts(results: dict[str, Any]) -> Counter[str]:
    return Counter(finding["verdict"] for figure in results["figures"] for finding in figure["findings"])


def table(markdown: str) -> str:
    """studies/gallery.md with the table of studies at its place."""
    assert markdown.count(PLACE) == 1, "studies/gallery.md does not say where the table goes"
    rows = ["| study | runs | reproduced | not reproduced | cannot tell |", "|---|---|---|---|---|"]
    for results in kept():
        found = counts(results)
        told = " | ".join(str(found[verdict]) for verdict in VERDICTS)
        rows.append(f"| [{results['title']}]({results['name']}/report.html) | {results['runs']:,} | {told} |")
    return markdown.replace(PLACE, "\n".join(rows) + "\n")


def report(results: dict[str, Any]) -> str:
    """A study's page, as `results::page::embed` makes it."""
    folder = ROOT / "studies" / results["name"]
    files = [[name, (folder / name).read_text(encoding="utf-8")] for name, _ in results["files"]]
    data = json.dumps({**results, "files": files}, ensure_ascii=False)
    page = (ROOT / "report/dist/report.html").read_text(encoding="utf-8")
    return page.replace(DATA, data.replace("<", "\\u003c"), 1)


def main() -> int:
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    for folder in sys.argv[2:]:
        study = json.loads((Path(folder) / "study.json").read_text(encoding="utf-8"))
        if study["quick"]:
            sys.exit(f"{folder} holds the short form of {study['name']}: leave out --quick")
        path = ROOT / "studies" / study["name"] / "results.json"
        path.write_text(text(thin(study, sys.argv[1])), encoding="utf-8")
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.1f} KB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
