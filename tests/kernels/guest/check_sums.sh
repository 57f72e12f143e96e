# Memory that adds up: the resident size of known programs against /proc/PID/smaps, the layers of
# known faults, slab caches against /proc/slabinfo.

# await WORD FILE: until it has it.
await() {
  tries=0
  until grep -q "$1" "$2" 2>/dev/null; do
    tries=$((tries + 1))
    [ $tries -lt 600 ] || return 1
    usleep 50000
  done
}

# begin_recording OPTION...: comes back when the events are switched on; $recorder is its pid.
begin_recording() {
  recordings=$((recordings + 1))
  rm -f begun
  mkfifo begun
  MEMTRACE_READY_FD=9 "$MEMTRACE" record --ring-size 2M "$@" >output 2>stderr 9>begun &
  recorder=$!
  read -r _ <begun || true
}

end_recording() {
  kill -INT "$recorder"
  wait "$recorder" || cat stderr
}

smaps_sum() {
  awk -v name="$1:" '$1 == name { sum += $2 } END { print sum * 1024 }' "$2"
}

check_ledger() {
  head -c 524288 /dev/zero >data
  cat data >/dev/null
  rm -f steps && mkfifo steps
  "$PUPPETS/change_rss" data <steps >said &
  puppet=$!
  exec 3>steps
  await ready said
  cat /proc/$puppet/smaps >before
  begin_recording --for ledger -p $puppet
  echo >&3
  await 'done' said
  end_recording
  cat /proc/$puppet/smaps >after
  kill $puppet
  exec 3>&-
  check ledger.rss_begin = "$(smaps_sum Rss before)" "$(figure ledger change_rss rss_begin)"
  check ledger.rss = "$(smaps_sum Rss after)" "$(figure ledger change_rss rss)"
  # In percent of the size. Before 6.2 the kernel keeps up to 64 faults of a thread for itself, and
  # before 5.5 it reports none: the difference of two readings stands in for these.
  residual=$(figure ledger change_rss residual_share)
  check ledger.residual_share '<=' 6 "${residual%%.*}"
  # Without rss_stat what madvise gave back is in the same line.
  check ledger.given_back = -2048000 \
    $(($(figure_in 2 ledger ,unmapped, bytes) + $(figure_in 2 ledger ,madvise, bytes)))
  shown ledger
}

check_growth() {
  "$PUPPETS/grow_memory" </dev/zero >said 2>&1 &
  kill $!
  recorded --for growth -- sh -c '"$PUPPETS/grow_memory" </dev/zero >said & echo $! >pid
    until grep -q more said; do usleep 50000; done'
  puppet=$(cat pid)
  cat /proc/"$puppet"/smaps >after
  kill "$puppet"
  check growth.touched = 4096000 "$(figure growth touch_unmapped touched)"
  check growth.unmapped = 2048000 "$(figure growth touch_unmapped resident)"
  check growth.discarded = 2048000 "$(figure growth touch_discarded resident)"
  check growth.allocated = 1228800 "$(figure growth touch_allocated resident)"
  check growth.more = 819200 "$(figure growth touch_more resident)"
  check growth.zeros = 0 "$(figure growth read_zeros resident)"
  check growth.rss = "$(smaps_sum Rss after)" "$(figure_in 2 growth grow_memory rss --pid "$puppet")"
  check growth.unexplained = 0 "$(figure_in 2 growth grow_memory unexplained --pid "$puppet")"
}

# Each of the pages that the program touches is allocated in its fault.
check_path() {
  recorded --for path -- "$PUPPETS/touch_pages" 2000
  check path.touched = 8192000 "$(figure path touch_fresh_pages touched)"
  check path.allocated '>=' 8192000 "$(figure path touch_fresh_pages allocated)"
  check path.layers '>=' 1 "$(shown path --format csv | grep -c 'page fault > page allocation')"
}

# truth VIEW COLUMN: of the caches of 2 KiB, whatever they are called, in the first table that has the
# column.
truth() {
  for number in 1 2 3 4; do
    got=$(figure_in "$number" "$1" -2048 "$2" --truth)
    [ -z "$got" ] || break
  done
  echo $((got + $(figure_in "$number" "$1" -2k "$2" --truth)))
}

# The messages stay for a moment longer than the recording.
check_truth() {
  if [ ! -r /proc/slabinfo ]; then
    skip truth 'this kernel has no /proc/slabinfo'
    return
  fi
  # Free objects in the slabs that a CPU keeps for itself count as active (mm/slub.c). A write to shrink
  # takes these slabs away; then a CPU takes one, of 16 objects, when it needs its first object.
  least=600000
  for cache in /sys/kernel/slab/kmalloc-*2k /sys/kernel/slab/kmalloc-*2048; do
    [ -e "$cache/shrink" ] || continue
    echo 1 >"$cache/shrink"
    least=750000
  done
  recorded -a --for slab,kleaks -- "$PUPPETS/leak_kernel" 400
  for view in slab kleaks; do
    shown $view --truth
    check truth.$view.net '>=' 819200 "$(truth $view net_bytes)"
    check truth.$view.grown '>=' $least "$(truth $view grown)"
  done
}
