# Too little memory: for real, as the guest has nothing else to do.

check_pressure() {
  if [ -z "$DISK" ] || ! mkswap "$DISK" >/dev/null || ! swapon "$DISK" 2>stderr; then
    skip pressure "no swap on ${DISK:-a disk, which this kernel knows none of}"
    return
  fi
  # A huge page that is written whole makes one event and counts 512 in pswpout.
  echo never >/sys/kernel/mm/transparent_hugepage/enabled
  press_machine
  press_group
  swapoff "$DISK"
  compact_by_hand
}

# A little more than there is, once: what is pressed is written, and not read again. What memtrace
# itself has to reclaim meanwhile is not recorded.
press_machine() {
  free=$(awk '/^(MemFree|Cached|Buffers):/ { sum += $2 } END { print int(sum / 4) }' /proc/meminfo)
  note_counters
  recorded -a --for vmscan,reclaim,writeback -- "$PUPPETS/touch_pages" $((free * 11 / 10))
  swapped_out=$(grown pswpout)
  check pressure.pswpout '>=' 1000 "$swapped_out"
  check vmscan.written '>=' $((swapped_out / 2)) "$(total vmscan written)"
  check writeback.swap_pageouts '>=' $((swapped_out / 2)) "$(total writeback swap_pageouts)"
  stolen=$(grown pgsteal_file pgsteal_anon)
  check vmscan.written_at_most '>=' "$(total vmscan written)" "$swapped_out"
  check vmscan.reclaimed '>=' $((stolen / 2)) "$(figure_in 2 vmscan '' reclaimed)"
  check vmscan.kswapd '>=' 1 "$(figure_in 2 vmscan kswapd reclaimed)"
  check reclaim.count '>=' 1 "$(figure reclaim touch_pages count)"
  check reclaim.pages '>=' 1 "$(figure reclaim touch_pages pages)"
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
    'echo $$ >/group/test/cgroup.procs && exec "$PUPPETS/fault_kinds" swap 200' || true
  if grep -q PAGEOUT stderr; then
    skip swapin 'this kernel has no MADV_PAGEOUT'
    return
  fi
  # Some may not have left the swap cache yet; a page of the program's own may be out, too.
  SWAPINS=$(figure swapin touch_each_page count --by stack)
  check swapin.count '>=' 100 "$SWAPINS"
  check swapin.count '<=' 205 "$SWAPINS"
  check swapin.pages = "$(grown pswpin)" "$(total swapin pages)"
  check swapin.out = "$(grown pswpout)" "$(total swapin out)"
  check reclaim.in_group '>=' 1 "$(figure reclaim fault_kinds count)"
}

make_group() {
  mkdir -p /group
  if mount -t cgroup -o memory memory /group 2>/dev/null; then
    limit=memory.limit_in_bytes
  elif mount -t cgroup2 group /group 2>/dev/null; then
    echo +memory >/group/cgroup.subtree_control
    limit=memory.max
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

check_kills() {
  if [ -d /group/test ]; then
    recorded -a --for oom -- sh -c \
      'echo $$ >/group/test/cgroup.procs && exec "$PUPPETS/press_memory" anon 8192' || true
    check oom.group_kills = 1 "$(total oom kills)"
    check oom.for_cgroup = 1 "$(shown oom --format csv | head -n 3 | grep -c press_memory.*cgroup)"
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
