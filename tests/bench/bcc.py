"""memleak of bcc, where it can be had: it compiles its program with the headers of a kernel."""

import glob
import os
import re
import shutil
import subprocess

NAMES = ("memleak-bpfcc", "/usr/share/bcc/tools/memleak")  # of Debian, of RHEL


def memleak(folder):
    """Its command and the environment that it needs; or None and why it cannot be run."""
    command = next((name for name in NAMES if shutil.which(name)), None)
    if command is None:
        return None, "not installed (bpfcc-tools)"
    if os.path.isdir(f"/lib/modules/{os.uname().release}/build"):
        return command, {}
    headers = sorted(glob.glob("/usr/src/linux-headers-*-amd64"), key=os.path.getmtime)
    if not headers:
        return None, "no kernel headers are installed (linux-headers-amd64)"
    # Those of another kernel do: of a user's heap, memleak reads the registers alone.
    return command, {"BCC_KERNEL_SOURCE": joined(headers[-1], os.path.join(folder, "headers"))}


def joined(headers, target):
    """Debian has them in two folders, of which bcc takes one."""
    if not os.path.isdir(target):
        os.makedirs(target)
        common = re.sub(r"(linux-headers-[0-9.]+-[0-9]+)-.*", r"\1-common", headers)
        for source in (common, headers):
            subprocess.run(["cp", "-asf", source + "/.", target], check=True)
    return target
