#!/bin/sh
# How long, and with how much memory, memtrace report kmalloc, perf report --stdio and perf script
# read the same recording of a million kmalloc samples with stacks; and whether memory grows with the
# number of samples. The recordings stay in build/bench for the next run.
# Run as root: tests/bench/bench_report.sh      (BUILD, MEMTRACE, RUNS change the defaults)
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/common.sh

# One run of the workload makes about 110,000 kmallocs by some tens of stacks.
record() { # FILE RUNS_OF_THE_WORKLOAD
  [ -s "$1" ] && return
  perf record -q -m 16384 -a -g -e kmem:kmalloc -o "$1" -- sh -c \
    "for i in \$(seq $2); do $build/demo-workload >/dev/null; done" 2>/dev/null
}

measure() { # LABEL FILE COMMAND...: medians of the runs, kept in $scratch/LABEL
  label=$1
  shift
  : >"$scratch/$label.runs"
  for _ in $(seq "$runs"); do
    "$build/bench/measure" "$@" >>"$scratch/$label.runs"
  done
  if grep -qv ' 0$' "$scratch/$label.runs"; then
    echo "bench: failed: $*" >&2
    exit 1
  fi
  for column in 1 4 5; do
    cut -d' ' -f$column "$scratch/$label.runs" | median
  done | paste -s -d' ' >"$scratch/$label"
  read -r wall rss anonymous <"$scratch/$label"
  printf '%-34s %8d ms  peak RSS %8d KiB  anonymous %8d KiB\n' "$label" "$wall" "$rss" "$anonymous"
}

ratio() { # LABEL OF_LABEL
  awk -v mine="$(cut -d' ' -f1 "$scratch/$1")" -v theirs="$(cut -d' ' -f1 "$scratch/$2")" \
    -v one="$1" -v other="$2" 'BEGIN { printf "%s takes %.3f of %s (%.1f times as fast)\n", one,
      mine / theirs, other, theirs / mine }'
}

big=$scratch/million.data
small=$scratch/tenth.data
record "$small" 1
record "$big" 10
for file in "$small" "$big"; do
  echo "$file: $(samples_in "$file") samples, $(lost_in "$file") lost, $(du -m "$file" | cut -f1) MiB"
done

echo "Medians of $runs runs:"
cat "$big" >/dev/null # each finds the file in the page cache
measure perf-report perf report --stdio -i "$big"
measure perf-script perf script -i "$big"
have_memtrace || exit 0
measure memtrace-report-kmalloc "$memtrace" report kmalloc -i "$big"
measure memtrace-of-a-tenth "$memtrace" report kmalloc -i "$small"
ratio memtrace-report-kmalloc perf-report
ratio memtrace-report-kmalloc perf-script
awk -v big="$(cut -d' ' -f3 "$scratch/memtrace-report-kmalloc")" \
  -v small="$(cut -d' ' -f3 "$scratch/memtrace-of-a-tenth")" 'BEGIN {
    printf "ten times the samples take %.2f times the anonymous memory\n", big / small }'
