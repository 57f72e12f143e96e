"""tools/bench: memtrace beside its peers, in the same run and in turn."""

import argparse
import importlib
import os
import platform
import sys
import tempfile

import program
import table
from workshop import Workshop, version_of

ROWS = (
    "busy_machine",
    "overload",
    "traced_cost",
    "compile_mallocs",
    "malloc_cost",
    "counting",
    "report_kmalloc",
    "distinct_stacks",
    "processes",
    "live_leaks",
)
# What would be compared, and why it is not.
ABSENT = (
    "perf kmem: it reads slab events only, and its reports are in the row of perf report",
    "memleak of libbpf-tools: Debian's package is without it; that of bcc is compared",
)


def options():
    parser = argparse.ArgumentParser(prog="tools/bench", description=__doc__)
    parser.add_argument("rows", nargs="*", metavar="ROW", help="only these of: " + " ".join(ROWS))
    parser.add_argument("--small", action="store_true", help="seconds instead of minutes")
    parser.add_argument("--runs", type=int, help="of each program (default 3, --small 1)")
    parser.add_argument("--json", metavar="FILE", help="write the figures here, too")
    parser.add_argument("--build", default="build", metavar="DIR", help="where memtrace was built")
    parser.add_argument("--keep", metavar="DIR", help="keep the recordings in DIR")
    given = parser.parse_args()
    unknown = sorted(set(given.rows) - set(ROWS))
    if unknown:
        parser.error(f"no row {', '.join(unknown)}; rows are {' '.join(ROWS)}")
    return given


def machine():
    with open("/proc/cpuinfo") as cpuinfo:
        models = [line.split(":")[1].strip() for line in cpuinfo if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cpus": os.cpu_count(),
        "kernel": platform.release(),
        "peers": {name: version_of(name) for name in ("perf", "bpftrace", "heaptrack")},
    }


def measure(given, shop):
    figures, failures = [], []
    for row in given.rows or ROWS:
        module = importlib.import_module(f"rows.{row}")
        print(f"bench: {module.NAME}", file=sys.stderr, flush=True)
        try:
            figures += module.measure(shop)
        except program.Failed as failed:
            failures.append(f"{row}: {failed}")
    return figures, failures


def main():
    given = options()
    if os.geteuid() != 0:
        sys.exit("bench: recording the kernel needs root")
    build = os.path.abspath(given.build)
    with tempfile.TemporaryDirectory() as scratch:
        runs = given.runs or (1 if given.small else 3)
        shop = Workshop(build, given.keep or scratch, given.small, runs)
        figures, failures = measure(given, shop)
    about = machine()
    print(f"{about['cpus']} CPUs, {about['cpu']}, Linux {about['kernel']}; medians of {runs}")
    print(", ".join(f"{name}: {version}" for name, version in about["peers"].items()))
    print(table.text(figures))
    for sentence in ABSENT:
        print("not compared: " + sentence)
    if given.json:
        with open(given.json, "w") as output:
            output.write(table.as_json(about, figures) + "\n")
    wrong = failures + table.over_bound(figures)
    for sentence in wrong:
        print("bench: " + sentence, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
