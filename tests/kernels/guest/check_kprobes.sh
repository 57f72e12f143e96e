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
  check kprobes.exits = 768,1 "$(traced report count --by code --format csv | sed -n 2p)"
  traced record --kprobes --for slab,hfaults,swapin,oom -- "$PUPPETS/touch_pages" 500 >/dev/null
  grep kprobe stderr
  check kprobes.caches '>=' 3 "$(named_caches)"
  traced report slab --format json >/results/slab-kprobes.json
  check kprobes.said '>=' 1 "$(grep -c 'a kprobe on kmem_cache_alloc' /results/slab-kprobes.json)"
  # Without the probe nothing names them where frees do not either, as on 5.10.
  if ! grep -q 'field:.* name;' $root/events/kmem/kmem_cache_free/format; then
    traced record --for slab -- "$PUPPETS/touch_pages" 500 >/dev/null
    check kprobes.without = 0 "$(named_caches)"
  fi
  check kprobes.left = 0 "$(grep -c memtrace $root/kprobe_events)"
}
