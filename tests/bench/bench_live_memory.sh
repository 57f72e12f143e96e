#!/bin/sh
# Memory of live views in the course of time: leaks -p of 10,000 live blocks that are replaced, then
# slab -a of 2,500 open files, of four objects each, that are. A line each 10 s, then the growth from
# the second third to the last one.
# Run as root: SECONDS_EACH=600 DEPTH=12 tests/bench/bench_live_memory.sh [leaks|slab]...
# DEPTH is of stacks: 2^DEPTH distinct ones.
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/common.sh

lasts=${SECONDS_EACH:-600}
depth=${DEPTH:-12}
step=10
[ $# -gt 0 ] || set -- leaks slab

kib_of() { # FIELD of the process $viewer
  awk -v field="$1:" '$1 == field { print $2 }' "/proc/$viewer/status"
}

sample_memory() { # VIEW: until the view ends
  passed=0
  while [ "$passed" -lt "$lasts" ] && kill -0 "$viewer" 2>/dev/null; do
    sleep "$step"
    passed=$((passed + step))
    printf '%s %6d s  RssAnon %8d KiB  VmRSS %8d KiB\n' "$1" "$passed" "$(kib_of RssAnon)" \
      "$(kib_of VmRSS)" || break
  done
}

watch_view() { # VIEW PUPPET ARGUMENT...
  view=$1
  "$build/bench/$2" "$3" "$((lasts + 20))" "$depth" &
  puppet=$!
  sleep 1
  case $view in
    leaks) target="-p $puppet" ;;
    *) target=-a ;;
  esac
  # shellcheck disable=SC2086 # words of a target
  "$build/memtrace" "$view" $target -d "$((lasts + 5))" 5 >"$scratch/live_$view.txt" 2>&1 &
  viewer=$!
  sample_memory "$view" | tee "$scratch/live_$view.kib"
  wait "$viewer" || true
  kill "$puppet" 2>/dev/null || true
  wait "$puppet" 2>/dev/null || true
  tail -n 3 "$scratch/live_$view.txt"
  awk -v view="$view" '
    { kib[NR] = $5 }
    END {
      third = int(NR / 3)
      for (i = 1; i <= third; ++i) { first += kib[third + i] / third; last += kib[NR - third + i] / third }
      printf "%s: %.1f MiB in the second third, %.1f MiB in the last one\n", view, first / 1024, last / 1024
    }' "$scratch/live_$view.kib"
}

for name; do
  case $name in
    leaks) watch_view leaks live_blocks 10000 ;;
    slab) watch_view slab live_files 2500 ;;
    *) echo "bench: no such view here: $name" >&2; exit 1 ;;
  esac
done
