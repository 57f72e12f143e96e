# Heaps of programs, through user probes.

check_heap() {
  if ! has_user_probes; then
    check leaks.refused = 1 "$(status_of "$MEMTRACE" record --for leaks -- true)"
    skip leaks 'this kernel has no user probes'
    return
  fi
  recorded_whole --for malloc,leaks,heap -- "$PUPPETS/heap_patterns" all
  check stacks.cut = 0 "$(grep -c 'user stacks end early' stderr)"
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

# A program of an older release by its own C and C++ libraries. Up to glibc 2.33 the first call of
# malloc and the first of realloc come in a second time through the hook that they begin with: each
# is one call of the program. libstdc++ makes the first, for its pool, from ld.so.
check_old_glibc() {
  if ! has_user_probes; then
    skip old_glibc 'this kernel has no user probes'
    return
  elif [ ! -x "$PUPPETS/old_glibc" ]; then
    say_missing old_glibc
    return
  fi
  recorded_whole --for malloc,leaks,heap -- "$PUPPETS/old_glibc" all
  check old_glibc.pool = 1 "$(figure malloc ';ld-' count)"
  check old_glibc.malloc = 10 "$(figure malloc leak_by_malloc count)"
  check old_glibc.calloc = 5 "$(figure malloc leak_by_calloc count)"
  check old_glibc.realloc = 15 "$(figure malloc "realloc;(anonymous namespace)::leak_by_realloc" count)"
  check old_glibc.threads = 404 "$(figure malloc run_thread count)"
  check old_glibc.leaks = 10 "$(figure leaks leak_by_malloc count)"
  check old_glibc.leaked_bytes = 1045 "$(figure leaks leak_by_malloc bytes)"
  check old_glibc.realloc_bytes = 15000 "$(figure leaks leak_by_realloc bytes)"
  check old_glibc.aligned_bytes = 1600 "$(figure leaks leak_aligned bytes)"
  check old_glibc.child_bytes = 2100 "$(figure leaks leak_in_child bytes)"
  check old_glibc.heap_pool = 1 "$(figure heap ';ld-' allocs)"
  check old_glibc.heap_leaked = 1045 "$(figure heap leak_by_malloc leaked)"
  check old_glibc.heap_realloc = 15000 "$(figure heap leak_by_realloc leaked)"
  check old_glibc.heap_kept = 0 "$(figure heap free_all leaked)"
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
