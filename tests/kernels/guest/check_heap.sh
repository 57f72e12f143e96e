# Heaps of programs, through user probes.

check_heap() {
  if ! has_user_probes; then
    check leaks.refused = 1 "$(status_of "$MEMTRACE" record --for leaks -- true)"
    skip leaks 'this kernel has no user probes'
    return
  fi
  recorded --for malloc,leaks,heap -- "$PUPPETS/heap_patterns" all
  check leaks.malloc = 10 "$(figure leaks leak_by_malloc count)"
  check leaks.malloc_bytes = 1045 "$(figure leaks leak_by_malloc bytes)"
  check leaks.calloc_bytes = 1000 "$(figure leaks leak_by_calloc bytes)"
  check leaks.realloc_bytes = 15000 "$(figure leaks leak_by_realloc bytes)"
  check leaks.aligned_bytes = 1600 "$(figure leaks leak_aligned bytes)"
  check malloc.realloc = 15 "$(figure malloc "realloc;(anonymous namespace)::leak_by_realloc" count)"
  check heap.leaked = 1045 "$(figure heap leak_by_malloc leaked)"
  recorded -e "uprobe:$PUPPETS/heap_patterns:malloc" -- "$PUPPETS/heap_patterns" malloc
  check calls.count = 10 "$(figure calls leak_by_malloc count --by stack)"
}

has_user_probes() {
  [ -e /sys/kernel/tracing/uprobe_events ] || [ -e /sys/kernel/debug/tracing/uprobe_events ] ||
    [ -e /sys/bus/event_source/devices/uprobe ]
}

# Doors that are shut elsewhere: no tracing directory, and a file on a tmpfs.
check_doors() {
  if [ -e /sys/bus/event_source/devices/uprobe ]; then
    recordings=$((recordings + 1))
    unshare -m sh -c 'umount -a -t tracefs,debugfs; "$MEMTRACE" record --ring-size 2M \
      --for leaks,faults -- "$PUPPETS/heap_patterns" malloc' >output 2>stderr || cat stderr
    check leaks.pmu = 10 "$(figure leaks leak_by_malloc count)"
  else
    skip leaks.pmu 'this kernel has no uprobe PMU'
  fi
  if ! has_user_probes; then
    return
  fi
  mkdir -p shm
  mount -t tmpfs tmpfs shm && cp "$PUPPETS/heap_patterns" shm
  recorded --for leaks -- shm/heap_patterns malloc
  if [ "$(figure leaks leak_by_malloc count)" = 10 ]; then
    check leaks.tmpfs = 10 10
  else
    check leaks.tmpfs_is_explained '>=' 1 "$(grep -c tmpfs stderr)"
  fi
  umount shm
}
