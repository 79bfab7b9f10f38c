"""A sweep's rows on file systems that are not folders, or may not be written: those of fsspec, in this process."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import polars as pl
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import trunkline


class Store(MemoryFileSystem):
    """An object store: no folder is empty, it keeps listings until it is told to forget them, and refuses what `refused`
    names."""

    protocol = "store"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]
    listings: dict[str, Any] = {}
    refused: set[str] = set()

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return "/" + path.removeprefix("store://").strip("/") if path.strip("/") else ""

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        pass

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> Any:
        if path not in self.listings:
            self.listings[path] = super().ls(path, detail=True, **kwargs)
        found = self.listings[path]
        return found if detail else sorted(each["name"] for each in found)

    def invalidate_cache(self, path: str | None = None) -> None:
        self.listings.clear()

    def allow(self, what: str) -> None:
        if what in self.refused:
            raise PermissionError(f"{what}: access denied")
        self.invalidate_cache()

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        if mode != "rb":
            self.allow("write")
        return super()._open(path, mode, **kwargs)

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **kwargs: Any) -> None:
        self.allow("write")
        super().pipe_file(path, value, mode, **kwargs)

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        self.allow("copy")
        super().cp_file(path1, path2, **kwargs)

    def _rm(self, path: str) -> None:
        self.allow("remove")
        super()._rm(path)


@pytest.fixture
def store() -> Iterator[Store]:
    fsspec.register_implementation("store", Store, clobber=True)
    made: Store = fsspec.filesystem("store")
    yield made
    for kept in (made.store, made.listings, made.refused):
        kept.clear()
    made.pseudo_dirs[:] = [""]


def rows(store: Store) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(bytes(store.cat_file(name))) for name in sorted(store.store)]).sort("run")


def test_a_dataset_stands_in_a_store(plan: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from trunkline import _dask

    monkeypatch.setattr(_dask, "PART_ROWS", 3)
    out = plan.parent / "out"
    swept = trunkline.sweep(plan, out=out, dataset="store://bucket/sweep")
    # Eight runs, three to an object; nothing of the way there is left.
    assert sorted(store.store) == [f"/bucket/sweep/part-{number:06}.parquet" for number in range(3)]
    assert rows(store).equals(swept.runs.sort("run"))
    # Others leave half of one, and remove one behind the back of what keeps listings.
    store.pipe_file("/bucket/sweep/part-000009.parquet.unfinished", b"PAR1 half")
    store.ls("/bucket/sweep")
    del store.store["/bucket/sweep/part-000001.parquet"]
    trunkline.sweep(plan, out=out, dataset="store://bucket/sweep")
    assert len(store.store) == 3 and all(name.endswith(".parquet") for name in store.store)
    assert rows(store).equals(swept.runs.sort("run"))


@pytest.mark.parametrize("what", ["write", "copy", "remove"])
def test_a_store_that_refuses_is_told_before_any_run(what: str, plan: Path, store: Store) -> None:
    store.refused.add(what)
    out = plan.parent / "out"
    said = f"cannot write a dataset at store://bucket/sweep: {what}: access denied"
    with pytest.raises(trunkline.OutputError, match=said):
        trunkline.sweep(plan, out=out, dataset="store://bucket/sweep")
    assert not list(out.glob("runs/*")) and not [name for name in store.store if name.endswith(".parquet")]
    # Once it is allowed, nothing of the trial is in the way.
    store.refused.clear()
    trunkline.sweep(plan, out=out, dataset="store://bucket/sweep")
    assert sorted(store.store) == ["/bucket/sweep/part-000000.parquet"]


def test_a_folder_that_cannot_be_written_is_told_before_any_run(plan: Path) -> None:
    # It can be listed, and not even root can make a file in it.
    with pytest.raises(trunkline.OutputError, match="cannot write a dataset at /proc/sys: "):
        trunkline.sweep(plan, out=plan.parent / "out", dataset="/proc/sys")
    assert not list(plan.parent.glob("out/runs/*"))
