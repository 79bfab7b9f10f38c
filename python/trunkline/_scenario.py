"""Scenarios as objects."""

from __future__ import annotations

import json
import os
import tomllib
import warnings
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from trunkline import _trunkline
from trunkline._keys import Key
from trunkline.errors import ScenarioWarning

__all__ = ["Scenario", "documented", "schema"]


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of scenarios: what `trunkline schema` prints."""
    found: dict[str, Any] = json.loads(_trunkline.schema())
    return found


@cache
def documented() -> dict[str, tuple[str, str, str]]:
    """Every key of the language with its kind and range, its default, and what it means.

    Keys of the entries of a list stand under the list's name: `job.reducers` for `scenario["job.0.reducers"]`.
    """
    return {path: (kind, default, meaning) for path, kind, default, meaning in _trunkline.keys()}


def _in_toml(value: object) -> str:
    """A value as TOML writes it inline."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case str():
            return _text_in_toml(value)
        case Mapping():
            return "{" + ", ".join(f"{_text_in_toml(str(key))} = {_in_toml(each)}" for key, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(_in_toml(each) for each in value) + "]"
    # Numbers of numpy and polars.
    if (item := getattr(value, "item", None)) is not None:
        return _in_toml(item())
    raise TypeError(f"a key of a scenario takes no {type(value).__name__}")


def _text_in_toml(text: str) -> str:
    """A basic string of TOML. It has the escapes of JSON, but for halves of a pair: what JSON need not escape stands
    as it is. TOML alone wants DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


class Scenario:
    """A cluster, a network, and what happens on them: one TOML text, and values that are laid over it.

    >>> scenario = trunkline.Scenario.load("scenarios/terasort.toml")
    >>> scenario["network.rate"] = "100 Mbit/s"
    >>> scenario["network.rate"]
    '100 Mbit/s'

    Keys are those of the language (`docs/reference/scenario.md`), with points between them; entries of lists have
    numbers, as `job.0.reducers`. Values with a dimension are texts with their unit. A value that is wrong raises
    `ScenarioError` and leaves the scenario as it was. What a scenario will do against expectation is a
    `ScenarioWarning`.
    """

    __slots__ = ("_inner",)

    def __init__(self, inner: _trunkline.Scenario) -> None:
        self._inner = inner

    @classmethod
    def from_toml(cls, text: str, name: str = "scenario.toml") -> Scenario:
        """Reads a text. `name` stands for its file in messages. Files that it names are found from here."""
        return cls(_trunkline.Scenario.of_text(text, name, []))

    @classmethod
    def load(cls, path: str | os.PathLike[str], set: Mapping[Key | str, object] | None = None) -> Scenario:
        """Reads a file, and lays values over it. Files that it names are found beside it."""
        read = cls(_trunkline.Scenario.of_file(Path(path), []))
        return read if set is None else read.with_(set)

    def copy(self) -> Scenario:
        """Another scenario with the same keys."""
        return Scenario(self._inner)

    def with_(self, values: Mapping[Key | str, object] | Iterable[str]) -> Scenario:
        """Another scenario, with these values laid over this one's; or assignments, as `--set` takes them.

        >>> slow = scenario.with_({"network.rate": "10 Mbit/s"})
        >>> better = scenario.with_(trunkline.advise(scenario).best)
        """
        return Scenario(self._inner.with_assignments(self._inner.assignments + self._assignments(values)))

    @property
    def name(self) -> str:
        """Its name in results."""
        return self._inner.name

    @property
    def digest(self) -> str:
        """Names it, seed aside: the first 128 bits of the BLAKE3 hash of its resolved text, in hexadecimal."""
        return self._inner.digest()

    @property
    def path(self) -> Path | None:
        """The file that it was read from."""
        return None if self._inner.path is None else Path(self._inner.path)

    @property
    def changes(self) -> list[str]:
        """What is laid over its text: assignments as `--set` takes them, the last of a key being the one that holds."""
        return self._inner.assignments

    def to_toml(self, resolved: bool = False) -> str:
        """The scenario as TOML: the keys that differ from their defaults, or every key."""
        return self._inner.resolved() if resolved else self._inner.short()

    def save(self, path: str | os.PathLike[str], resolved: bool = False) -> None:
        """Writes it as TOML."""
        Path(path).write_text(self.to_toml(resolved), encoding="utf-8")

    def to_dict(self) -> dict[str, Any]:
        """Every key with its value as written, tables within tables."""
        return tomllib.loads(self._inner.resolved())

    def __getitem__(self, key: Key | str) -> Any:
        """The value of a key as written: quantities are texts with their unit."""
        place: Any = self.to_dict()
        for part in key.split("."):
            if isinstance(place, list) and len(place) == 1 and not part.isdecimal():
                place = place[0]
            try:
                place = place[int(part)] if isinstance(place, list) else place[part]
            except (KeyError, IndexError, ValueError, TypeError):
                raise KeyError(key) from None
        return place

    def _as_written(self, key: str) -> str:
        """A key as the text has it: `[job]` is `job.reducers`, the only `[[job]]` is `job.0.reducers`, and either name
        means either."""
        place: Any = tomllib.loads(self._inner.text)
        parts: list[str] = []
        for part in key.split("."):
            if isinstance(place, list) and len(place) == 1 and not part.isdecimal():
                parts.append("0")
                place = place[0]
            if isinstance(place, dict) and part == "0" and parts:
                continue
            parts.append(part)
            if isinstance(place, list):
                place = place[int(part)] if part.isdecimal() and int(part) < len(place) else None
            else:
                place = place.get(part) if isinstance(place, dict) else None
        return ".".join(parts)

    def _assignments(self, values: Mapping[Any, object] | Iterable[str]) -> list[str]:
        given = (one.partition("=") for one in _assignments(values))
        return [f"{self._as_written(key.strip())}={value}" for key, _, value in given]

    def get(self, key: Key | str, default: Any = None) -> Any:
        """The value of a key, or `default` where the scenario has none."""
        try:
            return self[key]
        except KeyError:
            return default

    def __setitem__(self, key: Key | str, value: object) -> None:
        self.set({key: value})

    def set(self, values: Mapping[Key | str, object]) -> None:
        """Lays values over the scenario, all or none: for keys that are right only together."""
        given = self._assignments(values)
        anew = {one.partition("=")[0] for one in given}
        kept = [one for one in self._inner.assignments if one.partition("=")[0] not in anew]
        self._inner = self._inner.with_assignments(kept + given)

    def __delitem__(self, key: Key | str) -> None:
        """Takes away what was laid over a key: its text's value holds again."""
        written = self._as_written(key)
        kept = [one for one in self._inner.assignments if one.partition("=")[0] != written]
        if len(kept) == len(self._inner.assignments):
            raise KeyError(key)
        self._inner = self._inner.with_assignments(kept)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self.get(key, self) is not self

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def keys(self) -> list[str]:
        """The paths of all keys that hold one value or a list of such."""
        return list(_paths("", self.to_dict()))

    def _ipython_key_completions_(self) -> list[str]:
        known = {path for path, (kind, _, _) in documented().items() if "table" not in kind}
        lists = {path for path, (kind, _, _) in documented().items() if kind.startswith("list of tables")}
        within = {path for path in known if any(path.startswith(f"{of}.") for of in lists)}
        return sorted((known - within) | set(self.keys()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._inner.resolved() == other._inner.resolved()

    def __hash__(self) -> int:
        return hash(self._inner.resolved())

    def __repr__(self) -> str:
        return f"<Scenario {self.name!r}>"

    def __str__(self) -> str:
        return self.to_toml()

    def __reduce__(self) -> tuple[Any, ...]:
        return _resolved, (self._inner.resolved(), self.name)


def _resolved(text: str, name: str) -> Scenario:
    """A scenario that has been read before. Its text has every key, also those that have no effect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScenarioWarning)
        return Scenario.from_toml(text, name)


def _assignments(values: Mapping[Any, object] | Iterable[str]) -> list[str]:
    if isinstance(values, Mapping):
        return [f"{key}={_in_toml(value)}" for key, value in values.items()]
    return list(values)


def _paths(before: str, place: object) -> Iterator[str]:
    if isinstance(place, dict):
        for key, value in place.items():
            yield from _paths(f"{before}.{key}" if before else key, value)
    elif isinstance(place, list) and any(isinstance(each, dict) for each in place):
        for number, value in enumerate(place):
            yield from _paths(f"{before}.{number}", value)
    else:
        yield before
