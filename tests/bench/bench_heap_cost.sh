#!/bin/sh
# bench_heap_cost.sh MEMTRACE PUPPETS: what a malloc and free pair costs the traced program, stack
# included, under memtrace and under a bpftrace script that keeps what libbpf's memleak keeps (size,
# address and one user stack of each allocation). One line each, nanoseconds a pair, then the ratio.
set -eu
memtrace=$1
puppets=$2
pairs=${PAIRS:-100000}
runs=${RUNS:-3}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

cat >memleak.bt <<'PROGRAM'
uprobe:libc:malloc /comm == "heap_calls"/ { @size[tid] = arg0; }
uretprobe:libc:malloc /@size[tid]/ {
  @block[retval] = (@size[tid], ustack);
  delete(@size[tid]);
}
uprobe:libc:free /comm == "heap_calls"/ { delete(@block[arg0]); }
END { clear(@size); clear(@block); }
PROGRAM

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }

repeat() { # NAME COMMAND...
  name=$1
  shift
  i=0
  while [ $i -lt "$runs" ]; do
    "$@" 2>err | grep -E '^[0-9.]+$' || { cat err >&2; return 1; }
    i=$((i + 1))
  done | median >"$name"
}

# Under a main of a small stack the copy of 8 KiB runs into the stack's end, which costs a fault;
# 30 frames deeper, as in most programs, it does not.
for depth in 0 30; do
  repeat alone "$puppets/heap_calls" "$pairs" $depth
  repeat dwarf "$memtrace" record --for leaks -o heap.data -- "$puppets/heap_calls" "$pairs" $depth
  repeat fp "$memtrace" record --for leaks --call-graph fp -o fp.data -- \
    "$puppets/heap_calls" "$pairs" $depth
  repeat one "$memtrace" record --for leaks --one-probe -o one.data -- \
    "$puppets/heap_calls" "$pairs" $depth
  if bpftrace --version >/dev/null 2>&1; then
    repeat bpf bpftrace memleak.bt -c "$puppets/heap_calls $pairs $depth"
  else
    echo nan >bpf
  fi
  awk -v depth=$depth -v alone="$(cat alone)" -v dwarf="$(cat dwarf)" -v fp="$(cat fp)" \
    -v one="$(cat one)" -v bpf="$(cat bpf)" 'BEGIN {
    printf "%-38s %10s %8s\n", "a malloc and free pair, " depth " frames deep", "ns", "ratio"
    printf "%-38s %10.0f\n", "alone", alone
    printf "%-38s %10.0f\n", "bpftrace, memleak script", bpf
    printf "%-38s %10.0f %8.2f\n", "memtrace, 8 KiB stacks unwound", dwarf,
      (dwarf - alone) / (bpf - alone)
    printf "%-38s %10.0f %8.2f\n", "memtrace, frame pointers", fp, (fp - alone) / (bpf - alone)
    printf "%-38s %10.0f %8.2f\n", "memtrace, --one-probe", one, (one - alone) / (bpf - alone)
  }'
done
