#!/usr/bin/env python3
"""What `memtrace record --max-overhead` costs redis, PostgreSQL and g++, and how far its figures are off.

Run as root: tests/bench/bench_overhead.py [--pairs 5] [--share 3%] [--only redis|pgbench|g++]
It needs redis-server, redis-benchmark, pgbench, g++ and perf. Runs without and with memtrace take turns;
the table has their medians: throughput by the clock, and for each second of CPU time that the server
used, which other load on the machine changes less. Then perf stat counts beside memtrace, and the
counts of both for the same time are compared.
"""
import argparse
import glob
import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
MEMTRACE = os.environ.get("MEMTRACE", str(TOP / "build" / "memtrace"))
KERNEL = ["--for", "kmalloc,pages,faults", "-a"]
# Of the whole machine, and of the load's process and its children.
OF_MACHINE = ["slab,reclaim,compaction,vmscan", "growth,ledger,anon,filepages", "calls,mmap,brk,shm",
              "faults,ffaults,hfaults,swapin", "stalls,writeback,oom,failures"]
OF_PROCESS = ["leaks", "malloc", "heap,leaks", "arenas,enomem", "growth,mmap"]
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """Of the process, its children that have ended, and those that run."""
    total = 0
    for stat in glob.glob("/proc/[0-9]*/stat"):
        try:
            fields = pathlib.Path(stat).read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        own, parent = int(stat.split("/")[2]), int(fields[1])
        if own == pid:
            total += sum(int(ticks) for ticks in fields[11:15])
        elif parent == pid:
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


class Redis:
    name = "redis-benchmark"

    def __init__(self, folder, requests):
        self.socket, self.requests = f"{folder}/redis.sock", requests
        self.server = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", self.socket, "--save", "",
             "--appendonly", "no"], stdout=subprocess.DEVNULL, cwd=folder)
        while not os.path.exists(self.socket):
            time.sleep(0.05)

    def pid(self):
        return self.server.pid

    def run(self):
        out = subprocess.run(
            ["redis-benchmark", "-s", self.socket, "-t", "set,get", "-n", str(self.requests), "-d",
             "100", "-r", "100000", "--csv"], capture_output=True, text=True, check=True).stdout
        rates = [float(rate) for rate in re.findall(r'^"(?:SET|GET)[^"]*","([0-9.]+)"', out, re.M)]
        return 2 * self.requests, len(rates) / sum(1 / rate for rate in rates)

    def stop(self):
        self.server.terminate()
        self.server.wait()


