#!/bin/sh
# All mallocs of a compile with 8 KiB of stack each, recorded by perf record --call-graph dwarf and by
# memtrace record --for malloc, both with probes on malloc, calloc and realloc and the rings that they
# choose themselves: how long the compile takes, what is recorded and lost, how large the files are,
# and how long they take to read.
# Run as root on an idle machine: tests/bench/bench_heap_record.sh     (PERF_SCRIPT=no leaves out the
# reading by perf, which takes minutes)
set -eu
cd "$(dirname "$0")/../.."
. tests/bench/common.sh

library=$(ldd "$(command -v perf)" | awk '/libc\.so/ { print $3 }')
functions="malloc calloc realloc"
source=$scratch/big.cpp
compile="g++ -c $source -o $scratch/big.o"
cat >"$source" <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
int main(int argc, char** argv) {
  std::map<std::string, bool> known;
  for (int i = 0; i < argc; ++i) known[argv[i]] = std::regex_match(argv[i], std::regex("[a-z]+[0-9]*"));
  std::cout << std::count_if(known.begin(), known.end(), [](const auto& word) { return word.second; });
}
END

# The compile's own time: both recorders have work to do after it has ended.
cat >"$scratch/compile.sh" <<END
begin=\$(date +%s%N)
$compile
echo \$(((\$(date +%s%N) - begin) / 1000000)) >"$scratch/compile.ms"
END

ms_of() { # FILE: its first figure
  cut -d' ' -f1 "$1"
}

run() { # LABEL COMMAND...
  label=$1
  shift
  sync # the file before it, gigabytes of perf's, is written by the same two CPUs
  "$build/bench/measure" "$@" >"$scratch/$label.ms"
  grep -q ' 0$' "$scratch/$label.ms" || { echo "bench: failed: $*" >&2; exit 1; }
}

tell() { # LABEL EVENTS LOST FILE
  printf '%-9s compile %6d ms, all %6d ms, %8d events, %8d lost, %5d MB\n' "$1" "$compile_ms" \
    "$(ms_of "$scratch/$1.ms")" "$2" "$3" "$(($(stat -c %s "$4") / 1000000))"
}

ratio() { # WHAT MEMTRACE PERF
  awk -v what="$1" -v mine="$2" -v theirs="$3" 'BEGIN {
    printf "%-28s memtrace / perf = %.3f\n", what, theirs ? mine / theirs : 0 }'
}

remove_probes() {
  for function in $functions; do
    perf probe -q -d "probe_libc:memtrace_bench_$function" 2>/dev/null || :
  done
}
remove_probes
trap 'remove_probes; tidy_up' EXIT
events=
for function in $functions; do
  perf probe -q -x "$library" -a "memtrace_bench_$function=$function"
  events=$events,probe_libc:memtrace_bench_$function
done

$compile # once, so that the compiler is in the page cache
# shellcheck disable=SC2086
for _ in $(seq "$runs"); do
  run untraced $compile
  printf '%-9s compile %6d ms\n' untraced "$(ms_of "$scratch/untraced.ms")"
  run perf perf record -q --call-graph dwarf,8192 -e "${events#,}" \
    -o "$scratch/perf.data" -- sh "$scratch/compile.sh"
  compile_ms=$(ms_of "$scratch/compile.ms")
  perf_compile_ms=$compile_ms
  perf_events=$(perf report --stats -i "$scratch/perf.data" 2>/dev/null |
    awk '/ SAMPLE events/ { print $3; exit }')
  tell perf "$perf_events" "$(lost_in "$scratch/perf.data")" "$scratch/perf.data"
  have_memtrace || continue
  run memtrace "$memtrace" record --for malloc -o "$scratch/memtrace.data" -- sh "$scratch/compile.sh"
  compile_ms=$(ms_of "$scratch/compile.ms")
  "$memtrace" report malloc --format json -i "$scratch/memtrace.data" >"$scratch/malloc.json"
  # The first count is that of the whole report.
  got=$(awk -F'[:,]' '/"count":/ { print $2 + 0; exit }' "$scratch/malloc.json")
  lost=$(awk -F'[:,]' '/"lost":/ { print $2 + 0; exit }' "$scratch/malloc.json")
  tell memtrace "$got" "$lost" "$scratch/memtrace.data"
  ratio 'time of the compile' "$compile_ms" "$perf_compile_ms"
  ratio 'size of the file' "$(stat -c %s "$scratch/memtrace.data")" "$(stat -c %s "$scratch/perf.data")"
done

have_memtrace || exit 0
run memtrace-report "$memtrace" report malloc -i "$scratch/memtrace.data"
printf 'memtrace report malloc: %d ms\n' "$(ms_of "$scratch/memtrace-report.ms")"
[ "${PERF_SCRIPT:-yes}" = yes ] || exit 0
run perf-script perf script -i "$scratch/perf.data"
printf 'perf script: %d ms for its %d events\n' "$(ms_of "$scratch/perf-script.ms")" "$perf_events"
ratio 'time to read the file' "$(ms_of "$scratch/memtrace-report.ms")" "$(ms_of "$scratch/perf-script.ms")"
