"""Reports of one recording, made by perf so that all can read it."""

from table import Figure, growth
from workshop import medians

NAME = "report of kmalloc samples by kernel stack"


def record(shop, name, calls):
    shop.run(
        "perf", "record", "-q", "-m", 8192, "-g", "-c", 1, "-e", "kmem:kmalloc",
        "-o", name, "--", f"{shop.puppets}/many_kmallocs", calls,
    )
    return shop.perf_stats(name)[0]


def measure(shop):
    calls = shop.size(10_000, 100_000)
    small = record(shop, "small.perf", calls)
    large = record(shop, "large.perf", 10 * calls)

    def ours(name):
        return shop.run(shop.memtrace, "report", "kmalloc", "--by", "stack", "-i", name)

    tenth, whole, perf_report, perf_script = shop.in_turn(
        lambda: ours("small.perf"),
        lambda: ours("large.perf"),
        lambda: shop.run("perf", "report", "--stdio", "-i", "large.perf"),
        lambda: shop.run("perf", "script", "-i", "large.perf"),
    )
    peers = {"perf report": perf_report, "perf script": perf_script}
    return [
        Figure(NAME, f"{large:,} samples", "s", medians(whole, "wall_s"),
               {name: medians(results, "wall_s") for name, results in peers.items()}),
        Figure(NAME, "anonymous memory", "MiB", medians(whole, "anonymous_mib"),
               {name: medians(results, "anonymous_mib") for name, results in peers.items()}, 100),
        Figure(NAME, "growth of time with samples", "exponent",
               growth(medians(tenth, "wall_s"), medians(whole, "wall_s"), large / max(1, small))),
        Figure(NAME, "growth of memory with samples", "exponent",
               growth(medians(tenth, "anonymous_mib"), medians(whole, "anonymous_mib"),
                      large / max(1, small))),
    ]