class Postgres:
    def __init__(self, folder, seconds, how):
        self.folder, self.seconds, self.how = folder, seconds, how
        self.name = " ".join(["pgbench", *how])
        tools = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.user = pwd.getpwnam("postgres")
        os.chmod(folder, 0o755)
        data = f"{folder}/pg"
        shutil.rmtree(data, ignore_errors=True)  # of the load before
        os.mkdir(data)
        os.chown(data, self.user.pw_uid, self.user.pw_gid)
        self.call([f"{tools}/initdb", "-D", data])
        self.server = subprocess.Popen(
            [f"{tools}/postgres", "-D", data, "-k", data, "-c", "listen_addresses=", "-c",
             "fsync=off"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **self.as_user())
        self.options = ["-h", data, "-U", "postgres"]
        while subprocess.run(["psql", *self.options, "-c", "select 1", "postgres"],
                             capture_output=True, check=False).returncode:
            time.sleep(0.2)
        self.call(["pgbench", "-i", "-s", "2", *self.options, "postgres"])

    def as_user(self):
        return {"user": self.user.pw_uid, "group": self.user.pw_gid, "cwd": "/"}

    def call(self, command):
        return subprocess.run(command, capture_output=True, text=True, check=True,
                              **self.as_user()).stdout

    def pid(self):
        return self.server.pid

    def run(self):
        out = self.call(["pgbench", *self.how, "-c", "2", "-T", str(self.seconds), *self.options, "postgres"])
        done = int(re.search(r"actually processed: (\d+)", out).group(1))
        return done, float(re.search(r"tps = ([0-9.]+)", out).group(1))

    def stop(self):
        self.server.send_signal(signal.SIGINT)
        self.server.wait()


class Compiler:
    """A shell whose children are compilers, one after the other."""

    name = "g++"

    def __init__(self, folder, runs):
        self.runs = runs
        source = pathlib.Path(folder) / "load.cpp"
        source.write_text("#include <map>\n#include <string>\n#include <regex>\n"
                          "std::map<std::string, std::regex> all;\n")
        self.compile = f"g++ -O1 -c {source} -o {folder}/load.o"
        self.server = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def pid(self):
        return self.server.pid

    def run(self):
        begin = time.monotonic()
        self.server.stdin.write(f"for i in $(seq {self.runs}); do {self.compile}; done; echo done\n")
        self.server.stdin.flush()
        assert self.server.stdout.readline() == "done\n"
        return self.runs, self.runs / (time.monotonic() - begin)

    def stop(self):
        self.server.communicate()


class Recording:
    """Runs beside the load. It begins when memtrace says that it records."""

    def __init__(self, words, share, file):
        ready, told = os.pipe()
        self.file = file
        self.process = subprocess.Popen(
            [MEMTRACE, "record", *words, "--max-overhead", share, "-o", file],
            env={**os.environ, "MEMTRACE_READY_FD": str(told)}, pass_fds=[told],
            stderr=subprocess.PIPE, text=True)
        os.close(told)
        self.is_ready = os.read(ready, 1) != b""
        os.close(ready)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.communicate()[1]


def measure(load):
    before = cpu_seconds(load.pid())
    done, rate = load.run()
    return {"rate": rate, "per_cpu": done / (cpu_seconds(load.pid()) - before)}


def compare(load, words, share, pairs, folder):
    bare, recorded, said = [], [], ""
    for _ in range(pairs):
        bare.append(measure(load))
        recording = Recording(words, share, f"{folder}/bench.data")
        if not recording.is_ready:
            return print(f"{load.name:16} {' '.join(words)}: memtrace did not record\n"
                         f"  {recording.stop().strip()}")
        recorded.append(measure(load))
        said = recording.stop()
    line = f"{load.name:16} {' '.join(words)[:44]:44}"
    for what, title in (("rate", "a second"), ("per_cpu", "a CPU second")):
        without = statistics.median(run[what] for run in bare)
        with_it = statistics.median(run[what] for run in recorded)
        falls = [100 * (1 - b[what] / a[what]) for a, b in zip(bare, recorded)]
        line += (f" | {title}: {without:.4g} -> {with_it:.4g},"
                 f" falls by {statistics.median(falls):+.1f} % ({min(falls):+.1f} to {max(falls):+.1f})")
    print(line)
    for note in re.findall(r".*(?:estimated overhead|overhead was not kept).*", said):
        print("  " + note.strip())


def report(view, file, window):
    out = subprocess.run([MEMTRACE, "report", view, "-i", file, "--format", "json", "--top", "0",
                          "--time", window, "--by", "cpu"], capture_output=True, text=True,
                         check=True).stdout
    return json.loads(out)


def check_counts(load, share, folder):
    """kmem:kmalloc and kmem:mm_page_alloc of the whole machine, by perf and by memtrace."""
    events = ["kmem:kmalloc", "kmem:mm_page_alloc"]
    recording = Recording(KERNEL, share, f"{folder}/bench.data")
    begin = time.clock_gettime(time.CLOCK_REALTIME)
    counter = subprocess.Popen(
        ["perf", "stat", "-a", "-x", ",", "-e", ",".join(events), "--filter",
         f"common_pid != {recording.process.pid}", "sleep", "1000"], stderr=subprocess.PIPE, text=True)
    time.sleep(0.3)
    load.run()
    counter.send_signal(signal.SIGINT)
    text = counter.communicate()[1]
    end = time.clock_gettime(time.CLOCK_REALTIME)
    recording.stop()
    truth = {event: int(count) for count, event in re.findall(r"^(\d+),[^,]*,([^,]+),", text, re.M)}
    clock = lambda at: time.strftime("%H:%M:%S", time.localtime(at)) + f"{at % 1:.3f}"[1:]
    for view, event, column in (("kmalloc", events[0], "count"), ("pages", events[1], "allocs")):
        found = report(view, recording.file, f"{clock(begin)},{clock(end)}")
        rows = found["tables"][0]["rows"]
        count = sum(row[column] for row in rows)
        off = sum((row[column] * (row.get("error") or 0) / 100) ** 2 for row in rows) ** 0.5
        print(f"  {event}: perf stat {truth[event]}, memtrace {count} +- {off:.0f}"
              f" ({100 * (count / truth[event] - 1):+.1f} %)")


def recordings(views, load):
    process = ["-p", str(load.pid())]
    if views == "some":
        return [KERNEL, ["--for", "leaks", *process], ["--for", "malloc", *process]]
    return [KERNEL, *(["--for", group, "-a", "--yes-all-processes"] for group in OF_MACHINE),
            *(["--for", group, *process] for group in OF_PROCESS),
            ["--for", "leaks", "-a", "--yes-all-processes"]]


def main():
    # A shell that starts this in the background lets it ignore the signal, and its children with it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pairs", type=int, default=5)
    options.add_argument("--share", default="3%")
    options.add_argument("--only", choices=["redis", "pgbench", "pgbench-S", "g++"])
    options.add_argument("--for", dest="views", choices=["some", "all"], default="some",
                         help="some views, or all of them, in groups")
    options.add_argument("--requests", type=int, default=200000, help="of redis, SET and GET each")
    options.add_argument("--seconds", type=int, default=5, help="of pgbench")
    options.add_argument("--runs", type=int, default=5, help="of g++")
    chosen = options.parse_args()
    folder = tempfile.mkdtemp(prefix="memtrace-bench-")
    makers = {"redis": lambda: Redis(folder, chosen.requests),
              "pgbench": lambda: Postgres(folder, chosen.seconds, []),
              "pgbench-S": lambda: Postgres(folder, chosen.seconds, ["-S"]),
              "g++": lambda: Compiler(folder, chosen.runs)}
    try:
        for name in [chosen.only] if chosen.only else makers:
            load = makers[name]()
            try:
                load.run()  # it gets its memory
                for words in recordings(chosen.views, load):
                    compare(load, words, chosen.share, chosen.pairs, folder)
                check_counts(load, chosen.share, folder)
            finally:
                load.stop()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    if os.geteuid() != 0:
        sys.exit("bench_overhead: recording the kernel needs root")
    main()
