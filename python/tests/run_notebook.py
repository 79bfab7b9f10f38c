"""Runs the code of a notebook, cell by cell, without a notebook's server: `run_notebook.py NOTEBOOK`."""

import json
import sys
from pathlib import Path


def cells(notebook: Path) -> list[str]:
    """The code of its cells."""
    read = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in read["cells"] if cell["cell_type"] == "code"]


def run(notebook: Path) -> dict[str, object]:
    """Runs its cells, each of which sees what those before it have named. Returns all names."""
    import matplotlib

    matplotlib.use("agg")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, text in enumerate(cells(notebook), 1):
        # A cell's last line is computed, too, though nobody looks at it.
        exec(compile(text, f"cell {number}", "exec"), names)
    return names


if __name__ == "__main__":
    run(Path(sys.argv[1]))
