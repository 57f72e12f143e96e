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

    def each_ns(results):
        return medians(results, "cpu_s") * 1e9 / calls

    untraced = {"untraced": each_ns(alone)}
    return [
        Figure(NAME, "CPU for each event", "ns", each_ns(ours),
               {"perf stat": each_ns(perf), **untraced}),
        Figure(NAME, "the same by comm, which takes samples", "ns", each_ns(sampled), untraced),
    ]
