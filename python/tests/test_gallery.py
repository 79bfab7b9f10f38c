"""The gallery of studies: what it shows is what the studies found, and what is said of them elsewhere."""

import json
import re
import sys

from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import gallery  # type: ignore[import-not-found]

KEPT = gallery.kept()


def rows(markdown: str) -> dict[str, tuple[int, ...]]:
    """The numbers of a table of studies: runs, and verdicts of each kind."""
    found = re.findall(r"^\| (.*) \| ([\d,]+) \|(?:[^|]*s \|)? (\d+) \| (\d+) \| (\d+) \|$", markdown, re.MULTILINE)
    return {name: tuple(int(number.replace(",", "")) for number in numbers) for name, *numbers in found}


def test_counts_are_the_same_everywhere() -> None:
    simulated = {path.parent.name for path in ROOT.glob("studies/*/study.toml")}
    said = rows((ROOT / "studies/README.md").read_text(encoding="utf-8"))
    said = {re.sub(r"^\[?`([\w-]+)`.*", r"\1", name): numbers for name, numbers in said.items()}
    shown = rows(gallery.table((ROOT / "studies/gallery.md").read_text(encoding="utf-8")))
    assert set(said) == {results["name"] for results in KEPT} == simulated and len(shown) == len(KEPT)
    for results in KEPT:
        name = results["name"]
        found = gallery.counts(results)
        assert said[name] == (results["runs"], *(found[verdict] for verdict in gallery.VERDICTS)), name
        assert shown[f"[{results['title']}]({name}/report.html)"] == said[name], name


def test_results_are_of_the_studies_as_they_are() -> None:
    commits = re.findall(r"at\s+commit\s+(\w+)", (ROOT / "studies/README.md").read_text(encoding="utf-8"))
    assert {results["commit"] for results in KEPT} == set(commits)
    for results in KEPT:
        for name, digest in results["files"]:
            text = (ROOT / "studies" / results["name"] / name).read_text(encoding="utf-8")
            assert gallery.digest(text) == digest, f"{results['name']}/{name} has changed: run the study again, in full"


def test_files_are_small() -> None:
    sizes = [path.stat().st_size for path in ROOT.glob("studies/*/results.json")]
    assert max(sizes) < 200_000 and sum(sizes) < 700_000


def test_a_page_holds_the_results_and_the_study() -> None:
    schema = re.search(r"STUDY_SCHEMA = '(.*)'", (ROOT / "report/src/study-data.ts").read_text(encoding="utf-8"))
    assert schema is not None
    for results in KEPT:
        page = gallery.report(results)
        assert gallery.DATA not in page
        held = re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
        assert held is not None and "<" not in held[1]
        data = json.loads(held[1])
        assert data["schema"] == schema[1] and data["figures"] == results["figures"]
        assert dict(data["files"])["study.toml"] == (ROOT / f"studies/{data['name']}/study.toml").read_text("utf-8")


def test_many_points_are_thinned_and_values_of_a_sweep_are_not() -> None:
    def curve(points: int) -> dict[str, list[float | None]]:
        column: list[float | None] = [1.23456789] * (points - 1)
        return {key: [*column, None] for key in ("x", "mean", "low", "high")}

    kinds = {"sweep": 900, "time": 300, "scatter": 300}
    figures = [{"kind": kind, "curves": [curve(900)]} for kind in kinds]
    thin = gallery.thin({"figures": figures, "files": [["a", "text"]]}, "abc")
    assert thin["files"] == [["a", "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"]]
    for figure in thin["figures"]:
        (kept,) = figure["curves"]
        assert {len(kept[key]) for key in kept} == {kinds[figure["kind"]]}, figure["kind"]
        assert (kept["x"][0], kept["mean"][0]) == (1.23457, 1.235)
    assert thin["figures"][0]["curves"][0]["mean"][-1] is None
