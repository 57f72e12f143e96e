# Too little memory: for real, as the guest has nothing else to do.

check_pressure() {
  if [ -z "$DISK" ] || ! mkswap "$DISK" >/dev/null || ! swapon "$DISK" 2>stderr; then
    skip pressure "no swap on ${DISK:-a disk, which this kernel knows none of}"
    return
  fi
  # A huge page that is written whole makes one event and counts 512 in pswpout.
  echo never >/sys/kernel/mm/transparent_hugepage/enabled
  press_machine
  # What the shell and memtrace itself had to give up comes back now, and not between the reading of a
  # counter and the first event.
  swapoff "$DISK" && swapon "$DISK"
  press_group
  swapoff "$DISK"
  compact_by_hand
  compact_for_blocks
}

# A little more than there is, once: what is pressed is written, and not read again.
press_machine() {
  free=$(awk '/^(MemFree|Cached|Buffers):/ { sum += $2 } END { print int(sum / 4) }' /proc/meminfo)
  fold_counters
  note_counters
  # Rings for all of it: who empties them has to wait for memory like everybody.
  recordings=$((recordings + 1))
  # kswapd may be at work for a moment longer than what woke it.
  traced record --ring-size 8M -a --for vmscan,reclaim,writeback -- \
    sh -c "\"\$PUPPETS/touch_pages\" $((free * 11 / 10)); sleep 1" >output
  fold_counters
  check pressure.pswpout '>=' 1000 "$(grown pswpout)"
  # Counted where the tracepoint is (mm/vmscan.c, pageout()); of these pswpout has those that the
  # disk got: not what was found to be all zeros (6.12), or free after all.
  written=$(grown nr_vmscan_write)
  check_sum vmscan.written "$written" "$(total vmscan written)" 1
  check_sum writeback.swap_pageouts "$written" "$(total writeback swap_pageouts)" 1
  check vmscan.swapped_out '>=' "$(grown pswpout)" "$written"
  if ! has_event vmscan/mm_vmscan_lru_shrink_inactive; then
    check vmscan.reclaimed = blank "$(figure_in 2 vmscan '' reclaimed)"
  else
    # shellcheck disable=SC2046
    check_sum vmscan.reclaimed "$(grown $(counters_of pgsteal_kswapd pgsteal_direct))" \
      "$(figure_in 2 vmscan '' reclaimed)" 64
    # shellcheck disable=SC2046
    check_sum vmscan.kswapd "$(grown $(counters_of pgsteal_kswapd))" \
      "$(figure_in 2 vmscan kswapd reclaimed)" 64
  fi
  check reclaim.count '>=' 1 "$(figure reclaim touch_pages count)"
  check reclaim.pages '>=' 1 "$(figure reclaim touch_pages pages)"
}

# Before 4.8 each zone had a counter of its own: pgsteal_kswapd_normal.
counters_of() {
  for start in "$@"; do
    awk -v start="$start" '$1 == start || index($1, start "_") == 1 { print $1 }' /proc/vmstat
  done
}

# check_sum NAME EXPECTED GOT PAGES: the same, less what the report says is lost: so many pages for
# an event at most, MAX_LRU_BATCH for a pass over them (mm/vmscan.c).
check_sum() {
  lost=$(shown vmscan --format json | awk '$1 == "\"lost\":" { print $2 + 0; exit }')
  check "$1" '<=' "$2" "$3"
  check "$1" '>=' $(($2 - lost * $4)) "$3"
}

# What each CPU has counted for itself (nr_*) is added up when somebody asks for it (4.7), and each
# second.
fold_counters() {
  cat /proc/sys/vm/stat_refresh 2>/dev/null || sleep 3
}

# In a memory cgroup of 16 MiB, where every swap-in is known.
press_group() {
  if ! make_group; then
    skip swapin 'this kernel has no memory cgroups'
    return
  fi
  echo 0 >/proc/sys/vm/page-cluster  # no readahead: each page is a fault
  note_counters
  recorded -a --for swapin,reclaim -- sh -c \
    'echo $$ >"$GROUP_TASKS" && exec "$PUPPETS/fault_kinds" swap 200' || true
  if grep -q PAGEOUT stderr; then
    skip swapin 'this kernel has no MADV_PAGEOUT'
    return
  fi
  # Some may not have left the swap cache yet; a page of the program's own may be out, too.
  major=$(sed -n 's/.*major \([0-9]*\) pid.*/\1/p' output)
  check swapin.count '>=' 100 "$major"
  check swapin.count = "$major" "$(figure swapin touch_each_page count --by stack)"
  check swapin.pages = "$(grown pswpin)" "$(total swapin pages)"
  check swapin.out = "$(grown pswpout)" "$(total swapin out)"
  check reclaim.in_group '>=' 1 "$(figure reclaim fault_kinds count)"
  swap_by_kprobe
}

