"""Runs a program and says what it took: time, CPU, memory."""

import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass


class Failed(Exception):
    """A program ended with an error: the row cannot be measured."""


@dataclass
class Measured:
    wall_s: float
    cpu_s: float  # of the program and of the children that it waited for
    anonymous_mib: float  # the peak; mapped files are not in it
    output: str


class MemoryPeak(threading.Thread):
    """The kernel keeps no peak of anonymous memory: /proc says what it is now."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.peak_kib = 0
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.01):
            try:
                with open(self.path) as status:
                    for line in status:
                        if line.startswith("RssAnon:"):
                            self.peak_kib = max(self.peak_kib, int(line.split()[1]))
            except OSError:
                return


def run(command, accepted=(0,), folder=None, environment=None):
    """`command` is a list of words. Its standard output is in Measured.output."""
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", dir=folder) as errors:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=folder,
            text=True,
            env={**os.environ, **(environment or {})},
        )
        memory = MemoryPeak(process.pid)
        memory.start()
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        memory.ended.set()
        errors.seek(0)
        if process.returncode not in accepted:
            raise Failed(f"{' '.join(command)}: status {process.returncode}: {errors.read()[-300:]}")
    return Measured(
        wall_s=time.monotonic() - begin,
        cpu_s=usage.ru_utime + usage.ru_stime,
        anonymous_mib=memory.peak_kib / 1024,
        output=output,
    )


class Background:
    """A load that runs beside what is measured, and ends with it."""

    def __init__(self, command, folder=None):
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
        )

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        try:
            os.killpg(self.process.pid, 9)
        except ProcessLookupError:
            pass
        self.process.wait()
