# Page faults: of fresh memory, of copies, of files, of huge pages.

check_faults() {
  recorded --for "$(able faults pages anon numa)" -- "$PUPPETS/touch_pages" 500
  check faults.count = 500 "$(figure faults touch_fresh_pages count)"
  check faults.minor = 500 "$(figure faults touch_fresh_pages minor)"
  # Page tables beside the pages.
  check pages.allocs '>=' 500 "$(figure pages touch_fresh_pages allocs)"
  check pages.allocs '<=' 510 "$(figure pages touch_fresh_pages allocs)"
  # Who allocates is the caller, not the allocator nor the tracepoint.
  check pages.allocators = 0 \
    "$(shown pages --by caller --format csv | grep -cE '^_*(alloc_pages|ftrace_|perf_trace)')"
  check anon.faults '>=' 500 "$(figure anon touch_pages fault --by comm)"
  check anon.faults '<=' 560 "$(figure anon touch_pages fault --by comm)"
  recorded --for faults -e minor-faults -- "$PUPPETS/fault_kinds" copy 100
  check faults.copies = 100 "$(figure faults write_each_page count)"
  # By the kernel's own count of faults alone: what is left where there are no tracepoints.
  recorded -e page-faults -- "$PUPPETS/touch_pages" 300
  check faults.software = 300 "$(figure faults touch_fresh_pages count)"
}

# A disk is the only file here whose pages are not in memory from the start.
check_files() {
  if [ -z "$DISK" ]; then
    skip faults.major 'no disk that this kernel knows'
    return
  fi
  recorded --for faults,ffaults,filepages -- "$PUPPETS/fault_kinds" file 50 "$DISK"
  check faults.major = 50 "$(figure faults touch_each_page major)"
  check ffaults.major = 50 "$(figure ffaults "$DISK" major --by file)"
  check filepages.major = 50 "$(figure_in 2 filepages "$DISK" major)"
  if ! has_event writeback/writeback_dirty_page && ! has_event writeback/writeback_dirty_folio; then
    skip writeback.dirtied 'this kernel has no tracepoint of pages that become dirty'
    return
  fi
  recorded -a --for writeback -- sh -c "$PUPPETS/press_memory file $DISK 1000; sync"
  check writeback.dirtied '>=' 1000 "$(figure writeback press_memory dirtied)"
}

check_huge() {
  if ! echo 4 >/proc/sys/vm/nr_hugepages 2>/dev/null; then
    skip hfaults.hugetlb 'this kernel has no hugetlbfs'
  else
    recorded --for hfaults,faults -- "$PUPPETS/fault_kinds" hugetlb 4
    check hfaults.hugetlb = 4 "$(figure hfaults fault_kinds hugetlb --by comm)"
    check faults.hugetlb = 4 "$(figure faults write_each_page count)"
    echo 0 >/proc/sys/vm/nr_hugepages
  fi
  if [ ! -e /sys/kernel/mm/transparent_hugepage/enabled ]; then
    skip hfaults.thp 'this kernel has no transparent huge pages'
    return
  fi
  echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
  recorded --for hfaults -- "$PUPPETS/fault_kinds" thp 3
  check hfaults.thp = 3 "$(figure hfaults fault_kinds thp --by comm)"
}
