"""All allocations of the kernel and all faults of a machine that compiles."""

from table import Figure, median
from workshop import medians

NAME = "record -a --for kmalloc,pages,slab,faults beside compilers"
EVENTS = ",".join(
    [
        "kmem:kmalloc",
        "kmem:kfree",
        "kmem:kmem_cache_alloc",
        "kmem:kmem_cache_free",
        "kmem:mm_page_alloc",
        "kmem:mm_page_free",
        "page-faults",
    ]
)
SOURCE = """#include <algorithm>
#include <map>
#include <regex>
#include <string>
bool f(const std::string& s) { return std::regex_match(s, std::regex("[a-z]+[0-9]*")); }
"""


def compilers(shop):
    with open(shop.file("busy.cpp"), "w") as source:
        source.write(SOURCE)
    loop = "while :; do g++ -O1 -c busy.cpp -o busy.$$.o; done"
    count = shop.size(2, 8)
    return shop.beside("sh", "-c", f"for i in $(seq {count}); do ({loop}) & done; wait")


def measure(shop):
    seconds = shop.size(3, 20)
    sampled = {"memtrace": [], "perf": []}

    def ours():
        took = shop.run(
            shop.memtrace, "record", "-a", "-d", seconds,
            "--for", "kmalloc,pages,slab,faults", "-o", "busy.data",
        )
        sampled["memtrace"].append((*shop.overview("busy.data"), shop.bytes_of("busy.data")))
        return took

    def perf():
        took = shop.run(
            "perf", "record", "-q", "-a", "-g", "-c", 1, "-e", EVENTS,
            "-o", "busy.perf", "--", "sleep", seconds,
        )
        sampled["perf"].append((*shop.perf_stats("busy.perf"), shop.bytes_of("busy.perf")))
        return took

    with compilers(shop):
        results = dict(zip(("memtrace", "perf"), shop.in_turn(ours, perf)))
    return [
        Figure(NAME, *about, value(results["memtrace"], sampled["memtrace"], seconds),
               {"perf record": value(results["perf"], sampled["perf"], seconds)}, bound)
        for about, value, bound in FIGURES
    ]


def lost_percent(_, sampled, __):
    return median([100 * lost / max(1, kept + lost) for kept, lost, _ in sampled])


def cpu_percent(results, _, seconds):
    return 100 * medians(results, "cpu_s") / seconds


def bytes_of_event(_, sampled, __):
    return median([size / max(1, kept) for kept, _, size in sampled])


def anonymous(results, _, __):
    return medians(results, "anonymous_mib")


def late(results, _, seconds):
    return medians(results, "wall_s") - seconds


FIGURES = (
    (("events lost", "%"), lost_percent, None),
    (("CPU of the recorder", "% of one"), cpu_percent, None),
    (("file, per event", "bytes"), bytes_of_event, None),
    (("anonymous memory", "MiB"), anonymous, 300),
    (("start and end beside the time asked for", "s"), late, None),
)
