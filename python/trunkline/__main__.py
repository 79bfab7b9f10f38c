"""What the program `trunkline` starts: `python -m trunkline hand-out SWEEP --dask ADDRESS --out FOLDER`."""

from __future__ import annotations

import argparse
import signal
import sys
import warnings
from pathlib import Path

from trunkline import Plan, ScenarioWarning, TrunklineError, _dask
from trunkline._calls import _told


def _stop(*_: object) -> None:
    """The first wish to stop. The program passes on what it hears, and Ctrl-C has reached both: the second is none."""
    for wish in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wish, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> int:
    """Hands out the runs that a sweep's folder lacks. The exit code is the program's."""
    parser = argparse.ArgumentParser(prog="python -m trunkline", description=main.__doc__)
    commands = parser.add_subparsers(required=True)
    words = commands.add_parser("hand-out")
    words.add_argument("file")
    words.add_argument("--dask", required=True, metavar="ADDRESS")
    words.add_argument("--out", required=True, type=Path)
    words.add_argument("--set", action="append", default=[])
    words.add_argument("--seeds", type=int)
    words.add_argument("--dataset")
    words.add_argument("--fresh", action="store_true")
    words.add_argument("--quiet", action="store_true")
    given = parser.parse_args()
    for wish in (signal.SIGINT, signal.SIGTERM):
        signal.signal(wish, _stop)
    try:
        # The program has said what it will do against expectation.
        with warnings.catch_warnings(action="ignore", category=ScenarioWarning):
            plan = Plan.load(given.file, given.set, given.seeds)
        told = _told(not given.quiet and sys.stderr.isatty(), len(plan))
        _dask.hand_out(plan, given.out, given.dask, given.dataset, given.fresh, told)
    except TrunklineError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted: finished runs are kept; the same command goes on from there", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
