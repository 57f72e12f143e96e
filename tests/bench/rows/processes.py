"""A recording of many short processes."""

from table import Figure, growth
from workshop import medians

NAME = "report faults --by comm of a machine that starts processes"


def record(shop, name, processes):
    script = f"i=0; while [ $i -lt {processes} ]; do /bin/true; i=$((i + 1)); done"
    shop.run(
        shop.memtrace, "record", "--for", "faults", "-o", name, "--", "sh", "-c", script,
    )
    return shop.overview(name)[0]


def measure(shop):
    count = shop.size(30, 300)
    record(shop, "few.processes", count)
    events = record(shop, "many.processes", 10 * count)

    def ours(name):
        return shop.run(shop.memtrace, "report", "faults", "--by", "comm", "-i", name)

    tenth, whole, perf = shop.in_turn(
        lambda: ours("few.processes"),
        lambda: ours("many.processes"),
        lambda: shop.run("perf", "report", "--stdio", "-s", "comm", "-g", "none",
                         "-i", "many.processes"),
    )
    return [
        Figure(NAME, f"{10 * count:,} processes, {events:,} samples", "s",
               medians(whole, "wall_s"), {"perf report": medians(perf, "wall_s")}),
        Figure(NAME, "anonymous memory", "MiB", medians(whole, "anonymous_mib"),
               {"perf report": medians(perf, "anonymous_mib")}, 100),
        Figure(NAME, "growth of time with processes", "exponent",
               growth(medians(tenth, "wall_s"), medians(whole, "wall_s"), 10)),
    ]
