"""What a pair of malloc and free costs the traced program."""

from rows.live_leaks import MEMLEAK
from table import Figure, median
from workshop import has

NAME = "a pair of malloc and free under leaks"


def measure(shop):
    pairs = shop.size(5_000, 100_000)
    puppet = (f"{shop.puppets}/heap_calls", pairs, 30)

    def nanoseconds(*before):
        return last_number(shop.run(*before, *puppet).output)

    def recorded(*options):
        return nanoseconds(
            shop.memtrace, "record", "--for", "leaks", *options, "-o", "cost.data", "--"
        )

    def bpftrace():
        program = MEMLEAK.replace("/pid == PID/", '/comm == "heap_calls"/')
        program = program.replace("SECONDS", "1000")
        words = " ".join(str(word) for word in puppet)
        return last_number(shop.run("bpftrace", "-e", program, "-c", words).output)

    ways = [lambda: nanoseconds(), lambda: recorded(), lambda: recorded("--call-graph", "fp")]
    if has("bpftrace"):
        ways.append(bpftrace)
    alone, copied, followed, *theirs = (median(results) for results in shop.in_turn(*ways))
    peer = {"bpftrace": theirs[0] - alone if theirs else "not installed"}
    return [
        Figure(NAME, "more time, stacks unwound from copies", "ns", copied - alone, peer),
        Figure(NAME, "more time, stacks by frame pointers", "ns", followed - alone, peer),
    ]


def last_number(output):
    return [float(line) for line in output.split() if line.replace(".", "", 1).isdigit()][-1]
