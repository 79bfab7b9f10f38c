"""Prints the partition of each key by PySpark's own portable_hash, with PYTHONHASHSEED=0."""

import sys

from pyspark.core.rdd import portable_hash

READ = {
    "text": str,
    "int": int,
    "long": int,
    "double": float,
    "boolean": "true".__eq__,
    "bytes": str.encode,
}

name = "pyspark" if sys.version_info >= (3, 11) else "pyspark-3.10"
for line in open(sys.argv[1], encoding="utf-8"):
    kind, key = line.rstrip("\n").split("\t")
    # Since Python 3.10 the hash of a NaN is its place in memory, so its partition is one of chance.
    if kind not in READ or key == "NaN":
        continue
    for buckets in (7, 64, 1000003):
        # RDD.partitionBy takes the remainder, which Python rounds down.
        print(name, kind, key, buckets, portable_hash(READ[kind](key)) % buckets, sep="\t")
