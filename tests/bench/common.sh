# What the benchmarks share. Sourced with the current folder at the top of the checkout.
# shellcheck shell=sh
build=${BUILD:-build}
memtrace=${MEMTRACE:-$build/memtrace}
scratch=$build/bench
runs=${RUNS:-3}
mkdir -p "$scratch"

if [ "$(id -u)" != 0 ]; then
  echo "bench: recording the kernel needs root" >&2
  exit 1
fi
command -v perf >/dev/null || { echo "bench: perf is not installed" >&2; exit 1; }

# perf finds tracefs there; it is mounted on most machines.
mounted_tracefs=
if [ ! -d /sys/kernel/tracing/events ]; then
  mount -t tracefs nodev /sys/kernel/tracing && mounted_tracefs=yes
fi
tidy_up() {
  [ -z "$mounted_tracefs" ] || umount /sys/kernel/tracing
}
trap tidy_up EXIT

have_memtrace() {
  [ -x "$memtrace" ] && return
  echo "bench: $memtrace is not built: its half is left out"
  return 1
}

median() { # of the numbers on standard input, one a line
  sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}

samples_in() { # FILE [EVENT]
  perf script -i "$1" -F event -G 2>/dev/null | grep -c "${2:-:}"
}

# Two records of the same: LOST as the rings overflowed, LOST_SAMPLES as the events closed (from 6.0).
# Either may be incomplete, so the larger one counts.
lost_in() { # FILE
  in_rings=$(perf script -i "$1" -F event -G --show-lost-events 2>/dev/null |
    awk '/PERF_RECORD_LOST lost/ { sum += $NF } END { print sum + 0 }')
  at_close=$(perf report --stats -i "$1" 2>/dev/null |
    awk '/ stats:$/ { event = 1 } event && /LOST_SAMPLES events/ { sum += $3 } END { print sum + 0 }')
  [ "$in_rings" -gt "$at_close" ] && echo "$in_rings" || echo "$at_close"
}
