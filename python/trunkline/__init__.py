"""Trunkline: how big-data jobs run on networks that are not a perfect data centre, simulated packet by packet.

>>> import trunkline
>>> scenario = trunkline.Scenario.load("scenarios/terasort.toml")
>>> scenario["network.rate"] = "100 Mbit/s"
>>> result = trunkline.run(scenario)
>>> result["job.finish_s"], result.tables["tasks"]

Results are byte for byte those of the program `trunkline`: the same scenario and seed give the same on every machine.
"""

from trunkline import kat
from trunkline._calls import (
    Imported,
    advise,
    compare,
    estimate,
    import_history,
    remedies,
    repeat,
    run,
    studies,
    study,
)
from trunkline._results import Advice, Comparison, Estimate, Page, Result, Runs, Study, Surface, Tables
from trunkline._scenario import Scenario, documented, schema
from trunkline._sweep import Plan, sweep
from trunkline._trunkline import BUILD, __version__
from trunkline.errors import (
    InputError,
    InternalError,
    MissingError,
    OutputError,
    Problem,
    ScenarioError,
    ScenarioWarning,
    SchedulerLost,
    TrunklineError,
)

__all__ = [
    "BUILD",
    "Advice",
    "Comparison",
    "Estimate",
    "Imported",
    "InputError",
    "InternalError",
    "MissingError",
    "OutputError",
    "Page",
    "Plan",
    "Problem",
    "Result",
    "Runs",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "SchedulerLost",
    "Study",
    "Surface",
    "Tables",
    "TrunklineError",
    "__version__",
    "advise",
    "compare",
    "documented",
    "estimate",
    "import_history",
    "kat",
    "remedies",
    "repeat",
    "run",
    "schema",
    "studies",
    "study",
    "sweep",
]
