#!/bin/sh
# How many events perf record and memtrace record lose, and how much slower they make a compiler,
# when all kernel allocations and frees of the machine are traced with kernel stacks.
# Run as root on an idle machine: tests/bench/bench_record.sh
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/common.sh

events=kmem:kmalloc,kmem:kfree,kmem:kmem_cache_alloc,kmem:kmem_cache_free
events=$events,kmem:mm_page_alloc,kmem:mm_page_free
compile="g++ -std=c++20 -c tests/live/data/compile_me.cpp -o $scratch/compile_me.o"

run() { # LABEL COMMAND...
  label=$1
  shift
  "$build/bench/measure" "$@" >"$scratch/$label"
  read -r wall _ _ _ _ status <"$scratch/$label"
  [ "$status" = 0 ] || { echo "bench: failed with status $status: $*" >&2; exit 1; }
}

tell() { # LABEL FILE
  awk -v label="$1" -v wall="$wall" -v untraced="$untraced" -v got="$(samples_in "$2")" \
    -v lost="$(lost_in "$2")" 'BEGIN {
      all = got + lost
      printf "%-9s %7d events, %7d lost (%.2f %%), %6d ms, %.2f us more for each event\n", label, all,
        lost, all ? 100 * lost / all : 0, wall, all ? 1000 * (wall - untraced) / all : 0 }'
}

$compile # once, so that the compiler is in the page cache
# shellcheck disable=SC2086
for _ in $(seq "$runs"); do
  run untraced $compile
  untraced=$wall
  printf '%-9s %38s %6d ms\n' untraced '' "$wall"
  run perf perf record -q -a -g --kernel-callchains -e "$events" -o "$scratch/perf.data" -- $compile
  tell perf "$scratch/perf.data"
  if have_memtrace; then
    run memtrace "$memtrace" record -a --kernel -e "$events" -o "$scratch/memtrace.data" -- $compile
    tell memtrace "$scratch/memtrace.data"
  fi
done
