"""What recording costs the programs that run, beside perf record of the same events."""

import json

from rows.busy_machine import EVENTS, SOURCE
from table import Figure, median

NAME = "compilers under record -a --for kmalloc,pages,slab,faults"

# Runs as many compilers at once as there are CPUs, and prints the time and the CPU time that they
# took: the recorder runs beside them and is not in it.
WORK = """import json, os, resource, subprocess, sys, time
begin = time.monotonic()
for _ in range(int(sys.argv[1])):
    running = [
        subprocess.Popen(["g++", "-O1", "-c", "traced.cpp", "-o", f"traced.{cpu}.o"])
        for cpu in range(os.cpu_count())
    ]
    if any(process.wait() != 0 for process in running):
        sys.exit("the compiler failed")
took = resource.getrusage(resource.RUSAGE_CHILDREN)
with open("traced.json", "w") as told:
    json.dump([took.ru_utime + took.ru_stime, time.monotonic() - begin], told)
"""


def measure(shop):
    with open(shop.file("traced.cpp"), "w") as source:
        source.write("#include <vector>\nstd::vector<int> v;\n" if shop.small else SOURCE)
    with open(shop.file("traced.py"), "w") as work:
        work.write(WORK)
    compile_it = ("python3", "traced.py", shop.size(1, 8))
    copying = ",".join(
        event + "/call-graph=dwarf/" if event == "page-faults" else event
        for event in EVENTS.split(",")
    )

    def way(sampled, *before):
        shop.run(*before, *compile_it)
        kept, lost = sampled() if sampled else (0, 0)
        with open(shop.file("traced.json")) as told:
            return (*json.load(told), 100 * lost / max(1, kept + lost))

    def memtrace(*options):
        return lambda: way(
            lambda: shop.overview("traced.data"), shop.memtrace, "record", "-a", *options,
            "--for", "kmalloc,pages,slab,faults", "-o", "traced.data", "--",
        )

    def perf(events):
        return lambda: way(
            # With its default rings perf loses half of the events, and what is lost costs less.
            lambda: shop.perf_stats("traced.perf"), "perf", "record", "-q", "-a", "-m", 8192,
            "-g", "-c", 1, "-e", events, "-o", "traced.perf", "--",
        )

    shop.run(*compile_it)  # the compiler is in the page cache now
    alone, *recorded = shop.in_turn(
        lambda: way(None), memtrace(), perf(copying), memtrace("--call-graph", "fp"), perf(EVENTS)
    )
    copied, followed = recorded[:2], recorded[2:]
    return [
        *compared(alone, "stacks of faults copied", *copied),
        *compared(alone, "stacks by frame pointers", *followed),
    ]


def compared(alone, how, ours, perf):
    cpu_s, wall_s, _ = columns(alone)
    figures = []
    for place, what, unit, whole in (
        (0, "their CPU time", "of it untraced", cpu_s),
        (1, "their time", "of it untraced", wall_s),
        (2, "events lost", "%", 1),
    ):
        figures.append(
            Figure(NAME, f"{what}, {how}", unit, columns(ours)[place] / whole,
                   {"perf record": columns(perf)[place] / whole})
        )
    return figures


def columns(results):
    return [median(column) for column in zip(*results)]
