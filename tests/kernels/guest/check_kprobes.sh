# Probes on functions of the kernel, where it has kprobe_events.

root=/sys/kernel/tracing
[ -e $root/events ] || root=/sys/kernel/debug/tracing

# Rows of slab's table whose cache is named as slabinfo names it, not by size.
named_caches() {
  traced report slab --by cache --top 0 --format csv |
    awk -F, 'NR > 1 && /^(filp|dentry|vm_area_struct|names_cache|anon_vma|mm_struct|task_struct),/ { n++ }
      END { print n + 0 }'
}

check_kprobes() {
  if [ ! -e $root/kprobe_events ]; then
    check kprobes.refused = 1 "$(status_of "$MEMTRACE" record --kprobes --for slab -- true)"
    echo "SKIP kprobes this kernel has no kprobe_events"
    return
  fi
  traced record --kprobes -e 'kprobe:do_exit(code=arg1:u32)' -- sh -c 'exit 3'
  # exit(3) is do_exit(3 << 8), once.
  check kprobes.exits = 768,1 "$(traced report count --by code --format csv | sed -n 2p | cut -d, -f1,2)"
  traced record --kprobes --for slab,hfaults,swapin,oom -- "$PUPPETS/touch_pages" 500 >/dev/null
  grep kprobe stderr
  if [ -d /sys/kernel/slab ]; then
    check kprobes.caches '>=' 3 "$(named_caches)"
  else
    skip kprobes.caches 'this kernel has SLAB, whose caches keep their names where nobody knows'
  fi
  traced report slab --format json >/results/slab-kprobes.json
  check kprobes.said '>=' 1 "$(grep -c 'a kprobe on kmem_cache_alloc' /results/slab-kprobes.json)"
  # Without the probe nothing names them where frees do not either, as on 5.10.
  if ! grep -q 'field:.* name;' $root/events/kmem/kmem_cache_free/format; then
    traced record --for slab -- "$PUPPETS/touch_pages" 500 >/dev/null
    check kprobes.without = 0 "$(named_caches)"
  fi
  huge_faults_by_kprobe
  kills_by_kprobe
  check kprobes.left = 0 "$(grep -c memtrace $root/kprobe_events)"
}

# The page fault reports what a program touches; only the kprobe reports what MAP_POPULATE does.
huge_faults_by_kprobe() {
  if ! echo 8 >/proc/sys/vm/nr_hugepages 2>/dev/null; then
    skip kprobes.hugetlb 'this kernel has no hugetlbfs'
    return
  fi
  recorded --kprobes --for hfaults -- "$PUPPETS/fault_kinds" hugetlb 4
  check kprobes.hugetlb = 4 "$(figure hfaults fault_kinds hugetlb --by comm)"
  recorded --kprobes --for hfaults -- "$PUPPETS/fault_kinds" populate 6
  check kprobes.populated = 6 "$(figure hfaults fault_kinds hugetlb --by comm)"
  check kprobes.written = 6 "$(figure hfaults write hugetlb --by access,mode)"
  recorded --for hfaults -- "$PUPPETS/fault_kinds" populate 6
  check kprobes.unseen = 1 "$(status_of "$MEMTRACE" report hfaults)"
  # Without the mappings, and without any other event of the fault.
  recorded --kprobes -e 'kprobe:hugetlb_fault(address=arg3)' -- "$PUPPETS/fault_kinds" hugetlb 5
  check kprobes.alone = 5 "$(figure hfaults fault_kinds hugetlb --by comm)"
  echo 0 >/proc/sys/vm/nr_hugepages
}

# In a memory cgroup of 8 MiB; without the kernel's stack a signal alone does not tell a kill.
kills_by_kprobe() {
  if ! make_group; then
    skip kprobes.kills 'this kernel has no memory cgroups'
    return
  fi
  recorded -a --kprobes --for oom -- sh -c "$KILL_AND_BE_KILLED" || true
  check kprobes.kills = 1 "$(total oom kills)"
  check kprobes.trigger = 1 "$(shown oom --format csv | grep -c '^\([^,]*,\)\{2,3\}press_memory,.*,cgroup,killed,press_memory')"
  check kprobes.unclaimed = 0 "$(shown oom | grep -c 'no event names the victim')"
  recorded -a --kprobes --user --filter 'sig == 9' -e signal:signal_generate \
    -e kprobe:oom_kill_process -- sh -c "$KILL_AND_BE_KILLED" || true
  check kprobes.signals = 1 "$(total oom kills)"
  recorded -a --user --filter 'sig == 9' -e signal:signal_generate -- \
    sh -c "$KILL_AND_BE_KILLED" || true
  check kprobes.other_signals = 1 "$(status_of "$MEMTRACE" report oom)"
  recorded -a --kprobes -e kprobe:oom_kill_process -- sh -c "$KILL_AND_BE_KILLED" || true
  check kprobes.calls = 1 "$(shown oom --format csv | grep -c '^\([^,]*,\)\{2,3\},,cgroup,,press_memory')"
}

KILL_AND_BE_KILLED='sleep 100 & kill -9 $!
  echo $$ >/group/test/cgroup.procs && exec "$PUPPETS/press_memory" anon 8192'
