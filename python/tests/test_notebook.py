"""The notebook of the first look does what its text says."""

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from run_notebook import cells, run

EXAMPLES = ROOT / "python" / "examples"


# Of a scenario of packets at flow level, as its text says.
@pytest.mark.filterwarnings("ignore:.*flows have no queues:trunkline.ScenarioWarning")
def test_a_first_look(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # It says that it runs from the repository's folder; what it leaves goes where temporary files go.
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    names: dict[str, Any] = run(EXAMPLES / "first-look.ipynb")
    checked = {row["figure"]: row["error"] for row in names["imported"].check.iter_rows(named=True)}
    assert abs(checked["job, launch to finish"]) < 0.1
    helps = names["advice"].remedies.filter(names["advice"].remedies["verdict"] == "helps")
    assert helps["id"].to_list() == ["compress-snappy"] and helps["saving"][0] > helps["half_width_95"][0]
    swept = names["swept"]
    assert len(swept.runs) == 20 and set(swept.runs["failure"]) == {""}
    # Slower links never make it faster; between the ends it is shown.
    means = swept.points["mean"].to_list()
    assert means == sorted(means, reverse=True) and means[0] > 2 * means[-1]


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.ipynb")))
def test_notebooks_are_kept_without_what_they_have_shown(name: str) -> None:
    assert cells(EXAMPLES / name), "there is no code"
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert text.count('"outputs": []') == text.count('"cell_type": "code"') == text.count('"execution_count": null')
