#!/bin/sh
# What a probe on free costs the traced program, at the function's entry and at the place that
# memtrace chooses, counting only: nanoseconds more for each pair of malloc and free.
# Run as root on an idle machine: tests/bench/bench_probe_place.sh [LIBRARY]
# Another library (libjemalloc.so.2) is preloaded into the program that calls.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/common.sh

puppets=$build/puppets
calls=${CALLS:-300000}
library=${1:-$(ldd "$puppets/heap_calls" | awk '/libc\.so/ { print $3 }')}

calls_ns() { # COMMAND... : of `runs` turns
  for _ in $(seq "$runs"); do
    LD_PRELOAD=$library "$@" "$puppets/heap_calls" "$calls" 2>/dev/null | head -n 1
  done | median
}

with_probe() { # FUNCTION PLACE
  rm -f "$scratch/hold"
  mkfifo "$scratch/hold"
  "$puppets/hold_probe" "$library" "$1" "$2" <"$scratch/hold" >"$scratch/held" &
  holder=$!
  exec 9>"$scratch/hold"
  while ! grep -q : "$scratch/held"; do
    kill -0 "$holder" || exit 1
    sleep 0.05
  done
  probe=$(awk '/:/ { print $1 }' "$scratch/held")
  place=$(awk '/:/ { print $2 }' "$scratch/held")
  probed=$(calls_ns perf stat -e "$probe" --)
  awk -v name="$1" -v how="$2" -v place="$place" -v probed="$probed" -v bare="$bare" 'BEGIN {
    printf "%-8s %-6s at %-5s %8.0f ns more for each call\n", name, how, place, probed - bare }'
  exec 9>&-
  wait "$holder"
}

bare=$(calls_ns env)
printf '%s: %.0f ns for each malloc and free, unprobed\n' "$library" "$bare"
with_probe free entry
with_probe free place
with_probe free free
with_probe malloc entry
with_probe malloc place
