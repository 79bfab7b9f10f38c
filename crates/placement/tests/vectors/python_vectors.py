"""Prints the partition of each key by CPython's own hash, which PySpark's portable_hash takes, with PYTHONHASHSEED=0."""

import sys

name = "pyspark" if sys.version_info >= (3, 11) else "pyspark-3.10"
for line in open(sys.argv[1], encoding="utf-8"):
    kind, key = line.rstrip("\n").split("\t")
    if kind not in ("text", "int", "long"):
        continue
    value = key if kind == "text" else int(key)
    for buckets in (7, 64, 1000003):
        print(name, kind, key, buckets, hash(value) % buckets, sep="\t")
