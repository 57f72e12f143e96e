#!/bin/sh
# What `memtrace watch` costs: CPU time of the process (user and system, /proc/PID/stat) over wall
# time, in intervals, while steady_faults makes RATE page faults a second; and the memory, RssAnon
# and minor faults, at the start and at the end. What other programs do at the same time is recorded
# too: the events that came are counted at the end, by the report of a file.
# On a machine that is busy with other things, ONLY=yes watches steady_faults alone (-p).
# Run as root: SECONDS_EACH=60 RATE=5000 STEP=20 tests/bench/bench_watch.sh [WATCH OPTION]...
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/common.sh

lasts=${SECONDS_EACH:-60}
rate=${RATE:-5000}
step=${STEP:-20}
hertz=$(getconf CLK_TCK)
folder=$scratch/watch.$$
mkdir -p "$folder"

field() { # NAME: KiB of the watch's /proc/PID/status
  awk -v field="$1:" '$1 == field { print $2 }' "/proc/$watch/status"
}

# All threads: utime and stime are fields 14 and 15, minflt is field 10 (proc(5)); the name, which
# may have blanks, is cut off.
ticks() { sed 's/.*) //' "/proc/$watch/stat" | awk '{ print $12 + $13 }'; }
faults() { sed 's/.*) //' "/proc/$watch/stat" | awk '{ print $8 }'; }
now_ms() { awk '{ print int($1 * 1000) }' /proc/uptime; }

say_cost() { # WORDS TICKS MILLISECONDS
  awk -v words="$1" -v ticks="$2" -v ms="$3" -v hertz="$hertz" \
    'BEGIN { printf "%-12s %6.2f %% of a CPU (%d ms in %.1f s)\n", words,
             ticks / hertz / ms * 1e5, ticks * 1000 / hertz, ms / 1000 }'
}

mkfifo "$folder/ready"
"$build/bench/steady_faults" "$rate" "$((lasts + 30))" &
load=$!
[ -z "${ONLY:-}" ] || set -- -p "$load" "$@"
MEMTRACE_READY_FD=9 "$build/memtrace" watch --before "${lasts}s" --after 1ms -o "$folder/w" "$@" \
  9>"$folder/ready" 2>"$folder/said" &
watch=$!
trap 'kill "$watch" "$load" 2>/dev/null || true; rm -rf "$folder"; tidy_up' EXIT
read -r _ <"$folder/ready" || true
start_ms=$(now_ms)
echo "until it watches: $(($(ticks) * 1000 / hertz)) ms of CPU time, RssAnon $(field RssAnon) KiB"
anon=$(field RssAnon) resident=$(field VmRSS) faulted=$(faults) began=$(ticks)
passed=0 last=$began last_ms=$start_ms
while [ "$passed" -lt "$lasts" ]; do
  sleep "$step"
  passed=$((passed + step))
  used=$(ticks) at_ms=$(now_ms)
  say_cost "to $passed s" $((used - last)) $((at_ms - last_ms))
  last=$used last_ms=$at_ms
done
say_cost "in all" $((last - began)) $((last_ms - start_ms))
echo "grew in $lasts s: RssAnon $(($(field RssAnon) - anon)) KiB of $anon, VmRSS" \
  "$(($(field VmRSS) - resident)) KiB of $resident, VmLck $(field VmLck) KiB," \
  "$(($(faults) - faulted)) minor faults"
kill "$load" 2>/dev/null || true
kill -USR2 "$watch"
until grep -q 'wrote ' "$folder/said"; do sleep 0.1; done
grep 'wrote ' "$folder/said"
kill "$watch"
wait "$watch"
