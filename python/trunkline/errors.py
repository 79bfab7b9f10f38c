"""What can go wrong. Each exception has the exit code with which the program `trunkline` ends on it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import Any

__all__ = [
    "InputError",
    "InternalError",
    "Interrupted",
    "MissingError",
    "OutputError",
    "Problem",
    "ScenarioError",
    "ScenarioWarning",
    "SchedulerLost",
    "TrunklineError",
]


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with a scenario or a plan, and where.

    `line` and `column` count from 1, a column in characters. `file` is `--set` for an assignment, whose one line is
    `text`.
    """

    file: str
    line: int
    column: int
    message: str
    help: str | None
    text: str

    def __str__(self) -> str:
        rest = f"; {self.help}" if self.help else ""
        return f"{self.file}:{self.line}:{self.column}: {self.message}{rest}"


class TrunklineError(Exception):
    """Why there is no result."""

    exit_code: int = 1


class InternalError(TrunklineError):
    """An error of Trunkline, or a conservation law that does not hold. Please report it with the scenario."""


class InputError(TrunklineError, ValueError):
    """Wrong input."""

    exit_code = 2


class ScenarioError(InputError):
    """Problems of a scenario, or of a sweep's plan: all of them, in the order of the text."""

    def __init__(self, message: str, problems: Iterable[tuple[str, int, int, str, str | None, str]]) -> None:
        super().__init__(message)
        self.problems: list[Problem] = [Problem(*problem) for problem in problems]

    def __reduce__(self) -> tuple[Any, ...]:
        # An exception is made again of `args`, which the problems are not among.
        return type(self), (str(self), [astuple(problem) for problem in self.problems])


class MissingError(TrunklineError):
    """Something that is not installed, or that this host lacks."""

    exit_code = 4


class SchedulerLost(MissingError):
    """The scheduler of a Dask cluster, or the way to it, is gone. What was made is kept."""


class OutputError(TrunklineError, OSError):
    """Output could not be written."""

    exit_code = 5


class Interrupted(TrunklineError):
    """Stopped on request."""

    exit_code = 130


class ScenarioWarning(UserWarning):
    """What a scenario will do against expectation."""


def warn(places: Iterable[tuple[str, int, int, str, str | None, str]]) -> None:
    """Warns of each problem."""
    for place in places:
        warnings.warn(str(Problem(*place)), ScenarioWarning, stacklevel=3)
