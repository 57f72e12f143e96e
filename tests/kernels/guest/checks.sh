# What memtrace can do on this kernel, against figures that are known beforehand: the parts are in
# check_*.sh, together in parts.sh here; the host judges what they print. CHECK name relation
# expected got; SKIP name reason.

check() {
  echo "CHECK $1 $2 $3 $4"
}

skip() {
  echo "SKIP $*"
}

# What the host could not add, and why.
say_missing() {
  skip "$1" "$(sed -n "s/^$1 //p" /missing)"
}

# Runs memtrace; what it says on stderr is shown when it fails.
traced() {
  if ! "$MEMTRACE" "$@" 2>stderr; then
    echo "memtrace $*:"
    cat stderr
    return 1
  fi
}

# recorded OPTION...: rings are small, as the guest is.
recorded() {
  recordings=$((recordings + 1))
  traced record --ring-size 2M "$@" >output
}

# The same of a command that can be run again, for figures that must be exact: rings of this size are
# full before a busy host lets the guest empty them.
recorded_whole() {
  for _ in 1 2 3; do
    recorded "$@"
    grep -q ' LOST ' stderr || break
  done
}

# figure VIEW TEXT COLUMN [OPTION]...: of the recording, a sum over the rows of the first table with
# the text in them.
figure() {
  figure_in 1 "$@"
}

# The same of another table: figure_in NUMBER VIEW TEXT COLUMN [OPTION]...
figure_in() {
  table=$1 view=$2 text=$3 column=$4
  shift 4
  shown "$view" --top 0 --format csv "$@" |
    awk -v table="$table" -v text="$text" -v column="$column" -f /checks/sum.awk
}

recordings=0

# A report, made once for several figures of it: emulated programs are slow.
shown() {
  report=report.$recordings.$(echo "$*" | md5sum | cut -c 1-16)
  [ -e "$report" ] || traced report "$@" >"$report"
  cat "$report"
}

# total VIEW NAME [OPTION]...
total() {
  view=$1 name=$2
  shift 2
  shown "$view" --format json "$@" |
    awk -v name="\"$name\":" '/^ "totals"/ { at = 1 }
      at && $1 == name { sub(",$", "", $2); print $2; exit }'
}

status_of() {
  "$@" >/dev/null 2>stderr
  echo $?
}

# Of /proc/vmstat: note_counters, and later grown NAME...: by how much the counters grew together.
note_counters() {
  cp /proc/vmstat counters
}

grown() {
  for name in "$@"; do
    awk -v name="$name" '$1 == name { print FNR == NR ? -$2 : $2 }' counters /proc/vmstat
  done | awk '{ sum += $1 } END { print sum + 0 }'
}

# Those of these views that the doctor promises, as --for takes them.
able() {
  for each in "$@"; do
    echo "$promised" | grep -x "$each"
  done | tr '\n' ',' | sed 's/,$//'
}

has_event() {
  for folder in /sys/kernel/tracing /sys/kernel/debug/tracing; do
    [ ! -e "$folder/events/$1/format" ] || return 0
  done
  return 1
}

parts='package program faults files huge kernel_memory heap old_glibc doors spaces identity live kprobes
pressure kills'
[ ! -e /checks/newer ] || parts="$parts ledger growth path truth verdicts failures stalls watch top"
# shellcheck source=/dev/null
. /checks/parts.sh
for part in $parts removal; do
  echo "AT $(cut -d ' ' -f 1 /proc/uptime) $part"
  "check_$part"
done
echo "AT $(cut -d ' ' -f 1 /proc/uptime) the end"
