"""A recording in which almost every sample has a stack of its own."""

from table import Figure, growth
from workshop import medians

NAME = "report malloc --by stack, each sample by another stack"


def record(shop, name, calls):
    shop.run(
        shop.memtrace, "record", "--for", "malloc", "--call-graph", "fp", "-o", name,
        "--", f"{shop.own}/many_stacks", 20, calls,
    )
    return shop.overview(name)[0]


def measure(shop):
    calls = shop.size(5_000, 30_000)
    small = record(shop, "few.data", calls)
    large = record(shop, "many.data", 10 * calls)

    def ours(name):
        return shop.run(shop.memtrace, "report", "malloc", "--by", "stack", "-i", name)

    tenth, whole, perf = shop.in_turn(
        lambda: ours("few.data"),
        lambda: ours("many.data"),
        lambda: shop.run("perf", "report", "--stdio", "-i", "many.data"),
    )
    factor = large / max(1, small)
    memory = medians(whole, "anonymous_mib")
    # A process of its own takes about 20 MiB; what grows are the stacks.
    each = (memory - medians(tenth, "anonymous_mib")) * 1024 * 1024 / max(1, 9 * calls)
    return [
        Figure(NAME, f"{large:,} samples", "s", medians(whole, "wall_s"),
               {"perf report": medians(perf, "wall_s")}),
        Figure(NAME, "anonymous memory", "MiB", memory,
               {"perf report": medians(perf, "anonymous_mib")}, shop.size(150, 1500)),
        # A run of some milliseconds is over before its peak is seen.
        Figure(NAME, "memory of one more stack", "bytes", each, {}, None if shop.small else 300),
        Figure(NAME, "growth of time with stacks", "exponent",
               growth(medians(tenth, "wall_s"), medians(whole, "wall_s"), factor)),
    ]
