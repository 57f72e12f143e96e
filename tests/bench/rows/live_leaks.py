"""A live view of a process with many live blocks."""

import signal

from table import Figure
from workshop import has, medians

NAME = "leaks -p, live, of a process that replaces its blocks"

# What libbpf's memleak keeps of a block: its size, and the stack that allocated it.
MEMLEAK = """
uprobe:libc:malloc /pid == PID/ { @size[tid] = arg0; }
uretprobe:libc:malloc /@size[tid]/ { @block[retval] = (@size[tid], ustack); delete(@size[tid]); }
uprobe:libc:free /pid == PID/ { delete(@block[arg0]); }
interval:s:SECONDS { clear(@size); clear(@block); exit(); }
"""


def measure(shop):
    seconds = shop.size(3, 20)
    blocks = shop.size(1_000, 10_000)

    def beside_blocks(command, accepted=(0,)):
        with shop.beside(f"{shop.own}/live_blocks", blocks, seconds + 30) as target:
            return shop.run(*command(target.pid), accepted=accepted)

    def ours(pid):
        return (shop.memtrace, "leaks", "-p", pid, "-d", seconds)

    def bpftrace(pid):
        program = MEMLEAK.replace("PID", str(pid)).replace("SECONDS", str(seconds))
        return ("bpftrace", "-e", program)

    ways = [lambda: beside_blocks(ours)]
    if has("bpftrace"):
        # It aborts at its end when the process frees a block while it clears its map.
        ways.append(lambda: beside_blocks(bpftrace, accepted=(0, -signal.SIGABRT)))
    mine, *theirs = shop.in_turn(*ways)
    what = medians(theirs[0], "anonymous_mib") if theirs else "not installed"
    cpu = medians(theirs[0], "cpu_s") if theirs else "not installed"
    return [
        Figure(NAME, f"anonymous memory, {blocks:,} blocks", "MiB",
               medians(mine, "anonymous_mib"), {"bpftrace": what}, 60),
        Figure(NAME, f"CPU in {seconds} s", "s", medians(mine, "cpu_s"), {"bpftrace": cpu}),
    ]
