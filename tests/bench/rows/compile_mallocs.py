"""Each malloc of a compiler with its stack."""

import glob
import os

from table import Figure, median
from workshop import has, medians

NAME = "record --for malloc of a compile by cc1plus, with stacks"


def compiler(shop):
    """heaptrack watches one process: the compiler itself, not g++, which only starts it."""
    with open(shop.file("mallocs.cpp"), "w") as source:
        source.write(f"#include <{'map' if shop.small else 'regex'}>\nint main() {{}}\n")
    shop.run("g++", "-E", "mallocs.cpp", "-o", "mallocs.ii")
    cc1plus = shop.run("g++", "-print-prog-name=cc1plus").output.strip()
    return (cc1plus, "-quiet", "mallocs.ii", "-o", "mallocs.s")


def measure(shop):
    compile_it = compiler(shop)
    shop.run(*compile_it)  # it is in the page cache now
    inner = "begin=$(date +%s%N); \"$@\"; echo $((($(date +%s%N) - begin) / 1000)) >inner.us"
    record = (shop.memtrace, "record", "--for", "malloc", "-o", "mallocs.data", "--")
    took_us = []

    def ours():
        took = shop.run(*record, "sh", "-c", inner, "sh", *compile_it)
        with open(shop.file("inner.us")) as told:
            took_us.append(int(told.read()))
        return took

    ways = [lambda: shop.run(*compile_it), ours]
    if has("heaptrack"):
        ways.append(lambda: shop.run("heaptrack", "-o", "mallocs.heaptrack", *compile_it))
    alone, whole, *theirs = (medians(results, "wall_s") for results in shop.in_turn(*ways))
    kept, lost = shop.overview("mallocs.data")
    missing = "not installed"
    slower = theirs[0] / alone if theirs else missing
    return [
        Figure(NAME, "time of the compile, of it alone", "times",
               median(took_us) / 1e6 / alone, {"heaptrack": slower}),
        Figure(NAME, "time until the file is whole", "times",
               whole / alone, {"heaptrack": slower}),
        Figure(NAME, f"of {kept + lost:,} events lost", "%", 100 * lost / max(1, kept + lost)),
        Figure(NAME, "file, per event", "bytes", shop.bytes_of("mallocs.data") / max(1, kept),
               {"heaptrack": heaptrack_size(shop, kept) if theirs else missing}),
    ]


def heaptrack_size(shop, allocations):
    """The newest file; heaptrack writes the frees, too."""
    files = sorted(glob.glob(shop.file("mallocs.heaptrack*")), key=os.path.getmtime)
    return os.path.getsize(files[-1]) / max(1, allocations)
