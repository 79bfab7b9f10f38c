"""The guide does what it says: commands of its `console` blocks run, and print what stands below them.

All blocks of a page are one shell's, in a scratch folder in which `scenarios` and `crates` are those of the tree. A
`toml` block whose first line is `# NAME.toml` is that file. Among what a command prints, a line `...`
stands for any lines. `TRUNKLINE_WRITE_DOCS=1` renews figures where the words are as they were.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import PROGRAM, ROOT

GUIDE = ROOT / "docs" / "guide"
BLOCK = re.compile(r"^```(console|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = sorted(page.name for page in GUIDE.glob("*.md") if "\n```console\n" in page.read_text(encoding="utf-8"))
#: Figures, with what is drawn and aligned by them.
FIGURES = re.compile(r"[-+±]?\d[\d.,]*|#+|\s+")
ANY = "..."


def runs(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines that it is to print."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found and found[-1][0].endswith("\\"):
            found[-1] = (f"{found[-1][0]}\n{line}", [])
        else:
            assert found, f"a console block begins with a command, not with {line!r}"
            found[-1][1].append(line)
    return found


def matched(wanted: list[str], printed: list[str], alike: bool = False) -> list[str] | None:
    """What is printed at the place of each wanted line; none if some is missing, out of order or left over."""
    mask = (lambda line: FIGURES.sub("", line)) if alike else str
    found, at, skips = [], 0, False
    for line in wanted:
        if line == ANY:
            found.append(ANY)
            skips = True
            continue
        rest = [mask(other) for other in printed[at:]]
        if mask(line) not in (rest if skips else rest[:1]):
            return None
        at += rest.index(mask(line))
        found.append(printed[at])
        at, skips = at + 1, False
    return found if skips or at == len(printed) else None


def outputs(commands: list[str], folder: Path) -> list[tuple[str, int]]:
    """What each command prints, errors too, and how it ends: all in one shell."""
    for name in ("scenarios", "crates"):
        (folder / name).symlink_to(ROOT / name)
    path = f"{PROGRAM.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    script = "".join(f"{{ {command}\n}} </dev/null\nprintf '\\036%d\\n' $?\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, env=environment, text=True, timeout=300, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    parts = re.split("\x1e(\\d+)\n", done.stdout)
    assert len(parts) == 2 * len(commands) + 1, f"the shell did not come to its end:\n{done.stdout}"
    return [(said, int(code)) for said, code in zip(parts[::2], parts[1::2], strict=False)]


def session(page: Path, folder: Path) -> tuple[str, list[str]]:
    """Runs a page. Returns its text as the program would have it, and what is wrong."""
    text, wrong = page.read_text(encoding="utf-8"), []
    blocks = BLOCK.findall(text)
    for kind, block in blocks:
        named = re.match(r"# ([\w-]+\.toml)\n", block)
        if kind == "toml" and named:
            (folder / named[1]).write_text(block, encoding="utf-8")
    wanted = [runs(block) for kind, block in blocks if kind == "console"]
    said = iter(outputs([command for block in wanted for command, _ in block], folder))
    renewed = []
    for block in wanted:
        lines = []
        for command, expected in block:
            out, code = next(said)
            printed = [line.rstrip() for line in out.splitlines()]
            # A command that is to fail says so by what it prints.
            error = any(line.startswith("error") for line in expected)
            if (code != 0) != error or matched(expected, printed) is None:
                wrong.append(f"$ {command}\nends with {code} and prints\n{out}")
            lines += [f"$ {command}", *(matched(expected, printed, alike=True) or expected)]
        renewed.append("".join(f"{line}\n" for line in lines))
    now = iter(renewed)
    return BLOCK.sub(lambda found: f"```console\n{next(now)}```" if found[1] == "console" else found[0], text), wrong


@pytest.fixture(scope="module")
def sessions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[tuple[str, list[str]]]]]:
    """All pages at once: most of what they run takes one core."""
    with ThreadPoolExecutor() as pool:
        yield {name: pool.submit(session, GUIDE / name, tmp_path_factory.mktemp("guide")) for name in PAGES}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_does_what_it_says(name: str, sessions: dict[str, Future[tuple[str, list[str]]]]) -> None:
    text, wrong = sessions[name].result()
    if os.environ.get("TRUNKLINE_WRITE_DOCS") == "1":
        (GUIDE / name).write_text(text, encoding="utf-8")
    assert not wrong, f"docs/guide/{name} (TRUNKLINE_WRITE_DOCS=1 renews figures):\n" + "\n".join(wrong)


def test_first_steps_are_among_the_pages() -> None:
    assert {"first-run.md", "import.md", "advise.md", "sweep.md"} <= set(PAGES)


def test_a_wrong_page_is_found_and_renewed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```toml\n# mine.toml\na = 1\n```\n"
        "```console\n$ x=5\n$ cat mine.toml\n# mine.toml\na = 1\n$ echo $x s\n7 s\n"
        "$ echo s\nm\n$ false\n$ true\nerror\n```\n"
    )
    text, wrong = session(page, tmp_path)
    assert [each.splitlines()[0] for each in wrong] == ["$ echo $x s", "$ echo s", "$ false", "$ true"]
    # Figures are renewed; other words are for a person to look at.
    assert text == page.read_text().replace("7 s", "5 s")


def test_what_differs_is_found() -> None:
    assert matched(["a", ANY, "d"], ["a", "b", "c", "d"]) == ["a", ANY, "d"]
    assert matched(["a"], ["a", "b"]) is None, "a line is left over"
    assert matched(["a", "b"], ["a"]) is None, "a line is missing"
    assert matched([ANY, "b", "a"], ["a", "b"]) is None, "another order"
    assert matched(["CPU  58.50 s  ##"], ["CPU  7.1 s  #"]) is None
    assert matched(["CPU  58.50 s  ##"], ["CPU  7.1 s  #"], alike=True) == ["CPU  7.1 s  #"]
    assert runs("$ a \\\n  b\n1\n$ c\n") == [("a \\\n  b", ["1"]), ("c", [])]
