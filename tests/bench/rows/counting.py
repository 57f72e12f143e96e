"""Events that the kernel only counts."""

from table import Figure
from workshop import medians

NAME = "count -e kmem:kmalloc of a program"


def measure(shop):
    calls = shop.size(20_000, 1_000_000)
    puppet = (f"{shop.puppets}/many_kmallocs", calls)
    count = (shop.memtrace, "count", "-e", "kmem:kmalloc")
    alone, ours, sampled, perf = shop.in_turn(
        lambda: shop.run(*puppet),
        lambda: shop.run(*count, "--", *puppet),
        lambda: shop.run(*count, "--by", "comm", "--", *puppet),
        lambda: shop.run("perf", "stat", "-e", "kmem:kmalloc", "--", *puppet),
    )

    def more_ns(results):
        return (medians(results, "cpu_s") - medians(alone, "cpu_s")) * 1e9 / calls

    return [
        Figure(NAME, "more CPU for each event", "ns", more_ns(ours), {"perf stat": more_ns(perf)}),
        Figure(NAME, "the same by comm, which takes samples", "ns", more_ns(sampled)),
    ]
