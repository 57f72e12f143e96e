"""What all rows share: where programs are, how large the work is, and how peers are asked."""

import json
import os
import shutil
import subprocess

import program
import table


class Workshop:
    def __init__(self, build, folder, small, runs):
        self.memtrace = os.path.join(build, "memtrace")
        self.puppets = os.path.join(build, "puppets")
        self.own = os.path.join(build, "bench")
        self.folder = folder
        self.small = small
        self.runs = runs

    def size(self, small, large):
        return small if self.small else large

    def file(self, name):
        return os.path.join(self.folder, name)

    def bytes_of(self, name):
        return os.path.getsize(self.file(name))

    def run(self, *words, accepted=(0,), environment=None):
        return program.run(
            [str(word) for word in words],
            accepted=accepted,
            folder=self.folder,
            environment=environment,
        )

    def beside(self, *words):
        return program.Background([str(word) for word in words], folder=self.folder)

    def in_turn(self, *ways):
        """Each way is a function without arguments; A, B, A, B: a list of results for each."""
        results = [[] for _ in ways]
        for _ in range(self.runs):
            for way, all_of_it in zip(ways, results):
                all_of_it.append(way())
        return results

    def overview(self, name):
        """Events of a recording of memtrace and how many were lost."""
        samples, caveats = self.caveats(name)
        return samples, caveats["lost"]

    def caveats(self, name):
        """Events of a recording, and what its report says is missing."""
        report = json.loads(
            self.run(self.memtrace, "report", "--all", "--format", "json", "-i", self.file(name)).output
        )
        samples = sum(row["samples"] for row in report["tables"][0]["rows"])
        return samples, report["caveats"]

    def perf_stats(self, name):
        """The same of perf's: LOST_SAMPLES is what the kernel counted at the end, from 6.0 on."""
        samples = lost = 0
        of_one_event = False  # the sums of all come first
        for line in self.run("perf", "report", "--stats", "-i", self.file(name)).output.splitlines():
            words = line.split()
            if line.endswith(" stats:"):
                of_one_event = words[0] != "Aggregated"
            elif of_one_event and words[:2] == ["SAMPLE", "events:"]:
                samples += int(words[2])
            elif of_one_event and words[:2] == ["LOST_SAMPLES", "events:"]:
                lost += int(words[2])
        return samples, lost


def has(command):
    return shutil.which(command) is not None


def version_of(command):
    try:
        told = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=10)
        return told.stdout.strip().splitlines()[0]
    except (OSError, IndexError, subprocess.TimeoutExpired):
        return "not installed"


def medians(results, what):
    return table.median([getattr(result, what) for result in results])


def medians_of_whole(results, what, seconds):
    """Of the runs that lasted as long as they should; a sentence when there is none."""
    failures = [result for result in results if isinstance(result, program.Failed)]
    ended = [result for result in results if result not in failures]
    whole = [result for result in ended if result.wall_s >= seconds]
    if whole:
        return medians(whole, what)
    if ended:
        return f"ended after {max(result.wall_s for result in ended):.1f} s of {seconds}"
    return "cannot run: " + str(failures[0]).strip().splitlines()[-1]
