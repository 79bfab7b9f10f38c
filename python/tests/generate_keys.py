"""Writes `trunkline/_keys.py`: every key of the language, by which editors complete `scenario["..."]`."""

from pathlib import Path

from trunkline import documented

HEAD = '''"""Every key of the language of scenarios, for editors and type checkers.

Written by `python python/tests/generate_keys.py`; a test fails while it is not current.
"""

from typing import Literal, TypeAlias

#: Keys that hold a value; keys of the entries of lists are texts with a number, as `job.0.reducers`.
Key: TypeAlias = Literal[
'''


def text() -> str:
    """The module's text."""
    known = documented()
    lists = [path for path, (kind, _, _) in known.items() if kind.startswith("list of tables")]
    plain = [path for path in known if not any(path.startswith(f"{of}.") for of in lists)]
    return HEAD + "".join(f'    "{path}",\n' for path in sorted(plain)) + "]\n"


if __name__ == "__main__":
    path = Path(__file__).parents[1] / "trunkline" / "_keys.py"
    path.write_text(text(), encoding="utf-8")
