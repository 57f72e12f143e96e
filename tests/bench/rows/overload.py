"""Recorders beside each other on a machine that has no time for any of them."""

import threading

import program
from rows.busy_machine import EVENTS, compilers
from table import Figure

NAME = "record -a beside compilers, finds, memory eaters, a second memtrace and perf"

# Has so little room for events that wait to be sorted that it must give up some of them.
SMALL = "with 16 MiB"
# A process that touches fresh memory as fast as the kernel gives it out.
EATER = "while True: bytearray(256 << 20)"
FINDS = "while :; do find /usr -xdev >/dev/null; done"


def measure(shop):
    seconds = shop.size(3, 180)
    record = (shop.memtrace, "record", "-a", "--for", "kmalloc,pages,slab,faults", "-d", seconds)
    recorders = {
        "memtrace": (*record, "-o", "overload.data"),
        SMALL: (*record, "--max-memory", "16M", "-o", "small.data"),
        "perf record": (
            "perf", "record", "-q", "-a", "-g", "-c", 1, "-e", EVENTS, "-o", "overload.perf",
            "--", "sleep", seconds,
        ),
    }
    with compilers(shop), shop.beside("sh", "-c", FINDS), shop.beside("sh", "-c", FINDS), \
            shop.beside("python3", "-c", EATER), shop.beside("python3", "-c", EATER):
        took = at_once(shop, recorders)
    kept, missing = shop.caveats("overload.data")
    small_kept, small_missing = shop.caveats("small.data")
    if small_missing["overload"] > 0 and small_missing["cut"] == 0:
        raise program.Failed(f"{SMALL} memtrace gave up events, and not one stack before them")
    perf_kept, perf_lost = shop.perf_stats("overload.perf")
    return [
        Figure(NAME, f"of {kept + missing['lost']:,} events lost", "%",
               percent(missing["lost"], kept),
               {SMALL: percent(small_missing["lost"], small_kept),
                "perf record": percent(perf_lost, perf_kept)}),
        Figure(NAME, "stacks cut short, and told", "%", percent(missing["cut"], kept),
               {SMALL: percent(small_missing["cut"], small_kept)}),
        Figure(NAME, "CPU of the recorder", "% of one", 100 * took["memtrace"].cpu_s / seconds,
               {"perf record": 100 * took["perf record"].cpu_s / seconds}),
        Figure(NAME, "anonymous memory", "MiB", took["memtrace"].anonymous_mib,
               {"perf record": took["perf record"].anonymous_mib}),
        Figure(NAME, "start and end beside the time asked for", "s",
               took["memtrace"].wall_s - seconds,
               {"perf record": took["perf record"].wall_s - seconds}),
    ]


def at_once(shop, commands):
    """All of them at the same time, once: what each of them took."""
    took, failures = {}, []

    def run(name, words):
        try:
            took[name] = shop.run(*words)
        except program.Failed as failed:
            failures.append(failed)

    threads = [threading.Thread(target=run, args=each) for each in commands.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return took


def percent(missing, kept):
    return 100 * missing / max(1, kept + missing)
