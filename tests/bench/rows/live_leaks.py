"""A live view of a process with many live blocks."""

import signal

from bcc import memleak
from program import Failed
from table import Figure
from workshop import has, medians, medians_of_whole

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

    def beside_blocks(command, **how):
        with shop.beside(f"{shop.own}/live_blocks", blocks, seconds + 60) as target:
            return shop.run(*command(target.pid), **how)

    def peer(command, **how):
        def run():
            try:
                return beside_blocks(command, **how)
            except Failed as failed:
                return failed

        return run

    def ours(pid):
        return (shop.memtrace, "leaks", "-p", pid, "-d", seconds)

    def bpftrace(pid):
        program = MEMLEAK.replace("PID", str(pid)).replace("SECONDS", str(seconds))
        return ("bpftrace", "-e", program)

    ways = {"memtrace": lambda: beside_blocks(ours)}
    missing = {}
    if has("bpftrace"):
        # It aborts at its end when the process frees a block while it clears its map.
        ways["bpftrace"] = peer(bpftrace, accepted=(0, -signal.SIGABRT))
    else:
        missing["bpftrace"] = "not installed"
    command, environment = memleak(shop.folder)
    if command:
        # That of Debian 12 (0.26) passes no offset of a reference counter, and the kernel refuses
        # what happens to be in its place, but for a 0.
        ways["memleak of bcc"] = peer(
            lambda pid: (command, "-p", pid, "-o", 0, seconds, 1), environment=environment
        )
    else:
        missing["memleak of bcc"] = environment
    took = dict(zip(ways, shop.in_turn(*ways.values())))
    mine = took.pop("memtrace")

    def peers(what):
        return {name: medians_of_whole(all_of_it, what, seconds)
                for name, all_of_it in took.items()} | missing

    return [
        Figure(NAME, f"anonymous memory, {blocks:,} blocks", "MiB",
               medians(mine, "anonymous_mib"), peers("anonymous_mib"), 60),
        Figure(NAME, f"CPU in {seconds} s", "s", medians(mine, "cpu_s"),
               peers("cpu_s")),
    ]
