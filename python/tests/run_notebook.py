"""Runs the code of a notebook, cell by cell, without a notebook's server: `run_notebook.py NOTEBOOK`."""

import json
import sys
from pathlib import Path


def cells(notebook: Path) -> list[str]:
    """The code of its cells."""
    read = json.loads(notebook.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in read["cells"] if cell["cell_type"] == "code"]


def main() -> None:
    """Each cell sees what those before it have named, and its last line's value is computed, too."""
    import matplotlib

    matplotlib.use("agg")
    names: dict[str, object] = {"__name__": "__main__"}
    for number, text in enumerate(cells(Path(sys.argv[1])), 1):
        exec(compile(text, f"cell {number}", "exec"), names)


if __name__ == "__main__":
    main()
