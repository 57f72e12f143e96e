# What the benchmarks share. Sourced with the current folder at the top of the checkout.
# shellcheck shell=sh
build=${BUILD:-build}
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

median() { # of the numbers on standard input, one a line
  sort -n | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'
}
