#!/bin/sh
# Are memtrace's user stacks those of perf script? Both unwind the same stack dumps; the frames are
# compared stack by stack, address by address, and the ways in which they differ are counted.
# Usage, as root: tests/bench/compare_unwind.sh [FILE of perf record --call-graph dwarf]
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/common.sh

file=${1:-}
if [ -z "$file" ]; then
  file=$scratch/dumps.data
  perf record -q -m 8192 -c 1 --call-graph dwarf,8192 -e page-faults -o "$file" -- \
    g++ -std=c++20 -c tests/live/data/compile_me.cpp -o "$scratch/compile_me.o"
fi
"$build/bench/bench_unwind" --dump "$file" >"$scratch/ours.txt"
# The header line of a sample becomes ours; --no-inline: addresses, not what was inlined there. The
# kernel's frames are left out, and the -1 that libunwind gives as the caller of the outermost frame.
perf script -i "$file" --no-inline --max-stack 1024 -F time,ip 2>/dev/null |
  awk '/: *$/ { print "#"; next } NF && $1 !~ /^ffff/ { print $1 }' >"$scratch/theirs.txt"

awk -v ours="$scratch/ours.txt" -v theirs="$scratch/theirs.txt" -v examples="${EXAMPLES:-0}" '
  # The next stack of a file as one line of addresses; sets `end` to its header.
  function next_stack(file,    line, stack) {
    stack = ""
    end = header[file]
    while ((getline line < file) > 0) {
      if (line ~ /^#/) {
        header[file] = line
        if (started[file]++) return stack
        end = line
        continue
      }
      sub(/^ +/, "", line)
      stack = stack " " line
    }
    finished[file] = 1
    return stack
  }
  function kind(mine, perfs) {
    if (mine == perfs) return "equal"
    if (index(mine, perfs) == 1) return "perf ends earlier"
    if (index(perfs, mine) == 1) return "memtrace ends earlier"
    return "different frames"
  }
  BEGIN {
    while (!finished[ours] && !finished[theirs]) {
      mine = next_stack(ours)
      how = end
      perfs = next_stack(theirs)
      ++stacks
      what = kind(mine, perfs)
      ++seen[what (what == "equal" ? "" : " (memtrace end " how ")")]
      if (what == "equal") ++equal
      else if (++shown[what how] <= examples) printf "%s %s\n  ours  %s\n  perf  %s\n", what, how, mine, perfs
    }
    for (what in seen) printf "%8d %s\n", seen[what], what
    printf "%d stacks, %.2f %% equal\n", stacks, 100 * equal / stacks
    exit equal < 0.99 * stacks
  }'
