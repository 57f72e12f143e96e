"""compare_instructions.py PROGRAM FILE [--write]: how many instructions each of the hottest paths
takes, by valgrind's count, against those that FILE has. More than a twentieth more is an error.

FILE says which compiler the figures are of; another one makes other code, and the check is skipped.
"""

import re
import subprocess
import sys

TOLERANCE = 0.05
COUNT = 2000
SKIPPED = 77


def collected(program, path, count):
    words = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, path]
    ended = subprocess.run([*words, str(count)], capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{path}: status {ended.returncode}\n{ended.stderr[-2000:]}")
    return int(re.search(r"Collected : (\d+)", ended.stderr).group(1))


def instructions(program, path):
    """Of one more: what the start of the program takes is in both."""
    return (collected(program, path, 2 * COUNT) - collected(program, path, COUNT)) / COUNT


def compiler_of(program):
    """As the program has it in its section .comment."""
    told = subprocess.run(
        ["readelf", "-p", ".comment", program], capture_output=True, text=True, check=True
    )
    return re.search(r"GCC: .*", told.stdout).group(0).strip()


def read(file):
    with open(file) as lines:
        words = [line.rstrip("\n").split("\t") for line in lines if not line.startswith("#")]
    return dict(words)


def write(program, file, paths):
    with open(file, "w") as output:
        output.write("# Instructions for each event, by valgrind. Made by ninja count_instructions.\n")
        output.write(f"compiler\t{compiler_of(program)}\n")
        for path in paths:
            output.write(f"{path}\t{instructions(program, path):.0f}\n")


def main():
    program, file = sys.argv[1:3]
    if "--write" in sys.argv:
        write(program, file, ("parse", "unwind", "fold"))
        return 0
    known = read(file)
    compiler = known.pop("compiler")
    if compiler != compiler_of(program):
        print(f"SKIPPED: the figures are of {compiler}, this is {compiler_of(program)}")
        return SKIPPED
    wrong = 0
    for path, before in known.items():
        now = instructions(program, path)
        more = now / float(before) - 1
        print(f"{path}: {now:.0f} instructions, {before} before ({100 * more:+.1f} %)")
        wrong += more > TOLERANCE
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