# The probe is at each read, of whatever stack.
swap_by_kprobe() {
  if [ ! -e "$root/kprobe_events" ]; then
    skip swapin.kprobe 'this kernel has no kprobe_events'
    return
  fi
  note_counters
  recorded -a --kprobes --for swapin -- sh -c \
    'echo $$ >/group/test/cgroup.procs && exec "$PUPPETS/fault_kinds" swap 200'
  check swapin.kprobe = "$(grown pswpin)" "$(total swapin pages)"
  check swapin.kprobe_reads '>=' 100 "$(figure swapin fault_kinds pages --by comm)"
}

# Once: kprobes come before.
make_group() {
  [ ! -d /group/test ] || return 0
  mkdir -p /group
  if mount -t cgroup -o memory memory /group 2>/dev/null; then
    limit=memory.limit_in_bytes
    # cgroup.procs cannot be written before 3.0.
    export GROUP_TASKS=/group/test/tasks
  elif mount -t cgroup2 group /group 2>/dev/null; then
    echo +memory >/group/cgroup.subtree_control
    limit=memory.max
    export GROUP_TASKS=/group/test/cgroup.procs
  else
    return 1
  fi
  mkdir /group/test && echo 16M >"/group/test/$limit"
}

compact_by_hand() {
  if ! has_event compaction/mm_compaction_begin; then
    skip compaction 'this kernel has no tracepoint of a compaction'
    return
  fi
  note_counters
  recorded -a --for compaction,numa -- sh -c '"$PUPPETS/press_memory" holes 8192 >ready &
    until grep -q ready ready; do usleep 50000; done
    echo 1 >/proc/sys/vm/compact_memory
    kill $!'
  check compaction.count '>=' 1 "$(total compaction count)"
  check compaction.migrated = "$(grown pgmigrate_success)" "$(total compaction migrated)"
  check numa.migrated = "$(grown pgmigrate_success)" "$(total numa migrated)"
}

# Huge pages of memory that lies in small pieces, one after the other: what the zone of the last
# compaction is said to be like is what the kernel itself says then, in thousandths.
compact_for_blocks() {
  index=/sys/kernel/debug/extfrag/extfrag_index
  [ -e $index ] || mount -t debugfs debugfs /sys/kernel/debug 2>stderr || true
  if ! has_event compaction/mm_compaction_finished || [ ! -e $index ] ||
    [ ! -e /proc/sys/vm/nr_hugepages ]; then
    skip compaction.fragmentation 'no events of zones, no extfrag_index or no huge pages here'
    return
  fi
  holes=$(awk '/^MemFree:/ { print int($2 / 4 * 0.8) }' /proc/meminfo)
  # The index is read from debugfs after the last event: on a slow machine the zone has changed by
  # then. The kernel says -1 where a free block is left: kcompactd may make one after each attempt.
  for _ in 1 2 3 4 5; do
    recorded -a --for compaction -- sh /checks/blocks.sh "$holes"
    told=$(shown compaction --trace --format csv | awk -F , '
      NR == 1 { for (i = 1; i <= NF; ++i) column[$i] = i; next }
      $column["what"] == "compaction" && $column["zone"] == "DMA32" && $column["order"] == 9 &&
        $column["fragmentation"] != "" { last = $column["fragmentation"] }
      END { print last == "" ? "blank" : int(last * 1000) }')
    kernels=$(awk '$4 == "DMA32" { print int($14 * 1000) }' index)
    [ "$told" = blank ] || [ "$kernels" -lt 0 ] || [ "$told" -lt $((kernels - 10)) ] ||
      [ "$told" -gt $((kernels + 10)) ] || break
  done
  check compaction.index '>=' 0 "$kernels"
  check compaction.fragmentation '>=' $((kernels - 10)) "$told"
  check compaction.fragmentation '<=' $((kernels + 10)) "$told"
}

check_kills() {
  if [ -d /group/test ]; then
    recorded -a --for oom -- sh -c \
      'echo $$ >"$GROUP_TASKS" && exec "$PUPPETS/press_memory" anon 8192' || true
    check oom.group_kills = 1 "$(total oom kills)"
    check oom.for_cgroup = 1 "$(shown oom --format csv | head -n 3 | grep -c ',cgroup,press_memory,')"
  fi
  if ! [ -w /proc/sys/vm/overcommit_memory ]; then
    skip oom 'this kernel has no /proc/sys: what is too much is refused before it is used'
    return
  fi
  echo 1 >/proc/sys/vm/overcommit_memory
  recorded -a --for oom -- "$PUPPETS/press_memory" hold 1000000 || true
  check oom.kills = 1 "$(total oom kills)"
  check oom.victim = 1 "$(shown oom --format csv | head -n 3 | grep -c press_memory)"
}
