"""The gallery of studies: what it shows is what the studies found, and what is said of them elsewhere."""

import re
import sys
import xml.etree.ElementTree as xml
from collections import Counter

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import gallery  # type: ignore[import-not-found]
import pictures  # type: ignore[import-not-found]

KEPT = gallery.kept()


def table() -> dict[str, tuple[int, ...]]:
    """Runs and verdicts of each simulated study, by the table in studies/README.md."""
    rows = re.findall(
        r"^\| \[?`([\w-]+)`[^|]*\| ([\d,]+) \|[^|]*\| (\d+) \| (\d+) \| (\d+) \|$",
        (ROOT / "studies/README.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return {name: tuple(int(number.replace(",", "")) for number in numbers) for name, *numbers in rows}


def sections() -> dict[str, str]:
    """The gallery's page, by study."""
    page = gallery.page((ROOT / "studies/gallery.md").read_text(encoding="utf-8"))
    parts = re.split(r"^## .* \{#([\w-]+)\}$", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_counts_are_the_same_everywhere() -> None:
    simulated = {path.parent.name for path in ROOT.glob("studies/*/study.toml")}
    said, shown = table(), sections()
    assert set(said) == set(shown) == {results["name"] for results in KEPT} == simulated
    for results in KEPT:
        name = results["name"]
        found = gallery.counts(results)
        assert said[name] == (results["runs"], *(found[verdict] for verdict in gallery.VERDICTS)), name
        marks = Counter(re.findall(r'<li class="[\w-]+"><b>([\w ]+)</b>', shown[name]))
        assert marks == found, name
        assert len(results["figures"]) == shown[name].count("<figure>"), name


def test_the_commit_is_that_of_the_table() -> None:
    said = re.findall(r"at commit (\w+)", (ROOT / "studies/README.md").read_text(encoding="utf-8"))
    assert {results["commit"] for results in KEPT} == set(said)


def test_claims_are_those_of_the_study() -> None:
    for results in KEPT:
        file = (ROOT / "studies" / results["name"] / "study.toml").read_text(encoding="utf-8")
        for figure in results["figures"]:
            assert f'id = "{figure["id"]}"' in file, (results["name"], figure["id"])


def test_files_are_small() -> None:
    sizes = [path.stat().st_size for path in ROOT.glob("studies/*/results.json")]
    assert max(sizes) < 60_000 and sum(sizes) < 300_000


def test_pictures_hold_every_value() -> None:
    for results in KEPT:
        for figure in results["figures"]:
            if not figure["curves"]:
                continue
            drawn = xml.fromstring((pictures.lines if figure["x"] else pictures.dots)(figure))
            marks = [each for each in drawn.iter() if each.tag in ("circle", "rect") and each.get("class") is None]
            marks += [each for each in drawn.iter("path") if each.get("d", "").endswith("l4 7h-8z")]
            values = sum(1 if curve.get("constant") else len(curve["x"]) for curve in figure["curves"])
            if figure["x"]:
                # A line across the picture has no marks; the key has one for each series.
                values -= sum(1 for curve in figure["curves"] if curve.get("constant"))
                values += len({curve["series"] for curve in figure["curves"]})
            assert len(marks) == values, (results["name"], figure["id"])
            # All within the picture.
            _, _, width, height = (float(each) for each in drawn.get("viewBox", "").split())
            for each in drawn.iter("circle"):
                assert 0 <= float(each.get("cx", -1)) <= width and 0 <= float(each.get("cy", -1)) <= height


@pytest.mark.parametrize(("low", "high", "log", "ticks"), [
    (0.0, 81.0, False, [0, 20, 40, 60, 80]),
    (10.0, 900.0, True, [10, 30, 100, 300, 1000]),
    (-1.0, 1.0, False, [-1, -0.5, 0, 0.5, 1]),
])
def test_ticks_are_round(low: float, high: float, log: bool, ticks: list[float]) -> None:
    axis = pictures.Axis([low, high], 0, 100, log)
    assert axis.ticks() == pytest.approx(ticks)
    assert [axis(tick) for tick in axis.ticks()] == sorted(axis(tick) for tick in axis.ticks())


def test_colours_are_those_of_the_page() -> None:
    style = gallery.style()
    for name in ("good", "bad", "warn", "recorded", "line", "muted", *(f"series-{each}" for each in range(6))):
        assert len(re.findall(rf"--{name}: #\w{{6}};", style)) == 2, name
