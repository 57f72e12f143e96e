"""A recording in which almost every sample has a stack of its own."""

from table import Figure, growth
from workshop import medians

NAME = "report malloc --by stack, each sample by another stack"


def record(shop, name, calls, depth=20):
    shop.run(
        shop.memtrace, "record", "--for", "malloc", "--call-graph", "fp", "-o", name,
        "--", f"{shop.own}/many_stacks", depth, calls,
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
        *([] if shop.small else millions(shop, ours, medians(tenth, "anonymous_mib"))),
    ]


def millions(shop, ours, process_mib):
    """perf report would need 50 GiB."""
    depth, calls = 22, 7_000_000
    samples = record(shop, "millions.data", calls, depth)
    took = ours("millions.data")
    each = (took.anonymous_mib - process_mib) * 1024 * 1024 / 2**depth
    what = f"{samples:,} samples of {2**depth:,} stacks"
    return [
        Figure(NAME, what, "s", took.wall_s),
        Figure(NAME, "CPU time for it, on all CPUs", "s", took.cpu_s),
        Figure(NAME, "memory of one of these stacks", "bytes", each, {}, 200),
    ]
