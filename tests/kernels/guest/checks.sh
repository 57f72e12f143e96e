# What memtrace can do on this kernel, against figures that are known beforehand. Each check is a
# line for the host to judge: CHECK name relation expected got.

check() {
  echo "CHECK $1 $2 $3 $4"
}

# Runs memtrace; what it says on stderr is shown when it fails.
traced() {
  if ! "$MEMTRACE" "$@" 2>stderr; then
    echo "memtrace $*:"
    cat stderr
    return 1
  fi
}

# figure VIEW TEXT COLUMN [OPTION]...: of the recording, a sum over the rows with the text.
figure() {
  view=$1 text=$2 column=$3
  shift 3
  traced report "$view" --top 0 --format csv "$@" |
    awk -v text="$text" -v column="$column" -f /checks/sum.awk
}

status_of() {
  "$@" >/dev/null 2>stderr
  echo $?
}

check_program() {
  check version = 0 "$(status_of "$MEMTRACE" --version)"
  check help = 0 "$(status_of "$MEMTRACE" help faults)"
  traced doctor --json >/results/doctor.json
  check doctor '>=' 25 "$(grep -cE '"state": "(works|in part|cannot)"' /results/doctor.json)"
}

check_faults() {
  traced record --for faults -- "$PUPPETS/touch_pages" 500 >/dev/null
  check faults.count = 500 "$(figure faults touch_fresh_pages count)"
}

check_heap() {
  traced record --for malloc,leaks,heap -- "$PUPPETS/heap_patterns" all >/dev/null
  check leaks.malloc = 10 "$(figure leaks leak_by_malloc count)"
  check leaks.malloc_bytes = 1045 "$(figure leaks leak_by_malloc bytes)"
  check leaks.calloc_bytes = 1000 "$(figure leaks leak_by_calloc bytes)"
  check leaks.realloc_bytes = 15000 "$(figure leaks leak_by_realloc bytes)"
  check malloc.realloc = 15 "$(figure malloc "realloc;(anonymous namespace)::leak_by_realloc" count)"
}

. /checks/kprobes.sh

for part in program faults heap kprobes; do
  echo "AT $(cut -d ' ' -f 1 /proc/uptime) $part"
  check_$part
done
echo "AT $(cut -d ' ' -f 1 /proc/uptime) the end"
